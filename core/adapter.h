/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: the exact argv, environment and standard input of a vendor's own CLI, for a phase and
 * one pinned version of it; and the reading of what that CLI says of itself while it runs.
 *
 * What a version wants and offers stands in a table of its own (adapter_claude.c, adapter_codex.c),
 * measured with the real program. A version without a table is refused, because an unknown flag may
 * be ignored and an unknown tool may be offered.
 */
#ifndef CORDON_ADAPTER_H
#define CORDON_ADAPTER_H

#include "facts.h"
#include "kit/jsonr.h"
#include "policy.h"
#include "refusal.h"
#include "vendor.h"

/* Where the image has the CLI. */
#define CORDON_ADAPTER_PROGRAM(name) ("/usr/local/bin/" name)
/* Where the gate puts the vendor definition's ca_file; in the scratch, which the step owns. */
#define CORDON_ADAPTER_CA_FILE "/tmp/.cordon-ca.pem"

/* The longest line of a CLI's event stream that is judged. */
#define CORDON_ADAPTER_LINE_MAX (1U << 20)

/* All lists end with NULL; a list that is NULL is empty. */
typedef struct cordon_cli_version {
    const char *version;
    const char *const *argv;    /* in every phase; the program first */
    const char *const *reading; /* after that, where the worktree is read-only */
    const char *const *writing; /* after that, where it may be written */
    const char *const *last;    /* after that */
    const char *const *environment;
    const char *const *tools_reading; /* what the CLI may say that it offers, sorted */
    const char *const *tools_writing;
    const char *mode_reading; /* the permission mode that it must show */
    const char *mode_writing;
    const char *const *plugins; /* built into the CLI, sorted */
} cordon_cli_version;

struct cordon_agent;

/*
 * One CLI.
 * versions       oldest first
 * model_option   the option before a model's name
 * ca_variables   environment variables that take the path of a PEM file
 * execute        the only files that a step of it may execute: the program, and the loaders that an
 *                image may have for it
 * finish         adds what depends on the vendor; may be NULL
 * judge          one event of the CLI against the policy: 0, or -1 with REFUSED. `event` is an
 *                object.
 * needs_init     a run that ends well without its first event is refused
 * strict_lines   a line that cannot be judged (no JSON object, or too long) is refused; not for a
 *                CLI that may write what a strict reader does not take
 */
typedef struct cordon_adapter_table {
    int adapter;
    const char *program;
    const cordon_cli_version *versions;
    size_t version_count;
    const char *model_option;
    const char *const *ca_variables;
    const char *const *execute;
    int (*finish)(const cordon_vendor *vendor, cordon_fact_list *argv, cordon_err *err);
    int (*judge)(const struct cordon_agent *agent, cordon_json event, bool *seen_init,
                 cordon_refusal *ret_refusal, cordon_err *err);
    bool needs_init;
    bool strict_lines;
} cordon_adapter_table;

extern const cordon_adapter_table cordon_adapter_claude;
extern const cordon_adapter_table cordon_adapter_codex;

/* One agent command, as the step gets it. */
typedef struct cordon_agent {
    const cordon_adapter_table *table;
    const cordon_cli_version *version; /* NULL: a command line of the vendor's definition, whose
                                          events nobody knows; they are not judged */
    bool version_known; /* false: the operator accepted another, `version` is the newest table */
    bool writes;
    char claimed[64]; /* the version that the configuration says is in the image */
    cordon_fact_list argv;
    cordon_fact_list environment;
} cordon_agent;

void cordon_agent_clear(cordon_agent *agent);
CORDON_DEFINE_AUTO(cordon_agent, cordon_agent_clear)

/* The table for an adapter; NULL for none. */
const cordon_adapter_table *cordon_adapter_find(int adapter);

/*
 * Builds the command. A definition with a command line of its own needs no version: the words are
 * the operator's then, and the kernel's rules the same.
 * @param version        of the CLI in the pinned image, or NULL
 * @param allow_unknown  take the newest table for a version that has none
 * @param model          NULL leaves it to the CLI
 * @return 0, or -1 with REFUSED (no version, an unknown one) or CONFIG (a model's name that is
 * none, a vendor definition that sets a variable of the adapter's)
 */
int cordon_agent_build(const cordon_vendor *vendor, const cordon_phase *phase, const char *version,
                       bool allow_unknown, const char *model, cordon_agent *ret_agent,
                       cordon_err *err) __attribute__((warn_unused_result));

/*
 * A secret with the name of a variable that the adapter sets would leave it to the runtime which of
 * the two counts: CONFIG.
 */
int cordon_agent_check_secret(const cordon_agent *agent, const char *name, cordon_err *err)
    __attribute__((warn_unused_result));

/* The environment's whole name at the start of "NAME=value" is in the list. */
bool cordon_agent_sets(const cordon_fact_list *environment, const char *item);

/*
 * Compares a set of names that a CLI tells with the one that it may have; refuses with the first
 * that is too much, or missing. `fact` is such as "agent.tools". The list of a plan ends with NULL.
 */
int cordon_agent_compare(cordon_json list, const char *fact, const char *const *wanted,
                         cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* --- Reading along ------------------------------------------------------------------------------
 * The CLI's standard output, in any cut, one JSON object a line. Nothing of it is changed or held.
 */
typedef struct cordon_agent_watch {
    const cordon_agent *agent; /* NULL: the command is no agent, nothing is read */
    cordon_buf line;
    bool too_long; /* the present line, of which no more is kept */
    bool seen_init;
} cordon_agent_watch;

void cordon_agent_watch_init(cordon_agent_watch *ret_watch, const cordon_agent *agent);
void cordon_agent_watch_clear(cordon_agent_watch *watch);

/* -1 with REFUSED at the first difference between what the CLI says and the policy. */
int cordon_agent_watch_feed(cordon_agent_watch *watch, const void *bytes, size_t length,
                            cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* At the end, with the command's status: 0 of a CLI that never said what it offers is REFUSED. */
int cordon_agent_watch_finish(cordon_agent_watch *watch, int exit_code, cordon_refusal *ret_refusal,
                              cordon_err *err) __attribute__((warn_unused_result));

#endif

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
#include "talk.h"
#include "vendor.h"

/* Where the image has the CLI. */
#define CORDON_ADAPTER_PROGRAM(name) ("/usr/local/bin/" name)
/*
 * Where the gate puts the vendor definition's ca_file: in the scratch, which the step owns; where
 * several steps share that, as CA_NAME in a folder of the agent's step alone.
 */
#define CORDON_ADAPTER_CA_FILE "/tmp/.cordon-ca.pem"
#define CORDON_ADAPTER_CA_NAME "ca.pem"

/* Most bytes of the file of a session that is resumed: together with a prompt it fits a release. */
#define CORDON_ADAPTER_SESSION_MAX (5U << 19)
/* "123e4567-e89b-42d3-a456-426614174000" and a NUL. */
#define CORDON_ADAPTER_SESSION_ID 37
/* When everything in it was said. Nobody asks; a clock would tell the CLI nothing that it needs. */
#define CORDON_ADAPTER_SESSION_TIME "2026-01-01T00:00:00.000Z"

/* The longest line of a CLI's event stream that is judged. */
#define CORDON_ADAPTER_LINE_MAX (1U << 20)

/* All lists end with NULL; a list that is NULL is empty. */
typedef struct cordon_cli_version {
    const char *version;
    const char *const *argv;    /* in every phase; the program first */
    const char *const *reading; /* after that, where the worktree is read-only */
    const char *const *writing; /* after that, where it may be written */
    const char *const *resume;  /* after that, then the session's id, where one is resumed; NULL:
                                   this  version cannot */
    const char *const *last;    /* after that */
    const char *const *environment;
    const char *const *tools_reading; /* what the CLI may say that it offers, sorted */
    const char *const *tools_writing;
    const char *mode_reading; /* the permission mode that it must show */
    const char *mode_writing;
    const char *const *plugins; /* built into the CLI, sorted */
} cordon_cli_version;

struct cordon_agent;

/* The file of a session, as a CLI of that version would have left it. */
typedef struct cordon_session_file {
    char path[512]; /* below the CLI's state folder */
    cordon_buf bytes;
} cordon_session_file;

void cordon_session_file_clear(cordon_session_file *file);
CORDON_DEFINE_AUTO(cordon_session_file, cordon_session_file_clear)

/*
 * One CLI.
 * versions       oldest first
 * model_option   the option before a model's name
 * ca_variables   environment variables that take the path of a PEM file
 * state_variable environment variable that takes the path of the folder where the CLI has its state
 * execute        the only files that a step of it may execute: the program, and the loaders that an
 *                image may have for it
 * finish         adds what depends on the vendor; may be NULL
 * judge          one event of the CLI against the policy: 0, or -1 with REFUSED. `event` is an
 *                object.
 * hear           adds to the talk what an event tells of the CLI's answer
 * session        writes the file of the agent's session from a talk, for a CLI that is started in
 *                `working_dir`; CONFIG where it has no place for that folder
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
    const char *state_variable;
    const char *const *execute;
    int (*finish)(const cordon_vendor *vendor, cordon_fact_list *argv, cordon_err *err);
    int (*judge)(const struct cordon_agent *agent, cordon_json event, bool *seen_init,
                 cordon_refusal *ret_refusal, cordon_err *err);
    int (*hear)(cordon_json event, cordon_talk *talk, cordon_err *err);
    int (*session)(const struct cordon_agent *agent, const cordon_talk *talk,
                   const char *working_dir, cordon_session_file *file, cordon_err *err);
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
    char session[CORDON_ADAPTER_SESSION_ID]; /* of a session that goes on; "" begins one */
    cordon_fact_list argv;
    cordon_fact_list environment;
} cordon_agent;

void cordon_agent_clear(cordon_agent *agent);
CORDON_DEFINE_AUTO(cordon_agent, cordon_agent_clear)

/* The table for an adapter; NULL for none. */
const cordon_adapter_table *cordon_adapter_find(int adapter);

/*
 * What an agent command is made of.
 * version        of the CLI in the pinned image, or NULL
 * allow_unknown  take the newest table for a version that has none
 * model          NULL leaves it to the CLI
 * resume         the session of an earlier step goes on
 */
typedef struct cordon_agent_wish {
    const char *version;
    bool allow_unknown;
    const char *model;
    bool resume;
} cordon_agent_wish;

/*
 * Builds the command. A definition with a command line of its own needs no version: the words are
 * the operator's then, and the kernel's rules the same.
 * @return 0, or -1 with REFUSED (no version, an unknown one, one that cannot resume) or CONFIG (a
 * model's name that is none, a vendor definition that sets a variable of the adapter's)
 */
int cordon_agent_build(const cordon_vendor *vendor, const cordon_phase *phase,
                       const cordon_agent_wish *wish, cordon_agent *ret_agent, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The file of the session that the agent resumes. REFUSED where the talk is too long for it.
 * @param working_dir  where the CLI is started, an absolute path
 */
int cordon_agent_session(const cordon_agent *agent, const cordon_talk *talk,
                         const char *working_dir, cordon_session_file *ret_file, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The agent's environment for a step that shares its scratch with others: state and authority in
 * the step's own folder.
 */
int cordon_agent_environment_in(const cordon_agent *agent, const char *folder,
                                cordon_fact_list *environment, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * A secret with the name of a variable that the adapter sets would leave it to the runtime which of
 * the two counts: CONFIG.
 */
int cordon_agent_check_secret(const cordon_agent *agent, const char *name, cordon_err *err)
    __attribute__((warn_unused_result));

/* "NAME=value" of the variable that names the state folder, which Cordon sets among steps. */
bool cordon_agent_sets_state(const cordon_agent *agent, const char *item);

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
    cordon_talk *talk;         /* borrowed; gets what is answered; NULL: nobody wants it */
    cordon_buf line;
    bool too_long; /* the present line, of which no more is kept */
    bool seen_init;
} cordon_agent_watch;

void cordon_agent_watch_init(cordon_agent_watch *ret_watch, const cordon_agent *agent,
                             cordon_talk *talk);
void cordon_agent_watch_clear(cordon_agent_watch *watch);

/* -1 with REFUSED at the first difference between what the CLI says and the policy. */
int cordon_agent_watch_feed(cordon_agent_watch *watch, const void *bytes, size_t length,
                            cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* At the end, with the command's status: 0 of a CLI that never said what it offers is REFUSED. */
int cordon_agent_watch_finish(cordon_agent_watch *watch, int exit_code, cordon_refusal *ret_refusal,
                              cordon_err *err) __attribute__((warn_unused_result));

#endif

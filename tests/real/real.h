/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the end-to-end tests share: the engine under test, the `cordon` program, and what is true on
 * the engine whatever `cordon` says. Each test program takes one word, "docker", "podman" or
 * "rootless", and needs the environment of tests/engines/up and root in the host's namespaces.
 */
#ifndef CORDON_TESTS_REAL_H
#define CORDON_TESTS_REAL_H

#include <sys/types.h>

#include "child.h"
#include "engine.h"
#include "kit/httpc.h"
#include "kit/jsonr.h"
#include "support/folder.h"
#include "support/test.h"

/* Longest that anything here may take; a bound against hanging, never the thing under test. */
#define REAL_PATIENCE_MS 60000

/*
 * image   "sha256:..." of the busybox image
 * uid     who a step writes as in a worktree of real_worktree
 * folder  private, reachable for every user; holds configuration, state and worktrees
 * rest    a client of the test's own, see rest.c
 */
typedef struct real_engine {
    const char *word;
    const char *endpoint;
    const char *image;
    const cordon_engine_ops *ops;
    void *impl;
    cordon_engine_facts facts;
    uid_t uid;
    char folder[64];
    cordon_httpc *rest;
    cordon_fact_list baseline; /* of real_objects */
} real_engine;

extern real_engine real;

/* The whole of a main; the result is its status. */
int real_main(int argc, char **argv, const char *suite, const test_case *cases, size_t count);

/* The last line of a test file. */
#define REAL_MAIN(suite, ...)                                                                      \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const test_case cases[] = {__VA_ARGS__};                                            \
        return real_main(argc, argv, suite, cases, sizeof cases / sizeof cases[0]);                \
    }

/* A variable of tests/engines/up; "" (and a recorded failure) when it is missing. */
const char *real_variable(const char *name);

bool real_is_docker(void);
cordon_deadline real_soon(void);

/* A number of seconds that only processes of this test program sleep. */
const char *real_marker(void);

/* FOLDER/name; each call has its own buffer, of 128 in turn. */
const char *real_path(const char *name);

/* A new file in the folder. */
bool real_file(const char *name, const char *text);

/* A new, empty folder below the folder that belongs to real.uid; its path. */
const char *real_worktree(const char *name);

/* --- The program ------------------------------------------------------------------------------ */

/* NULL-terminated lists for the calls below. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(...) WORDS("sh", "-c", __VA_ARGS__)

/*
 * One `cordon` command line and its configuration. Zero is the usual.
 * verb      NULL is "run"
 * options   what follows --config, --engine, --image, --receipt and --approve
 * argv      what follows "--"; NULL for no "--" at all
 * limits    inside of limits: { }; NULL is a short grace
 * settings  more lines of configuration
 * approved  runner.approved, such as "[\"true\"]"; NULL is none
 * network   runner.network; NULL is "vendor"
 * endpoint  NULL is the engine's; kind likewise
 * engine    for --engine; NULL is the one of the configuration, "" gives none
 * variables more of the environment, "NAME=value"
 * image     NULL is the engine's, "" gives none
 * strict    no allow_unenforced_limits, which the rootless engine of cgroup v1 needs
 */
typedef struct call {
    const char *verb;
    const char *const *options;
    const char *const *argv;
    const char *limits;
    const char *settings;
    const char *approved;
    const char *network;
    const char *endpoint;
    const char *kind;
    const char *engine;
    const char *const *variables;
    const char *image;
    bool unapproved;
    bool strict;
    uid_t uid;
    int stdin_fd;
    int stdout_fd;
} call;

/* A `cordon` that runs. */
typedef struct running {
    child process;
    char receipt_path[128];
} running;

/* How it ended. receipt is NULL when no whole one was written. */
typedef struct outcome {
    child process;
    cordon_json_doc *receipt;
} outcome;

bool cordon_start(const call *what, running *ret_running);
void running_clear(running *r);
CORDON_DEFINE_AUTO(running, running_clear)

/* Waits for its end and reads the receipt. */
bool cordon_end(running *r, outcome *ret_outcome);
/* Both. */
bool cordon_call(const call *what, outcome *ret_outcome);
void outcome_clear(outcome *o);
CORDON_DEFINE_AUTO(outcome, outcome_clear)

const char *outcome_out(const outcome *o);
const char *outcome_err(const outcome *o);

/* A place in the receipt, such as "result.kind" or "steps.0.kind"; NULL and -1 when there is no
 * such. */
const char *receipt_text(const outcome *o, const char *path);
long long receipt_number(const outcome *o, const char *path);
bool receipt_true(const outcome *o, const char *path);
bool json_find(cordon_json_doc *doc, const char *path, cordon_json *ret_place);

/* --- Verdicts, recorded at the caller's line ------------------------------------------------- */

/* Status of the process, kind in the receipt. */
#define EXPECT_KIND(outcome_, kind, status)                                                        \
    expect_kind((outcome_), (kind), (status), __LINE__, __FILE__)
/* The command ended by itself with this status. */
#define EXPECT_EXITED(outcome_, code) expect_exited((outcome_), (code), __LINE__, __FILE__)
/* One line on standard error, and all of these words in it. */
#define EXPECT_LINE(outcome_, ...) expect_line((outcome_), WORDS(__VA_ARGS__), __LINE__, __FILE__)
/* The engine holds what it held before; no journal entry; the receipt, if any, agrees. */
#define EXPECT_NOTHING_LEFT(outcome_) expect_nothing_left((outcome_), __LINE__, __FILE__)

bool expect_kind(const outcome *o, const char *kind, int status, unsigned line, const char *file);
bool expect_exited(const outcome *o, int code, unsigned line, const char *file);
bool expect_line(const outcome *o, const char *const *parts, unsigned line, const char *file);
bool expect_nothing_left(const outcome *o, unsigned line, const char *file);

/* True if a process of any namespace has this text in its command line. */
bool real_process_has(const char *text);
/* The same with the marker. */
bool real_process_left(void);

/* --- The engine, asked directly (rest.c) ------------------------------------------------------ */

/* Everything there, one line each, sorted: "container <id>", "network <id>", "volume <name>". */
bool real_objects(cordon_fact_list *ret_lines);

/*
 * One request with the engine's prefix, such as "/containers/<id>/pause". *ret_status is 0 when
 * there was no answer.
 */
bool rest_call(const char *method, const char *path, const char *body, int *ret_status,
               cordon_json_doc **ret_answer);

/* The answer's bytes as they are. */
bool rest_text(const char *path, int *ret_status, cordon_buf *ret_text);

/* The request succeeded with any 2xx status; a failure is recorded. */
bool rest_ok(const char *method, const char *path, const char *body);

/* The ids of a run's objects, found by its labels; "" where there is none. */
typedef struct real_ids {
    char vendor_network[CORDON_ID_HEX + 1];
    char egress_network[CORDON_ID_HEX + 1];
    char proxy[CORDON_ID_HEX + 1];
    char step[CORDON_ID_HEX + 1];
} real_ids;

/* All four of the one run that is under way whose step is not in `known` (may be NULL). */
bool real_find_run(const real_ids *known, size_t known_count, real_ids *ret_ids);

/*
 * A container (command NULL: it sleeps; started) or network of the test's own, contained by
 * nothing, and its removal. command and labels are JSON.
 */
bool real_foreign_container(const char *name, const char *command, const char *labels,
                            char ret_id[65]);
bool real_foreign_network(const char *name, const char *subnet, char ret_id[65]);
void real_remove_container(const char *id);
void real_remove_network(const char *id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a test starts, hears out and ends: standard output and error are collected as
 * they come, and none of them outlives its test.
 */
#ifndef CORDON_TESTS_REAL_CHILD_H
#define CORDON_TESTS_REAL_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "kit/buf.h"
#include "kit/cleanup.h"

/*
 * argv         NULL-terminated; argv[0] is a path, or a name to be searched in PATH
 * environment  the whole of it, NULL-terminated; NULL for the test's own
 * netns        path of a network namespace to enter, or NULL
 * uid          who it runs as, with a group of the same number; 0 stays root
 * stdin_fd     0 for an empty one, else a descriptor that the child gets (and the caller keeps)
 * stdout_fd    0 to collect it, else a descriptor, the same way
 */
typedef struct child_spec {
    const char *const *argv;
    const char *const *environment;
    const char *netns;
    uid_t uid;
    int stdin_fd;
    int stdout_fd;
} child_spec;

/* status: as a shell shows it, 128 + n for signal n; valid once ended. */
typedef struct child {
    pid_t pid;
    int out_fd;
    int err_fd;
    cordon_buf out;
    cordon_buf err;
    bool ended;
    bool by_signal;
    int status;
} child;

/* False, and a recorded failure, when it could not be started. */
bool child_start(const child_spec *spec, child *ret_child);

/* Collects until its output holds the text; false when it ended or ms passed before. */
bool child_hear(child *c, const char *text, int ms);

/* The same for standard error. */
bool child_hear_error(child *c, const char *text, int ms);

/* Collects for so long, or until both streams have ended. */
void child_collect(child *c, int ms);

/* Collects to the end; false when ms passed before, and then it has been killed. */
bool child_finish(child *c, int ms);

/* Kills it if it still runs. */
void child_clear(child *c);
CORDON_DEFINE_AUTO(child, child_clear)

#endif

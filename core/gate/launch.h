/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the released command: finding its file, its standard input, the fork, and everything
 * the child does before it executes. libc-only.
 */
#ifndef CORDON_GATE_LAUNCH_H
#define CORDON_GATE_LAUNCH_H

#include <sys/types.h>

#include "gate/fence.h"
#include "gate/release.h"
#include "kit/error.h"

/* A command that runs. stdin_fd is the gate's non-blocking end of its standard input, or -1. */
typedef struct cordon_command {
    pid_t pid; /* also its process group and session */
    int stdin_fd;
} cordon_command;

/*
 * Finds the file of argv[0]: as it stands when it has a slash, else in the absolute folders of
 * PATH in the release's environment. As execvp(3), ENOENT gives way to EACCES of an earlier one.
 * @param ret_path  PATH_MAX bytes
 * @return 0, or an errno
 */
int cordon_launch_find(const cordon_release *release, char *ret_path);

/*
 * Forks and executes. Returns when the new program is in place: with all signals at their
 * defaults, in a session of its own, killed when the gate dies, with nothing but standard streams
 * and behind the fence.
 *
 * SECURITY: the child wipes its copy of the exit key first, so that the key is in the gate's memory
 * alone; the gate is not dumpable, and the command cannot read it.
 *
 * @param ret_command  clear its stdin_fd with close(2)
 * @param ret_errnum   when execve(2) itself failed: its errno, and -1 is returned
 * @return 0, or -1; *ret_errnum is 0 when something else than execve(2) failed
 */
int cordon_launch(cordon_release *release, const char *path, const cordon_fence *fence,
                  cordon_command *ret_command, int *ret_errnum, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

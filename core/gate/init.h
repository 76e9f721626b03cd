/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate is once the command runs: its init. Forwards signals, feeds standard input,
 * reaps everything, and in the end leaves nothing behind. libc-only.
 */
#ifndef CORDON_GATE_INIT_H
#define CORDON_GATE_INIT_H

#include <signal.h>

#include "gate/launch.h"
#include "kit/buf.h"
#include "kit/error.h"

/* How long what the command left behind may take to end after TERM. */
#define CORDON_INIT_GRACE_MS 250

/* Blocks every signal: what comes from now on waits. */
int cordon_init_block_signals(cordon_err *err) __attribute__((warn_unused_result));

/*
 * Opens a descriptor that is readable when one has come that the gate acts on: the forwarded ones
 * (TERM, INT, HUP, QUIT, USR1, USR2) and CHLD.
 */
int cordon_init_open_signals(int *ret_signal_fd, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * How a command ended.
 * status   as wait(2) gives it
 * outside  the first signal that came from outside of the PID namespace, 0 for none
 */
typedef struct cordon_init_end {
    int status;
    int outside;
} cordon_init_end;

/*
 * Runs until the command has ended and everything that it left has been ended and reaped (as
 * PID 1: all of the PID namespace; otherwise its process group).
 * @param input  the command's standard input; wiped when it has been delivered
 */
int cordon_init_run(cordon_command *command, int signal_fd, cordon_buf *input,
                    cordon_init_end *ret_end, cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals as a descriptor. INT, TERM and HUP are blocked and taken by a thread of its own, so none
 * of them can kill the process before its cleanup is done, the second one neither; PIPE is ignored,
 * so that a reader that quits cannot either. Called before any other thread is made.
 */
#ifndef CORDON_CLI_SIGNALS_H
#define CORDON_CLI_SIGNALS_H

#include "kit/error.h"

/* @return 0 and a descriptor that is readable while a signal has not been taken; the caller's */
int cordon_cli_signals_open(int *ret_fd, cordon_err *err) __attribute__((warn_unused_result));

/*
 * Takes what has come. @return the number of the one that came first, 0 for none. Afterwards the
 * descriptor is quiet until the next signal.
 */
int cordon_cli_signals_take(int fd);

#endif

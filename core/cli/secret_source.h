/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what --secret names: from the environment, a file or an open descriptor (/dev/fd/N).
 * Values are in wiped memory until the invocation has them, and in no message.
 */
#ifndef CORDON_CLI_SECRET_SOURCE_H
#define CORDON_CLI_SECRET_SOURCE_H

#include "cli.h"
#include "cordon/cordon.h"
#include "kit/buf.h"
#include "options.h"

typedef struct cordon_cli_secrets {
    char names[CORDON_CLI_LIST_MAX][128];
    cordon_buf values[CORDON_CLI_LIST_MAX];
    size_t count;
} cordon_cli_secrets;

/*
 * Reads all of them, before an engine is asked anything, and keeps this process's memory out of
 * core dumps from then on (PR_SET_DUMPABLE of prctl(2)).
 * @return 0, or -1 with CONFIG: no such variable, a file that is missing, too large, no plain file
 *         or pipe, writable by others, or in the worktree; each with the next step. CANCELLED,
 * TIMEOUT: while a pipe or FIFO was waited for, by a signal or a --deadline that was given
 */
int cordon_cli_secrets_read(const cordon_cli_context *context, const cordon_cli_options *options,
                            cordon_cli_secrets *ret_secrets, cordon_err *err)
    __attribute__((warn_unused_result));

/* Hands them to the invocation. */
int cordon_cli_secrets_give(const cordon_cli_secrets *secrets, cordon_invocation *invocation,
                            cordon_err *err) __attribute__((warn_unused_result));

void cordon_cli_secrets_clear(cordon_cli_secrets *secrets);
CORDON_DEFINE_AUTO(cordon_cli_secrets, cordon_cli_secrets_clear)

#endif

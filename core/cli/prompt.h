/* SPDX-License-Identifier: Apache-2.0 */
/* Where the prompt comes from: --prompt, --prompt-file, or "-" for standard input. */
#ifndef CORDON_CLI_PROMPT_H
#define CORDON_CLI_PROMPT_H

#include "cli.h"

/* True when the command line has a prompt, and so wants the agent. */
bool cordon_cli_has_prompt(const cordon_cli_options *options);

/*
 * Reads it whole, at most one byte more than may be, so that the library sees that it is too long.
 * @param ret_prompt  made by the caller with CORDON_CLI_PROMPT_ROOM
 * A pipe or FIFO is waited for until a signal, or a --deadline that was given.
 * @return 0, or -1 with CONFIG (two prompts, a file that cannot be read), CANCELLED, TIMEOUT
 */
#define CORDON_CLI_PROMPT_ROOM ((size_t)CORDON_PROMPT_MAX + 1)
int cordon_cli_read_prompt(const cordon_cli_context *context, const cordon_cli_options *options,
                           cordon_buf *ret_prompt, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

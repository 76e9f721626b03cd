/* SPDX-License-Identifier: Apache-2.0 */
/* Several steps in one run: the file of --steps, and the commands that it asks for. */
#ifndef CORDON_CLI_STEPS_H
#define CORDON_CLI_STEPS_H

#include "cli.h"
#include "session.h"

/*
 * Reads the file (- is standard input): a JSON array of 1 to CORDON_STEPS_MAX objects, each with
 * "prompt", a text for the agent, and perhaps "resume", or with "run", the argv of an approved
 * command. Nothing else may stand in it.
 * @return 0, or -1 with CONFIG, CANCELLED
 */
int cordon_cli_steps_read(const cordon_cli_context *context, const cordon_cli_options *options,
                          cordon_buf *ret_text, cordon_err *err)
    __attribute__((warn_unused_result));

/* Makes its commands by the session's policy. CONFIG, or what the library says of a command. */
int cordon_cli_steps_make(const cordon_cli_options *options, cordon_cli_session *session,
                          cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prompt; see prompt.h. */
#include "prompt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "kit/cleanup.h"

bool cordon_cli_has_prompt(const cordon_cli_options *options)
{
    return options->prompt || options->prompt_file || options->word;
}

/* "-" as the operand or as the file. */
static bool is_from_stdin(const cordon_cli_options *options)
{
    return options->word || (options->prompt_file && strcmp(options->prompt_file, "-") == 0);
}

static int check_one(const cordon_cli_options *options, cordon_err *err)
{
    int count = !!options->prompt + !!options->prompt_file + !!options->word;
    if (count > 1)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--prompt: a prompt is given in two ways; keep one of --prompt, "
                           "--prompt-file and -");
    if (options->argv)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--prompt: a prompt is for the agent, and what follows \"--\" is a "
                           "command of its own; keep one of the two");
    return 0;
}

static int read_stdin(int signal_fd, cordon_buf *out, cordon_err *err)
{
    /* A person may be typing: no deadline. */
    return cordon_cli_input_read(STDIN_FILENO, cordon_cli_input_deadline(0, signal_fd),
                                 "the prompt on standard input", CORDON_CLI_PROMPT_ROOM, out, err);
}

static int read_file(const cordon_cli_context *context, const cordon_cli_options *options,
                     cordon_buf *out, cordon_err *err)
{
    char what[CORDON_QUOTE_MAX + 32];
    cordon_autoclose int fd = cordon_cli_input_open(options->prompt_file);
    (void)snprintf(what, sizeof what, "--prompt-file: %s", CORDON_QUOTE(options->prompt_file));
    if (fd < 0) {
        (void)CORDON_FAIL_ERRNO(err, errno, "%s", what);
        err->code = CORDON_ERR_CONFIG;
        return -1;
    }
    return cordon_cli_input_read(
        fd, cordon_cli_input_deadline(options->deadline_ms, context->signal_fd), what,
        CORDON_CLI_PROMPT_ROOM, out, err);
}

int cordon_cli_read_prompt(const cordon_cli_context *context, const cordon_cli_options *options,
                           cordon_buf *ret_prompt, cordon_err *err)
{
    if (check_one(options, err) != 0)
        return -1;
    if (is_from_stdin(options))
        return read_stdin(context->signal_fd, ret_prompt, err);
    if (options->prompt_file)
        return read_file(context, options, ret_prompt, err);
    size_t length = strlen(options->prompt);
    return cordon_buf_append(ret_prompt, options->prompt,
                             length < CORDON_CLI_PROMPT_ROOM ? length : CORDON_CLI_PROMPT_ROOM,
                             err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prompt; see prompt.h. */
#include "prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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

/* Waits until there is something to read, or a signal says that we shall end. */
static int wait_readable(int fd, int signal_fd, cordon_err *err)
{
    struct pollfd items[] = {{.fd = fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
    while (poll(items, 2, -1) < 0)
        if (errno != EINTR)
            return CORDON_FAIL_ERRNO(err, errno, "the prompt");
    if (items[1].revents)
        return CORDON_FAIL(err, CORDON_ERR_CANCELLED, "cancelled while the prompt was read");
    return 0;
}

static int read_all(int fd, int signal_fd, const char *name, cordon_buf *out, cordon_err *err)
{
    while (out->length < CORDON_CLI_PROMPT_ROOM) {
        char *space = NULL;
        size_t room = CORDON_CLI_PROMPT_ROOM - out->length;
        if (wait_readable(fd, signal_fd, err) != 0 ||
            cordon_buf_reserve(out, room < 65536 ? room : 65536, &space, err) != 0)
            return -1;
        ssize_t got = read(fd, space, room < 65536 ? room : 65536);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR) {
            (void)CORDON_FAIL_ERRNO(err, errno, "%s: cannot read the prompt", CORDON_QUOTE(name));
            err->code = CORDON_ERR_CONFIG;
            return -1;
        }
        cordon_buf_commit(out, got > 0 ? (size_t)got : 0);
    }
    return 0;
}

static int read_file(const char *path, int signal_fd, cordon_buf *out, cordon_err *err)
{
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)CORDON_FAIL_ERRNO(err, errno, "--prompt-file: %s", CORDON_QUOTE(path));
        err->code = CORDON_ERR_CONFIG;
        return -1;
    }
    return read_all(fd, signal_fd, path, out, err);
}

int cordon_cli_read_prompt(const cordon_cli_context *context, const cordon_cli_options *options,
                           cordon_buf *ret_prompt, cordon_err *err)
{
    if (check_one(options, err) != 0)
        return -1;
    if (is_from_stdin(options))
        return read_all(STDIN_FILENO, context->signal_fd, "standard input", ret_prompt, err);
    if (options->prompt_file)
        return read_file(options->prompt_file, context->signal_fd, ret_prompt, err);
    size_t length = strlen(options->prompt);
    return cordon_buf_append(ret_prompt, options->prompt,
                             length < CORDON_CLI_PROMPT_ROOM ? length : CORDON_CLI_PROMPT_ROOM,
                             err);
}

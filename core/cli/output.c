/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing that neither blocks for ever nor garbles a terminal. A pipe that polls writable takes
 * PIPE_BUF bytes without blocking (pipe(7)), so no single write is longer.
 */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How long a complaint waits for whoever reads standard error. */
#define COMPLAIN_MS 2000

int cordon_cli_write_some(int fd, const void *bytes, size_t length, cordon_deadline deadline,
                          const char *what, size_t *ret_written, cordon_err *err)
{
    short ready = 0;
    if (cordon_deadline_poll(deadline, fd, POLLOUT, what, &ready, err) != 0)
        return -1;
    ssize_t written = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
    if (written < 0 && errno != EINTR && errno != EAGAIN)
        return CORDON_FAIL_ERRNO(err, errno, "%s", what);
    *ret_written = written > 0 ? (size_t)written : 0;
    return 0;
}

int cordon_cli_write(int fd, const void *bytes, size_t length, cordon_deadline deadline,
                     const char *what, cordon_err *err)
{
    const char *next = bytes;
    while (length > 0) {
        size_t written = 0;
        if (cordon_cli_write_some(fd, next, length, deadline, what, &written, err) != 0)
            return -1;
        next += written;
        length -= written;
    }
    return 0;
}

int cordon_cli_print(int signal_fd, const cordon_buf *text, cordon_err *err)
{
    cordon_deadline never = {.at_ns = INT64_MAX, .cancel_fd = signal_fd};
    return cordon_cli_write(STDOUT_FILENO, text->data, text->length, never, "standard output", err);
}

void cordon_cli_complain(const char *format, ...)
{
    char raw[CORDON_ERR_MESSAGE_MAX * 2];
    char line[sizeof raw + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    (void)cordon_err_printable(line, sizeof line - 1, raw, strlen(raw));
    size_t used = strlen(line);
    line[used] = '\n';
    /* SECURITY: nobody can be told that telling failed; the exit status still says it. */
    (void)!cordon_cli_write(STDERR_FILENO, line, used + 1, cordon_deadline_in_ms(COMPLAIN_MS, -1),
                            "standard error", NULL);
}

void cordon_cli_table_measure(cordon_cli_table *table, const char *const *cells)
{
    for (size_t i = 0; i < table->columns; i++) {
        size_t width = cells[i] ? strlen(cells[i]) : 0;
        if (width > table->width[i])
            table->width[i] = width;
    }
}

int cordon_cli_table_row(const cordon_cli_table *table, const char *const *cells, cordon_buf *out,
                         cordon_err *err)
{
    for (size_t i = 0; i < table->columns; i++) {
        bool last = i + 1 == table->columns;
        int width = last ? 0 : (int)table->width[i];
        if (cordon_buf_printf(out, err, "%-*s%s", width, cells[i] ? cells[i] : "",
                              last ? "\n" : "  ") != 0)
            return -1;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded, never blocking output; see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The demultiplexer may hand over one more piece after the watermark. */
#define OUTPUT_BUFFER_MAX (CORDON_OUTPUT_WATERMARK + (256u << 10))

/*
 * POLLOUT of a terminal means that it takes one byte, so a blocking write of more would wait for
 * whoever reads the terminal (a stalled tmux, ssh). O_NONBLOCK belongs to the open description,
 * which the shell shares: hence one of our own.
 */
static bool terminal_open(int fd, int *ret_fd)
{
    char path[64];

    if (fd < 0 || isatty(fd) == 0)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    *ret_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return *ret_fd >= 0;
}

static int output_take(void *context, const void *bytes, size_t length, cordon_err *err)
{
    cordon_output *output = context;
    cordon_output_quota *quota = output->quota;
    size_t keep = (int64_t)length <= quota->left_bytes ? length : (size_t)quota->left_bytes;

    /* What nobody is there to read is not cut. */
    if (output->closed)
        return 0;
    quota->left_bytes -= (int64_t)keep;
    if (keep < length)
        quota->truncated = true;
    if (output->fd < 0 || keep == 0)
        return 0;
    if (output->lossy && output->waiting.length >= CORDON_OUTPUT_WATERMARK) {
        quota->truncated = true;
        return 0;
    }
    return cordon_buf_append(&output->waiting, bytes, keep, err);
}

void cordon_output_init(cordon_output *ret_output, int fd, cordon_output_quota *quota,
                        const cordon_secrets *secrets)
{
    *ret_output = (cordon_output){
        .fd = fd,
        .waiting = cordon_buf_make(OUTPUT_BUFFER_MAX),
        .quota = quota,
    };
    cordon_mask_init(&ret_output->mask, secrets, output_take, ret_output);
    ret_output->reopened = terminal_open(fd, &ret_output->terminal_fd);
}

void cordon_output_clear(cordon_output *output)
{
    cordon_mask_clear(&output->mask);
    cordon_buf_clear(&output->waiting);
    if (output->reopened)
        (void)close(output->terminal_fd);
    output->reopened = false;
}

int cordon_output_put(cordon_output *output, const void *bytes, size_t length, cordon_err *err)
{
    output->total_bytes += (int64_t)length;
    return cordon_mask_feed(&output->mask, bytes, length, err);
}

int cordon_output_finish(cordon_output *output, cordon_err *err)
{
    return cordon_mask_finish(&output->mask, err);
}

bool cordon_output_has_room(const cordon_output *output)
{
    return output->lossy || output->waiting.length < CORDON_OUTPUT_WATERMARK;
}

bool cordon_output_is_waiting(const cordon_output *output)
{
    return output->waiting.length > 0;
}

/* Takes back a SIGPIPE that our own write raised while it was blocked; others stay pending. */
static void sigpipe_swallow(void)
{
    const struct timespec now = {0, 0};
    sigset_t pipe_only;

    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
        ;
}

static ssize_t write_without_sigpipe(int fd, const void *bytes, size_t length)
{
    sigset_t pipe_only;
    sigset_t before;
    sigset_t pending;
    ssize_t written;
    int errnum;

    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    written = write(fd, bytes, length);
    errnum = errno;
    if (written < 0 && errnum == EPIPE && sigismember(&pending, SIGPIPE) == 0)
        sigpipe_swallow();
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = errnum;
    return written;
}

void cordon_output_flush(cordon_output *output)
{
    int fd = output->reopened ? output->terminal_fd : output->fd;

    while (output->waiting.length > 0 && !output->closed) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        size_t piece = output->waiting.length < PIPE_BUF ? output->waiting.length : PIPE_BUF;
        ssize_t written;

        if (poll(&ready, 1, 0) <= 0 || (ready.revents & (POLLOUT | POLLERR | POLLHUP)) == 0)
            return;
        written = write_without_sigpipe(fd, output->waiting.data, piece);
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (written < 0) {
            output->closed = true;
            cordon_buf_reset(&output->waiting);
            return;
        }
        cordon_buf_consume(&output->waiting, (size_t)written);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* INT, TERM and HUP, taken by a thread of their own in the order in which they come. */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Owned by the thread, which lives as long as the process. */
typedef struct signal_ear {
    sigset_t set;
    int out_fd;
} signal_ear;

/*
 * Several pending signals are handed out by their number, so that whoever looks late cannot know
 * which was first. This thread does nothing but look.
 */
static void *hear(void *context)
{
    const signal_ear *ear = context;
    for (;;) {
        int number = 0;
        if (sigwait(&ear->set, &number) != 0)
            continue;
        /* Full, or the reader has gone: enough has been said. */
        const uint8_t byte = (uint8_t)number;
        (void)!write(ear->out_fd, &byte, sizeof byte);
    }
    return NULL;
}

static int start_ear(const sigset_t *set, int out_fd, cordon_err *err)
{
    pthread_t thread;
    signal_ear *ear = malloc(sizeof *ear);
    if (!ear)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ear = (signal_ear){.set = *set, .out_fd = out_fd};
    int failed = pthread_create(&thread, NULL, hear, ear);
    if (failed != 0) {
        free(ear);
        return CORDON_FAIL_ERRNO(err, failed, "a thread for signals");
    }
    (void)pthread_detach(thread);
    return 0;
}

int cordon_cli_signals_open(int *ret_fd, cordon_err *err)
{
    sigset_t set;
    int ends[2];
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    int failed = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failed != 0)
        return CORDON_FAIL_ERRNO(err, failed, "blocking signals");
    (void)signal(SIGPIPE, SIG_IGN);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "a pipe for signals");
    if (start_ear(&set, ends[1], err) != 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    *ret_fd = ends[0];
    return 0;
}

int cordon_cli_signals_take(int fd)
{
    uint8_t numbers[64];
    int first = 0;
    for (ssize_t got; (got = read(fd, numbers, sizeof numbers)) > 0;) {
        if (first == 0)
            first = numbers[0];
    }
    return first;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* INT, TERM and HUP through signalfd(2). */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int cordon_cli_signals_open(int *ret_fd, cordon_err *err)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    int failed = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failed != 0)
        return CORDON_FAIL_ERRNO(err, failed, "blocking signals");
    (void)signal(SIGPIPE, SIG_IGN);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "signalfd");
    *ret_fd = fd;
    return 0;
}

int cordon_cli_signals_take(int fd)
{
    struct signalfd_siginfo info;
    int first = 0;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (first == 0)
            first = (int)info.ssi_signo;
    }
    return first;
}

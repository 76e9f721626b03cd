/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-up child: see lookup.h. Everything in here after the fork runs once and ends in _exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "descriptors.h"
#include "lookup.h"

size_t cordon_lookup_system(const char *name, cordon_address *ret, size_t max)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    size_t count = 0;
    if (getaddrinfo(name, NULL, &hints, &list) != 0)
        return 0;
    for (const struct addrinfo *one = list; one && count < max; one = one->ai_next)
        ret[count++] = cordon_address_from_socket(one->ai_addr);
    freeaddrinfo(list);
    return count;
}

static void child_confine(pid_t parent, int pipe_fd)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    cordon_descriptors_close_from(STDERR_FILENO + 1, pipe_fd);
    const struct rlimit zero = {0};
    const struct rlimit cpu = {.rlim_cur = 5, .rlim_max = 5};
    const struct rlimit files = {.rlim_cur = (rlim_t)pipe_fd + 16,
                                 .rlim_max = (rlim_t)pipe_fd + 16};
    (void)setrlimit(RLIMIT_CORE, &zero);
    (void)setrlimit(RLIMIT_FSIZE, &zero);
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static _Noreturn void child_run(const char *name, cordon_lookup_fn *function, int pipe_fd)
{
    char absolute[CORDON_HOST_MAX + 2];
    cordon_lookup_reply reply = {0};
    /* The final dot keeps a search list in resolv.conf from turning the name into another one. */
    (void)snprintf(absolute, sizeof absolute, "%s.", name);
    reply.count = (uint32_t)function(absolute, reply.addresses, CORDON_RESOLVE_MAX);
    ssize_t written = write(pipe_fd, &reply, sizeof reply);
    _exit(written == (ssize_t)sizeof reply ? 0 : 1);
}

int cordon_lookup_spawn(const char *name, cordon_lookup_fn *function, pid_t *ret_child, int *ret_fd)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        child_confine(parent, ends[1]);
        child_run(name, function, ends[1]);
    }
    int saved = errno;
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        errno = saved;
        return -1;
    }
    *ret_child = child;
    *ret_fd = ends[0];
    return 0;
}

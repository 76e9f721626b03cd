/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See callfail.h: one table of calls with what each may fail with. EAGAIN stands only where the
 * caller has another way to learn that it may go on: a socket that is read or spliced
 * edge-triggered has none when the bytes are there already, and the kernel never says so then.
 */
#include "support/callfail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_LANDLOCK_RESTRICT_SELF 446

const char *const callfail_calls[] = {
    "malloc",    "calloc",    "realloc",       "read",        "write",      "pipe2",
    "poll",      "splice",    "epoll_create1", "epoll_wait",  "epoll_ctl",  "signalfd",
    "fstat",     "close",     "fcntl",         "open",        "socket",     "socketpair",
    "bind",      "listen",    "accept4",       "getsockname", "getsockopt", "setsockopt",
    "shutdown",  "recv",      "send",          "recvmsg",     "sendmsg",    "connect",
    "fork",      "waitpid",   "sigaction",     "sigprocmask", "getrlimit",  "setrlimit",
    "setitimer", "nanosleep", "signal",        "prctl",       "syscall",    NULL};

static callfail_page *shared;
static pid_t beginner;

void callfail_begin(callfail_page *page)
{
    beginner = getpid();
    shared = page;
}

static bool strikes(const char *call, const int *errors, unsigned variants)
{
    if (!shared || !atomic_load(&shared->armed) || (getpid() != beginner) != shared->offspring ||
        strcmp(shared->call, call) != 0 || atomic_fetch_add(&shared->count, 1) + 1 != shared->nth)
        return false;
    shared->variants = variants;
    shared->error = errors[shared->variant % variants];
    atomic_store(&shared->struck, true);
    errno = errors[shared->variant % variants];
    return true;
}

#define STRIKES(name, ...)                                                                         \
    strikes(name, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

/* One call: its result, name, parameters and arguments, what it returns instead, its errnos. */
#define WRAP(type, name, parameters, arguments, failed, ...)                                       \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return STRIKES(#name, __VA_ARGS__) ? (failed) : __real_##name arguments;                   \
    }

/* --- Memory --- */

WRAP(void *, malloc, (size_t size), (size), NULL, ENOMEM)
WRAP(void *, calloc, (size_t items, size_t size), (items, size), NULL, ENOMEM)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL, ENOMEM)

/* --- Descriptors --- */

WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), -1, EINTR, EAGAIN, EIO, ENOMEM)
WRAP(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), -1, EINTR, EAGAIN,
     ENOMEM, EIO, EPIPE)
WRAP(int, pipe2, (int *ends, int flags), (ends, flags), -1, EMFILE, ENFILE, ENOMEM)
WRAP(int, poll, (struct pollfd * fds, nfds_t count, int ms), (fds, count, ms), -1, EINTR, ENOMEM)
WRAP(ssize_t, splice, (int in, off_t *in_at, int out, off_t *out_at, size_t size, unsigned flags),
     (in, in_at, out, out_at, size, flags), -1, EINTR, ENOMEM, ECONNRESET, EPIPE, EIO)
WRAP(int, epoll_create1, (int flags), (flags), -1, EMFILE, ENFILE, ENOMEM)
WRAP(int, epoll_wait, (int fd, struct epoll_event *events, int most, int ms),
     (fd, events, most, ms), -1, EINTR, EIO)
WRAP(int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags), -1, EMFILE, ENOMEM)
WRAP(int, fstat, (int fd, struct stat *to), (fd, to), -1, EIO, ENOMEM)

/* A descriptor that is watched can be watched otherwise, and no more: neither takes memory. */
int __real_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && STRIKES("epoll_ctl", ENOMEM, ENOSPC))
        return -1;
    return __real_epoll_ctl(epoll, operation, fd, event);
}

/* It is closed whatever it says: close(2). */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int rc = __real_close(fd);
    return STRIKES("close", EINTR, EIO) ? -1 : rc;
}

int __real_fcntl(int fd, int operation, ...);
int __wrap_fcntl(int fd, int operation, ...);
int __wrap_fcntl(int fd, int operation, ...)
{
    va_list rest;
    va_start(rest, operation);
    long argument = va_arg(rest, long);
    va_end(rest);
    return STRIKES("fcntl", EPERM, ENOMEM) ? -1 : __real_fcntl(fd, operation, argument);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return STRIKES("open", EMFILE, EACCES, EINTR) ? -1 : __real_open(path, flags);
}

/* --- Sockets --- */

WRAP(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, EMFILE,
     ENFILE, ENOBUFS, ENOMEM, EACCES)
WRAP(int, socketpair, (int family, int type, int protocol, int *ends),
     (family, type, protocol, ends), -1, EMFILE, ENOMEM)
WRAP(int, bind, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length), -1,
     EADDRINUSE, EADDRNOTAVAIL, EACCES)
WRAP(int, listen, (int fd, int most), (fd, most), -1, EADDRINUSE)
WRAP(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags),
     (fd, from, length, flags), -1, EINTR, EAGAIN, ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM,
     EPERM)
WRAP(int, getsockname, (int fd, struct sockaddr *to, socklen_t *length), (fd, to, length), -1,
     ENOBUFS)
WRAP(int, getsockopt, (int fd, int level, int name, void *to, socklen_t *length),
     (fd, level, name, to, length), -1, ENOBUFS)
WRAP(int, setsockopt, (int fd, int level, int name, const void *from, socklen_t length),
     (fd, level, name, from, length), -1, ENOBUFS, ENOPROTOOPT)
WRAP(int, shutdown, (int fd, int how), (fd, how), -1, ENOTCONN)
WRAP(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), -1, EINTR,
     ENOMEM, ECONNRESET, EIO)
WRAP(ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), -1,
     EINTR, ENOBUFS, ENOMEM, ECONNRESET, EPIPE)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), -1, EINTR,
     ENOMEM, EIO)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), -1,
     EAGAIN, ENOBUFS, ENOMEM, EPIPE)

static bool may_be_dialled(const struct sockaddr *to)
{
    struct sockaddr_in in4 = {0};
    if (to->sa_family != AF_INET)
        return false;
    memcpy(&in4, to, sizeof in4);
    uint16_t port = ntohs(in4.sin_port);
    return in4.sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
           (port == shared->ports[0] || port == shared->ports[1]);
}

int __real_connect(int fd, const struct sockaddr *to, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (shared && !may_be_dialled(to))
        (void)atomic_fetch_add(&shared->strayed, 1);
    if (STRIKES("connect", ECONNREFUSED, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EAGAIN, ENOBUFS,
                EINTR))
        return -1;
    return __real_connect(fd, to, length);
}

/* --- Processes, signals and rights --- */

WRAP(pid_t, fork, (void), (), -1, EAGAIN, ENOMEM)
WRAP(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options), -1, ECHILD)
WRAP(int, sigaction, (int number, const struct sigaction *now, struct sigaction *before),
     (number, now, before), -1, EINVAL)
WRAP(int, sigprocmask, (int how, const sigset_t *now, sigset_t *before), (how, now, before), -1,
     EINVAL)
WRAP(int, getrlimit, (__rlimit_resource_t which, struct rlimit *to), (which, to), -1, EPERM)
WRAP(int, setrlimit, (__rlimit_resource_t which, const struct rlimit *from), (which, from), -1,
     EPERM)
WRAP(int, setitimer,
     (__itimer_which_t which, const struct itimerval *now, struct itimerval *before),
     (which, now, before), -1, EINVAL)
WRAP(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), -1, EINTR)

typedef void handler(int number);
WRAP(handler *, signal, (int number, handler *action), (number, action), SIG_ERR, EINVAL)

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
    unsigned long arguments[4];
    va_list rest;
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(rest, unsigned long);
    va_end(rest);
    if (STRIKES("prctl", EPERM, EINVAL))
        return -1;
    if (shared && (option == PR_SET_SECCOMP || option == PR_SET_DUMPABLE))
        return 0;
    return __real_prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long arguments[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(rest, long);
    va_end(rest);
    if (STRIKES("syscall", EPERM, ENOSYS, ENOMEM, EMFILE))
        return -1;
    if (shared && number == NR_LANDLOCK_RESTRICT_SELF)
        return 0;
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver: see resolver.h. Everything that runs after a fork in here ends in _exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "descriptors.h"
#include "resolver.h"

#define DNS_PORT         53
#define RESOLV_CONF      "/etc/resolv.conf"
#define CHILD_CPU_S      5
#define PROCESS_FILES    64
#define RESOLVER_STOPPED 0
#define RESOLVER_FAILED  1

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

/* --- A child: one name --- */

typedef struct resolver {
    const cordon_proxy_options *options;
    cordon_lookup_fn *function;
    int fd;
} resolver;

/*
 * Somewhat longer than the asker's patience, so that it is the asker who says that it took too
 * long; a day is more than any timer has to hold.
 */
static void child_bound(const cordon_proxy_options *options)
{
    const struct rlimit cpu = {.rlim_cur = CHILD_CPU_S, .rlim_max = CHILD_CPU_S};
    int64_t ms = options->connect_ms < 86400000 ? options->connect_ms : 86400000;
    struct itimerval life = {.it_value = {.tv_sec = (time_t)(ms / 1000) + 1,
                                          .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)setitimer(ITIMER_REAL, &life, NULL);
}

static _Noreturn void child_run(const resolver *self, size_t host, int pipe_fd)
{
    char absolute[CORDON_HOST_MAX + 2];
    cordon_lookup_reply reply = {0};
    (void)close(self->fd);
    child_bound(self->options);
    /* The final dot keeps a search list in resolv.conf from turning the name into another one. */
    (void)snprintf(absolute, sizeof absolute, "%s.", self->options->policy.hosts[host].name);
    reply.count = (uint32_t)self->function(absolute, reply.addresses, CORDON_RESOLVE_MAX);
    ssize_t written = write(pipe_fd, &reply, sizeof reply);
    _exit(written == (ssize_t)sizeof reply ? RESOLVER_STOPPED : RESOLVER_FAILED);
}

/* --- The process: questions --- */

typedef union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
} control;

/* One question: the host's index; the pipe's end, or -1 if none came. */
static ssize_t receive(int fd, uint8_t *ret_host, int *ret_pipe)
{
    control space = {0};
    struct iovec part = {.iov_base = ret_host, .iov_len = sizeof *ret_host};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    *ret_pipe = -1;
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(ret_pipe, CMSG_DATA(head), sizeof *ret_pipe);
    return got;
}

static _Noreturn void serve(const resolver *self)
{
    for (;;) {
        uint8_t host = 0;
        int pipe_fd = -1;
        ssize_t got = receive(self->fd, &host, &pipe_fd);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(RESOLVER_STOPPED);
        /* A fork that fails closes the pipe, which is a name without an answer. */
        if (pipe_fd >= 0 && host < self->options->policy.count && fork() == 0)
            child_run(self, host, pipe_fd);
        if (pipe_fd >= 0)
            (void)close(pipe_fd);
    }
}

/* Children need not be waited for; those that the relay waits for end with their pipe. */
static void set_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGPIPE};
    sigset_t none;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)signal(signals[i], SIG_DFL);
    (void)signal(SIGCHLD, SIG_IGN);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int lock(cordon_lockdown_role role, cordon_err *err)
{
    static const uint16_t ports[] = {DNS_PORT};
    int abi = 0;
    if (role == CORDON_LOCKDOWN_NONE)
        return 0;
    if (cordon_lockdown_fence(RESOLV_CONF, ports, 1, &abi, err) != 0)
        return -1;
    return cordon_lockdown_filter(role, err);
}

static _Noreturn void run(const resolver *self, cordon_lockdown_role role, pid_t parent)
{
    const struct rlimit zero = {0};
    const struct rlimit files = {.rlim_cur = PROCESS_FILES, .rlim_max = PROCESS_FILES};
    cordon_err err = CORDON_ERR_INIT;
    set_signals();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(RESOLVER_FAILED);
    cordon_descriptors_close_from(STDERR_FILENO + 1, self->fd);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    (void)setrlimit(RLIMIT_CORE, &zero);
    (void)setrlimit(RLIMIT_FSIZE, &zero);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (lock(role, &err) != 0)
        _exit(RESOLVER_FAILED);
    serve(self);
}

int cordon_resolver_start(const cordon_proxy_options *options, cordon_lookup_fn *function,
                          cordon_lockdown_role role, pid_t *ret_process, int *ret_fd,
                          cordon_err *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "socketpair");
    resolver self = {.options = options, .function = function, .fd = ends[1]};
    pid_t process = fork();
    if (process == 0)
        run(&self, role, parent);
    int saved = errno;
    (void)close(ends[1]);
    if (process < 0) {
        (void)close(ends[0]);
        return CORDON_FAIL_ERRNO(err, saved, "fork");
    }
    *ret_process = process;
    *ret_fd = ends[0];
    return 0;
}

/* --- The asker --- */

static int ask(int fd, uint8_t host, int pipe_fd)
{
    control space = {0};
    struct iovec part = {.iov_base = &host, .iov_len = sizeof host};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    space.head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&space.head), &pipe_fd, sizeof pipe_fd);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof host ? 0 : -1;
}

int cordon_resolver_ask(int fd, size_t host, int *ret_fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    int result = ask(fd, (uint8_t)host, ends[1]);
    (void)close(ends[1]);
    if (result != 0) {
        (void)close(ends[0]);
        return -1;
    }
    *ret_fd = ends[0];
    return 0;
}

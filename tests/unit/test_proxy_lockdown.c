/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy takes away from itself: each forbidden call, in a process of its own, is its end,
 * and Landlock leaves no file and no port but those that were named.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/lockdown.h"
#include "support/test.h"

#define FAILED 99

typedef void deed(void);

static void raw(long number, long a, long b, long c, long d)
{
    (void)syscall(number, a, b, c, d, -1L, 0L);
}

static void asks_its_parent(void)
{
    raw(SYS_getppid, 0, 0, 0, 0);
}
static void opens_a_file(void)
{
    raw(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY, 0);
}
static void creates_a_file(void)
{
    raw(SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY, 0);
}
static void executes(void)
{
    raw(SYS_execve, (long)"/bin/true", 0, 0, 0);
}
static void forks(void)
{
    raw(SYS_clone, SIGCHLD, 0, 0, 0);
}
static void makes_a_thread(void)
{
    raw(SYS_clone, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND, 0, 0, 0);
}
static void listens(void)
{
    raw(SYS_listen, 0, 1, 0, 0);
}
static void kills(void)
{
    raw(SYS_kill, 1, 0, 0, 0);
}
static void traces(void)
{
    raw(SYS_ptrace, 0, 0, 0, 0);
}
static void local_socket(void)
{
    raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0);
}
static void datagrams(void)
{
    raw(SYS_socket, AF_INET, SOCK_DGRAM, 0, 0);
}
static void raw_socket(void)
{
    raw(SYS_socket, AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1, 0);
}
static void tcp(void)
{
    raw(SYS_socket, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
}
static void executable_memory(void)
{
    raw(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
}
static void memory(void)
{
    raw(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
}
static void other_limits(void)
{
    raw(SYS_prlimit64, 1, 7, 0, 0);
}
static void loosens(void)
{
    raw(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0);
}
static void x32_call(void)
{
    raw(0x40000000L + SYS_close, 77, 0, 0, 0);
}
static void closes(void)
{
    raw(SYS_close, 77, 0, 0, 0);
}

#define RELAY    CORDON_LOCKDOWN_RELAY
#define RESOLVER CORDON_LOCKDOWN_RESOLVER

static const struct {
    const char *name;
    deed *what;
    cordon_lockdown_role role;
    bool killed;
} deeds[] = {
    {"relay: close", closes, RELAY, false},
    {"relay: TCP", tcp, RELAY, false},
    {"relay: memory", memory, RELAY, false},
    {"relay: getppid", asks_its_parent, RELAY, true},
    {"relay: open", opens_a_file, RELAY, true},
    {"relay: execve", executes, RELAY, true},
    {"relay: fork", forks, RELAY, true},
    {"relay: listen", listens, RELAY, true},
    {"relay: kill", kills, RELAY, true},
    {"relay: ptrace", traces, RELAY, true},
    {"relay: AF_UNIX", local_socket, RELAY, true},
    {"relay: UDP", datagrams, RELAY, true},
    {"relay: raw", raw_socket, RELAY, true},
    {"relay: PROT_EXEC", executable_memory, RELAY, true},
    {"relay: prctl", loosens, RELAY, true},
    {"relay: x32", x32_call, RELAY, true},
    {"resolver: open", opens_a_file, RESOLVER, false},
    {"resolver: UDP", datagrams, RESOLVER, false},
    {"resolver: write", creates_a_file, RESOLVER, true},
    {"resolver: thread", makes_a_thread, RESOLVER, true},
    {"resolver: execve", executes, RESOLVER, true},
    {"resolver: listen", listens, RESOLVER, true},
    {"resolver: raw", raw_socket, RESOLVER, true},
    {"resolver: AF_UNIX", local_socket, RESOLVER, true},
    {"resolver: PROT_EXEC", executable_memory, RESOLVER, true},
    {"resolver: limits", other_limits, RESOLVER, true},
    {"resolver: x32", x32_call, RESOLVER, true},
};

static _Noreturn void do_locked(deed *what, cordon_lockdown_role role)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || cordon_lockdown_filter(role, NULL) != 0)
        _exit(FAILED);
    what();
    /* Not _exit(3): a sanitizer's own does more than the filter lets through. */
    raw(SYS_exit_group, 0, 0, 0, 0);
    __builtin_unreachable();
}

static void a_call_that_the_proxy_does_not_make_is_its_end(void)
{
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            do_locked(deeds[i].what, deeds[i].role);
        REQUIRE_INT(waitpid(child, &status, 0), child);
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
        bool lives = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        TEST_RECORDF(deeds[i].killed ? killed : lives, "%s: status %#x", deeds[i].name,
                     (unsigned)status);
    }
}

static int try_port(uint16_t port, bool bound)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = bound ? bind(fd, (struct sockaddr *)&to, sizeof to)
                       : connect(fd, (struct sockaddr *)&to, sizeof to);
    int error = result == 0 ? 0 : errno;
    (void)close(fd);
    return error;
}

/* The number of the first thing that is not as it should be. */
static int look_around(int abi)
{
    if (open("/etc/hostname", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
        return 1;
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0)
        return 2;
    if (open("/etc/passwd", O_RDWR | O_CLOEXEC) >= 0)
        return 3;
    if (abi < 4)
        return 0;
    if (try_port(2, false) != EACCES)
        return 4;
    if (try_port(1, false) != ECONNREFUSED)
        return 5;
    return try_port(0, true) == EACCES ? 0 : 6;
}

static void the_fence_leaves_what_was_named_and_nothing_else(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        static const uint16_t ports[] = {1, 1};
        int abi = 0;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            cordon_lockdown_fence("/etc/passwd", ports, 2, &abi, NULL) != 0)
            _exit(FAILED);
        _exit(abi == 0 ? 0 : look_around(abi));
    }
    REQUIRE_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

CORDON_TEST_MAIN("proxy_lockdown", TEST(a_call_that_the_proxy_does_not_make_is_its_end),
                 TEST(the_fence_leaves_what_was_named_and_nothing_else))

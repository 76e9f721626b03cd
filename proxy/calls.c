/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter: one table of calls per role, made into a classic BPF program. The hot calls
 * are allowed whatever their arguments, which the kernel remembers per number (the action cache of
 * 5.11 and later), so that they cost nothing; arguments are looked at on rare calls alone.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "lockdown.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the proxy's filter does not know this architecture: add its AUDIT_ARCH_ here"
#endif

/* Headers may be older than these (linux 4.11). */
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

/* Call numbers of x32 have this bit; no row of the table has it, so they are killed like others. */
#define PROGRAM_MAX 256

/* What is asked of the arguments. */
typedef enum call_rule {
    CALL_ANY = 0,
    CALL_NO_EXEC,    /* mmap, mprotect: never executable */
    CALL_STREAM,     /* socket: TCP over IPv4 or IPv6 */
    CALL_DATAGRAM,   /* socket: and UDP */
    CALL_READ_ONLY,  /* open(path, flags): no way to write, create or truncate */
    CALL_READ_AT,    /* openat(dir, path, flags): the same */
    CALL_PLAIN_FORK, /* clone: SIGCHLD and nothing else, so neither thread nor namespace */
    CALL_OWN_LIMITS, /* prlimit64: of this process */
} call_rule;

typedef struct call_row {
    int number;
    call_rule rule;
} call_row;

/* Hot ones first, for kernels without the cache. What an architecture lacks it need not allow. */
static const call_row relay_calls[] = {
    {SYS_recvfrom, CALL_ANY},
    {SYS_sendto, CALL_ANY},
    {SYS_epoll_ctl, CALL_ANY},
    {SYS_close, CALL_ANY},
    {SYS_epoll_pwait, CALL_ANY},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, CALL_ANY},
#endif
    {SYS_shutdown, CALL_ANY},
    {SYS_connect, CALL_ANY},
    {SYS_setsockopt, CALL_ANY},
    {SYS_accept4, CALL_ANY},
    {SYS_splice, CALL_ANY},
    {SYS_write, CALL_ANY},
    {SYS_socket, CALL_STREAM},
    {SYS_pipe2, CALL_ANY},
    {SYS_fcntl, CALL_ANY}, /* F_GETPIPE_SZ */
    {SYS_getsockopt, CALL_ANY},
    {SYS_read, CALL_ANY},    /* signals, look-ups, the owner's stream */
    {SYS_sendmsg, CALL_ANY}, /* a pipe to the resolver */
    {SYS_writev, CALL_ANY},  /* the last words on stderr */
#ifdef SYS_poll
    {SYS_poll, CALL_ANY},
#endif
    {SYS_ppoll, CALL_ANY},
    {SYS_clock_gettime, CALL_ANY}, /* where there is no vDSO */
    {SYS_brk, CALL_ANY},
    {SYS_munmap, CALL_ANY},
    {SYS_madvise, CALL_ANY},
    {SYS_mremap, CALL_ANY},
    {SYS_mmap, CALL_NO_EXEC},
    {SYS_mprotect, CALL_NO_EXEC},
    {SYS_wait4, CALL_ANY},
    {SYS_nanosleep, CALL_ANY},
    {SYS_clock_nanosleep, CALL_ANY},
    {SYS_restart_syscall, CALL_ANY},
    {SYS_exit_group, CALL_ANY},
    {SYS_exit, CALL_ANY},
};

static const call_row resolver_calls[] = {
    {SYS_recvmsg, CALL_ANY},
    {SYS_recvfrom, CALL_ANY},
    {SYS_sendto, CALL_ANY},
    {SYS_sendmsg, CALL_ANY},
    {SYS_close, CALL_ANY},
    {SYS_read, CALL_ANY},
    {SYS_readv, CALL_ANY},
    {SYS_write, CALL_ANY},
    {SYS_socket, CALL_DATAGRAM},
    {SYS_bind, CALL_ANY},
    {SYS_connect, CALL_ANY},
    {SYS_getsockname, CALL_ANY},
    {SYS_setsockopt, CALL_ANY},
    {SYS_fcntl, CALL_ANY},
#ifdef SYS_open
    {SYS_open, CALL_READ_ONLY},
#endif
    {SYS_openat, CALL_READ_AT},
#ifdef SYS_poll
    {SYS_poll, CALL_ANY},
#endif
    {SYS_ppoll, CALL_ANY},
    {SYS_clock_gettime, CALL_ANY},
    {SYS_brk, CALL_ANY},
    {SYS_munmap, CALL_ANY},
    {SYS_madvise, CALL_ANY},
    {SYS_mremap, CALL_ANY},
    {SYS_mmap, CALL_NO_EXEC},
    {SYS_mprotect, CALL_NO_EXEC},
#ifdef SYS_fork
    {SYS_fork, CALL_ANY},
#endif
    {SYS_clone, CALL_PLAIN_FORK},
    {SYS_gettid, CALL_ANY}, /* musl, after the fork */
    {SYS_set_tid_address, CALL_ANY},
    {SYS_rt_sigprocmask, CALL_ANY},
    {SYS_rt_sigaction, CALL_ANY},
    {SYS_rt_sigreturn, CALL_ANY},
    {SYS_setitimer, CALL_ANY},
    {SYS_prlimit64, CALL_OWN_LIMITS},
#ifdef SYS_setrlimit
    {SYS_setrlimit, CALL_ANY},
#endif
    {SYS_restart_syscall, CALL_ANY},
    {SYS_exit_group, CALL_ANY},
    {SYS_exit, CALL_ANY},
};

typedef struct program {
    struct sock_filter at[PROGRAM_MAX];
    unsigned short length;
} program;

static void put(program *made, struct sock_filter instruction)
{
    made->at[made->length++] = instruction;
}

#define STMT(code, value) ((struct sock_filter)BPF_STMT((uint16_t)(code), (uint32_t)(value)))
#define JUMP(code, value, yes, no)                                                                 \
    ((struct sock_filter)BPF_JUMP((uint16_t)(code), (uint32_t)(value), (yes), (no)))

static void put_load(program *made, size_t offset)
{
    put(made, STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void put_end(program *made, uint32_t action)
{
    put(made, STMT(BPF_RET | BPF_K, action));
}

/* Low half of an argument; the high half of what is asked about here means nothing to the kernel.
 */
static void put_argument(program *made, unsigned index)
{
    put_load(made, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

/* Goes on only without these bits. */
static void put_kill_if_any(program *made, unsigned index, uint32_t bits)
{
    put_argument(made, index);
    put(made, JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    put_end(made, SECCOMP_RET_KILL_PROCESS);
}

/* Goes on only with one of two values, after a mask. */
static void put_kill_unless(program *made, unsigned index, uint32_t mask, uint32_t one,
                            uint32_t other)
{
    put_argument(made, index);
    put(made, STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    put(made, JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0));
    put(made, JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0));
    put_end(made, SECCOMP_RET_KILL_PROCESS);
}

#define ALL_BITS     UINT32_MAX
#define TYPE_BITS    0xfU /* above them are SOCK_CLOEXEC and SOCK_NONBLOCK */
#define WRITING_BITS (O_WRONLY_BIT | O_RDWR_BIT | O_CREAT_BIT | O_TRUNC_BIT)
#define O_WRONLY_BIT 01U
#define O_RDWR_BIT   02U
#define O_CREAT_BIT  0100U
#define O_TRUNC_BIT  01000U

static void put_rule(program *made, call_rule rule)
{
    switch (rule) {
    case CALL_ANY:
        break;
    case CALL_NO_EXEC:
        put_kill_if_any(made, 2, PROT_EXEC);
        break;
    case CALL_STREAM:
        put_kill_unless(made, 0, ALL_BITS, AF_INET, AF_INET6);
        put_kill_unless(made, 1, TYPE_BITS, SOCK_STREAM, SOCK_STREAM);
        break;
    case CALL_DATAGRAM:
        put_kill_unless(made, 0, ALL_BITS, AF_INET, AF_INET6);
        put_kill_unless(made, 1, TYPE_BITS, SOCK_STREAM, SOCK_DGRAM);
        break;
    case CALL_READ_ONLY:
        put_kill_if_any(made, 1, WRITING_BITS);
        break;
    case CALL_READ_AT:
        put_kill_if_any(made, 2, WRITING_BITS);
        break;
    case CALL_PLAIN_FORK:
        put_kill_unless(made, 0, ALL_BITS, SIGCHLD, SIGCHLD);
        break;
    case CALL_OWN_LIMITS:
        put_kill_unless(made, 0, ALL_BITS, 0, 0);
        break;
    }
    put_end(made, SECCOMP_RET_ALLOW);
}

/* The rule's instructions are jumped over when the number is another. */
static void put_row(program *made, const call_row *row)
{
    unsigned short jump = made->length;
    put(made, JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 0));
    put_rule(made, row->rule);
    made->at[jump].jf = (uint8_t)(made->length - jump - 1);
}

static void make_program(program *ret, const call_row *rows, size_t count)
{
    ret->length = 0;
    put_load(ret, offsetof(struct seccomp_data, arch));
    put(ret, JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
    put_end(ret, SECCOMP_RET_KILL_PROCESS);
    put_load(ret, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++)
        put_row(ret, &rows[i]);
    put_end(ret, SECCOMP_RET_KILL_PROCESS);
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(4 + 12 * COUNT(relay_calls) / 4 + 48 < PROGRAM_MAX, "the program must fit");

int cordon_lockdown_filter(cordon_lockdown_role role, cordon_err *err)
{
    bool relay = role == CORDON_LOCKDOWN_RELAY;
    program made;
    make_program(&made, relay ? relay_calls : resolver_calls,
                 relay ? COUNT(relay_calls) : COUNT(resolver_calls));
    struct sock_fprog prog = {.len = made.length, .filter = made.at};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "seccomp filter");
    return 0;
}

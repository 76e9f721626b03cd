/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter of the fence: a short deny list of calls that need no privilege, so that
 * dropping all capabilities does not stop them. Everything that does need one is left to the
 * dropped capabilities, which the gate's report proves. libc-only.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "gate/fence.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the seccomp filter does not know this architecture: add its AUDIT_ARCH_ here"
#endif

/* Numbers from 424 on are the same everywhere. */
#define NR_IO_URING_SETUP    425
#define NR_IO_URING_ENTER    426
#define NR_IO_URING_REGISTER 427
#define NR_CLONE3            435
#define MFD_NOEXEC_SEAL_FLAG 8U

/* Every call number of x32 has this bit (arch/x86/include/uapi/asm/unistd.h). */
#define X32_BIT 0x40000000U

#define ARGUMENT_LOW(n)  ((uint32_t)offsetof(struct seccomp_data, args[n])) /* little-endian */
#define ARGUMENT_HIGH(n) (ARGUMENT_LOW(n) + 4)

#define LOAD(offset)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define RETURN(value)  BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE(errnum) RETURN(SECCOMP_RET_ERRNO | (uint32_t)(errnum))
#define ALLOW          RETURN(SECCOMP_RET_ALLOW)
/* The next `skip` instructions run only if the loaded value is (or has a bit of) `value`. */
#define IF_EQUAL(value, skip)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (skip))
#define IF_ANY_BIT(value, skip)   BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(value), 0, (skip))
#define IF_DIFFERENT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (skip), 0)
#define DENY(number, errnum)      IF_EQUAL(number, 1), REFUSE(errnum)

static const struct sock_filter program[] = {
    LOAD(offsetof(struct seccomp_data, arch)),
    IF_DIFFERENT(NATIVE_ARCH, 1),
    REFUSE(ENOSYS),
    LOAD(offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
    IF_ANY_BIT(X32_BIT, 1),
    REFUSE(ENOSYS),
#endif
    /* ENOSYS where programs have a fallback for old kernels, EPERM elsewhere. */
    DENY(NR_IO_URING_SETUP, ENOSYS),
    DENY(NR_IO_URING_ENTER, ENOSYS),
    DENY(NR_IO_URING_REGISTER, ENOSYS),
    DENY(SYS_add_key, EPERM),
    DENY(SYS_request_key, EPERM),
    DENY(SYS_keyctl, EPERM),
    DENY(SYS_bpf, EPERM),
    DENY(SYS_perf_event_open, EPERM),
    DENY(SYS_userfaultfd, EPERM),
    DENY(SYS_unshare, EPERM),
    DENY(SYS_setns, EPERM),
    DENY(SYS_syslog, EPERM),
    /* Its flags are in memory, where a filter cannot look; libcs fall back to clone. */
    DENY(NR_CLONE3, ENOSYS),
    IF_EQUAL(SYS_clone, 4),
    LOAD(ARGUMENT_LOW(0)),
    IF_ANY_BIT(CLONE_NEWUSER, 1),
    REFUSE(EPERM),
    ALLOW,
    /*
     * The limits of another process may be set by whoever has its uid, dumpable or not: the gate's
     * too, which then cannot tell how the command ended. Asking for them (no new ones) is harmless.
     */
    IF_EQUAL(SYS_prlimit64, 8),
    LOAD(ARGUMENT_LOW(0)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, 0),
    LOAD(ARGUMENT_LOW(2)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
    LOAD(ARGUMENT_HIGH(2)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    REFUSE(EPERM),
    ALLOW,
    /* vsock reaches the hypervisor past every network fence; others are unused attack surface. */
    IF_EQUAL(SYS_socket, 6),
    LOAD(ARGUMENT_LOW(0)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0),
    REFUSE(EAFNOSUPPORT),
    ALLOW,
};

/* A file in memory can be executed without a path; sealed against that it may be made. */
static const struct sock_filter memfd_program[] = {
    LOAD(offsetof(struct seccomp_data, nr)),
    IF_EQUAL(SYS_memfd_create, 3),
    LOAD(ARGUMENT_LOW(1)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MFD_NOEXEC_SEAL_FLAG, 1, 0),
    REFUSE(ENOSYS),
    ALLOW,
};

/* include/uapi/asm-generic/socket.h; the second is younger than some libcs. */
#define OPTION_BIND_TO_DEVICE    25
#define OPTION_BIND_TO_INTERFACE 62
#define SOCKET_TYPE_BITS         0xfU /* above them are SOCK_CLOEXEC and SOCK_NONBLOCK */

/*
 * For a step that has more than loopback. SECURITY: routes fence nothing in for a sender who names
 * the interface (SO_BINDTODEVICE, IP_PKTINFO): where no route leads, the kernel takes the
 * destination to be on the link (ip_route_output_key_hash_rcu), and a host answers there for every
 * address that it has. So does a broadcast. No answer finds its way back, so this is no way to talk
 * TCP, but a datagram is all that a DNS query needs to carry data out. Hence TCP alone, which has
 * to go where the routes lead. MPTCP and SCTP are no TCP to Landlock.
 */
static const struct sock_filter network_program[] = {
    LOAD(offsetof(struct seccomp_data, nr)),
    IF_EQUAL(SYS_setsockopt, 9),
    LOAD(ARGUMENT_LOW(1)),
    IF_DIFFERENT(SOL_SOCKET, 1),
    ALLOW,
    LOAD(ARGUMENT_LOW(2)),
    DENY(OPTION_BIND_TO_DEVICE, EPERM),
    DENY(OPTION_BIND_TO_INTERFACE, EPERM),
    ALLOW,
    IF_EQUAL(SYS_socket, 13),
    LOAD(ARGUMENT_LOW(0)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0),
    ALLOW,
    LOAD(ARGUMENT_LOW(1)),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_BITS),
    IF_DIFFERENT(SOCK_STREAM, 1),
    REFUSE(EPERM),
    LOAD(ARGUMENT_LOW(2)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0),
    REFUSE(EPERM),
    ALLOW,
    ALLOW,
};

static int install(const struct sock_filter *filter, size_t count, cordon_err *err)
{
    struct sock_filter copy[64];
    struct sock_fprog prog = {.len = (unsigned short)count, .filter = copy};
    _Static_assert(sizeof program <= sizeof copy, "the copy holds the longest program");
    for (size_t i = 0; i < count; i++)
        copy[i] = filter[i];
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "seccomp filter");
    return 0;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Foreign calling conventions are refused by the first program, so the others need not look. */
int cordon_filter_enter(bool no_memfd_exec, bool tcp_alone, cordon_err *err)
{
    if (install(program, COUNT(program), err) < 0 ||
        (no_memfd_exec && install(memfd_program, COUNT(memfd_program), err) < 0))
        return -1;
    return tcp_alone ? install(network_program, COUNT(network_program), err) : 0;
}

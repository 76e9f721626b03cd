/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of system calls that an agent must not have: namespaces, mounts, keys, tracing, modules,
 * identity. Each attempt is made so that it does no harm should it succeed. libc-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/reboot.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gate/probe.h"
#include "kit/cleanup.h"

/* Numbers from 424 on are the same everywhere; older headers lack some. */
#define NR_OPEN_TREE      428
#define NR_FSOPEN         430
#define NR_IO_URING_SETUP 425
#define NR_PIDFD_OPEN     434
#define NR_PIDFD_GETFD    438
#define NR_MOUNT_SETATTR  442

/* 0 or more is success, -1 a failure with errno. Runs in a process of its own. */
typedef long attempt_fn(const cordon_probe *probe);

/* Takes a mount that should not have been possible away again. */
static long undo_mount(const cordon_probe *probe, long rc)
{
    int errnum = errno;
    if (rc == 0)
        (void)umount2(probe->scratch, MNT_DETACH);
    errno = errnum;
    return rc;
}

static long try_mount_tmpfs(const cordon_probe *probe)
{
    return undo_mount(probe, mount("tmpfs", probe->scratch, "tmpfs", 0, "size=4096"));
}

static long try_mount_proc(const cordon_probe *probe)
{
    return undo_mount(probe, mount("proc", probe->scratch, "proc", 0, NULL));
}

static long try_mount_bind(const cordon_probe *probe)
{
    return undo_mount(probe, mount("/", probe->scratch, NULL, MS_BIND | MS_REC, NULL));
}

/* Remounts with the flags that are there: who may do that may also make the root writable. */
static long try_remount(const cordon_probe *probe)
{
    struct statvfs st;
    (void)probe;
    if (statvfs("/", &st) < 0)
        return -1;
    /* The first bits of ST_ and MS_ are the same: RDONLY, NOSUID, NODEV, NOEXEC. */
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | (st.f_flag & 15), NULL);
}

/* With the right to unmount, the root answers EINVAL or EBUSY, and stays. */
static long try_umount(const cordon_probe *probe)
{
    (void)probe;
    return umount2("/", MNT_EXPIRE);
}

/* To where it is: who has the right gets EBUSY. */
static long try_pivot_root(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_pivot_root, "/", "/");
}

static long try_open_tree(const cordon_probe *probe)
{
    (void)probe;
    return syscall(NR_OPEN_TREE, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */);
}

static long try_fsopen(const cordon_probe *probe)
{
    (void)probe;
    return syscall(NR_FSOPEN, "tmpfs", 0);
}

static long try_mount_setattr(const cordon_probe *probe)
{
    uint64_t attr[4] = {0, 1 /* clear MOUNT_ATTR_RDONLY */, 0, 0};
    (void)probe;
    return syscall(NR_MOUNT_SETATTR, AT_FDCWD, "/", 0, attr, sizeof attr);
}

static long try_unshare_user(const cordon_probe *probe)
{
    (void)probe;
    return unshare(CLONE_NEWUSER);
}

static long try_unshare_mount(const cordon_probe *probe)
{
    (void)probe;
    return unshare(CLONE_NEWNS);
}

static long try_unshare_network(const cordon_probe *probe)
{
    (void)probe;
    return unshare(CLONE_NEWNET);
}

/* The raw call, as fork(2) with one flag more. */
static long try_clone_user(const cordon_probe *probe)
{
    (void)probe;
    long pid = syscall(SYS_clone, (unsigned long)(CLONE_NEWUSER | SIGCHLD), 0L, 0L, 0L, 0L);
    if (pid == 0)
        _exit(0);
    return pid;
}

static long try_setns(const cordon_probe *probe)
{
    (void)probe;
    cordon_autoclose int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -1 : setns(fd, 0);
}

static long try_ptrace_gate(const cordon_probe *probe)
{
    return ptrace(PTRACE_SEIZE, probe->gate, NULL, NULL);
}

static long try_read_gate_memory(const cordon_probe *probe)
{
    char byte;
    struct iovec here = {.iov_base = &byte, .iov_len = 1};
    struct iovec there = {.iov_base = &byte, .iov_len = 1};
    return process_vm_readv(probe->gate, &here, 1, &there, 1, 0);
}

static long try_take_gate_fd(const cordon_probe *probe)
{
    long pidfd = syscall(NR_PIDFD_OPEN, probe->gate, 0);
    return pidfd < 0 ? -1 : syscall(NR_PIDFD_GETFD, pidfd, STDOUT_FILENO, 0);
}

static long try_kcmp_gate(const cordon_probe *probe)
{
    return syscall(SYS_kcmp, getpid(), probe->gate, 0, STDOUT_FILENO, STDOUT_FILENO);
}

static long try_add_key(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_add_key, "user", "cordon-probe", "x", 1, -2 /* the process's keyring */);
}

static long try_request_key(const cordon_probe *probe)
{
    (void)probe;
    long rc = syscall(SYS_request_key, "user", "cordon-probe", NULL, 0);
    /* "No such key" is an answer from the key service, so the call was allowed. */
    return rc < 0 && errno == ENOKEY ? 0 : rc;
}

static long try_keyctl(const cordon_probe *probe)
{
    (void)probe;
    long rc = syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -2, 0, 0, 0);
    return rc < 0 && errno == ENOKEY ? 0 : rc;
}

static long try_bpf(const cordon_probe *probe)
{
    /* BPF_MAP_CREATE of an array of one 4-byte value */
    uint32_t attr[16] = {2, 4, 4, 1};
    (void)probe;
    return syscall(SYS_bpf, 0, attr, sizeof attr);
}

static long try_perf(const cordon_probe *probe)
{
    /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, of this process */
    uint32_t attr[16] = {1, 64, 0, 0};
    (void)probe;
    return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static long try_io_uring(const cordon_probe *probe)
{
    char params[120] = {0}; /* struct io_uring_params */
    (void)probe;
    return syscall(NR_IO_URING_SETUP, 1, params);
}

static long try_userfaultfd(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
}

static long try_init_module(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_init_module, "", 0UL, "");
}

static long try_finit_module(const cordon_probe *probe)
{
    (void)probe;
    cordon_autoclose int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    return syscall(SYS_finit_module, fd, "", 0);
}

static long try_delete_module(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_delete_module, "cordon_no_such_module", O_NONBLOCK);
}

static long try_kexec(const cordon_probe *probe)
{
    (void)probe;
#ifdef SYS_kexec_load
    /* Too many segments: who has the right gets EINVAL. */
    return syscall(SYS_kexec_load, 0UL, 1UL << 20, NULL, 0UL);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* A command that does not exist: who has the right gets EINVAL. */
static long try_reboot(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, 0x1234, NULL);
}

static long try_settime(const cordon_probe *probe)
{
    struct timespec now;
    (void)probe;
    if (clock_gettime(CLOCK_REALTIME, &now) < 0)
        return -1;
    return syscall(SYS_clock_settime, CLOCK_REALTIME, &now);
}

static long try_swapon(const cordon_probe *probe)
{
    (void)probe;
    return swapon("/cordon-no-such-file", 0);
}

static long try_kernel_log(const cordon_probe *probe)
{
    char text[64];
    (void)probe;
    return syscall(SYS_syslog, 3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof text);
}

static long try_open_by_handle(const cordon_probe *probe)
{
    /* struct file_handle of 8 bytes, type 1 */
    uint32_t handle[4] = {8, 1, 2, 0};
    (void)probe;
    cordon_autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : syscall(SYS_open_by_handle_at, fd, handle, O_RDONLY);
}

static long try_chroot(const cordon_probe *probe)
{
    return chroot(probe->scratch);
}

static long try_setuid(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_setuid, 0);
}

static long try_setgid(const cordon_probe *probe)
{
    (void)probe;
    return syscall(SYS_setgid, 0);
}

static long try_setgroups(const cordon_probe *probe)
{
    gid_t root = 0;
    (void)probe;
    return syscall(SYS_setgroups, 1, &root);
}

static long try_capset(const cordon_probe *probe)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{.effective = 1U << CAP_NET_RAW,
                                              .permitted = 1U << CAP_NET_RAW,
                                              .inheritable = 1U << CAP_NET_RAW}};
    (void)probe;
    return syscall(SYS_capset, &head, data);
}

static long try_ambient(const cordon_probe *probe)
{
    (void)probe;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0);
}

static long try_sethostname(const cordon_probe *probe)
{
    struct utsname names;
    (void)probe;
    return uname(&names) < 0 ? -1 : sethostname(names.nodename, strlen(names.nodename));
}

static long try_priority(const cordon_probe *probe)
{
    (void)probe;
    return setpriority(PRIO_PROCESS, 0, -10);
}

static long try_realtime(const cordon_probe *probe)
{
    struct {
        int priority;
    } param = {.priority = 1};
    (void)probe;
    return syscall(SYS_sched_setscheduler, 0, 1 /* SCHED_FIFO */, &param);
}

/* More than the hard limit of open files. "Unlimited" is allowed, which is what it says. */
static long try_raise_limit(const cordon_probe *probe)
{
    struct rlimit limit;
    (void)probe;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -1;
    limit.rlim_max += limit.rlim_max == RLIM_INFINITY ? 0 : 1;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static long try_iopl(const cordon_probe *probe)
{
    (void)probe;
#ifdef SYS_iopl
    return syscall(SYS_iopl, 3);
#else
    errno = ENOSYS;
    return -1;
#endif
}

static const struct {
    const char *name;
    attempt_fn *attempt;
} attempts[] = {
    {"mount.tmpfs", try_mount_tmpfs},
    {"mount.proc", try_mount_proc},
    {"mount.bind", try_mount_bind},
    {"mount.remount-root", try_remount},
    {"mount.umount", try_umount},
    {"mount.pivot-root", try_pivot_root},
    {"mount.open-tree", try_open_tree},
    {"mount.fsopen", try_fsopen},
    {"mount.setattr", try_mount_setattr},
    {"namespace.user", try_unshare_user},
    {"namespace.mount", try_unshare_mount},
    {"namespace.network", try_unshare_network},
    {"namespace.clone-user", try_clone_user},
    {"namespace.setns", try_setns},
    {"gate.ptrace", try_ptrace_gate},
    {"gate.read-memory", try_read_gate_memory},
    {"gate.take-descriptor", try_take_gate_fd},
    {"gate.compare", try_kcmp_gate},
    {"kernel.add-key", try_add_key},
    {"kernel.request-key", try_request_key},
    {"kernel.keyctl", try_keyctl},
    {"kernel.bpf", try_bpf},
    {"kernel.perf-event", try_perf},
    {"kernel.io-uring", try_io_uring},
    {"kernel.userfaultfd", try_userfaultfd},
    {"kernel.init-module", try_init_module},
    {"kernel.finit-module", try_finit_module},
    {"kernel.delete-module", try_delete_module},
    {"kernel.kexec", try_kexec},
    {"kernel.reboot", try_reboot},
    {"kernel.set-time", try_settime},
    {"kernel.swapon", try_swapon},
    {"kernel.log", try_kernel_log},
    {"kernel.iopl", try_iopl},
    {"kernel.sethostname", try_sethostname},
    {"files.open-by-handle", try_open_by_handle},
    {"files.chroot", try_chroot},
    {"identity.setuid-root", try_setuid},
    {"identity.setgid-root", try_setgid},
    {"identity.setgroups", try_setgroups},
    {"identity.raise-capability", try_capset},
    {"identity.raise-ambient", try_ambient},
    {"limits.priority", try_priority},
    {"limits.realtime", try_realtime},
    {"limits.raise", try_raise_limit},
};

static void check_attempt(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    errno = 0;
    long rc = attempts[check->number].attempt(probe);
    int errnum = errno;
    cordon_found_attempt(found, rc >= 0, errnum, "the call");
}

void cordon_probe_add_calls(const cordon_probe *probe, cordon_checks *checks)
{
    (void)probe;
    for (int i = 0; i < (int)(sizeof attempts / sizeof attempts[0]); i++)
        cordon_check_add(checks, "refused", check_attempt, NULL, i, "%s", attempts[i].name);
}

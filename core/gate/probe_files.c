/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the file system: the root, the worktree, the scratch, the kernel's own files, device
 * nodes, engine sockets. libc-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "gate/kernel.h"
#include "gate/probe.h"
#include "kit/cleanup.h"

/* Files that exist in every container, or whose folder does, and that nobody inside may write. */
static const char *const written_paths[] = {
    "/cordon-probe",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/passwd",
    "/etc/ld.so.preload",
    "/proc/self/exe",
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/net/ipv6/conf/all/disable_ipv6",
    "/proc/sys/vm/drop_caches",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory/release_agent",
    "/sys/fs/cgroup/pids/cgroup.procs",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
};

/* Opening is the attempt; nothing is written. A file that was made is removed again. */
static void check_write(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    (void)probe;
    bool existed = access(check->text, F_OK) == 0;
    cordon_autoclose int fd =
        open(check->text, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    int errnum = errno;
    if (fd >= 0 && !existed)
        (void)unlink(check->text);
    cordon_found_attempt(found, fd >= 0, errnum, check->text);
}

/* text: a file of the kernel's that must not tell anything */
static const char *const masked_paths[] = {
    "/proc/acpi",           "/proc/kcore",       "/proc/keys",          "/proc/kmsg",
    "/proc/scsi",           "/proc/timer_list",  "/proc/sched_debug",   "/proc/latency_stats",
    "/sys/firmware",        "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf",
    "/sys/kernel/security",
};

static void check_masked(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    cordon_usability usability = cordon_kernel_usability(check->text);
    (void)probe;
    bool masked = usability == CORDON_USABLE_ABSENT || usability == CORDON_USABLE_DENIED ||
                  usability == CORDON_USABLE_EMPTY;
    cordon_found_set(found, masked ? "masked" : "usable", "%s is %s", check->text,
                     cordon_usability_name(usability));
}

static const char *const absent_devices[] = {
    "/dev/mem",          "/dev/kmsg",        "/dev/kvm",    "/dev/fuse", "/dev/net/tun",
    "/dev/vsock",        "/dev/vhost-vsock", "/dev/sda",    "/dev/vda",  "/dev/nvme0",
    "/dev/loop-control", "/dev/dri",         "/dev/uinput",
};

static void check_absent(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    struct stat st;
    (void)probe;
    if (lstat(check->text, &st) == 0)
        cordon_found_set(found, "present", "%s is there", check->text);
    else
        cordon_found_set(found, "absent", "%s: %s", check->text, strerror(errno));
}

static void check_engine_sockets(const cordon_probe *probe, const cordon_check *check,
                                 cordon_found *found)
{
    struct stat st;
    (void)probe;
    (void)check;
    cordon_found_set(found, "absent", "no engine socket at its usual place");
    for (const char *const *path = cordon_kernel_engine_sockets; *path; path++)
        if (lstat(*path, &st) == 0)
            cordon_found_set(found, "present", "%s is there", *path);
}

/* The first 64 MiB of physical memory's device, the null device's sibling; and a disk. */
static void check_mknod(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char path[512];
    mode_t kind = check->number == 0 ? S_IFCHR : S_IFBLK;
    dev_t device = check->number == 0 ? makedev(1, 1) : makedev(8, 0);
    (void)snprintf(path, sizeof path, "%s/cordon-probe-node-%ld", check->text, (long)getpid());
    int rc = mknod(path, kind | 0600, device);
    int errnum = errno;
    if (rc == 0)
        (void)unlink(path);
    (void)probe;
    cordon_found_attempt(found, rc == 0, errnum, path);
}

/* text: a folder. Makes, fills and removes a file in it. */
static void check_folder(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char path[512];
    (void)probe;
    (void)snprintf(path, sizeof path, "%s/.cordon-probe-%ld", check->text, (long)getpid());
    cordon_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int errnum = errno;
    bool wrote = fd >= 0 && write(fd, "x", 1) == 1;
    if (fd >= 0)
        (void)unlink(path);
    if (wrote)
        cordon_found_set(found, "written", "%s", check->text);
    else
        cordon_found_attempt(found, false, errnum, check->text);
}

/* A hard link or a symlink from the worktree must not be a way to a file outside. */
static void check_symlink(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/.cordon-probe-link-%ld", probe->scratch, (long)getpid());
    if (symlink(check->text, path) < 0) {
        cordon_found_set(found, "not-carried-out", "symlink: %s", strerror(errno));
        return;
    }
    cordon_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int errnum = errno;
    (void)unlink(path);
    cordon_found_attempt(found, fd >= 0, errnum, "a write through a link to the root");
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void cordon_probe_add_files(const cordon_probe *probe, cordon_checks *checks)
{
    cordon_check_add(checks, probe->writable ? "written" : "refused", check_folder, probe->worktree,
                     0, "files.worktree");
    cordon_check_add(checks, "written", check_folder, probe->scratch, 0, "files.scratch");
    cordon_check_add(checks, "refused", check_symlink, "/cordon-probe-linked", 0, "files.symlink");
    for (size_t i = 0; i < COUNT(written_paths); i++)
        cordon_check_add(checks, "refused", check_write, written_paths[i], 0, "write:%s",
                         written_paths[i]);
    for (size_t i = 0; i < COUNT(masked_paths); i++)
        cordon_check_add(checks, "masked", check_masked, masked_paths[i], 0, "masked:%s",
                         masked_paths[i]);
    for (size_t i = 0; i < COUNT(absent_devices); i++)
        cordon_check_add(checks, "absent", check_absent, absent_devices[i], 0, "device:%s",
                         absent_devices[i]);
    cordon_check_add(checks, "refused", check_mknod, probe->scratch, 0, "files.mknod-memory");
    cordon_check_add(checks, "refused", check_mknod, probe->scratch, 1, "files.mknod-disk");
    cordon_check_add(checks, "absent", check_engine_sockets, NULL, 0, "files.engine-sockets");
}

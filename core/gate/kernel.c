/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernel interfaces matter and how usable each of them is. libc-only.
 */
#include "gate/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/num.h"

#define OOM_FILE_BYTES_MAX 4096

/* The union of what Docker and Podman mask or make read-only, and some that neither does. */
const char *const cordon_kernel_masked_paths[] = {
    "/proc/acpi",
    "/proc/asound",
    "/proc/bus",
    "/proc/fs",
    "/proc/interrupts",
    "/proc/irq",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hotplug",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/dev/block",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/sys/fs/bpf",
    "/sys/fs/cgroup",
    "/sys/fs/selinux",
    "/sys/kernel/debug",
    "/sys/kernel/security",
    "/sys/kernel/tracing",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
    NULL,
};

const char *const cordon_kernel_engine_sockets[] = {
    "/run/buildkit/buildkitd.sock",
    "/run/containerd/containerd.sock",
    "/run/containerd/containerd.sock.ttrpc",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
    "/run/docker.sock",
    "/run/docker/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/systemd/notify",
    "/run/systemd/private",
    "/run/user/0/podman/podman.sock",
    "/run/user/1000/docker.sock",
    "/run/user/1000/podman/podman.sock",
    "/var/run/docker.sock",
    "/var/run/podman/podman.sock",
    NULL,
};

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

static bool is_null_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static bool can_open(const char *path, int mode)
{
    cordon_autoclose int fd = open(path, mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd >= 0;
}

/* Can a folder's entries be changed; a read-only mount and missing rights both say no. */
static bool can_change(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static cordon_usability folder_usability(const char *path)
{
    size_t entries = 0;
    cordon_cleanup(close_folder) DIR *folder = opendir(path);
    const struct dirent *entry = folder ? readdir(folder) : NULL;
    for (; entry; entry = readdir(folder))
        if (!(entry->d_name[0] == '.' &&
              (entry->d_name[1] == '\0' || (entry->d_name[1] == '.' && entry->d_name[2] == '\0'))))
            entries++;
    if (can_change(path))
        return CORDON_USABLE_OPEN;
    if (!folder)
        return CORDON_USABLE_DENIED;
    return entries > 0 ? CORDON_USABLE_READONLY : CORDON_USABLE_EMPTY;
}

/* Opening alone is not reading: some files refuse at the first read(2). */
static bool can_read(const char *path)
{
    char byte = 0;
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && (read(fd, &byte, 1) >= 0 || errno == EAGAIN);
}

cordon_usability cordon_kernel_usability(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? CORDON_USABLE_ABSENT : CORDON_USABLE_DENIED;
    if (is_null_device(&st))
        return CORDON_USABLE_EMPTY;
    if (S_ISDIR(st.st_mode))
        return folder_usability(path);
    if (can_open(path, O_WRONLY))
        return CORDON_USABLE_OPEN;
    return can_read(path) ? CORDON_USABLE_READONLY : CORDON_USABLE_DENIED;
}

const char *cordon_usability_name(cordon_usability usability)
{
    static const char *const names[] = {
        [CORDON_USABLE_UNKNOWN] = "unknown",   [CORDON_USABLE_ABSENT] = "absent",
        [CORDON_USABLE_DENIED] = "denied",     [CORDON_USABLE_EMPTY] = "empty",
        [CORDON_USABLE_READONLY] = "readonly", [CORDON_USABLE_OPEN] = "open",
    };
    unsigned index = (unsigned)usability;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

uint64_t cordon_kernel_parse_oom_kills(cordon_slice text)
{
    cordon_slice line;
    cordon_slice word;
    while (cordon_slice_cut(&text, '\n', &line)) {
        uint64_t kills = 0;
        cordon_err ignored = CORDON_ERR_INIT;
        if (cordon_slice_word(&line, &word) && cordon_slice_is(word, "oom_kill") &&
            cordon_slice_word(&line, &word) &&
            cordon_num_u64(word.text, word.length, 0, UINT64_MAX, &kills, &ignored) == 0)
            return kills;
    }
    return 0;
}

uint64_t cordon_kernel_oom_kills(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/memory.events",
                                        "/sys/fs/cgroup/memory/memory.oom_control"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        bool whole = false;
        cordon_err ignored = CORDON_ERR_INIT;
        cordon_auto(cordon_buf) buf = cordon_buf_make(OOM_FILE_BYTES_MAX);
        if (cordon_text_read(paths[i], &buf, &whole, &ignored) == 0)
            return cordon_kernel_parse_oom_kills(
                cordon_slice_make(cordon_buf_text(&buf), buf.length));
    }
    return 0;
}

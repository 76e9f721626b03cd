/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors of facts about the kernel's interfaces: sysctls, masked paths, device nodes, engine
 * sockets, cgroup limits, Landlock. libc-only.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "gate/fence.h"
#include "gate/kernel.h"
#include "gate/surround.h"
#include "kit/cleanup.h"
#include "kit/num.h"

#define VALUE_SIZE 256

/*
 * The first line of a file that need not exist. A file that is there and cannot be read has the
 * value "unreadable", which equals no planned value.
 * @return whether there is such a file
 */
static bool optional_line(const char *path, char ret_text[VALUE_SIZE])
{
    cordon_err failure = CORDON_ERR_INIT;
    if (cordon_text_first_line(path, ret_text, VALUE_SIZE, &failure) == 0)
        return true;
    if (cordon_text_is_absent(&failure))
        return false;
    (void)snprintf(ret_text, VALUE_SIZE, "unreadable");
    return true;
}

static const struct {
    const char *name;
    const char *path;
} sysctls[] = {
    {"net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward"},
    {"net.ipv4.ping_group_range", "/proc/sys/net/ipv4/ping_group_range"},
    {"net.ipv4.ip_unprivileged_port_start", "/proc/sys/net/ipv4/ip_unprivileged_port_start"},
    {"net.ipv6.conf.all.disable_ipv6", "/proc/sys/net/ipv6/conf/all/disable_ipv6"},
    {"net.ipv6.conf.default.disable_ipv6", "/proc/sys/net/ipv6/conf/default/disable_ipv6"},
    {"net.ipv6.conf.all.forwarding", "/proc/sys/net/ipv6/conf/all/forwarding"},
    {"kernel.core_pattern", "/proc/sys/kernel/core_pattern"},
    {"kernel.dmesg_restrict", "/proc/sys/kernel/dmesg_restrict"},
    {"kernel.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"},
    {"kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"},
    {"kernel.unprivileged_bpf_disabled", "/proc/sys/kernel/unprivileged_bpf_disabled"},
    {"kernel.yama.ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope"},
    {"user.max_user_namespaces", "/proc/sys/user/max_user_namespaces"},
    {"vm.unprivileged_userfaultfd", "/proc/sys/vm/unprivileged_userfaultfd"},
};

static int collect_sysctls(cordon_report *report, cordon_err *err)
{
    char value[VALUE_SIZE];
    for (size_t i = 0; i < sizeof sysctls / sizeof sysctls[0]; i++)
        if (optional_line(sysctls[i].path, value) &&
            cordon_report_addf(report, err, "sysctl", "%s %s", sysctls[i].name, value) < 0)
            return -1;
    return 0;
}

static int collect_masked(cordon_report *report, cordon_err *err)
{
    for (const char *const *path = cordon_kernel_masked_paths; *path; path++)
        if (cordon_report_addf(report, err, "masked", "%s %s", *path,
                               cordon_usability_name(cordon_kernel_usability(*path))) < 0)
            return -1;
    return 0;
}

static int collect_sockets(cordon_report *report, cordon_err *err)
{
    struct stat st;
    for (const char *const *path = cordon_kernel_engine_sockets; *path; path++)
        if (lstat(*path, &st) == 0 && cordon_report_add_text(report, "socket", *path, err) < 0)
            return -1;
    return 0;
}

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

/* The letter of find(1) and ls(1); 0 for what is no node: files, folders, links. */
static char node_letter(mode_t mode)
{
    return S_ISCHR(mode)    ? 'c'
           : S_ISBLK(mode)  ? 'b'
           : S_ISFIFO(mode) ? 'p'
           : S_ISSOCK(mode) ? 's'
                            : 0;
}

static int device_fact(const char *path, const struct stat *st, cordon_report *report,
                       cordon_err *err)
{
    return cordon_report_addf(report, err, "device", "%s %c %u:%u", path + strlen("/dev/"),
                              node_letter(st->st_mode), major(st->st_rdev), minor(st->st_rdev));
}

/* Two levels are enough for every /dev of a container: /dev, and pts, shm, mqueue, net, dri... */
static int devices_in(const char *folder_path, int depth, cordon_report *report, cordon_err *err)
{
    char path[512];
    struct stat st;
    const struct dirent *entry = NULL;
    cordon_cleanup(close_folder) DIR *folder = opendir(folder_path);
    if (!folder && errno != ENOENT && errno != EACCES)
        return CORDON_FAIL_ERRNO(err, errno, "open %s", folder_path);
    while (folder && (entry = readdir(folder)) != NULL) {
        int length = snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof path ||
            lstat(path, &st) < 0)
            continue;
        if (node_letter(st.st_mode) != 0 && device_fact(path, &st, report, err) < 0)
            return -1;
        if (S_ISDIR(st.st_mode) && depth > 0 && devices_in(path, depth - 1, report, err) < 0)
            return -1;
    }
    return 0;
}

static int collect_devices(cordon_report *report, cordon_err *err)
{
    return devices_in("/dev", 2, report, err);
}

/* cgroup v1 writes "no limit" as the largest page-aligned number. */
static void normalise_memory(char text[VALUE_SIZE])
{
    uint64_t bytes = 0;
    cordon_err ignored = CORDON_ERR_INIT;
    if (cordon_num_u64(text, strlen(text), 0, UINT64_MAX, &bytes, &ignored) == 0 &&
        bytes >= (UINT64_C(1) << 63) - 65536)
        (void)snprintf(text, VALUE_SIZE, "max");
}

static int collect_memory_limit(cordon_report *report, cordon_err *err)
{
    char value[VALUE_SIZE];
    if (!optional_line("/sys/fs/cgroup/memory.max", value) &&
        !optional_line("/sys/fs/cgroup/memory/memory.limit_in_bytes", value))
        return 0;
    normalise_memory(value);
    return cordon_report_add_text(report, "cgroup.memory.max", value, err);
}

static int collect_pids_limit(cordon_report *report, cordon_err *err)
{
    char value[VALUE_SIZE];
    if (!optional_line("/sys/fs/cgroup/pids.max", value) &&
        !optional_line("/sys/fs/cgroup/pids/pids.max", value))
        return 0;
    return cordon_report_add_text(report, "cgroup.pids.max", value, err);
}

/* "quota period" in microseconds, as cgroup v2 writes it. */
static int collect_cpu_limit(cordon_report *report, cordon_err *err)
{
    char quota[VALUE_SIZE];
    char period[VALUE_SIZE];
    if (optional_line("/sys/fs/cgroup/cpu.max", quota))
        return cordon_report_add_text(report, "cgroup.cpu.max", quota, err);
    if (!optional_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota) ||
        !optional_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period))
        return 0;
    return cordon_report_addf(report, err, "cgroup.cpu.max", "%s %s",
                              strcmp(quota, "-1") == 0 ? "max" : quota, period);
}

static int collect_landlock(cordon_report *report, cordon_err *err)
{
    return cordon_report_addf(report, err, "landlock.abi", "%d", cordon_fence_abi());
}

typedef int kernel_fn(cordon_report *report, cordon_err *err);

static kernel_fn *const collectors[] = {
    collect_sysctls,      collect_masked,     collect_sockets,   collect_devices,
    collect_memory_limit, collect_pids_limit, collect_cpu_limit, collect_landlock,
};

int cordon_kernel_facts(cordon_report *report, cordon_err *err)
{
    for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++)
        if (collectors[i](report, err) < 0)
            return -1;
    return 0;
}

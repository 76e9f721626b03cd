/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors of facts about the gate's own process and its namespaces. libc-only.
 */
#include "gate/surround.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "gate/mountinfo.h"
#include "gate/netinfo.h"
#include "gate/status.h"
#include "kit/cleanup.h"
#include "kit/octal.h"

/* Ceilings of the sources; /proc/self/mountinfo is the only large one. */
#define STATUS_BYTES_MAX 65536
#define MOUNTS_BYTES_MAX (512U << 10)
#define SMALL_BYTES_MAX  65536

typedef int collect_fn(const cordon_start_state *start, cordon_report *report, cordon_err *err);

/* Reads a file that has to exist and fit. */
static int read_whole(const char *path, cordon_buf *buf, cordon_err *err)
{
    bool whole = false;
    if (cordon_text_read(path, buf, &whole, err) < 0)
        return -1;
    if (!whole)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s is over %zu bytes", path, buf->max_bytes);
    return 0;
}

static cordon_slice slice_of(const cordon_buf *buf)
{
    return cordon_slice_make(cordon_buf_text(buf), buf->length);
}

static int collect_status(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    cordon_auto(cordon_buf) buf = cordon_buf_make(STATUS_BYTES_MAX);
    if (read_whole("/proc/self/status", &buf, err) < 0)
        return -1;
    if (cordon_status_facts(slice_of(&buf), report, err) < 0) {
        cordon_err_wrap(err, "/proc/self/status");
        return -1;
    }
    return 0;
}

static int collect_process(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    int securebits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    if (securebits < 0)
        return CORDON_FAIL_ERRNO(err, errno, "prctl PR_GET_SECUREBITS");
    if (cordon_report_addf(report, err, "no_new_privs", "%d", start->no_new_privs) < 0 ||
        cordon_report_addf(report, err, "dumpable", "%d", start->dumpable) < 0 ||
        cordon_report_addf(report, err, "securebits", "%d", securebits) < 0)
        return -1;
    return cordon_report_addf(report, err, "pid", "%ld", (long)getpid());
}

static int collect_mounts(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    cordon_auto(cordon_buf) buf = cordon_buf_make(MOUNTS_BYTES_MAX);
    if (read_whole("/proc/self/mountinfo", &buf, err) < 0)
        return -1;
    return cordon_mountinfo_facts(slice_of(&buf), report, err);
}

/* The kernel's own file systems, which nobody has planned. */
static bool is_kernels(cordon_slice target)
{
    static const char *const roots[] = {"/proc", "/sys", "/dev"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        size_t length = strlen(roots[i]);
        if (target.length >= length && memcmp(target.text, roots[i], length) == 0 &&
            (target.length == length || target.text[length] == '/'))
            return true;
    }
    return false;
}

/* Nothing where it cannot be looked at: core wants one for every folder that it has planned. */
static int folder_fact(cordon_slice target, cordon_report *report, cordon_err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (target.length >= sizeof path)
        return 0;
    memcpy(path, target.text, target.length);
    path[target.length] = '\0';
    cordon_octal_decode(path);
    if (lstat(path, &st) < 0)
        return 0;
    return cordon_report_addf(report, err, "folder", "%.*s %u:%u %llu", (int)target.length,
                              target.text, major(st.st_dev), minor(st.st_dev),
                              (unsigned long long)st.st_ino);
}

/*
 * SECURITY: which folders were mounted. The engine is told paths, and what a path leads to can be
 * another folder at the moment of the mount than before and after.
 */
static int collect_folders(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    cordon_slice line;
    cordon_auto(cordon_buf) buf = cordon_buf_make(MOUNTS_BYTES_MAX);
    if (read_whole("/proc/self/mountinfo", &buf, err) < 0)
        return -1;
    cordon_slice rest = slice_of(&buf);
    while (cordon_slice_cut(&rest, '\n', &line)) {
        cordon_mountinfo mount;
        if (cordon_mountinfo_parse(line, &mount, err) < 0 ||
            (!is_kernels(mount.target) && folder_fact(mount.target, report, err) < 0))
            return -1;
    }
    return 0;
}

static int collect_network(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    return cordon_netinfo_facts(report, err);
}

/* One fact per line of a file that need not exist; a longer file is truncated. */
static int lines_of(const char *path, const char *key, cordon_report *report, cordon_err *err)
{
    bool whole = true;
    cordon_err failure = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) buf = cordon_buf_make(SMALL_BYTES_MAX);
    if (cordon_text_read(path, &buf, &whole, &failure) < 0) {
        if (cordon_text_is_absent(&failure))
            return 0;
        return CORDON_FAIL_ERRNO(err, failure.errnum, "%s", path);
    }
    if (!whole && cordon_report_truncated(report, key, err) < 0)
        return -1;
    return cordon_report_add_lines(report, key, slice_of(&buf), err);
}

/* The same with blanks made single, for the kernel's column-aligned tables. */
static int squeezed_lines_of(const char *path, const char *key, cordon_report *report,
                             cordon_err *err)
{
    char text[256];
    cordon_slice line;
    cordon_auto(cordon_buf) buf = cordon_buf_make(SMALL_BYTES_MAX);
    if (read_whole(path, &buf, err) < 0)
        return -1;
    cordon_slice rest = slice_of(&buf);
    while (cordon_slice_cut(&rest, '\n', &line))
        if (cordon_slice_squeeze(line, text, sizeof text, err) < 0 ||
            cordon_report_add_text(report, key, text, err) < 0)
            return -1;
    return 0;
}

static int collect_names(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    char hostname[HOST_NAME_MAX + 1] = "";
    char cwd[PATH_MAX];
    if (gethostname(hostname, sizeof hostname - 1) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "gethostname");
    if (!getcwd(cwd, sizeof cwd))
        return CORDON_FAIL_ERRNO(err, errno, "getcwd");
    if (cordon_report_add_text(report, "hostname", hostname, err) < 0 ||
        cordon_report_add_text(report, "working_dir", cwd, err) < 0 ||
        lines_of("/etc/resolv.conf", "resolv", report, err) < 0)
        return -1;
    return lines_of("/etc/hosts", "hosts", report, err);
}

/* readlink(2) relative to a folder; a longer target than PATH_MAX is an error. */
static int link_target(int folder, const char *name, char ret_target[PATH_MAX], cordon_err *err)
{
    ssize_t length = readlinkat(folder, name, ret_target, PATH_MAX);
    if (length < 0)
        return CORDON_FAIL_ERRNO(err, errno, "readlink %s", name);
    if (length == PATH_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the link %s is too long", name);
    ret_target[length] = '\0';
    return 0;
}

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

static int collect_fds(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    char target[PATH_MAX];
    const struct dirent *entry = NULL;
    cordon_cleanup(close_folder) DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return CORDON_FAIL_ERRNO(err, errno, "open /proc/self/fd");
    char own[16];
    (void)snprintf(own, sizeof own, "%d", dirfd(folder));
    errno = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0)
            continue;
        if (link_target(dirfd(folder), entry->d_name, target, err) < 0 ||
            cordon_report_addf(report, err, "fd", "%s %s", entry->d_name, target) < 0)
            return -1;
        errno = 0;
    }
    if (errno != 0)
        return CORDON_FAIL_ERRNO(err, errno, "read /proc/self/fd");
    return 0;
}

static const struct {
    unsigned resource; /* glibc has an enum for it, musl an int */
    const char *name;
} limits[] = {
    {RLIMIT_AS, "as"},           {RLIMIT_CORE, "core"},         {RLIMIT_CPU, "cpu"},
    {RLIMIT_DATA, "data"},       {RLIMIT_FSIZE, "fsize"},       {RLIMIT_LOCKS, "locks"},
    {RLIMIT_MEMLOCK, "memlock"}, {RLIMIT_MSGQUEUE, "msgqueue"}, {RLIMIT_NICE, "nice"},
    {RLIMIT_NOFILE, "nofile"},   {RLIMIT_NPROC, "nproc"},       {RLIMIT_RSS, "rss"},
    {RLIMIT_RTPRIO, "rtprio"},   {RLIMIT_RTTIME, "rttime"},     {RLIMIT_SIGPENDING, "sigpending"},
    {RLIMIT_STACK, "stack"},
};

static const char *limit_text(rlim_t value, char *scratch, size_t size)
{
    if (value == RLIM_INFINITY)
        return "unlimited";
    (void)snprintf(scratch, size, "%llu", (unsigned long long)value);
    return scratch;
}

static int collect_limits(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    char soft[24];
    char hard[24];
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i].resource, &limit) < 0)
            return CORDON_FAIL_ERRNO(err, errno, "getrlimit %s", limits[i].name);
        if (cordon_report_addf(report, err, "limit", "%s %s %s", limits[i].name,
                               limit_text(limit.rlim_cur, soft, sizeof soft),
                               limit_text(limit.rlim_max, hard, sizeof hard)) < 0)
            return -1;
    }
    return 0;
}

/* time and time_for_children came with Linux 5.6; the others every supported kernel has. */
static const struct {
    const char *path;
    bool optional;
} namespaces[] = {
    {"/proc/self/ns/cgroup", false}, {"/proc/self/ns/ipc", false}, {"/proc/self/ns/mnt", false},
    {"/proc/self/ns/net", false},    {"/proc/self/ns/pid", false}, {"/proc/self/ns/user", false},
    {"/proc/self/ns/uts", false},    {"/proc/self/ns/time", true},
};

static int collect_namespaces(const cordon_start_state *start, cordon_report *report,
                              cordon_err *err)
{
    (void)start;
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
        char target[PATH_MAX];
        cordon_err failure = CORDON_ERR_INIT;
        if (link_target(AT_FDCWD, namespaces[i].path, target, &failure) < 0) {
            if (namespaces[i].optional && cordon_text_is_absent(&failure))
                continue;
            return CORDON_FAIL(err, failure.code, "%s", failure.message);
        }
        if (cordon_report_add_text(report, "ns", target, err) < 0)
            return -1;
    }
    return 0;
}

static int collect_cgroup_lines(const cordon_start_state *start, cordon_report *report,
                                cordon_err *err)
{
    (void)start;
    cordon_auto(cordon_buf) buf = cordon_buf_make(SMALL_BYTES_MAX);
    if (read_whole("/proc/self/cgroup", &buf, err) < 0)
        return -1;
    return cordon_report_add_lines(report, "cgroup", slice_of(&buf), err);
}

static int collect_maps(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    if (squeezed_lines_of("/proc/self/uid_map", "uid_map", report, err) < 0)
        return -1;
    return squeezed_lines_of("/proc/self/gid_map", "gid_map", report, err);
}

static int collect_arguments(const cordon_start_state *start, cordon_report *report,
                             cordon_err *err)
{
    for (char **item = start->env; item && *item; item++)
        if (cordon_report_add_text(report, "env", *item, err) < 0)
            return -1;
    cordon_auto(cordon_buf) buf = cordon_buf_make(SMALL_BYTES_MAX);
    if (read_whole("/proc/self/cmdline", &buf, err) < 0)
        return -1;
    cordon_slice rest = slice_of(&buf);
    cordon_slice item;
    while (cordon_slice_cut(&rest, '\0', &item))
        if (cordon_report_add(report, "argv", item, err) < 0)
            return -1;
    return 0;
}

static int collect_kernel(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    return cordon_kernel_facts(report, err);
}

static int collect_denied(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    (void)start;
    return cordon_denied_facts(report, err);
}

/* Descriptors first, before any collector opens one that could be taken for inherited. */
static collect_fn *const collectors[] = {
    collect_fds,     collect_status,    collect_process, collect_mounts,     collect_folders,
    collect_network, collect_names,     collect_limits,  collect_namespaces, collect_cgroup_lines,
    collect_maps,    collect_arguments, collect_kernel,  collect_denied,
};

int cordon_surround_facts(const cordon_start_state *start, cordon_report *report, cordon_err *err)
{
    for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++)
        if (collectors[i](start, report, err) < 0)
            return -1;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock rulesets from rules. libc-only.
 */
#include "gate/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Generic numbers, the same on every architecture of Linux 5.13 and later but alpha. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* include/uapi/linux/landlock.h, ABI 7 */
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH      1
#define RULE_NET_PORT          2

#define FS_EXECUTE    (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE  (UINT64_C(1) << 2)
#define FS_READ_DIR   (UINT64_C(1) << 3)
#define FS_TRUNCATE   (UINT64_C(1) << 14)
#define FS_IOCTL_DEV  (UINT64_C(1) << 15)

#define NET_CONNECT_TCP (UINT64_C(1) << 1)

/* What can be said of a file; all other rights are of folders. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

typedef struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
} ruleset_attr;

typedef struct path_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed)) path_attr;

typedef struct port_attr {
    uint64_t allowed_access;
    uint64_t port;
} port_attr;

/*
 * Number of rights that each ABI handles: bits are given out in order. A kernel refuses an attr
 * that is larger than it knows, unless the rest is zero, so the size grows with the ABI, too.
 */
static const struct {
    unsigned files;
    unsigned network;
    unsigned scopes;
    size_t attr_bytes;
} abis[] = {
    [1] = {13, 0, 0, offsetof(ruleset_attr, handled_access_net)},
    [2] = {14, 0, 0, offsetof(ruleset_attr, handled_access_net)}, /* refer */
    [3] = {15, 0, 0, offsetof(ruleset_attr, handled_access_net)}, /* truncate */
    [4] = {15, 2, 0, offsetof(ruleset_attr, scoped)},             /* TCP bind and connect */
    [5] = {16, 2, 0, offsetof(ruleset_attr, scoped)},             /* ioctl on devices */
    [6] = {16, 2, 2, sizeof(ruleset_attr)},                       /* abstract sockets, signals */
    [7] = {16, 2, 2, sizeof(ruleset_attr)},                       /* logging only */
};

static int known_abi(int abi)
{
    return abi > CORDON_FENCE_ABI_KNOWN ? CORDON_FENCE_ABI_KNOWN : abi;
}

int cordon_fence_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static uint64_t lowest_bits(unsigned count)
{
    return (UINT64_C(1) << count) - 1;
}

cordon_fence_rights cordon_fence_rights_of(int abi)
{
    if (abi <= 0)
        return (cordon_fence_rights){0};
    int known = known_abi(abi);
    return (cordon_fence_rights){.files = lowest_bits(abis[known].files),
                                 .network = lowest_bits(abis[known].network),
                                 .scopes = lowest_bits(abis[known].scopes)};
}

uint64_t cordon_fence_allows(cordon_rule_kind kind, cordon_fence_rights handled, bool is_folder)
{
    uint64_t files = is_folder ? handled.files : handled.files & FS_OF_FILES;
    switch (kind) {
    case CORDON_RULE_EXECUTE:
        /* execve(2) opens for reading, too. */
        return files & (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR);
    case CORDON_RULE_READ:
        return files & (FS_READ_FILE | FS_READ_DIR);
    case CORDON_RULE_WRITE:
        return files & ~FS_EXECUTE;
    case CORDON_RULE_CONNECT:
        return handled.network & NET_CONNECT_TCP;
    case CORDON_RULE_UNKNOWN:
        break;
    }
    return 0;
}

static int add_path(int ruleset, const cordon_rule *rule, cordon_fence_rights handled,
                    cordon_err *err)
{
    struct stat st;
    cordon_autoclose int fd = open(rule->path, O_PATH | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "rule for %s", CORDON_QUOTE(rule->path));
    path_attr attr = {.allowed_access =
                          cordon_fence_allows(rule->kind, handled, S_ISDIR(st.st_mode)),
                      .parent_fd = fd};
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "rule for %s", CORDON_QUOTE(rule->path));
    return 0;
}

/* Below ABI 4 the kernel restricts no port, so there is nothing to allow. */
static int add_port(int ruleset, const cordon_rule *rule, cordon_fence_rights handled,
                    cordon_err *err)
{
    port_attr attr = {.allowed_access = cordon_fence_allows(rule->kind, handled, false),
                      .port = rule->port};
    if (attr.allowed_access == 0)
        return 0;
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attr, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "rule for port %u", rule->port);
    return 0;
}

static int create_ruleset(int abi, cordon_fence_rights handled, int *ret_fd, cordon_err *err)
{
    ruleset_attr attr = {.handled_access_fs = handled.files,
                         .handled_access_net = handled.network,
                         .scoped = handled.scopes};
    long fd = syscall(SYS_landlock_create_ruleset, &attr, abis[known_abi(abi)].attr_bytes, 0U);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock ruleset");
    *ret_fd = (int)fd; /* the kernel makes it close-on-exec */
    return 0;
}

static int check_abi(int abi, uint64_t least, cordon_err *err)
{
    if (abi <= 0 || (uint64_t)known_abi(abi) < least)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "Landlock ABI %llu is required, the kernel and the gate have %d",
                           (unsigned long long)least, known_abi(abi));
    return 0;
}

/* Executing anything is allowed: then a file in memory is no way around a rule. */
static bool executes_anything(const cordon_release *release)
{
    for (size_t i = 0; i < release->rule_count; i++)
        if (release->rules[i].kind == CORDON_RULE_EXECUTE &&
            strcmp(release->rules[i].path, "/") == 0)
            return true;
    return false;
}

/* "connect 0": the step has loopback alone, TCP is left to it. */
static bool leaves_tcp_alone(const cordon_release *release)
{
    for (size_t i = 0; i < release->rule_count; i++)
        if (release->rules[i].kind == CORDON_RULE_CONNECT && release->rules[i].port == 0)
            return true;
    return false;
}

/* The kernel's word, not core's: it holds without Landlock, too. What cannot be read is a way out.
 */
static bool has_way_out(void)
{
    struct ifaddrs *list = NULL;
    bool found = false;
    if (getifaddrs(&list) < 0)
        return true;
    for (const struct ifaddrs *item = list; item; item = item->ifa_next)
        found = found || ((item->ifa_flags & IFF_UP) != 0 && (item->ifa_flags & IFF_LOOPBACK) == 0);
    freeifaddrs(list);
    return found;
}

static int add_rule(int ruleset, const cordon_rule *rule, cordon_fence_rights handled,
                    cordon_err *err)
{
    if (rule->kind != CORDON_RULE_CONNECT)
        return add_path(ruleset, rule, handled, err);
    return handled.network != 0 ? add_port(ruleset, rule, handled, err) : 0;
}

int cordon_fence_prepare(const cordon_release *release, cordon_fence *ret_fence, cordon_err *err)
{
    cordon_auto(cordon_fence) fence = {.ruleset_fd = -1, .tcp_alone = has_way_out()};
    if (release->landlock_abi_min > 0) {
        int abi = cordon_fence_abi();
        cordon_fence_rights handled = cordon_fence_rights_of(abi);
        if (leaves_tcp_alone(release))
            handled.network = 0;
        if (check_abi(abi, release->landlock_abi_min, err) < 0 ||
            create_ruleset(abi, handled, &fence.ruleset_fd, err) < 0)
            return -1;
        for (size_t i = 0; i < release->rule_count; i++)
            if (add_rule(fence.ruleset_fd, &release->rules[i], handled, err) < 0)
                return -1;
        fence.no_memfd_exec = !executes_anything(release);
    }
    *ret_fence = fence;
    fence.ruleset_fd = -1;
    return 0;
}

int cordon_fence_enter(const cordon_fence *fence, cordon_err *err)
{
    if (fence->ruleset_fd >= 0 && syscall(SYS_landlock_restrict_self, fence->ruleset_fd, 0U) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock");
    return cordon_filter_enter(fence->no_memfd_exec, fence->tcp_alone, err);
}

void cordon_fence_clear(cordon_fence *fence)
{
    cordon_cleanup_close(&fence->ruleset_fd);
    fence->ruleset_fd = -1;
}

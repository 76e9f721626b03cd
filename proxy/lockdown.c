/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock for the proxy's processes; see lockdown.h. The filter is in calls.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "lockdown.h"

/* Generic numbers, the same on every architecture that the guard is built for. */
#define NR_CREATE_RULESET 444
#define NR_ADD_RULE       445
#define NR_RESTRICT_SELF  446

/* include/uapi/linux/landlock.h */
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH      1
#define RULE_NET_PORT          2
#define FS_READ_FILE           (UINT64_C(1) << 2)
#define NET_CONNECT_TCP        (UINT64_C(1) << 1)

typedef struct ruleset_attr {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
} ruleset_attr;

typedef struct path_attr {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed)) path_attr;

typedef struct port_attr {
    uint64_t allowed;
    uint64_t port;
} port_attr;

/* All rights of an ABI, and how large its attr is; a larger ABI than known counts as the last. */
static const struct {
    unsigned files;
    unsigned network;
    unsigned scoped;
    size_t attr_bytes;
} abis[] = {
    [1] = {13, 0, 0, offsetof(ruleset_attr, network)},
    [2] = {14, 0, 0, offsetof(ruleset_attr, network)},
    [3] = {15, 0, 0, offsetof(ruleset_attr, network)},
    [4] = {15, 2, 0, offsetof(ruleset_attr, scoped)},
    [5] = {16, 2, 0, offsetof(ruleset_attr, scoped)},
    [6] = {16, 2, 2, sizeof(ruleset_attr)},
};
#define ABI_KNOWN ((int)(sizeof abis / sizeof abis[0]) - 1)

static uint64_t lowest_bits(unsigned count)
{
    return (UINT64_C(1) << count) - 1;
}

/* A file that is not there needs no permission. */
static int allow_file(int ruleset, const char *path, cordon_err *err)
{
    cordon_autoclose int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    path_attr attr = {.allowed = FS_READ_FILE, .parent_fd = fd};
    if (fd < 0 || syscall(NR_ADD_RULE, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock rule for %s", path);
    return 0;
}

static int allow_port(int ruleset, uint16_t port, cordon_err *err)
{
    port_attr attr = {.allowed = NET_CONNECT_TCP, .port = port};
    if (syscall(NR_ADD_RULE, ruleset, RULE_NET_PORT, &attr, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock rule for port %u", port);
    return 0;
}

int cordon_lockdown_fence(const char *file, const uint16_t *ports, size_t count, int *ret_abi,
                          cordon_err *err)
{
    long found = syscall(NR_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    int abi = found > ABI_KNOWN ? ABI_KNOWN : (int)found;
    *ret_abi = found > 0 ? (int)found : 0;
    if (abi <= 0)
        return 0;
    ruleset_attr attr = {.files = lowest_bits(abis[abi].files),
                         .network = lowest_bits(abis[abi].network),
                         .scoped = lowest_bits(abis[abi].scoped)};
    cordon_autoclose int ruleset = (int)syscall(NR_CREATE_RULESET, &attr, abis[abi].attr_bytes, 0U);
    if (ruleset < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock ruleset");
    if (file && allow_file(ruleset, file, err) != 0)
        return -1;
    for (size_t i = 0; attr.network != 0 && i < count; i++) {
        if (allow_port(ruleset, ports[i], err) != 0)
            return -1;
    }
    if (syscall(NR_RESTRICT_SELF, ruleset, 0U) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "Landlock");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POLICY frames for the proxy from "--name value" pairs: for unit tests, and for the program that
 * starts a real proxy for benchmarks and real clients (proxy_start.c).
 */
#ifndef CORDON_TESTS_SUPPORT_PROXY_POLICY_H
#define CORDON_TESTS_SUPPORT_PROXY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gate/proxy_protocol.h"
#include "kit/frame.h"
#include "kit/num.h"

typedef struct policy_name {
    const char *name;
    uint16_t tag;
    bool text;
    uint64_t initial;
} policy_name;

static const policy_name policy_names[] = {
    {"--version", CORDON_PROXY_POLICY_VERSION, false, CORDON_PROXY_VERSION},
    {"--listen", CORDON_PROXY_POLICY_LISTEN, true, 0},
    {"--allow", CORDON_PROXY_POLICY_HOST, true, 0},
    {"--upstream", CORDON_PROXY_POLICY_UPSTREAM, true, 0},
    {"--header-ms", CORDON_PROXY_POLICY_HEAD_MS, false, 10000},
    {"--connect-ms", CORDON_PROXY_POLICY_CONNECT_MS, false, 15000},
    {"--hello-ms", CORDON_PROXY_POLICY_HELLO_MS, false, 15000},
    {"--idle-ms", CORDON_PROXY_POLICY_IDLE_MS, false, 0},
    {"--max-tunnels", CORDON_PROXY_POLICY_TUNNELS, false, 512},
    {"--tunnel-bytes", CORDON_PROXY_POLICY_TUNNEL_BYTES, false, 0},
    {"--all-bytes", CORDON_PROXY_POLICY_ALL_BYTES, false, 0},
    {"--refusals", CORDON_PROXY_POLICY_REFUSALS, false, 0},
};
#define POLICY_NAMES (sizeof policy_names / sizeof policy_names[0])

static inline int policy_add(cordon_frame *frame, const char *name, const char *value, bool *given,
                             cordon_err *err)
{
    uint64_t number = 0;
    for (size_t i = 0; i < POLICY_NAMES; i++) {
        if (strcmp(policy_names[i].name, name) != 0)
            continue;
        given[i] = true;
        if (policy_names[i].text)
            return cordon_frame_add_string(frame, policy_names[i].tag, value, err);
        if (cordon_num_u64(value, strlen(value), 0, UINT64_MAX, &number, err) != 0)
            return -1;
        return cordon_frame_add_u64(frame, policy_names[i].tag, number, err);
    }
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unknown option \"%s\"", name);
}

/*
 * Numbers that are not given are added with their usual value; a
 * name without a value, at the end, leaves that one out.
 */
static inline int policy_make(int count, const char *const *pairs, cordon_frame *ret_frame,
                              cordon_err *err)
{
    bool given[POLICY_NAMES] = {false};
    if (cordon_frame_init(ret_frame, CORDON_PROXY_MAGIC_POLICY, CORDON_PROXY_POLICY_MAX, err) != 0)
        return -1;
    for (int i = 0; i + 1 < count; i += 2) {
        if (policy_add(ret_frame, pairs[i], pairs[i + 1], given, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < POLICY_NAMES; i++) {
        bool left_out = count % 2 == 1 && strcmp(pairs[count - 1], policy_names[i].name) == 0;
        if (!given[i] && !policy_names[i].text && !left_out &&
            cordon_frame_add_u64(ret_frame, policy_names[i].tag, policy_names[i].initial, err) != 0)
            return -1;
    }
    return cordon_frame_seal(ret_frame, cordon_frame_unkeyed, err);
}

#endif

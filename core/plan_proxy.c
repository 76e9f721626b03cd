/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's policy as one frame (gate/proxy_protocol.h); see plan.h. Every field is written, so
 * that the frame says all of what is in force and its code names it.
 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

static int policy_numbers(const cordon_plan_input *input, cordon_frame *frame, cordon_err *err)
{
    const cordon_egress_limits *egress = &input->egress;
    const struct {
        uint16_t tag;
        int64_t value;
    } numbers[] = {
        {CORDON_PROXY_POLICY_VERSION, CORDON_PROXY_VERSION},
        {CORDON_PROXY_POLICY_HEAD_MS, CORDON_PLAN_HEAD_MS},
        {CORDON_PROXY_POLICY_CONNECT_MS, or_default(input->connect_ms, CORDON_PLAN_CONNECT_MS)},
        {CORDON_PROXY_POLICY_HELLO_MS, CORDON_PLAN_HELLO_MS},
        {CORDON_PROXY_POLICY_IDLE_MS, input->deadline_ms},
        {CORDON_PROXY_POLICY_TUNNELS, or_default(egress->tunnels, CORDON_PLAN_TUNNELS)},
        {CORDON_PROXY_POLICY_TUNNEL_BYTES, egress->tunnel_bytes},
        {CORDON_PROXY_POLICY_ALL_BYTES, egress->all_bytes},
        {CORDON_PROXY_POLICY_REFUSALS, egress->refusals},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (cordon_frame_add_u64(frame, numbers[i].tag, (uint64_t)numbers[i].value, err) != 0)
            return -1;
    }
    return 0;
}

static int policy_host(const cordon_plan_host *host, cordon_frame *frame, cordon_err *err)
{
    cordon_auto(cordon_buf) map = cordon_buf_make(CORDON_PROXY_POLICY_MAX);

    if (cordon_frame_add_string(frame, CORDON_PROXY_POLICY_HOST, host->host, err) != 0)
        return -1;
    if (host->upstream == NULL)
        return 0;
    if (cordon_buf_printf(&map, err, "%s=%s", host->host, host->upstream) != 0)
        return -1;
    return cordon_frame_add_bytes(frame, CORDON_PROXY_POLICY_UPSTREAM, map.data, map.length, err);
}

static void policy_note_code(cordon_plan *plan)
{
    const cordon_buf *bytes = &plan->proxy_policy.bytes;
    const unsigned char *code =
        (const unsigned char *)bytes->data + bytes->length - CORDON_PROXY_CODE_BYTES;

    for (size_t i = 0; i < CORDON_PROXY_CODE_BYTES; i++)
        (void)snprintf(plan->proxy_code + 2 * i, 3, "%02x", code[i]);
}

int cordon_plan_policy(cordon_plan *plan, cordon_err *err)
{
    cordon_auto(cordon_frame) frame = {0};

    (void)snprintf(plan->proxy_listen, sizeof(plan->proxy_listen), "%s:%d", plan->proxy_address,
                   CORDON_PLAN_PROXY_PORT);
    if (cordon_frame_init(&frame, CORDON_PROXY_MAGIC_POLICY, CORDON_PROXY_POLICY_MAX, err) != 0 ||
        policy_numbers(&plan->input, &frame, err) != 0 ||
        cordon_frame_add_string(&frame, CORDON_PROXY_POLICY_LISTEN, plan->proxy_listen, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->input.host_count; i++) {
        if (policy_host(&plan->input.hosts[i], &frame, err) != 0)
            return -1;
    }
    if (cordon_frame_seal(&frame, cordon_frame_unkeyed, err) != 0)
        return -1;
    cordon_frame_clear(&plan->proxy_policy);
    plan->proxy_policy = frame;
    frame = (cordon_frame){0};
    policy_note_code(plan);
    return 0;
}

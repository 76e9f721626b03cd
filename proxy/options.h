/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy is told: one table over the fields of the POLICY frame (gate/proxy_protocol.h),
 * exact and closed. libc-only, pure.
 */
#ifndef CORDON_PROXY_OPTIONS_H
#define CORDON_PROXY_OPTIONS_H

#include <stdint.h>

#include "gate/proxy_protocol.h"
#include "kit/error.h"
#include "policy.h"

/*
 * code              the frame's name, lower-case hex; empty where there was no frame (tests)
 * listen            a specific unicast address; port 0 lets the kernel choose (the ready line
 *                   tells)
 * head_ms           from accept to the end of the request head, in all
 * connect_ms        from the decision to the upstream's answer, look-up included
 * hello_ms          from 200 to the end of the ClientHello
 * idle_ms           an open tunnel with both directions quiet; 0 is never
 * max_tunnels       accepted CONNECTs at a time, connecting ones included
 * max_tunnel_bytes  both directions of one tunnel; it is closed there; 0 is no limit
 * max_all_bytes     of all tunnels; from then on new ones are refused; 0 is no limit
 * max_refusals      refused attempts per second; over it, new clients are turned away unread
 *                   until the second is over; 0 is no limit
 */
typedef struct cordon_proxy_options {
    char code[2 * CORDON_PROXY_CODE_BYTES + 1];
    cordon_address listen;
    int64_t head_ms;
    int64_t connect_ms;
    int64_t hello_ms;
    int64_t idle_ms;
    int64_t max_tunnels;
    int64_t max_tunnel_bytes;
    int64_t max_all_bytes;
    int64_t max_refusals;
    cordon_policy policy; /* last, since most of it is unused room */
} cordon_proxy_options;

/*
 * Reads a whole POLICY frame; anything missing, repeated, unknown or out of its range is refused.
 *
 * @param ret_options  what policy.hosts holds from policy.count on stays as it was, so that fresh
 *                     memory costs no page for it
 * @return 0, or -1 with CONFIG or PROTOCOL and a message that names the field
 */
int cordon_proxy_options_read(const void *bytes, size_t length, cordon_proxy_options *ret_options,
                              cordon_err *err) __attribute__((warn_unused_result));

#endif

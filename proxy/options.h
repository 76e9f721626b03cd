/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy is told on its command line: one table of options, exact and closed. libc-only,
 * pure.
 */
#ifndef CORDON_PROXY_OPTIONS_H
#define CORDON_PROXY_OPTIONS_H

#include <stdint.h>

#include "kit/error.h"
#include "policy.h"

/*
 * listen       a specific unicast address; port 0 lets the kernel choose (the ready line tells)
 * head_ms      from accept to the end of the request head, in all
 * connect_ms   from the decision to the upstream's answer, look-up included
 * hello_ms     from 200 to the end of the ClientHello
 * idle_ms      an open tunnel with both directions quiet; 0 is never
 * max_tunnels  accepted CONNECTs at a time, connecting ones included
 */
typedef struct cordon_proxy_options {
    cordon_address listen;
    cordon_policy policy;
    uint32_t head_ms;
    uint32_t connect_ms;
    uint32_t hello_ms;
    uint32_t idle_ms;
    uint32_t max_tunnels;
} cordon_proxy_options;

/*
 * Reads "--name value" pairs; "--name=value", abbreviations, operands, unknown and repeated
 * options are refused. --listen and at least one --allow are required; --allow and --upstream may
 * be repeated, and an --upstream stands after the --allow of its host.
 *
 * @param argv  argv[0] is ignored
 * @return 0, or -1 with CONFIG and a message that names the option
 */
int cordon_proxy_options_parse(int argc, const char *const *argv, cordon_proxy_options *ret_options,
                               cordon_err *err) __attribute__((warn_unused_result));

#endif

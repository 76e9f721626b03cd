/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frozen list of pinned hosts, and for some of them the one address that the operator mapped
 * them to. Filled once from core's frame, read-only afterwards. libc-only, pure.
 */
#ifndef CORDON_PROXY_POLICY_H
#define CORDON_PROXY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "host.h"
#include "kit/error.h"

#define CORDON_POLICY_HOSTS_MAX 32
#define CORDON_POLICY_PORT      443
#define CORDON_POLICY_NONE      SIZE_MAX

/*
 * name      lower case, NUL-terminated
 * upstream  family 0 where the name is resolved; else the only address that is dialled for it
 */
typedef struct cordon_policy_host {
    uint8_t name_length;
    char name[CORDON_HOST_MAX + 1];
    cordon_address upstream;
} cordon_policy_host;

/* Zero it before the first add. */
typedef struct cordon_policy {
    size_t count;
    cordon_policy_host hosts[CORDON_POLICY_HOSTS_MAX];
} cordon_policy;

/*
 * Pins one more host. Only a whole name is a pin: "*", a leading dot, a final dot, a blank, an
 * address in any spelling, and a name that is already pinned are refused.
 *
 * @return 0, or -1 with CONFIG; the message names the entry and its number
 */
int cordon_policy_allow(cordon_policy *policy, const char *entry, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Maps a pinned host to an address: "HOST=ADDR:PORT". The address may be private, because the
 * operator said so, but must be one that can be dialled. One map per host.
 */
int cordon_policy_map(cordon_policy *policy, const char *entry, cordon_err *err)
    __attribute__((warn_unused_result));

/* The pinned host equal to this name, as an index, or CORDON_POLICY_NONE. */
size_t cordon_policy_find(const cordon_policy *policy, const char *host, size_t length);

#endif

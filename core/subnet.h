/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small IPv4 blocks out of a configured range, so that an engine's default address pool never
 * limits the number of runs. Pure arithmetic; whether a block is free the engine says.
 */
#ifndef CORDON_SUBNET_H
#define CORDON_SUBNET_H

#include <netinet/in.h>
#include <stdint.h>

#include "kit/error.h"

#define CORDON_SUBNET_SIZE (INET_ADDRSTRLEN + 3) /* "255.255.255.255/32" and NUL */

/* Least and greatest prefix of a block: two members, gateway, network and broadcast must fit. */
#define CORDON_SUBNET_PREFIX_MIN 16
#define CORDON_SUBNET_PREFIX_MAX 29

/* A parsed range. base is in host byte order and has no host bits. */
typedef struct cordon_range {
    uint32_t base;
    unsigned range_prefix;
    unsigned block_prefix;
} cordon_range;

/*
 * "10.213.0.0/16" cut into blocks of /prefix. CONFIG: not an IPv4 network, host bits set, a range
 * outside of private and shared space (RFC 1918, RFC 6598), or no room for one block.
 */
int cordon_range_parse(const char *text, int64_t prefix, cordon_range *ret_range, cordon_err *err)
    __attribute__((warn_unused_result));

/* How many blocks the range holds. */
uint32_t cordon_range_blocks(const cordon_range *range);

/* Block number index modulo the number of blocks, as "10.213.4.8/29". */
void cordon_range_block(const cordon_range *range, uint32_t index,
                        char ret_subnet[CORDON_SUBNET_SIZE]);

/* The nth address of a block that cordon_range_block wrote, as text. */
void cordon_subnet_host(const char *subnet, uint32_t nth, char ret_address[INET_ADDRSTRLEN]);

/* The length after the slash of such a block. */
unsigned cordon_subnet_prefix(const char *subnet);

#endif

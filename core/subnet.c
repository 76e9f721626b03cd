/* SPDX-License-Identifier: Apache-2.0 */
/* Address arithmetic; see subnet.h. */
#include "subnet.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kit/num.h"

/* RFC 1918 and RFC 6598: a block must never shadow a public address of somebody's vendor. */
static const struct {
    uint32_t base;
    unsigned prefix;
} allowed_ranges[] = {
    {0x0A000000u, 8},  /* 10.0.0.0 */
    {0xAC100000u, 12}, /* 172.16.0.0 */
    {0xC0A80000u, 16}, /* 192.168.0.0 */
    {0x64400000u, 10}, /* 100.64.0.0 */
};

static uint32_t subnet_mask(unsigned prefix)
{
    return prefix == 0 ? 0 : UINT32_MAX << (32 - prefix);
}

static int subnet_split(const char *text, uint32_t *ret_base, unsigned *ret_prefix, cordon_err *err)
{
    const char *slash = strchr(text, '/');
    char address[INET_ADDRSTRLEN];
    struct in_addr parsed;
    uint64_t prefix;
    size_t length;

    if (slash == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "'%s' has no prefix length", CORDON_QUOTE(text));
    length = (size_t)(slash - text);
    if (length >= sizeof(address))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "'%s' is no IPv4 network", CORDON_QUOTE(text));
    memcpy(address, text, length);
    address[length] = '\0';
    if (inet_pton(AF_INET, address, &parsed) != 1)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "'%s' is no IPv4 network", CORDON_QUOTE(text));
    if (cordon_num_u64(slash + 1, strlen(slash + 1), 0, 32, &prefix, err) != 0) {
        cordon_err_wrap(err, "prefix length of '%s'", CORDON_QUOTE(text));
        return -1;
    }
    *ret_base = ntohl(parsed.s_addr);
    *ret_prefix = (unsigned)prefix;
    return 0;
}

static bool range_is_allowed(uint32_t base, unsigned prefix)
{
    for (size_t i = 0; i < sizeof(allowed_ranges) / sizeof(allowed_ranges[0]); i++) {
        if (prefix >= allowed_ranges[i].prefix &&
            (base & subnet_mask(allowed_ranges[i].prefix)) == allowed_ranges[i].base)
            return true;
    }
    return false;
}

int cordon_range_parse(const char *text, int64_t prefix, cordon_range *ret_range, cordon_err *err)
{
    uint32_t base;
    unsigned range_prefix;

    if (subnet_split(text, &base, &range_prefix, err) != 0)
        return -1;
    if ((base & ~subnet_mask(range_prefix)) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "'%s' has host bits after the prefix",
                           CORDON_QUOTE(text));
    if (!range_is_allowed(base, range_prefix))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "'%s' is not inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or "
                           "100.64.0.0/10",
                           CORDON_QUOTE(text));
    if (prefix < CORDON_SUBNET_PREFIX_MIN || prefix > CORDON_SUBNET_PREFIX_MAX ||
        (unsigned)prefix < range_prefix)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "block prefix %lld is not between %d and %d, or wider than %s",
                           (long long)prefix, CORDON_SUBNET_PREFIX_MIN, CORDON_SUBNET_PREFIX_MAX,
                           CORDON_QUOTE(text));
    ret_range->base = base;
    ret_range->range_prefix = range_prefix;
    ret_range->block_prefix = (unsigned)prefix;
    return 0;
}

uint32_t cordon_range_blocks(const cordon_range *range)
{
    return UINT32_C(1) << (range->block_prefix - range->range_prefix);
}

void cordon_range_block(const cordon_range *range, uint32_t index,
                        char ret_subnet[CORDON_SUBNET_SIZE])
{
    uint32_t block = index % cordon_range_blocks(range);
    struct in_addr address = {
        .s_addr = htonl(range->base + (block << (32 - range->block_prefix))),
    };
    char text[INET_ADDRSTRLEN];

    (void)inet_ntop(AF_INET, &address, text, sizeof(text));
    (void)snprintf(ret_subnet, CORDON_SUBNET_SIZE, "%s/%u", text, range->block_prefix);
}

void cordon_subnet_host(const char *subnet, uint32_t nth, char ret_address[INET_ADDRSTRLEN])
{
    uint32_t base = 0;
    unsigned prefix = 0;
    struct in_addr address;

    ret_address[0] = '\0';
    if (subnet_split(subnet, &base, &prefix, NULL) != 0)
        return;
    address.s_addr = htonl(base + nth);
    (void)inet_ntop(AF_INET, &address, ret_address, INET_ADDRSTRLEN);
}

unsigned cordon_subnet_prefix(const char *subnet)
{
    uint32_t base = 0;
    unsigned prefix = 0;

    return subnet_split(subnet, &base, &prefix, NULL) == 0 ? prefix : 0;
}

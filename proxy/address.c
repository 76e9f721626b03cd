/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address classes as a table over the IANA special-purpose registries (RFC 6890 and the documents
 * beside each row); see address.h.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>

#include "address.h"
#include "kit/num.h"

typedef struct prefix {
    uint8_t bytes[16];
    uint8_t bits;
    const char *name;
} prefix;

static const prefix prefixes4[] = {
    {{0}, 8, "this-network"},                  /* RFC 791 section 3.2 */
    {{10}, 8, "private"},                      /* RFC 1918 */
    {{100, 64}, 10, "shared"},                 /* RFC 6598 */
    {{127}, 8, "loopback"},                    /* RFC 1122 section 3.2.1.3 */
    {{169, 254}, 16, "link-local"},            /* RFC 3927; cloud metadata */
    {{172, 16}, 12, "private"},                /* RFC 1918 */
    {{192, 0, 0}, 24, "protocol-assignments"}, /* RFC 6890 section 2.1 */
    {{192, 0, 2}, 24, "documentation"},        /* RFC 5737 */
    {{192, 88, 99}, 24, "6to4-relay"},         /* RFC 7526 */
    {{192, 168}, 16, "private"},               /* RFC 1918 */
    {{198, 18}, 15, "benchmarking"},           /* RFC 2544 */
    {{198, 51, 100}, 24, "documentation"},     /* RFC 5737 */
    {{203, 0, 113}, 24, "documentation"},      /* RFC 5737 */
    {{224}, 4, "multicast"},                   /* RFC 5771 */
    {{255, 255, 255, 255}, 32, "broadcast"},   /* RFC 919 */
    {{240}, 4, "reserved"},                    /* RFC 1112 section 4 */
};

/* First match wins. What no row names is refused unless it lies in 2000::/3. */
static const prefix prefixes6[] = {
    {{0}, 128, "unspecified"},                                 /* RFC 4291 2.5.2 */
    {{[15] = 1}, 128, "loopback"},                             /* RFC 4291 2.5.3 */
    {{[10] = 0xff, [11] = 0xff}, 96, "ipv4-mapped"},           /* RFC 4291 2.5.5.2 */
    {{0}, 96, "ipv4-compatible"},                              /* RFC 4291 2.5.5.1 */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "local-nat64"}, /* RFC 8215 */
    {{0x01, 0x00}, 64, "discard-only"},                        /* RFC 6666 */
    {{0x20, 0x01, 0x00, 0x00}, 32, "teredo"},                  /* RFC 4380 */
    {{0x20, 0x01, 0x00, 0x02}, 48, "benchmarking"},            /* RFC 5180 */
    {{0x20, 0x01}, 23, "protocol-assignments"},                /* RFC 2928 */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},           /* RFC 3849 */
    {{0x20, 0x02}, 16, "6to4"},                                /* RFC 3056, RFC 7526 */
    {{0x3f, 0xff}, 20, "documentation"},                       /* RFC 9637 */
    {{0xfc}, 7, "unique-local"},                               /* RFC 4193 */
    {{0xfe, 0x80}, 10, "link-local"},                          /* RFC 4291 2.5.6 */
    {{0xfe, 0xc0}, 10, "site-local"},                          /* RFC 3879 */
    {{0xff}, 8, "multicast"},                                  /* RFC 4291 2.7 */
};

static const prefix prefix_nat64 = {{0x00, 0x64, 0xff, 0x9b}, 96, "nat64"}; /* RFC 6052 */
static const prefix prefix_global6 = {{0x20}, 3, "global"};                 /* RFC 4291 2.4 */

static bool in_prefix(const uint8_t *bytes, const prefix *range)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    if (memcmp(bytes, range->bytes, whole) != 0)
        return false;
    return rest == 0 || (bytes[whole] ^ range->bytes[whole]) >> (8 - rest) == 0;
}

static const char *find_prefix(const uint8_t *bytes, const prefix *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (in_prefix(bytes, &table[i]))
            return table[i].name;
    }
    return NULL;
}

static const char *refusal4(const uint8_t *bytes)
{
    return find_prefix(bytes, prefixes4, sizeof prefixes4 / sizeof prefixes4[0]);
}

static const char *refusal6(const uint8_t *bytes)
{
    if (in_prefix(bytes, &prefix_nat64))
        return refusal4(bytes + 12);
    const char *name = find_prefix(bytes, prefixes6, sizeof prefixes6 / sizeof prefixes6[0]);
    if (name)
        return name;
    return in_prefix(bytes, &prefix_global6) ? NULL : "reserved";
}

const char *cordon_address_refusal(const cordon_address *address)
{
    if (address->family == AF_INET)
        return refusal4(address->bytes);
    if (address->family == AF_INET6)
        return refusal6(address->bytes);
    return "unknown-family";
}

bool cordon_address_is_unicast(const cordon_address *address)
{
    static const char *const none[] = {"unspecified", "multicast", "broadcast", "this-network",
                                       "unknown-family"};
    const char *name = cordon_address_refusal(address);
    for (size_t i = 0; name && i < sizeof none / sizeof none[0]; i++) {
        if (strcmp(name, none[i]) == 0)
            return false;
    }
    return true;
}

/* Splits at the last colon; the host part goes to ret_host without its brackets. */
static const char *split_port(const char *text, char *ret_host, size_t size, bool *ret_brackets)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    *ret_brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    if (*ret_brackets) {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= size)
        return NULL;
    memcpy(ret_host, text, length);
    ret_host[length] = '\0';
    return colon + 1;
}

bool cordon_address_parse(const char *text, uint16_t min_port, cordon_address *ret_address)
{
    char host[INET6_ADDRSTRLEN];
    bool brackets = false;
    uint64_t port = 0;
    cordon_address address = {0};
    const char *port_text = split_port(text, host, sizeof host, &brackets);
    if (!port_text ||
        cordon_num_u64(port_text, strlen(port_text), min_port, UINT16_MAX, &port, NULL) != 0)
        return false;
    address.family = brackets ? AF_INET6 : AF_INET;
    address.port = (uint16_t)port;
    /* inet_pton takes only four decimal octets, so "127.1" and "010.0.0.1" stay out. */
    if (inet_pton(address.family, host, address.bytes) != 1)
        return false;
    *ret_address = address;
    return true;
}

/* Of every tunnel's lines, so without snprintf, which musl's inet_ntop calls as well. */
static char *put_number(char *at, unsigned number)
{
    char digits[8];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static const char *text4(const cordon_address *address, bool with_port, char *ret_text)
{
    char *at = ret_text;
    for (size_t i = 0; i < 4; i++) {
        if (i > 0)
            *at++ = '.';
        at = put_number(at, address->bytes[i]);
    }
    if (with_port) {
        *at++ = ':';
        at = put_number(at, address->port);
    }
    *at = '\0';
    return ret_text;
}

const char *cordon_address_text(const cordon_address *address, bool with_port, char *ret_text)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->family == AF_INET)
        return text4(address, with_port, ret_text);
    (void)inet_ntop(address->family, address->bytes, host, sizeof host);
    if (!with_port)
        (void)snprintf(ret_text, CORDON_ADDRESS_TEXT_MAX, "%s", host);
    else
        (void)snprintf(ret_text, CORDON_ADDRESS_TEXT_MAX, "[%s]:%u", host, address->port);
    return ret_text;
}

socklen_t cordon_address_to_socket(const cordon_address *address,
                                   struct sockaddr_storage *ret_socket)
{
    memset(ret_socket, 0, sizeof *ret_socket);
    if (address->family == AF_INET6) {
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
        memcpy(&in6.sin6_addr, address->bytes, 16);
        memcpy(ret_socket, &in6, sizeof in6);
        return sizeof in6;
    }
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    memcpy(&in4.sin_addr, address->bytes, 4);
    memcpy(ret_socket, &in4, sizeof in4);
    return sizeof in4;
}

cordon_address cordon_address_from_socket(const struct sockaddr *socket)
{
    const char *bytes = (const char *)socket;
    cordon_address address = {0};
    uint16_t port = 0;
    if (socket->sa_family == AF_INET) {
        address.family = AF_INET;
        memcpy(&port, bytes + offsetof(struct sockaddr_in, sin_port), sizeof port);
        memcpy(address.bytes, bytes + offsetof(struct sockaddr_in, sin_addr), 4);
    } else if (socket->sa_family == AF_INET6) {
        address.family = AF_INET6;
        memcpy(&port, bytes + offsetof(struct sockaddr_in6, sin6_port), sizeof port);
        memcpy(address.bytes, bytes + offsetof(struct sockaddr_in6, sin6_addr), 16);
    }
    address.port = ntohs(port);
    return address;
}

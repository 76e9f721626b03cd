/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses as values: which may be dialled, why others may not, text to address and back.
 * libc-only, pure.
 */
#ifndef CORDON_PROXY_ADDRESS_H
#define CORDON_PROXY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535" and a NUL. */
#define CORDON_ADDRESS_TEXT_MAX 56

/*
 * family  AF_INET or AF_INET6
 * port    host byte order
 * bytes   network byte order; the first four count for AF_INET
 */
typedef struct cordon_address {
    uint16_t family;
    uint16_t port;
    uint8_t bytes[16];
} cordon_address;

/*
 * Why an address must not be dialled on the word of DNS: "loopback", "private", "link-local", ...
 * or NULL for a globally reachable unicast address. Closed world: an IPv6 address outside 2000::/3
 * is refused even if no row names it, and so is a family that is neither.
 *
 * An address that embeds an IPv4 address (NAT64, RFC 6052) is judged by that one; mapped,
 * compatible, 6to4 and Teredo forms are refused whatever they embed, since no public host needs
 * them and the kernel or a relay on the way would unwrap them.
 */
const char *cordon_address_refusal(const cordon_address *address);

/* The unspecified address, a multicast group or broadcast: nothing that can be dialled at all. */
bool cordon_address_is_unicast(const cordon_address *address);

/*
 * Reads "10.0.8.4:8443" or "[fd00::1]:8443": a strict dotted quad or RFC 4291 text in brackets,
 * no zone, and a port from min_port to 65535 without leading zeros.
 *
 * @return false and ret_address untouched if it is anything else
 */
bool cordon_address_parse(const char *text, uint16_t min_port, cordon_address *ret_address);

/* Writes at most CORDON_ADDRESS_TEXT_MAX bytes: the address, with its port if asked. Returns
 * ret_text. */
const char *cordon_address_text(const cordon_address *address, bool with_port, char *ret_text);

/* Fills a socket address and returns its length. */
socklen_t cordon_address_to_socket(const cordon_address *address,
                                   struct sockaddr_storage *ret_socket);

/* The reverse; family is 0 when it is neither IPv4 nor IPv6. */
cordon_address cordon_address_from_socket(const struct sockaddr *socket);

#endif

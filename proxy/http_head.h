/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict, incremental, allocation-free parser for the head of one CONNECT request (RFC 9110
 * section 9.3.6, RFC 9112 sections 3.2.3 and 5). It only ever reads a window that the caller
 * peeked from the socket; it keeps offsets, never bytes. libc-only, pure.
 */
#ifndef CORDON_PROXY_HTTP_HEAD_H
#define CORDON_PROXY_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reason.h"

/* The head alone, final CR LF CR LF included. */
#define CORDON_HEAD_MAX        8192
#define CORDON_HEAD_FIELDS_MAX 64

typedef enum cordon_head_status {
    CORDON_HEAD_UNKNOWN = 0,
    CORDON_HEAD_MORE, /* no fault so far; feed a longer window */
    CORDON_HEAD_DONE, /* a valid CONNECT: target, port and length are set */
    CORDON_HEAD_BAD,  /* reason is set; target too if the request line had one */
} cordon_head_status;

/*
 * Zero it before the first feed. Offsets are into the window, which must begin at the same byte
 * in every call. All numbers fit 16 bits, because nothing past CORDON_HEAD_MAX is looked at.
 *
 * scan         first byte that was not looked at yet
 * line         first byte of the line that is not complete yet
 * fields       header fields so far
 * length       the whole head with its final empty line; valid when DONE
 * target, target_length    the request target, "host:port"; may hold any byte when BAD
 * host_length  the host is target[0..host_length)
 * port         1 to 65535
 * reason       why it is BAD
 */
typedef struct cordon_head {
    uint16_t scan;
    uint16_t line;
    uint16_t fields;
    uint16_t length;
    uint16_t target;
    uint16_t target_length;
    uint16_t host_length;
    uint16_t port;
    uint16_t reason;
    bool have_request_line;
    bool have_host;
} cordon_head;

/*
 * Looks at what is new in the window. DONE and BAD are final: don't feed again.
 *
 * The verdict comes as early as the fault can be seen (a TLS or SOCKS greeting at its first byte,
 * another method at the end of its line), so that nothing waits for the deadline without need.
 * SECURITY: the Host field never selects anything; it may only agree (RFC 9112 section 3.2).
 */
cordon_head_status cordon_head_feed(cordon_head *head, const char *window, size_t length);

#endif

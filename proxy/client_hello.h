/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the server name out of the TLS ClientHello that opens a tunnel (RFC 8446 sections 4.1.2
 * and 5.1, RFC 6066 section 3). Like the head parser it looks at a window peeked from the socket
 * and keeps nothing. libc-only, pure.
 */
#ifndef CORDON_PROXY_CLIENT_HELLO_H
#define CORDON_PROXY_CLIENT_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "reason.h"

/* Records and their headers together; a post-quantum hello is about 2 KiB. */
#define CORDON_HELLO_MAX 16384

typedef enum cordon_hello_status {
    CORDON_HELLO_UNKNOWN = 0,
    CORDON_HELLO_MORE, /* no fault so far; ask again with a longer window */
    CORDON_HELLO_DONE, /* server_name is set: exactly one, syntactically a host name */
    CORDON_HELLO_BAD,  /* reason is set; server_name too where one was read */
} cordon_hello_status;

/*
 * reason              NOT_TLS, HELLO_MALFORMED, HELLO_TOO_LONG, NO_SERVER_NAME,
 *                     SERVER_NAME_MISMATCH (what stands there is no host name) or ENCRYPTED_HELLO
 * server_name_length  0 where none was read
 * server_name         not NUL-terminated; may hold any byte when BAD
 */
typedef struct cordon_hello {
    cordon_reason reason;
    size_t server_name_length;
    char server_name[CORDON_HOST_MAX];
} cordon_hello;

/*
 * Judges the window from its first byte. The message may be spread over several records; it must
 * end where a record ends, because nothing else may follow it in one (RFC 8446 section 5.1).
 *
 * SECURITY: any encrypted_client_hello extension is refused, also when the outer name is right.
 * The inner name, which decides at a shared front end, can't be seen from here, and one that only
 * pretends (GREASE) can't be told from a real one. See proxy/DESIGN.md.
 *
 * @param ret_hello  filled whatever the status
 */
cordon_hello_status cordon_hello_parse(const uint8_t *window, size_t length,
                                       cordon_hello *ret_hello);

#endif

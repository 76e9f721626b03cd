/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict HTTP/1.1 response heads and bodies (RFC 9112), private to kit and free of libcurl: pure
 * functions over bytes. libcurl's own parser forgives much; what it hands out line by line is
 * judged here as well, and streams are read by nothing else.
 */
#ifndef CORDON_KIT_HTTP_HEAD_H
#define CORDON_KIT_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"
#include "kit/httpc.h"

/*
 * What of a head decides how the body is framed, and the few headers that callers want (in
 * response, whose body stays untouched).
 */
typedef struct cordon_http_head {
    cordon_httpc_response *response;
    size_t bytes;
    unsigned lines;
    bool complete;
    bool has_length;
    bool chunked;
    uint64_t length;
} cordon_http_head;

/*
 * Takes the next line, CRLF included. Refuses with PROTOCOL: another protocol than HTTP/1.1, 1xx
 * other than 101, bare LF, folding, control characters, a second or odd Content-Length, another
 * transfer coding than chunked, both together, anything over the caps of httpc.h.
 */
int cordon_http_head_line(cordon_http_head *head, const char *line, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

typedef enum cordon_http_framing {
    CORDON_HTTP_UNKNOWN = 0,
    CORDON_HTTP_RAW, /* until the peer closes */
    CORDON_HTTP_LENGTH,
    CORDON_HTTP_CHUNKED,
} cordon_http_framing;

typedef enum cordon_http_chunk_state {
    CORDON_HTTP_CHUNK_SIZE = 0,
    CORDON_HTTP_CHUNK_DATA,
    CORDON_HTTP_CHUNK_DATA_END,
    CORDON_HTTP_CHUNK_TRAILER,
} cordon_http_chunk_state;

#define CORDON_HTTP_LINE_MAX 256

typedef struct cordon_http_body {
    cordon_http_framing framing;
    cordon_http_chunk_state state;
    uint64_t left; /* bytes of the body, or of the chunk */
    bool done;
    size_t trailer_bytes;
    size_t line_length;
    char line[CORDON_HTTP_LINE_MAX];
} cordon_http_body;

/* The framing of a complete head's body (RFC 9112 section 6.3). */
cordon_http_body cordon_http_body_of(const cordon_http_head *head);

/*
 * Decodes as much as fits. *ret_used bytes of in are done with and *ret_made bytes of out are
 * body; done is set at the body's end, and bytes after it are left unused.
 */
int cordon_http_body_decode(cordon_http_body *body, const char *in, size_t in_length, char *out,
                            size_t out_size, size_t *ret_used, size_t *ret_made, cordon_err *err)
    __attribute__((warn_unused_result));

/* The peer closed: fine for a raw body, else PROTOCOL unless the body was done. */
int cordon_http_body_closed(cordon_http_body *body, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

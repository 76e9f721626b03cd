/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 to one engine endpoint; the only file that touches libcurl. No proxy, redirect, cookie,
 * .netrc or environment variable has any say. Nothing waits past its deadline, nothing grows past
 * its cap, a request that may change something is sent at most once.
 *
 * A client may be used by several threads at once; a stream by one at a time.
 */
#ifndef CORDON_KIT_HTTPC_H
#define CORDON_KIT_HTTPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "kit/error.h"

/* Response head: all header lines together, and how many. */
#define CORDON_HTTPC_HEAD_MAX_BYTES 32768
#define CORDON_HTTPC_HEADERS_MAX    128

/*
 * Either unix_path (absolute), or host and port. With ca_file the connection is TLS and the
 * server's certificate must be valid for host; cert_file and key_file (PEM) are the client's own,
 * both or none. Strings are copied.
 */
typedef struct cordon_httpc_endpoint {
    const char *unix_path;
    const char *host;
    uint16_t port;
    const char *ca_file;
    const char *cert_file;
    const char *key_file;
} cordon_httpc_endpoint;

typedef struct cordon_httpc cordon_httpc;

/* Opens nothing yet. -1 with CONFIG for an endpoint that cannot be, NOMEM. */
int cordon_httpc_new(const cordon_httpc_endpoint *endpoint, cordon_httpc **ret_client,
                     cordon_err *err) __attribute__((warn_unused_result));
/* Every stream must be closed before. */
void cordon_httpc_free(cordon_httpc *client);
CORDON_DEFINE_AUTO_PTR(cordon_httpc, cordon_httpc_free)

/* "unix:///run/docker.sock", "tcp://10.0.0.1:2376": for messages. */
const char *cordon_httpc_name(const cordon_httpc *client);

/* Next piece of a large body into buffer; 0 is an early end, which is an error. -1 with err. */
typedef int cordon_httpc_read_fn(void *context, char *buffer, size_t size, size_t *ret_length,
                                 cordon_err *err);

/*
 * method              "GET", "POST", ...
 * path                from '/' on, with query, already escaped
 * headers             NULL-terminated list of "Name: value", or NULL; Content-Length is ours
 * body, body_length   bytes, or
 * read, read_context  a source of exactly body_length bytes
 * response_max_bytes  ceiling of the answer's body; not 0
 * mutating            the engine may change something: sent at most once, on a fresh connection,
 *                     and a missing answer is INDETERMINATE
 */
typedef struct cordon_httpc_request {
    const char *method;
    const char *path;
    const char *const *headers;
    const void *body;
    uint64_t body_length;
    cordon_httpc_read_fn *read;
    void *read_context;
    size_t response_max_bytes;
    bool mutating;
} cordon_httpc_request;

/* A header that is absent, or longer than its place, is "". Foreign text: quote before showing. */
typedef struct cordon_httpc_response {
    int status;
    char content_type[128];
    char api_version[32];
    char libpod_api_version[32];
    char server[64];
    char ostype[32];
    cordon_buf body;
} cordon_httpc_response;

void cordon_httpc_response_clear(cordon_httpc_response *response);
CORDON_DEFINE_AUTO(cordon_httpc_response, cordon_httpc_response_clear)

/*
 * One request and its whole answer. Any HTTP status is success here.
 *
 * @return 0 and *ret_response (the caller clears it), or -1 with
 *   UNREACHABLE    nothing was sent: no socket, no permission, not a socket, refused
 *   TIMEOUT        the deadline passed; names endpoint and call
 *   CANCELLED      the deadline's cancel descriptor
 *   PROTOCOL       not HTTP, cut, or over a cap
 *   INDETERMINATE  mutating, at least partly sent, and no whole answer; the message has the cause
 *   INVALID        a request that cannot be sent as it is (method, path, header bytes)
 */
int cordon_httpc_call(cordon_httpc *client, const cordon_httpc_request *request,
                      cordon_deadline deadline, cordon_httpc_response *ret_response,
                      cordon_err *err) __attribute__((warn_unused_result));

/* Appends text percent-encoded for a path segment or a query value (RFC 3986 unreserved stay). */
int cordon_httpc_escape(cordon_buf *buf, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* An answer whose body arrives over time, or a connection that was upgraded. */
typedef struct cordon_stream cordon_stream;

/*
 * Sends the request (bytes only, no read source) and takes the response head.
 * Success with status 101, or 200: *ret_stream carries what follows (chunked and Content-Length
 * bodies are decoded and end by themselves; everything else is raw until the peer closes), the
 * response body is empty. Success with any other status: *ret_stream is NULL and the response
 * holds the whole body. Failures as in cordon_httpc_call.
 */
int cordon_httpc_stream(cordon_httpc *client, const cordon_httpc_request *request,
                        cordon_deadline deadline, cordon_httpc_response *ret_response,
                        cordon_stream **ret_stream, cordon_err *err)
    __attribute__((warn_unused_result));

/* Closes the connection. NULL is fine. */
void cordon_stream_close(cordon_stream *stream);
CORDON_DEFINE_AUTO_PTR(cordon_stream, cordon_stream_close)

typedef enum cordon_stream_state {
    CORDON_STREAM_UNKNOWN = 0,
    CORDON_STREAM_DATA,  /* at least one byte */
    CORDON_STREAM_AGAIN, /* nothing now: poll the descriptor for reading */
    CORDON_STREAM_END,   /* the body, or the raw stream, ended where it may end */
} cordon_stream_state;

/*
 * The descriptor to poll(2) for POLLIN. Some bytes may be here already: read until AGAIN before
 * polling. Borrowed; never close or read it.
 */
int cordon_stream_fd(const cordon_stream *stream);

/*
 * Never blocks. -1 with PROTOCOL when the stream broke, or its framing did (a cut chunk, a body
 * shorter than its Content-Length); sticks.
 */
int cordon_stream_read(cordon_stream *stream, void *ret_bytes, size_t size, size_t *ret_length,
                       cordon_stream_state *ret_state, cordon_err *err)
    __attribute__((warn_unused_result));

/* Waits for at least one byte; *ret_length is 0 at the end. TIMEOUT and CANCELLED keep the stream.
 */
int cordon_stream_read_wait(cordon_stream *stream, void *ret_bytes, size_t size,
                            cordon_deadline deadline, size_t *ret_length, cordon_err *err)
    __attribute__((warn_unused_result));

/* All bytes or an error. A peer that has gone is PROTOCOL; SIGPIPE is never raised. */
int cordon_stream_write(cordon_stream *stream, const void *bytes, size_t length,
                        cordon_deadline deadline, cordon_err *err)
    __attribute__((warn_unused_result));

/* Tells the peer that nothing more comes; reading goes on. UNSUPPORTED over TLS. */
int cordon_stream_shutdown(cordon_stream *stream, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

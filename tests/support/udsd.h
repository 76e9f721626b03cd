/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted HTTP server on a unix socket, for tests: plays recorded and mutilated answers and
 * records what it was sent. One thread per connection. It promises nothing about correctness of
 * what it plays: that is the point.
 */
#ifndef CORDON_TESTS_SUPPORT_UDSD_H
#define CORDON_TESTS_SUPPORT_UDSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happens beside the plain reply. */
enum {
    UDSD_NEVER_ANSWER = 1u << 0, /* takes the request and stays silent, connection open */
    UDSD_CLOSE = 1u << 1,        /* closes after the reply */
    UDSD_CHUNKED = 1u << 2,      /* `json` goes out chunked (two chunks when it can) */
    UDSD_READ_TAIL =
        1u << 3,           /* after the reply, reads to EOF into the request's tail, then closes */
    UDSD_REPEAT = 1u << 4, /* the step is never used up */
    UDSD_CLOSE_UNREAD = 1u << 5, /* closes as soon as the request head is there; no reply */
    UDSD_HOLD = 1u << 6,         /* after the reply, keeps the connection open and silent */
};

/*
 * method, path         must equal the request's; NULL is any. A path that ends in '*' is a prefix
 * body_has             must occur in the request body, NULL is any
 * status, json         reply with a Content-Length (or chunked) body; json NULL: no body
 * headers              extra header lines, each with CRLF, or NULL
 * raw, raw_length      the reply's exact bytes instead; raw_length 0 is strlen(raw)
 * length_delta         added to the true Content-Length
 * filler_bytes         that many 'x' after everything else (with raw: a huge body)
 * close_after          closes after this many reply bytes, 0 = never
 * drip_bytes, drip_ms  sends drip_bytes at a time, drip_ms apart; 0 = all at once
 * delay_ms             before the first reply byte
 */
typedef struct udsd_step {
    const char *method;
    const char *path;
    const char *body_has;
    int status;
    const char *json;
    const char *headers;
    const char *raw;
    size_t raw_length;
    long length_delta;
    uint64_t filler_bytes;
    size_t close_after;
    unsigned drip_bytes;
    unsigned drip_ms;
    unsigned delay_ms;
    unsigned flags;
} udsd_step;

/* What came in; every text is NUL-terminated. */
typedef struct udsd_request {
    char *method;
    char *path;
    char *head; /* request line and headers, as received */
    char *body;
    size_t body_length;
    char *tail;
    size_t tail_length;
    bool tail_done;
} udsd_request;

typedef struct udsd udsd;

/* Chooses a reply for a request by code instead of by table; *ret_step's pointers must stay valid.
 */
typedef void udsd_handler(void *context, const udsd_request *request, udsd_step *ret_step);

/*
 * Steps are tried in table order; the first unused one that matches answers (UDSD_REPEAT ones may
 * answer again). No match: status 599, and a complaint. Steps are borrowed until udsd_stop. NULL
 * when it could not start.
 */
udsd *udsd_start(const udsd_step *steps, size_t count);
udsd *udsd_start_handler(udsd_handler *handler, void *context);

/* As udsd_start, and requests must come in exactly the order of the table. */
udsd *udsd_start_ordered(const udsd_step *steps, size_t count);

/* Closes everything, joins its threads, removes the socket. NULL is fine. */
void udsd_stop(udsd *server);

/* The socket's path, fit for cordon_httpc_endpoint.unix_path. */
const char *udsd_path(const udsd *server);

/* Requests so far, and one of them (valid until udsd_stop; its tail may still grow until
 * tail_done). */
size_t udsd_count(udsd *server);
const udsd_request *udsd_at(udsd *server, size_t index);

/* Connections accepted so far. */
size_t udsd_connections(udsd *server);

/* First request that no step matched, or a step that was never used: a text, or NULL if all is
 * well. */
const char *udsd_complaint(udsd *server);

/* Waits (at most 5 s) until request `index` has its whole tail; false if it did not come. */
bool udsd_wait_tail(udsd *server, size_t index);

/* Waits (at most 5 s) until `count` requests have come. */
bool udsd_wait_count(udsd *server, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A man in the middle on a unix socket: between a client and a real engine it sees every request
 * and every answer, and may change, hold, repeat or invent them. What it does is a hook of the
 * test; without one it is an honest relay. One thread per connection; hooks run on it and may wait.
 */
#ifndef CORDON_TESTS_SUPPORT_LIAR_H
#define CORDON_TESTS_SUPPORT_LIAR_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/buf.h"

/*
 * One request and its answer. Texts live as long as the exchange.
 * path      as sent, with the version's prefix and the query
 * request   its body; a hook may replace its content
 * status    of the answer, 0 while there is none
 * answer    its body; empty for one that streams
 * note      the hooks' own, zero at first
 * client    the connection that it came on, for liar_client_left
 */
typedef struct liar_exchange {
    char method[16];
    char path[2048];
    cordon_buf request;
    int status;
    cordon_buf answer;
    unsigned note[3];
    int client;
} liar_exchange;

/* What becomes of an exchange. */
typedef enum liar_word {
    LIAR_PASS = 0,
    LIAR_ANSWER, /* status and answer are the hook's; ask: the engine is not asked */
    LIAR_CUT,    /* the connection is closed */
    LIAR_HALF,   /* answer: half of it is sent, then the connection is closed */
    LIAR_NOISE,  /* the client gets bytes that are no HTTP, then the connection is closed */
} liar_word;

/* Each may be NULL. */
typedef struct liar_hooks {
    void *context;
    liar_word (*ask)(void *context, liar_exchange *x);
    liar_word (*answer)(void *context, liar_exchange *x);
    /* A piece of a stream that the exchange opened; bytes may be changed in place. */
    liar_word (*piece)(void *context, const liar_exchange *x, bool to_engine, char *bytes,
                       size_t length);
} liar_hooks;

typedef struct liar liar;

/* engine_path: of the engine's socket. NULL when it could not start. */
liar *liar_start(const char *engine_path, const liar_hooks *hooks);

/* No hook may wait any more. Closes every connection and joins the threads. NULL is fine. */
void liar_stop(liar *l);

/* In a hook: waits until the client has closed its end; false when ms passed before. */
bool liar_client_left(const liar_exchange *x, int ms);

/* "unix://..." of the liar's own socket. */
const char *liar_endpoint(const liar *l);

#endif

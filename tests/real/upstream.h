/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world beyond the proxy, inside the engines' network namespace: a TLS server that plays the
 * vendor, and witnesses - listeners that nobody may ever reach.
 */
#ifndef CORDON_TESTS_REAL_UPSTREAM_H
#define CORDON_TESTS_REAL_UPSTREAM_H

#include "child.h"

/* An `openssl s_server` with a certificate of its own; address is "ADDR:PORT". */
typedef struct upstream {
    child server;
    char address[64];
} upstream;

bool upstream_start(upstream *ret_upstream);
void upstream_clear(upstream *u);
CORDON_DEFINE_AUTO(upstream, upstream_clear)

#define WITNESSES_MAX 32

/*
 * Sockets on every address of the namespace - engines' gateways included - on the ports that a
 * probe tries, TCP and UDP, and a name server where the engines have theirs.
 */
typedef struct witnesses {
    int fds[WITNESSES_MAX];
    char names[WITNESSES_MAX][32];
    size_t count;
} witnesses;

bool witnesses_start(witnesses *ret_witnesses);
/* True as soon as one was reached, within ms: what an uncontained container can do. */
bool witnesses_saw_something(witnesses *w, int ms);
/* Records a failure for each that was reached since. */
bool witnesses_saw_nothing(witnesses *w);
void witnesses_clear(witnesses *w);
CORDON_DEFINE_AUTO(witnesses, witnesses_clear)

#endif

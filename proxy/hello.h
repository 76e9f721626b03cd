/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State HELLO: the first tunnel bytes must be a ClientHello for the pinned host. libc-only.
 */
#ifndef CORDON_PROXY_HELLO_H
#define CORDON_PROXY_HELLO_H

#include "conn.h"

/* 200 was sent: waits for the ClientHello, which may lie there already. */
void cordon_hello_begin(cordon_proxy *proxy, cordon_conn *conn);

/* Looks at what is there; opens the tunnel, or ends it with a logged denial. */
void cordon_hello_step(cordon_proxy *proxy, cordon_conn *conn);

/* The hello deadline passed. */
void cordon_hello_late(cordon_proxy *proxy, cordon_conn *conn);

#endif

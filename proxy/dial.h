/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States RESOLVE and CONNECT: from an allowed request to 200. libc-only.
 */
#ifndef CORDON_PROXY_DIAL_H
#define CORDON_PROXY_DIAL_H

#include "conn.h"

/* Gives every mapped host its fixed answer. 0, or -1 when memory ran out. */
int cordon_dial_init(cordon_proxy *proxy);

/* The request of this record was allowed: counts it as a tunnel and starts towards conn->host. */
void cordon_dial_begin(cordon_proxy *proxy, cordon_conn *conn);

/* One of the sockets that dial the upstream has something to say: CORDON_SIDE_ bits. */
void cordon_dial_heard(cordon_proxy *proxy, cordon_conn *conn, int fd, uint8_t bits);

/* The client's socket has something to say. */
void cordon_dial_step(cordon_proxy *proxy, cordon_conn *conn);

/* The record's timer: the next address, or 504. */
void cordon_dial_late(cordon_proxy *proxy, cordon_conn *conn);

/* The look-up of a pinned host answered, or ran out of time: its waiting records go on. */
void cordon_dial_lookup_done(cordon_proxy *proxy, size_t host);
void cordon_dial_lookup_late(cordon_proxy *proxy, size_t host);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State OPEN: bytes both ways until both sides have ended. libc-only.
 */
#ifndef CORDON_PROXY_RELAY_H
#define CORDON_PROXY_RELAY_H

#include "conn.h"

/* The tunnel passed every check: relays what lies there and goes on. */
void cordon_relay_begin(cordon_proxy *proxy, cordon_conn *conn);

/* Moves what can be moved, within one turn's share. */
void cordon_relay_step(cordon_proxy *proxy, cordon_conn *conn);

/* The idle timer: ends the tunnel if both directions were quiet since, else waits on. */
void cordon_relay_idle(cordon_proxy *proxy, cordon_conn *conn);

#endif

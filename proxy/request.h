/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States HEAD and DRAIN: from the first byte to the decision, and how a refusal is told. libc-only.
 */
#ifndef CORDON_PROXY_REQUEST_H
#define CORDON_PROXY_REQUEST_H

#include "conn.h"

/* Reads what is there of the head and, once it is whole, decides. */
void cordon_request_step(cordon_proxy *proxy, cordon_conn *conn);

/* The head deadline passed: 408, or just a close for a client that never said a word. */
void cordon_request_late(cordon_proxy *proxy, cordon_conn *conn);

/*
 * Refuses a record that is in state RESOLVE or CONNECT: logs, answers, and closes as soon as no
 * reset can eat the answer.
 *
 * @param detail  printable text for log and body, or NULL
 */
void cordon_request_refuse(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason,
                           const char *detail);

/* Reads and forgets what a refused client still sends. */
void cordon_request_drain(cordon_proxy *proxy, cordon_conn *conn);

/* As many attempts were refused in this second as may be. */
bool cordon_request_too_many(const cordon_proxy *proxy);

/*
 * A client for whom there is no room, or no patience: 503 before it has said a word. It is listened
 * to as others that are refused, unless very many are turned away at once. Takes fd over.
 */
void cordon_request_turn_away(cordon_proxy *proxy, int fd, cordon_reason reason);

#endif

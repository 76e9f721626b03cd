/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real cordon_stream objects with a plain descriptor at the other end, for tests that play a
 * daemon: an HTTP client of kit's and a listener on a unix socket that upgrades every request.
 * No product code knows of it.
 */
#ifndef CORDON_TESTS_SUPPORT_STREAM_PAIR_H
#define CORDON_TESTS_SUPPORT_STREAM_PAIR_H

#include "kit/error.h"
#include "kit/httpc.h"

typedef struct stream_pairs stream_pairs;

/* Listens on a socket in a new private folder. NULL when it could not. */
stream_pairs *stream_pairs_new(void);

/* Every stream must be closed before. NULL is fine. */
void stream_pairs_free(stream_pairs *pairs);

/* The socket's absolute path. */
const char *stream_pairs_path(const stream_pairs *pairs);

/*
 * One stream, and the descriptor that is its peer: what is written there is read from the
 * stream and the other way round. The caller owns both. May be called from several threads.
 */
int stream_pairs_make(stream_pairs *pairs, cordon_stream **ret_stream, int *ret_peer,
                      cordon_err *err) __attribute__((warn_unused_result));

#endif

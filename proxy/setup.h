/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and unmakes what the loop runs on. libc-only.
 */
#ifndef CORDON_PROXY_SETUP_H
#define CORDON_PROXY_SETUP_H

#include "conn.h"
#include "kit/error.h"
#include "serve.h"

/*
 * Fills a zeroed proxy: the resolver, limits, tables, signals, epoll, listening
 * socket, the lock; then logs "ready". After
 * a failure cordon_setup_clear is still due.
 */
int cordon_setup_init(cordon_proxy *proxy, const cordon_proxy_options *options,
                      const cordon_proxy_place *place, cordon_err *err)
    __attribute__((warn_unused_result));

/* The loop of an initialised proxy, until its end as cordon_proxy_serve tells it. */
int cordon_proxy_loop(cordon_proxy *proxy, cordon_err *err) __attribute__((warn_unused_result));

/* Closes and frees everything inside; fine on a half-made one, but not on NULL members' owners. */
void cordon_setup_clear(cordon_proxy *proxy);

#endif

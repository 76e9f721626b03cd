/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening socket. libc-only.
 */
#ifndef CORDON_PROXY_LISTEN_H
#define CORDON_PROXY_LISTEN_H

#include "conn.h"
#include "kit/error.h"

/* Opens, binds and watches it. @param ret_bound  the address with the port the kernel gave */
int cordon_listen_open(cordon_proxy *proxy, cordon_address *ret_bound, cordon_err *err)
    __attribute__((warn_unused_result));

/* Accepts a bounded number of clients; pauses when descriptors have run out. */
void cordon_listen_accept(cordon_proxy *proxy);

/* Goes on after a pause. */
void cordon_listen_resume(cordon_proxy *proxy);

#endif

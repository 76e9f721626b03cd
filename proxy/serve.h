/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy as a running thing: one listening socket, one epoll loop, one thread. libc-only.
 */
#ifndef CORDON_PROXY_SERVE_H
#define CORDON_PROXY_SERVE_H

#include "kit/error.h"
#include "options.h"
#include "resolve.h"

/*
 * Listens, writes the "ready" line to stdout, and serves until SIGTERM, SIGINT or SIGHUP; then
 * logs the open tunnels, closes everything and returns. Blocks these signals and SIGCHLD, ignores
 * SIGPIPE and raises the soft descriptor limit, so it wants a process of its own.
 *
 * @param look_up  runs in a child process for each name that is not mapped
 * @return 0 after a signal; -1 with NOMEM or SYSTEM when it could not start
 */
int cordon_proxy_serve(const cordon_proxy_options *options, cordon_lookup_fn *look_up,
                       cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy as a running thing: one listening socket, one epoll loop, one thread. libc-only.
 */
#ifndef CORDON_PROXY_SERVE_H
#define CORDON_PROXY_SERVE_H

#include <stdbool.h>

#include "kit/error.h"
#include "options.h"
#include "resolve.h"

/*
 * Where the proxy runs.
 *
 * look_up   looks up the names that are not mapped, in a process of its own
 * owner_fd  the pipe or socket that brought the policy, or -1
 * locked    takes every right away from itself before it is ready (lockdown.h); the process must
 *           have no_new_privs
 */
typedef struct cordon_proxy_place {
    cordon_lookup_fn *look_up;
    int owner_fd;
    bool locked;
} cordon_proxy_place;

/*
 * Listens, writes the "ready" line to stdout, and serves until SIGTERM, SIGINT or SIGHUP; then
 * logs the open tunnels, closes everything and returns. So it does when owner_fd ends. Blocks these
 * signals and SIGCHLD, ignores SIGPIPE and raises the soft descriptor limit, so it wants a process
 * of its own.
 *
 * @return 0 after a signal; -1 with NOMEM or SYSTEM when it could not start, or when what it
 *         depends on is lost; -1 with PROTOCOL when owner_fd brought more than the policy
 */
int cordon_proxy_serve(const cordon_proxy_options *options, const cordon_proxy_place *place,
                       cordon_err *err) __attribute__((warn_unused_result));

#endif

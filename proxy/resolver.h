/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that looks names up, apart from the relay, so that the relay needs no file, no
 * process and no DNS. It is started before the relay locks itself, and only if a pinned host is not
 * mapped. A question is the index of a pinned host and the write end of a pipe; for each one a
 * child of its own answers, once, and dies at the connect deadline. Used by resolve.c and setup.c.
 * libc-only.
 */
#ifndef CORDON_PROXY_RESOLVER_H
#define CORDON_PROXY_RESOLVER_H

#include "kit/error.h"
#include "lockdown.h"
#include "options.h"
#include "resolve.h"

/* All that ever comes back from a child; smaller than PIPE_BUF, so it arrives whole. */
typedef struct cordon_lookup_reply {
    uint32_t count;
    cordon_address addresses[CORDON_RESOLVE_MAX];
} cordon_lookup_reply;

/*
 * Starts the process. It holds nothing of the caller's but its end of a socket pair, dies with its
 * parent, and so do its children, which are bounded in descriptors, time and file size.
 *
 * @param role                 RESOLVER, or NONE to lock nothing
 * @param ret_process, ret_fd  untouched on failure
 * @return 0, or -1 with SYSTEM
 */
int cordon_resolver_start(const cordon_proxy_options *options, cordon_lookup_fn *function,
                          cordon_lockdown_role role, pid_t *ret_process, int *ret_fd,
                          cordon_err *err) __attribute__((warn_unused_result));

/* Asks for one pinned host; ret_fd becomes readable, or ends without an answer. 0, or -1. */
int cordon_resolver_ask(int fd, size_t host, int *ret_fd);

#endif

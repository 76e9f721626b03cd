/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child process that looks one name up; used by resolve.c alone. libc-only.
 */
#ifndef CORDON_PROXY_LOOKUP_H
#define CORDON_PROXY_LOOKUP_H

#include "resolve.h"

/* All that ever comes back from a child; smaller than PIPE_BUF, so it arrives whole. */
typedef struct cordon_lookup_reply {
    uint32_t count;
    cordon_address addresses[CORDON_RESOLVE_MAX];
} cordon_lookup_reply;

/*
 * Forks. The child holds nothing of the parent's but the pipe and the standard descriptors, dies
 * with its parent, and is bounded in descriptors, CPU time and file size.
 *
 * @param ret_child, ret_fd  untouched on failure
 * @return 0, or -1 with errno
 */
int cordon_lookup_spawn(const char *name, cordon_lookup_fn *function, pid_t *ret_child,
                        int *ret_fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy asks of the process it starts in: nothing but its role in argv, no variable and
 * no descriptor that the plan does not know, and one policy on stdin. libc-only.
 */
#ifndef CORDON_PROXY_START_H
#define CORDON_PROXY_START_H

#include "kit/error.h"
#include "options.h"

/*
 * Refuses what is not expected: an argument behind the role, an environment variable other than
 * those that an engine always gives, a descriptor above the standard three.
 * @return 0, or -1 with CONFIG
 */
int cordon_start_check(int argc, char *const *argv, char *const *environment, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Reads one whole POLICY frame and not a byte more.
 * @param fd  a pipe or socket
 * @return 0, or -1 with CONFIG, PROTOCOL, TIMEOUT or SYSTEM
 */
int cordon_start_read(int fd, int64_t wait_ms, cordon_proxy_options *ret_options, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy takes away from itself once it is set up, for good: Landlock (landlock(7)) for
 * files and TCP ports where the kernel has it, and a seccomp(2) filter of exactly the calls that it
 * makes. Whatever else is called - also in another calling convention - kills the process.
 * libc-only; raw system calls, the structures are the kernel's ABI.
 */
#ifndef CORDON_PROXY_LOCKDOWN_H
#define CORDON_PROXY_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

/* The two processes of the proxy; each has its own list of calls. */
typedef enum cordon_lockdown_role {
    CORDON_LOCKDOWN_NONE = 0, /* nothing is locked: for tests whose libc or sanitizer does more */
    CORDON_LOCKDOWN_RELAY,    /* the loop; opens no file, makes no process */
    CORDON_LOCKDOWN_RESOLVER, /* and its children: reads /etc/resolv.conf, talks DNS */
} cordon_lockdown_role;

/*
 * Denies every file but `file` (for reading; NULL: none), binding any TCP port, connecting to any
 * but these, and, where the kernel can, signals and abstract sockets outside.
 *
 * @param ports    may hold a port more than once
 * @param ret_abi  what the kernel has, 0 where it has nothing and so nothing was denied
 * @return 0, or -1 with SYSTEM
 */
int cordon_lockdown_fence(const char *file, const uint16_t *ports, size_t count, int *ret_abi,
                          cordon_err *err) __attribute__((warn_unused_result));

/* Installs the role's filter. The process must have no_new_privs. */
int cordon_lockdown_filter(cordon_lockdown_role role, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

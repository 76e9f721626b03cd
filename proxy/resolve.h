/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a pinned name to the addresses that may be dialled for it. The look-up itself runs in a
 * short-lived process (resolver.h), because getaddrinfo(3) blocks and reads what strangers send;
 * one fixed struct comes back over a pipe. Answers are judged here and cached for a short time.
 * libc-only.
 */
#ifndef CORDON_PROXY_RESOLVE_H
#define CORDON_PROXY_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "policy.h"
#include "reason.h"

#define CORDON_RESOLVE_MAX 16
/* A good answer serves this long; a bad one shortly, so that a retrying client costs no fork. */
#define CORDON_RESOLVE_KEEP_NS       INT64_C(30000000000)
#define CORDON_RESOLVE_KEEP_WRONG_NS INT64_C(1000000000)

/*
 * Looks a name up; runs in the child. The name ends in a dot, so that no search list applies.
 *
 * @param ret  room for `max` addresses
 * @return how many, 0 if the name has none or the look-up failed
 */
typedef size_t cordon_lookup_fn(const char *name, cordon_address *ret, size_t max);

/* getaddrinfo(3) over what /etc/resolv.conf says. */
size_t cordon_lookup_system(const char *name, cordon_address *ret, size_t max);

/*
 * One answer, immutable and counted: a tunnel dials only addresses of the answer it was given,
 * even when the cache has a newer one.
 *
 * count, addresses   checked, in the order in which they are tried: the resolver's, but with the
 *                    families taking turns; count may be 0
 * refused            how many were refused; first_refused and its class are told in the log
 */
typedef struct cordon_resolved {
    uint32_t references;
    uint16_t count;
    uint16_t refused;
    cordon_address first_refused;
    cordon_address addresses[CORDON_RESOLVE_MAX];
} cordon_resolved;

/* Judges raw addresses: the public ones, with this port, go into the new object; NULL: no memory.
 */
cordon_resolved *cordon_resolved_new(const cordon_address *raw, size_t count, uint16_t port);
/* An operator's own address, taken as it is. */
cordon_resolved *cordon_resolved_fixed(const cordon_address *address);
cordon_resolved *cordon_resolved_ref(cordon_resolved *resolved);
void cordon_resolved_unref(cordon_resolved *resolved);

/* Why nothing of it can be dialled, or NONE. */
cordon_reason cordon_resolved_fault(const cordon_resolved *resolved);

/*
 * One pinned host's look-up. Zero it, set fd to -1.
 *
 * fd          read end of the pipe for the answer, or -1 when none is awaited
 * resolved    the cached answer or NULL; owned
 * fixed       the answer never expires
 * expires_ns  CLOCK_MONOTONIC
 */
typedef struct cordon_lookup {
    int fd;
    cordon_resolved *resolved;
    bool fixed;
    int64_t expires_ns;
} cordon_lookup;

/* The cached answer, borrowed, or NULL where there is none that is fresh. */
cordon_resolved *cordon_lookup_cached(const cordon_lookup *lookup, int64_t now_ns);

/* Asks the resolver; lookup->fd then becomes readable. 0, or -1. */
int cordon_lookup_start(cordon_lookup *lookup, int resolver_fd, size_t host);

/*
 * Takes the resolver's word, whatever it is, and caches it; one that died or wrote nonsense is a
 * name without addresses. Returns the answer, borrowed, or NULL when memory ran out.
 */
cordon_resolved *cordon_lookup_finish(cordon_lookup *lookup, int64_t now_ns);

/* Awaits no answer any more; the child that looks for it ends by itself. */
void cordon_lookup_stop(cordon_lookup *lookup);

/* Stops and drops the cached answer. */
void cordon_lookup_clear(cordon_lookup *lookup);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of answers and the judgement on them; see resolve.h. The other side is resolver.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolve.h"
#include "resolver.h"

static cordon_resolved *resolved_make(void)
{
    cordon_resolved *resolved = calloc(1, sizeof *resolved);
    if (resolved)
        resolved->references = 1;
    return resolved;
}

/* The next address from `at` on that is, or is not, of this family; count when there is none. */
static size_t next_of(const cordon_resolved *resolved, size_t at, uint16_t family, bool same)
{
    while (at < resolved->count && (resolved->addresses[at].family == family) != same)
        at++;
    return at;
}

/*
 * RFC 8305 section 4: the families take turns, beginning with the resolver's first, so that one
 * that does not work here costs one delay and not one per address.
 */
static void interleave(cordon_resolved *resolved)
{
    cordon_address sorted[CORDON_RESOLVE_MAX];
    uint16_t family = resolved->addresses[0].family;
    size_t at[2] = {next_of(resolved, 0, family, true), next_of(resolved, 0, family, false)};
    for (size_t i = 0; i < resolved->count; i++) {
        size_t turn = at[i % 2] < resolved->count ? i % 2 : 1 - i % 2;
        sorted[i] = resolved->addresses[at[turn]];
        at[turn] = next_of(resolved, at[turn] + 1, family, turn == 0);
    }
    memcpy(resolved->addresses, sorted, resolved->count * sizeof sorted[0]);
}

cordon_resolved *cordon_resolved_new(const cordon_address *raw, size_t count, uint16_t port)
{
    cordon_resolved *resolved = resolved_make();
    for (size_t i = 0; resolved && i < count && i < CORDON_RESOLVE_MAX; i++) {
        cordon_address address = raw[i];
        address.port = port;
        if (!cordon_address_refusal(&address))
            resolved->addresses[resolved->count++] = address;
        else if (resolved->refused++ == 0)
            resolved->first_refused = address;
    }
    if (resolved)
        interleave(resolved);
    return resolved;
}

cordon_resolved *cordon_resolved_fixed(const cordon_address *address)
{
    cordon_resolved *resolved = resolved_make();
    if (resolved) {
        resolved->addresses[0] = *address;
        resolved->count = 1;
    }
    return resolved;
}

cordon_resolved *cordon_resolved_ref(cordon_resolved *resolved)
{
    resolved->references++;
    return resolved;
}

void cordon_resolved_unref(cordon_resolved *resolved)
{
    if (resolved && --resolved->references == 0)
        free(resolved);
}

cordon_reason cordon_resolved_fault(const cordon_resolved *resolved)
{
    if (resolved->count > 0)
        return CORDON_REASON_NONE;
    return resolved->refused > 0 ? CORDON_REASON_ADDRESS_NOT_PUBLIC : CORDON_REASON_UNRESOLVABLE;
}

cordon_resolved *cordon_lookup_cached(const cordon_lookup *lookup, int64_t now_ns)
{
    bool fresh = lookup->fixed || now_ns < lookup->expires_ns;
    return fresh ? lookup->resolved : NULL;
}

static void lookup_keep(cordon_lookup *lookup, cordon_resolved *resolved, int64_t now_ns)
{
    bool good = resolved && resolved->count > 0;
    cordon_resolved_unref(lookup->resolved);
    lookup->resolved = resolved;
    lookup->expires_ns = now_ns + (good ? CORDON_RESOLVE_KEEP_NS : CORDON_RESOLVE_KEEP_WRONG_NS);
}

int cordon_lookup_start(cordon_lookup *lookup, int resolver_fd, size_t host)
{
    return cordon_resolver_ask(resolver_fd, host, &lookup->fd);
}

cordon_resolved *cordon_lookup_finish(cordon_lookup *lookup, int64_t now_ns)
{
    cordon_lookup_reply reply = {0};
    size_t count = 0;
    ssize_t got = read(lookup->fd, &reply, sizeof reply);
    /* SECURITY: the resolver is not believed: a short struct or a count out of range is no answer.
     */
    if (got == (ssize_t)sizeof reply && reply.count <= CORDON_RESOLVE_MAX)
        count = reply.count;
    cordon_lookup_stop(lookup);
    lookup_keep(lookup, cordon_resolved_new(reply.addresses, count, CORDON_POLICY_PORT), now_ns);
    return lookup->resolved;
}

void cordon_lookup_stop(cordon_lookup *lookup)
{
    if (lookup->fd >= 0)
        (void)close(lookup->fd);
    lookup->fd = -1;
}

void cordon_lookup_clear(cordon_lookup *lookup)
{
    cordon_lookup_stop(lookup);
    cordon_resolved_unref(lookup->resolved);
    lookup->resolved = NULL;
}

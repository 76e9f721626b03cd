/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy says of itself, one JSON line per event on its stdout (proxy/DESIGN.md): ready,
 * decisions, closed tunnels. Told one by one (egress_event.h), and added up for the receipt within
 * fixed bounds, because the agent decides how many lines there are and part of what they say.
 */
#ifndef CORDON_EGRESS_H
#define CORDON_EGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "egress_event.h"
#include "kit/buf.h"
#include "kit/jsonw.h"

#define CORDON_EGRESS_LINE_MAX   4096
#define CORDON_EGRESS_HOSTS_MAX  32
#define CORDON_EGRESS_DENIED_MAX 64
/* Different addresses that an entry keeps. */
#define CORDON_EGRESS_ADDRESSES_MAX 8

/* more: there were others. */
typedef struct cordon_egress_addresses {
    char items[CORDON_EGRESS_ADDRESSES_MAX][CORDON_EGRESS_ADDRESS_SIZE];
    size_t count;
    bool more;
} cordon_egress_addresses;

/* addresses: those that were dialled, with their ports */
typedef struct cordon_egress_host {
    char host[CORDON_EGRESS_TEXT_SIZE];
    char rule[CORDON_EGRESS_WORD_SIZE];
    cordon_egress_addresses addresses;
    int64_t port;
    int64_t tunnels;
    int64_t bytes_up;
    int64_t bytes_down;
} cordon_egress_host;

/* addresses: those of the name, where it came so far */
typedef struct cordon_egress_denied {
    char target[CORDON_EGRESS_TEXT_SIZE];
    char reason[CORDON_EGRESS_REASON_SIZE];
    char rule[CORDON_EGRESS_WORD_SIZE];
    cordon_egress_addresses addresses;
    int64_t count;
} cordon_egress_denied;

/* May change texts of it, before it is added up. */
typedef void cordon_egress_tell(void *context, cordon_egress_event *event);

typedef struct cordon_egress {
    cordon_egress_tell *tell; /* of every event as it comes; NULL: nobody */
    void *tell_context;
    cordon_buf line; /* an unfinished line */
    bool ready;
    bool broken; /* a line that is no event of the proxy, or over-long */
    char listen[64];
    char policy[80];      /* the code of the policy that is in force */
    int64_t seccomp;      /* 1: its own filter is installed */
    int64_t landlock;     /* the ABI that it locked itself with; 0: none */
    int64_t no_new_privs; /* 1 */
    int64_t dumpable;     /* 0 */
    int64_t capabilities; /* a bit each; 0 */
    cordon_egress_host hosts[CORDON_EGRESS_HOSTS_MAX];
    size_t host_count;
    cordon_egress_denied denied[CORDON_EGRESS_DENIED_MAX]; /* the last one: all others */
    size_t denied_count;
    int64_t mixed;   /* allowed tunnels whose answer had addresses that are not public, too */
    int64_t dropped; /* events that the proxy could not tell */
} cordon_egress;

void cordon_egress_init(cordon_egress *ret_egress);
void cordon_egress_clear(cordon_egress *egress);

/* Takes stdout bytes of the proxy in any cut. PROTOCOL for what is no event line. */
int cordon_egress_feed(cordon_egress *egress, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* Writes "egress": { "allowed": [...], "denied": [...], ... } into an open object. */
void cordon_egress_write(const cordon_egress *egress, cordon_jsonw *json);

#endif

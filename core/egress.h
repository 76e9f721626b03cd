/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy says of itself, one JSON line per event on its stdout (proxy/DESIGN.md): ready,
 * decisions, closed tunnels. Added up for the receipt within fixed bounds, because the agent
 * decides how many lines there are and part of what they say.
 */
#ifndef CORDON_EGRESS_H
#define CORDON_EGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/jsonw.h"

#define CORDON_EGRESS_LINE_MAX    4096
#define CORDON_EGRESS_HOSTS_MAX   32
#define CORDON_EGRESS_DENIED_MAX  64
#define CORDON_EGRESS_TEXT_SIZE   272
#define CORDON_EGRESS_REASON_SIZE 48

typedef struct cordon_egress_host {
    char host[CORDON_EGRESS_TEXT_SIZE];
    int64_t port;
    int64_t tunnels;
    int64_t bytes_up;
    int64_t bytes_down;
} cordon_egress_host;

typedef struct cordon_egress_denied {
    char target[CORDON_EGRESS_TEXT_SIZE];
    char reason[CORDON_EGRESS_REASON_SIZE];
    int64_t count;
} cordon_egress_denied;

typedef struct cordon_egress {
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
    int64_t dropped; /* events that the proxy could not tell */
} cordon_egress;

void cordon_egress_init(cordon_egress *ret_egress);
void cordon_egress_clear(cordon_egress *egress);

/* Takes stdout bytes of the proxy in any cut. PROTOCOL for what is no event line. */
int cordon_egress_feed(cordon_egress *egress, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* Writes "egress": { "allowed": [...], "denied": [...] } into an open object. */
void cordon_egress_write(const cordon_egress *egress, cordon_jsonw *json);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets for the probe's checks, with one bound on every wait. libc-only.
 */
#ifndef CORDON_GATE_PROBE_NET_H
#define CORDON_GATE_PROBE_NET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "gate/probe.h"
#include "kit/deadline.h"

/* An address of either family, from text; -1 when it is not one. "fe80::1%eth0" has a scope. */
typedef struct cordon_endpoint_address {
    struct sockaddr_storage storage;
    socklen_t length;
} cordon_endpoint_address;

int cordon_net_address(const char *text, uint16_t port, cordon_endpoint_address *ret_address);

/* What an attempt to reach somebody showed. */
typedef enum cordon_reach {
    CORDON_REACH_UNKNOWN = 0,
    CORDON_REACH_BLOCKED,  /* no packet can have come back: no route, no answer, not permitted */
    CORDON_REACH_ANSWERED, /* the other side's kernel answered: refused or reset */
    CORDON_REACH_OPEN,     /* a connection, or a datagram in return */
} cordon_reach;

/* One attempt; errnum tells why it is blocked or answered, ETIMEDOUT for silence. */
typedef struct cordon_attempt {
    const char *address;
    uint16_t port;
    cordon_reach reach;
    int errnum;
} cordon_attempt;

/* Tries TCP to all of them at once, at most 64, and waits CORDON_PROBE_WAIT_MS for the slowest. */
void cordon_net_tcp(cordon_attempt *attempts, size_t count);

/* Sends one datagram to each and waits the same time for anything in return. */
void cordon_net_udp(cordon_attempt *attempts, size_t count, const void *bytes, size_t length);

/*
 * Puts attempts into words: got is `reached` when one of them went further than `allowed`, else
 * `blocked`; the detail lists what was special.
 */
void cordon_net_found(const cordon_attempt *attempts, size_t count, cordon_reach allowed,
                      const char *reached, const char *blocked, cordon_found *found);

/* A connected TCP socket or -1 with errno. */
int cordon_net_connect(const char *address, uint16_t port, cordon_deadline dl);

/* Writes all / reads until end of file, `size` bytes, `stop` in the text, or the deadline. */
int cordon_net_send(int fd, const void *bytes, size_t length, cordon_deadline dl);
size_t cordon_net_receive(int fd, char *ret_text, size_t size, const char *stop,
                          cordon_deadline dl);

#endif

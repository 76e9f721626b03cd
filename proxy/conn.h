/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running proxy and its connections: the fixed record that each client costs, the table they
 * live in, and what every state needs - deadline, epoll registration, log line, end. The states
 * themselves are in request.c, dial.c, hello.c and relay.c. libc-only; single-threaded by rule.
 */
#ifndef CORDON_PROXY_CONN_H
#define CORDON_PROXY_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "http_head.h"
#include "log.h"
#include "options.h"
#include "pipes.h"
#include "race.h"
#include "resolve.h"
#include "timer.h"

#define CORDON_SCRATCH_BYTES CORDON_PIPES_CHUNK
#define CORDON_CONN_NONE     UINT32_MAX
/* Records for clients that are turned away at a limit, while they are told so. */
#define CORDON_CONN_SPARE 32

/* What a token (in epoll data and timers) stands for; the low bits hold an index. */
typedef enum cordon_source {
    CORDON_SOURCE_CLIENT = 0,
    CORDON_SOURCE_UPSTREAM = 1,
    CORDON_SOURCE_LOOKUP = 2,
    CORDON_SOURCE_LISTEN = 3,
    CORDON_SOURCE_SIGNAL = 4,
    CORDON_SOURCE_LOG = 5,
    CORDON_SOURCE_OWNER = 6,
} cordon_source;

#define CORDON_TOKEN_BITS           24
#define CORDON_TOKEN(source, index) ((uint32_t)(source) << CORDON_TOKEN_BITS | (uint32_t)(index))
#define CORDON_TOKEN_SOURCE(token)  ((cordon_source)((token) >> CORDON_TOKEN_BITS))
#define CORDON_TOKEN_INDEX(token)   ((token) & ((1U << CORDON_TOKEN_BITS) - 1))
/*
 * epoll's data of a connection's descriptor holds the descriptor, too: a tunnel that is dialled may
 * have several, and the batch may still hold an event of one that was closed.
 */
#define CORDON_EVENT_DATA(token, fd) ((uint64_t)(token) | (uint64_t)(uint32_t)(fd) << 32)
#define CORDON_EVENT_TOKEN(data)     ((uint32_t)(data))
#define CORDON_EVENT_FD(data)        ((int)((data) >> 32))

/*
 * free -> head -> (drain | resolve -> connect -> hello -> open) -> dead -> free. A record is dead
 * until the end of the event batch, because the batch may hold further events for it.
 */
typedef enum cordon_conn_state {
    CORDON_CONN_FREE = 0,
    CORDON_CONN_HEAD,    /* waiting for the rest of the request head */
    CORDON_CONN_RESOLVE, /* waiting for the host's look-up */
    CORDON_CONN_CONNECT, /* waiting for the upstream to answer */
    CORDON_CONN_HELLO,   /* 200 is sent; waiting for the rest of the ClientHello */
    CORDON_CONN_OPEN,    /* relaying */
    CORDON_CONN_DRAIN,   /* refused; reading what the client still sends, so that no reset eats
                            the answer */
    CORDON_CONN_DEAD,
} cordon_conn_state;

/* What is known of one socket; edge-triggered, so readiness is remembered until EAGAIN. */
enum {
    CORDON_SIDE_READABLE = 1,
    CORDON_SIDE_WRITABLE = 2,
    CORDON_SIDE_HANGUP = 4,  /* the peer sent its end (EPOLLRDHUP); bytes may still lie before it */
    CORDON_SIDE_BROKEN = 8,  /* reset, or never connected (EPOLLERR) */
    CORDON_SIDE_ENDED = 16,  /* its end of file was read */
    CORDON_SIDE_SHUT = 32,   /* our end was sent to it */
    CORDON_SIDE_BULK = 64,   /* it sends in bulk: splice from it */
    CORDON_SIDE_ASKED = 128, /* epoll watches for room to write */
};

/* Sides, and at the same time directions: bytes that come from that side. */
enum { CORDON_CLIENT = 0, CORDON_UPSTREAM = 1 };

/*
 * The way to the upstream, and what of it is told when the tunnel closes.
 *
 * deadline_ns  when the look-up and the dialling of all addresses must be over
 * resolved     the answer that is dialled, or NULL; one reference is held until the record's end
 * last_errno   why the last address failed, 0 for silence; later what broke the tunnel
 * next         the address to try next
 * chosen       the address that answered first
 */
typedef struct cordon_dial {
    int64_t deadline_ns;
    cordon_resolved *resolved;
    uint16_t last_errno;
    uint8_t next;
    uint8_t chosen;
} cordon_dial;

/*
 * All that a connection costs in user space. `first` is the reason that will be told when both
 * directions have ended; `drained` counts what a refused client still sends.
 */
typedef struct cordon_conn {
    cordon_timer timer;
    uint64_t id;
    int64_t since_ns;
    int64_t active_ns;
    union {
        cordon_race race; /* in RESOLVE and CONNECT */
        uint64_t bytes[2];
    };
    cordon_pipe *pipe[2];
    union {
        cordon_head head;
        cordon_dial dial; /* from RESOLVE to OPEN */
        uint32_t drained;
    };
    int fd[2];
    uint32_t next;
    uint32_t next_ready;
    uint8_t side[2];
    uint8_t state;
    uint8_t host;
    uint8_t first;
    bool counted;
    bool told;
    bool ready;
} cordon_conn;

/* A chain of records through their `next` (free, dead) or `next_ready` (ready). */
typedef struct cordon_chain {
    uint32_t first;
    uint32_t last;
} cordon_chain;

/*
 * resolver      its process, or 0 where every host is mapped; resolver_fd asks it, or is -1
 * owner_fd      where the policy came from: a byte or the end there ends the proxy; -1: nobody
 * failure       why the loop has to end although nobody asked for it, or NULL
 * max_tunnels   what the descriptor limit allows of the option
 * all_bytes     that all tunnels have moved, both directions
 * refused       attempts refused since refused_ns, the start of a second
 * live          records that are not free; the last CORDON_CONN_SPARE are for clients that are
 *               turned away
 * conn_high     records from here on were never used, so their pages were never touched
 * batch_ns      CLOCK_MONOTONIC at the start of this batch of events
 * accept_timer  armed while accepting is paused for want of descriptors
 */
typedef struct cordon_proxy {
    const cordon_proxy_options *options;
    pid_t resolver;
    int resolver_fd;
    int owner_fd;
    const char *failure;
    int epoll_fd;
    int listen_fd;
    int signal_fd;
    bool stopping;
    bool accepting;
    uint32_t max_tunnels;
    uint32_t tunnels;
    uint32_t conn_max;
    uint32_t live;
    uint32_t conn_high;
    uint64_t last_id;
    uint64_t all_bytes;
    uint64_t refused;
    int64_t refused_ns;
    int64_t batch_ns;
    cordon_conn *conns;
    cordon_chain free;
    cordon_chain dead;
    cordon_chain ready;
    cordon_timer accept_timer;
    cordon_timers timers;
    cordon_pipes pipes;
    cordon_lookup lookups[CORDON_POLICY_HOSTS_MAX];
    cordon_timer lookup_timers[CORDON_POLICY_HOSTS_MAX];
    unsigned char scratch[CORDON_SCRATCH_BYTES];
    cordon_log log;
} cordon_proxy;

/*
 * A record in state HEAD for an accepted client, which it takes over.
 *
 * @param spare  one that will only be told no: it may be of the last ones
 * @return NULL when all are used
 */
cordon_conn *cordon_conn_new(cordon_proxy *proxy, int fd, bool spare);

/* The record's index in the table. */
uint32_t cordon_conn_index(const cordon_proxy *proxy, const cordon_conn *conn);

/*
 * Watches one side's descriptor, edge-triggered: for bytes, and for room to write only if asked
 * so (a fresh client has room, and being told so would cost a wake-up). 0, or -1 with errno.
 */
int cordon_conn_watch(cordon_proxy *proxy, cordon_conn *conn, int side, bool ask_write);

/* Watches an attempt to reach the upstream; should it win, its side is watched already. */
int cordon_conn_watch_attempt(cordon_proxy *proxy, cordon_conn *conn, int fd);

/* The side took no more: forgets WRITABLE and makes sure that epoll tells when there is room. */
void cordon_conn_blocked(cordon_proxy *proxy, cordon_conn *conn, int side);

/* Arms the one timer of the record. */
void cordon_conn_deadline(cordon_proxy *proxy, cordon_conn *conn, int64_t at_ns);

/* Runs the record again after this batch, so that others get their turn. */
void cordon_conn_queue(cordon_proxy *proxy, cordon_conn *conn);

/* Takes the first of the ready queue, or NULL. */
cordon_conn *cordon_conn_dequeue(cordon_proxy *proxy);

/*
 * What was decided about a request. reason NONE is "allow". `status` is what the client was told,
 * 0 for nothing. The rest is for the log and may be NULL: a sentence, the name that the client sent
 * in its hello, and the answer whose addresses were considered.
 */
typedef struct cordon_verdict {
    cordon_reason reason;
    int status;
    const char *target;
    size_t target_length;
    const char *detail;
    const char *server_name;
    size_t server_name_length;
    const cordon_resolved *resolved;
} cordon_verdict;

/* The line {"event":"decision"}. */
void cordon_conn_log_verdict(cordon_proxy *proxy, const cordon_conn *conn,
                             const cordon_verdict *verdict);

/* "host:port" of an accepted CONNECT; returns the length. */
#define CORDON_TARGET_MAX (CORDON_HOST_MAX + 5)
size_t cordon_conn_target(const cordon_proxy *proxy, const cordon_conn *conn,
                          char ret_text[CORDON_TARGET_MAX]);

/* The error that waits at a socket, taken from it; ECONNRESET where it is not told any more. */
uint16_t cordon_socket_error(int fd);

/* Ends the record: logs an accepted tunnel, closes, gives everything back. State is then DEAD. */
void cordon_conn_close(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason);

/* Makes the dead records free; at the end of a batch only. */
void cordon_conn_bury(cordon_proxy *proxy);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-up and dialling; see dial.h. The addresses of the answer are tried in its order, each a
 * little later than the one before; the first that answers is the upstream, the others are closed.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "dial.h"
#include "hello.h"
#include "kit/cleanup.h"
#include "request.h"

#define NS_PER_MS INT64_C(1000000)
/* RFC 8305 section 5: 250 ms is the recommended delay between attempts. */
#define ATTEMPT_DELAY_NS (250 * NS_PER_MS)
/* The share of the time that the newest attempt gets before the oldest gives way to another. */
#define ATTEMPT_SHARE 4

int cordon_dial_init(cordon_proxy *proxy)
{
    const cordon_policy *policy = &proxy->options->policy;
    for (size_t i = 0; i < policy->count; i++) {
        cordon_lookup *lookup = &proxy->lookups[i];
        lookup->fd = -1;
        proxy->lookup_timers[i].token = CORDON_TOKEN(CORDON_SOURCE_LOOKUP, i);
        if (policy->hosts[i].upstream.family == 0)
            continue;
        lookup->resolved = cordon_resolved_fixed(&policy->hosts[i].upstream);
        lookup->fixed = true;
        if (!lookup->resolved)
            return -1;
    }
    return 0;
}

static bool is_exhaustion(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void refuse_dial(cordon_proxy *proxy, cordon_conn *conn)
{
    char detail[64];
    errno = conn->dial.last_errno;
    cordon_reason reason =
        is_exhaustion(errno) ? CORDON_REASON_NO_RESOURCES : CORDON_REASON_CONNECT_FAILED;
    if (errno == 0) {
        cordon_request_refuse(proxy, conn, CORDON_REASON_CONNECT_TIMEOUT, NULL);
        return;
    }
    /* strerror_r has two incompatible forms; %m is the same in glibc and musl. */
    (void)snprintf(detail, sizeof detail, "%m");
    cordon_request_refuse(proxy, conn, reason, detail);
}

/* Begins a connection and hands it to the race; else errno. */
static int dial_address(cordon_proxy *proxy, cordon_conn *conn, uint8_t index)
{
    const cordon_address *address = &conn->dial.resolved->addresses[index];
    struct sockaddr_storage socket_address;
    socklen_t length = cordon_address_to_socket(address, &socket_address);
    int one = 1;
    cordon_autoclose int fd =
        socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    /* The relay forwards what it reads at once; waiting for more would only add delay. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&socket_address, length) != 0 && errno != EINPROGRESS)
        return errno;
    if (cordon_conn_watch_attempt(proxy, conn, fd) != 0)
        return errno;
    cordon_race_add(&conn->race, cordon_take_fd(&fd), index);
    return 0;
}

/*
 * When the next address is tried although those under way are silent. While there is room beside
 * them that costs them nothing; later the oldest has to give way, and had the time for an answer.
 */
static void arm_attempt(cordon_proxy *proxy, cordon_conn *conn)
{
    const cordon_dial *dial = &conn->dial;
    int64_t at_ns = dial->deadline_ns;
    if (dial->next < dial->resolved->count) {
        int64_t wait_ns = cordon_race_is_full(&conn->race)
                              ? proxy->options->connect_ms * NS_PER_MS / ATTEMPT_SHARE
                              : ATTEMPT_DELAY_NS;
        if (proxy->batch_ns + wait_ns < at_ns)
            at_ns = proxy->batch_ns + wait_ns;
    }
    cordon_conn_deadline(proxy, conn, at_ns);
}

/* One more address, the next that can be dialled at all; refused when none is left nor under way.
 */
static void dial_next(cordon_proxy *proxy, cordon_conn *conn)
{
    cordon_dial *dial = &conn->dial;
    int error = -1;
    conn->state = CORDON_CONN_CONNECT;
    while (error != 0 && dial->next < dial->resolved->count) {
        error = dial_address(proxy, conn, dial->next++);
        if (error != 0)
            dial->last_errno = (uint16_t)error;
    }
    if (cordon_race_is_over(&conn->race))
        refuse_dial(proxy, conn);
    else
        arm_attempt(proxy, conn);
}

static void refuse_answer(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason,
                          const cordon_resolved *resolved)
{
    char address[CORDON_ADDRESS_TEXT_MAX];
    char detail[CORDON_ADDRESS_TEXT_MAX + 64];
    if (reason != CORDON_REASON_ADDRESS_NOT_PUBLIC) {
        cordon_request_refuse(proxy, conn, reason, NULL);
        return;
    }
    (void)snprintf(detail, sizeof detail, "%s is %s",
                   cordon_address_text(&resolved->first_refused, false, address),
                   cordon_address_refusal(&resolved->first_refused));
    cordon_request_refuse(proxy, conn, reason, detail);
}

static void dial_answer(cordon_proxy *proxy, cordon_conn *conn, cordon_resolved *resolved)
{
    cordon_reason reason = resolved ? cordon_resolved_fault(resolved) : CORDON_REASON_NO_RESOURCES;
    if (resolved)
        conn->dial.resolved = cordon_resolved_ref(resolved);
    if (reason != CORDON_REASON_NONE)
        refuse_answer(proxy, conn, reason, resolved);
    else
        dial_next(proxy, conn);
}

/* Starts the look-up unless one runs already. 0, or -1. */
static int lookup_begin(cordon_proxy *proxy, size_t index)
{
    cordon_lookup *lookup = &proxy->lookups[index];
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = CORDON_TOKEN(CORDON_SOURCE_LOOKUP, index)};
    if (lookup->fd >= 0)
        return 0;
    if (cordon_lookup_start(lookup, proxy->resolver_fd, index) != 0)
        return -1;
    if (epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, lookup->fd, &event) != 0) {
        cordon_lookup_stop(lookup);
        return -1;
    }
    cordon_timers_set(&proxy->timers, &proxy->lookup_timers[index],
                      proxy->batch_ns + proxy->options->connect_ms * NS_PER_MS);
    return 0;
}

void cordon_dial_begin(cordon_proxy *proxy, cordon_conn *conn)
{
    conn->counted = true;
    proxy->tunnels++;
    conn->dial =
        (cordon_dial){.deadline_ns = proxy->batch_ns + proxy->options->connect_ms * NS_PER_MS};
    cordon_race_init(&conn->race);
    conn->state = CORDON_CONN_RESOLVE;
    cordon_resolved *resolved = cordon_lookup_cached(&proxy->lookups[conn->host], proxy->batch_ns);
    if (resolved) {
        dial_answer(proxy, conn, resolved);
        return;
    }
    cordon_conn_deadline(proxy, conn, conn->dial.deadline_ns);
    if (lookup_begin(proxy, conn->host) != 0)
        cordon_request_refuse(proxy, conn, CORDON_REASON_NO_RESOURCES, NULL);
}

/* 200 for the client. The answer stays with the tunnel, which tells its address at its end. */
static void established(cordon_proxy *proxy, cordon_conn *conn)
{
    char target[CORDON_TARGET_MAX];
    cordon_verdict verdict = {.reason = CORDON_REASON_NONE,
                              .status = 200,
                              .target = target,
                              .target_length = cordon_conn_target(proxy, conn, target),
                              .resolved = conn->dial.resolved};
    cordon_conn_log_verdict(proxy, conn, &verdict);
    conn->told = true;
    ssize_t sent = send(conn->fd[CORDON_CLIENT], CORDON_ANSWER_OK, sizeof CORDON_ANSWER_OK - 1,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    /* A client that was not told would wait as long as a hello may take. */
    if (sent == (ssize_t)sizeof CORDON_ANSWER_OK - 1)
        cordon_hello_begin(proxy, conn);
    else
        cordon_conn_close(proxy, conn, CORDON_REASON_CLIENT_RESET);
}

static void attempt_won(cordon_proxy *proxy, cordon_conn *conn, int fd, uint8_t bits)
{
    conn->dial.chosen = cordon_race_win(&conn->race, fd);
    conn->dial.last_errno = 0;
    conn->fd[CORDON_UPSTREAM] = fd;
    conn->side[CORDON_UPSTREAM] |= bits;
    conn->bytes[CORDON_CLIENT] = conn->bytes[CORDON_UPSTREAM] = 0; /* the race's place until now */
    conn->state = CORDON_CONN_HELLO;                               /* there is no race any more */
    established(proxy, conn);
}

static void attempt_lost(cordon_proxy *proxy, cordon_conn *conn, int fd)
{
    conn->dial.last_errno = cordon_socket_error(fd);
    cordon_race_drop(&conn->race, fd);
    dial_next(proxy, conn);
}

void cordon_dial_heard(cordon_proxy *proxy, cordon_conn *conn, int fd, uint8_t bits)
{
    /* One that this batch has closed already may still have an event in it. */
    if (!cordon_race_has(&conn->race, fd))
        return;
    if (bits & CORDON_SIDE_BROKEN)
        attempt_lost(proxy, conn, fd);
    else if (bits & CORDON_SIDE_WRITABLE)
        attempt_won(proxy, conn, fd, bits);
}

void cordon_dial_step(cordon_proxy *proxy, cordon_conn *conn)
{
    char target[CORDON_TARGET_MAX];
    if (!(conn->side[CORDON_CLIENT] & CORDON_SIDE_BROKEN))
        return;
    cordon_verdict verdict = {.reason = CORDON_REASON_CLIENT_RESET,
                              .target = target,
                              .target_length = cordon_conn_target(proxy, conn, target),
                              .resolved = conn->dial.resolved};
    conn->dial.last_errno = cordon_socket_error(conn->fd[CORDON_CLIENT]);
    cordon_conn_log_verdict(proxy, conn, &verdict);
    cordon_conn_close(proxy, conn, CORDON_REASON_CLIENT_RESET);
}

void cordon_dial_late(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->state == CORDON_CONN_RESOLVE) {
        cordon_request_refuse(proxy, conn, CORDON_REASON_RESOLVE_TIMEOUT, NULL);
        return;
    }
    if (proxy->batch_ns < conn->dial.deadline_ns) {
        dial_next(proxy, conn);
        return;
    }
    conn->dial.last_errno = 0; /* whatever befell the others: one is silent to the last */
    refuse_dial(proxy, conn);
}

/* Scans all records: look-ups are rare, and a waiting list would have to survive every close. */
static void lookup_serve(cordon_proxy *proxy, size_t host, cordon_resolved *resolved)
{
    for (uint32_t i = 0; i < proxy->conn_high; i++) {
        cordon_conn *conn = &proxy->conns[i];
        if (conn->state == CORDON_CONN_RESOLVE && conn->host == host)
            dial_answer(proxy, conn, resolved);
    }
}

void cordon_dial_lookup_done(cordon_proxy *proxy, size_t host)
{
    cordon_timers_cancel(&proxy->timers, &proxy->lookup_timers[host]);
    lookup_serve(proxy, host, cordon_lookup_finish(&proxy->lookups[host], proxy->batch_ns));
}

void cordon_dial_lookup_late(cordon_proxy *proxy, size_t host)
{
    cordon_lookup_stop(&proxy->lookups[host]);
    for (uint32_t i = 0; i < proxy->conn_high; i++) {
        cordon_conn *conn = &proxy->conns[i];
        if (conn->state == CORDON_CONN_RESOLVE && conn->host == host)
            cordon_request_refuse(proxy, conn, CORDON_REASON_RESOLVE_TIMEOUT, NULL);
    }
}

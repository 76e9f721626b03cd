/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-up and dialling; see dial.h. Addresses are tried one after the other in the resolver's
 * order; all but the last get a part of the time, so that one dead address does not use it up.
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
#include "request.h"

#define NS_PER_MS INT64_C(1000000)
/* The share of the time that one address out of several gets. */
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

static void close_upstream(cordon_conn *conn)
{
    if (conn->fd[CORDON_UPSTREAM] >= 0)
        (void)close(conn->fd[CORDON_UPSTREAM]);
    conn->fd[CORDON_UPSTREAM] = -1;
    conn->side[CORDON_UPSTREAM] = 0;
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

/* 0 when the connection is under way; else errno. */
static int dial_address(cordon_proxy *proxy, cordon_conn *conn, const cordon_address *address)
{
    struct sockaddr_storage socket_address;
    socklen_t length = cordon_address_to_socket(address, &socket_address);
    int one = 1;
    int fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    conn->fd[CORDON_UPSTREAM] = fd;
    /* The relay forwards what it reads at once; waiting for more would only add delay. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&socket_address, length) != 0 && errno != EINPROGRESS)
        return errno;
    return cordon_conn_watch(proxy, conn, CORDON_UPSTREAM, true) == 0 ? 0 : errno;
}

static void arm_attempt(cordon_proxy *proxy, cordon_conn *conn)
{
    int64_t deadline_ns = conn->dial.deadline_ns;
    if (conn->dial.next < conn->dial.resolved->count) {
        int64_t part_ns = proxy->options->connect_ms * NS_PER_MS / ATTEMPT_SHARE;
        int64_t attempt_ns = proxy->batch_ns + part_ns;
        if (attempt_ns < deadline_ns)
            deadline_ns = attempt_ns;
    }
    cordon_conn_deadline(proxy, conn, deadline_ns);
}

static void dial_next(cordon_proxy *proxy, cordon_conn *conn)
{
    cordon_dial *dial = &conn->dial;
    conn->state = CORDON_CONN_CONNECT;
    while (dial->next < dial->resolved->count) {
        int error = dial_address(proxy, conn, &dial->resolved->addresses[dial->next++]);
        if (error == 0) {
            arm_attempt(proxy, conn);
            return;
        }
        dial->last_errno = (uint16_t)error;
        close_upstream(conn);
    }
    refuse_dial(proxy, conn);
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
    if (reason != CORDON_REASON_NONE) {
        refuse_answer(proxy, conn, reason, resolved);
        return;
    }
    conn->dial.resolved = cordon_resolved_ref(resolved);
    dial_next(proxy, conn);
}

/* Starts the look-up unless one runs already. 0, or -1. */
static int lookup_begin(cordon_proxy *proxy, size_t index)
{
    cordon_lookup *lookup = &proxy->lookups[index];
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u32 = CORDON_TOKEN(CORDON_SOURCE_LOOKUP, index)};
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

static void established(cordon_proxy *proxy, cordon_conn *conn)
{
    char target[CORDON_TARGET_MAX];
    char address[CORDON_ADDRESS_TEXT_MAX];
    const cordon_dial *dial = &conn->dial;
    const cordon_address *dialled = &dial->resolved->addresses[dial->next - 1];
    cordon_verdict verdict = {.reason = CORDON_REASON_NONE,
                              .status = 200,
                              .target = target,
                              .target_length = cordon_conn_target(proxy, conn, target),
                              .key = "address",
                              .detail = cordon_address_text(dialled, true, address)};
    verdict.detail_length = strlen(verdict.detail);
    cordon_conn_log_verdict(proxy, conn, &verdict);
    cordon_resolved_unref(conn->dial.resolved);
    conn->told = true;
    (void)send(conn->fd[CORDON_CLIENT], CORDON_ANSWER_OK, sizeof CORDON_ANSWER_OK - 1,
               MSG_NOSIGNAL | MSG_DONTWAIT);
    cordon_hello_begin(proxy, conn);
}

static void upstream_failed(cordon_proxy *proxy, cordon_conn *conn)
{
    int error = 0;
    socklen_t length = sizeof error;
    (void)getsockopt(conn->fd[CORDON_UPSTREAM], SOL_SOCKET, SO_ERROR, &error, &length);
    conn->dial.last_errno = (uint16_t)(error != 0 ? error : ECONNRESET);
    close_upstream(conn);
    dial_next(proxy, conn);
}

void cordon_dial_step(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->side[CORDON_CLIENT] & CORDON_SIDE_BROKEN) {
        char target[CORDON_TARGET_MAX];
        cordon_verdict verdict = {.reason = CORDON_REASON_CLIENT_RESET,
                                  .target = target,
                                  .target_length = cordon_conn_target(proxy, conn, target)};
        cordon_conn_log_verdict(proxy, conn, &verdict);
        cordon_conn_close(proxy, conn, CORDON_REASON_CLIENT_RESET);
        return;
    }
    if (conn->side[CORDON_UPSTREAM] & CORDON_SIDE_BROKEN)
        upstream_failed(proxy, conn);
    else if (conn->side[CORDON_UPSTREAM] & CORDON_SIDE_WRITABLE)
        established(proxy, conn);
}

void cordon_dial_late(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->state == CORDON_CONN_RESOLVE) {
        cordon_request_refuse(proxy, conn, CORDON_REASON_RESOLVE_TIMEOUT, NULL);
        return;
    }
    close_upstream(conn);
    conn->dial.last_errno = 0;
    if (proxy->batch_ns < conn->dial.deadline_ns)
        dial_next(proxy, conn);
    else
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads and refusals; see request.h. Bytes are only ever peeked until the head is whole, then
 * exactly the head is taken: what comes after it stays in the kernel for the tunnel.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "dial.h"
#include "request.h"

/* A refused client that goes on sending is listened to this much, this long. */
#define DRAIN_BYTES_MAX 262144
#define SECOND_NS       INT64_C(1000000000)
#define DRAIN_NS        SECOND_NS

typedef struct text {
    const char *at;
    size_t length;
} text;

/* Throws bytes away without copying them (tcp(7), MSG_TRUNC); at most what scratch could hold. */
static ssize_t discard(cordon_proxy *proxy, int fd, size_t length)
{
    size_t most = length < CORDON_SCRATCH_BYTES ? length : CORDON_SCRATCH_BYTES;
    return recv(fd, proxy->scratch, most, MSG_TRUNC | MSG_DONTWAIT);
}

static void send_refusal(int fd, const cordon_verdict *verdict)
{
    char answer[CORDON_ANSWER_MAX];
    size_t length = cordon_answer_refusal(answer, verdict->reason, verdict->target,
                                          verdict->target_length, verdict->detail);
    /* The first bytes on a fresh socket always fit; if not, the close says enough. */
    (void)send(fd, answer, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Seconds begin with the first refusal after the last one is over. */
static void count_refusal(cordon_proxy *proxy)
{
    if (proxy->batch_ns - proxy->refused_ns >= SECOND_NS) {
        proxy->refused_ns = proxy->batch_ns;
        proxy->refused = 0;
    }
    proxy->refused++;
}

bool cordon_request_too_many(const cordon_proxy *proxy)
{
    uint64_t most = (uint64_t)proxy->options->max_refusals;
    return most > 0 && proxy->refused >= most && proxy->batch_ns - proxy->refused_ns < SECOND_NS;
}

static cordon_verdict refusal(cordon_reason reason, text target)
{
    return (cordon_verdict){.reason = reason,
                            .status = cordon_reason_status(reason),
                            .target = target.at,
                            .target_length = target.length};
}

static void drain_begin(cordon_proxy *proxy, cordon_conn *conn)
{
    (void)shutdown(conn->fd[CORDON_CLIENT], SHUT_WR);
    conn->state = CORDON_CONN_DRAIN;
    conn->drained = 0;
    cordon_conn_deadline(proxy, conn, proxy->batch_ns + DRAIN_NS);
    cordon_request_drain(proxy, conn);
}

static void tell_refusal(cordon_proxy *proxy, cordon_conn *conn, const cordon_verdict *verdict)
{
    count_refusal(proxy);
    cordon_conn_log_verdict(proxy, conn, verdict);
    send_refusal(conn->fd[CORDON_CLIENT], verdict);
    /* Closing over unread bytes would send a reset, and that may overtake the answer. */
    if (conn->side[CORDON_CLIENT] & CORDON_SIDE_READABLE)
        drain_begin(proxy, conn);
    else
        cordon_conn_close(proxy, conn, CORDON_REASON_NONE);
}

static void refuse(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason, text target)
{
    cordon_verdict verdict = refusal(reason, target);
    tell_refusal(proxy, conn, &verdict);
}

void cordon_request_refuse(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason,
                           const char *detail)
{
    char target[CORDON_TARGET_MAX];
    cordon_resolved *resolved = conn->dial.resolved;
    cordon_verdict verdict =
        refusal(reason, (text){target, cordon_conn_target(proxy, conn, target)});
    verdict.detail = detail;
    verdict.resolved = resolved;
    cordon_race_stop(&conn->race);
    conn->dial.resolved = NULL; /* held here until it is told */
    if (conn->counted)
        proxy->tunnels--;
    conn->counted = false;
    tell_refusal(proxy, conn, &verdict);
    cordon_resolved_unref(resolved);
}

void cordon_request_drain(cordon_proxy *proxy, cordon_conn *conn)
{
    while (conn->drained < DRAIN_BYTES_MAX) {
        ssize_t got = discard(proxy, conn->fd[CORDON_CLIENT], CORDON_SCRATCH_BYTES);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            break;
        conn->drained += (uint32_t)got;
    }
    cordon_conn_close(proxy, conn, CORDON_REASON_NONE);
}

/* There is no record: what comes later may be answered by a reset. */
static void turn_away_at_once(cordon_proxy *proxy, int fd, const cordon_verdict *verdict)
{
    cordon_conn stranger = {.id = ++proxy->last_id};
    cordon_conn_log_verdict(proxy, &stranger, verdict);
    send_refusal(fd, verdict);
    (void)shutdown(fd, SHUT_WR);
    (void)discard(proxy, fd, CORDON_SCRATCH_BYTES);
    (void)close(fd);
}

void cordon_request_turn_away(cordon_proxy *proxy, int fd, cordon_reason reason)
{
    cordon_verdict verdict = refusal(reason, (text){"", 0});
    cordon_conn *conn = cordon_conn_new(proxy, fd, true);
    if (!conn) {
        turn_away_at_once(proxy, fd, &verdict);
        return;
    }
    /* Its request is still to come, most likely. Not watched, it is closed when its time is up. */
    conn->side[CORDON_CLIENT] |= CORDON_SIDE_READABLE;
    (void)cordon_conn_watch(proxy, conn, CORDON_CLIENT, false);
    tell_refusal(proxy, conn, &verdict);
}

static text head_target(const cordon_proxy *proxy, const cordon_conn *conn)
{
    const char *window = (const char *)proxy->scratch;
    return (text){window + conn->head.target, conn->head.target_length};
}

/* The whole head is valid; what is asked for? The host is looked at first, then the port. */
static cordon_reason judge(const cordon_proxy *proxy, cordon_conn *conn)
{
    const cordon_head *head = &conn->head;
    size_t host =
        cordon_policy_find(&proxy->options->policy, head_target(proxy, conn).at, head->host_length);
    if (host == CORDON_POLICY_NONE)
        return CORDON_REASON_NOT_PINNED;
    conn->host = (uint8_t)host;
    if (head->port != CORDON_POLICY_PORT)
        return CORDON_REASON_PORT_NOT_ALLOWED;
    if (proxy->options->max_all_bytes > 0 &&
        proxy->all_bytes >= (uint64_t)proxy->options->max_all_bytes)
        return CORDON_REASON_BYTE_LIMIT;
    return proxy->tunnels >= proxy->max_tunnels ? CORDON_REASON_TUNNEL_LIMIT : CORDON_REASON_NONE;
}

static void head_done(cordon_proxy *proxy, cordon_conn *conn, size_t window)
{
    size_t length = conn->head.length;
    cordon_reason reason = judge(proxy, conn);
    /* Nothing after the head yet: the next byte makes a new edge. A full window does not tell. */
    if (window == length && window < CORDON_HEAD_MAX)
        conn->side[CORDON_CLIENT] &= (uint8_t)~CORDON_SIDE_READABLE;
    if (discard(proxy, conn->fd[CORDON_CLIENT], length) != (ssize_t)length)
        reason = CORDON_REASON_MALFORMED;
    if (reason == CORDON_REASON_NONE)
        cordon_dial_begin(proxy, conn);
    else
        refuse(proxy, conn, reason, head_target(proxy, conn));
}

static void head_cut(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->head.scan == 0)
        cordon_conn_close(proxy, conn, CORDON_REASON_NONE);
    else
        refuse(proxy, conn, CORDON_REASON_HEAD_CUT, (text){"", 0});
}

void cordon_request_step(cordon_proxy *proxy, cordon_conn *conn)
{
    ssize_t got =
        recv(conn->fd[CORDON_CLIENT], proxy->scratch, CORDON_HEAD_MAX, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        head_cut(proxy, conn);
        return;
    }
    const char *window = (const char *)proxy->scratch;
    switch (cordon_head_feed(&conn->head, window, (size_t)got)) {
    case CORDON_HEAD_DONE:
        head_done(proxy, conn, (size_t)got);
        break;
    case CORDON_HEAD_MORE:
        if (conn->side[CORDON_CLIENT] & CORDON_SIDE_HANGUP)
            head_cut(proxy, conn);
        break;
    case CORDON_HEAD_BAD:
    case CORDON_HEAD_UNKNOWN:
        refuse(proxy, conn, (cordon_reason)conn->head.reason, head_target(proxy, conn));
        break;
    }
}

void cordon_request_late(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->head.scan > 0) {
        refuse(proxy, conn, CORDON_REASON_HEAD_TIMEOUT, (text){"", 0});
        return;
    }
    cordon_verdict verdict = {.reason = CORDON_REASON_HEAD_TIMEOUT, .target = ""};
    cordon_conn_log_verdict(proxy, conn, &verdict);
    cordon_conn_close(proxy, conn, CORDON_REASON_NONE);
}

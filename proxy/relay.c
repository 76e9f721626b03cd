/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path; see relay.h. Small reads are copied through one shared scratch buffer, and once
 * a read fills it the direction is bulk and is spliced through a pooled pipe (splicing costs a
 * third of copying for bulk, and more than copying for small messages). What the reader does not
 * take waits in a pipe; nothing more is read then, so a slow reader slows its writer down.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "relay.h"

#define NS_PER_MS INT64_C(1000000)
/* Moves per direction and turn; about a megabyte, then other tunnels get theirs. */
#define TURN_MOVES 16
/* A tunnel that is this old is here to stay. */
#define SETTLED_NS (30000 * NS_PER_MS)

typedef enum flow {
    FLOW_ON,    /* moved something; go on */
    FLOW_WAIT,  /* nothing can be moved before the next event */
    FLOW_FAULT, /* a socket broke; conn->first says which */
} flow;

/* Right after the call that failed: errno says how. */
static flow fault(cordon_conn *conn, int side)
{
    conn->dial.last_errno = (uint16_t)errno;
    conn->first = side == CORDON_CLIENT ? CORDON_REASON_CLIENT_RESET : CORDON_REASON_UPSTREAM_RESET;
    return FLOW_FAULT;
}

static void clear_side(cordon_conn *conn, int side, unsigned bits)
{
    conn->side[side] &= (uint8_t)~bits;
}

static void moved(cordon_proxy *proxy, cordon_conn *conn, int from, size_t count)
{
    conn->bytes[from] += count;
    proxy->all_bytes += count;
}

/* Looked at after each turn, so a tunnel goes over its limit by a turn at most. */
static bool is_at_limit(const cordon_proxy *proxy, cordon_conn *conn)
{
    uint64_t most = (uint64_t)proxy->options->max_tunnel_bytes;
    if (most == 0 || conn->bytes[CORDON_CLIENT] + conn->bytes[CORDON_UPSTREAM] < most)
        return false;
    conn->first = CORDON_REASON_TUNNEL_BYTES;
    return true;
}

static void give_pipe(cordon_proxy *proxy, cordon_conn *conn, int from)
{
    cordon_pipes_give(&proxy->pipes, conn->pipe[from]);
    conn->pipe[from] = NULL;
}

/* Passes the end of file on; who ended first names the tunnel's end. */
static flow ended(cordon_conn *conn, int from)
{
    conn->side[from] |= CORDON_SIDE_ENDED;
    if (conn->first == CORDON_REASON_NONE)
        conn->first =
            from == CORDON_CLIENT ? CORDON_REASON_CLIENT_CLOSED : CORDON_REASON_UPSTREAM_CLOSED;
    return FLOW_ON;
}

static flow drain(cordon_proxy *proxy, cordon_conn *conn, int from)
{
    int to = !from;
    ssize_t count = cordon_pipe_drain(conn->pipe[from], conn->fd[to]);
    if (count > 0) {
        moved(proxy, conn, from, (size_t)count);
        return FLOW_ON;
    }
    if (count < 0 && errno != EAGAIN)
        return fault(conn, to);
    cordon_conn_blocked(proxy, conn, to);
    return FLOW_WAIT;
}

static flow read_failed(cordon_conn *conn, int from)
{
    if (errno != EAGAIN)
        return fault(conn, from);
    clear_side(conn, from, CORDON_SIDE_READABLE);
    return FLOW_WAIT;
}

static flow fill(cordon_conn *conn, int from)
{
    ssize_t count = cordon_pipe_fill(conn->pipe[from], conn->fd[from]);
    if (count < 0)
        return read_failed(conn, from);
    if (count == 0)
        return ended(conn, from);
    if (count < CORDON_PIPES_CHUNK)
        clear_side(conn, from, CORDON_SIDE_BULK);
    return FLOW_ON;
}

/* Keeps what the reader did not take. */
static flow keep(cordon_proxy *proxy, cordon_conn *conn, int from, size_t sent, size_t length)
{
    conn->pipe[from] = cordon_pipes_take_any(&proxy->pipes);
    if (conn->pipe[from] &&
        cordon_pipe_put(conn->pipe[from], proxy->scratch + sent, length - sent) == 0)
        return FLOW_ON;
    conn->first = CORDON_REASON_RELAY_FAILED;
    conn->dial.last_errno = ENOMEM;
    return FLOW_FAULT;
}

static flow copy(cordon_proxy *proxy, cordon_conn *conn, int from)
{
    int to = !from;
    ssize_t length = recv(conn->fd[from], proxy->scratch, CORDON_SCRATCH_BYTES, MSG_DONTWAIT);
    if (length < 0)
        return read_failed(conn, from);
    if (length == 0)
        return ended(conn, from);
    if (length == CORDON_SCRATCH_BYTES)
        conn->side[from] |= CORDON_SIDE_BULK;
    else if (!(conn->side[from] & (CORDON_SIDE_HANGUP | CORDON_SIDE_BROKEN)))
        clear_side(conn, from, CORDON_SIDE_READABLE); /* a short read emptied it: epoll(7) */
    ssize_t sent = send(conn->fd[to], proxy->scratch, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN)
        return fault(conn, to);
    if (sent < 0)
        sent = 0;
    moved(proxy, conn, from, (size_t)sent);
    if (sent == length)
        return FLOW_ON;
    cordon_conn_blocked(proxy, conn, to);
    return keep(proxy, conn, from, (size_t)sent, (size_t)length);
}

static flow shut(cordon_conn *conn, int to)
{
    if (conn->side[to] & CORDON_SIDE_SHUT)
        return FLOW_WAIT;
    conn->side[to] |= CORDON_SIDE_SHUT;
    /* The last one needs no call: all was read, so the close that follows sends the same end. */
    if (conn->side[!to] & CORDON_SIDE_SHUT)
        return FLOW_WAIT;
    /* It fails on a connection that is gone, and an end that was not passed on would be waited for.
     */
    return shutdown(conn->fd[to], SHUT_WR) == 0 ? FLOW_WAIT : fault(conn, to);
}

/* One move of one direction. */
static flow move(cordon_proxy *proxy, cordon_conn *conn, int from)
{
    int to = !from;
    bool waiting = conn->pipe[from] && conn->pipe[from]->pending > 0;
    if (waiting)
        return conn->side[to] & CORDON_SIDE_WRITABLE ? drain(proxy, conn, from) : FLOW_WAIT;
    if (conn->side[from] & CORDON_SIDE_ENDED)
        return shut(conn, to);
    if (!(conn->side[from] & CORDON_SIDE_READABLE) || !(conn->side[to] & CORDON_SIDE_WRITABLE))
        return FLOW_WAIT;
    if (conn->side[from] & CORDON_SIDE_BULK) {
        if (!conn->pipe[from])
            conn->pipe[from] = cordon_pipes_take(&proxy->pipes);
        if (conn->pipe[from] && conn->pipe[from]->ends[0] >= 0)
            return fill(conn, from);
    }
    give_pipe(proxy, conn, from);
    return copy(proxy, conn, from);
}

static flow run(cordon_proxy *proxy, cordon_conn *conn, int from)
{
    flow result = FLOW_ON;
    for (int i = 0; i < TURN_MOVES && result == FLOW_ON; i++)
        result = move(proxy, conn, from);
    if (is_at_limit(proxy, conn))
        return FLOW_FAULT;
    /* An idle direction holds no pipe. */
    if (result == FLOW_WAIT && conn->pipe[from] && conn->pipe[from]->pending == 0)
        give_pipe(proxy, conn, from);
    return result;
}

/* A reset after the end of file was read is seen by no read any more. */
static bool broke_after_end(const cordon_conn *conn, int side)
{
    uint8_t both = CORDON_SIDE_BROKEN | CORDON_SIDE_ENDED;
    return (conn->side[side] & both) == both;
}

static bool is_over(const cordon_conn *conn)
{
    bool shut_both = conn->side[CORDON_CLIENT] & CORDON_SIDE_SHUT &&
                     conn->side[CORDON_UPSTREAM] & CORDON_SIDE_SHUT;
    return shut_both || broke_after_end(conn, CORDON_CLIENT) ||
           broke_after_end(conn, CORDON_UPSTREAM);
}

void cordon_relay_step(cordon_proxy *proxy, cordon_conn *conn)
{
    conn->active_ns = proxy->batch_ns;
    flow up = run(proxy, conn, CORDON_CLIENT);
    flow down = up == FLOW_FAULT ? FLOW_FAULT : run(proxy, conn, CORDON_UPSTREAM);
    if (up == FLOW_FAULT || down == FLOW_FAULT || is_over(conn))
        cordon_conn_close(proxy, conn, (cordon_reason)conn->first);
    else if (up == FLOW_ON || down == FLOW_ON)
        cordon_conn_queue(proxy, conn);
}

/*
 * A peer that vanished without a word is found out in about two minutes, however quiet the tunnel
 * is meant to be; a peer that is only silent answers the probes. The client's socket has these from
 * the listener. The upstream's gets them when the tunnel has lived a while, because most live
 * shorter, and four calls for each are what its check of the server name may cost.
 */
static void keep_alive(int fd)
{
    static const int values[][3] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 60},
        {IPPROTO_TCP, TCP_KEEPINTVL, 15},
        {IPPROTO_TCP, TCP_KEEPCNT, 4},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        (void)setsockopt(fd, values[i][0], values[i][1], &values[i][2], sizeof values[i][2]);
}

void cordon_relay_begin(cordon_proxy *proxy, cordon_conn *conn)
{
    int64_t idle_ns = proxy->options->idle_ms * NS_PER_MS;
    conn->state = CORDON_CONN_OPEN;
    cordon_conn_deadline(proxy, conn,
                         proxy->batch_ns +
                             (idle_ns > 0 && idle_ns < SETTLED_NS ? idle_ns : SETTLED_NS));
    cordon_relay_step(proxy, conn);
}

void cordon_relay_idle(cordon_proxy *proxy, cordon_conn *conn)
{
    int64_t idle_ns = proxy->options->idle_ms * NS_PER_MS;
    int64_t due_ns = conn->active_ns + idle_ns;
    if (idle_ns > 0 && due_ns <= proxy->batch_ns) {
        cordon_conn_close(proxy, conn, CORDON_REASON_IDLE);
        return;
    }
    keep_alive(conn->fd[CORDON_UPSTREAM]);
    if (idle_ns > 0)
        cordon_conn_deadline(proxy, conn, due_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection table; see conn.h.
 */
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conn.h"

static uint32_t *conn_link(cordon_conn *conn, bool ready)
{
    return ready ? &conn->next_ready : &conn->next;
}

static void chain_add(cordon_proxy *proxy, cordon_chain *chain, cordon_conn *conn)
{
    bool ready = chain == &proxy->ready;
    uint32_t index = cordon_conn_index(proxy, conn);
    *conn_link(conn, ready) = CORDON_CONN_NONE;
    if (chain->first == CORDON_CONN_NONE)
        chain->first = index;
    else
        *conn_link(&proxy->conns[chain->last], ready) = index;
    chain->last = index;
}

static cordon_conn *chain_take(cordon_proxy *proxy, cordon_chain *chain)
{
    if (chain->first == CORDON_CONN_NONE)
        return NULL;
    cordon_conn *conn = &proxy->conns[chain->first];
    chain->first = *conn_link(conn, chain == &proxy->ready);
    return conn;
}

uint32_t cordon_conn_index(const cordon_proxy *proxy, const cordon_conn *conn)
{
    return (uint32_t)(conn - proxy->conns);
}

cordon_conn *cordon_conn_new(cordon_proxy *proxy, int fd)
{
    cordon_conn *conn = chain_take(proxy, &proxy->free);
    if (!conn && proxy->conn_high < proxy->conn_max)
        conn = &proxy->conns[proxy->conn_high++];
    if (!conn)
        return NULL;
    *conn = (cordon_conn){.id = ++proxy->last_id,
                          .since_ns = proxy->batch_ns,
                          .fd = {fd, -1},
                          .side = {CORDON_SIDE_WRITABLE, 0},
                          .state = CORDON_CONN_HEAD};
    conn->timer.token = CORDON_TOKEN(CORDON_SOURCE_CLIENT, cordon_conn_index(proxy, conn));
    return conn;
}

static int conn_control(cordon_proxy *proxy, cordon_conn *conn, int side, int operation)
{
    cordon_source source = side == CORDON_CLIENT ? CORDON_SOURCE_CLIENT : CORDON_SOURCE_UPSTREAM;
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLRDHUP | EPOLLET,
        .data.u32 = CORDON_TOKEN(source, cordon_conn_index(proxy, conn)),
    };
    if (conn->side[side] & CORDON_SIDE_ASKED)
        event.events |= EPOLLOUT;
    return epoll_ctl(proxy->epoll_fd, operation, conn->fd[side], &event);
}

int cordon_conn_watch(cordon_proxy *proxy, cordon_conn *conn, int side, bool ask_write)
{
    if (ask_write)
        conn->side[side] |= CORDON_SIDE_ASKED;
    return conn_control(proxy, conn, side, EPOLL_CTL_ADD);
}

void cordon_conn_blocked(cordon_proxy *proxy, cordon_conn *conn, int side)
{
    conn->side[side] &= (uint8_t)~CORDON_SIDE_WRITABLE;
    if (conn->side[side] & CORDON_SIDE_ASKED)
        return;
    conn->side[side] |= CORDON_SIDE_ASKED;
    /* Can't fail for a descriptor that is watched; epoll looks at once whether there is room. */
    (void)conn_control(proxy, conn, side, EPOLL_CTL_MOD);
}

void cordon_conn_deadline(cordon_proxy *proxy, cordon_conn *conn, int64_t at_ns)
{
    cordon_timers_set(&proxy->timers, &conn->timer, at_ns);
}

void cordon_conn_queue(cordon_proxy *proxy, cordon_conn *conn)
{
    if (conn->ready)
        return;
    conn->ready = true;
    chain_add(proxy, &proxy->ready, conn);
}

cordon_conn *cordon_conn_dequeue(cordon_proxy *proxy)
{
    cordon_conn *conn = chain_take(proxy, &proxy->ready);
    if (conn)
        conn->ready = false;
    return conn;
}

static void log_origin(cordon_proxy *proxy, const cordon_conn *conn, const char *event)
{
    cordon_log_begin(&proxy->log, event);
    cordon_log_number(&proxy->log, "id", conn->id);
}

void cordon_conn_log_verdict(cordon_proxy *proxy, const cordon_conn *conn,
                             const cordon_verdict *verdict)
{
    cordon_log *log = &proxy->log;
    bool allow = verdict->reason == CORDON_REASON_NONE;
    log_origin(proxy, conn, "decision");
    cordon_log_text(log, "target", verdict->target, verdict->target_length);
    cordon_log_string(log, "verdict", allow ? "allow" : "deny");
    cordon_log_number(log, "status", (uint64_t)verdict->status);
    cordon_log_string(log, "reason", allow ? "pinned" : cordon_reason_name(verdict->reason));
    if (verdict->key)
        cordon_log_text(log, verdict->key, verdict->detail, verdict->detail_length);
    cordon_log_end(log);
}

size_t cordon_conn_target(const cordon_proxy *proxy, const cordon_conn *conn,
                          char ret_text[CORDON_TARGET_MAX])
{
    const cordon_policy_host *host = &proxy->options->policy.hosts[conn->host];
    memcpy(ret_text, host->name, host->name_length);
    memcpy(ret_text + host->name_length, ":443", 4);
    return host->name_length + 4U;
}

static void log_tunnel(cordon_proxy *proxy, const cordon_conn *conn, cordon_reason reason)
{
    cordon_log *log = &proxy->log;
    log_origin(proxy, conn, "tunnel");
    cordon_log_string(log, "host", proxy->options->policy.hosts[conn->host].name);
    cordon_log_number(log, "port", CORDON_POLICY_PORT);
    cordon_log_number(log, "up", conn->bytes[CORDON_CLIENT]);
    cordon_log_number(log, "down", conn->bytes[CORDON_UPSTREAM]);
    cordon_log_number(log, "ms", (uint64_t)((proxy->batch_ns - conn->since_ns) / 1000000));
    cordon_log_string(log, "end", cordon_reason_name(reason));
    cordon_log_end(log);
}

static bool conn_is_dialling(const cordon_conn *conn)
{
    return conn->state == CORDON_CONN_RESOLVE || conn->state == CORDON_CONN_CONNECT;
}

void cordon_conn_close(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason)
{
    if (conn->told)
        log_tunnel(proxy, conn, reason);
    if (conn_is_dialling(conn))
        cordon_resolved_unref(conn->dial.resolved);
    for (int side = 0; side < 2; side++) {
        cordon_pipes_give(&proxy->pipes, conn->pipe[side]);
        if (conn->fd[side] >= 0)
            (void)close(conn->fd[side]);
    }
    if (conn->counted)
        proxy->tunnels--;
    cordon_timers_cancel(&proxy->timers, &conn->timer);
    conn->state = CORDON_CONN_DEAD;
    chain_add(proxy, &proxy->dead, conn);
}

void cordon_conn_bury(cordon_proxy *proxy)
{
    cordon_chain dead = proxy->dead;
    proxy->dead = (cordon_chain){CORDON_CONN_NONE, CORDON_CONN_NONE};
    for (cordon_conn *conn = chain_take(proxy, &dead); conn; conn = chain_take(proxy, &dead)) {
        /* One that still stands in the ready queue must not be used anew before it left it. */
        bool queued = conn->ready;
        conn->state = queued ? CORDON_CONN_DEAD : CORDON_CONN_FREE;
        chain_add(proxy, queued ? &proxy->dead : &proxy->free, conn);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection table; see conn.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn.h"
#include "errno_name.h"

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

_Static_assert(sizeof(cordon_conn) <= 120, "what a waiting client costs: DESIGN.md says so");

cordon_conn *cordon_conn_new(cordon_proxy *proxy, int fd, bool spare)
{
    if (!spare && proxy->live + CORDON_CONN_SPARE >= proxy->conn_max)
        return NULL;
    cordon_conn *conn = chain_take(proxy, &proxy->free);
    if (!conn && proxy->conn_high < proxy->conn_max)
        conn = &proxy->conns[proxy->conn_high++];
    if (!conn)
        return NULL;
    proxy->live++;
    *conn = (cordon_conn){.id = ++proxy->last_id,
                          .since_ns = proxy->batch_ns,
                          .fd = {fd, -1},
                          .side = {CORDON_SIDE_WRITABLE, 0},
                          .state = CORDON_CONN_HEAD};
    conn->timer.token = CORDON_TOKEN(CORDON_SOURCE_CLIENT, cordon_conn_index(proxy, conn));
    return conn;
}

static int watch_fd(cordon_proxy *proxy, const cordon_conn *conn, int side, int fd, int operation)
{
    cordon_source source = side == CORDON_CLIENT ? CORDON_SOURCE_CLIENT : CORDON_SOURCE_UPSTREAM;
    uint32_t token = CORDON_TOKEN(source, cordon_conn_index(proxy, conn));
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLRDHUP | EPOLLET,
        .data.u64 = CORDON_EVENT_DATA(token, fd),
    };
    if (conn->side[side] & CORDON_SIDE_ASKED)
        event.events |= EPOLLOUT;
    return epoll_ctl(proxy->epoll_fd, operation, fd, &event);
}

int cordon_conn_watch(cordon_proxy *proxy, cordon_conn *conn, int side, bool ask_write)
{
    if (ask_write)
        conn->side[side] |= CORDON_SIDE_ASKED;
    return watch_fd(proxy, conn, side, conn->fd[side], EPOLL_CTL_ADD);
}

int cordon_conn_watch_attempt(cordon_proxy *proxy, cordon_conn *conn, int fd)
{
    conn->side[CORDON_UPSTREAM] |= CORDON_SIDE_ASKED;
    return watch_fd(proxy, conn, CORDON_UPSTREAM, fd, EPOLL_CTL_ADD);
}

void cordon_conn_blocked(cordon_proxy *proxy, cordon_conn *conn, int side)
{
    conn->side[side] &= (uint8_t)~CORDON_SIDE_WRITABLE;
    if (conn->side[side] & CORDON_SIDE_ASKED)
        return;
    conn->side[side] |= CORDON_SIDE_ASKED;
    /* Can't fail for a descriptor that is watched; epoll looks at once whether there is room. */
    (void)watch_fd(proxy, conn, side, conn->fd[side], EPOLL_CTL_MOD);
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

static bool conn_is_dialling(const cordon_conn *conn)
{
    return conn->state == CORDON_CONN_RESOLVE || conn->state == CORDON_CONN_CONNECT;
}

static bool conn_has_dial(const cordon_conn *conn)
{
    return conn_is_dialling(conn) || conn->state == CORDON_CONN_HELLO ||
           conn->state == CORDON_CONN_OPEN;
}

static void log_origin(cordon_proxy *proxy, const cordon_conn *conn, const char *event)
{
    cordon_log_begin(&proxy->log, event);
    cordon_log_number(&proxy->log, "id", conn->id);
}

/* What no reason tells by itself: whether the host's addresses are the operator's or were asked
 * for.
 */
static const char *rule_of(const cordon_proxy *proxy, const cordon_conn *conn, cordon_reason reason)
{
    const char *rule = cordon_reason_rule(reason);
    if (rule)
        return rule;
    return proxy->lookups[conn->host].fixed ? "upstream" : "resolved";
}

/*
 * The addresses of the answer in the order in which they are tried, and how many there were besides
 * that must not be dialled. A mapped host has one, which `address` says.
 */
static void log_answer(cordon_log *log, const cordon_resolved *resolved, bool mapped)
{
    char text[CORDON_ADDRESS_TEXT_MAX];
    if (!resolved || mapped)
        return;
    cordon_log_list_begin(log, "addresses");
    for (size_t i = 0; i < resolved->count; i++)
        cordon_log_item(log, i, cordon_address_text(&resolved->addresses[i], false, text));
    cordon_log_list_end(log);
    if (resolved->refused == 0)
        return;
    if (resolved->count > 0)
        cordon_log_bool(log, "mixed", true);
    cordon_log_number(log, "refused", resolved->refused);
}

static void log_dialled(cordon_log *log, const cordon_dial *dial)
{
    char text[CORDON_ADDRESS_TEXT_MAX];
    const cordon_address *address = &dial->resolved->addresses[dial->chosen];
    cordon_log_string(log, "address", cordon_address_text(address, true, text));
}

static void log_error(cordon_log *log, const cordon_conn *conn)
{
    if (conn->dial.last_errno != 0)
        cordon_log_string(log, "error", cordon_errno_name(conn->dial.last_errno));
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
    cordon_log_string(log, "rule", rule_of(proxy, conn, verdict->reason));
    if (allow)
        log_dialled(log, &conn->dial);
    log_answer(log, verdict->resolved, proxy->lookups[conn->host].fixed);
    if (verdict->detail)
        cordon_log_string(log, "detail", verdict->detail);
    if (verdict->server_name)
        cordon_log_text(log, "server_name", verdict->server_name, verdict->server_name_length);
    if (conn_has_dial(conn))
        log_error(log, conn);
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

/* The end of an allowed tunnel. Its server name is told once it has been seen: it is the host. */
static void log_tunnel(cordon_proxy *proxy, const cordon_conn *conn, cordon_reason reason)
{
    cordon_log *log = &proxy->log;
    log_origin(proxy, conn, "tunnel");
    const char *host = proxy->options->policy.hosts[conn->host].name;
    cordon_log_string(log, "host", host);
    cordon_log_number(log, "port", CORDON_POLICY_PORT);
    cordon_log_string(log, "rule", rule_of(proxy, conn, CORDON_REASON_NONE));
    log_dialled(log, &conn->dial);
    if (conn->state == CORDON_CONN_OPEN)
        cordon_log_string(log, "server_name", host);
    cordon_log_number(log, "up", conn->bytes[CORDON_CLIENT]);
    cordon_log_number(log, "down", conn->bytes[CORDON_UPSTREAM]);
    cordon_log_number(log, "ms", (uint64_t)((proxy->batch_ns - conn->since_ns) / 1000000));
    cordon_log_string(log, "end", cordon_reason_name(reason));
    cordon_log_string(log, "by", cordon_reason_by(reason));
    log_error(log, conn);
    cordon_log_end(log);
}

uint16_t cordon_socket_error(int fd)
{
    int error = 0;
    socklen_t length = sizeof error;
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    return (uint16_t)(error != 0 ? error : ECONNRESET);
}

void cordon_conn_close(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason)
{
    if (conn->told)
        log_tunnel(proxy, conn, reason);
    if (conn_is_dialling(conn))
        cordon_race_stop(&conn->race);
    if (conn_has_dial(conn))
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
        proxy->live -= queued ? 0 : 1;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start, event loop and stop; see serve.h. What an event means is the business of the state that
 * the connection is in.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dial.h"
#include "hello.h"
#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "listen.h"
#include "relay.h"
#include "request.h"
#include "serve.h"
#include "setup.h"

#define EVENTS_MAX 64
/* How long the last lines may wait for a slow reader. */
#define STOP_FLUSH_MS 500

typedef void step_fn(cordon_proxy *proxy, cordon_conn *conn);

/* What a state does when its sockets have news, and when its time is up. */
typedef struct state_row {
    step_fn *step;
    step_fn *late;
} state_row;

static void ignore(cordon_proxy *proxy, cordon_conn *conn)
{
    (void)proxy;
    (void)conn;
}

static void drain_late(cordon_proxy *proxy, cordon_conn *conn)
{
    cordon_conn_close(proxy, conn, CORDON_REASON_NONE);
}

static const state_row state_rows[] = {
    [CORDON_CONN_FREE] = {ignore, ignore},
    [CORDON_CONN_HEAD] = {cordon_request_step, cordon_request_late},
    [CORDON_CONN_RESOLVE] = {cordon_dial_step, cordon_dial_late},
    [CORDON_CONN_CONNECT] = {cordon_dial_step, cordon_dial_late},
    [CORDON_CONN_HELLO] = {cordon_hello_step, cordon_hello_late},
    [CORDON_CONN_OPEN] = {cordon_relay_step, cordon_relay_idle},
    [CORDON_CONN_DRAIN] = {cordon_request_drain, drain_late},
    [CORDON_CONN_DEAD] = {ignore, ignore},
};

/* What epoll says of a socket, as CORDON_SIDE_ bits. */
static uint8_t bits_of(uint32_t events)
{
    static const struct {
        uint32_t event;
        uint8_t bits;
    } meaning[] = {
        {EPOLLIN, CORDON_SIDE_READABLE},
        {EPOLLOUT, CORDON_SIDE_WRITABLE},
        {EPOLLRDHUP, CORDON_SIDE_READABLE | CORDON_SIDE_HANGUP},
        {EPOLLHUP, CORDON_SIDE_READABLE | CORDON_SIDE_WRITABLE},
        {EPOLLERR, CORDON_SIDE_READABLE | CORDON_SIDE_WRITABLE | CORDON_SIDE_BROKEN},
    };
    uint8_t bits = 0;
    for (size_t i = 0; i < sizeof meaning / sizeof meaning[0]; i++) {
        if (events & meaning[i].event)
            bits |= meaning[i].bits;
    }
    return bits;
}

static void on_client(cordon_proxy *proxy, cordon_conn *conn, uint32_t events)
{
    conn->side[CORDON_CLIENT] |= bits_of(events);
    state_rows[conn->state].step(proxy, conn);
}

static void on_upstream(cordon_proxy *proxy, cordon_conn *conn, int fd, uint32_t events)
{
    if (conn->state == CORDON_CONN_CONNECT) {
        cordon_dial_heard(proxy, conn, fd, bits_of(events));
        return;
    }
    /* An attempt that lost, earlier in this batch. */
    if (fd != conn->fd[CORDON_UPSTREAM])
        return;
    conn->side[CORDON_UPSTREAM] |= bits_of(events);
    state_rows[conn->state].step(proxy, conn);
}

/* Children are reaped whoever they are: PID 1 inherits orphans too. */
static void reap(cordon_proxy *proxy)
{
    for (pid_t child = waitpid(-1, NULL, WNOHANG); child > 0; child = waitpid(-1, NULL, WNOHANG)) {
        /* Killed by its own filter or for want of memory: both are better known than worked round.
         */
        if (child == proxy->resolver)
            proxy->failure = "the resolver has ended";
    }
}

/* Nothing is due from there but the end, which comes when nobody watches any more. */
static void on_owner(cordon_proxy *proxy)
{
    char byte = 0;
    ssize_t got = read(proxy->owner_fd, &byte, 1);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    proxy->stopping = true;
    if (got > 0)
        proxy->failure = "more than one policy came";
}

static void on_signal(cordon_proxy *proxy)
{
    struct signalfd_siginfo info;
    while (read(proxy->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap(proxy);
        else
            proxy->stopping = true;
    }
}

static void on_event(cordon_proxy *proxy, const struct epoll_event *event)
{
    uint32_t token = CORDON_EVENT_TOKEN(event->data.u64);
    uint32_t index = CORDON_TOKEN_INDEX(token);
    switch (CORDON_TOKEN_SOURCE(token)) {
    case CORDON_SOURCE_CLIENT:
        on_client(proxy, &proxy->conns[index], event->events);
        break;
    case CORDON_SOURCE_UPSTREAM:
        on_upstream(proxy, &proxy->conns[index], CORDON_EVENT_FD(event->data.u64), event->events);
        break;
    case CORDON_SOURCE_LOOKUP:
        cordon_dial_lookup_done(proxy, index);
        break;
    case CORDON_SOURCE_LISTEN:
        cordon_listen_accept(proxy);
        break;
    case CORDON_SOURCE_SIGNAL:
        on_signal(proxy);
        break;
    case CORDON_SOURCE_OWNER:
        on_owner(proxy);
        break;
    case CORDON_SOURCE_LOG:
        break; /* there is room again; the flush at the end of the batch uses it */
    }
}

static void on_timer(cordon_proxy *proxy, const cordon_timer *timer)
{
    uint32_t index = CORDON_TOKEN_INDEX(timer->token);
    cordon_source source = CORDON_TOKEN_SOURCE(timer->token);
    if (source == CORDON_SOURCE_CLIENT)
        state_rows[proxy->conns[index].state].late(proxy, &proxy->conns[index]);
    else if (source == CORDON_SOURCE_LOOKUP)
        cordon_dial_lookup_late(proxy, index);
    else
        cordon_listen_resume(proxy);
}

/* Only those that stand in the queue now; a tunnel that queues itself again waits for the next. */
static void run_ready(cordon_proxy *proxy)
{
    uint32_t last = proxy->ready.last;
    bool more = proxy->ready.first != CORDON_CONN_NONE;
    while (more) {
        cordon_conn *conn = cordon_conn_dequeue(proxy);
        more = conn && cordon_conn_index(proxy, conn) != last;
        if (conn)
            state_rows[conn->state].step(proxy, conn);
    }
}

static void run_timers(cordon_proxy *proxy)
{
    for (cordon_timer *timer = cordon_timers_pop(&proxy->timers, proxy->batch_ns); timer;
         timer = cordon_timers_pop(&proxy->timers, proxy->batch_ns))
        on_timer(proxy, timer);
}

static int batch(cordon_proxy *proxy, cordon_err *err)
{
    struct epoll_event events[EVENTS_MAX];
    int wait_ms = proxy->ready.first != CORDON_CONN_NONE
                      ? 0
                      : cordon_timers_wait_ms(&proxy->timers, cordon_now_ns());
    int count = epoll_wait(proxy->epoll_fd, events, EVENTS_MAX, wait_ms);
    if (count < 0 && errno != EINTR)
        return CORDON_FAIL_ERRNO(err, errno, "epoll_wait");
    proxy->batch_ns = cordon_now_ns();
    for (int i = 0; i < count; i++)
        on_event(proxy, &events[i]);
    run_ready(proxy);
    run_timers(proxy);
    cordon_conn_bury(proxy);
    cordon_log_flush(&proxy->log);
    return 0;
}

/* Tells what every open tunnel moved, as far as the reader follows, and closes all. */
static void stop(cordon_proxy *proxy)
{
    for (uint32_t i = 0; i < proxy->conn_high; i++) {
        cordon_conn *conn = &proxy->conns[i];
        if (conn->state == CORDON_CONN_FREE || conn->state == CORDON_CONN_DEAD)
            continue;
        cordon_conn_close(proxy, conn, CORDON_REASON_STOPPED);
        cordon_log_flush(&proxy->log);
    }
    cordon_log_flush_last(&proxy->log, STOP_FLUSH_MS);
}

static void free_proxy(cordon_proxy **proxy)
{
    cordon_setup_clear(*proxy);
    free(*proxy);
}

/* Nothing is served that could not be told any more; a reader who is only slow is no reason. */
static bool goes_on(cordon_proxy *proxy)
{
    if (proxy->log.broken && !proxy->failure)
        proxy->failure = "the log can't be written";
    return !proxy->stopping && !proxy->failure;
}

int cordon_proxy_loop(cordon_proxy *proxy, cordon_err *err)
{
    int result = 0;
    while (result == 0 && goes_on(proxy))
        result = batch(proxy, err);
    stop(proxy);
    if (result == 0 && proxy->failure)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s", proxy->failure);
    return result;
}

int cordon_proxy_serve(const cordon_proxy_options *options, const cordon_proxy_place *place,
                       cordon_err *err)
{
    cordon_cleanup(free_proxy) cordon_proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (cordon_setup_init(proxy, options, place, err) != 0)
        return -1;
    return cordon_proxy_loop(proxy, err);
}

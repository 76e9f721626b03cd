/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Construction of the running proxy; see setup.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "descriptors.h"
#include "dial.h"
#include "listen.h"
#include "setup.h"

/* Standard descriptors, listener, epoll, signals, and one pipe per look-up with some slack. */
#define DESCRIPTORS_RESERVED (16 + CORDON_POLICY_HOSTS_MAX)
/* Clients that have not been allowed yet, beside the tunnels. */
#define HEADS_MIN 256
/* Pipes may take this part of the descriptors that tunnels and heads leave. */
#define PIPES_MAX 1024

/*
 * Shares the descriptors out: two per tunnel, one per other connection, the rest for pipes. With
 * few descriptors there are fewer tunnels than were asked for; "ready" tells how many.
 */
static int share_descriptors(cordon_proxy *proxy, cordon_err *err)
{
    uint32_t wanted = proxy->options->max_tunnels;
    uint32_t heads = wanted > HEADS_MIN ? wanted : HEADS_MIN;
    uint32_t most = DESCRIPTORS_RESERVED + 2 * wanted + heads + 2 * PIPES_MAX;
    uint32_t have = cordon_descriptors_raise(most);
    if (have < DESCRIPTORS_RESERVED + 64)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the descriptor limit of %u is too low", have);
    have -= DESCRIPTORS_RESERVED;
    /* Scarce: a quarter for heads, a quarter for pipes, a half for the tunnels' two each. */
    if (heads > have / 4)
        heads = have / 4;
    proxy->max_tunnels = wanted < have / 4 ? wanted : have / 4;
    proxy->conn_max = proxy->max_tunnels + heads;
    proxy->pipes.max_open = (have - heads - 2 * proxy->max_tunnels) / 2;
    if (proxy->pipes.max_open > PIPES_MAX)
        proxy->pipes.max_open = PIPES_MAX;
    return 0;
}

/* Zero pages until they are used: what an idle proxy costs does not depend on the limits. */
static int make_tables(cordon_proxy *proxy, cordon_err *err)
{
    uint32_t timers = proxy->conn_max + CORDON_POLICY_HOSTS_MAX + 1;
    proxy->conns = calloc(proxy->conn_max, sizeof *proxy->conns);
    proxy->timers.heap = calloc(timers, sizeof(cordon_timer *));
    proxy->timers.capacity = timers;
    if (!proxy->conns || !proxy->timers.heap || cordon_dial_init(proxy) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory for %u connections",
                           proxy->conn_max);
    return 0;
}

/* PID 1 gets no default actions; blocked signals are delivered to the loop all the same. */
static int take_signals(cordon_proxy *proxy, cordon_err *err)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)sigaddset(&set, signals[i]);
    /* An ignored SIGCHLD, inherited, would make children vanish unreaped. */
    if (sigaction(SIGPIPE, &ignored, NULL) != 0 || sigaction(SIGCHLD, &standard, NULL) != 0 ||
        sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "signals");
    proxy->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (proxy->signal_fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "signalfd");
    return 0;
}

static int make_loop(cordon_proxy *proxy, cordon_err *err)
{
    struct epoll_event on_signal = {.events = EPOLLIN,
                                    .data.u32 = CORDON_TOKEN(CORDON_SOURCE_SIGNAL, 0)};
    struct epoll_event on_log = {.events = EPOLLOUT | EPOLLET,
                                 .data.u32 = CORDON_TOKEN(CORDON_SOURCE_LOG, 0)};
    proxy->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (proxy->epoll_fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "epoll_create1");
    if (epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, proxy->signal_fd, &on_signal) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "epoll_ctl");
    /* A plain file can't be watched, and needn't. */
    (void)epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, proxy->log.fd, &on_log);
    return 0;
}

static void tell_ready(cordon_proxy *proxy, const cordon_address *bound)
{
    char text[CORDON_ADDRESS_TEXT_MAX];
    cordon_log_begin(&proxy->log, "ready");
    cordon_log_string(&proxy->log, "listen", cordon_address_text(bound, true, text));
    cordon_log_number(&proxy->log, "hosts", proxy->options->policy.count);
    cordon_log_number(&proxy->log, "max_tunnels", proxy->max_tunnels);
    cordon_log_end(&proxy->log);
    cordon_log_flush(&proxy->log);
}

int cordon_setup_init(cordon_proxy *proxy, const cordon_proxy_options *options,
                      cordon_lookup_fn *look_up, cordon_err *err)
{
    static const cordon_chain empty = {CORDON_CONN_NONE, CORDON_CONN_NONE};
    cordon_address bound;
    proxy->options = options;
    proxy->look_up = look_up;
    proxy->epoll_fd = proxy->listen_fd = proxy->signal_fd = -1;
    proxy->free = proxy->dead = proxy->ready = empty;
    for (size_t i = 0; i < CORDON_POLICY_HOSTS_MAX; i++)
        proxy->lookups[i].fd = -1;
    cordon_log_init(&proxy->log, STDOUT_FILENO);
    if (share_descriptors(proxy, err) != 0 || make_tables(proxy, err) != 0 ||
        take_signals(proxy, err) != 0 || make_loop(proxy, err) != 0 ||
        cordon_listen_open(proxy, &bound, err) != 0)
        return -1;
    tell_ready(proxy, &bound);
    return 0;
}

static void close_open(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void cordon_setup_clear(cordon_proxy *proxy)
{
    if (!proxy)
        return;
    close_open(proxy->listen_fd);
    close_open(proxy->signal_fd);
    close_open(proxy->epoll_fd);
    for (size_t i = 0; i < CORDON_POLICY_HOSTS_MAX; i++)
        cordon_lookup_clear(&proxy->lookups[i]);
    cordon_pipes_clear(&proxy->pipes);
    free(proxy->timers.heap);
    free(proxy->conns);
}

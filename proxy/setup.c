/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Construction of the running proxy; see setup.h.
 */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"
#include "dial.h"
#include "listen.h"
#include "lockdown.h"
#include "resolver.h"
#include "setup.h"

/* Standard descriptors, listener, epoll, signals, one pipe per look-up with some slack, and
 * clients that are turned away. */
#define DESCRIPTORS_RESERVED (16 + CORDON_POLICY_HOSTS_MAX + CORDON_CONN_SPARE)
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
    uint32_t wanted = (uint32_t)proxy->options->max_tunnels;
    uint32_t heads = wanted > HEADS_MIN ? wanted : HEADS_MIN;
    uint32_t most = DESCRIPTORS_RESERVED + 2 * wanted + heads + 2 * PIPES_MAX;
    uint32_t have = cordon_descriptors_raise(most);
    if (have < DESCRIPTORS_RESERVED + 64)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the descriptor limit of %u is too low", have);
    have -= DESCRIPTORS_RESERVED;
    /* Scarce: a quarter for heads, at most one for pipes, the rest for the tunnels' two each. */
    if (heads > have / 4)
        heads = have / 4;
    uint32_t pipes = have / 4 < 2 * PIPES_MAX ? have / 4 : 2 * PIPES_MAX;
    uint32_t tunnels = (have - heads - pipes) / 2;
    proxy->max_tunnels = wanted < tunnels ? wanted : tunnels;
    proxy->conn_max = proxy->max_tunnels + heads + CORDON_CONN_SPARE;
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
                                    .data.u64 = CORDON_TOKEN(CORDON_SOURCE_SIGNAL, 0)};
    struct epoll_event on_log = {.events = EPOLLOUT | EPOLLET,
                                 .data.u64 = CORDON_TOKEN(CORDON_SOURCE_LOG, 0)};
    proxy->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (proxy->epoll_fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "epoll_create1");
    if (epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, proxy->signal_fd, &on_signal) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "epoll_ctl");
    /* A plain file can't be watched, and needn't. */
    (void)epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, proxy->log.fd, &on_log);
    return 0;
}

static int watch_owner(cordon_proxy *proxy, cordon_err *err)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = CORDON_TOKEN(CORDON_SOURCE_OWNER, 0)};
    if (proxy->owner_fd < 0)
        return 0;
    if (epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, proxy->owner_fd, &event) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "watch the stream of the policy");
    return 0;
}

static int start_resolver(cordon_proxy *proxy, const cordon_proxy_place *place, cordon_err *err)
{
    const cordon_policy *policy = &proxy->options->policy;
    bool needed = false;
    for (size_t i = 0; i < policy->count; i++)
        needed = needed || policy->hosts[i].upstream.family == 0;
    if (!needed)
        return 0;
    return cordon_resolver_start(proxy->options, place->look_up,
                                 place->locked ? CORDON_LOCKDOWN_RESOLVER : CORDON_LOCKDOWN_NONE,
                                 &proxy->resolver, &proxy->resolver_fd, err);
}

/* The kernel's word on what is in force; after the filter nobody could ask any more. */
typedef struct lock_state {
    int no_new_privs;
    int dumpable;
    int landlock;
    uint64_t capabilities; /* of any set */
    bool filtered;
} lock_state;

/* capget(2), version 3: two words per set. What can't be read is taken for all. */
static uint64_t capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};
    if (syscall(SYS_capget, &head, sets) != 0)
        return UINT64_MAX;
    uint64_t low = sets[0].effective | sets[0].permitted | sets[0].inheritable;
    uint64_t high = sets[1].effective | sets[1].permitted | sets[1].inheritable;
    return high << 32 | low;
}

static int lock(const cordon_proxy *proxy, lock_state *ret_state, cordon_err *err)
{
    const cordon_policy *policy = &proxy->options->policy;
    uint16_t ports[CORDON_POLICY_HOSTS_MAX];
    for (size_t i = 0; i < policy->count; i++) {
        bool mapped = policy->hosts[i].upstream.family != 0;
        ports[i] = mapped ? policy->hosts[i].upstream.port : CORDON_POLICY_PORT;
    }
    ret_state->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    ret_state->capabilities = capabilities();
    ret_state->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    if (cordon_lockdown_fence(NULL, ports, policy->count, &ret_state->landlock, err) != 0 ||
        cordon_lockdown_filter(CORDON_LOCKDOWN_RELAY, err) != 0)
        return -1;
    ret_state->filtered = true;
    return 0;
}

static void tell_ready(cordon_proxy *proxy, const cordon_address *bound, const lock_state *state)
{
    char text[CORDON_ADDRESS_TEXT_MAX];
    cordon_log_begin(&proxy->log, "ready");
    cordon_log_string(&proxy->log, "listen", cordon_address_text(bound, true, text));
    cordon_log_number(&proxy->log, "hosts", proxy->options->policy.count);
    cordon_log_number(&proxy->log, "max_tunnels", proxy->max_tunnels);
    cordon_log_string(&proxy->log, "policy", proxy->options->code);
    cordon_log_number(&proxy->log, "seccomp", state->filtered ? 1 : 0);
    cordon_log_number(&proxy->log, "landlock", (uint64_t)state->landlock);
    cordon_log_number(&proxy->log, "no_new_privs", state->no_new_privs == 1 ? 1 : 0);
    cordon_log_number(&proxy->log, "dumpable", state->dumpable == 0 ? 0 : 1);
    cordon_log_number(&proxy->log, "capabilities", state->capabilities & INT64_MAX);
    cordon_log_end(&proxy->log);
    cordon_log_flush(&proxy->log);
}

int cordon_setup_init(cordon_proxy *proxy, const cordon_proxy_options *options,
                      const cordon_proxy_place *place, cordon_err *err)
{
    static const cordon_chain empty = {CORDON_CONN_NONE, CORDON_CONN_NONE};
    cordon_address bound;
    lock_state state = {.dumpable = 1};
    proxy->options = options;
    proxy->owner_fd = place->owner_fd;
    proxy->resolver_fd = proxy->epoll_fd = proxy->listen_fd = proxy->signal_fd = -1;
    proxy->free = proxy->dead = proxy->ready = empty;
    for (size_t i = 0; i < CORDON_POLICY_HOSTS_MAX; i++)
        proxy->lookups[i].fd = -1;
    cordon_log_init(&proxy->log, STDOUT_FILENO);
    /* The resolver early, so that it holds nothing of what comes after; but its end, however soon,
     * must be heard. */
    if (take_signals(proxy, err) != 0 || start_resolver(proxy, place, err) != 0 ||
        share_descriptors(proxy, err) != 0 || make_tables(proxy, err) != 0 ||
        make_loop(proxy, err) != 0 || watch_owner(proxy, err) != 0 ||
        cordon_listen_open(proxy, &bound, err) != 0 ||
        (place->locked && lock(proxy, &state, err) != 0))
        return -1;
    tell_ready(proxy, &bound, &state);
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
    close_open(proxy->resolver_fd);
    for (size_t i = 0; i < CORDON_POLICY_HOSTS_MAX; i++)
        cordon_lookup_clear(&proxy->lookups[i]);
    cordon_pipes_clear(&proxy->pipes);
    free(proxy->timers.heap);
    free(proxy->conns);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepting clients; see listen.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"
#include "request.h"

#define NS_PER_MS  INT64_C(1000000)
#define BACKLOG    1024
#define ACCEPT_MAX 32
#define PAUSE_NS   (100 * NS_PER_MS)

/* Accepted sockets inherit all of these on Linux, which saves system calls per client. */
static int set_options(int fd, int family)
{
    static const int values[][3] = {
        {SOL_SOCKET, SO_REUSEADDR, 1},    {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},    {IPPROTO_TCP, TCP_KEEPIDLE, 60},
        {IPPROTO_TCP, TCP_KEEPINTVL, 15}, {IPPROTO_TCP, TCP_KEEPCNT, 4},
        {IPPROTO_IPV6, IPV6_V6ONLY, 1},
    };
    size_t count = sizeof values / sizeof values[0] - (family == AF_INET6 ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        if (setsockopt(fd, values[i][0], values[i][1], &values[i][2], sizeof values[i][2]) != 0)
            return -1;
    }
    return 0;
}

static int watch(cordon_proxy *proxy, int operation)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = CORDON_TOKEN(CORDON_SOURCE_LISTEN, 0)};
    return epoll_ctl(proxy->epoll_fd, operation, proxy->listen_fd, &event);
}

int cordon_listen_open(cordon_proxy *proxy, cordon_address *ret_bound, cordon_err *err)
{
    char text[CORDON_ADDRESS_TEXT_MAX];
    const cordon_address *wanted = &proxy->options->listen;
    struct sockaddr_storage address;
    socklen_t length = cordon_address_to_socket(wanted, &address);
    (void)cordon_address_text(wanted, true, text);
    int fd = socket(wanted->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    proxy->listen_fd = fd;
    if (fd < 0 || set_options(fd, wanted->family) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "socket for %s", text);
    if (bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, BACKLOG) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "listen on %s", text);
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "getsockname of %s", text);
    *ret_bound = cordon_address_from_socket((struct sockaddr *)&address);
    proxy->accept_timer.token = CORDON_TOKEN(CORDON_SOURCE_LISTEN, 0);
    return watch(proxy, EPOLL_CTL_ADD) == 0 ? 0 : CORDON_FAIL_ERRNO(err, errno, "epoll_ctl");
}

static void admit(cordon_proxy *proxy, int fd)
{
    if (cordon_request_too_many(proxy)) {
        cordon_request_turn_away(proxy, fd, CORDON_REASON_REFUSAL_LIMIT);
        return;
    }
    cordon_conn *conn = cordon_conn_new(proxy, fd, false);
    if (!conn) {
        cordon_request_turn_away(proxy, fd, CORDON_REASON_CONNECTION_LIMIT);
        return;
    }
    if (cordon_conn_watch(proxy, conn, CORDON_CLIENT, false) != 0) {
        cordon_conn_close(proxy, conn, CORDON_REASON_NO_RESOURCES);
        return;
    }
    cordon_conn_deadline(proxy, conn, proxy->batch_ns + proxy->options->head_ms * NS_PER_MS);
}

/* The clients stay in the kernel's queue, which is bounded; asking again at once would spin. */
static void pause_accepting(cordon_proxy *proxy)
{
    (void)watch(proxy, EPOLL_CTL_DEL);
    cordon_timers_set(&proxy->timers, &proxy->accept_timer, proxy->batch_ns + PAUSE_NS);
}

void cordon_listen_accept(cordon_proxy *proxy)
{
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = accept4(proxy->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(proxy, fd);
            continue;
        }
        /* accept(2): errors of the new connection itself are to be taken like EAGAIN. */
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(proxy);
        return;
    }
}

void cordon_listen_resume(cordon_proxy *proxy)
{
    if (watch(proxy, EPOLL_CTL_ADD) != 0)
        cordon_timers_set(&proxy->timers, &proxy->accept_timer, proxy->batch_ns + PAUSE_NS);
}

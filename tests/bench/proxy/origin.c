/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server behind the proxies: takes a tunnel's first bytes and does what their order says
 * (wire.h). One thread, epoll; no TLS, since no proxy here looks past the ClientHello.
 *
 *   bench_proxy_origin PORT
 *
 * Listens on both loopback addresses, so that nobody's look-up of "localhost" matters.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

#define FDS_MAX    32768
#define EVENTS_MAX 64
/* Writes and reads of one tunnel's bulk data before the others get their turn. */
#define TURN 16

/* got: bytes of the beginning, then of the request that is not whole yet. */
typedef struct tunnel {
    uint32_t got;
    char order; /* 0: not known yet */
} tunnel;

typedef struct origin {
    int epoll_fd;
    int listeners[2];
    tunnel tunnels[FDS_MAX];
    char bytes[WIRE_BULK_BYTES];
} origin;

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static void watch(const origin *o, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

static int listen_on(int family, uint16_t port)
{
    const struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int one = 1;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        die("socket");
    int rc = family == AF_INET ? bind(fd, (const struct sockaddr *)&v4, sizeof v4)
                               : bind(fd, (const struct sockaddr *)&v6, sizeof v6);
    if (rc != 0 || listen(fd, 4096) != 0)
        die("listen");
    return fd;
}

static void take_clients(origin *o, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= FDS_MAX)
            die("too many tunnels");
        o->tunnels[fd] = (tunnel){0};
        watch(o, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
    }
}

static void put(int fd, const void *bytes, size_t length)
{
    (void)send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The order has come: what it wants at once. */
static void obey(origin *o, int fd, char order)
{
    struct epoll_event both = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    o->tunnels[fd] = (tunnel){.order = order};
    if (order == WIRE_ONCE || order == WIRE_ECHO)
        put(fd, &order, 1);
    else if (order == WIRE_BULK)
        (void)epoll_ctl(o->epoll_fd, EPOLL_CTL_MOD, fd, &both);
}

/* @return false when the tunnel is over */
static bool begin(origin *o, int fd)
{
    tunnel *t = &o->tunnels[fd];
    ssize_t got = recv(fd, o->bytes, WIRE_FIRST_BYTES - t->got, MSG_DONTWAIT);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    t->got += (uint32_t)got;
    if (t->got == WIRE_FIRST_BYTES)
        obey(o, fd, o->bytes[got - 1]);
    return true;
}

static bool answer_pings(origin *o, int fd)
{
    tunnel *t = &o->tunnels[fd];
    ssize_t got = recv(fd, o->bytes, sizeof o->bytes, MSG_DONTWAIT);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    for (t->got += (uint32_t)got; t->got >= WIRE_PING_BYTES; t->got -= WIRE_PING_BYTES)
        put(fd, o->bytes, WIRE_PONG_BYTES);
    return true;
}

/* MSG_TRUNC drops bytes without copying them: what is measured is the proxy. */
static bool pump(origin *o, int fd)
{
    ssize_t got = 1;
    ssize_t put_bytes = 1;
    for (int i = 0; i < TURN && (got > 0 || put_bytes > 0); i++) {
        got = recv(fd, NULL, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);
        put_bytes = send(fd, o->bytes, sizeof o->bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EPIPE))
            return false;
    }
    struct epoll_event again = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    if (got > 0 || put_bytes > 0) /* a new edge for what is left */
        (void)epoll_ctl(o->epoll_fd, EPOLL_CTL_MOD, fd, &again);
    return true;
}

static bool echo(origin *o, int fd)
{
    ssize_t got = recv(fd, o->bytes, sizeof o->bytes, MSG_DONTWAIT);
    if (got > 0)
        put(fd, o->bytes, (size_t)got);
    return got > 0 || (got < 0 && errno == EAGAIN);
}

static bool serve(origin *o, int fd)
{
    switch (o->tunnels[fd].order) {
    case 0:
        return begin(o, fd);
    case WIRE_PING:
        return answer_pings(o, fd);
    case WIRE_BULK:
        return pump(o, fd);
    case WIRE_ECHO:
        return echo(o, fd);
    default:
        return recv(fd, o->bytes, sizeof o->bytes, MSG_DONTWAIT) > 0;
    }
}

static void on_tunnel(origin *o, int fd, uint32_t events)
{
    bool alive = serve(o, fd);
    /* The end may have come in the same event as bytes. */
    if (alive && o->tunnels[fd].order != WIRE_BULK && events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        alive = serve(o, fd);
    if (!alive || events & EPOLLERR)
        (void)close(fd);
}

static void batch(origin *o)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(o->epoll_fd, events, EVENTS_MAX, -1);
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        if (fd == o->listeners[0] || fd == o->listeners[1])
            take_clients(o, fd);
        else
            on_tunnel(o, fd, events[i].events);
    }
}

int main(int argc, char **argv)
{
    static origin o;
    struct rlimit files;
    if (argc != 2)
        return 2;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    o.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    o.listeners[0] = listen_on(AF_INET, port);
    o.listeners[1] = listen_on(AF_INET6, port);
    watch(&o, o.listeners[0], EPOLLIN);
    watch(&o, o.listeners[1], EPOLLIN);
    for (;;)
        batch(&o);
}

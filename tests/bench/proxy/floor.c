/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a CONNECT proxy can do, to measure the real one against: takes a head up to its
 * empty line, connects to one fixed address, answers 200, and relays - copying small reads and
 * splicing bulk, as the proxy does. No policy, no name, no check, no timer, no log. libc-only,
 * built static like the guard.
 *
 *   bench_proxy_floor PORT UPSTREAM_PORT
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK      16384
#define PIPE_BYTES 65536
#define EVENTS_MAX 64
#define FDS_MAX    32768
#define TURN_MOVES 16
#define PIPES_KEPT 32

enum { READABLE = 1, WRITABLE = 2, ENDED = 4, BULK = 8, SHUT = 16, ASKED = 32, HANGUP = 64 };

/* One socket, known by its number; `peer` is the tunnel's other end and `ends` its pipe, 0 for
 * none. */
typedef struct side {
    int peer;
    int ends[2];
    uint32_t pending;
    uint8_t bits;
    bool is_upstream;
    bool open; /* the tunnel is established */
    bool used;
} side;

typedef struct relay {
    int epoll_fd;
    int listen_fd;
    struct sockaddr_in upstream;
    int pool[PIPES_KEPT][2];
    int pooled;
    int dead[2 * EVENTS_MAX];
    int dead_count;
    side *sides;
    char bytes[CHUNK];
} relay;

static bool watch(const relay *r, int fd, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET | EPOLLRDHUP, .data.fd = fd};
    return epoll_ctl(r->epoll_fd, operation, fd, &event) == 0;
}

static void give_pipe(relay *r, side *s)
{
    if (s->ends[0] == 0)
        return;
    if (s->pending == 0 && r->pooled < PIPES_KEPT) {
        memcpy(r->pool[r->pooled++], s->ends, sizeof s->ends);
    } else {
        (void)close(s->ends[0]);
        (void)close(s->ends[1]);
    }
    s->ends[0] = s->ends[1] = 0;
    s->pending = 0;
}

static bool take_pipe(relay *r, side *s)
{
    if (s->ends[0] != 0)
        return true;
    if (r->pooled > 0) {
        memcpy(s->ends, r->pool[--r->pooled], sizeof s->ends);
        return true;
    }
    return pipe2(s->ends, O_CLOEXEC | O_NONBLOCK) == 0;
}

/* Closed at the end of the batch, which may hold more events for the number. */
static void kill_side(relay *r, int fd)
{
    side *s = &r->sides[fd];
    if (!s->used)
        return;
    s->used = false;
    give_pipe(r, s);
    r->dead[r->dead_count++] = fd;
}

static void kill_both(relay *r, int fd)
{
    int peer = r->sides[fd].peer;
    kill_side(r, fd);
    if (peer > 0)
        kill_side(r, peer);
}

static void blocked(relay *r, int fd)
{
    side *s = &r->sides[fd];
    s->bits &= (uint8_t)~WRITABLE;
    if (s->bits & ASKED)
        return;
    s->bits |= ASKED;
    (void)watch(r, fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

/* 1 moved something, 0 nothing to do, -1 broken */
static int copy(relay *r, int fd)
{
    side *s = &r->sides[fd];
    ssize_t got = recv(fd, r->bytes, CHUNK, MSG_DONTWAIT);
    if (got < 0) {
        s->bits &= (uint8_t)~READABLE;
        return errno == EAGAIN ? 0 : -1;
    }
    if (got == 0) {
        s->bits |= ENDED;
        return 1;
    }
    if (got == CHUNK)
        s->bits |= BULK;
    else if (!(s->bits & HANGUP))
        s->bits &= (uint8_t)~READABLE;
    ssize_t sent = send(s->peer, r->bytes, (size_t)got, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN)
        return -1;
    if (sent < 0)
        sent = 0;
    if (sent == got)
        return 1;
    blocked(r, s->peer);
    if (!take_pipe(r, s) ||
        write(s->ends[1], r->bytes + sent, (size_t)(got - sent)) != (ssize_t)(got - sent))
        return -1;
    s->pending = (uint32_t)(got - sent);
    return 1;
}

static int fill(relay *r, int fd)
{
    side *s = &r->sides[fd];
    if (!take_pipe(r, s))
        return copy(r, fd);
    ssize_t got = splice(fd, NULL, s->ends[1], NULL, PIPE_BYTES, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (got < 0) {
        s->bits &= (uint8_t)~READABLE;
        return errno == EAGAIN ? 0 : -1;
    }
    if (got == 0)
        s->bits |= ENDED;
    else if (got < CHUNK)
        s->bits &= (uint8_t)~BULK;
    s->pending += (uint32_t)got;
    return 1;
}

static int drain(relay *r, int fd)
{
    side *s = &r->sides[fd];
    if (!(r->sides[s->peer].bits & WRITABLE))
        return 0;
    ssize_t sent =
        splice(s->ends[0], NULL, s->peer, NULL, s->pending, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent <= 0) {
        blocked(r, s->peer);
        return sent < 0 && errno == EAGAIN ? 0 : -1;
    }
    s->pending -= (uint32_t)sent;
    return 1;
}

static int move(relay *r, int fd)
{
    side *s = &r->sides[fd];
    side *to = &r->sides[s->peer];
    if (s->pending > 0)
        return drain(r, fd);
    if (s->bits & ENDED) {
        if (!(to->bits & SHUT))
            (void)shutdown(s->peer, SHUT_WR);
        to->bits |= SHUT;
        return 0;
    }
    if (!(s->bits & READABLE) || !(to->bits & WRITABLE))
        return 0;
    if (s->bits & BULK)
        return fill(r, fd);
    give_pipe(r, s);
    return copy(r, fd);
}

static int run(relay *r, int fd)
{
    int result = 1;
    for (int i = 0; i < TURN_MOVES && result > 0; i++)
        result = move(r, fd);
    if (result == 0 && r->sides[fd].pending == 0)
        give_pipe(r, &r->sides[fd]);
    if (result > 0) /* a new edge for what is left */
        (void)watch(r, fd, EPOLL_CTL_MOD, EPOLLIN | (r->sides[fd].bits & ASKED ? EPOLLOUT : 0));
    return result;
}

static void relay_both(relay *r, int fd)
{
    int peer = r->sides[fd].peer;
    if (run(r, fd) < 0 || run(r, peer) < 0 ||
        (r->sides[fd].bits & SHUT && r->sides[peer].bits & SHUT))
        kill_both(r, fd);
}

static void admit(relay *r)
{
    int fd;
    while ((fd = accept4(r->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        r->sides[fd] = (side){.bits = WRITABLE, .used = true};
        (void)watch(r, fd, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void dial(relay *r, int client)
{
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        kill_side(r, client);
        return;
    }
    r->sides[fd] = (side){.peer = client, .bits = ASKED, .is_upstream = true, .used = true};
    r->sides[client].peer = fd;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if ((connect(fd, (struct sockaddr *)&r->upstream, sizeof r->upstream) != 0 &&
         errno != EINPROGRESS) ||
        !watch(r, fd, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT))
        kill_both(r, client);
}

/* Looks at the bytes and takes exactly the head, so that what follows stays for the tunnel. */
static void take_head(relay *r, int fd)
{
    ssize_t got = recv(fd, r->bytes, 8192, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    char *end = got > 0 ? memmem(r->bytes, (size_t)got, "\r\n\r\n", 4) : NULL;
    if (got <= 0 || got == 8192) {
        kill_side(r, fd);
        return;
    }
    if (!end)
        return;
    ssize_t length = end + 4 - r->bytes;
    (void)recv(fd, r->bytes, (size_t)length, MSG_DONTWAIT);
    if (length == got)
        r->sides[fd].bits &= (uint8_t)~READABLE;
    dial(r, fd);
}

static void established(relay *r, int fd)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\n\r\n";
    int client = r->sides[fd].peer;
    r->sides[fd].open = r->sides[client].open = true;
    (void)send(client, ok, sizeof ok - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    relay_both(r, client);
}

static void on_event(relay *r, int fd, uint32_t events)
{
    side *s = &r->sides[fd];
    if (!s->used)
        return;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
        s->bits |= READABLE;
    if (events & EPOLLRDHUP)
        s->bits |= HANGUP;
    if (events & EPOLLOUT)
        s->bits |= WRITABLE;
    if (events & EPOLLERR)
        kill_both(r, fd);
    else if (s->open)
        relay_both(r, fd);
    else if (!s->is_upstream && s->peer == 0)
        take_head(r, fd);
    else if (s->is_upstream && events & EPOLLOUT)
        established(r, fd);
}

static void batch(relay *r)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(r->epoll_fd, events, EVENTS_MAX, -1);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == r->listen_fd)
            admit(r);
        else
            on_event(r, events[i].data.fd, events[i].events);
    }
    for (int i = 0; i < r->dead_count; i++)
        (void)close(r->dead[i]);
    r->dead_count = 0;
}

static struct sockaddr_in loopback(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

int main(int argc, char **argv)
{
    static relay r;
    static side sides[FDS_MAX];
    int one = 1;
    struct rlimit files = {FDS_MAX, FDS_MAX};
    if (argc != 3)
        return 2;
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < FDS_MAX ? files.rlim_max : FDS_MAX;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)signal(SIGPIPE, SIG_IGN); /* splice(2) has no MSG_NOSIGNAL */
    struct sockaddr_in address = loopback(argv[1]);
    r.sides = sides;
    r.upstream = loopback(argv[2]);
    r.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    r.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)setsockopt(r.listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    (void)setsockopt(r.listen_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(r.listen_fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(r.listen_fd, 1024) != 0 || !watch(&r, r.listen_fd, EPOLL_CTL_ADD, EPOLLIN))
        return 1;
    for (;;)
        batch(&r);
}

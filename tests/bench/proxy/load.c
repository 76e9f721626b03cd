/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load: operations through a proxy, counted for a while, with the CPU time that the proxy used
 * for them.
 *
 *   bench_proxy_load MODE --port PORT [OPTION VALUE]... [-- COMMAND...]
 *
 * handshake  connect, CONNECT, 200, hello, one byte from the origin, close
 * open       connect, CONNECT, 200, close
 * refuse     connect, CONNECT, the refusal, close
 * ping       on tunnels that are open: a small request, a larger answer
 * bulk       on tunnels that are open: both ways, as much as goes
 * idle       tunnels that do nothing
 * start      the command is started and asked until the first 200
 *
 * Prints "operations failed seconds cpu_us p50_us p99_us"; bulk counts bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"
#include "proc.h"

#define AT_ONCE_MAX 1024
#define SAMPLES_MAX 2000000
#define EVENTS_MAX  64
#define TURN        16

typedef enum load_mode { MODE_HANDSHAKE, MODE_OPEN, MODE_REFUSE, MODE_PING, MODE_BULK } load_mode;

/* One operation under way, known by its place in the table. */
typedef struct operation {
    int fd;
    bool established;
    uint32_t got;
    int64_t since_ns;
} operation;

typedef struct load {
    const load_options *options;
    load_mode mode;
    int epoll_fd;
    uint64_t done;
    uint64_t failed;
    char request[512];
    size_t request_length;
    size_t samples;
    uint32_t *latency_ns;
    operation operations[AT_ONCE_MAX];
    char bytes[WIRE_BULK_BYTES];
} load;

static void sample(load *l, const operation *op)
{
    if (l->samples < SAMPLES_MAX)
        l->latency_ns[l->samples++] = (uint32_t)(wire_now_ns() - op->since_ns);
}

static bool put(int fd, const void *bytes, size_t length)
{
    return send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static bool send_first(load *l, const operation *op)
{
    memcpy(l->bytes, wire_hello, WIRE_HELLO_BYTES);
    l->bytes[WIRE_HELLO_BYTES] = WIRE_ONCE;
    return put(op->fd, l->bytes, WIRE_FIRST_BYTES);
}

static void watch(load *l, operation *op, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET,
                                .data.u32 = (uint32_t)(op - l->operations)};
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, op->fd, &event) != 0)
        load_die("epoll_ctl");
}

static void begin(load *l, operation *op)
{
    *op = (operation){.since_ns = wire_now_ns()};
    op->fd = load_connect(l->options);
    if (op->fd < 0)
        load_die("connect");
    op->established = l->options->direct;
    if (op->established ? !send_first(l, op) : !put(op->fd, l->request, l->request_length))
        l->failed++;
    watch(l, op, EPOLLIN);
}

static void end(load *l, operation *op, bool ok)
{
    l->done += ok;
    l->failed += !ok;
    sample(l, op);
    (void)close(op->fd);
    op->fd = -1;
    begin(l, op);
}

/* Bytes of the answer; the end of its head makes the tunnel. */
static void on_answer(load *l, operation *op, const char *text, size_t length)
{
    bool is_200 = length > 12 && memcmp(text + 8, " 200", 4) == 0;
    if (l->mode == MODE_REFUSE) {
        end(l, op, length > 12 && !is_200);
        return;
    }
    if (!is_200 || memcmp(text + length - 4, "\r\n\r\n", 4) != 0) {
        end(l, op, false);
        return;
    }
    op->established = true;
    if (l->mode == MODE_OPEN)
        end(l, op, true);
    else if (!send_first(l, op))
        end(l, op, false);
}

static void on_bytes(load *l, operation *op)
{
    ssize_t got = recv(op->fd, l->bytes, sizeof l->bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        end(l, op, false);
    else if (op->established)
        end(l, op, true);
    else
        on_answer(l, op, l->bytes, (size_t)got);
}

static void ping(load *l, operation *op)
{
    op->got = 0;
    op->since_ns = wire_now_ns();
    if (!put(op->fd, l->bytes, WIRE_PING_BYTES))
        load_die("ping");
}

static void on_pong(load *l, operation *op)
{
    ssize_t got = recv(op->fd, l->bytes, sizeof l->bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        l->failed++;
        return;
    }
    op->got += (uint32_t)got;
    if (op->got < WIRE_PONG_BYTES)
        return;
    l->done++;
    sample(l, op);
    ping(l, op);
}

/* Both ways until neither goes; then the next edge. */
static void on_bulk(load *l, operation *op)
{
    ssize_t in = 1;
    ssize_t out = 1;
    for (int i = 0; i < TURN && (in > 0 || out > 0); i++) {
        in = recv(op->fd, NULL, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);
        out = send(op->fd, l->bytes, sizeof l->bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        l->done += in > 0 ? (uint64_t)in : 0;
        l->done += out > 0 ? (uint64_t)out : 0;
        l->failed += in == 0;
    }
    struct epoll_event again = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.u32 = (uint32_t)(op - l->operations)};
    if (in > 0 || out > 0)
        (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, op->fd, &again);
}

static void on_event(load *l, operation *op)
{
    if (op->fd < 0)
        return;
    if (l->mode == MODE_PING)
        on_pong(l, op);
    else if (l->mode == MODE_BULK)
        on_bulk(l, op);
    else
        on_bytes(l, op);
}

static void open_tunnel(load *l, operation *op)
{
    op->fd = load_tunnel(l->options, l->mode == MODE_BULK ? WIRE_BULK : WIRE_PING);
    if (op->fd < 0)
        load_die("no tunnel");
    watch(l, op, l->mode == MODE_BULK ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static bool needs_tunnels(const load *l)
{
    return l->mode == MODE_PING || l->mode == MODE_BULK;
}

static void open_all(load *l)
{
    for (unsigned i = 0; i < l->options->at_once; i++)
        open_tunnel(l, &l->operations[i]);
}

static void begin_all(load *l)
{
    for (unsigned i = 0; i < l->options->at_once; i++) {
        if (!needs_tunnels(l))
            begin(l, &l->operations[i]);
        else if (l->mode == MODE_PING)
            ping(l, &l->operations[i]);
    }
}

static void turn(load *l, int wait_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(l->epoll_fd, events, EVENTS_MAX, wait_ms);
    for (int i = 0; i < count; i++)
        on_event(l, &l->operations[events[i].data.u32]);
}

static int by_size(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static double percentile(const load *l, unsigned percent)
{
    return l->samples == 0 ? 0 : l->latency_ns[(l->samples - 1) * percent / 100] / 1000.0;
}

/* What is under way when the time is over is not counted. */
static int run(load *l)
{
    l->latency_ns = malloc(SAMPLES_MAX * sizeof *l->latency_ns);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    l->request_length = load_request(l->options, l->request, sizeof l->request);
    if (!l->latency_ns || l->options->at_once > AT_ONCE_MAX)
        load_die("memory");
    if (needs_tunnels(l))
        open_all(l);
    proc_tree tree = l->options->pid > 0 ? proc_tree_of(l->options->pid) : (proc_tree){0};
    int64_t cpu_ns = proc_cpu_ns(&tree);
    int64_t begin_ns = wire_now_ns();
    begin_all(l);
    int64_t end_ns = begin_ns + (int64_t)(l->options->seconds * 1e9);
    while (wire_now_ns() < end_ns)
        turn(l, 10);
    cpu_ns = proc_cpu_ns(&tree) - cpu_ns;
    double seconds = (double)(wire_now_ns() - begin_ns) / 1e9;
    qsort(l->latency_ns, l->samples, sizeof *l->latency_ns, by_size);
    (void)printf("%llu %llu %.3f %lld %.1f %.1f\n", (unsigned long long)l->done,
                 (unsigned long long)l->failed, seconds, (long long)(cpu_ns / 1000),
                 percentile(l, 50), percentile(l, 99));
    return 0;
}

static int load_run(const load_options *options, load_mode mode)
{
    static load l;
    l.options = options;
    l.mode = mode;
    return run(&l);
}

static void set_option(load_options *options, const char *name, const char *value)
{
    if (strcmp(name, "--port") == 0)
        options->proxy.sin_port = htons((uint16_t)strtoul(value, NULL, 10));
    else if (strcmp(name, "--target") == 0)
        options->target = value;
    else if (strcmp(name, "--direct") == 0)
        options->direct = value[0] == 'y';
    else if (strcmp(name, "--pid") == 0)
        options->pid = (pid_t)strtol(value, NULL, 10);
    else if (strcmp(name, "--seconds") == 0)
        options->seconds = strtod(value, NULL);
    else if (strcmp(name, "--at-once") == 0)
        options->at_once = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "--cpu") == 0)
        options->cpu = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--input") == 0)
        options->input = value;
    else
        exit(2);
}

static int dispatch(const load_options *options, const char *mode)
{
    static const char *const names[] = {"handshake", "open", "refuse", "ping", "bulk"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(mode, names[i]) == 0)
            return load_run(options, (load_mode)i);
    }
    if (strcmp(mode, "idle") == 0)
        return load_idle(options);
    return strcmp(mode, "start") == 0 && options->command ? load_start(options) : 2;
}

int main(int argc, char **argv)
{
    load_options options = {
        .proxy = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}},
        .target = WIRE_HOST ":443",
        .seconds = 1,
        .at_once = 32,
        .cpu = -1,
    };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    int i = 2;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
        set_option(&options, argv[i], argv[i + 1]);
    if (i < argc)
        options.command = argv + i + 1;
    return argc < 2 ? 2 : dispatch(&options, argv[1]);
}

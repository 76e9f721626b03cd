/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's test rig; see proxy_rig.h.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proxy/serve.h"
#include "proxy/setup.h"
#include "support/parent_of.h"
#include "support/proxy_rig.h"

#define CONNECT_OK "CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n"

/* In sanitizer builds the child's leaks are found, too. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static size_t played_lookup(const char *name, cordon_address *ret, size_t max)
{
    static const cordon_address private[] = {
        {.family = AF_INET, .bytes = {10, 0, 0, 5}},
        {.family = AF_INET6, .bytes = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1}},
    };
    if (strcmp(name, "private.test.") == 0 && max >= 2) {
        memcpy(ret, private, sizeof private);
        return 2;
    }
    if (strcmp(name, "slow.test.") == 0)
        (void)pause();
    if (strcmp(name, "crash.test.") == 0)
        (void)raise(SIGKILL);
    return 0;
}

static int listen_on_loopback(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 512) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return -1;
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static bool pin(proxy_rig *rig, const char *host, uint16_t port)
{
    char map[128];
    if (cordon_policy_allow(&rig->options.policy, host, NULL) != 0)
        return false;
    if (port == 0)
        return true;
    (void)snprintf(map, sizeof map, "%s=127.0.0.1:%u", host, port);
    return cordon_policy_map(&rig->options.policy, map, NULL) == 0;
}

bool rig_prepare(proxy_rig *rig)
{
    uint16_t port = 0;
    uint16_t closed_port = 0;
    memset(rig, 0, sizeof *rig);
    rig->log_fd = -1;
    rig->upstream = listen_on_loopback(&port);
    int closed = listen_on_loopback(&closed_port);
    (void)close(closed);
    (void)signal(SIGPIPE, SIG_IGN);
    if (rig->upstream < 0)
        return false;
    rig->options = (cordon_proxy_options){
        .listen = {.family = AF_INET, .bytes = {127, 0, 0, 1}},
        .head_ms = 10000,
        .connect_ms = 15000,
        .hello_ms = 15000,
        .max_tunnels = 512,
    };
    return pin(rig, "ok.test", port) && pin(rig, "down.test", closed_port) &&
           pin(rig, "private.test", 0) && pin(rig, "empty.test", 0) && pin(rig, "slow.test", 0) &&
           pin(rig, "crash.test", 0);
}

/* As cordon_proxy_serve does it. */
static int serve(proxy_rig *rig, cordon_err *err)
{
    const cordon_proxy_place place = {.look_up = played_lookup, .owner_fd = -1};
    if (!rig->arrange)
        return cordon_proxy_serve(&rig->options, &place, err);
    cordon_proxy *proxy = calloc(1, sizeof *proxy);
    int result = -1;
    if (proxy && cordon_setup_init(proxy, &rig->options, &place, err) == 0) {
        rig->arrange(proxy, rig->context);
        result = cordon_proxy_loop(proxy, err);
    }
    cordon_setup_clear(proxy);
    free(proxy);
    return result;
}

_Noreturn void rig_exit(int status)
{
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0)
        status = 98;
    _exit(status);
}

static _Noreturn void child(proxy_rig *rig, const int *ends)
{
    cordon_err err = CORDON_ERR_INIT;
    struct rlimit files = {.rlim_cur = rig->files, .rlim_max = rig->files};
    (void)dup2(ends[1], STDOUT_FILENO);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(rig->upstream);
    if (rig->files > 0 && setrlimit(RLIMIT_NOFILE, &files) != 0)
        _exit(99);
    if (rig->begin)
        rig->begin(rig);
    int status = serve(rig, &err) == 0 ? 0 : 71;
    if (status != 0)
        (void)fprintf(stderr, "proxy: %s\n", err.message);
    rig_exit(status);
}

bool rig_start(proxy_rig *rig)
{
    int ends[2];
    rig->log = calloc(1, RIG_LOG_MAX);
    if (!rig->log || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    (void)fflush(stdout);
    rig->proxy = fork();
    if (rig->proxy == 0)
        child(rig, ends);
    (void)close(ends[1]);
    rig->log_fd = ends[0];
    (void)fcntl(rig->log_fd, F_SETFL, O_NONBLOCK);
    if (rig->proxy < 0 || !rig_log_has(rig, "\"event\":\"ready\""))
        return false;
    const char *listen = strstr(rig->log, "\"listen\":\"127.0.0.1:");
    rig->port = listen ? (uint16_t)strtoul(listen + 20, NULL, 10) : 0;
    return rig->port != 0;
}

bool rig_run(proxy_rig *rig)
{
    return rig_prepare(rig) && rig_start(rig);
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads what is there; false at the end of the log. */
static bool read_log(proxy_rig *rig, int wait_ms)
{
    struct pollfd ready = {.fd = rig->log_fd, .events = POLLIN};
    if (poll(&ready, 1, wait_ms) <= 0)
        return true;
    ssize_t got = read(rig->log_fd, rig->log + rig->log_length, RIG_LOG_MAX - 1 - rig->log_length);
    if (got > 0)
        rig->log_length += (size_t)got;
    return got > 0 || (got < 0 && errno == EAGAIN);
}

bool rig_log_has(proxy_rig *rig, const char *part)
{
    int64_t end_ms = now_ms() + RIG_WAIT_MS;
    while (!strstr(rig->log, part)) {
        if (!read_log(rig, 50) || now_ms() > end_ms)
            return strstr(rig->log, part) != NULL;
    }
    return true;
}

size_t rig_log_count(const proxy_rig *rig, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(rig->log, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

int rig_stop(proxy_rig *rig)
{
    int status = 0;
    int64_t end_ms = now_ms() + RIG_WAIT_MS;
    if (kill(rig->proxy, SIGTERM) != 0)
        return -1;
    while (read_log(rig, 50) && now_ms() < end_ms)
        continue;
    if (now_ms() >= end_ms)
        (void)kill(rig->proxy, SIGKILL);
    if (waitpid(rig->proxy, &status, 0) != rig->proxy)
        return -1;
    rig->proxy = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void rig_clear(proxy_rig *rig)
{
    if (rig->proxy > 0) {
        (void)kill(rig->proxy, SIGKILL);
        (void)waitpid(rig->proxy, NULL, 0);
    }
    if (rig->upstream >= 0)
        (void)close(rig->upstream);
    if (rig->log_fd >= 0)
        (void)close(rig->log_fd);
    free(rig->log);
}

size_t rig_children(const proxy_rig *rig)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *one = proc ? readdir(proc) : NULL; one; one = readdir(proc)) {
        if (one->d_name[0] < '1' || one->d_name[0] > '9')
            continue;
        char resolver[32];
        (void)snprintf(resolver, sizeof resolver, "%d", (int)parent_of(one->d_name));
        /* The resolver itself stays; its children are the look-ups. */
        if (parent_of(resolver) == rig->proxy)
            count++;
    }
    if (proc)
        (void)closedir(proc);
    return count;
}

/* A resolver that has answered takes a moment to go, and the proxy one to see it. */
bool rig_has_no_children(const proxy_rig *rig)
{
    for (int ms = 0; ms < RIG_WAIT_MS; ms += 10) {
        if (rig_children(rig) == 0)
            return true;
        (void)usleep(10000);
    }
    return false;
}

static void bound(int fd)
{
    struct timeval wait = {.tv_sec = RIG_WAIT_MS / 1000};
    int one = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int rig_client(const proxy_rig *rig)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(rig->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bound(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

int rig_accept(const proxy_rig *rig)
{
    struct pollfd ready = {.fd = rig->upstream, .events = POLLIN};
    if (poll(&ready, 1, RIG_WAIT_MS) <= 0)
        return -1;
    int fd = accept4(rig->upstream, NULL, NULL, SOCK_CLOEXEC);
    bound(fd);
    return fd;
}

bool rig_was_dialled(const proxy_rig *rig)
{
    struct pollfd ready = {.fd = rig->upstream, .events = POLLIN};
    return poll(&ready, 1, 0) > 0;
}

bool rig_send(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

bool rig_send_text(int fd, const char *text)
{
    return rig_send(fd, text, strlen(text));
}

bool rig_receive(int fd, void *bytes, size_t length)
{
    char *at = bytes;
    while (length > 0) {
        ssize_t got = recv(fd, at, length, 0);
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

size_t rig_receive_all(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length + 1 < size) {
        got = recv(fd, text + length, size - 1 - length, 0);
        if (got > 0)
            length += (size_t)got;
    }
    text[length] = '\0';
    return length;
}

bool rig_receive_head(int fd, char *text, size_t size)
{
    size_t length = 0;
    while (length + 1 < size && recv(fd, text + length, 1, 0) == 1) {
        text[++length] = '\0';
        if (length >= 4 && memcmp(text + length - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    text[length] = '\0';
    return false;
}

bool rig_is_closed(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

bool rig_is_quiet(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 50) == 0;
}

int rig_tunnel(const proxy_rig *rig)
{
    char head[256] = "";
    int fd = rig_client(rig);
    if (fd >= 0 && rig_send_text(fd, CONNECT_OK) && rig_receive_head(fd, head, sizeof head) &&
        strcmp(head, "HTTP/1.1 200 Connection established\r\n\r\n") == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool rig_open(const proxy_rig *rig, int *ret_client, int *ret_upstream)
{
    static hello_bytes hello;
    static uint8_t got[HELLO_MAX];
    hello_for(&hello, "ok.test");
    *ret_client = rig_tunnel(rig);
    *ret_upstream = *ret_client >= 0 ? rig_accept(rig) : -1;
    return *ret_upstream >= 0 && rig_send(*ret_client, hello.data, hello.length) &&
           rig_receive(*ret_upstream, got, hello.length) &&
           memcmp(got, hello.data, hello.length) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections and tunnels that are opened one after the other, blocking; see load.h.
 */
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

#define PATIENCE_S 20

void load_die(const char *what)
{
    perror(what);
    exit(1);
}

size_t load_request(const load_options *options, char *text, size_t size)
{
    int length = snprintf(text, size, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", options->target,
                          options->target);
    return (size_t)length;
}

int load_connect(const load_options *options)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        load_die("socket");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&options->proxy, sizeof options->proxy) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* An answer's head, byte by byte, since nothing after it may be taken. */
static bool take_answer(int fd)
{
    char head[4096];
    size_t length = 0;
    while (length + 1 < sizeof head && recv(fd, head + length, 1, 0) == 1) {
        head[++length] = '\0';
        if (length >= 4 && memcmp(head + length - 4, "\r\n\r\n", 4) == 0)
            return strncmp(head, "HTTP/1.", 7) == 0 && strncmp(head + 8, " 200", 4) == 0;
    }
    return false;
}

static bool establish(const load_options *options, int fd)
{
    char text[512];
    if (options->direct)
        return true;
    size_t length = load_request(options, text, sizeof text);
    return send(fd, text, length, MSG_NOSIGNAL) == (ssize_t)length && take_answer(fd);
}

static bool give_order(int fd, wire_order order)
{
    char first[WIRE_FIRST_BYTES];
    char answer;
    memcpy(first, wire_hello, WIRE_HELLO_BYTES);
    first[WIRE_HELLO_BYTES] = (char)order;
    if (send(fd, first, sizeof first, MSG_NOSIGNAL) != (ssize_t)sizeof first)
        return false;
    return order == WIRE_BULK || order == WIRE_PING || recv(fd, &answer, 1, 0) == 1;
}

int load_tunnel(const load_options *options, wire_order order)
{
    int fd = load_connect(options);
    if (fd < 0)
        return -1;
    if (establish(options, fd) && give_order(fd, order))
        return fd;
    (void)close(fd);
    return -1;
}

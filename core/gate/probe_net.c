/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded sockets for the probe. libc-only.
 */
#include "gate/probe_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit/cleanup.h"

#define ATTEMPTS_MAX 64

static int address_v6(const char *text, uint16_t port, cordon_endpoint_address *ret_address)
{
    char bare[INET6_ADDRSTRLEN];
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const char *percent = strchr(text, '%');
    size_t length = percent ? (size_t)(percent - text) : strlen(text);
    if (length >= sizeof bare)
        return -1;
    memcpy(bare, text, length);
    bare[length] = '\0';
    if (inet_pton(AF_INET6, bare, &v6.sin6_addr) != 1)
        return -1;
    if (percent)
        v6.sin6_scope_id = if_nametoindex(percent + 1);
    memcpy(&ret_address->storage, &v6, sizeof v6);
    ret_address->length = sizeof v6;
    return 0;
}

int cordon_net_address(const char *text, uint16_t port, cordon_endpoint_address *ret_address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    memset(ret_address, 0, sizeof *ret_address);
    if (strchr(text, ':'))
        return address_v6(text, port, ret_address);
    if (inet_pton(AF_INET, text, &v4.sin_addr) != 1)
        return -1;
    memcpy(&ret_address->storage, &v4, sizeof v4);
    ret_address->length = sizeof v4;
    return 0;
}

/* A refusal or reset is somebody's answer; unreachable, not permitted and silence are none. */
static cordon_reach reach_of(int errnum)
{
    if (errnum == 0)
        return CORDON_REACH_OPEN;
    return errnum == ECONNREFUSED || errnum == ECONNRESET ? CORDON_REACH_ANSWERED
                                                          : CORDON_REACH_BLOCKED;
}

static void settle(cordon_attempt *attempt, int errnum)
{
    attempt->errnum = errnum;
    attempt->reach = reach_of(errnum);
}

/* A socket that is connecting (or for UDP, connected), or -1 when the attempt is settled. */
static int begin(cordon_attempt *attempt, int type)
{
    cordon_endpoint_address address;
    if (cordon_net_address(attempt->address, attempt->port, &address) < 0) {
        attempt->errnum = EINVAL;
        attempt->reach = CORDON_REACH_UNKNOWN;
        return -1;
    }
    int fd = socket(address.storage.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        settle(attempt, errno);
        return -1;
    }
    if (connect(fd, (const struct sockaddr *)&address.storage, address.length) == 0 ||
        errno == EINPROGRESS)
        return fd;
    settle(attempt, errno);
    (void)close(fd);
    return -1;
}

static int socket_error(int fd)
{
    int errnum = 0;
    socklen_t length = sizeof errnum;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &length) < 0)
        return errno;
    return errnum;
}

static int datagram_error(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) >= 0 ? 0 : errno;
}

typedef int outcome_fn(int fd);

/* Polls all open sockets until each has an outcome or the time is up. */
static void await(cordon_attempt *attempts, int *fds, size_t count, short events,
                  outcome_fn *outcome)
{
    struct pollfd items[ATTEMPTS_MAX];
    cordon_deadline dl = cordon_deadline_in_ms(CORDON_PROBE_WAIT_MS, -1);
    size_t open = 1;
    while (open > 0 && !cordon_deadline_passed(dl)) {
        open = 0;
        for (size_t i = 0; i < count; i++) {
            items[i] = (struct pollfd){.fd = fds[i], .events = events};
            open += fds[i] >= 0 ? 1 : 0;
        }
        if (open == 0 || poll(items, (nfds_t)count, cordon_deadline_left_ms(dl)) <= 0)
            continue;
        for (size_t i = 0; i < count; i++)
            if (fds[i] >= 0 && items[i].revents) {
                settle(&attempts[i], outcome(fds[i]));
                (void)close(fds[i]);
                fds[i] = -1;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0) {
            settle(&attempts[i], ETIMEDOUT);
            (void)close(fds[i]);
        }
}

void cordon_net_tcp(cordon_attempt *attempts, size_t count)
{
    int fds[ATTEMPTS_MAX];
    size_t used = count < ATTEMPTS_MAX ? count : ATTEMPTS_MAX;
    for (size_t i = 0; i < used; i++)
        fds[i] = begin(&attempts[i], SOCK_STREAM);
    await(attempts, fds, used, POLLOUT, socket_error);
}

void cordon_net_udp(cordon_attempt *attempts, size_t count, const void *bytes, size_t length)
{
    int fds[ATTEMPTS_MAX];
    size_t used = count < ATTEMPTS_MAX ? count : ATTEMPTS_MAX;
    for (size_t i = 0; i < used; i++) {
        fds[i] = begin(&attempts[i], SOCK_DGRAM);
        if (fds[i] >= 0 && send(fds[i], bytes, length, 0) < 0) {
            settle(&attempts[i], errno);
            (void)close(fds[i]);
            fds[i] = -1;
        }
    }
    await(attempts, fds, used, POLLIN, datagram_error);
}

static const char *reach_text(const cordon_attempt *attempt)
{
    if (attempt->reach == CORDON_REACH_OPEN)
        return "open";
    if (attempt->reach == CORDON_REACH_UNKNOWN)
        return "not an address";
    return attempt->errnum == ETIMEDOUT ? "no answer" : strerror(attempt->errnum);
}

/* Does the detail have to name this attempt: it is the first, or differs from the one before. */
static bool is_news(const cordon_attempt *attempts, size_t i)
{
    return i == 0 || attempts[i].errnum != attempts[i - 1].errnum ||
           attempts[i].reach != attempts[i - 1].reach;
}

void cordon_net_found(const cordon_attempt *attempts, size_t count, cordon_reach allowed,
                      const char *reached, const char *blocked, cordon_found *found)
{
    char text[sizeof found->detail] = "";
    size_t used = 0;
    const char *got = blocked;
    for (size_t i = 0; i < count; i++) {
        bool bad = attempts[i].reach > allowed;
        if (attempts[i].reach == CORDON_REACH_UNKNOWN)
            got = "not-carried-out";
        else if (bad)
            got = reached;
        if ((bad || is_news(attempts, i)) && used < sizeof text - 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s port %u: %s",
                                     used > 0 ? "; " : "", attempts[i].address, attempts[i].port,
                                     reach_text(&attempts[i]));
    }
    cordon_found_set(found, got, "%s", text);
}

int cordon_net_connect(const char *address, uint16_t port, cordon_deadline dl)
{
    short ready = 0;
    cordon_err err = CORDON_ERR_INIT;
    cordon_attempt attempt = {.address = address, .port = port};
    cordon_autoclose int fd = begin(&attempt, SOCK_STREAM);
    errno = attempt.errnum;
    if (fd < 0)
        return -1;
    if (cordon_deadline_poll(dl, fd, POLLOUT, "connect", &ready, &err) < 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    errno = socket_error(fd);
    return errno == 0 ? cordon_take_fd(&fd) : -1;
}

int cordon_net_send(int fd, const void *bytes, size_t length, cordon_deadline dl)
{
    const char *at = bytes;
    while (length > 0) {
        short ready = 0;
        cordon_err err = CORDON_ERR_INIT;
        if (cordon_deadline_poll(dl, fd, POLLOUT, "send", &ready, &err) < 0)
            return -1;
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return -1;
        at += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

size_t cordon_net_receive(int fd, char *ret_text, size_t size, const char *stop, cordon_deadline dl)
{
    size_t have = 0;
    ret_text[0] = '\0';
    while (have < size - 1 && !(stop && strstr(ret_text, stop))) {
        short ready = 0;
        cordon_err err = CORDON_ERR_INIT;
        if (cordon_deadline_poll(dl, fd, POLLIN, "receive", &ready, &err) < 0)
            break;
        ssize_t got = recv(fd, ret_text + have, size - 1 - have, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        have += got > 0 ? (size_t)got : 0;
        ret_text[have] = '\0';
    }
    return have;
}

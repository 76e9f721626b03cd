/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a proxy of which one call fails: each tells whether it fared well, was cut off, or saw
 * what must not be - bytes that were not sent to it, an end or an answer that never came.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torture/torture_proxy.h"

#define BULK_BYTES (3 << 20)

outcome wrong(attempt *a, const char *why)
{
    if (!a->wrong)
        a->wrong = why;
    return WRONG;
}

/* A client that got nothing more: it must be the end of its connection, not of its patience. */
static outcome cut_short(attempt *a, const char *what)
{
    return errno == EAGAIN ? wrong(a, what) : CUT;
}

/* Exactly these bytes; fewer are a cut. */
static outcome expect(attempt *a, int fd, const void *bytes, size_t length)
{
    static char got[65536];
    size_t have = 0;
    while (have < length) {
        errno = 0;
        ssize_t count = recv(fd, got, length - have < sizeof got ? length - have : sizeof got, 0);
        if (count <= 0)
            return cut_short(a, "bytes that never came");
        if (memcmp(got, (const char *)bytes + have, (size_t)count) != 0)
            return wrong(a, "other bytes than were sent");
        have += (size_t)count;
    }
    return FINE;
}

static outcome expect_end(attempt *a, int fd)
{
    char byte;
    errno = 0;
    ssize_t count = recv(fd, &byte, 1, 0);
    if (count > 0)
        return wrong(a, "a byte where the end should be");
    return count == 0 ? FINE : cut_short(a, "an end that never came");
}

static outcome ask(attempt *a, const char *target, int *ret_client, char *answer, size_t size)
{
    char head[128];
    (void)snprintf(head, sizeof head, "CONNECT %s:443 HTTP/1.1\r\n\r\n", target);
    *ret_client = rig_client(&a->rig);
    errno = 0;
    if (*ret_client < 0 || !rig_send_text(*ret_client, head) ||
        !rig_receive_head(*ret_client, answer, size))
        return cut_short(a, "an answer that never came");
    return FINE;
}

/* 400 for a head that could not be read, 503 where something ran out. */
static bool is_refusal(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 4", 10) == 0 || strncmp(answer, "HTTP/1.1 50", 11) == 0;
}

static outcome open_tunnel(attempt *a, int *ret_client, int *ret_upstream)
{
    static hello_bytes hello;
    char answer[512] = "";
    hello_for(&hello, "ok.test");
    outcome got = ask(a, "ok.test", ret_client, answer, sizeof answer);
    if (got != FINE)
        return got;
    if (strncmp(answer, "HTTP/1.1 200 ", 13) != 0)
        return is_refusal(answer) ? CUT : wrong(a, "a strange answer");
    *ret_upstream = rig_accept(&a->rig);
    if (*ret_upstream < 0)
        return wrong(a, "200 without an upstream");
    return rig_send(*ret_client, hello.data, hello.length)
               ? expect(a, *ret_upstream, hello.data, hello.length)
               : CUT;
}

static void close_both(const int *ends)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            (void)close(ends[i]);
    }
}

/* What was dialled for a client that was cut off must have got nothing. */
static outcome settle(attempt *a, outcome got)
{
    while (rig_was_dialled(&a->rig)) {
        int fd = rig_accept(&a->rig);
        if (expect_end(a, fd) == WRONG)
            got = WRONG;
        (void)close(fd);
    }
    return got;
}

outcome tunnel(attempt *a)
{
    int ends[2] = {-1, -1};
    outcome got = open_tunnel(a, &ends[0], &ends[1]);
    if (got == FINE)
        got = rig_send(ends[1], "answer", 6) ? expect(a, ends[0], "answer", 6) : CUT;
    if (got == FINE && shutdown(ends[1], SHUT_WR) == 0)
        got = expect_end(a, ends[0]);
    close_both(ends);
    return settle(a, got);
}

outcome half_close(attempt *a)
{
    int ends[2] = {-1, -1};
    outcome got = open_tunnel(a, &ends[0], &ends[1]);
    if (got == FINE)
        got = shutdown(ends[0], SHUT_WR) == 0 ? expect_end(a, ends[1]) : CUT;
    if (got == FINE)
        got = rig_send(ends[1], "late", 4) ? expect(a, ends[0], "late", 4) : CUT;
    if (got == FINE && shutdown(ends[1], SHUT_WR) == 0)
        got = expect_end(a, ends[0]);
    close_both(ends);
    return settle(a, got);
}

outcome refused(attempt *a)
{
    int ends[2] = {-1, -1};
    char answer[512] = "";
    outcome got = ask(a, "evil.test", &ends[0], answer, sizeof answer);
    if (got == FINE && strncmp(answer, "HTTP/1.1 403 ", 13) != 0)
        got = is_refusal(answer) ? CUT : wrong(a, "a strange answer");
    close_both(ends);
    if (rig_was_dialled(&a->rig))
        return wrong(a, "a refused host was dialled");
    return got;
}

outcome looked_up(attempt *a)
{
    int ends[2] = {-1, -1};
    char answer[1024] = "";
    outcome got = ask(a, "private.test", &ends[0], answer, sizeof answer);
    if (got == FINE && !is_refusal(answer))
        got = wrong(a, "a strange answer");
    if (got == FINE) {
        (void)rig_receive_all(ends[0], answer, sizeof answer);
        got = strstr(answer, "(address_not_public)") ? FINE : CUT;
    }
    close_both(ends);
    return got;
}

/* Until the way is full, and then on while it is emptied. */
static outcome carry(attempt *a, int from, int to, const char *bytes)
{
    size_t sent = 0;
    size_t seen = 0;
    outcome got = FINE;
    while (got == FINE && seen < BULK_BYTES) {
        ssize_t count = 1;
        while (sent < BULK_BYTES && count > 0) {
            count = send(from, bytes + sent, BULK_BYTES - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            sent += count > 0 ? (size_t)count : 0;
        }
        size_t due = sent - seen < 65536 ? sent - seen : 65536;
        got = expect(a, to, bytes + seen, due > 0 ? due : 1);
        seen += due;
    }
    return got;
}

outcome bulk(attempt *a)
{
    static char bytes[BULK_BYTES];
    int ends[2] = {-1, -1};
    for (size_t i = 0; bytes[1] == 0 && i < BULK_BYTES; i++)
        bytes[i] = (char)(i * 2654435761U >> 13 | 1);
    outcome got = open_tunnel(a, &ends[0], &ends[1]);
    if (got == FINE)
        got = carry(a, ends[0], ends[1], bytes);
    if (got == FINE)
        got = carry(a, ends[1], ends[0], bytes);
    close_both(ends);
    return settle(a, got);
}

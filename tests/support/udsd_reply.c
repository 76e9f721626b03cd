/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripted server's replies: whole, dripping, cut, chunked, of the wrong length, huge.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/udsd_impl.h"

static void pause_ms(udsd *server, int ms)
{
    struct pollfd stop = {.fd = server->stop_pipe[0], .events = POLLIN};
    (void)poll(&stop, 1, ms);
}

/* A reply on its way out; `left` before close_after cuts. */
typedef struct output {
    connection *c;
    const udsd_step *step;
    size_t sent;
    bool cut;
} output;

static bool send_piece(output *o, const char *bytes, size_t length)
{
    size_t limit = o->step->close_after;
    if (limit > 0 && o->sent + length >= limit) {
        length = limit - o->sent;
        o->cut = true;
    }
    while (length > 0) {
        /* Never blocks: a client that stopped reading must not keep the server from stopping. */
        struct pollfd fds[] = {{.fd = o->c->fd, .events = POLLOUT},
                               {.fd = o->c->server->stop_pipe[0], .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 || fds[1].revents) {
            o->cut = true;
            return false;
        }
        ssize_t sent = send(o->c->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) {
            o->cut = true;
            return false;
        }
        bytes += sent;
        o->sent += (size_t)sent;
        length -= (size_t)sent;
    }
    return !o->cut;
}

static bool send_all(output *o, const char *bytes, size_t length)
{
    size_t piece = o->step->drip_bytes ? o->step->drip_bytes : length;
    while (length > 0) {
        size_t count = length < piece ? length : piece;
        if (!send_piece(o, bytes, count))
            return false;
        bytes += count;
        length -= count;
        if (o->step->drip_bytes && length > 0)
            pause_ms(o->c->server, (int)o->step->drip_ms);
    }
    return true;
}

static bool send_filler(output *o, uint64_t left)
{
    char block[16384];
    memset(block, 'x', sizeof block);
    while (left > 0) {
        size_t count = left < sizeof block ? (size_t)left : sizeof block;
        if (!send_piece(o, block, count))
            return false;
        left -= count;
    }
    return true;
}

static bool send_chunked(output *o, const char *body)
{
    size_t length = strlen(body);
    size_t first = length > 1 ? length / 2 : length;
    char *text = udsd_alloc(length + 64);
    int used = 0;
    if (length > 1)
        used = snprintf(text, length + 64, "%zx\r\n%.*s\r\n", first, (int)first, body);
    else
        first = 0;
    if (length > first)
        used += snprintf(text + used, length + 64 - (size_t)used, "%zx;x=y\r\n%s\r\n",
                         length - first, body + first);
    used += snprintf(text + used, length + 64 - (size_t)used, "0\r\n\r\n");
    bool ok = send_all(o, text, (size_t)used);
    free(text);
    return ok;
}

static bool send_built(output *o)
{
    const udsd_step *step = o->step;
    const char *body = step->json ? step->json : "";
    const char *headers = step->headers ? step->headers : "";
    char head[4096];
    char framing[64] = "";
    if (step->flags & UDSD_CHUNKED)
        (void)snprintf(framing, sizeof framing, "Transfer-Encoding: chunked\r\n");
    else if (step->status != 204 && step->status != 304)
        (void)snprintf(framing, sizeof framing, "Content-Length: %lld\r\n",
                       (long long)strlen(body) + (long long)step->filler_bytes +
                           step->length_delta);
    int length = snprintf(head, sizeof head, "HTTP/1.1 %d Status\r\n%s%s%s\r\n", step->status,
                          step->json ? "Content-Type: application/json\r\n" : "", framing, headers);
    if (!send_all(o, head, (size_t)length))
        return false;
    return step->flags & UDSD_CHUNKED ? send_chunked(o, body) : send_all(o, body, strlen(body));
}

bool udsd_reply(connection *c, const udsd_step *step)
{
    output o = {.c = c, .step = step};
    if (step->delay_ms)
        pause_ms(c->server, (int)step->delay_ms);
    bool ok = false;
    if (step->raw)
        ok = send_all(&o, step->raw, step->raw_length ? step->raw_length : strlen(step->raw));
    else
        ok = send_built(&o);
    return ok && send_filler(&o, step->filler_bytes);
}

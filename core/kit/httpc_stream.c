/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: libcurl makes the connection (and its TLS), CONNECT_ONLY; request, head and framing are
 * ours, because libcurl hides the socket of an upgraded connection in anything but its newest
 * versions.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "kit/httpc_impl.h"

#define IN_BYTES 16384

struct cordon_stream {
    cordon_httpc_slot slot;
    int fd; /* libcurl's */
    bool tls;
    bool broken;
    cordon_http_body body;
    size_t in_start;
    size_t in_end;
    char in[IN_BYTES];
    char what[CORDON_HTTPC_WHAT_MAX];
};

static bool is_success(int status)
{
    return status == 101 || status == 200;
}

/* --- bytes in and out --- */

static int fail_broken(cordon_stream *stream, const char *why, cordon_err *err)
{
    stream->broken = true;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: the connection broke: %s", stream->what, why);
}

/* One recv; 0 bytes with DATA never happens. */
static int receive(cordon_stream *stream, void *bytes, size_t size, size_t *ret_length,
                   cordon_stream_state *ret_state, cordon_err *err)
{
    size_t length = 0;
    CURLcode code = curl_easy_recv(stream->slot.easy, bytes, size, &length);
    if (code != CURLE_OK && code != CURLE_AGAIN)
        return fail_broken(stream, curl_easy_strerror(code), err);
    *ret_length = code == CURLE_OK ? length : 0;
    *ret_state = code == CURLE_AGAIN ? CORDON_STREAM_AGAIN
                 : length == 0       ? CORDON_STREAM_END
                                     : CORDON_STREAM_DATA;
    return 0;
}

int cordon_stream_write(cordon_stream *stream, const void *bytes, size_t length,
                        cordon_deadline deadline, cordon_err *err)
{
    const char *p = bytes;
    short revents = 0;
    while (length > 0) {
        size_t sent = 0;
        if (cordon_deadline_check(deadline, stream->what, err) < 0)
            return -1;
        CURLcode code = curl_easy_send(stream->slot.easy, p, length, &sent);
        if (code == CURLE_AGAIN) {
            if (cordon_deadline_poll(deadline, stream->fd, POLLOUT, stream->what, &revents, err) <
                0)
                return -1;
            continue;
        }
        if (code != CURLE_OK)
            return fail_broken(stream, curl_easy_strerror(code), err);
        p += sent;
        length -= sent;
    }
    return 0;
}

int cordon_stream_shutdown(cordon_stream *stream, cordon_err *err)
{
    if (stream->tls)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "%s: one direction of a TLS connection cannot be closed", stream->what);
    if (shutdown(stream->fd, SHUT_WR) < 0 && errno != ENOTCONN)
        return CORDON_FAIL_ERRNO(err, errno, "%s: shutdown", stream->what);
    return 0;
}

int cordon_stream_fd(const cordon_stream *stream)
{
    return stream->fd;
}

void cordon_stream_close(cordon_stream *stream)
{
    if (!stream)
        return;
    cordon_httpc_slot_close(&stream->slot);
    free(stream);
}

/* --- reading a body --- */

/* Decodes what is in the buffer; *ret_length may be 0 when that was framing alone. */
static int decode(cordon_stream *stream, void *bytes, size_t size, size_t *ret_length,
                  cordon_err *err)
{
    size_t used = 0;
    size_t made = 0;
    if (cordon_http_body_decode(&stream->body, stream->in + stream->in_start,
                                stream->in_end - stream->in_start, bytes, size, &used, &made,
                                err) < 0) {
        stream->broken = true;
        cordon_err_wrap(err, "%s", stream->what);
        return -1;
    }
    stream->in_start += used;
    *ret_length = made;
    return 0;
}

static int closed(cordon_stream *stream, cordon_err *err)
{
    if (cordon_http_body_closed(&stream->body, err) == 0)
        return 0;
    stream->broken = true;
    cordon_err_wrap(err, "%s", stream->what);
    return -1;
}

/* More bytes into the empty buffer. */
static int refill(cordon_stream *stream, cordon_stream_state *ret_state, cordon_err *err)
{
    size_t length = 0;
    stream->in_start = 0;
    stream->in_end = 0;
    if (receive(stream, stream->in, sizeof stream->in, &length, ret_state, err) < 0)
        return -1;
    stream->in_end = length;
    return *ret_state == CORDON_STREAM_END ? closed(stream, err) : 0;
}

/* A raw body needs no second copy. */
static int read_raw(cordon_stream *stream, void *bytes, size_t size, size_t *ret_length,
                    cordon_stream_state *ret_state, cordon_err *err)
{
    if (receive(stream, bytes, size, ret_length, ret_state, err) < 0)
        return -1;
    return *ret_state == CORDON_STREAM_END ? closed(stream, err) : 0;
}

int cordon_stream_read(cordon_stream *stream, void *ret_bytes, size_t size, size_t *ret_length,
                       cordon_stream_state *ret_state, cordon_err *err)
{
    cordon_stream_state state = CORDON_STREAM_DATA;
    size_t length = 0;
    if (stream->broken)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: broken before", stream->what);
    while (length == 0 && !stream->body.done && state == CORDON_STREAM_DATA) {
        int rc = 0;
        if (stream->in_start < stream->in_end)
            rc = decode(stream, ret_bytes, size, &length, err);
        else if (stream->body.framing == CORDON_HTTP_RAW)
            rc = read_raw(stream, ret_bytes, size, &length, &state, err);
        else
            rc = refill(stream, &state, err);
        if (rc < 0)
            return -1;
    }
    if (length == 0 && stream->body.done)
        state = CORDON_STREAM_END;
    *ret_length = length;
    *ret_state = state;
    return 0;
}

int cordon_stream_read_wait(cordon_stream *stream, void *ret_bytes, size_t size,
                            cordon_deadline deadline, size_t *ret_length, cordon_err *err)
{
    for (;;) {
        short revents = 0;
        size_t length = 0;
        cordon_stream_state state = CORDON_STREAM_UNKNOWN;
        if (cordon_stream_read(stream, ret_bytes, size, &length, &state, err) < 0)
            return -1;
        if (state != CORDON_STREAM_AGAIN) {
            *ret_length = length;
            return 0;
        }
        if (cordon_deadline_poll(deadline, stream->fd, POLLIN, stream->what, &revents, err) < 0)
            return -1;
    }
}

/* --- opening --- */

/* The slot's socket, once it is connected. */
static int connect_stream(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    cordon_curl_options o = {.easy = stream->slot.easy};
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (cordon_httpc_prepare(exchange, o.easy, err) < 0)
        return -1;
    CORDON_CURL_SET(&o, CURLOPT_URL, exchange->client->base_url);
    CORDON_CURL_SET(&o, CURLOPT_CONNECT_ONLY, 1L);
    if (o.result != CURLE_OK)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "%s: %s", exchange->what,
                           curl_easy_strerror(o.result));
    if (cordon_httpc_drive(exchange, &stream->slot, err) < 0)
        return -1;
    if (curl_easy_getinfo(o.easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD)
        return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE, "%s: no connection", exchange->what);
    stream->fd = fd;
    return 0;
}

static int compose(const cordon_httpc_exchange *exchange, cordon_buf *text, cordon_err *err)
{
    const cordon_httpc_request *request = exchange->request;
    if (cordon_buf_printf(text, err, "%s %s HTTP/1.1\r\nHost: %s\r\n", request->method,
                          request->path, exchange->client->authority) < 0)
        return -1;
    for (const char *const *h = request->headers; h && *h; h++)
        if (cordon_buf_printf(text, err, "%s\r\n", *h) < 0)
            return -1;
    if ((request->body_length > 0 || strcmp(request->method, "POST") == 0) &&
        cordon_buf_printf(text, err, "Content-Length: %zu\r\n", (size_t)request->body_length) < 0)
        return -1;
    if (cordon_buf_append_text(text, "\r\n", err) < 0)
        return -1;
    return cordon_buf_append(text, request->body, (size_t)request->body_length, err);
}

static int send_request(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    size_t body = (size_t)exchange->request->body_length;
    cordon_auto(cordon_buf) text = cordon_buf_make_secret(body + CORDON_HTTPC_HEAD_MAX_BYTES);
    if (compose(exchange, &text, err) < 0)
        return -1;
    exchange->sent = true;
    return cordon_stream_write(stream, text.data, text.length, exchange->deadline, err);
}

/* Takes whole lines off the buffer until the head is complete or needs more. */
static int take_lines(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    while (!exchange->head.complete) {
        const char *line = stream->in + stream->in_start;
        const char *end = memchr(line, '\n', stream->in_end - stream->in_start);
        if (!end)
            return 0;
        size_t length = (size_t)(end - line) + 1;
        if (cordon_http_head_line(&exchange->head, line, length, err) < 0)
            return -1;
        stream->in_start += length;
    }
    return 0;
}

/* Room for the rest of a line at the front; a line that fills the buffer is over any limit. */
static int make_room(cordon_stream *stream, cordon_err *err)
{
    size_t rest = stream->in_end - stream->in_start;
    if (rest == sizeof stream->in)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "malformed answer: a head line over the limit");
    memmove(stream->in, stream->in + stream->in_start, rest);
    stream->in_start = 0;
    stream->in_end = rest;
    return 0;
}

static int receive_more(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    size_t length = 0;
    short revents = 0;
    cordon_stream_state state = CORDON_STREAM_UNKNOWN;
    if (receive(stream, stream->in + stream->in_end, sizeof stream->in - stream->in_end, &length,
                &state, err) < 0)
        return -1;
    if (state == CORDON_STREAM_END)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the connection was closed before an answer");
    stream->in_end += length;
    if (state == CORDON_STREAM_DATA)
        return 0;
    return cordon_deadline_poll(exchange->deadline, stream->fd, POLLIN, "waiting for an answer",
                                &revents, err);
}

static int receive_head(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    for (;;) {
        if (take_lines(exchange, stream, err) < 0)
            break;
        if (exchange->head.complete)
            return 0;
        if (make_room(stream, err) < 0 || receive_more(exchange, stream, err) < 0)
            break;
    }
    cordon_err_wrap(err, "%s", exchange->what);
    return -1;
}

/* The whole body of an answer that is no stream. */
static int receive_body(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    char piece[4096];
    for (;;) {
        size_t length = 0;
        if (cordon_stream_read_wait(stream, piece, sizeof piece, exchange->deadline, &length, err) <
            0)
            return -1;
        if (length == 0)
            return 0;
        if (cordon_buf_append(&exchange->response.body, piece, length, err) < 0) {
            cordon_err_wrap(err, "%s: the answer", exchange->what);
            return -1;
        }
    }
}

static int open_stream(cordon_httpc_exchange *exchange, cordon_stream *stream, cordon_err *err)
{
    (void)snprintf(stream->what, sizeof stream->what, "%s", exchange->what);
    stream->tls = exchange->client->ca_file != NULL;
    if (cordon_httpc_slot_open(&stream->slot, err) < 0 ||
        connect_stream(exchange, stream, err) < 0 || send_request(exchange, stream, err) < 0 ||
        receive_head(exchange, stream, err) < 0)
        return -1;
    /* The exchange ends here; the handle may not point into it any longer. */
    (void)curl_easy_setopt(stream->slot.easy, CURLOPT_ERRORBUFFER, NULL);
    (void)curl_easy_setopt(stream->slot.easy, CURLOPT_OPENSOCKETDATA, NULL);
    stream->body = cordon_http_body_of(&exchange->head);
    return is_success(exchange->response.status) ? 0 : receive_body(exchange, stream, err);
}

int cordon_httpc_stream(cordon_httpc *client, const cordon_httpc_request *request,
                        cordon_deadline deadline, cordon_httpc_response *ret_response,
                        cordon_stream **ret_stream, cordon_err *err)
{
    cordon_httpc_exchange exchange;
    cordon_err cause = CORDON_ERR_INIT;
    if (request->read)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: a stream takes no body source",
                           client->name);
    if (cordon_httpc_exchange_init(&exchange, client, request, deadline, err) < 0)
        return -1;
    cordon_auto_ptr(cordon_stream) stream = calloc(1, sizeof *stream);
    if (!stream)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for a stream");
    if (open_stream(&exchange, stream, &cause) < 0) {
        cordon_httpc_response_clear(&exchange.response);
        return cordon_httpc_failed(&exchange, &cause, err);
    }
    *ret_stream = is_success(exchange.response.status) ? CORDON_TAKE(stream) : NULL;
    *ret_response = exchange.response;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response bodies: raw, of known length, chunked (RFC 9112 sections 6.3 and 7.1). No allocation,
 * no copy beyond the one into the caller's buffer.
 */
#include <string.h>

#include "kit/http_head.h"
#include "kit/num.h"

#define TRAILERS_MAX_BYTES 8192

static int fail(const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "malformed answer: %s", why);
}

cordon_http_body cordon_http_body_of(const cordon_http_head *head)
{
    cordon_http_body body = {.framing = CORDON_HTTP_RAW};
    int status = head->response->status;
    if (status == 101)
        return body;
    if (status == 204 || status == 304) {
        body.framing = CORDON_HTTP_LENGTH;
        body.done = true;
    } else if (head->chunked) {
        body.framing = CORDON_HTTP_CHUNKED;
    } else if (head->has_length) {
        body.framing = CORDON_HTTP_LENGTH;
        body.left = head->length;
        body.done = body.left == 0;
    }
    return body;
}

/* What moves between in and out in one step. */
typedef struct motion {
    const char *in;
    size_t in_length;
    char *out;
    size_t out_size;
    size_t used;
    size_t made;
} motion;

static void copy(motion *m, uint64_t limit)
{
    size_t count = m->in_length - m->used;
    if (count > m->out_size - m->made)
        count = m->out_size - m->made;
    if (count > limit)
        count = (size_t)limit;
    memcpy(m->out + m->made, m->in + m->used, count);
    m->used += count;
    m->made += count;
}

static void copy_counted(cordon_http_body *body, motion *m)
{
    size_t before = m->made;
    copy(m, body->left);
    body->left -= m->made - before;
}

/* Collects a line up to CRLF; *ret_whole tells. The CRLF is left out of the line. */
static int take_line(cordon_http_body *body, motion *m, bool *ret_whole, cordon_err *err)
{
    *ret_whole = false;
    while (m->used < m->in_length) {
        char c = m->in[m->used++];
        if (c == '\n') {
            if (body->line_length == 0 || body->line[body->line_length - 1] != '\r')
                return fail("a chunk line that does not end in CRLF", err);
            body->line_length--;
            *ret_whole = true;
            return 0;
        }
        if (body->line_length == sizeof body->line)
            return fail("a chunk line over the limit", err);
        body->line[body->line_length++] = c;
    }
    return 0;
}

static int enter_chunk(cordon_http_body *body, cordon_err *err)
{
    const char *extension = memchr(body->line, ';', body->line_length);
    size_t digits = extension ? (size_t)(extension - body->line) : body->line_length;
    if (cordon_num_hex(body->line, digits, INT64_MAX, &body->left, NULL) < 0)
        return fail("a chunk size that is no hex number", err);
    body->state = body->left > 0 ? CORDON_HTTP_CHUNK_DATA : CORDON_HTTP_CHUNK_TRAILER;
    return 0;
}

/* Trailers are taken and dropped: nothing in them may change what the head said. */
static int drop_trailer(cordon_http_body *body, cordon_err *err)
{
    body->trailer_bytes += body->line_length + 2;
    if (body->trailer_bytes > TRAILERS_MAX_BYTES)
        return fail("trailers over the limit", err);
    body->done = body->line_length == 0;
    return 0;
}

static int end_line(cordon_http_body *body, cordon_err *err)
{
    int rc = 0;
    switch (body->state) {
    case CORDON_HTTP_CHUNK_SIZE:
        rc = enter_chunk(body, err);
        break;
    case CORDON_HTTP_CHUNK_TRAILER:
        rc = drop_trailer(body, err);
        break;
    case CORDON_HTTP_CHUNK_DATA_END:
    case CORDON_HTTP_CHUNK_DATA:
        if (body->line_length > 0)
            return fail("a chunk longer than its size", err);
        body->state = CORDON_HTTP_CHUNK_SIZE;
        break;
    }
    body->line_length = 0;
    return rc;
}

static int decode_chunked(cordon_http_body *body, motion *m, cordon_err *err)
{
    while (!body->done && m->used < m->in_length) {
        bool whole = false;
        if (body->state == CORDON_HTTP_CHUNK_DATA) {
            if (m->made == m->out_size)
                return 0;
            copy_counted(body, m);
            if (body->left == 0)
                body->state = CORDON_HTTP_CHUNK_DATA_END;
            continue;
        }
        if (take_line(body, m, &whole, err) < 0 || (whole && end_line(body, err) < 0))
            return -1;
    }
    return 0;
}

int cordon_http_body_decode(cordon_http_body *body, const char *in, size_t in_length, char *out,
                            size_t out_size, size_t *ret_used, size_t *ret_made, cordon_err *err)
{
    motion m = {.in = in, .in_length = in_length, .out = out, .out_size = out_size};
    if (!body->done && body->framing == CORDON_HTTP_CHUNKED) {
        if (decode_chunked(body, &m, err) < 0)
            return -1;
    } else if (!body->done && body->framing == CORDON_HTTP_LENGTH) {
        copy_counted(body, &m);
        body->done = body->left == 0;
    } else if (!body->done) {
        copy(&m, UINT64_MAX);
    }
    *ret_used = m.used;
    *ret_made = m.made;
    return 0;
}

int cordon_http_body_closed(cordon_http_body *body, cordon_err *err)
{
    if (body->framing == CORDON_HTTP_RAW)
        body->done = true;
    return body->done ? 0 : fail("the connection was closed before its end", err);
}

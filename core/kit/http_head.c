/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response heads, one line at a time (RFC 9112 sections 2 to 6).
 */
#include "kit/http_head.h"

#include <string.h>
#include <strings.h>

#include "kit/num.h"

static int fail(const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "malformed answer: %s", why);
}

/* A header name's or value's place in the line. */
typedef struct span {
    const char *text;
    size_t length;
} span;

static bool span_is(span s, const char *text)
{
    return strlen(text) == s.length && strncasecmp(s.text, text, s.length) == 0;
}

static span trim(span s)
{
    while (s.length > 0 && (s.text[0] == ' ' || s.text[0] == '\t'))
        s = (span){s.text + 1, s.length - 1};
    while (s.length > 0 && (s.text[s.length - 1] == ' ' || s.text[s.length - 1] == '\t'))
        s.length--;
    return s;
}

/* Visible ASCII, blanks, and the high half, which RFC 9110 section 5.5 lets pass as opaque. */
static bool is_clean(span s)
{
    for (size_t i = 0; i < s.length; i++) {
        unsigned char c = (unsigned char)s.text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* RFC 9110 section 5.6.2 */
static bool is_token(span s)
{
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789"
                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i < s.length; i++)
        if (!memchr(allowed, s.text[i], sizeof allowed - 1))
            return false;
    return s.length > 0;
}

static int take_length(cordon_http_head *head, span value, cordon_err *err)
{
    if (head->has_length)
        return fail("a second Content-Length", err);
    if (cordon_num_u64(value.text, value.length, 0, INT64_MAX, &head->length, err) < 0) {
        cordon_err_clear(err);
        return fail("a Content-Length that is no number", err);
    }
    head->has_length = true;
    return 0;
}

static int take_coding(cordon_http_head *head, span value, cordon_err *err)
{
    if (head->chunked || !span_is(value, "chunked"))
        return fail("a transfer coding other than one \"chunked\"", err);
    head->chunked = true;
    return 0;
}

static void keep(char *place, size_t size, span value)
{
    if (value.length >= size)
        return;
    memcpy(place, value.text, value.length);
    place[value.length] = '\0';
}

/* The headers that somebody above wants to know. */
static void keep_wanted(cordon_httpc_response *r, span name, span value)
{
    const struct {
        const char *name;
        char *place;
        size_t size;
    } wanted[] = {
        {"Content-Type", r->content_type, sizeof r->content_type},
        {"Api-Version", r->api_version, sizeof r->api_version},
        {"Libpod-Api-Version", r->libpod_api_version, sizeof r->libpod_api_version},
        {"Server", r->server, sizeof r->server},
        {"Ostype", r->ostype, sizeof r->ostype},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (span_is(name, wanted[i].name))
            keep(wanted[i].place, wanted[i].size, value);
}

static int take_header(cordon_http_head *head, span line, cordon_err *err)
{
    const char *colon = memchr(line.text, ':', line.length);
    if (!colon)
        return fail("a header line without a colon", err);
    span name = {line.text, (size_t)(colon - line.text)};
    span value = trim((span){colon + 1, line.length - name.length - 1});
    /* Covers folded lines, too: their name begins with a blank. */
    if (!is_token(name))
        return fail("a header name that is none", err);
    keep_wanted(head->response, name, value);
    if (span_is(name, "Content-Length"))
        return take_length(head, value, err);
    return span_is(name, "Transfer-Encoding") ? take_coding(head, value, err) : 0;
}

/* "HTTP/1.1 200 OK"; the reason may be empty, and some servers leave out its blank. */
static int take_status(cordon_http_head *head, span line, cordon_err *err)
{
    static const char version[] = "HTTP/1.1 ";
    const size_t skip = sizeof version - 1;
    uint64_t status = 0;
    if (line.length < skip + 3 || memcmp(line.text, version, skip) != 0)
        return fail("it does not begin with \"HTTP/1.1 \"", err);
    if ((line.length > skip + 3 && line.text[skip + 3] != ' ') ||
        cordon_num_u64(line.text + skip, 3, 100, 599, &status, NULL) < 0)
        return fail("a status that is no number", err);
    if (status < 200 && status != 101)
        return fail("an interim answer that nobody asked for", err);
    head->response->status = (int)status;
    return 0;
}

static int finish(cordon_http_head *head, cordon_err *err)
{
    /* RFC 9112 section 6.1: the two together are an attempt at smuggling. */
    if (head->has_length && head->chunked)
        return fail("both Content-Length and Transfer-Encoding", err);
    head->complete = true;
    return 0;
}

int cordon_http_head_line(cordon_http_head *head, const char *line, size_t length, cordon_err *err)
{
    head->bytes += length;
    head->lines++;
    if (head->bytes > CORDON_HTTPC_HEAD_MAX_BYTES || head->lines > CORDON_HTTPC_HEADERS_MAX + 2)
        return fail("a head over the limit", err);
    if (length < 2 || line[length - 2] != '\r' || line[length - 1] != '\n')
        return fail("a head line that does not end in CRLF", err);
    span content = {line, length - 2};
    if (!is_clean(content))
        return fail("control characters in the head", err);
    if (head->lines == 1)
        return take_status(head, content, err);
    return content.length == 0 ? finish(head, err) : take_header(head, content, err);
}

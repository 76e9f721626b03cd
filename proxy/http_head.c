/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request head parser; see http_head.h. Lines are found first and judged whole, because a
 * complete line is the smallest thing that has a meaning; bytes that can't be in any line are
 * refused as they come.
 */
#include <string.h>

#include "host.h"
#include "http_head.h"

/* A piece of the window. */
typedef struct span {
    const char *text;
    size_t length;
} span;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Controls other than HTAB are in no field value (RFC 9110 section 5.5). */
static bool is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

/* RFC 9110 section 5.6.2. */
static bool is_token_char(char c)
{
    char folded = cordon_host_fold(c);
    if ((folded >= 'a' && folded <= 'z') || (c >= '0' && c <= '9'))
        return true;
    return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool is_token(span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is_token_char(text.text[i]))
            return false;
    }
    return text.length > 0;
}

static bool span_is(span text, const char *literal)
{
    return text.length == strlen(literal) && memcmp(text.text, literal, text.length) == 0;
}

/* Cuts the span up to `stop` off the front of rest; false and unchanged where there is none. */
static bool span_cut(span *rest, char stop, span *ret_front)
{
    const char *found = memchr(rest->text, stop, rest->length);
    if (!found)
        return false;
    size_t length = (size_t)(found - rest->text);
    *ret_front = (span){rest->text, length};
    *rest = (span){found + 1, rest->length - length - 1};
    return true;
}

/* Digits only, no leading zero, 1 to 65535; a wrapped or padded port is no spelling of a port. */
static bool parse_port(span text, uint16_t *ret_port)
{
    uint32_t port = 0;
    if (text.length == 0 || text.length > 5 || text.text[0] == '0')
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        port = port * 10 + (uint32_t)(text.text[i] - '0');
    }
    if (port > UINT16_MAX)
        return false;
    *ret_port = (uint16_t)port;
    return true;
}

/* Userinfo, scheme, path, query, fragment, brackets or a second colon: no authority-form. */
static bool is_authority(span target)
{
    size_t colons = 0;
    for (size_t i = 0; i < target.length; i++) {
        char c = target.text[i];
        if (c != '\0' && strchr("/?#@[]%\\", c))
            return false;
        colons += c == ':';
    }
    return colons <= 1;
}

static cordon_reason parse_target(cordon_head *head, span target)
{
    span rest = target;
    span host = target;
    if (!is_authority(target))
        return CORDON_REASON_BAD_TARGET;
    bool has_port = span_cut(&rest, ':', &host);
    cordon_reason reason = cordon_host_check(host.text, host.length);
    if (reason == CORDON_REASON_BAD_TARGET || reason == CORDON_REASON_FINAL_DOT)
        return reason;
    if (!has_port || !parse_port(rest, &head->port))
        return CORDON_REASON_BAD_PORT;
    head->host_length = (uint16_t)host.length;
    return reason;
}

static cordon_reason parse_request_line(cordon_head *head, const char *window, span line)
{
    span method;
    span target;
    if (!span_cut(&line, ' ', &method) || !is_token(method))
        return CORDON_REASON_MALFORMED;
    bool has_version = span_cut(&line, ' ', &target);
    if (!has_version)
        target = line;
    head->target = (uint16_t)(target.text - window);
    head->target_length = (uint16_t)target.length;
    if (!span_is(method, "CONNECT"))
        return CORDON_REASON_METHOD;
    if (!has_version)
        return CORDON_REASON_MALFORMED;
    if (!span_is(line, "HTTP/1.1") && !span_is(line, "HTTP/1.0"))
        return CORDON_REASON_BAD_VERSION;
    return parse_target(head, target);
}

/* Clients write the authority with or without the default port of https. */
static cordon_reason check_host_field(cordon_head *head, const char *window, span value)
{
    const char *target = window + head->target;
    if (head->have_host)
        return CORDON_REASON_REPEATED_HOST;
    head->have_host = true;
    if (cordon_host_equal(value.text, value.length, target, head->target_length))
        return CORDON_REASON_NONE;
    if (head->port == 443 && cordon_host_equal(value.text, value.length, target, head->host_length))
        return CORDON_REASON_NONE;
    return CORDON_REASON_HOST_MISMATCH;
}

/*
 * Only these fields mean anything here. A CONNECT has no content (RFC 9110 section 9.3.6); a
 * length or a coding, even of nothing, is how a second request is smuggled past one of two readers.
 */
static cordon_reason check_field(cordon_head *head, const char *window, span name, span value)
{
    static const char *const body_fields[] = {"content-length", "transfer-encoding"};
    if (cordon_host_equal(name.text, name.length, "host", 4))
        return check_host_field(head, window, value);
    for (size_t i = 0; i < sizeof body_fields / sizeof body_fields[0]; i++) {
        if (cordon_host_equal(name.text, name.length, body_fields[i], strlen(body_fields[i])))
            return CORDON_REASON_BODY;
    }
    return CORDON_REASON_NONE;
}

static span span_trim(span text)
{
    while (text.length > 0 && is_blank(text.text[0])) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.text[text.length - 1]))
        text.length--;
    return text;
}

static cordon_reason parse_field(cordon_head *head, const char *window, span line)
{
    span name;
    if (is_blank(line.text[0]))
        return CORDON_REASON_OBS_FOLD;
    if (!span_cut(&line, ':', &name) || !is_token(name))
        return CORDON_REASON_BAD_FIELD;
    if (head->fields == CORDON_HEAD_FIELDS_MAX)
        return CORDON_REASON_TOO_MANY_FIELDS;
    head->fields++;
    return check_field(head, window, name, span_trim(line));
}

static cordon_head_status head_bad(cordon_head *head, cordon_reason reason)
{
    head->reason = (uint16_t)reason;
    return CORDON_HEAD_BAD;
}

/* One complete line, CR LF cut off. */
static cordon_head_status take_line(cordon_head *head, const char *window, span line)
{
    cordon_reason reason;
    if (!head->have_request_line) {
        reason = parse_request_line(head, window, line);
        head->have_request_line = true;
    } else if (line.length == 0) {
        head->length = head->scan;
        return CORDON_HEAD_DONE;
    } else {
        reason = parse_field(head, window, line);
    }
    return reason == CORDON_REASON_NONE ? CORDON_HEAD_MORE : head_bad(head, reason);
}

/* Looks at one byte; NONE, or why no line may hold it there. `at` is its place in the line. */
static cordon_reason check_byte(const cordon_head *head, const char *window, size_t at)
{
    char c = window[at];
    bool after_cr = at > head->line && window[at - 1] == '\r';
    if (c == '\n')
        return after_cr ? CORDON_REASON_NONE : CORDON_REASON_BARE_LINE_END;
    if (after_cr)
        return CORDON_REASON_BARE_LINE_END;
    if (c == '\r')
        return CORDON_REASON_NONE;
    if (is_control(c))
        return head->have_request_line ? CORDON_REASON_BAD_FIELD : CORDON_REASON_MALFORMED;
    if (at == head->line && !head->have_request_line && !is_token_char(c))
        return CORDON_REASON_MALFORMED;
    return CORDON_REASON_NONE;
}

cordon_head_status cordon_head_feed(cordon_head *head, const char *window, size_t length)
{
    size_t limit = length < CORDON_HEAD_MAX ? length : CORDON_HEAD_MAX;
    while (head->scan < limit) {
        size_t at = head->scan;
        cordon_reason reason = check_byte(head, window, at);
        if (reason != CORDON_REASON_NONE)
            return head_bad(head, reason);
        head->scan++;
        if (window[at] != '\n')
            continue;
        span line = {window + head->line, at - 1 - head->line};
        cordon_head_status status = take_line(head, window, line);
        if (status != CORDON_HEAD_MORE)
            return status;
        head->line = head->scan;
    }
    return length >= CORDON_HEAD_MAX ? head_bad(head, CORDON_REASON_HEAD_TOO_LONG)
                                     : CORDON_HEAD_MORE;
}

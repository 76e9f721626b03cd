/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer: one bit per level says whether it is an object, another whether a comma is due.
 */
#include "kit/jsonw.h"

#include <inttypes.h>
#include <string.h>

void cordon_jsonw_init(cordon_jsonw *ret_writer, cordon_buf *out)
{
    *ret_writer = (cordon_jsonw){.out = out};
}

static bool failed(const cordon_jsonw *w)
{
    return w->failure.code != CORDON_OK;
}

static void misuse(cordon_jsonw *w, const char *why)
{
    if (!failed(w))
        cordon_err_set(&w->failure, CORDON_ERR_INVALID, 0, "JSON writer: %s", why);
}

static void put(cordon_jsonw *w, const char *text)
{
    if (!failed(w))
        (void)!cordon_buf_append_text(w->out, text, &w->failure);
}

static void put_n(cordon_jsonw *w, const char *text, size_t length)
{
    if (!failed(w))
        (void)!cordon_buf_append(w->out, text, length, &w->failure);
}

/* --- strings --- */

/* Bytes of the well-formed UTF-8 sequence at p (RFC 3629), 0 for none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t point = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (length > left || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (p[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < smallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

static bool needs_escape(unsigned char c)
{
    return c < ' ' || c == '"' || c == '\\' || c == 0x7f;
}

static void put_escape(cordon_jsonw *w, unsigned char c)
{
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; shorts[i]; i += 2) {
        if ((unsigned char)shorts[i] == c) {
            put_n(w, (char[]){'\\', shorts[i + 1]}, 2);
            return;
        }
    }
    if (!failed(w))
        (void)!cordon_buf_printf(w->out, &w->failure, "\\u%04x", c);
}

/* Length of the run at p that can be copied as it is. */
static size_t plain_run(const unsigned char *p, size_t left)
{
    size_t run = 0;
    while (run < left && !needs_escape(p[run])) {
        size_t step = utf8_length(p + run, left - run);
        if (step == 0)
            break;
        run += step;
    }
    return run;
}

static void put_string(cordon_jsonw *w, const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    put(w, "\"");
    while (length > 0) {
        size_t run = plain_run(p, length);
        put_n(w, (const char *)p, run);
        p += run;
        length -= run;
        if (length == 0)
            break;
        if (needs_escape(*p))
            put_escape(w, *p);
        else
            put(w, "\xef\xbf\xbd"); /* U+FFFD for a byte that begins no character */
        p++;
        length--;
    }
    put(w, "\"");
}

/* --- structure --- */

static uint64_t level_bit(const cordon_jsonw *w)
{
    return UINT64_C(1) << (w->depth - 1);
}

/* Comma and name, or the reason why no value belongs here. */
static void before_value(cordon_jsonw *w, const char *key)
{
    bool in_object = w->depth > 0 && (w->is_object & level_bit(w));
    if (w->done)
        misuse(w, "a second value at the root");
    else if (in_object && !key)
        misuse(w, "a member without a name");
    else if (!in_object && key)
        misuse(w, "a name outside an object");
    if (failed(w))
        return;
    if (w->depth > 0) {
        if (w->has_items & level_bit(w))
            put(w, ",");
        w->has_items |= level_bit(w);
    }
    if (key) {
        put_string(w, key, strlen(key));
        put(w, ":");
    }
}

static void after_value(cordon_jsonw *w)
{
    if (w->depth == 0)
        w->done = true;
}

static void begin(cordon_jsonw *w, const char *key, bool is_object)
{
    before_value(w, key);
    if (w->depth == CORDON_JSONW_DEPTH_MAX)
        misuse(w, "nested too deeply");
    if (failed(w))
        return;
    w->depth++;
    w->has_items &= ~level_bit(w);
    w->is_object &= ~level_bit(w);
    if (is_object)
        w->is_object |= level_bit(w);
    put(w, is_object ? "{" : "[");
}

static void end(cordon_jsonw *w, bool is_object)
{
    if (failed(w))
        return;
    if (w->depth == 0 || !!(w->is_object & level_bit(w)) != is_object) {
        misuse(w, "an end without its begin");
        return;
    }
    put(w, is_object ? "}" : "]");
    w->depth--;
    after_value(w);
}

void cordon_jsonw_begin_object(cordon_jsonw *writer, const char *key)
{
    begin(writer, key, true);
}

void cordon_jsonw_end_object(cordon_jsonw *writer)
{
    end(writer, true);
}

void cordon_jsonw_begin_array(cordon_jsonw *writer, const char *key)
{
    begin(writer, key, false);
}

void cordon_jsonw_end_array(cordon_jsonw *writer)
{
    end(writer, false);
}

/* --- scalars --- */

void cordon_jsonw_string_n(cordon_jsonw *writer, const char *key, const char *text, size_t length)
{
    if (!text)
        misuse(writer, "a string that is NULL");
    before_value(writer, key);
    if (failed(writer))
        return;
    put_string(writer, text, length);
    after_value(writer);
}

void cordon_jsonw_string(cordon_jsonw *writer, const char *key, const char *text)
{
    cordon_jsonw_string_n(writer, key, text, text ? strlen(text) : 0);
}

static void word(cordon_jsonw *w, const char *key, const char *text)
{
    before_value(w, key);
    put(w, text);
    after_value(w);
}

void cordon_jsonw_string_or_null(cordon_jsonw *writer, const char *key, const char *text)
{
    if (text)
        cordon_jsonw_string(writer, key, text);
    else
        word(writer, key, "null");
}

void cordon_jsonw_i64(cordon_jsonw *writer, const char *key, int64_t value)
{
    before_value(writer, key);
    if (!failed(writer))
        (void)!cordon_buf_printf(writer->out, &writer->failure, "%" PRId64, value);
    after_value(writer);
}

void cordon_jsonw_u64(cordon_jsonw *writer, const char *key, uint64_t value)
{
    before_value(writer, key);
    if (!failed(writer))
        (void)!cordon_buf_printf(writer->out, &writer->failure, "%" PRIu64, value);
    after_value(writer);
}

void cordon_jsonw_bool(cordon_jsonw *writer, const char *key, bool value)
{
    word(writer, key, value ? "true" : "false");
}

void cordon_jsonw_null(cordon_jsonw *writer, const char *key)
{
    word(writer, key, "null");
}

int cordon_jsonw_finish(cordon_jsonw *writer, cordon_err *err)
{
    if (!failed(writer) && !writer->done)
        misuse(writer, "finished before its value was whole");
    if (!failed(writer))
        return 0;
    return CORDON_FAIL(err, writer->failure.code, "%s", writer->failure.message);
}

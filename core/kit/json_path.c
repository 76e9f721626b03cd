/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON paths for people and for lists of known facts. Two places of one document never have the
 * same path (short of a cut), whatever their keys are.
 */
#include "kit/json_doc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that is cut with "..." when it does not fit. */
typedef struct sink {
    char *text;
    size_t size;
    size_t used;
    bool full;
} sink;

static void put(sink *s, const char *piece)
{
    size_t length = strlen(piece);
    /* All or nothing per piece, so that a cut never halves an escape. */
    if (s->full || length > s->size - 4 - s->used) {
        s->full = true;
        return;
    }
    memcpy(s->text + s->used, piece, length);
    s->used += length;
}

static const char *finish(sink *s)
{
    memcpy(s->text + s->used, s->full ? "..." : "", s->full ? 4 : 1);
    return s->text;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool is_word(const char *key)
{
    const char *c = key;
    while (is_word_char(*c))
        c++;
    return *c == '\0' && c > key;
}

/* ["..."]; what is not plain ASCII is escaped, because the text may reach a terminal. */
static void put_quoted(sink *s, const char *key)
{
    put(s, "[\"");
    for (; *key && !s->full; key++) {
        char piece[8];
        unsigned c = (unsigned char)*key;
        bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
        (void)snprintf(piece, sizeof piece, plain ? "%c" : "\\x%02x", c);
        put(s, piece);
    }
    put(s, "\"]");
}

static void put_key(sink *s, const char *key)
{
    if (!is_word(key)) {
        put_quoted(s, key);
        return;
    }
    put(s, ".");
    put(s, key);
}

static void put_step(sink *s, const cordon_json_node *node)
{
    char piece[16];
    if (node->key) {
        put_key(s, node->key);
        return;
    }
    (void)snprintf(piece, sizeof piece, "[%u]", node->index);
    put(s, piece);
}

static void put_path(sink *s, cordon_json at)
{
    uint32_t chain[CORDON_JSON_DEPTH_MAX + 1];
    size_t length = 0;
    for (uint32_t node = at.node; node != 0; node = at.doc->nodes[node].parent) {
        assert(length < sizeof chain / sizeof chain[0]);
        chain[length++] = node;
    }
    put(s, "$");
    while (length > 0)
        put_step(s, &at.doc->nodes[chain[--length]]);
}

const char *cordon_json_path(cordon_json at, char *ret_text, size_t size)
{
    assert(size >= 8);
    sink s = {.text = ret_text, .size = size};
    put_path(&s, at);
    return finish(&s);
}

const char *cordon_json_member_path(cordon_json object, const char *key, char *ret_text,
                                    size_t size)
{
    assert(size >= 8);
    sink s = {.text = ret_text, .size = size};
    put_path(&s, object);
    put_key(&s, key);
    return finish(&s);
}

int cordon_json_fail(cordon_json at, cordon_err *err, const char *format, ...)
{
    char what[CORDON_ERR_MESSAGE_MAX - CORDON_JSON_PATH_MAX - 4];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: %s", CORDON_JSON_PATH(at), what);
}

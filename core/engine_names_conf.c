/* SPDX-License-Identifier: Apache-2.0 */
/* Podman 4's tables of connections in containers.conf, line by line; see engine_names_impl.h. */
#include <string.h>

#include "engine_names_impl.h"

#define TABLE  "[engine.service_destinations"
#define BLANKS " \t\r"
#define BARE   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* A piece of the text; it is not NUL-terminated. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

typedef struct reader {
    const char *name;
    cordon_named_engine *engine;
    unsigned line;
    bool inside; /* the wanted table */
    bool found;
} reader;

static int fail(const reader *r, const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "line %u: %s", r->line, why);
}

static piece trim(piece from)
{
    while (from.length > 0 && memchr(BLANKS, from.text[0], strlen(BLANKS))) {
        from.text++;
        from.length--;
    }
    while (from.length > 0 && memchr(BLANKS, from.text[from.length - 1], strlen(BLANKS)))
        from.length--;
    return from;
}

static bool equals(piece a, const char *text)
{
    return a.length == strlen(text) && memcmp(a.text, text, a.length) == 0;
}

/* Nothing, or a comment. */
static bool is_rest(piece from)
{
    from = trim(from);
    return from.length == 0 || from.text[0] == '#';
}

static piece after(piece from, size_t count)
{
    return (piece){from.text + count, from.length - count};
}

static size_t span(piece from, const char *allowed)
{
    size_t length = 0;
    while (length < from.length && memchr(allowed, from.text[length], strlen(allowed)))
        length++;
    return length;
}

/* The word at the head of a piece, and nothing behind it. */
static bool is_word(piece from, const char *word)
{
    size_t length = span(from, BARE);
    return equals((piece){from.text, length}, word) && is_rest(after(from, length));
}

/*
 * "basic" without escapes, or 'literal', at the head of a piece.
 * @return what stands in the quotes and how long it is with them; false for anything else
 */
static bool take_string(piece from, piece *ret_inner, size_t *ret_length)
{
    if (from.length == 0 || (from.text[0] != '"' && from.text[0] != '\''))
        return false;
    char quote = from.text[0];
    const char *end = memchr(from.text + 1, quote, from.length - 1);
    if (!end)
        return false;
    *ret_inner = (piece){from.text + 1, (size_t)(end - from.text) - 1};
    *ret_length = (size_t)(end - from.text) + 1;
    return quote == '\'' || !memchr(ret_inner->text, '\\', ret_inner->length);
}

/* "[engine.service_destinations" and what follows, on one line. */
static int read_header(reader *r, piece rest, cordon_err *err)
{
    piece name = {0};
    size_t length = 0;
    r->inside = false;
    if (rest.length > 0 && rest.text[0] == ']' && is_rest(after(rest, 1)))
        return 0; /* the table of tables */
    if (rest.length == 0 || rest.text[0] != '.')
        return fail(r, "is no table of a connection as Podman writes it", err);
    rest = after(rest, 1);
    if (!take_string(rest, &name, &length)) {
        length = span(rest, BARE);
        name = (piece){rest.text, length};
    }
    rest = after(rest, length);
    if (name.length == 0 || rest.length == 0 || rest.text[0] != ']' || !is_rest(after(rest, 1)))
        return fail(r, "is no table of a connection as Podman writes it", err);
    if (!equals(name, r->name))
        return 0;
    if (r->found)
        return fail(r, "is the second table of this connection", err);
    r->found = true;
    r->inside = true;
    return 0;
}

static int store(const reader *r, piece value, char **ret_text, cordon_err *err)
{
    if (*ret_text)
        return fail(r, "says it for a second time", err);
    if (value.length == 0)
        return 0;
    *ret_text = strndup(value.text, value.length);
    return *ret_text ? 0 : CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
}

/* KEY = VALUE in the wanted table. */
static int read_pair(const reader *r, piece line, cordon_err *err)
{
    piece key = {line.text, span(line, BARE)};
    piece value = {0};
    size_t length = 0;
    piece rest = trim(after(line, key.length));
    if (key.length == 0 || rest.length == 0 || rest.text[0] != '=')
        return fail(r, "is not KEY = VALUE", err);
    rest = trim(after(rest, 1));
    if (equals(key, "is_machine") && (is_word(rest, "true") || is_word(rest, "false")))
        return 0;
    if (!take_string(rest, &value, &length) || !is_rest(after(rest, length)))
        return fail(r, "is not KEY = \"VALUE\" without escapes", err);
    if (equals(key, "uri"))
        return store(r, value, &r->engine->endpoint, err);
    if (equals(key, "identity"))
        return store(r, value, &r->engine->identity, err);
    return fail(r, "says something about the connection that Cordon does not know", err);
}

static int read_line(reader *r, piece line, cordon_err *err)
{
    line = trim(line);
    if (is_rest(line))
        return 0;
    if (line.length >= strlen(TABLE) && memcmp(line.text, TABLE, strlen(TABLE)) == 0)
        return read_header(r, after(line, strlen(TABLE)), err);
    if (line.text[0] == '[')
        r->inside = false;
    return r->inside ? read_pair(r, line, err) : 0;
}

int cordon_destinations_read(const char *text, size_t length, const char *name,
                             cordon_named_engine *engine, bool *ret_found, cordon_err *err)
{
    reader r = {.name = name, .engine = engine};
    const char *end = text + length;
    /* A string of several lines could hold what looks like a table. */
    if (memchr(text, '\0', length) || memmem(text, length, "\"\"\"", 3) ||
        memmem(text, length, "'''", 3))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "holds strings of several lines, which are not read here; use "
                           "podman-connections.json, or name the engine in Cordon's configuration");
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        r.line++;
        if (read_line(&r, (piece){at, (size_t)(stop - at)}, err) != 0)
            return -1;
        at = newline ? newline + 1 : end;
    }
    *ret_found = r.found;
    return 0;
}

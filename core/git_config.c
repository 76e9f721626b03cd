/* SPDX-License-Identifier: Apache-2.0 */
/* See git_config.h. */
#include "git_config.h"

#include <stdbool.h>
#include <string.h>

typedef struct config_reader {
    const char *at;
    const char *end;
    unsigned line;
    char section[CORDON_GIT_CONFIG_TEXT_MAX];
    char key[CORDON_GIT_CONFIG_TEXT_MAX];
    char value[CORDON_GIT_CONFIG_TEXT_MAX];
} config_reader;

/* A carriage return before a newline is part of it; -1 is the end. */
static int peek(const config_reader *r)
{
    if (r->at == r->end)
        return -1;
    if (r->at[0] == '\r' && r->at + 1 < r->end && r->at[1] == '\n')
        return '\n';
    return (unsigned char)*r->at;
}

static int take(config_reader *r)
{
    int c = peek(r);
    if (c < 0)
        return c;
    r->at += *r->at == '\r' && c == '\n' ? 2 : 1;
    r->line += c == '\n' ? 1 : 0;
    return c;
}

static int fail(const config_reader *r, const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "line %u: %s", r->line, why);
}

static bool put(char *text, size_t *length, int c)
{
    if (*length + 1 >= CORDON_GIT_CONFIG_TEXT_MAX || c == 0)
        return false;
    text[(*length)++] = (char)c;
    text[*length] = '\0';
    return true;
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(int c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static void skip_line(config_reader *r)
{
    int c;
    do
        c = take(r);
    while (c >= 0 && c != '\n');
}

/* After '[': the name up to a blank, a dot (the old way to a subsection) or ']'. */
static int read_section(config_reader *r, cordon_err *err)
{
    size_t length = 0;
    r->section[0] = '\0';
    while (is_name(peek(r)))
        if (!put(r->section, &length, lower(take(r))))
            return fail(r, "a section's name is too long", err);
    bool quoted = false;
    for (int c = take(r); c != ']' || quoted; c = take(r)) {
        if (c < 0 || c == '\n')
            return fail(r, "a section's name does not end", err);
        if (c == '\\' && quoted)
            (void)take(r);
        else if (c == '"')
            quoted = !quoted;
    }
    return 0;
}

/* What stands behind a backslash in a value. */
static int unescape(int c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case '\\':
    case '"':
        return c;
    default:
        return -1;
    }
}

/* One character of a value, escapes and continued lines resolved. */
static int read_value_char(config_reader *r, int c, size_t *length, cordon_err *err)
{
    if (c == '\\') {
        c = take(r);
        if (c == '\n')
            return 0;
        c = unescape(c);
    }
    return c >= 0 && put(r->value, length, c) ? 0 : fail(r, "a value that git does not read", err);
}

/* A value under way. solid: up to the last character that counts; blanks behind it do not. */
typedef struct config_value {
    size_t length;
    size_t solid;
    bool quoted;
} config_value;

static int read_value_part(config_reader *r, config_value *value, int c, cordon_err *err)
{
    bool blank = !value->quoted && (c == ' ' || c == '\t');
    if (blank && value->length == 0)
        return 0;
    if (c == '"') {
        value->quoted = !value->quoted;
        value->solid = value->length;
        return 0;
    }
    if (read_value_char(r, c, &value->length, err) < 0)
        return -1;
    if (!blank)
        value->solid = value->length;
    return 0;
}

/* Blanks around it are no part of a value, those within quotes are. */
static int read_value(config_reader *r, cordon_err *err)
{
    config_value value = {0};
    r->value[0] = '\0';
    int c = take(r);
    for (; c >= 0 && c != '\n' && (value.quoted || (c != '#' && c != ';')); c = take(r))
        if (read_value_part(r, &value, c, err) < 0)
            return -1;
    if (value.quoted)
        return fail(r, "a quote does not end", err);
    if (c == '#' || c == ';')
        skip_line(r);
    r->value[value.solid] = '\0';
    return 0;
}

static int read_variable(config_reader *r, cordon_git_config_fn *fn, void *context, cordon_err *err)
{
    size_t length = 0;
    bool has_value = false;
    r->key[0] = '\0';
    while (is_name(peek(r)))
        if (!put(r->key, &length, lower(take(r))))
            return fail(r, "a name is too long", err);
    while (peek(r) == ' ' || peek(r) == '\t')
        (void)take(r);
    int c = peek(r);
    if (c == '=') {
        (void)take(r);
        has_value = true;
        if (read_value(r, err) < 0)
            return -1;
    } else if (c == '#' || c == ';') {
        skip_line(r);
    } else if (c >= 0 && c != '\n') {
        return fail(r, "a name that git does not read", err);
    }
    return fn(context, r->section, r->key, has_value ? r->value : NULL, err);
}

static int read_item(config_reader *r, cordon_git_config_fn *fn, void *context, cordon_err *err)
{
    int c = peek(r);
    if (c == '[') {
        (void)take(r);
        return read_section(r, err);
    }
    if (is_letter(c))
        return read_variable(r, fn, context, err);
    if (c == '#' || c == ';')
        skip_line(r);
    else if (c == ' ' || c == '\t' || c == '\n')
        (void)take(r);
    else
        return fail(r, "is no line of git's", err);
    return 0;
}

int cordon_git_config_read(const char *text, size_t length, cordon_git_config_fn *fn, void *context,
                           cordon_err *err)
{
    config_reader r = {.at = text, .end = text + length, .line = 1};
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which git passes over */
    if (length >= 3 && memcmp(text, mark, 3) == 0)
        r.at += 3;
    while (r.at < r.end)
        if (read_item(&r, fn, context, err) < 0)
            return -1;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer in front of libconfig, with libconfig's own small grammar as a table: libconfig 1.5
 * leaks memory on a syntax error and says less about it, so it is given none.
 */
#include "config_scan.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config_grammar.h"
#include "kit/buf.h"
#include "kit/num.h"

/* A rewritten number is at most 3 bytes longer than it was. */
#define OUTPUT_MAX (4U * 1024U * 1024U + 64U)

typedef struct name {
    const char *text;
    size_t length;
    int line;
} name;

/* Arrays hold one kind of plain value. */
typedef enum scalar {
    SCALAR_NONE = 0,
    SCALAR_NUMBER,
    SCALAR_FRACTION,
    SCALAR_FLAG,
    SCALAR_TEXT,
} scalar;

/* One open bracket. names[] from first_name on are the settings of this group. */
typedef struct scope {
    char closer; /* '\0': the whole text */
    cordon_grammar_state state;
    scalar last;  /* the token before was a plain value of this kind */
    scalar first; /* arrays: the kind of all */
    size_t first_name;
    name opened_by;
} scope;

typedef struct scanner {
    const char *file;
    const char *at;
    const char *end;
    int line;
    cordon_buf out;
    name pending; /* the last name */
    size_t depth;
    scope scopes[CORDON_CONFIG_MAX_DEPTH + 1];
    size_t name_count;
    name names[(CORDON_CONFIG_MAX_DEPTH + 1) * CORDON_CONFIG_MAX_KEYS];
} scanner;

#define FAIL(s, err, format, ...)                                                                  \
    CORDON_FAIL((err), CORDON_ERR_CONFIG, "%s:%d: " format, CORDON_QUOTE((s)->file), (s)->line,    \
                __VA_ARGS__)

#define QUOTE_N(text, length)                                                                      \
    cordon_err_printable((char[CORDON_QUOTE_MAX]){0}, CORDON_QUOTE_MAX, (text), (length))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool starts_with(const scanner *s, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, text, length) == 0;
}

/* Copies `length` bytes to the output and moves past them. */
static int take(scanner *s, size_t length, cordon_err *err)
{
    if (cordon_buf_append(&s->out, s->at, length, err) < 0)
        return -1;
    for (size_t i = 0; i < length; i++)
        s->line += s->at[i] == '\n' ? 1 : 0;
    s->at += length;
    return 0;
}

/* --- Grammar ------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '*';
}

/* Appends ".name" to a path; what does not fit is left out. */
static size_t append_name(char *out, size_t length, const name *n)
{
    int added = snprintf(out + length, CORDON_QUOTE_MAX - length, "%s%s", length > 0 ? "." : "",
                         QUOTE_N(n->text, n->length));
    bool fits = added >= 0 && (size_t)added < CORDON_QUOTE_MAX - length;
    return fits ? length + (size_t)added : CORDON_QUOTE_MAX - 1;
}

/* "limits.memory" for the setting that `last` names, or - NULL - that is being read. */
static const char *key_path(const scanner *s, const name *last, char out[CORDON_QUOTE_MAX])
{
    const scope *inner = &s->scopes[s->depth];
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 1; i <= s->depth; i++)
        if (s->scopes[i].opened_by.length > 0)
            length = append_name(out, length, &s->scopes[i].opened_by);
    if (!last && s->name_count > inner->first_name && inner->state != CORDON_WANT_NAME)
        last = &s->names[s->name_count - 1];
    if (last)
        (void)append_name(out, length, last);
    return out;
}

static const char *key_prefix(const scanner *s, char out[CORDON_QUOTE_MAX + 2])
{
    (void)key_path(s, NULL, out);
    size_t length = strlen(out);
    memcpy(out + length, ": ", length > 0 ? 3 : 0);
    return out;
}

/* The word at the cursor, or one byte. */
static size_t word_length(const scanner *s)
{
    size_t length = 0;
    while (s->at + length < s->end && is_name_byte(s->at[length]))
        length++;
    return length > 0 ? length : 1;
}

static int fail_grammar(const scanner *s, cordon_err *err)
{
    char key[CORDON_QUOTE_MAX + 2];
    const scope *inner = &s->scopes[s->depth];
    if (s->at >= s->end)
        return FAIL(s, err, "%sthe text ends where %s must stand", key_prefix(s, key),
                    cordon_grammar_wanted(inner->state));
    return FAIL(s, err, "%s\"%s\" stands where %s must stand", key_prefix(s, key),
                QUOTE_N(s->at, word_length(s)), cordon_grammar_wanted(inner->state));
}

/* Takes the step that the token at the cursor means in the innermost bracket. */
static int step(scanner *s, cordon_token token, cordon_err *err)
{
    scope *inner = &s->scopes[s->depth];
    if (!cordon_grammar_step(&inner->state, token))
        return fail_grammar(s, err);
    inner->last = SCALAR_NONE;
    return 0;
}

/* A plain value. Texts side by side are one text, as in C. */
static int step_scalar(scanner *s, scalar kind, cordon_err *err)
{
    scope *inner = &s->scopes[s->depth];
    if (kind == SCALAR_TEXT && inner->last == SCALAR_TEXT)
        return 0;
    if (step(s, CORDON_TOKEN_SCALAR, err) < 0)
        return -1;
    inner->last = kind;
    if (inner->closer == ']' && inner->first != SCALAR_NONE && inner->first != kind)
        return FAIL(s, err, "%s", "an array [ ] holds values of one kind; use a list ( )");
    inner->first = kind;
    return 0;
}

/* --- Comments and strings ------------------------------------------------------------------ */

/* Comments are dropped, their line ends kept. */
static int skip_line_comment(scanner *s)
{
    while (s->at < s->end && *s->at != '\n')
        s->at++;
    return 0;
}

static int skip_block_comment(scanner *s, cordon_err *err)
{
    int opened = s->line;
    for (s->at += 2; s->at < s->end && !starts_with(s, "*/"); s->at++) {
        if (*s->at != '\n')
            continue;
        s->line++;
        if (cordon_buf_append_char(&s->out, '\n', err) < 0)
            return -1;
    }
    if (s->at >= s->end) {
        s->line = opened;
        return FAIL(s, err, "%s", "a comment is not closed with */");
    }
    s->at += 2;
    return cordon_buf_append_char(&s->out, ' ', err);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The length of the escape at text, 0 for one that libconfig would misread. */
static size_t escape_length(const char *text, const char *end)
{
    if (end - text < 2)
        return 0;
    if (text[1] == 'x') {
        bool whole = end - text >= 4 && is_hex(text[2]) && is_hex(text[3]);
        return whole && !(text[2] == '0' && text[3] == '0') ? 4 : 0;
    }
    return strchr("nrtf\\\"", text[1]) && text[1] ? 2 : 0;
}

static int take_string(scanner *s, cordon_err *err)
{
    const char *p = s->at + 1;
    if (step_scalar(s, SCALAR_TEXT, err) < 0)
        return -1;
    while (p < s->end && *p != '"') {
        size_t step = *p == '\\' ? escape_length(p, s->end) : 1;
        if (step == 0)
            return FAIL(s, err, "%s",
                        "a string has an unknown escape; known are \\n \\r \\t \\f \\\\ \\\" and "
                        "\\xHH except \\x00");
        if ((unsigned char)*p < 0x20 && *p != '\t')
            return FAIL(s, err, "%s",
                        "a string is not closed with \" on its line, or holds a control character");
        p += step;
    }
    if (p >= s->end)
        return FAIL(s, err, "%s", "a string is not closed with \"");
    return take(s, (size_t)(p - s->at) + 1, err);
}

/* --- Numbers ------------------------------------------------------------------------------- */

static size_t count_digits(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && is_digit(text[count]))
        count++;
    return count;
}

/* Digits, one point, digits; with an optional '-'. */
static bool is_plain_fraction(const char *text, size_t length)
{
    size_t skip = length > 0 && text[0] == '-' ? 1 : 0;
    size_t whole = count_digits(text + skip, length - skip);
    if (whole == 0 || skip + whole >= length || text[skip + whole] != '.')
        return false;
    size_t rest = skip + whole + 1;
    return rest < length && count_digits(text + rest, length - rest) == length - rest;
}

/* libconfig's suffixes say how wide a number is; the width is not the writer's business here. */
static size_t without_suffix(const char *text, size_t length)
{
    for (int i = 0; i < 2 && length > 1 && text[length - 1] == 'L'; i++)
        length--;
    return length;
}

static int read_number(const scanner *s, const char *text, size_t length, int64_t *ret_value,
                       cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    uint64_t hex = 0;
    int rc = 0;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        rc = cordon_num_hex(text + 2, length - 2, INT64_MAX, &hex, &why);
        *ret_value = (int64_t)hex;
    } else {
        rc = cordon_num_i64(text, length, INT64_MIN, INT64_MAX, ret_value, &why);
    }
    if (rc == 0)
        return 0;
    char key[CORDON_QUOTE_MAX + 2];
    return FAIL(s, err,
                "%s%s; write a plain number such as 12 or 1.5, or in quotes a value with a unit "
                "such as \"512MiB\" or \"10m\"",
                key_prefix(s, key), why.message);
}

static int take_number(scanner *s, cordon_err *err)
{
    const char *p = s->at;
    int64_t value = 0;
    while (p < s->end && (is_digit(*p) || is_letter(*p) || strchr("+-._", *p)) && *p)
        p++;
    size_t length = (size_t)(p - s->at);
    bool fraction = is_plain_fraction(s->at, length);
    if (step_scalar(s, fraction ? SCALAR_FRACTION : SCALAR_NUMBER, err) < 0)
        return -1;
    if (fraction)
        return take(s, length, err);
    if (read_number(s, s->at, without_suffix(s->at, length), &value, err) < 0)
        return -1;
    s->at = p;
    return cordon_buf_printf(&s->out, err, "%" PRId64 "L", value);
}

/* --- Names and brackets -------------------------------------------------------------------- */

static bool is_word(const name *n, const char *word)
{
    return n->length == strlen(word) && strncasecmp(n->text, word, n->length) == 0;
}

/* SECURITY: libconfig reads true and false in any letter case as values, so they are no names. */
static int take_name(scanner *s, cordon_err *err)
{
    name found = {.text = s->at, .length = word_length(s), .line = s->line};
    bool flag = is_word(&found, "true") || is_word(&found, "false");
    if ((flag ? step_scalar(s, SCALAR_FLAG, err) : step(s, CORDON_TOKEN_NAME, err)) < 0)
        return -1;
    s->pending = found;
    return take(s, found.length, err);
}

static int fail_repeated(const scanner *s, const name *again, int first_line, cordon_err *err)
{
    char path[CORDON_QUOTE_MAX];
    return FAIL(s, err, "%s: is given twice, first in line %d; keep one of them",
                key_path(s, again, path), first_line);
}

/* Notes a setting of the innermost group. */
static int add_name(scanner *s, const name *added, cordon_err *err)
{
    const scope *inner = &s->scopes[s->depth];
    for (size_t i = inner->first_name; i < s->name_count; i++)
        if (s->names[i].length == added->length &&
            memcmp(s->names[i].text, added->text, added->length) == 0)
            return fail_repeated(s, added, s->names[i].line, err);
    if (s->name_count - inner->first_name >= CORDON_CONFIG_MAX_KEYS)
        return FAIL(s, err, "more than %d settings in one group", CORDON_CONFIG_MAX_KEYS);
    s->names[s->name_count++] = *added;
    return 0;
}

/* The setting whose value the next bracket opens; none within a list. */
static name opening_name(const scanner *s)
{
    const scope *inner = &s->scopes[s->depth];
    bool in_group = inner->closer == '}' || s->depth == 0;
    return in_group && s->name_count > inner->first_name ? s->names[s->name_count - 1] : (name){0};
}

static int open_bracket(scanner *s, char closer, cordon_err *err)
{
    name opened_by = opening_name(s);
    if (s->scopes[s->depth].closer == ']')
        return FAIL(s, err, "%s", "an array [ ] holds plain values; use a list ( )");
    if (s->depth >= CORDON_CONFIG_MAX_DEPTH)
        return FAIL(s, err, "more than %d groups or lists within each other",
                    CORDON_CONFIG_MAX_DEPTH);
    if (step(s, CORDON_TOKEN_OPEN, err) < 0)
        return -1;
    s->scopes[++s->depth] = (scope){.closer = closer,
                                    .state = closer == '}' ? CORDON_WANT_NAME : CORDON_LIST_START,
                                    .first_name = s->name_count,
                                    .opened_by = opened_by};
    return 0;
}

static int close_bracket(scanner *s, char closer, cordon_err *err)
{
    if (s->scopes[s->depth].closer != closer)
        return FAIL(s, err, "a %c closes nothing that is open here", closer);
    if (step(s, CORDON_TOKEN_CLOSE, err) < 0)
        return -1;
    s->name_count = s->scopes[s->depth].first_name;
    s->depth--;
    return 0;
}

static int assign(scanner *s, cordon_err *err)
{
    if (step(s, CORDON_TOKEN_ASSIGN, err) < 0)
        return -1;
    return add_name(s, &s->pending, err);
}

static int take_mark(scanner *s, cordon_err *err)
{
    static const char openers[] = "{([";
    static const char closers[] = "})]";
    char c = *s->at;
    const char *opener = strchr(openers, c);
    int rc = 0;
    if (c == '=' || c == ':')
        rc = assign(s, err);
    else if (opener)
        rc = open_bracket(s, closers[opener - openers], err);
    else if (strchr(closers, c))
        rc = close_bracket(s, c, err);
    else
        rc = step(s, c == ';' ? CORDON_TOKEN_SEMICOLON : CORDON_TOKEN_COMMA, err);
    return rc < 0 ? -1 : take(s, 1, err);
}

/* --- All of it ----------------------------------------------------------------------------- */

static int take_token(scanner *s, cordon_err *err)
{
    char c = *s->at;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return take(s, 1, err);
    if (c == '#' || starts_with(s, "//"))
        return skip_line_comment(s);
    if (starts_with(s, "/*"))
        return skip_block_comment(s, err);
    if (c == '"')
        return take_string(s, err);
    if (is_letter(c) || c == '*')
        return take_name(s, err);
    if (is_digit(c) || c == '+' || c == '-' || c == '.')
        return take_number(s, err);
    if (c == '@')
        return FAIL(s, err, "%s", "@include is not supported; put the settings into this file");
    if (c != '\0' && strchr("=:;,{}()[]", c))
        return take_mark(s, err);
    return FAIL(s, err, "unexpected character \"%s\"", QUOTE_N(&c, 1));
}

static int scan_all(scanner *s, cordon_err *err)
{
    while (s->at < s->end)
        if (take_token(s, err) < 0)
            return -1;
    if (s->depth > 0) {
        const name *opened_by = &s->scopes[s->depth].opened_by;
        s->line = opened_by->line > 0 ? opened_by->line : s->line;
        return FAIL(s, err, "%s: is not closed with %c",
                    opened_by->length > 0 ? QUOTE_N(opened_by->text, opened_by->length) : "a list",
                    s->scopes[s->depth].closer);
    }
    bool whole = s->scopes[0].state == CORDON_WANT_NAME || s->scopes[0].state == CORDON_AFTER_VALUE;
    return whole ? 0 : fail_grammar(s, err);
}

int cordon_config_scan(const char *file, const char *text, size_t length, char **ret_text,
                       cordon_err *err)
{
    cordon_autofree scanner *s = calloc(1, sizeof *s);
    if (!s)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    s->file = file;
    s->at = text;
    s->end = text + length;
    s->line = 1;
    s->out = cordon_buf_make(OUTPUT_MAX);
    int rc = scan_all(s, err);
    if (rc == 0)
        rc = cordon_buf_take(&s->out, ret_text, NULL, err);
    cordon_buf_clear(&s->out);
    return rc;
}

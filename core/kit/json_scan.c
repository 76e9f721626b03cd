/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON syntax: RFC 8259 grammar, RFC 3629 UTF-8, paired surrogates, integers of 64 bits.
 * Recursive descent; the caller's depth limit bounds the stack.
 */
#include "kit/json_scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kit/num.h"

typedef struct scanner {
    const unsigned char *start;
    const unsigned char *next;
    const unsigned char *end;
    unsigned depth_left;
    cordon_json_counts *counts;
    cordon_err *err;
} scanner;

static int scan_value(scanner *s);

static int fail(scanner *s, const char *why)
{
    return CORDON_FAIL(s->err, CORDON_ERR_PROTOCOL, "not JSON: byte %zu: %s",
                       (size_t)(s->next - s->start), why);
}

/* The next byte, or -1 at the end. */
static int peek(const scanner *s)
{
    return s->next < s->end ? *s->next : -1;
}

static bool accept(scanner *s, char c)
{
    if (peek(s) != (unsigned char)c)
        return false;
    s->next++;
    return true;
}

static void skip_blanks(scanner *s)
{
    while (accept(s, ' ') || accept(s, '\n') || accept(s, '\r') || accept(s, '\t'))
        ;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* --- strings --- */

/* Lowest second byte and number of further bytes by lead byte: RFC 3629 section 4. */
typedef struct utf8_row {
    unsigned char lead_min, lead_max, second_min, second_max, more;
} utf8_row;

static const utf8_row utf8_rows[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2}, {0xe1, 0xec, 0x80, 0xbf, 2},
    {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2}, {0xf0, 0xf0, 0x90, 0xbf, 3},
    {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
};

static const utf8_row *find_utf8_row(unsigned char lead)
{
    for (size_t i = 0; i < sizeof utf8_rows / sizeof utf8_rows[0]; i++)
        if (lead >= utf8_rows[i].lead_min && lead <= utf8_rows[i].lead_max)
            return &utf8_rows[i];
    return NULL;
}

static int scan_utf8(scanner *s)
{
    const unsigned char *p = s->next;
    const utf8_row *row = find_utf8_row(*p);
    if (!row || (size_t)(s->end - p) <= row->more)
        return fail(s, "invalid UTF-8");
    if (p[1] < row->second_min || p[1] > row->second_max)
        return fail(s, "invalid UTF-8");
    for (unsigned i = 2; i <= row->more; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return fail(s, "invalid UTF-8");
    s->next += 1 + row->more;
    return 0;
}

/* The four digits after "\u". */
static int scan_hex4(scanner *s, unsigned *ret_unit)
{
    uint64_t unit = 0;
    if (s->end - s->next < 4 ||
        cordon_num_hex((const char *)s->next, 4, UINT16_MAX, &unit, NULL) < 0)
        return fail(s, "\\u without four hex digits");
    s->next += 4;
    *ret_unit = (unsigned)unit;
    return 0;
}

static int scan_unicode_escape(scanner *s, bool is_key)
{
    unsigned high = 0;
    unsigned low = 0;
    if (scan_hex4(s, &high) < 0)
        return -1;
    /* json-c ends a key at its first NUL: "Privileged\u0000x" would pass for "Privileged". */
    if (is_key && high == 0)
        return fail(s, "NUL in a key");
    if (high < 0xd800 || high > 0xdfff)
        return 0;
    if (high >= 0xdc00 || !accept(s, '\\') || !accept(s, 'u'))
        return fail(s, "lone surrogate");
    if (scan_hex4(s, &low) < 0)
        return -1;
    return low >= 0xdc00 && low <= 0xdfff ? 0 : fail(s, "lone surrogate");
}

static int scan_escape(scanner *s, bool is_key)
{
    s->next++;
    if (accept(s, 'u'))
        return scan_unicode_escape(s, is_key);
    int c = peek(s);
    if (c <= 0 || !strchr("\"\\/bfnrt", c))
        return fail(s, "unknown escape");
    s->next++;
    return 0;
}

static int scan_character(scanner *s, bool is_key)
{
    int c = peek(s);
    if (c < 0)
        return fail(s, "string without an end");
    if (c == '\\')
        return scan_escape(s, is_key);
    if (c < ' ')
        return fail(s, "raw control character in a string");
    if (c >= 0x80)
        return scan_utf8(s);
    s->next++;
    return 0;
}

/* After the opening quote. */
static int scan_string(scanner *s, bool is_key)
{
    while (!accept(s, '"'))
        if (scan_character(s, is_key) < 0)
            return -1;
    return 0;
}

/* --- numbers and words --- */

static bool scan_digits(scanner *s)
{
    const unsigned char *first = s->next;
    while (is_digit(peek(s)))
        s->next++;
    return s->next > first;
}

/* An integer that no 64-bit type holds would be clamped, and so be another number. */
static bool fits_64_bits(const unsigned char *first, size_t length)
{
    int64_t i = 0;
    uint64_t u = 0;
    const char *text = (const char *)first;
    if (length == 2 && memcmp(text, "-0", 2) == 0)
        return true;
    if (*first == '-')
        return cordon_num_i64(text, length, INT64_MIN, INT64_MAX, &i, NULL) == 0;
    return cordon_num_u64(text, length, 0, UINT64_MAX, &u, NULL) == 0;
}

static bool scan_fraction_and_exponent(scanner *s, bool *ret_seen)
{
    if (accept(s, '.')) {
        *ret_seen = true;
        if (!scan_digits(s))
            return false;
    }
    if (accept(s, 'e') || accept(s, 'E')) {
        *ret_seen = true;
        if (!accept(s, '+'))
            (void)accept(s, '-');
        return scan_digits(s);
    }
    return true;
}

static int scan_number(scanner *s)
{
    const unsigned char *first = s->next;
    bool is_real = false;
    (void)accept(s, '-');
    bool zero = accept(s, '0');
    if ((zero ? is_digit(peek(s)) : !scan_digits(s)) || !scan_fraction_and_exponent(s, &is_real))
        return fail(s, "malformed number");
    if (!is_real && !fits_64_bits(first, (size_t)(s->next - first)))
        return fail(s, "a number beyond 64 bits");
    return 0;
}

static int scan_word(scanner *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->next) < length || memcmp(s->next, word, length) != 0)
        return fail(s, "not a value");
    s->next += length;
    return 0;
}

/* --- containers --- */

static int scan_member(scanner *s)
{
    if (!accept(s, '"'))
        return fail(s, "expected a key in double quotes");
    if (scan_string(s, true) < 0)
        return -1;
    skip_blanks(s);
    if (!accept(s, ':'))
        return fail(s, "expected ':'");
    return scan_value(s);
}

/* After the opening bracket. */
static int scan_items(scanner *s, char close, uint32_t *ret_count)
{
    uint32_t count = 0;
    skip_blanks(s);
    if (accept(s, close)) {
        *ret_count = 0;
        return 0;
    }
    for (;;) {
        skip_blanks(s);
        if ((close == '}' ? scan_member(s) : scan_value(s)) < 0)
            return -1;
        count++;
        skip_blanks(s);
        if (accept(s, close))
            break;
        if (!accept(s, ','))
            return fail(s, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    *ret_count = count;
    return 0;
}

static int scan_container(scanner *s, uint32_t index)
{
    char close = *s->next == '{' ? '}' : ']';
    uint32_t count = 0;
    if (s->depth_left == 0)
        return fail(s, "nested too deeply");
    s->next++;
    s->depth_left--;
    if (scan_items(s, close, &count) < 0)
        return -1;
    s->depth_left++;
    s->counts->at[index] = count;
    return 0;
}

static int add_count(scanner *s, uint32_t *ret_index)
{
    cordon_json_counts *counts = s->counts;
    if (counts->length == counts->capacity) {
        uint32_t capacity = counts->capacity ? counts->capacity * 2 : 256;
        uint32_t *grown = realloc(counts->at, capacity * sizeof counts->at[0]);
        if (!grown)
            return CORDON_FAIL(s->err, CORDON_ERR_NOMEM, "no memory for %u JSON values", capacity);
        counts->at = grown;
        counts->capacity = capacity;
    }
    *ret_index = counts->length++;
    counts->at[*ret_index] = 0;
    return 0;
}

static int scan_value(scanner *s)
{
    uint32_t index = 0;
    skip_blanks(s);
    if (add_count(s, &index) < 0)
        return -1;
    switch (peek(s)) {
    case '{':
    case '[':
        return scan_container(s, index);
    case '"':
        s->next++;
        return scan_string(s, false);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    case -1:
        return fail(s, "the text ends where a value belongs");
    default:
        return scan_number(s);
    }
}

int cordon_json_scan(const void *bytes, size_t length, unsigned max_depth,
                     cordon_json_counts *ret_counts, cordon_err *err)
{
    scanner s = {.start = bytes,
                 .next = bytes,
                 .end = (const unsigned char *)bytes + length,
                 .depth_left = max_depth,
                 .counts = ret_counts,
                 .err = err};
    if (scan_value(&s) < 0)
        return -1;
    skip_blanks(&s);
    return s.next == s.end ? 0 : fail(&s, "text after the value");
}

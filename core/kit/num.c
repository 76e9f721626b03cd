/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to number, strictly. libc-only.
 */
#include "kit/num.h"

#include <stdbool.h>
#include <string.h>

#define QUOTE(text, length) cordon_err_printable((char[64]){0}, 64, (text), (length))

static int fail(const char *text, size_t length, const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" %s", QUOTE(text, length), why);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* NULL, or what is wrong with the digits. */
static const char *read_decimal(const char *text, size_t length, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (length == 0)
        return "is not a number";
    if (text[0] == '0' && length > 1 && is_digit(text[1]))
        return "has a leading zero";
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return "is not a whole decimal number";
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return "is too large";
    }
    *ret_value = value;
    return NULL;
}

int cordon_num_u64(const char *text, size_t length, uint64_t min, uint64_t max, uint64_t *ret_value,
                   cordon_err *err)
{
    uint64_t value = 0;
    const char *why = read_decimal(text, length, &value);
    if (why)
        return fail(text, length, why, err);
    if (value < min || value > max)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not between %llu and %llu",
                           QUOTE(text, length), (unsigned long long)min, (unsigned long long)max);
    *ret_value = value;
    return 0;
}

/* -magnitude without ever forming a value that does not fit; false when it cannot fit. */
static bool to_signed(uint64_t magnitude, bool negative, int64_t *ret_value)
{
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (magnitude > limit)
        return false;
    if (!negative)
        *ret_value = (int64_t)magnitude;
    else
        *ret_value = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return true;
}

int cordon_num_i64(const char *text, size_t length, int64_t min, int64_t max, int64_t *ret_value,
                   cordon_err *err)
{
    bool negative = length > 0 && text[0] == '-';
    size_t skip = negative ? 1 : 0;
    uint64_t magnitude = 0;
    int64_t value = 0;
    const char *why = read_decimal(text + skip, length - skip, &magnitude);
    if (!why && negative && magnitude == 0)
        why = "is a negative zero";
    if (!why && !to_signed(magnitude, negative, &value))
        why = "is too large";
    if (why)
        return fail(text, length, why, err);
    if (value < min || value > max)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not between %lld and %lld",
                           QUOTE(text, length), (long long)min, (long long)max);
    *ret_value = value;
    return 0;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int cordon_num_hex(const char *text, size_t length, uint64_t max, uint64_t *ret_value,
                   cordon_err *err)
{
    uint64_t value = 0;
    if (length == 0 || length > 16)
        return fail(text, length, "is not a number of 1 to 16 hex digits", err);
    for (size_t i = 0; i < length; i++) {
        int digit = hex_value(text[i]);
        if (digit < 0)
            return fail(text, length, "is not a hex number", err);
        value = value << 4 | (uint64_t)digit;
    }
    if (value > max)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is more than %#llx", QUOTE(text, length),
                           (unsigned long long)max);
    *ret_value = value;
    return 0;
}

typedef struct unit {
    const char *suffix;
    uint64_t factor;
} unit;

static const unit size_units[] = {
    {"", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

static const unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0},
};

static const unit *find_unit(const unit *units, const char *suffix, size_t length)
{
    for (; units->suffix; units++)
        if (strlen(units->suffix) == length && memcmp(units->suffix, suffix, length) == 0)
            return units;
    return NULL;
}

/* "<decimal><unit>", the product at most max. */
static int read_with_unit(const char *text, size_t length, const unit *units, const char *expected,
                          uint64_t max, uint64_t *ret_value, cordon_err *err)
{
    size_t digits = 0;
    uint64_t value = 0;
    while (digits < length && is_digit(text[digits]))
        digits++;
    const unit *found = find_unit(units, text + digits, length - digits);
    if (digits == 0 || !found)
        return fail(text, length, expected, err);
    const char *why = read_decimal(text, digits, &value);
    if (!why && (__builtin_mul_overflow(value, found->factor, &value) || value > max))
        why = "is too large";
    if (why)
        return fail(text, length, why, err);
    *ret_value = value;
    return 0;
}

int cordon_num_size(const char *text, size_t length, uint64_t *ret_bytes, cordon_err *err)
{
    /* Everything that takes a size (json, off_t, cgroup files) is signed. */
    return read_with_unit(text, length, size_units,
                          "is not a size such as 512, 64KiB, 256MiB, 2GiB or 1TiB", INT64_MAX,
                          ret_bytes, err);
}

int cordon_num_duration(const char *text, size_t length, int64_t *ret_ms, cordon_err *err)
{
    uint64_t ms = 0;
    if (read_with_unit(text, length, duration_units,
                       "is not a duration such as 500ms, 30s, 10m or 2h", INT64_MAX, &ms, err) < 0)
        return -1;
    *ret_ms = (int64_t)ms;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host name syntax and equality; see host.h.
 */
#include "host.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    char folded = cordon_host_fold(c);
    return folded >= 'a' && folded <= 'z';
}

static bool is_hex(char c)
{
    char folded = cordon_host_fold(c);
    return is_digit(c) || (folded >= 'a' && folded <= 'f');
}

char cordon_host_fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static bool label_ok(const char *label, size_t length)
{
    if (length == 0 || length > CORDON_HOST_LABEL_MAX)
        return false;
    if (label[0] == '-' || label[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(label[i]) && !is_letter(label[i]) && label[i] != '-')
            return false;
    }
    return true;
}

/* Decimal, octal, or 0x with any number of hex digits, "0x" alone included. */
static bool label_is_number(const char *label, size_t length)
{
    bool hex = length >= 2 && label[0] == '0' && cordon_host_fold(label[1]) == 'x';
    for (size_t i = hex ? 2 : 0; i < length; i++) {
        if (hex ? !is_hex(label[i]) : !is_digit(label[i]))
            return false;
    }
    return true;
}

static cordon_reason check_labels(const char *host, size_t length)
{
    size_t start = 0;
    for (size_t i = 0; i < length; i++) {
        if (host[i] != '.')
            continue;
        if (!label_ok(host + start, i - start))
            return CORDON_REASON_BAD_TARGET;
        start = i + 1;
    }
    if (!label_ok(host + start, length - start))
        return CORDON_REASON_BAD_TARGET;
    return label_is_number(host + start, length - start) ? CORDON_REASON_IP_LITERAL
                                                         : CORDON_REASON_NONE;
}

cordon_reason cordon_host_check(const char *host, size_t length)
{
    bool final_dot = length > 1 && host[length - 1] == '.';
    if (final_dot)
        length--;
    if (length == 0 || length > CORDON_HOST_MAX)
        return CORDON_REASON_BAD_TARGET;
    cordon_reason reason = check_labels(host, length);
    return final_dot && reason == CORDON_REASON_NONE ? CORDON_REASON_FINAL_DOT : reason;
}

bool cordon_host_equal(const char *left, size_t left_length, const char *right, size_t right_length)
{
    if (left_length != right_length)
        return false;
    for (size_t i = 0; i < left_length; i++) {
        if (cordon_host_fold(left[i]) != cordon_host_fold(right[i]))
            return false;
    }
    return true;
}

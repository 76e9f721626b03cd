/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 checking and base64. */
#include "utf8.h"

#include <stdint.h>

/* One row per kind of first byte: how many bytes follow, and the range of the second one. */
typedef struct lead {
    uint8_t first;
    uint8_t last;
    uint8_t follow;
    uint8_t second_min;
    uint8_t second_max;
} lead;

static const lead leads[] = {
    {0x00, 0x7F, 0, 0, 0},       {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF},
    {0xE1, 0xEC, 2, 0x80, 0xBF}, {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF},
    {0xF0, 0xF0, 3, 0x90, 0xBF}, {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

static const lead *find_lead(uint8_t byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (byte >= leads[i].first && byte <= leads[i].last)
            return &leads[i];
    }
    return NULL;
}

/* Bytes of the character at the start; 0 for none; *ret_cut when only its beginning is there. */
static size_t character(const uint8_t *at, size_t left, bool *ret_cut)
{
    const lead *kind = find_lead(at[0]);
    if (!kind)
        return 0;
    for (size_t i = 1; i <= kind->follow; i++) {
        uint8_t min = i == 1 ? kind->second_min : 0x80;
        uint8_t max = i == 1 ? kind->second_max : 0xBF;
        if (i == left) {
            *ret_cut = true;
            return 0;
        }
        if (at[i] < min || at[i] > max)
            return 0;
    }
    return (size_t)kind->follow + 1;
}

size_t cordon_cli_utf8_prefix(const char *bytes, size_t length, bool *ret_cut)
{
    size_t used = 0;
    *ret_cut = false;
    while (used < length) {
        size_t taken = character((const uint8_t *)bytes + used, length - used, ret_cut);
        if (taken == 0)
            break;
        used += taken;
    }
    return used;
}

void cordon_cli_base64(const void *bytes, size_t length, char *ret_text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    char *out = ret_text;
    for (size_t i = 0; i < length; i += 3) {
        size_t have = length - i < 3 ? length - i : 3;
        uint32_t group = (uint32_t)in[i] << 16;
        group |= have > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        group |= have > 2 ? in[i + 2] : 0;
        *out++ = digits[group >> 18];
        *out++ = digits[group >> 12 & 63];
        *out++ = (char)(have > 1 ? digits[group >> 6 & 63] : '=');
        *out++ = (char)(have > 2 ? digits[group & 63] : '=');
    }
    *out = '\0';
}

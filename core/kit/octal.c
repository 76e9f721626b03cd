/* SPDX-License-Identifier: Apache-2.0 */
/* See octal.h. */
#include "kit/octal.h"

#include <stdbool.h>

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

void cordon_octal_decode(char *text)
{
    char *out = text;
    while (*text) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

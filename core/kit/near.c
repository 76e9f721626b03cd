/* SPDX-License-Identifier: Apache-2.0 */
/* Distance of words, with swaps of neighbours (optimal string alignment); see near.h. */
#include "kit/near.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* ASCII alone: words of ours hold nothing else. */
static char lower(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (char)(letter - 'A' + 'a');
    return letter;
}

/* Three rows of the matrix are enough: this one and the two above. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][CORDON_NEAR_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = lower(a[i - 1]);
            char y = lower(b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]) &&
                two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

size_t cordon_near_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);
    if (strcmp(a, b) == 0)
        return 0;
    if (a_length > CORDON_NEAR_MAX || b_length > CORDON_NEAR_MAX)
        return SIZE_MAX;
    size_t letters = distance(a, a_length, b, b_length);
    return letters > 0 ? letters : 1;
}

static size_t allowed(size_t length)
{
    size_t third = length / 3;
    if (third < 1)
        return length > 1 ? 1 : 0;
    return third < 3 ? third : 3;
}

void cordon_near_look(cordon_near *near, const char *candidate)
{
    size_t letters = cordon_near_distance(near->word, candidate);
    if (letters == 0 || letters > allowed(strlen(near->word)) ||
        (near->best && letters >= near->distance))
        return;
    near->best = candidate;
    near->distance = letters;
}

static char upper(char letter)
{
    if (letter >= 'a' && letter <= 'z')
        return (char)(letter - 'a' + 'A');
    return letter;
}

const char *cordon_near_hint(const cordon_near *near, const char *next, char *ret_text)
{
    if (near->best)
        (void)snprintf(ret_text, CORDON_NEAR_HINT_SIZE, "; did you mean \"%s\"? %c%s", near->best,
                       upper(next[0]), next + 1);
    else
        (void)snprintf(ret_text, CORDON_NEAR_HINT_SIZE, "; %s", next);
    return ret_text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word that was meant: among many, the one that differs least from what was written. For
 * messages alone; nothing is ever taken for something else because of it.
 */
#ifndef CORDON_KIT_NEAR_H
#define CORDON_KIT_NEAR_H

#include <stddef.h>

/* Longer words are near to nothing. */
#define CORDON_NEAR_MAX 96

/*
 * How many letters have to be put in, left out, changed or swapped with their neighbour to make one
 * of the other; letters that differ by case alone count as none, but not as equal words.
 * @return 0 for equal words, SIZE_MAX for words that are too long
 */
size_t cordon_near_distance(const char *a, const char *b);

/* A search: zeroed but for `word`. */
typedef struct cordon_near {
    const char *word;
    const char *best; /* borrowed from a candidate; NULL while none is near */
    size_t distance;
} cordon_near;

/*
 * Takes a candidate into account: near is a distance of up to a third of the written word's length,
 * at least 1 and at most 3. The first of several that are equally near is kept.
 */
void cordon_near_look(cordon_near *near, const char *candidate);

#define CORDON_NEAR_HINT_SIZE 192

/*
 * What a message goes on with: "; did you mean \"X\"? See" for the next words "see", or "; see"
 * when nothing is near.
 * @param next      up to 64 bytes, and begins with a letter
 * @param ret_text  CORDON_NEAR_HINT_SIZE bytes
 * @return ret_text
 */
const char *cordon_near_hint(const cordon_near *near, const char *next, char *ret_text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts of one tunnel that are under way at the same time, until one of its addresses
 * answers (RFC 8305): which descriptor goes to which address, no more than that. libc-only.
 */
#ifndef CORDON_PROXY_RACE_H
#define CORDON_PROXY_RACE_H

#include <stdbool.h>
#include <stdint.h>

/* So many at once; over it the oldest gives way. */
#define CORDON_RACE_MAX 3

/*
 * fd       owned, or -1
 * address  the place of its address in the answer; later attempts have higher ones
 */
typedef struct cordon_race {
    int fd[CORDON_RACE_MAX];
    uint8_t address[CORDON_RACE_MAX];
} cordon_race;

void cordon_race_init(cordon_race *ret_race);

/* Closes all attempts. */
void cordon_race_stop(cordon_race *race);

bool cordon_race_is_full(const cordon_race *race);
bool cordon_race_is_over(const cordon_race *race);

/* Takes fd over; in a full race the oldest attempt is closed for it. */
void cordon_race_add(cordon_race *race, int fd, uint8_t address);

/* Is this one of the attempts? */
bool cordon_race_has(const cordon_race *race, int fd);

/* Closes one. */
void cordon_race_drop(cordon_race *race, int fd);

/* Gives the winner to the caller and closes all others. Returns the place of its address. */
uint8_t cordon_race_win(cordon_race *race, int fd);

#endif

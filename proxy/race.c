/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts under way; see race.h.
 */
#include <unistd.h>

#include "race.h"

void cordon_race_init(cordon_race *ret_race)
{
    for (int i = 0; i < CORDON_RACE_MAX; i++)
        ret_race->fd[i] = -1;
}

/* The slot that holds fd; -1 for fd finds a free one. -1: none. */
static int slot_of(const cordon_race *race, int fd)
{
    for (int i = 0; i < CORDON_RACE_MAX; i++) {
        if (race->fd[i] == fd)
            return i;
    }
    return -1;
}

static void slot_close(cordon_race *race, int slot)
{
    if (race->fd[slot] >= 0)
        (void)close(race->fd[slot]);
    race->fd[slot] = -1;
}

void cordon_race_stop(cordon_race *race)
{
    for (int i = 0; i < CORDON_RACE_MAX; i++)
        slot_close(race, i);
}

bool cordon_race_is_full(const cordon_race *race)
{
    return slot_of(race, -1) < 0;
}

bool cordon_race_is_over(const cordon_race *race)
{
    for (int i = 0; i < CORDON_RACE_MAX; i++) {
        if (race->fd[i] >= 0)
            return false;
    }
    return true;
}

static int oldest(const cordon_race *race)
{
    int slot = 0;
    for (int i = 1; i < CORDON_RACE_MAX; i++) {
        if (race->address[i] < race->address[slot])
            slot = i;
    }
    return slot;
}

void cordon_race_add(cordon_race *race, int fd, uint8_t address)
{
    int slot = slot_of(race, -1);
    if (slot < 0) {
        slot = oldest(race);
        slot_close(race, slot);
    }
    race->fd[slot] = fd;
    race->address[slot] = address;
}

bool cordon_race_has(const cordon_race *race, int fd)
{
    return fd >= 0 && slot_of(race, fd) >= 0;
}

void cordon_race_drop(cordon_race *race, int fd)
{
    int slot = fd >= 0 ? slot_of(race, fd) : -1;
    if (slot >= 0)
        slot_close(race, slot);
}

uint8_t cordon_race_win(cordon_race *race, int fd)
{
    int slot = slot_of(race, fd);
    uint8_t address = race->address[slot < 0 ? 0 : slot];
    if (slot >= 0)
        race->fd[slot] = -1;
    cordon_race_stop(race);
    return address;
}

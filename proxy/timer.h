/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines in a binary heap: the timers live inside their owners, the heap holds only pointers,
 * so that arming one never allocates and an idle proxy sleeps until the first. libc-only, pure.
 */
#ifndef CORDON_PROXY_TIMER_H
#define CORDON_PROXY_TIMER_H

#include <stddef.h>
#include <stdint.h>

/*
 * at_ns  absolute CLOCK_MONOTONIC
 * slot   1-based place in the heap; 0 is unarmed, so a zeroed timer is fine
 * token  the owner's mark, never looked at here
 */
typedef struct cordon_timer {
    int64_t at_ns;
    uint32_t slot;
    uint32_t token;
} cordon_timer;

/* heap  borrowed array for `capacity` pointers; capacity is at least the number of timers */
typedef struct cordon_timers {
    cordon_timer **heap;
    uint32_t count;
    uint32_t capacity;
} cordon_timers;

/* Arms the timer, or moves it if it is armed. The timer must stay where it is until cancelled. */
void cordon_timers_set(cordon_timers *timers, cordon_timer *timer, int64_t at_ns);

/* Disarms; nothing happens to an unarmed timer. */
void cordon_timers_cancel(cordon_timers *timers, cordon_timer *timer);

/* The earliest if it is due: disarmed and returned; else NULL. */
cordon_timer *cordon_timers_pop(cordon_timers *timers, int64_t now_ns);

/* Milliseconds until the earliest, rounded up, for epoll_wait(2); -1 when there is none. */
int cordon_timers_wait_ms(const cordon_timers *timers, int64_t now_ns);

#endif

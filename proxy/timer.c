/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap behind timer.h.
 */
#include <assert.h>
#include <limits.h>

#include "timer.h"

#define NS_PER_MS INT64_C(1000000)

static void heap_put(cordon_timers *timers, uint32_t slot, cordon_timer *timer)
{
    timers->heap[slot - 1] = timer;
    timer->slot = slot;
}

/* Moves towards the root what is earlier than its parent. */
static void heap_up(cordon_timers *timers, cordon_timer *timer)
{
    uint32_t slot = timer->slot;
    while (slot > 1 && timers->heap[slot / 2 - 1]->at_ns > timer->at_ns) {
        heap_put(timers, slot, timers->heap[slot / 2 - 1]);
        slot /= 2;
    }
    heap_put(timers, slot, timer);
}

/* Moves towards the leaves what is later than a child. */
static void heap_down(cordon_timers *timers, cordon_timer *timer)
{
    uint32_t slot = timer->slot;
    while (slot * 2 <= timers->count) {
        uint32_t child = slot * 2;
        if (child < timers->count && timers->heap[child]->at_ns < timers->heap[child - 1]->at_ns)
            child++;
        if (timers->heap[child - 1]->at_ns >= timer->at_ns)
            break;
        heap_put(timers, slot, timers->heap[child - 1]);
        slot = child;
    }
    heap_put(timers, slot, timer);
}

void cordon_timers_set(cordon_timers *timers, cordon_timer *timer, int64_t at_ns)
{
    if (timer->slot == 0) {
        assert(timers->count < timers->capacity);
        timer->slot = ++timers->count;
    }
    timer->at_ns = at_ns;
    heap_up(timers, timer);
    heap_down(timers, timer);
}

void cordon_timers_cancel(cordon_timers *timers, cordon_timer *timer)
{
    if (timer->slot == 0)
        return;
    cordon_timer *last = timers->heap[--timers->count];
    uint32_t slot = timer->slot;
    timer->slot = 0;
    if (last == timer)
        return;
    heap_put(timers, slot, last);
    heap_up(timers, last);
    heap_down(timers, last);
}

cordon_timer *cordon_timers_pop(cordon_timers *timers, int64_t now_ns)
{
    if (timers->count == 0 || timers->heap[0]->at_ns > now_ns)
        return NULL;
    cordon_timer *first = timers->heap[0];
    cordon_timers_cancel(timers, first);
    return first;
}

int cordon_timers_wait_ms(const cordon_timers *timers, int64_t now_ns)
{
    if (timers->count == 0)
        return -1;
    int64_t left_ns = timers->heap[0]->at_ns - now_ns;
    if (left_ns <= 0)
        return 0;
    int64_t left_ms = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

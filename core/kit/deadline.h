/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One absolute deadline on CLOCK_MONOTONIC, together with a descriptor that cancels. Passed by
 * value; every call that may block takes one and never waits past it. libc-only.
 */
#ifndef CORDON_KIT_DEADLINE_H
#define CORDON_KIT_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/error.h"

#define CORDON_NS_PER_MS  INT64_C(1000000)
#define CORDON_NS_PER_SEC INT64_C(1000000000)

/*
 * at_ns      absolute CLOCK_MONOTONIC nanoseconds
 * cancel_fd  a descriptor that is readable when the caller wants to stop, or -1; borrowed
 */
typedef struct cordon_deadline {
    int64_t at_ns;
    int cancel_fd;
} cordon_deadline;

/* CLOCK_MONOTONIC now, in nanoseconds. */
int64_t cordon_now_ns(void);

/* A deadline ms milliseconds from now (saturating); ms <= 0 is one that has passed. */
cordon_deadline cordon_deadline_in_ms(int64_t ms, int cancel_fd);

/* The earlier of dl and now + ms, with dl's cancel descriptor: a call's own bound inside a run's.
 */
cordon_deadline cordon_deadline_clamp_ms(cordon_deadline dl, int64_t ms);

/* Milliseconds left, rounded up, 0 when it has passed; at most INT_MAX, so fit for poll(2). */
int cordon_deadline_left_ms(cordon_deadline dl);

bool cordon_deadline_passed(cordon_deadline dl);

/* 0 while there is time and no cancel; else -1 with TIMEOUT or CANCELLED, naming `what`. */
int cordon_deadline_check(cordon_deadline dl, const char *what, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Waits until fd has one of `events` (poll(2) bits), the deadline passes or cancel comes.
 * @return 0 and *ret_revents, or -1 with TIMEOUT, CANCELLED or SYSTEM
 */
int cordon_deadline_poll(cordon_deadline dl, int fd, short events, const char *what,
                         short *ret_revents, cordon_err *err) __attribute__((warn_unused_result));

#endif

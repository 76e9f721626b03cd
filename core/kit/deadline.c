/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines on CLOCK_MONOTONIC and the one blocking wait under them. libc-only.
 */
#include "kit/deadline.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

int64_t cordon_now_ns(void)
{
    /* Cannot fail: the clock exists on every Linux and the pointer is good. */
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CORDON_NS_PER_SEC + now.tv_nsec;
}

/* now + ms; saturates, so that "forever" stays far away instead of wrapping into the past. */
static int64_t after_ms(int64_t ms)
{
    int64_t at = 0;
    int64_t now = cordon_now_ns();
    if (ms <= 0)
        return now;
    if (__builtin_mul_overflow(ms, CORDON_NS_PER_MS, &at) || __builtin_add_overflow(at, now, &at))
        return INT64_MAX;
    return at;
}

cordon_deadline cordon_deadline_in_ms(int64_t ms, int cancel_fd)
{
    return (cordon_deadline){.at_ns = after_ms(ms), .cancel_fd = cancel_fd};
}

cordon_deadline cordon_deadline_clamp_ms(cordon_deadline dl, int64_t ms)
{
    int64_t bound = after_ms(ms);
    if (bound < dl.at_ns)
        dl.at_ns = bound;
    return dl;
}

int cordon_deadline_left_ms(cordon_deadline dl)
{
    int64_t now = cordon_now_ns();
    if (dl.at_ns <= now)
        return 0;
    int64_t left = dl.at_ns - now;
    /* Rounded up: rounding down would spin with poll(0) through the last millisecond. */
    int64_t ms = left / CORDON_NS_PER_MS + (left % CORDON_NS_PER_MS != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

bool cordon_deadline_passed(cordon_deadline dl)
{
    return dl.at_ns <= cordon_now_ns();
}

static int fail_cancelled(const char *what, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CANCELLED, "%s: cancelled", what);
}

static int fail_timeout(const char *what, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_TIMEOUT, "%s: the deadline passed", what);
}

int cordon_deadline_check(cordon_deadline dl, const char *what, cordon_err *err)
{
    struct pollfd cancel = {.fd = dl.cancel_fd, .events = POLLIN};
    /* Hang-up counts: a caller that is gone wants nothing any more. */
    if (dl.cancel_fd >= 0 && poll(&cancel, 1, 0) > 0)
        return fail_cancelled(what, err);
    if (cordon_deadline_passed(dl))
        return fail_timeout(what, err);
    return 0;
}

int cordon_deadline_poll(cordon_deadline dl, int fd, short events, const char *what,
                         short *ret_revents, cordon_err *err)
{
    for (;;) {
        /* poll(2) skips negative descriptors, so "no cancel" needs no case of its own. */
        struct pollfd fds[] = {{.fd = fd, .events = events},
                               {.fd = dl.cancel_fd, .events = POLLIN}};
        int ready = poll(fds, 2, cordon_deadline_left_ms(dl));
        if (ready < 0 && errno != EINTR)
            return CORDON_FAIL_ERRNO(err, errno, "%s: poll", what);
        if (ready > 0 && fds[1].revents)
            return fail_cancelled(what, err);
        if (ready > 0 && (fds[0].revents & POLLNVAL))
            return CORDON_FAIL_ERRNO(err, EBADF, "%s: poll", what);
        if (ready > 0) {
            *ret_revents = fds[0].revents;
            return 0;
        }
        if (cordon_deadline_passed(dl))
            return fail_timeout(what, err);
    }
}

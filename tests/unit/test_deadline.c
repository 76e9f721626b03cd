/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines: the far ones stay far, the passed ones stay passed, cancel wins. No time is measured.
 */
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "support/test.h"

static void a_deadline_of_nothing_has_passed(void)
{
    CHECK(cordon_deadline_passed(cordon_deadline_in_ms(0, -1)));
    CHECK(cordon_deadline_passed(cordon_deadline_in_ms(-5, -1)));
    CHECK_INT(cordon_deadline_left_ms(cordon_deadline_in_ms(INT64_MIN, -1)), 0);
}

static void a_deadline_at_the_end_of_time_does_not_wrap(void)
{
    cordon_deadline dl = cordon_deadline_in_ms(INT64_MAX, -1);
    CHECK(!cordon_deadline_passed(dl));
    CHECK_INT(cordon_deadline_left_ms(dl), INT_MAX);
}

static void the_last_fraction_of_a_millisecond_counts_as_one(void)
{
    cordon_deadline dl = {.at_ns = INT64_MAX, .cancel_fd = -1};
    dl.at_ns = cordon_now_ns() + 3600 * CORDON_NS_PER_SEC + 1;
    int left = cordon_deadline_left_ms(dl);
    CHECK(left > 0 && left <= 3600 * 1000 + 1);
}

static void clamping_never_moves_a_deadline_away(void)
{
    cordon_deadline far = cordon_deadline_in_ms(3600 * 1000, 7);
    cordon_deadline near = cordon_deadline_clamp_ms(far, 1000);
    CHECK(near.at_ns < far.at_ns);
    CHECK_INT(near.cancel_fd, 7);
    cordon_deadline same = cordon_deadline_clamp_ms(near, INT64_MAX);
    CHECK_INT(same.at_ns, near.at_ns);
}

static void check_tells_timeout_from_cancel(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    cordon_autoclose int out = pipe_fds[0];
    cordon_autoclose int in = pipe_fds[1];
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_deadline_check(cordon_deadline_in_ms(60000, out), "x", &err), err);
    CHECK_FAILS(cordon_deadline_check(cordon_deadline_in_ms(0, out), "GET /info", &err), err,
                CORDON_ERR_TIMEOUT, "GET /info: the deadline passed");
    cordon_err_clear(&err);
    REQUIRE_INT(write(in, "x", 1), 1);
    CHECK_FAILS(cordon_deadline_check(cordon_deadline_in_ms(60000, out), "GET /info", &err), err,
                CORDON_ERR_CANCELLED, "GET /info: cancelled");
}

static void a_closed_cancel_pipe_cancels(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    cordon_autoclose int out = pipe_fds[0];
    (void)close(pipe_fds[1]);
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_deadline_check(cordon_deadline_in_ms(60000, out), "x", &err), err,
                CORDON_ERR_CANCELLED, "x: cancelled");
}

static void poll_returns_what_is_ready(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    cordon_autoclose int out = pipe_fds[0];
    cordon_autoclose int in = pipe_fds[1];
    cordon_err err = CORDON_ERR_INIT;
    short revents = 0;
    REQUIRE_INT(write(in, "x", 1), 1);
    CHECK_OK(
        cordon_deadline_poll(cordon_deadline_in_ms(60000, -1), out, POLLIN, "x", &revents, &err),
        err);
    CHECK_INT(revents, POLLIN);
}

static void poll_ends_with_its_deadline_and_leaves_revents_alone(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    cordon_autoclose int out = pipe_fds[0];
    cordon_autoclose int in = pipe_fds[1];
    cordon_err err = CORDON_ERR_INIT;
    short revents = 42;
    CHECK_FAILS(
        cordon_deadline_poll(cordon_deadline_in_ms(1, -1), out, POLLIN, "wait", &revents, &err),
        err, CORDON_ERR_TIMEOUT, "wait: the deadline passed");
    CHECK_INT(revents, 42);
}

static void cancel_wins_over_a_ready_descriptor(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    cordon_autoclose int out = pipe_fds[0];
    cordon_autoclose int in = pipe_fds[1];
    cordon_err err = CORDON_ERR_INIT;
    short revents = 0;
    REQUIRE_INT(write(in, "x", 1), 1);
    CHECK_FAILS(cordon_deadline_poll(cordon_deadline_in_ms(60000, out), out, POLLIN, "wait",
                                     &revents, &err),
                err, CORDON_ERR_CANCELLED, "wait: cancelled");
}

static void polling_a_closed_descriptor_is_a_system_error(void)
{
    int pipe_fds[2] = {-1, -1};
    REQUIRE_INT(pipe(pipe_fds), 0);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
    cordon_err err = CORDON_ERR_INIT;
    short revents = 0;
    CHECK_FAILS(cordon_deadline_poll(cordon_deadline_in_ms(60000, -1), pipe_fds[0], POLLIN, "wait",
                                     &revents, &err),
                err, CORDON_ERR_SYSTEM, "wait: poll: Bad file descriptor");
}

CORDON_TEST_MAIN("deadline", TEST(a_deadline_of_nothing_has_passed),
                 TEST(a_deadline_at_the_end_of_time_does_not_wrap),
                 TEST(the_last_fraction_of_a_millisecond_counts_as_one),
                 TEST(clamping_never_moves_a_deadline_away), TEST(check_tells_timeout_from_cancel),
                 TEST(a_closed_cancel_pipe_cancels), TEST(poll_returns_what_is_ready),
                 TEST(poll_ends_with_its_deadline_and_leaves_revents_alone),
                 TEST(cancel_wins_over_a_ready_descriptor),
                 TEST(polling_a_closed_descriptor_is_a_system_error))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Case LC5: a call that is rightly silent for hours. The clock of this program, and of libcurl in
 * it, runs faster than the world's: an hour is a second. No idle or low-speed limit ends the call;
 * only its deadline does.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kit/httpc.h"
#include "support/test.h"
#include "support/udsd.h"

#define FASTER  3600
#define HOUR_MS INT64_C(3600000)
#define NS      INT64_C(1000000000)

/* In place of libc's, for every library in this program. */
#define EVERYBODYS __attribute__((visibility("default")))

EVERYBODYS int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (result != 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_RAW))
        return result;
    int64_t ns = (ret_time->tv_sec % 1000000 * NS + ret_time->tv_nsec) * FASTER;
    *ret_time = (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
    return 0;
}

static int shorter(int ms)
{
    return ms <= 0 ? ms : ms / FASTER + 1;
}

EVERYBODYS int poll(struct pollfd *fds, nfds_t count, int ms)
{
    int real_ms = shorter(ms);
    const struct timespec left = {.tv_sec = real_ms / 1000, .tv_nsec = real_ms % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, count, ms < 0 ? NULL : &left, NULL, 0);
}

/* What a hardened libcurl calls. */
int __poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t size); /* NOLINT: libc's name */
EVERYBODYS int __poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t size)
{
    (void)size;
    return poll(fds, count, ms);
}

static cordon_httpc *client_of(const udsd *s)
{
    cordon_httpc *client = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const cordon_httpc_endpoint at = {.unix_path = udsd_path(s)};
    return CHECK_OK(cordon_httpc_new(&at, &client, &err), err) ? client : NULL;
}

static void stop(udsd **s)
{
    udsd_stop(*s);
}

static const cordon_httpc_request wait_for_the_end = {
    .method = "POST",
    .path = "/containers/x/wait",
    .response_max_bytes = 1000,
    .mutating = true,
};

static void LC5_a_call_that_is_silent_for_two_hours_gets_its_answer(void)
{
    static const udsd_step late = {.status = 200, .json = "{}", .delay_ms = 2 * HOUR_MS};
    cordon_cleanup(stop) udsd *s = udsd_start(&late, 1);
    cordon_auto_ptr(cordon_httpc) client = client_of(s);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    int64_t began_ns = cordon_now_ns();
    REQUIRE_OK(cordon_httpc_call(client, &wait_for_the_end,
                                 cordon_deadline_in_ms(1000 * HOUR_MS, -1), &response, &err),
               err);
    CHECK_INT(response.status, 200);
    CHECK(cordon_now_ns() - began_ns >= 2 * HOUR_MS * CORDON_NS_PER_MS);
}

static void LC5_only_the_deadline_ends_it(void)
{
    static const udsd_step never = {.flags = UDSD_NEVER_ANSWER};
    cordon_cleanup(stop) udsd *s = udsd_start(&never, 1);
    cordon_auto_ptr(cordon_httpc) client = client_of(s);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    int64_t began_ns = cordon_now_ns();
    CHECK_FAILS(cordon_httpc_call(client, &wait_for_the_end, cordon_deadline_in_ms(HOUR_MS, -1),
                                  &response, &err),
                err, CORDON_ERR_INDETERMINATE, "the deadline passed");
    CHECK(cordon_now_ns() - began_ns >= HOUR_MS * CORDON_NS_PER_MS);
}

CORDON_TEST_MAIN("httpc_patience", TEST(LC5_a_call_that_is_silent_for_two_hours_gets_its_answer),
                 TEST(LC5_only_the_deadline_ends_it))

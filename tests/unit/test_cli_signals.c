/* SPDX-License-Identifier: Apache-2.0 */
/* Signals as a descriptor: which of several came first, and that none of them kills. */
#include "cli/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/test.h"

/* Until so many have been heard; false when that takes a minute. */
static bool heard(int fd, int count)
{
    for (int i = 0; i < 6000; i++) {
        int waiting = 0;
        if (ioctl(fd, FIONREAD, &waiting) == 0 && waiting >= count)
            return true;
        (void)usleep(10000);
    }
    return false;
}

/* TERM has the greater number, so that a queue of pending ones would hand out INT first. */
static void the_first_to_come_is_the_one_that_counts(void)
{
    static const int orders[][2] = {{SIGTERM, SIGINT}, {SIGINT, SIGTERM}, {SIGTERM, SIGHUP}};
    int fd = -1;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_signals_open(&fd, &err), err);
    CHECK_INT(cordon_cli_signals_take(fd), 0);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        REQUIRE(kill(getpid(), orders[i][0]) == 0 && heard(fd, 1));
        REQUIRE(kill(getpid(), orders[i][1]) == 0 && heard(fd, 2));
        CHECK_INT(poll(&one, 1, 0), 1);
        CHECK_INT(cordon_cli_signals_take(fd), orders[i][0]);
        CHECK_INT(poll(&one, 1, 0), 0);
    }
}

CORDON_TEST_MAIN("cli_signals", TEST(the_first_to_come_is_the_one_that_counts))

/* SPDX-License-Identifier: Apache-2.0 */
/* Output to a reader that may be slow, stalled or gone, by a library that leaves signals alone. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test.h"

typedef struct rig {
    int reader;
    int writer;
    cordon_output_quota quota;
    cordon_output output;
} rig;

static void rig_clear(rig *value)
{
    cordon_output_clear(&value->output);
    cordon_cleanup_close(&value->reader);
    cordon_cleanup_close(&value->writer);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static bool rig_pipe(rig *value, int64_t quota_bytes)
{
    int ends[2];

    if (!CHECK_INT(pipe2(ends, O_CLOEXEC), 0))
        return false;
    value->reader = ends[0];
    value->writer = ends[1];
    value->quota = (cordon_output_quota){.left_bytes = quota_bytes};
    cordon_output_init(&value->output, value->writer, &value->quota, NULL);
    return true;
}

static bool put(cordon_output *output, const char *bytes, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_output_put(output, bytes, length, &err), err);
}

/* Puts `length` bytes that count up, so that a lost or doubled piece shows. */
static bool put_counting(cordon_output *output, size_t from, size_t length)
{
    cordon_autofree char *bytes = malloc(length);

    for (size_t i = 0; bytes != NULL && i < length; i++)
        bytes[i] = (char)((from + i) % 251);
    return CHECK(bytes != NULL) && put(output, bytes, length);
}

/* What can be read now; -1 at the end. */
static ssize_t read_now(int fd, char *bytes, size_t size)
{
    size_t used = 0;

    while (used < size) {
        struct timespec now = {0, 0};
        fd_set set;
        ssize_t got;

        FD_ZERO(&set);
        FD_SET(fd, &set);
        if (pselect(fd + 1, &set, NULL, NULL, &now, NULL) <= 0)
            break;
        got = read(fd, bytes + used, size - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static void a_reader_gets_what_was_put(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    char text[64] = "";

    REQUIRE(rig_pipe(&value, 1000));
    CHECK(!cordon_output_is_waiting(&value.output));
    REQUIRE(put(&value.output, "one ", 4) && put(&value.output, "two", 3));
    CHECK(cordon_output_is_waiting(&value.output));
    cordon_output_flush(&value.output);
    CHECK(!cordon_output_is_waiting(&value.output));
    REQUIRE_INT(read_now(value.reader, text, sizeof(text) - 1), 7);
    CHECK_STR(text, "one two");
    CHECK_INT(value.output.total_bytes, 7);
    CHECK_INT(value.quota.left_bytes, 993);
    CHECK(!value.quota.truncated);
}

static void past_the_quota_bytes_are_counted_and_dropped(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    char text[64] = "";

    REQUIRE(rig_pipe(&value, 5));
    REQUIRE(put(&value.output, "1234", 4));
    CHECK(!value.quota.truncated);
    REQUIRE(put(&value.output, "5678", 4) && put(&value.output, "9", 1));
    cordon_output_flush(&value.output);
    REQUIRE_INT(read_now(value.reader, text, sizeof(text) - 1), 5);
    CHECK_STR(text, "12345");
    CHECK(value.quota.truncated);
    CHECK_INT(value.quota.left_bytes, 0);
    CHECK_INT(value.output.total_bytes, 9);
}

static void exactly_the_quota_is_not_truncated(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};

    REQUIRE(rig_pipe(&value, 4));
    REQUIRE(put(&value.output, "1234", 4) && put(&value.output, "", 0));
    CHECK(!value.quota.truncated);
}

static void stdout_and_stderr_share_one_quota(void)
{
    cordon_auto(rig) one = {.reader = -1, .writer = -1};
    cordon_auto(rig) two = {.reader = -1, .writer = -1};

    REQUIRE(rig_pipe(&one, 6) && rig_pipe(&two, 0));
    two.output.quota = &one.quota;
    REQUIRE(put(&one.output, "1234", 4) && put(&two.output, "1234", 4));
    CHECK_INT(one.output.waiting.length, 4);
    CHECK_INT(two.output.waiting.length, 2);
    CHECK(one.quota.truncated);
    CHECK_INT(two.output.total_bytes, 4);
}

static void output_that_nobody_wants_is_counted(void)
{
    cordon_output_quota quota = {.left_bytes = 10};
    cordon_auto(rig) value = {.reader = -1, .writer = -1};

    cordon_output_init(&value.output, -1, &quota, NULL);
    REQUIRE(put(&value.output, "1234", 4));
    cordon_output_flush(&value.output);
    CHECK(!cordon_output_is_waiting(&value.output));
    CHECK(cordon_output_has_room(&value.output));
    CHECK_INT(value.output.total_bytes, 4);
    CHECK_INT(quota.left_bytes, 6);
}

/* A pipe takes 64 KiB by default; whatever it takes, the rest waits and nothing blocks. */
static void OT5_a_stalled_reader_makes_bytes_wait_and_then_gets_all_of_them(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    cordon_autofree char *got = malloc(400000);
    size_t put_bytes = 0;
    size_t used = 0;

    REQUIRE(got != NULL && rig_pipe(&value, INT64_MAX));
    while (cordon_output_has_room(&value.output)) {
        REQUIRE(put_counting(&value.output, put_bytes, 5000));
        put_bytes += 5000;
        cordon_output_flush(&value.output);
    }
    CHECK(put_bytes > CORDON_OUTPUT_WATERMARK);
    CHECK(cordon_output_is_waiting(&value.output));
    cordon_output_flush(&value.output);
    CHECK(!cordon_output_has_room(&value.output));
    while (cordon_output_is_waiting(&value.output)) {
        used += (size_t)read_now(value.reader, got + used, 400000 - used);
        cordon_output_flush(&value.output);
    }
    used += (size_t)read_now(value.reader, got + used, 400000 - used);
    REQUIRE_INT(used, put_bytes);
    for (size_t i = 0; i < used; i++)
        REQUIRE((unsigned char)got[i] == i % 251);
    CHECK(cordon_output_has_room(&value.output));
}

static void one_piece_more_than_the_watermark_still_fits(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *bytes = calloc(1, 512u << 10);

    REQUIRE(bytes != NULL && rig_pipe(&value, INT64_MAX));
    REQUIRE(put(&value.output, bytes, CORDON_OUTPUT_WATERMARK - 1));
    CHECK(cordon_output_has_room(&value.output));
    REQUIRE(put(&value.output, bytes, 256u << 10));
    CHECK(!cordon_output_has_room(&value.output));
    CHECK_FAILS(cordon_output_put(&value.output, bytes, 512u << 10, &err), err, CORDON_ERR_PROTOCOL,
                "");
}

/* Flushes a filled output until the descriptor takes no more; a blocked write would hang here. */
static void flush_until_stalled(cordon_output *output)
{
    size_t before;

    do {
        before = output->waiting.length;
        cordon_output_flush(output);
    } while (output->waiting.length < before);
}

static void a_stalled_socket_does_not_block(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    int ends[2];

    REQUIRE_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    value.reader = ends[0];
    value.writer = ends[1];
    value.quota.left_bytes = INT64_MAX;
    cordon_output_init(&value.output, value.writer, &value.quota, NULL);
    do {
        REQUIRE(put_counting(&value.output, 0, 60000));
        flush_until_stalled(&value.output);
    } while (cordon_output_has_room(&value.output));
    CHECK(cordon_output_is_waiting(&value.output));
    CHECK(!value.output.closed);
}

static void a_stalled_terminal_does_not_block(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};

    REQUIRE_INT(openpty(&value.reader, &value.writer, NULL, NULL, NULL), 0);
    value.quota.left_bytes = INT64_MAX;
    cordon_output_init(&value.output, value.writer, &value.quota, NULL);
    do {
        REQUIRE(put_counting(&value.output, 0, 60000));
        flush_until_stalled(&value.output);
    } while (cordon_output_has_room(&value.output));
    CHECK(cordon_output_is_waiting(&value.output));
    CHECK(!value.output.closed);
}

static void the_descriptors_own_mode_is_left_alone(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    int before;

    REQUIRE(rig_pipe(&value, 1000));
    before = fcntl(value.writer, F_GETFL);
    REQUIRE(put(&value.output, "text", 4));
    cordon_output_flush(&value.output);
    CHECK_INT(fcntl(value.writer, F_GETFL), before);
}

/* --- Readers that go, and signals ---------------------------------------------------------------
 */

static bool sigpipe_is_pending(void)
{
    sigset_t set;

    (void)sigpending(&set);
    return sigismember(&set, SIGPIPE) == 1;
}

static bool sigpipe_is_blocked(void)
{
    sigset_t set;

    (void)pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, SIGPIPE) == 1;
}

static void block_sigpipe(bool block)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static bool gone(rig *value)
{
    if (!rig_pipe(value, 1000) || !put(&value->output, "text", 4))
        return false;
    (void)close(value->reader);
    value->reader = -1;
    cordon_output_flush(&value->output);
    return true;
}

/* The process has the default disposition here: it would be dead if the signal came through. */
static void LC6_a_reader_that_has_gone_does_not_kill_the_program(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    struct sigaction action;

    REQUIRE_INT(sigaction(SIGPIPE, NULL, &action), 0);
    REQUIRE(action.sa_handler == SIG_DFL);
    REQUIRE(gone(&value));
    CHECK(value.output.closed);
    CHECK(!cordon_output_is_waiting(&value.output));
    CHECK(!sigpipe_is_pending());
    CHECK(!sigpipe_is_blocked());
    REQUIRE_INT(sigaction(SIGPIPE, NULL, &action), 0);
    CHECK(action.sa_handler == SIG_DFL);
}

static void what_comes_after_the_reader_has_gone_is_counted_and_dropped(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};

    REQUIRE(gone(&value));
    REQUIRE(put(&value.output, "more", 4));
    CHECK(!cordon_output_is_waiting(&value.output));
    CHECK(cordon_output_has_room(&value.output));
    CHECK_INT(value.output.total_bytes, 8);
    cordon_output_flush(&value.output);
    CHECK(value.output.closed);
    /* However much it is: nothing is cut for a reader that is not there. */
    value.quota.left_bytes = 1;
    REQUIRE(put(&value.output, "more", 4));
    CHECK(!value.quota.truncated);
}

static void a_program_that_blocks_sigpipe_still_blocks_it_and_has_none_from_us(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    bool ok;

    block_sigpipe(true);
    ok = gone(&value) && CHECK(value.output.closed) && CHECK(!sigpipe_is_pending()) &&
         CHECK(sigpipe_is_blocked());
    block_sigpipe(false);
    CHECK(ok);
}

static void somebody_elses_pending_sigpipe_stays_pending(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};
    struct timespec now = {0, 0};
    sigset_t set;
    bool ok;

    block_sigpipe(true);
    (void)raise(SIGPIPE);
    ok = gone(&value) && CHECK(value.output.closed) && CHECK(sigpipe_is_pending()) &&
         CHECK(sigpipe_is_blocked());
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    CHECK_INT(sigtimedwait(&set, NULL, &now), SIGPIPE);
    CHECK(!sigpipe_is_pending());
    block_sigpipe(false);
    CHECK(ok);
}

static void a_descriptor_that_cannot_be_written_is_as_good_as_gone(void)
{
    cordon_auto(rig) value = {.reader = -1, .writer = -1};

    REQUIRE(rig_pipe(&value, 1000));
    value.output.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(value.output.fd >= 0);
    REQUIRE(put(&value.output, "text", 4));
    cordon_output_flush(&value.output);
    CHECK(value.output.closed);
    (void)close(value.output.fd);
}

CORDON_TEST_MAIN("output", TEST(a_reader_gets_what_was_put),
                 TEST(past_the_quota_bytes_are_counted_and_dropped),
                 TEST(exactly_the_quota_is_not_truncated), TEST(stdout_and_stderr_share_one_quota),
                 TEST(output_that_nobody_wants_is_counted),
                 TEST(OT5_a_stalled_reader_makes_bytes_wait_and_then_gets_all_of_them),
                 TEST(one_piece_more_than_the_watermark_still_fits),
                 TEST(a_stalled_socket_does_not_block), TEST(a_stalled_terminal_does_not_block),
                 TEST(the_descriptors_own_mode_is_left_alone),
                 TEST(LC6_a_reader_that_has_gone_does_not_kill_the_program),
                 TEST(what_comes_after_the_reader_has_gone_is_counted_and_dropped),
                 TEST(a_program_that_blocks_sigpipe_still_blocks_it_and_has_none_from_us),
                 TEST(somebody_elses_pending_sigpipe_stays_pending),
                 TEST(a_descriptor_that_cannot_be_written_is_as_good_as_gone))

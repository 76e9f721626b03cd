/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How runs end that do not end by themselves: deadline, cancel at any moment, memory, readers that
 * stall or leave. Each has a result of its own, and each leaves nothing behind.
 */
#include "real.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Deaf to TERM, with a child that is deaf, too, and keeps the output open; $0 is the marker. */
#define DEAF                                                                                       \
    SHELL("trap '' TERM; (trap '' TERM; sleep $0) & echo ready; sleep $0; sleep $0", real_marker())

static void LC2_LC3_a_deadline_ends_a_tree_that_ignores_term(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = DEAF, .options = WORDS("--deadline", "4s")}, &o))
        return;
    EXPECT_KIND(&o, "deadline", 124);
    EXPECT_LINE(&o, "deadline of 4000 ms", "--deadline");
    CHECK_STR(outcome_out(&o), "ready\n");
    CHECK(!real_process_left());
    EXPECT_NOTHING_LEFT(&o);
}

/* TERM arrives in the command, and what it prints then still comes out. */
static void a_deadline_lets_a_command_say_goodbye(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(
            &(call){.argv = SHELL("trap 'echo bye; exit 3' TERM; while :; do sleep 0.1; done"),
                    .options = WORDS("--deadline", "4s"),
                    .limits = "grace = \"20s\";"},
            &o))
        return;
    EXPECT_KIND(&o, "deadline", 124);
    CHECK_STR(outcome_out(&o), "bye\n");
    EXPECT_NOTHING_LEFT(&o);
}

typedef struct moment {
    const char *word; /* of the progress that --debug shows */
    int ms;           /* after it */
    int signal_number;
} moment;

static void cancel_at(const moment *when)
{
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    if (!cordon_start(&(call){.argv = DEAF, .options = WORDS("--debug")}, &r))
        return;
    CHECK(child_hear_error(&r.process, when->word, REAL_PATIENCE_MS));
    (void)usleep((useconds_t)when->ms * 1000);
    CHECK(kill(r.process.pid, when->signal_number) == 0);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 128 + when->signal_number);
    EXPECT_NOTHING_LEFT(&o);
    CHECK(!real_process_left());
}

/* Before the first create, in the middle of each, between create and start, while it starts. */
static void a_cancel_at_any_moment_leaves_nothing(void)
{
    static const moment moments[] = {
        {"images:", 0, SIGINT},   {"create:", 0, SIGTERM},  {"create:", 30, SIGINT},
        {"create:", 80, SIGTERM}, {"create:", 120, SIGINT}, {"create:", 160, SIGTERM},
        {"create:", 220, SIGINT}, {"create:", 350, SIGINT}, {"validate:", 0, SIGTERM},
    };
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++)
        cancel_at(&moments[i]);
}

static void a_cancel_while_the_command_runs(int signal_number)
{
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    if (!cordon_start(&(call){.argv = DEAF}, &r))
        return;
    CHECK(child_hear(&r.process, "ready", REAL_PATIENCE_MS));
    CHECK(kill(r.process.pid, signal_number) == 0);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 128 + signal_number);
    EXPECT_LINE(&o, "cancelled");
    EXPECT_NOTHING_LEFT(&o);
    CHECK(!real_process_left());
}

static void LC3_an_interrupt_is_130(void)
{
    a_cancel_while_the_command_runs(SIGINT);
}

static void a_termination_is_143(void)
{
    a_cancel_while_the_command_runs(SIGTERM);
}

/* --- Memory ----------------------------------------------------------------------------------- */

#define SMALL "memory = \"48MiB\"; grace = \"1s\";"

static bool can_limit_memory(void)
{
    return (real.facts.can & CORDON_CAN_LIMIT_MEMORY) != 0;
}

static void LC3_more_memory_than_allowed_is_oom_and_not_137_by_itself(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(
            &(call){.argv = WORDS("dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"),
                    .limits = SMALL},
            &o))
        return;
    if (can_limit_memory())
        EXPECT_KIND(&o, "oom", 137);
    else
        EXPECT_EXITED(&o, 0); /* limits that are not enforced were accepted by the operator */
    EXPECT_NOTHING_LEFT(&o);
}

static void LC3_a_command_that_kills_itself_is_not_oom(void)
{
    cordon_auto(outcome) o = {0};
    if (cordon_call(&(call){.argv = SHELL("kill -KILL $$"), .limits = SMALL}, &o))
        EXPECT_EXITED(&o, 137);
}

/* The number of a kill, and nobody killed it: told apart by the receipt. */
static void LC3_a_command_that_exits_with_137_has_exited(void)
{
    cordon_auto(outcome) o = {0};
    if (cordon_call(&(call){.argv = SHELL("exit 137"), .limits = SMALL}, &o))
        EXPECT_EXITED(&o, 137);
}

/* --- Readers ---------------------------------------------------------------------------------- */

static void OT5_a_reader_that_stalls_stops_no_deadline(void)
{
    int ends[2];
    cordon_auto(outcome) o = {0};
    REQUIRE(pipe(ends) == 0);
    if (cordon_call(&(call){.argv = WORDS("yes", real_marker()),
                            .options = WORDS("--deadline", "4s"),
                            .limits = "grace = \"500ms\"; output = \"1TiB\";",
                            .stdout_fd = ends[1]},
                    &o)) {
        EXPECT_KIND(&o, "deadline", 124);
        CHECK(!real_process_left());
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/*
 * Bytes that cost the most to read - the beginning of a note of the gate's, of which every further
 * byte might be the end - as fast as they can be written, to a reader that takes them all.
 */
static void a_flood_of_what_is_slow_to_read_stops_no_deadline(void)
{
    static const char flood[] =
        "(printf 'CRDNexi1\\000\\000\\000\\330'; yes C | head -c 60000 | tr -d '\\n') >/tmp/f;"
        "for i in 1 2 3 4 5 6; do cat /tmp/f; done >/tmp/flood;"
        "while :; do cat /tmp/flood; done";
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    cordon_auto(outcome) o = {0};
    REQUIRE(nowhere >= 0);
    if (cordon_call(&(call){.argv = SHELL(flood),
                            .options = WORDS("--deadline", "5s"),
                            .limits = "grace = \"500ms\"; output = \"1TiB\";",
                            .stdout_fd = nowhere},
                    &o)) {
        EXPECT_KIND(&o, "deadline", 124);
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)close(nowhere);
}

/* Like `cordon run ... | head -c 0`: no SIGPIPE before everything is removed. */
static void LC6_a_reader_that_leaves_cancels_the_run(void)
{
    int ends[2];
    cordon_auto(outcome) o = {0};
    REQUIRE(pipe(ends) == 0);
    (void)close(ends[0]);
    if (cordon_call(&(call){.argv = WORDS("yes", real_marker()), .stdout_fd = ends[1]}, &o)) {
        EXPECT_KIND(&o, "cancelled", 130);
        EXPECT_LINE(&o, "reader", "gone away");
        CHECK(!real_process_left());
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)close(ends[1]);
}

/* --- Unenforced limits ------------------------------------------------------------------------ */

/* Where the engine cannot hold a limit, a run that nobody opted in for is refused by name. */
static void limits_that_cannot_be_held_are_refused(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = WORDS("true"), .strict = true}, &o))
        return;
    if (can_limit_memory()) {
        EXPECT_EXITED(&o, 0);
        return;
    }
    EXPECT_KIND(&o, "refused", 126);
    CHECK_STR(receipt_text(&o, "result.refusal.fact"), "engine.limits.memory");
    EXPECT_LINE(&o, "engine.limits.memory", "allow_unenforced_limits");
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("end", TEST(LC2_LC3_a_deadline_ends_a_tree_that_ignores_term),
          TEST(a_deadline_lets_a_command_say_goodbye), TEST(a_cancel_at_any_moment_leaves_nothing),
          TEST(LC3_an_interrupt_is_130), TEST(a_termination_is_143),
          TEST(LC3_more_memory_than_allowed_is_oom_and_not_137_by_itself),
          TEST(LC3_a_command_that_kills_itself_is_not_oom),
          TEST(LC3_a_command_that_exits_with_137_has_exited),
          TEST(OT5_a_reader_that_stalls_stops_no_deadline),
          TEST(a_flood_of_what_is_slow_to_read_stops_no_deadline),
          TEST(LC6_a_reader_that_leaves_cancels_the_run),
          TEST(limits_that_cannot_be_held_are_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways for a run to end before its command does: the deadline passes or somebody cancels, at every
 * call; a reader goes away; somebody tampers. The result has the right name, and nothing is left.
 */
#include <signal.h>

#include "support/run_case.h"

/* Long enough to come to the call that hangs, short enough to be waited for. */
#define SHORT_MS 6000
/* Long enough for a release, on whatever machine and under whatever sanitizer. */
#define LONG_MS 10000

typedef struct position {
    fake_op op;
    const char *role;
    unsigned nth;
} position;

/* Calls before the release, with the probe on the Podman model. */
static const position before[] = {
    {FAKE_IMAGE_RESOLVE, NULL, 1},
    {FAKE_IMAGE_LOAD, NULL, 1},
    {FAKE_IMAGE_RESOLVE, NULL, 2},
    {FAKE_EVENTS_OPEN, NULL, 1},
    {FAKE_NETWORK_CREATE, "vendor-network", 1},
    {FAKE_NETWORK_CREATE, "egress-network", 1},
    {FAKE_CONTAINER_CREATE, "proxy", 1},
    {FAKE_CONTAINER_INSPECT, "proxy", 1},
    {FAKE_CONTAINER_ATTACH, "proxy", 1},
    {FAKE_CONTAINER_START, "proxy", 1},
    {FAKE_CONTAINER_CREATE, "step", 1},
    {FAKE_CONTAINER_INSPECT, "step", 1},
    {FAKE_CONTAINER_ATTACH, "step", 1},
    {FAKE_CONTAINER_START, "step", 1},
    {FAKE_NETWORK_INSPECT, "vendor-network", 1},
    {FAKE_NETWORK_INSPECT, "egress-network", 1},
    {FAKE_CONTAINER_INSPECT, "proxy", 2},
    {FAKE_CONTAINER_INSPECT, "step", 2},
    {FAKE_CONTAINER_CHANGES, "proxy", 1},
    {FAKE_CONTAINER_CHANGES, "step", 1},
};
#define BEFORE (sizeof before / sizeof before[0])

/* Calls of the disposal. */
static const position after[] = {
    {FAKE_CONTAINER_REMOVE, "step", 1},         {FAKE_CONTAINER_REMOVE, "proxy", 1},
    {FAKE_CONTAINER_SIGNAL, "proxy", 1},        {FAKE_NETWORK_REMOVE, "vendor-network", 1},
    {FAKE_NETWORK_REMOVE, "egress-network", 1},
};
#define AFTER (sizeof after / sizeof after[0])

/* How a case meets its position. */
typedef struct end_case {
    const position *at;
    fake_fault_kind kind; /* 0: no fault */
    bool cancel;
    fake_run *run;
} end_case;

static run_outcome outcomes[128];
static end_case planned[128];

static void cancel_there(void *context, fake_engine *fake, fake_op op, const char *role,
                         unsigned nth)
{
    const end_case *c = context;
    (void)fake;
    if (op == c->at->op && nth == c->at->nth && (!c->at->role || strcmp(role, c->at->role) == 0))
        (void)!write(c->run->cancel[1], "x", 1);
}

static void script_end(void *context, fake_run *run)
{
    end_case *c = context;
    c->run = run;
    if (c->kind != 0) {
        fake_fault fault = {c->at->op, c->at->role, c->at->nth, c->kind, CORDON_OK};
        fake_engine_fault(run->fake, &fault);
    }
    if (c->cancel)
        fake_engine_hook(run->fake, cancel_there, c);
}

static void run_end(void *context, size_t index)
{
    end_case *c = (end_case *)context + index;
    fake_run_options options = {.podman = true, .probe = true, .grace = "0s"};
    options.deadline_ms = c->cancel ? 0 : SHORT_MS;
    outcomes[index] = run_case(&options, script_end, c);
}

static void check_ends(size_t count, const char *kind, int status, bool released)
{
    at_once(count, run_end, planned);
    for (size_t i = 0; i < count; i++) {
        char name[96];
        (void)snprintf(name, sizeof name, "%s %s #%u", fake_op_name(planned[i].at->op),
                       planned[i].at->role ? planned[i].at->role : "", planned[i].at->nth);
        RUN_CHECK_KIND(outcomes[i], name, kind);
        RUN_CHECK_CLEAN(outcomes[i], name);
        TEST_RECORDF(outcomes[i].status == status, "%s: status %d", name, outcomes[i].status);
        TEST_RECORDF(outcomes[i].released == released, "%s: released %d", name,
                     outcomes[i].released);
    }
}

static size_t add_cases(size_t count, const position *at, size_t positions, fake_fault_kind kind,
                        bool cancel)
{
    for (size_t i = 0; i < positions; i++)
        planned[count + i] = (end_case){.at = &at[i], .kind = kind, .cancel = cancel};
    return count + positions;
}

static void a_call_that_hangs_ends_at_the_deadline(void)
{
    check_ends(add_cases(0, before, BEFORE, FAKE_FAULT_HANG, false), "deadline", 124, false);
}

static void RL1_a_call_whose_answer_does_not_come_by_the_deadline_is_cleaned_up(void)
{
    /* The first look-up finds nothing, and "not found" is an answer. */
    check_ends(add_cases(0, before + 1, BEFORE - 1, FAKE_FAULT_HANG_AFTER, false), "deadline", 124,
               false);
}

static void cancel_at_any_call_ends_the_run(void)
{
    size_t count = add_cases(0, before, BEFORE, 0, true);
    count = add_cases(count, before, BEFORE, FAKE_FAULT_HANG, true);
    check_ends(add_cases(count, before, BEFORE, FAKE_FAULT_HANG_AFTER, true), "cancelled", 130,
               false);
}

static void cancel_does_not_stop_the_removal(void)
{
    check_ends(add_cases(0, after, AFTER, 0, true), "exited", 0, true);
}

/* --- While the command runs ------------------------------------------------------------------- */

static void cancel_when_released(void *context, fake_run *run, const char *word)
{
    (void)context;
    if (strcmp(word, "released") == 0)
        (void)!write(run->cancel[1], "x", 1);
}

/* And once more while the command is being asked to end. */
static void cancel_twice(void *context, fake_run *run, const char *word)
{
    cancel_when_released(context, run, word);
    if (strcmp(word, "end") == 0)
        (void)!write(run->cancel[1], "x", 1);
}

typedef struct running_case {
    const char *name;
    bool cancel;
    bool ignores_term;
    const char *grace;
    const char *kind;
    unsigned signals;
    bool twice;
} running_case;

static const running_case running[] = {
    {"deadline, ends on TERM", false, false, "10s", "deadline", 1, false},
    {"deadline, ends on KILL alone", false, true, "200ms", "deadline", 2, false},
    {"cancel, ends on TERM", true, false, "10s", "cancelled", 1, false},
    {"cancel, ends on KILL alone", true, true, "200ms", "cancelled", 2, false},
    {"cancel, no grace", true, true, "0s", "cancelled", 2, false},
    {"cancel, and again in the grace", true, true, "10m", "cancelled", 2, true},
};

static void a_running_command_is_asked_and_then_killed(void)
{
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++) {
        cordon_auto(fake_run) run = {0};
        fake_step step = {.stays = true, .ignores_term = running[i].ignores_term};
        fake_run_options options = {.grace = running[i].grace,
                                    .deadline_ms = running[i].cancel ? 0 : LONG_MS};
        fake_release release;
        REQUIRE_OK(fake_run_open(&run, &options) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        run.at_word = running[i].twice    ? cancel_twice
                      : running[i].cancel ? cancel_when_released
                                          : NULL;
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        REQUIRE(fake_engine_released(run.fake, &release));
        TEST_RECORDF(strcmp(run.result.kind_name, running[i].kind) == 0, "%s: %s %s",
                     running[i].name, run.result.kind_name, run.result.message);
        TEST_RECORDF(fake_engine_count(run.fake, FAKE_CONTAINER_SIGNAL, "step") ==
                         running[i].signals,
                     "%s: %u signals", running[i].name,
                     fake_engine_count(run.fake, FAKE_CONTAINER_SIGNAL, "step"));
        CHECK_INT(run.result.exit_code, -1);
        CHECK_INT(fake_engine_left(run.fake), 0);
        CHECK(fake_engine_complaint(run.fake) == NULL);
    }
}

/* Gives the run a pipe to write to; a reader that has gone, or one that never reads. */
static bool put_pipe(fake_run *run, bool reader, int *ret_reader)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    cordon_cleanup_close(&run->out_fd);
    run->out_fd = ends[1];
    *ret_reader = reader ? ends[0] : -1;
    return reader || close(ends[0]) == 0;
}

static void LC6_a_reader_that_goes_away_ends_the_run(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_autoclose int reader = -1;
    fake_step step = {.stdout_text = "hello\n", .stays = true};
    (void)signal(SIGPIPE, SIG_IGN);
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.grace = "0s"}) ? 0 : -1, run.err);
    REQUIRE(put_pipe(&run, false, &reader));
    fake_engine_step(run.fake, &step);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "cancelled");
    CHECK_CONTAINS(run.result.message, "reader");
    CHECK_INT(fake_engine_left(run.fake), 0);
}

static void OT5_a_reader_that_stalls_does_not_stop_the_deadline(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_autoclose int reader = -1;
    fake_step step = {.output_bytes = 8 << 20};
    fake_run_options options = {.grace = "0s", .deadline_ms = SHORT_MS, .output = "64MiB"};
    REQUIRE_OK(fake_run_open(&run, &options) ? 0 : -1, run.err);
    REQUIRE(put_pipe(&run, true, &reader));
    fake_engine_step(run.fake, &step);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "deadline");
    CHECK_INT(run.result.status, 124);
    CHECK_INT(fake_engine_left(run.fake), 0);
    CHECK(fake_engine_complaint(run.fake) == NULL);
}

/* --- Tampering -------------------------------------------------------------------------------- */

typedef struct tamper_case {
    const char *role;
    cordon_event_action action;
    const char *fact;
} tamper_case;

static const tamper_case tampers[] = {
    {"step", CORDON_EVENT_EXEC, "step.events"},
    {"step", CORDON_EVENT_COPY, "step.events"},
    {"step", CORDON_EVENT_UPDATE, "step.events"},
    {"step", CORDON_EVENT_RENAME, "step.events"},
    {"step", CORDON_EVENT_PAUSE, "step.events"},
    {"step", CORDON_EVENT_UNPAUSE, "step.events"},
    {"step", CORDON_EVENT_RESTART, "step.events"},
    {"step", CORDON_EVENT_REMOVE, "step.events"},
    {"step", CORDON_EVENT_KILL, "step.events"},
    {"step", CORDON_EVENT_START, "step.events"},
    {"step", CORDON_EVENT_ATTACH, "step.events"},
    {"step", CORDON_EVENT_OTHER, "step.events"},
    {"proxy", CORDON_EVENT_EXEC, "proxy.events"},
    {"proxy", CORDON_EVENT_UPDATE, "proxy.events"},
    {"proxy", CORDON_EVENT_DIE, "proxy.events"},
    {"proxy", CORDON_EVENT_KILL, "proxy.events"},
    {"vendor-network", CORDON_EVENT_CONNECT, "vendor-network.events"},
    {"vendor-network", CORDON_EVENT_DISCONNECT, "vendor-network.events"},
    {"vendor-network", CORDON_EVENT_REMOVE, "vendor-network.events"},
    {"egress-network", CORDON_EVENT_CONNECT, "egress-network.events"},
    {"egress-network", CORDON_EVENT_REMOVE, "egress-network.events"},
};
#define TAMPERS (sizeof tampers / sizeof tampers[0])

static void tamper_when_released(void *context, fake_run *run, const char *word)
{
    const tamper_case *c = context;
    if (strcmp(word, "released") == 0)
        fake_engine_emit(run->fake, c->role, c->action, "foreign");
}

/* After everything was started, before the second look at the step. */
static void tamper_before_release(void *context, fake_engine *fake, fake_op op, const char *role,
                                  unsigned nth)
{
    const tamper_case *c = context;
    if (op == FAKE_CONTAINER_INSPECT && nth == 2 && strcmp(role, "step") == 0)
        fake_engine_emit(fake, c->role, c->action, "foreign");
}

static void script_tamper(void *context, fake_run *run)
{
    size_t index = *(const size_t *)context;
    void *which = (void *)(uintptr_t)&tampers[index % TAMPERS];
    fake_step step = {.stays = true};
    fake_engine_step(run->fake, &step);
    if (index < TAMPERS) {
        run->at_word = tamper_when_released;
        run->at_context = which;
    } else {
        fake_engine_hook(run->fake, tamper_before_release, which);
    }
}

static void run_tamper(void *context, size_t index)
{
    (void)context;
    outcomes[index] = run_case(&(fake_run_options){.probe = true}, script_tamper, &index);
}

static void what_others_do_to_our_objects_is_tampering(void)
{
    at_once(2 * TAMPERS, run_tamper, NULL);
    for (size_t i = 0; i < 2 * TAMPERS; i++) {
        const tamper_case *c = &tampers[i % TAMPERS];
        char name[96];
        (void)snprintf(name, sizeof name, "%s action %d %s the release", c->role, c->action,
                       i < TAMPERS ? "after" : "before");
        RUN_CHECK_KIND(outcomes[i], name, "tampered");
        RUN_CHECK_CLEAN(outcomes[i], name);
        TEST_RECORDF(strcmp(outcomes[i].fact, c->fact) == 0 && outcomes[i].status == 126,
                     "%s: %s, status %d", name, outcomes[i].fact, outcomes[i].status);
        TEST_RECORDF(outcomes[i].released == (i < TAMPERS), "%s: released %d", name,
                     outcomes[i].released);
    }
}

static void end_events(void *context, fake_run *run, const char *word)
{
    const char *when = context;
    if (strcmp(word, when) == 0)
        fake_engine_end_events(run->fake);
}

/* A lost stream is the end if it cannot be opened again. */
static void without_its_events_nothing_goes_on(void)
{
    static const char *const words[] = {"validate", "released"};
    static const char *const kinds[] = {"not_started", "error"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        fake_step step = {.stays = true};
        const fake_fault again = {FAKE_EVENTS_OPEN, NULL, 2, FAKE_FAULT_BEFORE,
                                  CORDON_ERR_UNREACHABLE};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        fake_engine_fault(run.fake, &again);
        run.at_word = end_events;
        run.at_context = (void *)(uintptr_t)words[i];
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, kinds[i]);
        CHECK_CONTAINS(run.result.message, "event stream");
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* Podman ends its stream when it cuts its log file; what it could have told is looked at. */
static void a_stream_that_ends_is_opened_again(void)
{
    static const char *const words[] = {"create", "validate", "released"};
    for (size_t i = 0; i < 3; i++) {
        cordon_auto(fake_run) run = {0};
        fake_step step = {.output_bytes = 1 << 20};

        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        run.at_word = end_events;
        run.at_context = (void *)(uintptr_t)words[i];
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "exited");
        CHECK_INT(fake_engine_count(run.fake, FAKE_EVENTS_OPEN, NULL), 2);
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* An exec of a moment, told to nobody: the stream that is opened again tells it. */
static void exec_in_a_gap(void *context, fake_run *run, const char *word)
{
    if (strcmp(word, context) != 0)
        return;
    fake_engine_end_events(run->fake);
    fake_engine_emit(run->fake, "step", CORDON_EVENT_EXEC, "exec");
}

static void what_happened_in_a_gap_of_the_stream_is_told_again(void)
{
    static const char *const words[] = {"validate", "released"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        fake_step step = {.stays = true};
        fake_release release;

        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        run.at_word = exec_in_a_gap;
        run.at_context = (void *)(uintptr_t)words[i];
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_STR(run.result.refusal_fact, "step.events");
        CHECK(fake_engine_released(run.fake, &release) == (i == 1));
    }
}

static void intrude_and_end_events(void *context, fake_run *run, const char *word)
{
    if (strcmp(word, "released") != 0)
        return;
    fake_engine_intrude(run->fake, context);
    fake_engine_end_events(run->fake);
}

static void what_happened_in_a_gap_of_the_stream_is_found_by_looking(void)
{
    cordon_auto(fake_run) run = {0};
    fake_step step = {.stays = true};
    char network[] = "vendor-network";

    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_step(run.fake, &step);
    run.at_word = intrude_and_end_events;
    run.at_context = network;
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "tampered");
    CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_CHANGED");
    CHECK_STR(run.result.refusal_fact, "vendor-network.endpoints");
    CHECK_INT(run.result.status, 126);
}

static void vanish_when_released(void *context, fake_run *run, const char *word)
{
    if (strcmp(word, "released") == 0)
        fake_engine_vanish(run->fake, context);
}

static void a_container_that_vanishes_ends_the_run(void)
{
    static const char *const roles[] = {"proxy", "step"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        fake_step step = {.stays = true};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        run.at_word = vanish_when_released;
        run.at_context = (void *)(uintptr_t)roles[i];
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_INT(fake_engine_left(run.fake), 0);
        CHECK(run.result.cleanup_complete);
    }
}

static void intrude(void *context, fake_engine *fake, fake_op op, const char *role, unsigned nth)
{
    (void)nth;
    if (op == FAKE_CONTAINER_START && strcmp(role, "step") == 0)
        fake_engine_intrude(fake, context);
}

static void whoever_else_is_on_the_network_refuses_the_release(void)
{
    cordon_auto(fake_run) run = {0};
    fake_release release;
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_hook(run.fake, intrude, (void *)(uintptr_t) "vendor-network");
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "refused");
    CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_FOREIGN");
    CHECK_STR(run.result.refusal_fact, "vendor-network.endpoints");
    CHECK(!fake_engine_released(run.fake, &release));
    /* The intruder is not ours to remove, so its network stays and is named. */
    CHECK(!run.result.cleanup_complete);
    CHECK_INT(fake_engine_left(run.fake), 1);
}

CORDON_TEST_MAIN("run_ends", TEST(a_call_that_hangs_ends_at_the_deadline),
                 TEST(RL1_a_call_whose_answer_does_not_come_by_the_deadline_is_cleaned_up),
                 TEST(cancel_at_any_call_ends_the_run), TEST(cancel_does_not_stop_the_removal),
                 TEST(a_running_command_is_asked_and_then_killed),
                 TEST(LC6_a_reader_that_goes_away_ends_the_run),
                 TEST(OT5_a_reader_that_stalls_does_not_stop_the_deadline),
                 TEST(what_others_do_to_our_objects_is_tampering),
                 TEST(without_its_events_nothing_goes_on), TEST(a_stream_that_ends_is_opened_again),
                 TEST(what_happened_in_a_gap_of_the_stream_is_told_again),
                 TEST(what_happened_in_a_gap_of_the_stream_is_found_by_looking),
                 TEST(a_container_that_vanishes_ends_the_run),
                 TEST(whoever_else_is_on_the_network_refuses_the_release))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT, TERM and HUP at any call to the engine, once and twice: the run is cancelled, exits with the
 * first signal's status, has its receipt, and everything is removed. At a call of the removal it is
 * the second signal that comes: it skips nothing.
 *
 * At some calls; with CORDON_TEST_EVERY_CALL at every call.
 */
#include <signal.h>
#include <unistd.h>

#include "survey.h"

/* Runs at once. */
#define TOGETHER 4
#define END_MS   120000

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

/* One run and the call at which it is told to end. */
typedef struct victim {
    play play;
    pthread_mutex_t lock;
    const place *at;
    int number;
    bool twice;
    bool struck;
} victim;

static pid_t await_process(const play *p)
{
    pid_t pid;
    /* The first call may come before the test knows whom it has started. */
    while ((pid = __atomic_load_n(&p->process.process.pid, __ATOMIC_ACQUIRE)) <= 0)
        (void)usleep(1000);
    return pid;
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    victim *v = p->hooks.context;
    (void)x;
    (void)pthread_mutex_lock(&v->lock);
    if (!v->struck && survey_is(v->at, r)) {
        v->struck = true;
        (void)kill(await_process(p), v->number);
        if (v->twice)
            (void)kill(await_process(p), v->number);
    }
    (void)pthread_mutex_unlock(&v->lock);
    return LIAR_PASS;
}

/* It never ends by itself, and ends on TERM. */
static bool begin(victim *v, const place *at, int number, bool twice)
{
    const play_hooks hooks = {.context = v, .ask = on_ask};
    *v = (victim){.at = at, .number = number, .twice = twice};
    (void)pthread_mutex_init(&v->lock, NULL);
    return play_begin(&v->play, (call){.argv = SHELL("echo ready; exec sleep $0", real_marker())},
                      &hooks);
}

static bool was_struck(victim *v)
{
    (void)pthread_mutex_lock(&v->lock);
    bool struck = v->struck;
    (void)pthread_mutex_unlock(&v->lock);
    return struck;
}

/*
 * A call that comes after the release comes because of a first signal. The same signal ends a run
 * that has not come to its call.
 */
static void tell_running(victim *v)
{
    child *process = &v->play.process.process;
    bool ready = false;
    while (!was_struck(v) && !ready && process->err_fd >= 0) {
        child_collect(process, 20);
        ready = strstr(cordon_buf_text(&process->out), "ready") != NULL;
    }
    if (ready && (v->at->released || !was_struck(v)))
        CHECK(kill(process->pid, v->number) == 0);
}

static void end(victim *v)
{
    cordon_auto(outcome) o = {0};
    CHECK(child_finish(&v->play.process.process, END_MS));
    if (play_end(&v->play, &o) && (!EXPECT_KIND(&o, "cancelled", 128 + v->number) ||
                                   !CHECK(receipt_true(&o, "cleanup.complete"))))
        printf("    signal %d%s at %s (%u)\n", v->number, v->twice ? ", twice," : "", v->at->what,
               v->at->request.nth);
    (void)pthread_mutex_destroy(&v->lock);
}

/* --- All of them ------------------------------------------------------------------------------ */

typedef struct group {
    victim victims[TOGETHER];
    size_t count;
    unsigned told;
    unsigned passed_by; /* calls that a run did not come to */
} group;

static void end_group(group *g)
{
    for (size_t i = 0; i < g->count; i++)
        tell_running(&g->victims[i]);
    for (size_t i = 0; i < g->count; i++) {
        end(&g->victims[i]);
        g->told++;
        g->passed_by += !g->victims[i].struck;
    }
    g->count = 0;
    CHECK(!real_process_left());
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

static void tell(group *g, const place *at, int number, bool twice)
{
    if (begin(&g->victims[g->count], at, number, twice))
        g->count++;
    if (g->count == TOGETHER)
        end_group(g);
}

/* With every signal where all are wanted, else with one of them in turn. */
static void tell_at(group *g, const place *at, size_t turn)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!survey_wants_all() && i != turn % NUMBERS)
            continue;
        tell(g, at, numbers[i], false);
        tell(g, at, numbers[i], true);
    }
}

static bool is_chosen(const place *at)
{
    static const play_request chosen[] = {
        {PLAY_OTHER, CORDON_ROLE_COUNT, 1},           {PLAY_EVENTS, CORDON_ROLE_COUNT, 1},
        {PLAY_CREATE, CORDON_ROLE_VENDOR_NETWORK, 1}, {PLAY_CREATE, CORDON_ROLE_STEP, 1},
        {PLAY_ATTACH, CORDON_ROLE_STEP, 1},           {PLAY_START, CORDON_ROLE_STEP, 1},
        {PLAY_INSPECT, CORDON_ROLE_STEP, 2},          {PLAY_REMOVE, CORDON_ROLE_STEP, 1},
        {PLAY_REMOVE, CORDON_ROLE_VENDOR_NETWORK, 1},
    };
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        if (survey_is(at, &chosen[i]))
            return true;
    }
    return survey_wants_all();
}

static void a_signal_at_any_call_cancels_and_everything_is_removed(void)
{
    static survey s;
    static group g;
    if (!survey_take(&s, (call){.argv = SHELL("echo ready")}))
        return;
    for (size_t i = 0; i < s.count; i++) {
        if (is_chosen(&s.places[i]))
            tell_at(&g, &s.places[i], i);
    }
    end_group(&g);
    printf("    %u runs were told at a call; %u did not come to it\n", g.told - g.passed_by,
           g.passed_by);
    CHECK(g.told > g.passed_by + 10);
}

/* --- The second one --------------------------------------------------------------------------- */

/* Its grace is longer than the patience of this test. */
static void a_second_signal_cuts_the_grace_and_not_the_removal(int number)
{
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    if (!cordon_start(&(call){.argv = SHELL("trap '' TERM; echo ready; while :; do sleep 1; done"),
                              .options = WORDS("--debug"),
                              .limits = "grace = \"10m\";"},
                      &r))
        return;
    CHECK(child_hear(&r.process, "ready", REAL_PATIENCE_MS));
    CHECK(kill(r.process.pid, number) == 0);
    CHECK(child_hear_error(&r.process, "end:", REAL_PATIENCE_MS));
    CHECK(kill(r.process.pid, SIGINT) == 0);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 128 + number);
    EXPECT_NOTHING_LEFT(&o);
}

static void a_second_interrupt_cuts_the_grace_short(void)
{
    a_second_signal_cuts_the_grace_and_not_the_removal(SIGINT);
}

static void an_interrupt_after_a_termination_cuts_the_grace_short(void)
{
    a_second_signal_cuts_the_grace_and_not_the_removal(SIGTERM);
}

/* --- Too late --------------------------------------------------------------------------------- */

/* The command has ended by itself: that is its result, and the removal goes on. */
static void a_signal_after_the_commands_end_changes_nothing(void)
{
    static victim v;
    static const place at = {.request = {PLAY_REMOVE, CORDON_ROLE_STEP, 1}};
    const play_hooks hooks = {.context = &v, .ask = on_ask};
    cordon_auto(outcome) o = {0};
    v = (victim){.at = &at, .number = SIGINT, .twice = true};
    (void)pthread_mutex_init(&v.lock, NULL);
    if (play_begin(&v.play, (call){.argv = SHELL("echo ready; exit 3")}, &hooks) &&
        play_end(&v.play, &o)) {
        CHECK(v.struck);
        EXPECT_EXITED(&o, 3);
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)pthread_mutex_destroy(&v.lock);
}

REAL_MAIN("signal", TEST(a_signal_at_any_call_cancels_and_everything_is_removed),
          TEST(a_second_interrupt_cuts_the_grace_short),
          TEST(an_interrupt_after_a_termination_cuts_the_grace_short),
          TEST(a_signal_after_the_commands_end_changes_nothing))

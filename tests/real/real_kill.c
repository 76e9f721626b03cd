/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Cordon that is killed at any call to the engine leaves nothing that one collection does not
 * remove. The kill comes before the engine is asked, and once more when it has done what
 * it was asked for and before Cordon hears of it.
 *
 * At calls that change something; with CORDON_TEST_EVERY_CALL at every call.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "play.h"

/* More calls than a run makes. */
#define CALLS_MAX 200

typedef enum moment { BEFORE, AFTER, MOMENTS } moment;

static const char *const moment_names[] = {"before", "after"};

typedef struct victim {
    play play;
    pthread_mutex_t lock;
    moment at;
    unsigned nth; /* of the calls that count, from 1 */
    unsigned count;
    bool killed;
    char call[160]; /* at which */
} victim;

static bool every_call(void)
{
    return getenv("CORDON_TEST_EVERY_CALL") != NULL;
}

/* Reading changes nothing; but an attach sets up, and a wait is where a run spends its time. */
static bool counts(const play_request *r, const liar_exchange *x)
{
    return every_call() || strcmp(x->method, "GET") != 0 || r->call == PLAY_ATTACH ||
           r->call == PLAY_EVENTS;
}

static void kill_now(victim *v, const liar_exchange *x)
{
    pid_t pid;
    /* The first call may come before the test knows whom it has started. */
    while ((pid = __atomic_load_n(&v->play.process.process.pid, __ATOMIC_ACQUIRE)) <= 0)
        (void)usleep(1000);
    /* Said first: the test goes on the moment that the process is gone. */
    (void)snprintf(v->call, sizeof v->call, "%s %.140s", x->method, x->path);
    v->killed = true;
    (void)kill(pid, SIGKILL);
}

static liar_word strike(victim *v, const play_request *r, liar_exchange *x, moment at)
{
    liar_word word = LIAR_PASS;
    (void)pthread_mutex_lock(&v->lock);
    if (at == v->at && !v->killed && counts(r, x) && ++v->count == v->nth) {
        kill_now(v, x);
        word = LIAR_CUT;
    }
    (void)pthread_mutex_unlock(&v->lock);
    return word;
}

static bool is_collection(const victim *v)
{
    return __atomic_load_n(&v->play.process.process.ended, __ATOMIC_ACQUIRE);
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    victim *v = p->hooks.context;
    return is_collection(v) ? LIAR_PASS : strike(v, r, x, BEFORE);
}

static liar_word on_answer(play *p, const play_request *r, liar_exchange *x)
{
    victim *v = p->hooks.context;
    return is_collection(v) ? LIAR_PASS : strike(v, r, x, AFTER);
}

static bool collect(outcome *ret_outcome)
{
    return cordon_call(&(call){.verb = "gc", .options = WORDS("--json")}, ret_outcome);
}

/* One gc removes everything, and a second one has nothing to say. */
static void expect_collected(const victim *v)
{
    cordon_auto(outcome) first = {0};
    cordon_auto(outcome) second = {0};
    if (!collect(&first) || !collect(&second))
        return;
    bool good = first.process.status == 0 && strstr(outcome_out(&first), "\"complete\":true") &&
                test_same(outcome_out(&second),
                          "{\"gc\":1,\"mode\":\"remove\",\"runs\":[],\"complete\":true}\n");
    TEST_RECORDF(good, "killed %s call %u, %s: gc said %d %.600s %.300s; then %.300s",
                 moment_names[v->at], v->nth, v->call, first.process.status, outcome_out(&first),
                 outcome_err(&first), outcome_out(&second));
    if (!EXPECT_NOTHING_LEFT(&second))
        printf("    killed %s call %u, %s\n", moment_names[v->at], v->nth, v->call);
    TEST_RECORDF(!real_process_left(), "a process is left; killed %s call %u, %s",
                 moment_names[v->at], v->nth, v->call);
}

static bool was_killed(victim *v)
{
    (void)pthread_mutex_lock(&v->lock);
    bool killed = v->killed;
    (void)pthread_mutex_unlock(&v->lock);
    return killed;
}

/* False when the run had no such call. */
static bool kill_at(moment at, unsigned nth)
{
    static victim v;
    v = (victim){.at = at, .nth = nth};
    const play_hooks hooks = {.context = &v, .ask = on_ask, .answer = on_answer};
    cordon_auto(outcome) o = {0};
    (void)pthread_mutex_init(&v.lock, NULL);
    bool ok =
        play_begin(&v.play, (call){.argv = SHELL("echo ready; test -n \"$0\"", real_marker())},
                   &hooks) &&
        child_finish(&v.play.process.process, REAL_PATIENCE_MS);
    bool killed = was_killed(&v);
    if (ok && killed) {
        CHECK_INT(v.play.process.process.status, 128 + SIGKILL);
        expect_collected(&v);
    }
    (void)play_end(&v.play, &o);
    (void)pthread_mutex_destroy(&v.lock);
    return ok && killed;
}

static void kill_at_every(moment at)
{
    unsigned nth = 1;
    while (nth < CALLS_MAX && kill_at(at, nth))
        nth++;
    printf("    killed %s %u calls\n", moment_names[at], nth - 1);
    CHECK(nth > 10);
}

static void a_kill_before_any_call_leaves_nothing_that_gc_does_not_remove(void)
{
    kill_at_every(BEFORE);
}

static void a_kill_after_any_call_leaves_nothing_that_gc_does_not_remove(void)
{
    kill_at_every(AFTER);
}

REAL_MAIN("kill", TEST(a_kill_before_any_call_leaves_nothing_that_gc_does_not_remove),
          TEST(a_kill_after_any_call_leaves_nothing_that_gc_does_not_remove))

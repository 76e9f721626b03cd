/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine fails at one call of a run: it declines, answers nonsense, hangs up, says nothing, or
 * answers when nobody listens any more. Whatever that call was, the result is true, its message
 * says what failed, and nothing stays on the engine; where the engine itself kept Cordon from
 * removing something, the receipt says so and one collection removes it.
 *
 * Each kind of fault at calls of each kind; with CORDON_TEST_EVERY_CALL every fault at every call.
 */
#include <stdlib.h>
#include <unistd.h>

#include "survey.h"

/*
 * Runs of one round. Those that wait for an engine which says nothing cost no processor, so the
 * others go on beside them, some at a time.
 */
#define WAITING  16
#define TOGETHER 4
#define HASTY    (10 * TOGETHER)
/* A run that waits for its engine ends by the first; the second is longer than any run needs. */
#define DEADLINE      "10s"
#define DEADLINE_LONG "60s"
/* Longest that a hook waits for Cordon to give up; above all bounds of a run and its disposal. */
#define GIVE_UP_MS 150000
#define END_MS     240000

typedef liar_word fault_fn(liar_exchange *x);

/*
 * ask     in place of the engine, which hears nothing of the call
 * answer  after the engine has done it
 * waits   Cordon has to give the call up
 * unsure  a create may have happened, for all that Cordon knows, and has not: it is looked for
 * rare    much like another one: only where all are wanted
 */
typedef struct fault {
    const char *name;
    fault_fn *ask;
    fault_fn *answer;
    bool waits;
    bool unsure;
    bool rare;
} fault;

/* One run with one fault. */
typedef struct shot {
    const place *at;
    const fault *what;
    bool again; /* the run failed before that call; it has longer now */
    play play;
    pthread_mutex_t lock;
    bool struck;
    bool heard;
    outcome outcome;
} shot;

/* A decoy's labels are ours but for owner and token. */
typedef struct decoys {
    char container[CORDON_ID_HEX + 1];
    char network[CORDON_ID_HEX + 1];
} decoys;

typedef struct round {
    shot shots[WAITING + HASTY];
    size_t count;
} round_t;

typedef struct aim {
    const place *at;
    const fault *what;
    bool again;
} aim;

typedef struct aims {
    aim items[SURVEY_MAX * 24];
    size_t count;
    size_t next;
} aims;

/* What is still to be done. */
typedef struct range {
    survey survey;
    aims waiting;
    aims hasty;
    size_t passed_by; /* calls that a run did not come to */
} range;

/* --- Faults ----------------------------------------------------------------------------------- */

static liar_word say(liar_exchange *x, int status, const char *text)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_buf_reset(&x->answer);
    x->status = status;
    return cordon_buf_append_text(&x->answer, text, &err) == 0 ? LIAR_ANSWER : LIAR_CUT;
}

/* In the words of both engines: Docker reads the message, libpod's client the cause as well. */
static liar_word decline(liar_exchange *x, int status)
{
    static const char body[] =
        "{\"message\":\"induced failure\",\"cause\":\"induced failure\",\"response\":500}";
    return say(x, status, body);
}

static liar_word fails(liar_exchange *x)
{
    return decline(x, 500);
}

static liar_word knows_nothing(liar_exchange *x)
{
    return decline(x, 404);
}

static liar_word is_in_conflict(liar_exchange *x)
{
    return decline(x, 409);
}

static liar_word tells_nonsense(liar_exchange *x)
{
    return say(x, x->status == 201 ? 201 : 200, "{\"Id\":\"nonsense\",,}");
}

static liar_word is_noise(liar_exchange *x)
{
    (void)x;
    return LIAR_NOISE;
}

static liar_word hangs_up(liar_exchange *x)
{
    (void)x;
    return LIAR_CUT;
}

/* The engine never hears of it. */
static liar_word says_nothing(liar_exchange *x)
{
    (void)liar_client_left(x, GIVE_UP_MS);
    return LIAR_CUT;
}

/* Before: the engine does it then. After: its answer comes then. */
static liar_word comes_late(liar_exchange *x)
{
    (void)liar_client_left(x, GIVE_UP_MS);
    return LIAR_PASS;
}

static const fault faults[] = {
    {"is answered 500", fails, NULL, false, false, false},
    {"is done and answered 500", NULL, fails, false, false, false},
    {"is answered 404", knows_nothing, NULL, false, false, false},
    {"is answered 409", is_in_conflict, NULL, false, false, false},
    {"is answered with nonsense", NULL, tells_nonsense, false, false, false},
    {"is answered with noise", is_noise, NULL, false, true, true},
    {"is cut before", hangs_up, NULL, false, true, false},
    {"is cut after", NULL, hangs_up, false, false, false},
    {"is never answered", says_nothing, NULL, true, true, false},
    {"is done late", comes_late, NULL, true, false, true},
    {"is answered late", NULL, comes_late, true, false, false},
};
#define FAULTS (sizeof faults / sizeof faults[0])

/* --- Which calls a run makes ------------------------------------------------------------------ */

static const call command = {
    .argv = SHELL("echo ready"),
    .options = WORDS("--deadline", DEADLINE_LONG),
};

/* One of each kind that a run lives by. */
static bool is_chosen(const place *at)
{
    static const play_request chosen[] = {
        {PLAY_CREATE, CORDON_ROLE_VENDOR_NETWORK, 1},
        {PLAY_CREATE, CORDON_ROLE_STEP, 1},
        {PLAY_START, CORDON_ROLE_STEP, 1},
        {PLAY_INSPECT, CORDON_ROLE_STEP, 2},
        {PLAY_REMOVE, CORDON_ROLE_STEP, 1},
    };
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        if (survey_is(at, &chosen[i]))
            return true;
    }
    return survey_wants_all();
}

/* --- One run ---------------------------------------------------------------------------------- */

static bool is_collection(const play *p)
{
    return __atomic_load_n(&p->process.process.ended, __ATOMIC_ACQUIRE);
}

static liar_word strike(play *p, const play_request *r, liar_exchange *x, bool after)
{
    shot *s = p->hooks.context;
    fault_fn *act = after ? s->what->answer : s->what->ask;
    (void)pthread_mutex_lock(&s->lock);
    bool here = act && !s->struck && !is_collection(p) && survey_is(s->at, r);
    s->struck = s->struck || here;
    (void)pthread_mutex_unlock(&s->lock);
    return here ? act(x) : LIAR_PASS;
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    return strike(p, r, x, false);
}

static liar_word on_answer(play *p, const play_request *r, liar_exchange *x)
{
    return strike(p, r, x, true);
}

static bool shoot(shot *s)
{
    const play_hooks hooks = {.context = s, .ask = on_ask, .answer = on_answer};
    call c = command;
    (void)pthread_mutex_init(&s->lock, NULL);
    if (s->what->waits && !s->again)
        c.options = WORDS("--deadline", DEADLINE);
    return play_begin(&s->play, c, &hooks);
}

/* --- What must hold --------------------------------------------------------------------------- */

static const char *shown(const char *text)
{
    return text ? text : "(nothing)";
}

/* What each kind means for the command, which prints one line, and for the exit status. */
static bool is_true(const shot *s)
{
    static const struct {
        const char *kind;
        int status;
        const char *out; /* NULL: nobody knows */
    } truths[] = {
        {"exited", 0, "ready\n"}, {"error", 125, NULL},    {"not_started", 125, ""},
        {"refused", 126, ""},     {"tampered", 126, NULL}, {"deadline", 124, NULL},
    };
    const outcome *o = &s->outcome;
    const char *kind = receipt_text(o, "result.kind");
    bool has_message = receipt_text(o, "result.message") != NULL;
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        if (test_same(kind, truths[i].kind))
            return o->process.status == truths[i].status && has_message == (i > 0) &&
                   (!truths[i].out || test_same(outcome_out(o), truths[i].out)) &&
                   (s->what->waits || !test_same(kind, "deadline"));
    }
    return false;
}

/*
 * What failed for itself is named, in a word of both engines. A refusal names its fact. When the
 * deadline passes, any call that was under way may be the one that tells.
 */
static bool names_the_call(const shot *s)
{
    static const struct {
        play_call call;
        const char *word;
        const char *other;
    } words[] = {
        {PLAY_CREATE, "create", "create"}, {PLAY_INSPECT, "inspect", "inspect"},
        {PLAY_ATTACH, "attach", "stream"}, {PLAY_START, "start", "start"},
        {PLAY_WAIT, "wait", "wait"},       {PLAY_EVENTS, "event", "event"},
    };
    const char *kind = receipt_text(&s->outcome, "result.kind");
    const char *message = receipt_text(&s->outcome, "result.message");
    if (test_same(kind, "deadline"))
        return message && strstr(message, "deadline") != NULL;
    if (!s->struck || (!test_same(kind, "error") && !test_same(kind, "not_started")))
        return true;
    for (size_t i = 0; message && i < sizeof words / sizeof words[0]; i++) {
        if (words[i].call == s->at->request.call)
            return strstr(message, words[i].word) || strstr(message, words[i].other);
    }
    return true;
}

/* Only a create that may have happened is left open; a removal is asked for again. */
static bool may_be_left(const shot *s)
{
    return s->what->unsure && s->at->request.call == PLAY_CREATE;
}

/* An engine of a busy machine may have failed by itself, and the fault met a removal then. */
static bool may_be_again(const shot *s)
{
    return !s->again && (!s->struck || !names_the_call(s));
}

static void judge(const shot *s)
{
    const outcome *o = &s->outcome;
    bool complete = receipt_true(o, "cleanup.complete");
    TEST_RECORDF(is_true(s) && (names_the_call(s) || may_be_again(s)),
                 "%s (%u) %s: %d, %s, \"%.40s\": %s", s->at->what, s->at->request.nth,
                 s->what->name, o->process.status, shown(receipt_text(o, "result.kind")),
                 outcome_out(o), shown(receipt_text(o, "result.message")));
    TEST_RECORDF(complete == !(s->struck && may_be_left(s)), "%s (%u) %s: %s is left: %s",
                 s->at->what, s->at->request.nth, s->what->name,
                 shown(receipt_text(o, "cleanup.left.0.id")),
                 shown(receipt_text(o, "cleanup.left.0.reason")));
}

/* One collection clears the runs that said that something may be left, and finds no others. */
static void collect(const round_t *r)
{
    cordon_auto(outcome) gc = {0};
    if (!cordon_call(&(call){.verb = "gc", .options = WORDS("--json")}, &gc))
        return;
    CHECK_INT(gc.process.status, 0);
    CHECK_CONTAINS(outcome_out(&gc), "\"complete\":true");
    for (size_t i = 0; i < r->count; i++) {
        const shot *s = &r->shots[i];
        const char *id = receipt_text(&s->outcome, "invocation");
        bool told = id && strstr(outcome_out(&gc), id) != NULL;
        TEST_RECORDF(told == !receipt_true(&s->outcome, "cleanup.complete"),
                     "%s %s: gc told of it: %d", s->at->what, s->what->name, told);
    }
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/* Not yet its liar: a collection needs that. */
static void hear_out(shot *s)
{
    if (!s->heard && CHECK(child_finish(&s->play.process.process, END_MS)))
        s->heard = cordon_end(&s->play.process, &s->outcome);
}

static void plan(range *all, const place *at, const fault *what, bool again)
{
    /* A search for what may have been made takes its time, too. */
    bool waits = what->waits || (what->unsure && at->request.call == PLAY_CREATE);
    aims *list = waits ? &all->waiting : &all->hasty;
    if (CHECK(list->count < sizeof list->items / sizeof list->items[0]))
        list->items[list->count++] = (aim){at, what, again};
}

static void plan_all(range *all)
{
    for (size_t i = 0; i < all->survey.count; i++) {
        for (size_t j = 0; is_chosen(&all->survey.places[i]) && j < FAULTS; j++) {
            if (!faults[j].rare || survey_wants_all())
                plan(all, &all->survey.places[i], &faults[j], false);
        }
    }
}

/* Starts the next ones of the list, at most so many; the first of them in the round is returned. */
static size_t begin_some(round_t *r, aims *from, size_t most)
{
    size_t first = r->count;
    for (; most > 0 && from->next < from->count; most--) {
        const aim *next = &from->items[from->next++];
        shot *s = &r->shots[r->count];
        *s = (shot){.at = next->at, .what = next->what, .again = next->again};
        if (shoot(s))
            r->count++;
    }
    return first;
}

static bool was_struck(shot *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool struck = s->struck;
    (void)pthread_mutex_unlock(&s->lock);
    return struck;
}

/* Until it waits for its engine: only so many runs are to want the processor at once. */
static void await_strike(shot *s)
{
    while (!was_struck(s) && s->play.process.process.err_fd >= 0)
        child_collect(&s->play.process.process, 20);
}

static void end_round(range *all, round_t *r)
{
    bool open = false;
    for (size_t i = 0; i < r->count; i++)
        hear_out(&r->shots[i]);
    for (size_t i = 0; i < r->count; i++)
        open = open || !receipt_true(&r->shots[i].outcome, "cleanup.complete");
    if (open)
        collect(r);
    for (size_t i = 0; i < r->count; i++) {
        shot *s = &r->shots[i];
        cordon_auto(outcome) ignored = {0};
        judge(s);
        if (may_be_again(s))
            plan(all, s->at, s->what, true);
        else
            all->passed_by += !s->struck;
        (void)play_end(&s->play, &ignored);
        outcome_clear(&s->outcome);
        (void)pthread_mutex_destroy(&s->lock);
    }
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

static void begin_round(range *all, round_t *r)
{
    r->count = 0;
    while (r->count < WAITING && all->waiting.next < all->waiting.count) {
        for (size_t i = begin_some(r, &all->waiting, TOGETHER); i < r->count; i++)
            await_strike(&r->shots[i]);
    }
    for (size_t group = 0; group < HASTY; group += TOGETHER) {
        for (size_t i = begin_some(r, &all->hasty, TOGETHER); i < r->count; i++)
            hear_out(&r->shots[i]);
    }
}

static void fire_all(range *all)
{
    static round_t r;
    while (all->waiting.next < all->waiting.count || all->hasty.next < all->hasty.count) {
        begin_round(all, &r);
        end_round(all, &r);
    }
}

/* --- Decoys ----------------------------------------------------------------------------------- */

#define LABELS                                                                                     \
    "{\"" CORDON_LABEL_OWNER "\":\"uid-4711\",\"" CORDON_LABEL_INVOCATION                          \
    "\":\"fedcba9876543210fedcba9876543210\",\"" CORDON_LABEL_ROLE "\":\"step\","                  \
    "\"" CORDON_LABEL_TOKEN "\":\"0123456789abcdef0123456789abcdef\"}"

/* Of somebody else; from here on they belong to what the engine held before. */
static bool set_decoys(decoys *d)
{
    *d = (decoys){.container = ""};
    bool ok = real_foreign_container("cordon-step-decoy", NULL, LABELS, d->container) &&
              real_foreign_network("cordon-vendor-decoy", "10.77.7.0/29", d->network);
    cordon_fact_list_clear(&real.baseline);
    return real_objects(&real.baseline) && ok;
}

static void drop_decoys(const decoys *d)
{
    real_remove_container(d->container);
    real_remove_network(d->network);
    cordon_fact_list_clear(&real.baseline);
    CHECK(real_objects(&real.baseline));
}

static void LC4_a_call_that_fails_ends_in_a_true_result_and_nothing_is_left(void)
{
    static range all;
    decoys d;
    if (set_decoys(&d) && survey_take(&all.survey, command)) {
        plan_all(&all);
        printf("    %zu calls, %zu faults\n", all.survey.count,
               all.waiting.count + all.hasty.count);
        fire_all(&all);
        printf("    %zu calls were not made a second time\n", all.passed_by);
        CHECK(survey_wants_all() || all.passed_by == 0);
    }
    drop_decoys(&d);
}

REAL_MAIN("fault", TEST(LC4_a_call_that_fails_ends_in_a_true_result_and_nothing_is_left))

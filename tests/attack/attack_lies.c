/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases EA1, EA2, EA4, RL1, RL4 and "the lying daemon": answers that are another object's, swapped,
 * stale, repeated, cut, late or invented, and streams whose bytes are not what was written. No such
 * run exits well, none releases the command, and nothing stays on the real engine.
 */
#include "real/play.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What a lie keeps while its run goes on. */
typedef struct state {
    const struct lie *lie;
    play play;
    pthread_mutex_t lock;
    char *kept; /* an answer that is told again */
    bool told;
} state;

typedef liar_word ask_fn(state *s, const play_request *r, liar_exchange *x);
typedef liar_word piece_fn(state *s, const play_request *r, bool to_engine, char *bytes,
                           size_t length);

/*
 * kind, status  of the outcome; a second kind where engines word it otherwise
 * code          of the refusal, without its prefix, or NULL for none
 * part          of the message
 */
typedef struct lie {
    const char *id; /* of the case that it belongs to, or NULL */
    const char *name;
    ask_fn *ask;
    ask_fn *answer;
    piece_fn *piece;
    const char *kind;
    int status;
    const char *code;
    const char *part;
} lie;

/* Of each run. Only two lies wait for it; for the others it is long enough on a busy machine. */
#define DEADLINE "20s"
#define LATE_S   21

#define STEP  CORDON_ROLE_STEP
#define PROXY CORDON_ROLE_PROXY

static bool is(const play_request *r, play_call which, cordon_role role, unsigned nth)
{
    return r->call == which && r->role == role && r->nth == nth;
}

static void say(state *s, liar_exchange *x, const char *text)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_buf_reset(&x->answer);
    s->told = cordon_buf_append_text(&x->answer, text, &err) == 0;
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* The first look at the proxy is told of the step, when it comes later; else of the proxy's id. */
static liar_word another_object(state *s, const play_request *r, liar_exchange *x)
{
    if (is(r, PLAY_INSPECT, PROXY, 1)) {
        free(s->kept);
        s->kept = strdup(cordon_buf_text(&x->answer));
    }
    if (is(r, PLAY_INSPECT, STEP, 2) && s->kept)
        say(s, x, s->kept);
    return LIAR_PASS;
}

/* The proxy's id is handed out for the step. */
static liar_word swapped_ids(state *s, const play_request *r, liar_exchange *x)
{
    char text[256];
    if (r->call != PLAY_CREATE || r->role != STEP || x->status != 201)
        return LIAR_PASS;
    for (int i = 0; i < 500 && !s->play.ids[PROXY][0]; i++)
        (void)usleep(10000);
    (void)snprintf(text, sizeof text, "{\"Id\":\"%s\",\"Warnings\":[]}", s->play.ids[PROXY]);
    say(s, x, text);
    return LIAR_PASS;
}

/* What was true when the step was made is told again at the end. */
static liar_word stale(state *s, const play_request *r, liar_exchange *x)
{
    if (is(r, PLAY_INSPECT, STEP, 1)) {
        free(s->kept);
        s->kept = strdup(cordon_buf_text(&x->answer));
    }
    if (is(r, PLAY_INSPECT, STEP, 2) && s->kept)
        say(s, x, s->kept);
    return LIAR_PASS;
}

/* The last word of a repeated key counts for many readers; here for none. */
static liar_word twice(state *s, const play_request *r, liar_exchange *x)
{
    cordon_auto(json_text) json = {0};
    if (!is(r, PLAY_INSPECT, STEP, 2) || !json_text_read(cordon_buf_text(&x->answer), &json))
        return LIAR_PASS;
    size_t at = json_text_find(&json, "$.HostConfig");
    cordon_autofree char *text =
        at != JSON_TEXT_NONE ? json_text_extend(&json, at, "\"Privileged\": true") : NULL;
    if (text)
        say(s, x, text);
    return LIAR_PASS;
}

static liar_word half(state *s, const play_request *r, liar_exchange *x)
{
    (void)x;
    if (!is(r, PLAY_INSPECT, STEP, 2))
        return LIAR_PASS;
    s->told = true;
    return LIAR_HALF;
}

static liar_word nothing(state *s, const play_request *r, liar_exchange *x)
{
    if (is(r, PLAY_INSPECT, STEP, 2))
        say(s, x, "");
    return LIAR_PASS;
}

/* An object that would pass, if half of it were enough. */
static liar_word least(state *s, const play_request *r, liar_exchange *x)
{
    char text[256];
    if (!is(r, PLAY_INSPECT, STEP, 1))
        return LIAR_PASS;
    (void)snprintf(text, sizeof text,
                   "{\"Id\":\"%s\",\"State\":{},\"Config\":{},\"HostConfig\":{}}",
                   s->play.ids[STEP]);
    say(s, x, text);
    return LIAR_PASS;
}

static liar_word warned(state *s, const play_request *r, liar_exchange *x)
{
    char text[256];
    if (r->call != PLAY_CREATE || r->role != STEP || x->status != 201)
        return LIAR_PASS;
    (void)snprintf(text, sizeof text, "{\"Id\":\"%s\",\"Warnings\":[\"no memory limit\"]}",
                   s->play.ids[STEP]);
    say(s, x, text);
    return LIAR_PASS;
}

/* It is made, and the answer never comes: found again by its token. */
static liar_word lost(state *s, const play_request *r, liar_exchange *x)
{
    (void)x;
    if (r->call != PLAY_CREATE || r->role != STEP)
        return LIAR_PASS;
    s->told = true;
    return LIAR_CUT;
}

static liar_word late(state *s, const play_request *r, liar_exchange *x)
{
    (void)x;
    if (is(r, PLAY_INSPECT, STEP, 2)) {
        s->told = true;
        (void)sleep(LATE_S);
    }
    return LIAR_PASS;
}

/* --- Things that are not done ----------------------------------------------------------------- */

static liar_word not_started(state *s, const play_request *r, liar_exchange *x)
{
    if (r->call != PLAY_START || r->role != STEP)
        return LIAR_PASS;
    s->told = true;
    x->status = 204;
    return LIAR_ANSWER;
}

static liar_word started_already(state *s, const play_request *r, liar_exchange *x)
{
    if (r->call == PLAY_START && r->role == STEP) {
        s->told = true;
        x->status = 304;
    }
    return LIAR_PASS;
}

/* EA1: an exit status that nobody has seen. */
static liar_word no_events(state *s, const play_request *r, liar_exchange *x)
{
    (void)x;
    if (r->call != PLAY_EVENTS)
        return LIAR_PASS;
    s->told = true;
    return LIAR_CUT;
}

/* --- Streams ---------------------------------------------------------------------------------- */

static liar_word flipped_report(state *s, const play_request *r, bool to_engine, char *bytes,
                                size_t length)
{
    if (to_engine || r->call != PLAY_ATTACH || r->role != STEP || s->told || length < 400)
        return LIAR_PASS;
    bytes[length / 2] ^= 1;
    s->told = true;
    return LIAR_PASS;
}

static liar_word flipped_release(state *s, const play_request *r, bool to_engine, char *bytes,
                                 size_t length)
{
    if (!to_engine || r->call != PLAY_ATTACH || r->role != STEP || s->told || length < 100)
        return LIAR_PASS;
    bytes[length / 2] ^= 1;
    s->told = true;
    return LIAR_PASS;
}

static liar_word cut_attach(state *s, const play_request *r, bool to_engine, char *bytes,
                            size_t length)
{
    (void)bytes;
    (void)length;
    if (to_engine || r->call != PLAY_ATTACH || r->role != STEP)
        return LIAR_PASS;
    s->told = true;
    return LIAR_CUT;
}

static const lie lies[] = {
    {"EA4", "another object's answer", NULL, another_object, NULL, "refused,error,not_started", 0,
     NULL, ""},
    {"EA4", "ids are swapped", NULL, swapped_ids, NULL, "refused,error,not_started", 0, NULL, ""},
    {"EA2", "a stale answer", NULL, stale, NULL, "refused", 126, "MISMATCH", "step.state"},
    {NULL, "a key twice", NULL, twice, NULL, "error,not_started", 125, NULL, "appears twice"},
    {NULL, "half an answer", NULL, half, NULL, "error,not_started", 125, NULL, ""},
    {NULL, "an empty answer", NULL, nothing, NULL, "error,not_started", 125, NULL, ""},
    {NULL, "the least of an answer", NULL, least, NULL, "refused,error,not_started", 0, NULL, ""},
    {"RL4", "a warning", NULL, warned, NULL, "refused", 126, "WARNING", "no memory limit"},
    {"RL1", "the answer to a create is lost", NULL, lost, NULL, "error,not_started", 125, NULL, ""},
    {"EA1", "an answer after the deadline", NULL, late, NULL, "deadline", 124, NULL, ""},
    {"EA2", "a start that is none", not_started, NULL, NULL, "deadline,error,not_started,refused",
     0, NULL, ""},
    {"EA2", "a start by somebody else", NULL, started_already, NULL, "refused", 126, "CHANGED", ""},
    {"EA1", "no events", NULL, no_events, NULL, "error,not_started", 125, NULL, ""},
    {NULL, "a report with one bit changed", NULL, NULL, flipped_report, "refused,error,not_started",
     0, NULL, ""},
    {NULL, "a release with one bit changed", NULL, NULL, flipped_release, "error", 125, NULL,
     "not released"},
    {NULL, "the step's stream is cut", NULL, NULL, cut_attach, "error,not_started", 125, NULL, ""},
};
#define LIES (sizeof lies / sizeof lies[0])

/* --- Telling them ----------------------------------------------------------------------------- */

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    state *s = p->hooks.context;
    return s->lie->ask ? s->lie->ask(s, r, x) : LIAR_PASS;
}

static liar_word on_answer(play *p, const play_request *r, liar_exchange *x)
{
    state *s = p->hooks.context;
    (void)pthread_mutex_lock(&s->lock);
    liar_word word = s->lie->answer ? s->lie->answer(s, r, x) : LIAR_PASS;
    (void)pthread_mutex_unlock(&s->lock);
    return word;
}

static liar_word on_piece(play *p, const play_request *r, bool to_engine, char *bytes,
                          size_t length)
{
    state *s = p->hooks.context;
    return s->lie->piece ? s->lie->piece(s, r, to_engine, bytes, length) : LIAR_PASS;
}

/* One of a comma-separated list. */
static bool one_of(const char *list, const char *word)
{
    const char *at = word ? strstr(list, word) : NULL;
    size_t length = word ? strlen(word) : 0;
    return at && (at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0');
}

static void sweep_type(cordon_object_type type)
{
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (!CHECK_OK(real.ops->list_by_label(real.impl, type, CORDON_LABEL_OWNER "=uid-0", real_soon(),
                                          &list, &err),
                  err))
        return;
    for (size_t i = 0; i < list.count; i++) {
        if (type == CORDON_OBJECT_CONTAINER)
            real_remove_container(list.items[i].id);
        else
            real_remove_network(list.items[i].id);
    }
}

/*
 * A step whose id was never told - the engine told another one's - is not removed by its name or
 * token: it is reported, and its journal entry stays.
 */
static void sweep(void)
{
    sweep_type(CORDON_OBJECT_CONTAINER);
    sweep_type(CORDON_OBJECT_NETWORK);
    const child_spec spec = {.argv = WORDS("rm", "-rf", real_path("state-0/cordon"))};
    cordon_auto(child) rm;
    if (child_start(&spec, &rm))
        CHECK(child_finish(&rm, REAL_PATIENCE_MS));
}

static void judge(const state *s, const outcome *o)
{
    const lie *l = s->lie;
    const char *kind = receipt_text(o, "result.kind");
    const char *code = receipt_text(o, "result.refusal.code");
    const char *message = receipt_text(o, "result.message");
    char want[64];
    (void)snprintf(want, sizeof want, "CORDON_REFUSED_%s", l->code ? l->code : "");
    bool good = one_of(l->kind, kind) && o->process.status != 0 &&
                (l->status == 0 || o->process.status == l->status) &&
                (!l->code || test_same(code, want)) && message && strstr(message, l->part);
    TEST_RECORDF(s->told, "%s: not told", l->name);
    TEST_RECORDF(good, "%s: %d %s %s: %s", l->name, o->process.status, kind ? kind : "-",
                 code ? code : "-", message ? message : outcome_err(o));
    TEST_RECORDF(!strstr(outcome_out(o), "released"), "%s: the command ran", l->name);
    if (l->answer == swapped_ids)
        sweep();
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

static void tell(const lie *l)
{
    static state s;
    cordon_auto(outcome) o = {0};
    const play_hooks hooks = {&s, on_ask, on_answer, on_piece};
    s = (state){.lie = l};
    (void)pthread_mutex_init(&s.lock, NULL);
    const call what = {.argv = SHELL("echo released"), .options = WORDS("--deadline", DEADLINE)};
    if (play_begin(&s.play, what, &hooks) && play_end(&s.play, &o))
        judge(&s, &o);
    (void)pthread_mutex_destroy(&s.lock);
    free(s.kept);
}

/* Those of one case, or with NULL those of none. */
static void tell_all(const char *id)
{
    unsigned told = 0;
    for (size_t i = 0; i < LIES; i++) {
        if (id ? !test_same(lies[i].id, id) : lies[i].id != NULL)
            continue;
        told++;
        tell(&lies[i]);
    }
    CHECK(told > 0);
}

static void EA1_a_run_whose_end_nobody_told_is_no_success(void)
{
    tell_all("EA1");
}

static void EA2_what_was_not_started_by_us_is_not_released(void)
{
    tell_all("EA2");
}

static void EA4_what_is_told_of_another_object_proves_nothing(void)
{
    tell_all("EA4");
}

static void RL1_a_create_whose_answer_is_lost_is_found_again_by_its_token(void)
{
    tell_all("RL1");
}

static void RL4_a_warning_refuses_and_is_shown(void)
{
    tell_all("RL4");
}

static void no_other_lie_passes(void)
{
    tell_all(NULL);
}

REAL_MAIN("attack_lies", TEST(EA1_a_run_whose_end_nobody_told_is_no_success),
          TEST(EA2_what_was_not_started_by_us_is_not_released),
          TEST(EA4_what_is_told_of_another_object_proves_nothing),
          TEST(RL1_a_create_whose_answer_is_lost_is_found_again_by_its_token),
          TEST(RL4_a_warning_refuses_and_is_shown), TEST(no_other_lie_passes))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases CG3, CS2 and LC7: an engine that will not remove a network or does not know one that it has
 * just made, and a proxy that does not come up. Cases OT3 and OT4: a command that is very quick,
 * and one that prints very much; with CORDON_TEST_EVERY_CALL in the cases' own sizes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "survey.h"

#define END_MS 120000

#define NETWORK CORDON_ROLE_VENDOR_NETWORK
#define STEP    CORDON_ROLE_STEP
#define PROXY   CORDON_ROLE_PROXY

typedef struct trouble trouble;
typedef liar_word trouble_ask_fn(trouble *t, const play_request *r, liar_exchange *x);
typedef void trouble_piece_fn(char *bytes, size_t length);

/*
 * ask       in the engine's place, at a call of that kind and role
 * piece     changes what is written to the proxy, once
 * kind, status, part, left  of the outcome: part of the message, whether the network is left
 */
typedef struct trouble_row {
    const char *name;
    play_call call;
    cordon_role role;
    trouble_ask_fn *ask;
    trouble_piece_fn *piece;
    const char *kind;
    int status;
    const char *part;
    bool left;
} trouble_row;

struct trouble {
    const trouble_row *row;
    play play;
    pthread_mutex_t lock;
    unsigned times;
    time_t began;
    outcome outcome;
};

/* --- What goes wrong -------------------------------------------------------------------------- */

static liar_word say(liar_exchange *x, int status, const char *text)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_buf_reset(&x->answer);
    x->status = status;
    return cordon_buf_append_text(&x->answer, text, &err) == 0 ? LIAR_ANSWER : LIAR_CUT;
}

static liar_word decline(liar_exchange *x, int status)
{
    return say(x, status,
               "{\"message\":\"induced failure\",\"cause\":\"induced failure\",\"response\":409}");
}

static bool is_young(trouble *t)
{
    if (t->times == 1)
        t->began = time(NULL);
    return time(NULL) - t->began < 3;
}

static liar_word forbidden_for_a_while(trouble *t, const play_request *r, liar_exchange *x)
{
    (void)r;
    return is_young(t) ? decline(x, 403) : LIAR_PASS;
}

static liar_word in_use_for_a_while(trouble *t, const play_request *r, liar_exchange *x)
{
    (void)r;
    return is_young(t) ? decline(x, 409) : LIAR_PASS;
}

static liar_word in_use_for_ever(trouble *t, const play_request *r, liar_exchange *x)
{
    (void)t;
    (void)r;
    return decline(x, 409);
}

/* In the words of both engines. */
static liar_word no_such_network(trouble *t, const play_request *r, liar_exchange *x)
{
    char text[512];
    const char *id = t->play.ids[NETWORK];
    (void)r;
    (void)snprintf(text, sizeof text,
                   "{\"message\":\"unable to find network with name or ID %s: network %s not "
                   "found\",\"cause\":\"network not found\",\"response\":404}",
                   id, id);
    return say(x, 404, text);
}

static liar_word no_such_network_once(trouble *t, const play_request *r, liar_exchange *x)
{
    return t->times == 1 ? no_such_network(t, r, x) : LIAR_PASS;
}

/* Its policy has another magic: it ends at once. */
static void break_policy(char *bytes, size_t length)
{
    if (length > 4)
        bytes[0] ^= 0x20;
}

/* Big-endian, behind the magic: it waits for bytes that never come. */
static void lengthen_policy(char *bytes, size_t length)
{
    if (length > 12)
        bytes[10] = (char)(bytes[10] + 1);
}

static const trouble_row removals[] = {
    {"CG3 403 for 3 s", PLAY_REMOVE, NETWORK, forbidden_for_a_while, NULL, "exited", 0, NULL,
     false},
    {"CG3 409 for 3 s", PLAY_REMOVE, NETWORK, in_use_for_a_while, NULL, "exited", 0, NULL, false},
    {"CG3 409 for ever", PLAY_REMOVE, NETWORK, in_use_for_ever, NULL, "exited", 0, NULL, true},
    {"LC7 ends at once", PLAY_ATTACH, PROXY, NULL, break_policy, "not_started", 125,
     "its log ends: ", false},
    {"LC7 never listens", PLAY_ATTACH, PROXY, NULL, lengthen_policy, "not_started", 125,
     "its log ends: ", false},
};

static const trouble_row creates[] = {
    {"CS2 once", PLAY_CREATE, STEP, no_such_network_once, NULL, "exited", 0, NULL, false},
    {"CS2 always", PLAY_CREATE, STEP, no_such_network, NULL, "not_started", 125, "not found",
     false},
};

#define ROWS_MAX 5

/* --- Runs ------------------------------------------------------------------------------------- */

static bool is_at(const trouble *t, const play_request *r)
{
    return r->call == t->row->call && r->role == t->row->role &&
           !__atomic_load_n(&t->play.process.process.ended, __ATOMIC_ACQUIRE);
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    trouble *t = p->hooks.context;
    if (!t->row->ask || !is_at(t, r))
        return LIAR_PASS;
    (void)pthread_mutex_lock(&t->lock);
    t->times++;
    liar_word word = t->row->ask(t, r, x);
    (void)pthread_mutex_unlock(&t->lock);
    return word;
}

static liar_word on_piece(play *p, const play_request *r, bool to_engine, char *bytes,
                          size_t length)
{
    trouble *t = p->hooks.context;
    if (!t->row->piece || !to_engine || !is_at(t, r))
        return LIAR_PASS;
    (void)pthread_mutex_lock(&t->lock);
    if (t->times++ == 0)
        t->row->piece(bytes, length);
    (void)pthread_mutex_unlock(&t->lock);
    return LIAR_PASS;
}

static bool begin(trouble *t, const trouble_row *row)
{
    const play_hooks hooks = {.context = t, .ask = on_ask, .piece = on_piece};
    *t = (trouble){.row = row};
    (void)pthread_mutex_init(&t->lock, NULL);
    return play_begin(&t->play, (call){.argv = SHELL("echo ready")}, &hooks);
}

static void judge(const trouble *t)
{
    const trouble_row *row = t->row;
    const outcome *o = &t->outcome;
    const char *kind = receipt_text(o, "result.kind");
    const char *message = receipt_text(o, "result.message");
    const char *left = receipt_text(o, "cleanup.left.0.id");
    bool ran = row->status == 0;
    TEST_RECORDF(t->times > 0 && o->process.status == row->status && test_same(kind, row->kind) &&
                     (!row->part || (message && strstr(message, row->part))) &&
                     test_same(outcome_out(o), ran ? "ready\n" : ""),
                 "%s: %d, %s, \"%.40s\": %s %.200s", row->name, o->process.status,
                 kind ? kind : "no receipt", outcome_out(o), message ? message : "-",
                 outcome_err(o));
    TEST_RECORDF(row->left ? left && test_same(left, t->play.ids[NETWORK]) : left == NULL,
                 "%s: left is %s", row->name, left ? left : "nothing");
    /* Bounded: three seconds and fifteen, at most twenty times a second. */
    TEST_RECORDF(t->times < 400, "%s: %u times", row->name, t->times);
    if (row->left)
        CHECK_CONTAINS(outcome_err(o), t->play.ids[NETWORK]);
}

static void collect(void)
{
    cordon_auto(outcome) gc = {0};
    if (!cordon_call(&(call){.verb = "gc", .options = WORDS("--json")}, &gc))
        return;
    CHECK_INT(gc.process.status, 0);
    CHECK_CONTAINS(outcome_out(&gc), "\"complete\":true");
}

/* All at once, since they wait; what is left is removed by one collection. */
static void go_through(const trouble_row *rows, size_t count)
{
    static trouble all[ROWS_MAX];
    size_t begun = 0;
    bool left = false;
    while (begun < count && begin(&all[begun], &rows[begun]))
        begun++;
    CHECK(begun == count);
    for (size_t i = 0; i < begun; i++) {
        CHECK(child_finish(&all[i].play.process.process, END_MS));
        CHECK(cordon_end(&all[i].play.process, &all[i].outcome));
        left = left || !receipt_true(&all[i].outcome, "cleanup.complete");
    }
    if (left)
        collect();
    for (size_t i = 0; i < begun; i++) {
        cordon_auto(outcome) ignored = {0};
        judge(&all[i]);
        (void)play_end(&all[i].play, &ignored);
        outcome_clear(&all[i].outcome);
        (void)pthread_mutex_destroy(&all[i].lock);
    }
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

static void CG3_LC7_a_network_that_will_not_go_and_a_proxy_that_does_not_come_up(void)
{
    go_through(removals, sizeof removals / sizeof removals[0]);
}

static void CS2_a_network_that_is_not_known_yet_is_asked_for_again_for_a_while(void)
{
    go_through(creates, sizeof creates / sizeof creates[0]);
}

/* --- Output ----------------------------------------------------------------------------------- */

static void OT3_a_command_that_is_over_at_once_has_all_of_its_output(void)
{
    unsigned count = survey_wants_all() ? 200 : 5;
    for (unsigned i = 0; i < count; i++) {
        cordon_auto(outcome) o = {0};
        if (!cordon_call(&(call){.argv = SHELL("echo out; echo err >&2; echo last")}, &o))
            return;
        EXPECT_EXITED(&o, 0);
        TEST_RECORDF(test_same(outcome_out(&o), "out\nlast\n") &&
                         test_same(outcome_err(&o), "err\n"),
                     "run %u: \"%.60s\", \"%.200s\"", i, outcome_out(&o), outcome_err(&o));
    }
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

/* KiB of the largest child so far, cordon itself among them. */
static long most_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_maxrss : 0;
}

static void OT4_however_much_is_printed_memory_stays_flat(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const char *size = survey_wants_all() ? "5368709120" : "268435456";
    cordon_auto(outcome) o = {0};
    REQUIRE(nowhere >= 0);
    if (cordon_call(&(call){.argv = WORDS("head", "-c", size, "/dev/zero"),
                            .limits = "grace = \"1s\"; output = \"64MiB\";",
                            .stdout_fd = nowhere},
                    &o)) {
        EXPECT_EXITED(&o, 0);
        CHECK(receipt_true(&o, "output.truncated"));
        CHECK_INT(receipt_number(&o, "output.stdout_bytes"), strtoll(size, NULL, 10));
        TEST_RECORDF(most_memory() < 96L * 1024, "%ld KiB", most_memory());
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)close(nowhere);
}

REAL_MAIN("cases_end", TEST(CG3_LC7_a_network_that_will_not_go_and_a_proxy_that_does_not_come_up),
          TEST(CS2_a_network_that_is_not_known_yet_is_asked_for_again_for_a_while),
          TEST(OT3_a_command_that_is_over_at_once_has_all_of_its_output),
          TEST(OT4_however_much_is_printed_memory_stays_flat))

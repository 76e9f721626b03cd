/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases EA2, EA4, EA6, TO1, TO2, TO5 and TO6 as whole runs over the fake engine: what is asked of
 * the engine, what it answers and what the receipt says. The same on real engines is in real.cases.
 */
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "invocation.h"
#include "support/run_case.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char vendor_network[] = "vendor-network";

static void EA2_a_start_that_fails_is_not_started_and_has_no_status(void)
{
    static const fake_fault declined = {FAKE_CONTAINER_START, "step", 1, FAKE_FAULT_BEFORE,
                                        CORDON_ERR_ENGINE};
    for (int podman = 0; podman < 2; podman++) {
        cordon_auto(fake_run) run = {0};
        fake_release release;
        fake_run_options options = {.podman = podman != 0, .probe = true};
        REQUIRE_OK(fake_run_open(&run, &options) ? 0 : -1, run.err);
        fake_engine_fault(run.fake, &declined);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "not_started");
        CHECK_INT(run.result.exit_code, -1);
        CHECK_INT(run.result.status, 125);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_WAIT, "step"), 0);
        CHECK(!fake_engine_released(run.fake, &release));
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* --- EA6 -------------------------------------------------------------------------------------- */

/* An answer to the step's signals that says something else than what became of the step. */
typedef struct answer_case {
    const char *name;
    fake_fault fault;
    unsigned signals; /* that are sent */
} answer_case;

#define SIGNAL(nth, kind, code)                                                                    \
    {                                                                                              \
        FAKE_CONTAINER_SIGNAL, "step", nth, FAKE_FAULT_##kind, CORDON_ERR_##code                   \
    }

static const answer_case answers[] = {
    {"it ends, the answer is a conflict", SIGNAL(1, AFTER, CONFLICT), 1},
    {"it ends, the answer is not found", SIGNAL(1, AFTER, NOTFOUND), 1},
    {"it ends, the answer is an error", SIGNAL(1, AFTER, ENGINE), 1},
    {"it ends, no answer comes", SIGNAL(1, AFTER, INDETERMINATE), 1},
    {"it stays, the answer is a conflict", SIGNAL(1, BEFORE, CONFLICT), 2},
    {"it stays, the answer is not found", SIGNAL(1, BEFORE, NOTFOUND), 2},
    {"it stays, the answer is an error", SIGNAL(1, BEFORE, ENGINE), 2},
    {"no signal arrives at all", SIGNAL(0, BEFORE, CONFLICT), 2},
};

static run_outcome outcomes[COUNT(answers)];
static unsigned signals[COUNT(answers)];

static void cancel_when_released(void *context, fake_run *run, const char *word)
{
    (void)context;
    if (strcmp(word, "released") == 0)
        (void)!write(run->cancel[1], "x", 1);
}

static void run_answer(void *context, size_t index)
{
    cordon_auto(fake_run) run = {0};
    fake_step step = {.stays = true};
    (void)context;
    outcomes[index] = (run_outcome){0};
    if (!fake_run_open(&run, &(fake_run_options){.probe = true, .grace = "200ms"}))
        return;
    fake_engine_step(run.fake, &step);
    fake_engine_fault(run.fake, &answers[index].fault);
    run.at_word = cancel_when_released;
    outcomes[index].ran = fake_run_go(&run);
    run_outcome_take(&outcomes[index], &run);
    signals[index] = fake_engine_count(run.fake, FAKE_CONTAINER_SIGNAL, "step");
}

static void EA6_what_became_of_the_step_counts_and_not_the_answer_to_a_signal(void)
{
    at_once(COUNT(answers), run_answer, NULL);
    for (size_t i = 0; i < COUNT(answers); i++) {
        RUN_CHECK_KIND(outcomes[i], answers[i].name, "cancelled");
        RUN_CHECK_CLEAN(outcomes[i], answers[i].name);
        TEST_RECORDF(outcomes[i].exit_code == -1 && outcomes[i].released, "%s: exit code %d",
                     answers[i].name, outcomes[i].exit_code);
        TEST_RECORDF(signals[i] == answers[i].signals, "%s: %u signals", answers[i].name,
                     signals[i]);
    }
}

/* --- What changes between two looks ----------------------------------------------------------- */

/* At a call of the run, before it is carried out; nth 0: the first one after the step's start. */
typedef struct moment {
    fake_op op;
    const char *role;
    unsigned nth;
} moment;

typedef struct change_case {
    moment at;
    void (*change)(fake_run *run);
    const char *kind; /* NULL: refused or not started, as the other branch finds it or not */
    const char *fact;
    bool started;  /* whether the step was asked to start */
    bool reported; /* whether something is left, and told of */
} change_case;

typedef struct change_hook {
    const change_case *row;
    fake_run *run;
    atomic_bool done; /* calls come on the threads of both branches */
} change_hook;

static void on_call(void *context, fake_engine *fake, fake_op op, const char *role, unsigned nth)
{
    change_hook *hook = context;
    const moment *at = &hook->row->at;
    bool now =
        at->nth == 0 ? fake_engine_count(fake, FAKE_CONTAINER_START, "step") > 0 : at->nth == nth;
    if (op != at->op || !now || strcmp(role, at->role) != 0 || atomic_exchange(&hook->done, true))
        return;
    hook->row->change(hook->run);
}

/* Carries one case through; what it came to is in the run. */
static bool run_change(const change_case *row, bool podman, fake_run *run)
{
    change_hook hook = {.row = row, .run = run};
    fake_release release;
    bool worktree = strcmp(row->at.role, vendor_network) != 0;
    const fake_run_options options = {.podman = podman, .probe = true, .worktree = worktree};
    if (!CHECK_OK(fake_run_open(run, &options) ? 0 : -1, run->err))
        return false;
    fake_engine_hook(run->fake, on_call, &hook);
    if (!CHECK_OK(fake_run_go(run) ? 0 : -1, run->err))
        return false;
    const char *kind = run->result.kind_name;
    const char *fact = run->result.refusal_fact ? run->result.refusal_fact : "";
    bool good = row->kind ? test_same(kind, row->kind) && test_same(fact, row->fact)
                          : test_same(kind, "not_started") ||
                                (test_same(kind, "refused") && test_same(fact, row->fact));
    TEST_RECORDF(good, "%s %s: %s %s, want %s %s: %s", fake_op_name(row->at.op), row->at.role, kind,
                 fact, row->kind ? row->kind : "an end", row->fact, run->result.message);
    CHECK(!fake_engine_released(run->fake, &release));
    CHECK_INT(fake_engine_count(run->fake, FAKE_CONTAINER_START, "step"), row->started);
    CHECK(run->result.cleanup_complete == !row->reported);
    CHECK(fake_engine_complaint(run->fake) == NULL);
    return true;
}

#define AT_LOOK                                                                                    \
    {                                                                                              \
        FAKE_NETWORK_INSPECT, vendor_network, 0                                                    \
    }

/* Gone, and another one of the same name in its place: what engines know networks by. */
static void replace_network(fake_run *run)
{
    const cordon_engine_ops *ops = &fake_engine_podman;
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *id = NULL;
    const cordon_network_spec spec = {
        .name = run->invocation->owner.badges[CORDON_ROLE_VENDOR_NETWORK].name,
        .subnet = "10.250.0.0/29",
        .internal = true,
    };
    fake_engine_vanish(run->fake, vendor_network);
    (void)!ops->network_create(run->fake, &spec, cordon_deadline_in_ms(10000, -1), &id, NULL, &err);
}

static void EA4_a_network_of_the_right_name_is_not_ours(void)
{
    static const change_case row = {AT_LOOK, replace_network, "refused", "engine.objects", true,
                                    true};
    cordon_auto(fake_run) run = {0};
    cordon_leftover left;
    if (!run_change(&row, true, &run))
        return;
    CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_FOREIGN");
    /* The other one is not ours to remove; that it is there is told. */
    CHECK_INT(fake_engine_left(run.fake), 1);
    CHECK(cordon_receipt_leftover(run.receipt, 0, &left) && test_has(left.reason, "left alone"));
}

static void lose_network(fake_run *run)
{
    fake_engine_vanish(run->fake, vendor_network);
}

static void TO6_a_network_that_is_gone_is_never_replaced_by_another(void)
{
    static const change_case rows[] = {
        {{FAKE_CONTAINER_CREATE, "step", 1}, lose_network, NULL, "engine.objects", false, false},
        {{FAKE_CONTAINER_START, "step", 1}, lose_network, "refused", "engine.objects", true, false},
        {AT_LOOK, lose_network, "refused", "engine.objects", true, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int podman = 0; podman < 2; podman++) {
            cordon_auto(fake_run) run = {0};
            if (run_change(&rows[i], podman != 0, &run))
                CHECK_INT(fake_engine_left(run.fake), 0);
        }
    }
}

/* --- Pins ------------------------------------------------------------------------------------- */

static void no_digest(void *context, cordon_image_facts *facts)
{
    (void)context;
    cordon_fact_list_clear(&facts->digests);
    cordon_fact_list_known(&facts->digests);
}

static void another_digest(void *context, cordon_image_facts *facts)
{
    no_digest(context, facts);
    (void)!cordon_fact_list_add(&facts->digests, "registry.test/runner@sha256:" FAKE_IMAGE_ID,
                                NULL);
}

/* The name leads to another image by now. */
static void another_image(void *context, cordon_image_facts *facts)
{
    (void)context;
    if (strcmp(facts->id, FAKE_IMAGE_ID) == 0)
        (void)!cordon_fact_text_set(&facts->id, FAKE_IMAGE_DIGEST, NULL);
}

static void image_of_container(void *context, const char *role, unsigned nth,
                               cordon_container_facts *facts)
{
    (void)context;
    (void)nth;
    if (strcmp(role, "step") == 0)
        (void)!cordon_fact_text_set(&facts->image_id, FAKE_IMAGE_DIGEST, NULL);
}

typedef struct pin_case {
    const char *pin;
    fake_lies lies;
    const char *fact; /* NULL: it runs */
    unsigned creates;
} pin_case;

static void check_pin(const pin_case *row, bool podman)
{
    cordon_auto(fake_run) run = {0};
    const fake_run_options options = {.podman = podman, .image = row->pin};
    REQUIRE_OK(fake_run_open(&run, &options) ? 0 : -1, run.err);
    fake_engine_lie(run.fake, &row->lies);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, row->fact ? "refused" : "exited");
    if (row->fact)
        CHECK_STR(run.result.refusal_fact, row->fact);
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "step"), row->creates);
    CHECK_INT(fake_engine_left(run.fake), 0);
}

static void TO5_a_pin_is_matched_by_digest_and_by_the_containers_image(void)
{
    static const pin_case rows[] = {
        {FAKE_IMAGE_PIN, {0}, NULL, 1},
        {FAKE_IMAGE_NAMED, {0}, NULL, 1},
        {FAKE_IMAGE_NAMED, {.image = no_digest}, "image.digests", 0},
        {FAKE_IMAGE_NAMED, {.image = another_digest}, "image.digests", 0},
        {FAKE_IMAGE_PIN, {.image = another_image}, "image.id", 0},
        {FAKE_IMAGE_PIN, {.container = image_of_container}, "step.image_id", 1},
        {FAKE_IMAGE_NAMED, {.container = image_of_container}, "step.image_id", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_pin(&rows[i], false);
        check_pin(&rows[i], true);
    }
}

/* --- The worktree ----------------------------------------------------------------------------- */

static void remove_tree(fake_run *run)
{
    CHECK(rename(test_path(&run->folder, "tree"), test_path(&run->folder, "away")) == 0);
}

static void link_tree(fake_run *run)
{
    CHECK(mkdir(test_path(&run->folder, "other"), 0755) == 0);
    CHECK(rename(test_path(&run->folder, "tree"), test_path(&run->folder, "away")) == 0);
    CHECK(symlink(test_path(&run->folder, "other"), test_path(&run->folder, "tree")) == 0);
}

/* Same name, no link: only device and inode tell. */
static void replace_tree(fake_run *run)
{
    CHECK(rename(test_path(&run->folder, "tree"), test_path(&run->folder, "away")) == 0);
    CHECK(mkdir(test_path(&run->folder, "tree"), 0755) == 0);
}

#define AFTER_CREATE                                                                               \
    {                                                                                              \
        FAKE_CONTAINER_INSPECT, "step", 1                                                          \
    }
#define AT_LAST                                                                                    \
    {                                                                                              \
        FAKE_CONTAINER_START, "step", 1                                                            \
    }

static void check_trees(const change_case *rows, size_t count, bool there)
{
    for (size_t i = 0; i < count; i++) {
        cordon_auto(fake_run) run = {0};
        const char *tree;
        if (!run_change(&rows[i], false, &run))
            continue;
        tree = test_path(&run.folder, "tree");
        CHECK_CONTAINS(run.result.message, tree);
        CHECK((access(tree, F_OK) == 0) == there);
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

static void TO1_a_worktree_that_is_gone_stops_the_start_and_is_not_made_again(void)
{
    static const change_case rows[] = {
        {AFTER_CREATE, remove_tree, "refused", "worktree", false, false},
        {AT_LAST, remove_tree, "refused", "worktree", true, false},
    };
    check_trees(rows, COUNT(rows), false);
}

static void TO2_a_worktree_that_was_replaced_stops_the_start(void)
{
    static const change_case rows[] = {
        {AFTER_CREATE, link_tree, "refused", "worktree", false, false},
        {AFTER_CREATE, replace_tree, "refused", "worktree", false, false},
        {AT_LAST, link_tree, "refused", "worktree", true, false},
        {AT_LAST, replace_tree, "refused", "worktree", true, false},
    };
    check_trees(rows, COUNT(rows), true);
}

CORDON_TEST_MAIN("run_cases", TEST(EA2_a_start_that_fails_is_not_started_and_has_no_status),
                 TEST(EA4_a_network_of_the_right_name_is_not_ours),
                 TEST(EA6_what_became_of_the_step_counts_and_not_the_answer_to_a_signal),
                 TEST(TO1_a_worktree_that_is_gone_stops_the_start_and_is_not_made_again),
                 TEST(TO2_a_worktree_that_was_replaced_stops_the_start),
                 TEST(TO5_a_pin_is_matched_by_digest_and_by_the_containers_image),
                 TEST(TO6_a_network_that_is_gone_is_never_replaced_by_another))

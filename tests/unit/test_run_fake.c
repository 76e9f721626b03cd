/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole runs over the fake engine that go as they should: the order of calls that core/DESIGN.md
 * names, what the gate is released with, what comes out, what the receipt says, and that nothing is
 * left. How runs go wrong stands in test_run_faults.c, test_run_gate.c and test_run_ends.c.
 */
#include "kit/buf.h"
#include "support/fake_run.h"
#include "support/test.h"

static const fake_run_options models[] = {
    {.podman = false},
    {.podman = true},
    {.podman = false, .probe = true},
    {.podman = true, .probe = true},
    {.podman = false, .worktree = true},
    {.podman = true, .worktree = true},
};
#define MODELS (sizeof models / sizeof models[0])

/* What must hold after every run, however it went: nothing there, nothing written, no breach. */
static void check_clean(fake_run *run)
{
    CHECK_INT(fake_engine_left(run->fake), 0);
    CHECK_STR(fake_engine_complaint(run->fake) ? fake_engine_complaint(run->fake) : "", "");
    CHECK(run->result.cleanup_complete);
    CHECK_INT(fake_run_journals(run), 0);
}

static void check_exited(fake_run *run, int code)
{
    CHECK_STR(run->result.kind_name, "exited");
    CHECK_STR(run->result.message ? run->result.message : "", "");
    CHECK_INT(run->result.exit_code, code);
    CHECK_INT(run->result.status, code);
    CHECK(run->result.refusal_code == NULL);
}

static void every_model_carries_a_run_through(void)
{
    fake_step step = {.stdout_text = "built\n", .stderr_text = "careful\n", .exit_code = 3};
    for (size_t i = 0; i < MODELS; i++) {
        cordon_auto(fake_run) run = {0};
        char text[64];
        REQUIRE_OK(fake_run_open(&run, &models[i]) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        check_exited(&run, 3);
        CHECK_STR(fake_run_output(run.out_fd, text, sizeof text), "built\n");
        CHECK_STR(fake_run_output(run.err_fd, text, sizeof text), "careful\n");
        check_clean(&run);
    }
}

/* --- The order ----------------------------------------------------------------------------- */

typedef struct point {
    fake_op op;
    const char *role;
} point;

/* The last call of `early` comes before the first one of `late`. */
typedef struct order {
    point early;
    point late;
} order;

static const order orders[] = {
    {{FAKE_OPEN, NULL}, {FAKE_DESCRIBE, NULL}},
    {{FAKE_DESCRIBE, NULL}, {FAKE_IMAGE_RESOLVE, NULL}},
    /* Every image is settled, and the events are listened to, before anything is made. */
    {{FAKE_IMAGE_RESOLVE, NULL}, {FAKE_EVENTS_OPEN, NULL}},
    {{FAKE_IMAGE_LOAD, NULL}, {FAKE_EVENTS_OPEN, NULL}},
    {{FAKE_EVENTS_OPEN, NULL}, {FAKE_NETWORK_CREATE, NULL}},
    {{FAKE_NETWORK_CREATE, "vendor-network"}, {FAKE_CONTAINER_CREATE, NULL}},
    {{FAKE_NETWORK_CREATE, "egress-network"}, {FAKE_CONTAINER_CREATE, "proxy"}},
    {{FAKE_CONTAINER_CREATE, "step"}, {FAKE_CONTAINER_INSPECT, "step"}},
    {{FAKE_CONTAINER_CREATE, "proxy"}, {FAKE_CONTAINER_INSPECT, "proxy"}},
    {{FAKE_CONTAINER_ATTACH, "step"}, {FAKE_CONTAINER_START, "step"}},
    {{FAKE_CONTAINER_ATTACH, "proxy"}, {FAKE_CONTAINER_START, "proxy"}},
    {{FAKE_CONTAINER_START, NULL}, {FAKE_CONTAINER_REMOVE, NULL}},
    /* Containers go before networks. */
    {{FAKE_CONTAINER_REMOVE, NULL}, {FAKE_NETWORK_REMOVE, NULL}},
};

static void check_order(fake_run *run, const order *wanted)
{
    long early = fake_run_last(run, wanted->early.op, wanted->early.role);
    long late = fake_run_first(run, wanted->late.op, wanted->late.role);
    /* What the model or the command does without. */
    if ((early < 0 && wanted->early.op == FAKE_IMAGE_LOAD) || (early < 0 && !run->options.probe))
        return;
    TEST_RECORDF(early >= 0 && late > early, "%s %s (%ld) before %s %s (%ld)",
                 fake_op_name(wanted->early.op), wanted->early.role ? wanted->early.role : "",
                 early, fake_op_name(wanted->late.op), wanted->late.role ? wanted->late.role : "",
                 late);
}

static void the_order_of_calls_is_the_designs(void)
{
    for (size_t i = 0; i < MODELS; i++) {
        cordon_auto(fake_run) run = {0};
        REQUIRE_OK(fake_run_open(&run, &models[i]) && fake_run_go(&run) ? 0 : -1, run.err);
        check_exited(&run, 0);
        for (size_t j = 0; j < sizeof orders / sizeof orders[0]; j++)
            check_order(&run, &orders[j]);
        CHECK_CONTAINS(cordon_buf_text(&run.words), "images create validate released dispose ");
    }
}

/* network_looks: libpod's answer to the create of a network is the first look at it. */
typedef struct look_watch {
    unsigned network_looks;
    unsigned bad;
} look_watch;

/* Looked at between create and start, between start and release, and when it is removed. */
static void watch_looks(void *context, fake_engine *fake, fake_op op, const char *role,
                        unsigned nth)
{
    look_watch *watch = context;
    fake_release release;
    bool released = fake_engine_released(fake, &release);
    unsigned started = fake_engine_count(fake, FAKE_CONTAINER_START, role);
    if (op == FAKE_CONTAINER_INSPECT && nth == 1 && (started != 0 || released))
        watch->bad++;
    if (op == FAKE_CONTAINER_INSPECT && nth == 2 && (started != 1 || released))
        watch->bad++;
    if (op == FAKE_CONTAINER_START && (released || nth != 1))
        watch->bad++;
    if (op == FAKE_NETWORK_INSPECT && nth <= watch->network_looks && released)
        watch->bad++;
    if (op == FAKE_CONTAINER_REMOVE && strcmp(role, "step") == 0 && !released)
        watch->bad++;
}

static void everything_is_looked_at_twice_before_the_release(void)
{
    static const char *const roles[] = {"step", "proxy"};
    static const char *const networks[] = {"vendor-network", "egress-network"};
    for (size_t i = 0; i < MODELS; i++) {
        cordon_auto(fake_run) run = {0};
        look_watch watch = {.network_looks = models[i].podman ? 1 : 2};
        REQUIRE_OK(fake_run_open(&run, &models[i]) ? 0 : -1, run.err);
        fake_engine_hook(run.fake, watch_looks, &watch);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        check_exited(&run, 0);
        CHECK_INT(watch.bad, 0);
        for (size_t j = 0; j < (models[i].probe ? 2 : 1); j++) {
            CHECK(fake_engine_count(run.fake, FAKE_CONTAINER_INSPECT, roles[j]) >= 3);
            CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, roles[j]), 1);
            CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_REMOVE, roles[j]), 1);
        }
        for (size_t j = 0; models[i].probe && j < 2; j++) {
            CHECK(fake_engine_count(run.fake, FAKE_NETWORK_INSPECT, networks[j]) >=
                  watch.network_looks + 1);
            CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_REMOVE, networks[j]), 1);
        }
    }
}

/* --- The release ---------------------------------------------------------------------------- */

static bool has_item(const cordon_fact_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

static void the_release_carries_the_approved_argv_and_nothing_else(void)
{
    cordon_auto(fake_run) run = {0};
    fake_release release;
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.worktree = true}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    REQUIRE(fake_engine_released(run.fake, &release));
    REQUIRE_INT(release.argv->count, 2);
    CHECK_STR(release.argv->items[0], "make");
    CHECK_STR(release.argv->items[1], "check");
    CHECK_STR(release.working_dir, "/worktree");
    CHECK(!release.stdin_given);
    CHECK(has_item(release.environment, "PATH=/usr/bin:/bin"));
    CHECK(has_item(release.rules, "read /"));
    CHECK(has_item(release.rules, "write /worktree"));
    CHECK(has_item(release.rules, "connect 3128"));
}

static void without_a_writing_phase_the_worktree_is_not_writable(void)
{
    cordon_auto(fake_run) run = {0};
    fake_release release;
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.podman = true}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    REQUIRE(fake_engine_released(run.fake, &release));
    CHECK(!has_item(release.rules, "write /worktree"));
}

/* --- Receipt, images, subnets --------------------------------------------------------------- */

static void the_receipt_tells_what_was_used(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_autofree char *json = NULL;
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.worktree = true}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &run.err), run.err);
    CHECK_CONTAINS(json, "\"engine\":{\"name\":\"fake\",\"kind\":\"docker\",\"version\":"
                         "\"20.10.24\",\"api\":\"1.41\",\"rootless\":false}");
    CHECK_CONTAINS(json, "\"vendor\":\"claude\"");
    CHECK_CONTAINS(json, "\"phase\":\"execute\"");
    CHECK_CONTAINS(json, "\"image\":{\"pin\":\"" FAKE_IMAGE_PIN "\",\"id\":\"" FAKE_IMAGE_ID "\"}");
    CHECK_CONTAINS(json, "\"writable\":true");
    CHECK_CONTAINS(json, "\"rounds\":2");
    CHECK_CONTAINS(json, "\"cleanup\":{\"complete\":true,\"left\":[]}");
}

static void the_guards_image_is_loaded_once(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_INT(fake_engine_count(run.fake, FAKE_IMAGE_LOAD, NULL), 1);
    cordon_receipt_free(CORDON_TAKE(run.receipt));
    cordon_invocation_free(CORDON_TAKE(run.invocation));
    cordon_command_free(CORDON_TAKE(run.command));
    cordon_policy_free(CORDON_TAKE(run.policy));
    REQUIRE_OK(fake_run_invoke(&run) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    check_exited(&run, 0);
    CHECK_INT(fake_engine_count(run.fake, FAKE_IMAGE_LOAD, NULL), 1);
    check_clean(&run);
}

static void taken_subnets_are_skipped(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_overlaps(run.fake, 7);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    check_exited(&run, 0);
    CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_CREATE, NULL), 9);
    check_clean(&run);
}

static void CS1_where_every_subnet_is_taken_the_run_says_so(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_overlaps(run.fake, 1000);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "error");
    CHECK_CONTAINS(run.result.message, "network.range");
    CHECK_INT(run.result.status, 125);
    check_clean(&run);
}

/* --- Output --------------------------------------------------------------------------------- */

static void OT4_output_beyond_its_bound_is_cut_and_the_run_goes_on(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_autofree char *json = NULL;
    fake_step step = {.output_bytes = 1 << 20};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.output = "64KiB"}) ? 0 : -1, run.err);
    fake_engine_step(run.fake, &step);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    check_exited(&run, 0);
    CHECK_INT(lseek(run.out_fd, 0, SEEK_END), 65536);
    REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &run.err), run.err);
    CHECK_CONTAINS(json, "\"truncated\":true");
    check_clean(&run);
}

static void a_run_without_readers_is_a_run(void)
{
    cordon_auto(fake_run) run = {0};
    fake_step step = {.output_bytes = 100000, .stderr_text = "x"};
    REQUIRE_OK(fake_run_open(&run, &models[1]) ? 0 : -1, run.err);
    fake_engine_step(run.fake, &step);
    cordon_cleanup_close(&run.out_fd);
    cordon_cleanup_close(&run.err_fd);
    run.out_fd = run.err_fd = -1;
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    check_exited(&run, 0);
    check_clean(&run);
}

static void an_invocation_runs_once(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_receipt *again = NULL;
    cordon_io io = {.stdout_fd = -1, .stderr_fd = -1, .cancel_fd = -1};
    REQUIRE_OK(fake_run_open(&run, &models[0]) && fake_run_go(&run) ? 0 : -1, run.err);
    size_t calls = fake_engine_call_count(run.fake);
    CHECK_FAILS(cordon_invocation_run(run.invocation, run.command, &io, &again, &run.err), run.err,
                CORDON_ERR_INVALID, "has run already");
    CHECK_INT(fake_engine_call_count(run.fake), calls);
    CHECK(again == NULL);
}

static void a_plan_changes_nothing(void)
{
    for (size_t i = 0; i < MODELS; i++) {
        cordon_auto(fake_run) run = {0};
        cordon_autofree char *json = NULL;
        REQUIRE_OK(fake_run_open(&run, &models[i]) ? 0 : -1, run.err);
        REQUIRE_OK(cordon_invocation_plan_json(run.invocation, run.command, &json, &run.err),
                   run.err);
        CHECK_CONTAINS(json, "\"plan\":1,\"invocation\":\"*\"");
        CHECK_CONTAINS(json, "\"name\":\"cordon-step-*\"");
        CHECK_INT(fake_engine_count(run.fake, FAKE_IMAGE_LOAD, NULL), 0);
        CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_CREATE, NULL), 0);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, NULL), 0);
        CHECK_INT(fake_engine_left(run.fake), 0);
        CHECK_INT(fake_run_journals(&run), 0);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        check_exited(&run, 0);
    }
}

static bool plan_of(char **ret_json)
{
    cordon_auto(fake_run) run = {0};
    return fake_run_open(&run, &models[0]) &&
           cordon_invocation_plan_json(run.invocation, run.command, ret_json, &run.err) == 0;
}

/* Also with other numbers, names and blocks: what is compared is what is planned. */
static void two_plans_of_the_same_are_the_same(void)
{
    cordon_autofree char *first = NULL;
    cordon_autofree char *second = NULL;
    REQUIRE(plan_of(&first) && plan_of(&second));
    CHECK_STR(first, second);
}

CORDON_TEST_MAIN("run_fake", TEST(two_plans_of_the_same_are_the_same),
                 TEST(every_model_carries_a_run_through), TEST(the_order_of_calls_is_the_designs),
                 TEST(everything_is_looked_at_twice_before_the_release),
                 TEST(the_release_carries_the_approved_argv_and_nothing_else),
                 TEST(without_a_writing_phase_the_worktree_is_not_writable),
                 TEST(the_receipt_tells_what_was_used), TEST(the_guards_image_is_loaded_once),
                 TEST(taken_subnets_are_skipped),
                 TEST(CS1_where_every_subnet_is_taken_the_run_says_so),
                 TEST(OT4_output_beyond_its_bound_is_cut_and_the_run_goes_on),
                 TEST(a_run_without_readers_is_a_run), TEST(an_invocation_runs_once),
                 TEST(a_plan_changes_nothing))

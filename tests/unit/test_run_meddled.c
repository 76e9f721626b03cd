/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no event tells: files put into a container, objects that are gone before the run removes
 * them, and whoever stands in their place. Found before the release it refuses, after it the
 * run is tampered, with the fact; and nothing foreign is touched.
 */
#include <signal.h>

#include "invocation.h"
#include "support/run_case.h"

/* --- Files ------------------------------------------------------------------------------------ */

typedef struct upload_case {
    const char *role;
    const char *path;
    const char *fact;
} upload_case;

static const upload_case uploads[] = {
    {"step", "/bin/sh", "step.changes[/bin/sh]"},
    {"step", "/tmp/x", "step.changes[/tmp/x]"},
    {"proxy", "/cordon-guard", "proxy.changes[/cordon-guard]"},
};
#define UPLOADS (sizeof uploads / sizeof uploads[0])

static void upload_when_released(void *context, fake_run *run, const char *word)
{
    const upload_case *c = context;
    if (strcmp(word, "released") == 0)
        fake_engine_upload(run->fake, c->role, c->path);
}

static void upload_before_the_start(void *context, fake_engine *fake, fake_op op, const char *role,
                                    unsigned nth)
{
    const upload_case *c = context;
    (void)nth;
    if (op == FAKE_CONTAINER_START && strcmp(role, c->role) == 0)
        fake_engine_upload(fake, c->role, c->path);
}

static run_outcome outcomes[2 * UPLOADS];

static void script_upload(void *context, fake_run *run)
{
    size_t index = *(const size_t *)context;
    void *which = (void *)(uintptr_t)&uploads[index % UPLOADS];
    if (index < UPLOADS) {
        run->at_word = upload_when_released;
        run->at_context = which;
    } else {
        fake_engine_hook(run->fake, upload_before_the_start, which);
    }
}

static void run_upload(void *context, size_t index)
{
    (void)context;
    /* Docker's event tells of one before the release. */
    bool before = index >= UPLOADS;
    outcomes[index] =
        run_case(&(fake_run_options){.probe = true, .podman = before || index % 2 != 0},
                 script_upload, &index);
}

static void files_put_into_a_container_are_found(void)
{
    at_once(2 * UPLOADS, run_upload, NULL);
    for (size_t i = 0; i < 2 * UPLOADS; i++) {
        const upload_case *c = &uploads[i % UPLOADS];
        bool after = i < UPLOADS;
        char name[96];
        (void)snprintf(name, sizeof name, "%s of %s, %s", c->path, c->role,
                       after ? "after the release" : "before the start");
        RUN_CHECK_KIND(outcomes[i], name, after ? "tampered" : "refused");
        RUN_CHECK_CLEAN(outcomes[i], name);
        TEST_RECORDF(strcmp(outcomes[i].refusal, "CORDON_REFUSED_CHANGED") == 0 &&
                         strcmp(outcomes[i].fact, c->fact) == 0 && outcomes[i].status == 126,
                     "%s: %s %s, status %d", name, outcomes[i].refusal, outcomes[i].fact,
                     outcomes[i].status);
        TEST_RECORDF(outcomes[i].released == after, "%s: released %d", name, outcomes[i].released);
    }
}

/* Every way to lose the answer: before the release nothing is released, after it nothing is
 * vouched for. */
static void without_the_list_of_changes_nothing_is_vouched_for(void)
{
    static const char *const kinds[] = {"not_started", "error"};
    for (unsigned nth = 1; nth <= 2; nth++) {
        cordon_auto(fake_run) run = {0};
        fake_release release;
        const fake_fault fault = {FAKE_CONTAINER_CHANGES, "step", nth, FAKE_FAULT_BEFORE,
                                  CORDON_ERR_PROTOCOL};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true, .podman = true}) ? 0 : -1,
                   run.err);
        fake_engine_fault(run.fake, &fault);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, kinds[nth - 1]);
        CHECK_INT(run.result.status, 125);
        CHECK(fake_engine_released(run.fake, &release) == (nth == 2));
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* The gate hands it on, so the command's end looks like any other. */
static void a_signal_that_the_run_did_not_send_is_tampering(void)
{
    static const fake_step steps[] = {
        {.exit_signal = SIGTERM, .outside_signal = SIGTERM},
        {.exit_code = 0, .outside_signal = SIGHUP},
    };
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.podman = true}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &steps[i]);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_CHANGED");
        CHECK_STR(run.result.refusal_fact, "step.signals");
        CHECK_INT(run.result.status, 126);
        CHECK(run.result.cleanup_complete);
    }
}

static void our_own_signal_is_no_tampering(void)
{
    cordon_auto(fake_run) run = {0};
    const fake_step step = {.stays = true, .outside_signal = SIGTERM};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.podman = true, .deadline_ms = 1500}) ? 0
                                                                                             : -1,
               run.err);
    fake_engine_step(run.fake, &step);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "deadline");
    CHECK_INT(run.result.status, 124);
}

/* --- Executions ------------------------------------------------------------------------------- */

/* From the last look at a container on, the one before its removal. */
static void lie_of_execution(void *context, const char *role, unsigned nth,
                             cordon_container_facts *facts)
{
    if (strcmp(role, context) == 0 && nth >= 3)
        (void)!cordon_fact_list_add(&facts->exec_ids, "0123abcd", NULL);
}

/* No event told of it; the container's record does. */
static void what_was_executed_without_an_event_is_tampering(void)
{
    static const char *const roles[] = {"step", "proxy"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        fake_lies lies = {.context = (void *)(uintptr_t)roles[i], .container = lie_of_execution};
        char fact[64];
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.podman = true, .probe = true}) ? 0 : -1,
                   run.err);
        fake_engine_lie(run.fake, &lies);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        (void)snprintf(fact, sizeof fact, "%s.exec_ids", roles[i]);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_CHANGED");
        CHECK_STR(run.result.refusal_fact, fact);
        CHECK_STR(run.result.refusal_actual, "0123abcd");
        CHECK_INT(run.result.status, 126);
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* --- Gone ------------------------------------------------------------------------------------- */

/* The first removal of anything finds the run over, so nobody's event or look tells it. */
static void vanish_at_the_end(void *context, fake_engine *fake, fake_op op, const char *role,
                              unsigned nth)
{
    const char *whose = context;
    bool network = strstr(whose, "network") != NULL;
    fake_op last = network ? FAKE_CONTAINER_REMOVE : FAKE_CONTAINER_CHANGES;
    if (op == last && nth == 1 && strcmp(role, network ? "step" : whose) == 0)
        fake_engine_vanish(fake, whose);
}

static void what_is_gone_before_we_remove_it_is_tampering(void)
{
    static const char *const roles[] = {"step", "proxy", "vendor-network", "egress-network"};
    for (size_t i = 0; i < 4; i++) {
        cordon_auto(fake_run) run = {0};
        char fact[64];
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_hook(run.fake, vanish_at_the_end, (void *)(uintptr_t)roles[i]);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        (void)snprintf(fact, sizeof fact, "%s.state", roles[i]);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_CHANGED");
        CHECK_STR(run.result.refusal_fact, fact);
        CHECK_STR(run.result.refusal_actual, "removed by somebody else");
        CHECK_INT(run.result.status, 126);
        CHECK(run.result.cleanup_complete);
        CHECK_INT(fake_engine_left(run.fake), 0);
    }
}

/* A removal that says "not found" the first time: it went between our look and our removal. */
static void what_goes_right_before_our_removal_is_tampering(void)
{
    static const fake_op removals[] = {FAKE_CONTAINER_REMOVE, FAKE_NETWORK_REMOVE};
    static const char *const roles[] = {"proxy", "vendor-network"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        const fake_fault gone = {removals[i], roles[i], 1, FAKE_FAULT_AFTER, CORDON_ERR_NOTFOUND};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_fault(run.fake, &gone);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "tampered");
        CHECK_CONTAINS(run.result.refusal_fact, roles[i]);
        CHECK(run.result.cleanup_complete);
    }
}

/* A removal of ours whose answer was lost is ours all the same. */
static void what_our_own_removal_took_is_no_tampering(void)
{
    static const fake_op removals[] = {FAKE_CONTAINER_REMOVE, FAKE_NETWORK_REMOVE};
    static const char *const roles[] = {"step", "vendor-network"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        const fake_fault lost = {removals[i], roles[i], 1, FAKE_FAULT_AFTER,
                                 CORDON_ERR_INDETERMINATE};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_fault(run.fake, &lost);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "exited");
        CHECK(run.result.cleanup_complete);
    }
}

/* --- In its place ----------------------------------------------------------------------------- */

/* The vendor network goes, and another one has its name and none of its labels. */
static void replace_network(void *context, fake_engine *fake, fake_op op, const char *role,
                            unsigned nth)
{
    fake_run *run = context;
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *id = NULL;
    const char *labels[] = {"io.cordon.role=stranger"};
    const cordon_network_spec spec = {
        .name = run->invocation->owner.badges[CORDON_ROLE_VENDOR_NETWORK].name,
        .subnet = "10.220.0.0/29",
        .labels = {labels, 1},
    };
    if (op != FAKE_CONTAINER_REMOVE || nth != 1 || strcmp(role, "step") != 0)
        return;
    fake_engine_vanish(fake, "vendor-network");
    (void)!fake_engine_docker.network_create(fake, &spec, cordon_deadline_in_ms(10000, -1), &id,
                                             NULL, &err);
}

static void a_stand_in_without_our_labels_is_left_and_reported(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_leftover left = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_hook(run.fake, replace_network, &run);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "tampered");
    CHECK_STR(run.result.refusal_fact, "vendor-network.state");
    CHECK(!run.result.cleanup_complete);
    CHECK_INT(fake_engine_left(run.fake), 1);
    CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_REMOVE, "stranger"), 0);
    REQUIRE(cordon_receipt_leftover(run.receipt, 0, &left));
    CHECK_STR(left.type, "network");
    CHECK_INT(strlen(left.id), CORDON_ID_HEX);
    CHECK_CONTAINS(left.reason, "name of what the run made");
    CHECK(!cordon_receipt_leftover(run.receipt, 1, &left));
}

/* A renamed step is told by an event; who took its name is looked for, too. */
static void take_the_name(void *context, fake_run *run, const char *word)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *id = NULL;
    const char *labels[] = {"io.cordon.role=stranger"};
    char name[CORDON_NAME_SIZE];
    (void)context;
    if (strcmp(word, "released") != 0)
        return;
    (void)snprintf(name, sizeof name, "%s", run->invocation->owner.badges[CORDON_ROLE_STEP].name);
    fake_engine_rename(run->fake, "step", "elsewhere");
    const cordon_container_spec spec = {
        .name = name, .image_id = FAKE_IMAGE_ID, .labels = {labels, 1}};
    (void)!fake_engine_docker.container_create(run->fake, &spec, cordon_deadline_in_ms(10000, -1),
                                               &id, &err);
}

static void whoever_takes_the_name_of_a_renamed_step_is_reported(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_leftover left = {0};
    fake_step step = {.stays = true};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_step(run.fake, &step);
    run.at_word = take_the_name;
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "tampered");
    CHECK_STR(run.result.refusal_fact, "step.events");
    CHECK_INT(fake_engine_left(run.fake), 1);
    REQUIRE(cordon_receipt_leftover(run.receipt, 0, &left));
    CHECK_STR(left.type, "container");
    CHECK_CONTAINS(left.reason, "left alone");
}

CORDON_TEST_MAIN("run_meddled", TEST(files_put_into_a_container_are_found),
                 TEST(without_the_list_of_changes_nothing_is_vouched_for),
                 TEST(a_signal_that_the_run_did_not_send_is_tampering),
                 TEST(our_own_signal_is_no_tampering),
                 TEST(what_was_executed_without_an_event_is_tampering),
                 TEST(what_is_gone_before_we_remove_it_is_tampering),
                 TEST(what_goes_right_before_our_removal_is_tampering),
                 TEST(what_our_own_removal_took_is_no_tampering),
                 TEST(a_stand_in_without_our_labels_is_left_and_reported),
                 TEST(whoever_takes_the_name_of_a_renamed_step_is_reported))

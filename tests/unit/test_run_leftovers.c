/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot be removed is named with its id, its journal entry stays, and everything else goes;
 * what was never answered is looked for by token; what is not ours is left alone.
 */
#include "invocation.h"
#include "support/run_case.h"

typedef struct left_case {
    const char *name;
    fake_fault fault;
    const char *kind;
    size_t there;        /* objects that are really left */
    const char *told[2]; /* reasons of what the receipt names, in its order; NULL for none */
    const char *type;    /* of the first */
} left_case;

static const left_case lefts[] = {
    {"a step that will not go",
     {FAKE_CONTAINER_REMOVE, "step", 0, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
     "exited",
     2,
     {"scripted failure", "active endpoints"},
     "container"},
    {"a proxy that will not go",
     {FAKE_CONTAINER_REMOVE, "proxy", 0, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
     "exited",
     3,
     {"scripted failure", "active endpoints"},
     "container"},
    {"a network that will not go",
     {FAKE_NETWORK_REMOVE, "egress-network", 0, FAKE_FAULT_BEFORE, CORDON_ERR_CONFLICT},
     "exited",
     1,
     {"scripted failure", NULL},
     "network"},
    {"a vendor network that never was",
     {FAKE_NETWORK_CREATE, "vendor-network", 1, FAKE_FAULT_BEFORE, CORDON_ERR_INDETERMINATE},
     "not_started",
     0,
     {"never answered", NULL},
     "network"},
    {"an egress network that never was",
     {FAKE_NETWORK_CREATE, "egress-network", 1, FAKE_FAULT_BEFORE, CORDON_ERR_INDETERMINATE},
     "not_started",
     0,
     {"never answered", NULL},
     "network"},
    {"a proxy that never was",
     {FAKE_CONTAINER_CREATE, "proxy", 1, FAKE_FAULT_BEFORE, CORDON_ERR_INDETERMINATE},
     "not_started",
     0,
     {"never answered", NULL},
     "container"},
    {"a step that never was",
     {FAKE_CONTAINER_CREATE, "step", 1, FAKE_FAULT_BEFORE, CORDON_ERR_PROTOCOL},
     "not_started",
     0,
     {"never answered", NULL},
     "container"},
};
#define LEFTS (sizeof lefts / sizeof lefts[0])

static run_outcome outcomes[LEFTS];

static void script_left(void *context, fake_run *run)
{
    fake_engine_fault(run->fake, &lefts[*(const size_t *)context].fault);
}

static void run_left(void *context, size_t index)
{
    (void)context;
    outcomes[index] = run_case(&(fake_run_options){.probe = true}, script_left, &index);
}

static void check_left(const left_case *want, const run_outcome *got)
{
    RUN_CHECK_KIND(*got, want->name, want->kind);
    TEST_RECORDF(got->left_there == want->there, "%s: %zu are left", want->name, got->left_there);
    TEST_RECORDF(got->left_told > 0 && got->journals == 1, "%s: told %zu, journals %zu", want->name,
                 got->left_told, got->journals);
    TEST_RECORDF(strcmp(got->left[0].type, want->type) == 0 && got->left[0].id[0] != '\0',
                 "%s: %s %s", want->name, got->left[0].type, got->left[0].id);
    for (size_t i = 0; i < 2 && want->told[i]; i++)
        TEST_RECORDF(strstr(got->left[i].reason, want->told[i]) != NULL, "%s: \"%s\" lacks \"%s\"",
                     want->name, got->left[i].reason, want->told[i]);
    TEST_RECORDF(want->there == 0 || strlen(got->left[0].id) == CORDON_ID_HEX, "%s: id %s",
                 want->name, got->left[0].id);
    TEST_RECORDF(got->complaint[0] == '\0', "%s: %s", want->name, got->complaint);
}

static void EA6_what_will_not_go_is_named_with_the_daemons_words_and_the_rest_is_gone(void)
{
    at_once(LEFTS, run_left, NULL);
    for (size_t i = 0; i < LEFTS; i++)
        check_left(&lefts[i], &outcomes[i]);
}

/* --- Not ours --------------------------------------------------------------------------------- */

/* Somebody makes a container of the step's name, without its token, right before the step. */
static void stand_in(void *context, fake_engine *fake, fake_op op, const char *role, unsigned nth)
{
    fake_run *run = context;
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *id = NULL;
    const char *labels[] = {"io.cordon.role=stranger", "io.cordon.token=guessed"};
    cordon_container_spec spec = {
        .name = run->invocation->owner.badges[CORDON_ROLE_STEP].name,
        .image_id = FAKE_IMAGE_ID,
        .labels = {labels, 2},
    };
    if (op == FAKE_CONTAINER_CREATE && strcmp(role, "step") == 0 && nth == 1)
        (void)!fake_engine_docker.container_create(fake, &spec, cordon_deadline_in_ms(10000, -1),
                                                   &id, &err);
}

static void a_stand_in_of_the_same_name_is_left_alone(void)
{
    static const fake_fault lost = {FAKE_CONTAINER_CREATE, "step", 1, FAKE_FAULT_BEFORE,
                                    CORDON_ERR_INDETERMINATE};
    for (int answered = 0; answered < 2; answered++) {
        cordon_auto(fake_run) run = {0};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
        fake_engine_hook(run.fake, stand_in, &run);
        if (!answered)
            fake_engine_fault(run.fake, &lost);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "not_started");
        CHECK_INT(fake_engine_left(run.fake), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "stranger"), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_REMOVE, "stranger"), 0);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_SIGNAL, "stranger"), 0);
        CHECK(run.result.cleanup_complete == (answered != 0));
        CHECK(fake_engine_complaint(run.fake) == NULL);
    }
}

static void lose_labels(void *context, const char *role, unsigned nth,
                        cordon_container_facts *facts)
{
    (void)context;
    if (strcmp(role, "step") != 0 || nth < 4)
        return;
    cordon_fact_list_clear(&facts->labels);
    cordon_fact_list_known(&facts->labels);
}

static void what_no_longer_carries_our_labels_is_left_alone(void)
{
    cordon_auto(fake_run) run = {0};
    fake_lies lies = {.container = lose_labels};
    fake_step step = {.exit_code = 0};
    cordon_leftover left;
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) ? 0 : -1, run.err);
    fake_engine_lie(run.fake, &lies);
    fake_engine_step(run.fake, &step);
    REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
    CHECK_STR(run.result.kind_name, "exited");
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_REMOVE, "step"), 0);
    REQUIRE(cordon_receipt_leftover(run.receipt, 0, &left));
    CHECK_STR(left.type, "container");
    CHECK_CONTAINS(left.reason, "left alone");
}

CORDON_TEST_MAIN("run_leftovers",
                 TEST(EA6_what_will_not_go_is_named_with_the_daemons_words_and_the_rest_is_gone),
                 TEST(a_stand_in_of_the_same_name_is_left_alone),
                 TEST(what_no_longer_carries_our_labels_is_left_alone))

/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of mounts: each attack by name, each refused at exactly the part that it changed. */
#include "support/sample_facts.h"

static const sample_subject created_step = {"step", CORDON_ROLE_STEP, CORDON_ROUND_CREATED};
static const sample_subject running_step = {"step", CORDON_ROLE_STEP, CORDON_ROUND_RUNNING};
static const sample_subject running_proxy = {"proxy", CORDON_ROLE_PROXY, CORDON_ROUND_RUNNING};

static void drop_mount(sample_pair *pair, const char *target)
{
    cordon_mount_facts *mounts = &pair->actual.mounts;
    cordon_mount_fact *gone = sample_mount_at(pair, target);
    cordon_mount_fact last = mounts->items[mounts->count - 1];

    mounts->items[mounts->count - 1] = *gone;
    *gone = last;
    cordon_mount_facts rest = {true, 1, malloc(sizeof(*rest.items))};
    if (rest.items != NULL) {
        rest.items[0] = mounts->items[--mounts->count];
        cordon_mount_facts_clear(&rest);
    }
}

typedef enum mount_part {
    PART_TYPE,
    PART_SOURCE,
    PART_PLACE,
    PART_READ_ONLY,
    PART_PROPAGATION,
} mount_part;

static bool change_mount(cordon_mount_fact *mount, mount_part part, int number, const char *text)
{
    switch (part) {
    case PART_TYPE:
        mount->type = (cordon_mount_type)number;
        return true;
    case PART_READ_ONLY:
        mount->read_only = (cordon_fact_bool)number;
        return true;
    case PART_SOURCE:
        return sample_set_text(&mount->source, text);
    case PART_PLACE:
        return sample_set_text(&mount->place, text);
    case PART_PROPAGATION:
    default:
        return sample_set_text(&mount->propagation, text);
    }
}

static void each_part_of_each_mount_is_compared(void)
{
    static const struct {
        const char *target;
        mount_part part;
        int number;
        const char *text;
        cordon_refusal_code code;
        const char *fact;
    } changes[] = {
        {"/worktree", PART_TYPE, CORDON_MOUNT_VOLUME, NULL, CORDON_REFUSED_MISMATCH, "type"},
        {"/worktree", PART_TYPE, CORDON_MOUNT_OTHER, NULL, CORDON_REFUSED_MISMATCH, "type"},
        {"/worktree", PART_TYPE, CORDON_MOUNT_UNKNOWN, NULL, CORDON_REFUSED_UNKNOWN, "type"},
        {"/worktree", PART_SOURCE, 0, "/", CORDON_REFUSED_MISMATCH, "source"},
        {"/worktree", PART_SOURCE, 0, SAMPLE_WORKTREE "/", CORDON_REFUSED_MISMATCH, "source"},
        {"/worktree", PART_SOURCE, 0, "", CORDON_REFUSED_MISMATCH, "source"},
        {"/worktree", PART_SOURCE, 0, NULL, CORDON_REFUSED_UNKNOWN, "source"},
        {"/worktree", PART_READ_ONLY, CORDON_FACT_YES, NULL, CORDON_REFUSED_MISMATCH, "read_only"},
        {"/worktree", PART_READ_ONLY, CORDON_FACT_UNKNOWN, NULL, CORDON_REFUSED_UNKNOWN,
         "read_only"},
        {"/worktree", PART_PROPAGATION, 0, "rshared", CORDON_REFUSED_MISMATCH, "propagation"},
        {"/worktree", PART_PROPAGATION, 0, "rslave", CORDON_REFUSED_MISMATCH, "propagation"},
        {"/worktree", PART_PROPAGATION, 0, "", CORDON_REFUSED_MISMATCH, "propagation"},
        {"/worktree", PART_PROPAGATION, 0, NULL, CORDON_REFUSED_UNKNOWN, "propagation"},
        {"/tmp", PART_TYPE, CORDON_MOUNT_BIND, NULL, CORDON_REFUSED_MISMATCH, "type"},
        {"/tmp", PART_SOURCE, 0, "/tmp", CORDON_REFUSED_MISMATCH, "source"},
        {"/tmp", PART_READ_ONLY, CORDON_FACT_YES, NULL, CORDON_REFUSED_MISMATCH, "read_only"},
        {"/.cordon", PART_TYPE, CORDON_MOUNT_BIND, NULL, CORDON_REFUSED_MISMATCH, "type"},
        {"/.cordon", PART_SOURCE, 0, SAMPLE_FOREIGN, CORDON_REFUSED_MISMATCH, "source"},
        {"/.cordon", PART_READ_ONLY, CORDON_FACT_NO, NULL, CORDON_REFUSED_MISMATCH, "read_only"},
    };
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        char fact[160];

        REQUIRE(sample_pair_make(&run, &created_step, &pair));
        REQUIRE(change_mount(sample_mount_at(&pair, changes[i].target), changes[i].part,
                             changes[i].number, changes[i].text));
        (void)snprintf(fact, sizeof(fact), "step.mounts[%s].%s", changes[i].target,
                       changes[i].fact);
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, changes[i].code, fact,
                             changes[i].text != NULL ? changes[i].text : "changed");
    }
}

#define SAMPLE_PLACE "/var/lib/volumes/x/_data"

/* A plan of several steps, whose scratch has been made. */
static bool make_shared(sample_run *run)
{
    cordon_err err = CORDON_ERR_INIT;

    if (!sample_input(run))
        return false;
    run->input.shared = true;
    return sample_plan(run) &&
           CHECK_OK(cordon_fact_text_set(&run->plan.scratch_place, SAMPLE_PLACE, &err), err);
}

/* Of the step and of the keeper, which has no gate to tell of it. */
static void each_part_of_a_shared_scratch_is_compared(void)
{
    static const sample_subject subjects[] = {
        {"step", CORDON_ROLE_STEP, CORDON_ROUND_RUNNING},
        {"keeper", CORDON_ROLE_KEEPER, CORDON_ROUND_CREATED},
    };
    static const struct {
        mount_part part;
        int number;
        const char *text;
        cordon_refusal_code code;
        const char *fact;
    } changes[] = {
        {PART_TYPE, CORDON_MOUNT_BIND, NULL, CORDON_REFUSED_MISMATCH, "type"},
        {PART_SOURCE, 0, "cordon-scratch-of-another", CORDON_REFUSED_MISMATCH, "source"},
        {PART_PLACE, 0, "/var/lib/volumes/y/_data", CORDON_REFUSED_MISMATCH, "place"},
        {PART_PLACE, 0, SAMPLE_PLACE "/x", CORDON_REFUSED_MISMATCH, "place"},
        {PART_PLACE, 0, NULL, CORDON_REFUSED_UNKNOWN, "place"},
        {PART_READ_ONLY, CORDON_FACT_YES, NULL, CORDON_REFUSED_MISMATCH, "read_only"},
        {PART_PROPAGATION, 0, "rshared", CORDON_REFUSED_MISMATCH, "propagation"},
        {PART_PROPAGATION, 0, "rslave", CORDON_REFUSED_MISMATCH, "propagation"},
        {PART_PROPAGATION, 0, NULL, CORDON_REFUSED_UNKNOWN, "propagation"},
        {PART_PROPAGATION, 0, "rprivate", CORDON_REFUSED_NONE, ""},
        {PART_PROPAGATION, 0, "", CORDON_REFUSED_NONE, "Docker's word for a volume's"},
    };
    size_t count = sizeof(changes) / sizeof(changes[0]);
    cordon_auto(sample_run) run = {0};

    REQUIRE(make_shared(&run));
    for (size_t i = 0; i < 2 * count; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        char fact[160];
        const size_t at = i % count;

        REQUIRE(sample_pair_make(&run, &subjects[i / count], &pair));
        cordon_mount_fact *scratch = sample_mount_at(&pair, "/tmp");
        REQUIRE(sample_set_text(&scratch->propagation, "rprivate"));
        REQUIRE(change_mount(scratch, changes[at].part, changes[at].number, changes[at].text));
        if (changes[at].code == CORDON_REFUSED_NONE) {
            CHECK_OK(sample_validate(&pair, &err), err);
            continue;
        }
        (void)snprintf(fact, sizeof(fact), "%s.mounts[/tmp].%s", subjects[i / count].name,
                       changes[at].fact);
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, changes[at].code, fact,
                             changes[at].text != NULL ? changes[at].text : "changed");
    }
}

static void what_lies_nobody_knows_where_is_not_expected(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(make_shared(&run));
    free(run.plan.scratch_place);
    run.plan.scratch_place = NULL;
    CHECK_FAILS(cordon_expect_container(&run.plan, CORDON_ROLE_KEEPER, &run.ids,
                                        CORDON_ROUND_CREATED, &facts, &err),
                err, CORDON_ERR_INVALID, "where the scratch lies");
}

static void scratch_space_keeps_every_option(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i <= 6; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        cordon_fact_list *options;

        REQUIRE(sample_pair_make(&run, &running_step, &pair));
        options = &sample_mount_at(&pair, "/tmp")->options;
        REQUIRE_INT(options->count, 5);
        if (i < 5)
            sample_drop_item(options, i);
        else if (i == 5)
            REQUIRE(sample_add_item(options, "exec"));
        else
            options->known = false;
        sample_check_refused(&pair, sample_validate(&pair, &err), &err,
                             i < 6 ? CORDON_REFUSED_MISMATCH : CORDON_REFUSED_UNKNOWN,
                             "step.mounts[/tmp].options", "options");
    }
}

static void a_further_mount_is_refused_wherever_it_leads(void)
{
    static const char *const targets[] = {"/var/run/docker.sock", "/", "/tmp/x",
                                          "/worktree/",           "",  NULL};
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(sample_pair_make(&run, &created_step, &pair));
        REQUIRE(sample_add_mount(&pair, "/etc", targets[i]));
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                             "step.mounts", targets[i] != NULL ? targets[i] : "no target");
        CHECK_STR(pair.refusal.expected, "no further mount");
        CHECK_STR(pair.refusal.actual, targets[i] != NULL ? targets[i] : "(not told)");
    }
}

static void a_mount_upon_a_planned_one_is_refused(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &created_step, &pair));
    REQUIRE(sample_add_mount(&pair, SAMPLE_WORKTREE, "/worktree"));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                         "step.mounts", "twice");
    CHECK_STR(pair.refusal.actual, "a mount twice");
}

static void a_mount_twice_cannot_stand_in_for_a_missing_one(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &created_step, &pair));
    drop_mount(&pair, "/.cordon");
    REQUIRE(sample_add_mount(&pair, SAMPLE_WORKTREE, "/worktree"));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                         "step.mounts", "stand-in");
    CHECK_STR(pair.refusal.expected, "/.cordon");
    CHECK_STR(pair.refusal.actual, "no such mount");
}

static void each_planned_mount_must_be_there(void)
{
    static const char *const targets[] = {"/tmp", "/worktree", "/.cordon"};
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < 3; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(sample_pair_make(&run, &running_step, &pair));
        drop_mount(&pair, targets[i]);
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                             "step.mounts", targets[i]);
        CHECK_STR(pair.refusal.expected, targets[i]);
    }
}

static void mounts_in_another_order_are_the_same_mounts(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_mount_fact first;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &running_step, &pair));
    first = pair.actual.mounts.items[0];
    pair.actual.mounts.items[0] = pair.actual.mounts.items[2];
    pair.actual.mounts.items[2] = first;
    sample_check_passes(&pair, sample_validate(&pair, &err), &err, "another order");
}

static void a_proxy_with_a_mount_is_refused(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &running_proxy, &pair));
    REQUIRE(sample_add_mount(&pair, SAMPLE_WORKTREE, "/worktree"));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                         "proxy.mounts", "a mount in the proxy");
}

CORDON_TEST_MAIN(
    "validate_mounts", TEST(each_part_of_each_mount_is_compared),
    TEST(each_part_of_a_shared_scratch_is_compared),
    TEST(what_lies_nobody_knows_where_is_not_expected), TEST(scratch_space_keeps_every_option),
    TEST(a_further_mount_is_refused_wherever_it_leads), TEST(a_mount_upon_a_planned_one_is_refused),
    TEST(a_mount_twice_cannot_stand_in_for_a_missing_one), TEST(each_planned_mount_must_be_there),
    TEST(mounts_in_another_order_are_the_same_mounts), TEST(a_proxy_with_a_mount_is_refused))

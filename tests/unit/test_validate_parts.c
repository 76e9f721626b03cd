/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of endpoints, environments and two readings: each attack by name, each refused at
 * exactly the part that it changed.
 */
#include "support/sample_facts.h"

static const sample_subject created_step = {"step", CORDON_ROLE_STEP, CORDON_ROUND_CREATED};
static const sample_subject running_step = {"step", CORDON_ROLE_STEP, CORDON_ROUND_RUNNING};
static const sample_subject running_proxy = {"proxy", CORDON_ROLE_PROXY, CORDON_ROUND_RUNNING};
static const sample_subject vendor_network = {"vendor-network", CORDON_ROLE_VENDOR_NETWORK,
                                              CORDON_ROUND_RUNNING};

/* --- Endpoints -------------------------------------------------------------------------------- */

static bool add_endpoint(sample_pair *pair, const char *key)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_endpoint_fact *endpoint;

    return CHECK_OK(cordon_endpoint_facts_add(&pair->actual.endpoints, &endpoint, &err), err) &&
           sample_set_text(&endpoint->network_key, key) &&
           sample_set_text(&endpoint->network_id, SAMPLE_FOREIGN) &&
           sample_set_text(&endpoint->ipv4, "172.17.0.2");
}

typedef enum endpoint_part { PART_ID, PART_IPV4, PART_REQUESTED, PART_IPV6 } endpoint_part;

static bool change_endpoint(cordon_endpoint_fact *endpoint, endpoint_part part, const char *text)
{
    cordon_fact_text *texts[] = {&endpoint->network_id, &endpoint->ipv4, &endpoint->requested_ipv4,
                                 &endpoint->ipv6};

    return sample_set_text(texts[part], text);
}

static void each_part_of_an_endpoint_is_compared_as_far_as_it_is_told(void)
{
    static const struct {
        endpoint_part part;
        const char *text;
        cordon_refusal_code code; /* NONE: accepted */
        const char *fact;
    } changes[] = {
        {PART_ID, SAMPLE_FOREIGN, CORDON_REFUSED_MISMATCH, "network_id"},
        {PART_ID, SAMPLE_EGRESS_NET, CORDON_REFUSED_MISMATCH, "network_id"},
        {PART_ID, "", CORDON_REFUSED_MISMATCH, "network_id"},
        {PART_ID, NULL, CORDON_REFUSED_NONE, NULL},
        {PART_IPV4, "10.213.4.12", CORDON_REFUSED_MISMATCH, "ipv4"},
        {PART_IPV4, "10.213.4.10", CORDON_REFUSED_MISMATCH, "ipv4"},
        {PART_IPV4, "", CORDON_REFUSED_MISMATCH, "ipv4"},
        {PART_IPV4, NULL, CORDON_REFUSED_UNKNOWN, "ipv4"},
        {PART_REQUESTED, "10.213.4.12", CORDON_REFUSED_MISMATCH, "requested_ipv4"},
        {PART_REQUESTED, NULL, CORDON_REFUSED_NONE, NULL},
        {PART_IPV6, "fd00::3", CORDON_REFUSED_MISMATCH, "ipv6"},
        {PART_IPV6, NULL, CORDON_REFUSED_UNKNOWN, "ipv6"},
    };
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        char fact[160];
        int rc;

        REQUIRE(sample_pair_make(&run, &running_step, &pair));
        REQUIRE(change_endpoint(&pair.actual.endpoints.items[0], changes[i].part, changes[i].text));
        rc = sample_validate(&pair, &err);
        (void)snprintf(fact, sizeof(fact), "step.endpoints[%s].%s",
                       run.owner.badges[CORDON_ROLE_VENDOR_NETWORK].name,
                       changes[i].fact != NULL ? changes[i].fact : "");
        if (changes[i].code == CORDON_REFUSED_NONE)
            sample_check_passes(&pair, rc, &err, "an endpoint not told in part");
        else
            sample_check_refused(&pair, rc, &err, changes[i].code, fact, changes[i].fact);
    }
}

static void a_step_on_a_further_network_is_refused(void)
{
    static const sample_subject *const subjects[] = {&created_step, &running_step, &running_proxy};
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < 3; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        char fact[64];

        REQUIRE(sample_pair_make(&run, subjects[i], &pair));
        REQUIRE(add_endpoint(&pair, "bridge"));
        (void)snprintf(fact, sizeof(fact), "%s.endpoints", subjects[i]->name);
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                             fact, "a further network");
    }
}

static void a_step_on_another_network_instead_is_refused(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &running_step, &pair));
    REQUIRE(sample_set_text(&pair.actual.endpoints.items[0].network_key, "bridge"));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                         "step.endpoints", "another network");
    CHECK_STR(pair.refusal.expected, run.owner.badges[CORDON_ROLE_VENDOR_NETWORK].name);
    CHECK_STR(pair.refusal.actual, "not attached");
}

static void an_endpoint_without_a_name_is_nobodys(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &running_proxy, &pair));
    REQUIRE(sample_set_text(&pair.actual.endpoints.items[1].network_key, NULL));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                         "proxy.endpoints", "no name");
}

static void somebody_else_on_the_vendor_network_is_foreign(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &vendor_network, &pair));
    REQUIRE(sample_add_item(&pair.actual_network.endpoints, SAMPLE_FOREIGN));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_FOREIGN,
                         "vendor-network.endpoints", "a third member");
    CHECK_CONTAINS(pair.refusal.actual, SAMPLE_FOREIGN);
}

/* --- Environment ------------------------------------------------------------------------------ */

static void TO4_a_variable_beyond_the_plan_is_refused(void)
{
    static const char *const items[] = {
        "container=podman",
        "TERM=xterm",
        "HOME=/root",
        "HOSTNAMEX=step",
        "HOSTNAME",
        "LD_PRELOAD=/x.so",
        "PATH=/evil",
        "HTTPS_PROXY=http://e",
        "",
    };
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(sample_pair_make(&run, &created_step, &pair));
        REQUIRE(sample_add_item(&pair.actual.environment, items[i]));
        sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_MISMATCH,
                             "step.environment", items[i]);
    }
}

static void a_health_check_that_is_switched_off_is_none(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) off = {0};
    cordon_auto(sample_pair) on = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &created_step, &off));
    REQUIRE(sample_add_item(&off.actual.healthcheck, "NONE"));
    sample_check_passes(&off, sample_validate(&off, &err), &err, "NONE");
    REQUIRE(sample_pair_make(&run, &created_step, &on));
    REQUIRE(sample_add_item(&on.actual.healthcheck, "NONE"));
    REQUIRE(sample_add_item(&on.actual.healthcheck, "curl http://e"));
    sample_check_refused(&on, sample_validate(&on, &err), &err, CORDON_REFUSED_MISMATCH,
                         "step.healthcheck", "NONE and more");
}

static void a_setting_that_nobody_knows_is_refused_by_its_path(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(sample_pair_make(&run, &running_step, &pair));
    REQUIRE(sample_add_item(&pair.actual.unmodelled, "$.HostConfig.NewKey = \x1b[31mtrue"));
    sample_check_refused(&pair, sample_validate(&pair, &err), &err, CORDON_REFUSED_UNMODELLED,
                         "step.unmodelled", "unmodelled");
    CHECK_STR(pair.refusal.expected, "nothing");
    CHECK_STR(pair.refusal.actual, "$.HostConfig.NewKey = ?[31mtrue");
    CHECK_CONTAINS(err.message, "CORDON_REFUSED_UNMODELLED: step.unmodelled");
}

/* --- Two readings ----------------------------------------------------------------------------- */

static int compare_readings(sample_pair *pair, bool swapped, cordon_err *err)
{
    return cordon_validate_unchanged("step", swapped ? &pair->actual : &pair->expected,
                                     swapped ? &pair->expected : &pair->actual, &pair->tally,
                                     &pair->refusal, err);
}

/* Both readings as an engine shows them. */
static bool readings(const sample_run *run, sample_pair *pair)
{
    return sample_pair_make(run, &running_step, pair) && sample_as_shown(&pair->expected);
}

static void run_state_may_differ_between_two_readings(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE(readings(&run, &pair));
    pair.actual.state = CORDON_STATE_EXITED;
    pair.actual.pid = (cordon_fact_int){true, 4711};
    REQUIRE(sample_set_text(&pair.actual.started_at, "2024-01-01T00:00:00Z"));
    sample_check_passes(&pair, compare_readings(&pair, false, &err), &err, "run state");
    sample_check_passes(&pair, compare_readings(&pair, true, &err), &err, "run state, swapped");
}

static void whatever_else_differs_has_changed(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (int i = 0; i < 10; i++) {
        static const char *const facts[] = {"step.memory_bytes", "step.environment",
                                            "step.restart_policy", "step.mounts",
                                            "step.mounts[/worktree].source"};
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        bool swapped = i % 2 == 1;

        REQUIRE(readings(&run, &pair));
        if (i / 2 == 0)
            pair.actual.memory_bytes.value++;
        else if (i / 2 == 1)
            REQUIRE(sample_add_item(&pair.actual.environment, "EXTRA=1"));
        else if (i / 2 == 2)
            REQUIRE(sample_set_text(&pair.actual.restart_policy, "always"));
        else if (i / 2 == 3)
            REQUIRE(sample_add_mount(&pair, "/etc", "/etc"));
        else
            REQUIRE(sample_set_text(&sample_mount_at(&pair, "/worktree")->source, "/other"));
        sample_check_refused(&pair, compare_readings(&pair, swapped, &err), &err,
                             CORDON_REFUSED_CHANGED, facts[i / 2], "readings");
    }
}

static void what_only_one_reading_tells_has_changed(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (int i = 0; i < 2; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(readings(&run, &pair));
        pair.actual.memory_bytes.known = false;
        sample_check_refused(&pair, compare_readings(&pair, i == 1, &err), &err,
                             CORDON_REFUSED_CHANGED, "step.memory_bytes", "untold once");
    }
}

static void a_mount_that_lost_its_target_has_changed(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (int i = 0; i < 2; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(readings(&run, &pair));
        REQUIRE(sample_set_text(&sample_mount_at(&pair, "/tmp")->target, NULL));
        sample_check_refused(&pair, compare_readings(&pair, i == 1, &err), &err,
                             CORDON_REFUSED_CHANGED, "step.mounts", "no target");
    }
}

CORDON_TEST_MAIN("validate_parts", TEST(each_part_of_an_endpoint_is_compared_as_far_as_it_is_told),
                 TEST(a_step_on_a_further_network_is_refused),
                 TEST(a_step_on_another_network_instead_is_refused),
                 TEST(an_endpoint_without_a_name_is_nobodys),
                 TEST(somebody_else_on_the_vendor_network_is_foreign),
                 TEST(TO4_a_variable_beyond_the_plan_is_refused),
                 TEST(a_health_check_that_is_switched_off_is_none),
                 TEST(a_setting_that_nobody_knows_is_refused_by_its_path),
                 TEST(run_state_may_differ_between_two_readings),
                 TEST(whatever_else_differs_has_changed),
                 TEST(what_only_one_reading_tells_has_changed),
                 TEST(a_mount_that_lost_its_target_has_changed))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's events against what the run itself does: the whole table of objects and actions, and
 * the attacks by name.
 */
#include "watch.h"

#include "support/sample_plan.h"

static cordon_watch sample_watch(void)
{
    return (cordon_watch){
        .networks = {SAMPLE_VENDOR_NET, SAMPLE_EGRESS_NET},
        .proxy = SAMPLE_PROXY,
        .step = SAMPLE_STEP,
        .step_exit_code = -1,
    };
}

/* One event, judged; texts are borrowed. */
static int judge(cordon_watch *watch, cordon_object_type type, const char *id,
                 cordon_event_action action, const char *container, cordon_refusal *refusal,
                 cordon_err *err)
{
    char raw[] = "the daemon's word";
    char ids[2][CORDON_ID_HEX + 1];
    cordon_event event = {.type = type, .action = action, .raw_action = raw};

    (void)snprintf(ids[0], sizeof(ids[0]), "%s", id);
    (void)snprintf(ids[1], sizeof(ids[1]), "%s", container != NULL ? container : "");
    event.id = ids[0];
    event.container_id = container != NULL ? ids[1] : NULL;
    return cordon_watch_judge(watch, &event, refusal, err);
}

static bool check_allowed(cordon_watch *watch, cordon_object_type type, const char *id,
                          cordon_event_action action, const char *container)
{
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    int rc = judge(watch, type, id, action, container, &refusal, &err);

    return TEST_RECORDF(rc == 0 && err.code == CORDON_OK && refusal.code == CORDON_REFUSED_NONE,
                        "object %.4s, action %d, container %.4s: %s", id, action,
                        container != NULL ? container : "none", err.message);
}

static bool check_tampered(cordon_watch *watch, cordon_object_type type, const char *id,
                           cordon_event_action action, const char *container, const char *fact)
{
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    int rc = judge(watch, type, id, action, container, &refusal, &err);

    return TEST_RECORDF(
        rc == -1 && err.code == CORDON_ERR_TAMPERED && refusal.code == CORDON_REFUSED_CHANGED &&
            strcmp(refusal.fact, fact) == 0 && strcmp(refusal.actual, "the daemon's word") == 0,
        "object %.4s, action %d, container %.4s: rc %d %s %s, want %s", id, action,
        container != NULL ? container : "none", rc, cordon_code_name(err.code), refusal.fact, fact);
}

#define CONTAINER CORDON_OBJECT_CONTAINER
#define NETWORK   CORDON_OBJECT_NETWORK

/* --- The table ----------------------------------------------------------------------------------
 */

/* What may happen to step and proxy: never, always, once, or only after a signal of ours. */
typedef enum allowance { NO = 0, YES, ONCE, SIGNALLED } allowance;

static const struct {
    cordon_event_action action;
    allowance step;
    allowance proxy;
} container_table[] = {
    {CORDON_EVENT_OTHER, NO, NO},
    {CORDON_EVENT_CREATE, YES, YES},
    {CORDON_EVENT_INIT, YES, YES},
    {CORDON_EVENT_ATTACH, ONCE, ONCE},
    {CORDON_EVENT_DETACH, YES, YES},
    {CORDON_EVENT_START, ONCE, ONCE},
    {CORDON_EVENT_DIE, YES, SIGNALLED},
    {CORDON_EVENT_CLEANUP, YES, SIGNALLED},
    {CORDON_EVENT_KILL, SIGNALLED, SIGNALLED},
    {CORDON_EVENT_STOP, YES, SIGNALLED},
    {CORDON_EVENT_OOM, YES, YES},
    {CORDON_EVENT_REMOVE, NO, NO},
    {CORDON_EVENT_CONNECT, NO, NO},
    {CORDON_EVENT_DISCONNECT, NO, NO},
    {CORDON_EVENT_MOUNT, YES, YES},
    {CORDON_EVENT_UNMOUNT, YES, YES},
    {CORDON_EVENT_UPDATE, NO, NO},
    {CORDON_EVENT_RENAME, NO, NO},
    {CORDON_EVENT_EXEC, NO, NO},
    {CORDON_EVENT_COPY, NO, NO},
    {CORDON_EVENT_PAUSE, NO, NO},
    {CORDON_EVENT_UNPAUSE, NO, NO},
    {CORDON_EVENT_RESTART, NO, NO},
    {(cordon_event_action)(CORDON_EVENT_RESTART + 1), NO, NO},
    {(cordon_event_action)1000, NO, NO},
};

static void check_row(const char *id, const char *fact, cordon_event_action action, allowance row)
{
    cordon_watch watch = sample_watch();
    cordon_watch ending = sample_watch();

    ending.signalled = true;
    if (row == NO || row == SIGNALLED)
        check_tampered(&watch, CONTAINER, id, action, NULL, fact);
    else
        check_allowed(&watch, CONTAINER, id, action, NULL);
    if (row == ONCE)
        check_tampered(&watch, CONTAINER, id, action, NULL, fact);
    else if (row == YES)
        check_allowed(&watch, CONTAINER, id, action, NULL);
    if (row == NO)
        check_tampered(&ending, CONTAINER, id, action, NULL, fact);
    else
        check_allowed(&ending, CONTAINER, id, action, NULL);
}

static void every_action_on_step_and_proxy_is_as_the_table_says(void)
{
    for (size_t i = 0; i < sizeof(container_table) / sizeof(container_table[0]); i++) {
        check_row(SAMPLE_STEP, "step.events", container_table[i].action, container_table[i].step);
        check_row(SAMPLE_PROXY, "proxy.events", container_table[i].action,
                  container_table[i].proxy);
    }
}

static void every_action_has_a_row(void)
{
    const size_t rows = sizeof(container_table) / sizeof(container_table[0]);

    for (int action = CORDON_EVENT_OTHER; action <= CORDON_EVENT_RESTART; action++)
        CHECK_INT(container_table[action].action, action);
    CHECK_INT(rows, CORDON_EVENT_RESTART + 3);
}

static void nothing_that_happens_to_others_is_our_business(void)
{
    cordon_watch watch = sample_watch();

    for (int action = CORDON_EVENT_OTHER; action <= CORDON_EVENT_RESTART; action++) {
        check_allowed(&watch, CONTAINER, SAMPLE_FOREIGN, (cordon_event_action)action, NULL);
        check_allowed(&watch, NETWORK, SAMPLE_FOREIGN, (cordon_event_action)action, SAMPLE_FOREIGN);
        check_allowed(&watch, NETWORK, SAMPLE_FOREIGN, (cordon_event_action)action, NULL);
        check_allowed(&watch, CORDON_OBJECT_IMAGE, SAMPLE_STEP, (cordon_event_action)action, NULL);
        check_allowed(&watch, CORDON_OBJECT_VOLUME, SAMPLE_STEP, (cordon_event_action)action,
                      SAMPLE_STEP);
    }
}

/* --- Networks -----------------------------------------------------------------------------------
 */

static void only_create_connect_and_disconnect_may_happen_to_a_network(void)
{
    static const char *const ids[] = {SAMPLE_VENDOR_NET, SAMPLE_EGRESS_NET};
    static const char *const facts[] = {"vendor-network.events", "egress-network.events"};

    for (int action = CORDON_EVENT_OTHER; action <= CORDON_EVENT_RESTART; action++) {
        for (int role = 0; role < 2; role++) {
            cordon_watch watch = sample_watch();

            watch.signalled = true;
            if (action == CORDON_EVENT_CREATE)
                check_allowed(&watch, NETWORK, ids[role], (cordon_event_action)action, NULL);
            else
                check_tampered(&watch, NETWORK, ids[role], (cordon_event_action)action, NULL,
                               facts[role]);
        }
    }
}

static void our_own_containers_join_each_network_once(void)
{
    cordon_watch watch = sample_watch();

    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_PROXY);
    check_allowed(&watch, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_CONNECT, SAMPLE_PROXY);
    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_STEP);
    check_tampered(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_PROXY,
                   "vendor-network.events");
    check_tampered(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_STEP,
                   "vendor-network.events");
}

static void somebody_else_on_one_of_our_networks_is_tampering(void)
{
    cordon_watch watch = sample_watch();

    check_tampered(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_FOREIGN,
                   "vendor-network.events");
    check_tampered(&watch, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_CONNECT, SAMPLE_FOREIGN,
                   "egress-network.events");
    check_tampered(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_DISCONNECT, SAMPLE_FOREIGN,
                   "vendor-network.events");
}

/* The step has no business on the network with a way out. */
static void a_step_on_the_egress_network_is_tampering(void)
{
    cordon_watch watch = sample_watch();

    check_tampered(&watch, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_CONNECT, SAMPLE_STEP,
                   "egress-network.events");
}

static void our_containers_on_a_foreign_network_are_tampering(void)
{
    cordon_watch watch = sample_watch();

    watch.signalled = true;
    check_tampered(&watch, NETWORK, SAMPLE_FOREIGN, CORDON_EVENT_CONNECT, SAMPLE_STEP,
                   "step.events");
    check_tampered(&watch, NETWORK, SAMPLE_FOREIGN, CORDON_EVENT_CONNECT, SAMPLE_PROXY,
                   "proxy.events");
    check_tampered(&watch, NETWORK, SAMPLE_FOREIGN, CORDON_EVENT_DISCONNECT, SAMPLE_STEP,
                   "step.events");
}

/* libpod tells of a connect or disconnect without the network. */
static void our_containers_on_a_network_that_is_not_told_are_tampering(void)
{
    cordon_watch watch = sample_watch();

    check_tampered(&watch, NETWORK, "", CORDON_EVENT_CONNECT, SAMPLE_STEP, "step.events");
    check_tampered(&watch, NETWORK, "", CORDON_EVENT_CONNECT, SAMPLE_PROXY, "proxy.events");
    check_tampered(&watch, NETWORK, "", CORDON_EVENT_DISCONNECT, SAMPLE_STEP, "step.events");
    check_allowed(&watch, NETWORK, "", CORDON_EVENT_CONNECT, SAMPLE_FOREIGN);
}

static void a_step_that_left_its_network_cannot_come_back(void)
{
    cordon_watch watch = sample_watch();

    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_STEP);
    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_DISCONNECT, SAMPLE_STEP);
    check_tampered(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_CONNECT, SAMPLE_STEP,
                   "vendor-network.events");
}

static void the_proxy_leaves_only_when_the_step_is_dead_or_we_end_it(void)
{
    cordon_watch early = sample_watch();
    cordon_watch late = sample_watch();
    cordon_watch ending = sample_watch();

    check_tampered(&early, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_DISCONNECT, SAMPLE_PROXY,
                   "egress-network.events");
    check_allowed(&late, CONTAINER, SAMPLE_STEP, CORDON_EVENT_DIE, NULL);
    check_allowed(&late, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_DISCONNECT, SAMPLE_PROXY);
    ending.signalled = true;
    check_allowed(&ending, NETWORK, SAMPLE_EGRESS_NET, CORDON_EVENT_DISCONNECT, SAMPLE_PROXY);
}

static void ids_that_are_not_known_yet_match_nothing(void)
{
    cordon_watch watch = {.networks = {"", NULL}, .proxy = "", .step = NULL};

    check_allowed(&watch, CONTAINER, "", CORDON_EVENT_EXEC, NULL);
    check_allowed(&watch, NETWORK, "", CORDON_EVENT_REMOVE, NULL);
    check_allowed(&watch, NETWORK, SAMPLE_FOREIGN, CORDON_EVENT_CONNECT, "");
}

static void an_id_is_compared_whole(void)
{
    cordon_watch watch = sample_watch();

    check_allowed(&watch, CONTAINER, "666666666666", CORDON_EVENT_EXEC, NULL);
}

/* --- The step's end -----------------------------------------------------------------------------
 */

static void the_steps_exit_code_is_kept(void)
{
    cordon_watch watch = sample_watch();
    cordon_err err = CORDON_ERR_INIT;
    char id[] = SAMPLE_STEP;
    cordon_event event = {.type = CONTAINER,
                          .action = CORDON_EVENT_DIE,
                          .id = id,
                          .exit_code = {.known = true, .value = 42}};

    CHECK(!watch.step_died);
    REQUIRE_OK(cordon_watch_judge(&watch, &event, NULL, &err), err);
    CHECK(watch.step_died);
    CHECK_INT(watch.step_exit_code, 42);
}

static void an_end_without_a_code_has_none(void)
{
    cordon_watch watch = sample_watch();

    watch.step_exit_code = 3;
    check_allowed(&watch, CONTAINER, SAMPLE_STEP, CORDON_EVENT_DIE, NULL);
    CHECK(watch.step_died);
    CHECK_INT(watch.step_exit_code, -1);
}

static void the_proxys_end_is_not_the_steps(void)
{
    cordon_watch watch = sample_watch();

    watch.signalled = true;
    check_allowed(&watch, CONTAINER, SAMPLE_PROXY, CORDON_EVENT_DIE, NULL);
    CHECK(!watch.step_died);
}

/* libpod does not name the network, and tells nothing of one that a container is created with. */
static void others_that_come_up_or_join_something_make_us_look(void)
{
    static const struct {
        cordon_object_type type;
        cordon_event_action action;
        bool look;
    } rows[] = {
        {CONTAINER, CORDON_EVENT_CREATE, false},
        {CONTAINER, CORDON_EVENT_INIT, true},
        {CONTAINER, CORDON_EVENT_START, true},
        {CONTAINER, CORDON_EVENT_DIE, false},
        {NETWORK, CORDON_EVENT_CONNECT, true},
        {NETWORK, CORDON_EVENT_DISCONNECT, false},
        {CORDON_OBJECT_IMAGE, CORDON_EVENT_OTHER, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cordon_watch watch = sample_watch();
        check_allowed(&watch, rows[i].type, SAMPLE_FOREIGN, rows[i].action, SAMPLE_FOREIGN);
        CHECK_INT(watch.others_moved, rows[i].look);
    }
}

static int check_left(const cordon_watch *watch, cordon_refusal *refusal, cordon_err *err)
{
    return cordon_watch_check_left(watch, refusal, err);
}

static void a_step_off_its_network_that_does_not_end_is_tampering(void)
{
    cordon_watch watch = sample_watch();
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE_OK(check_left(&watch, &refusal, &err), err);
    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_DISCONNECT, SAMPLE_STEP);
    REQUIRE_OK(check_left(&watch, &refusal, &err), err);
    watch.step_left_ns -= 60 * CORDON_NS_PER_SEC;
    CHECK_FAILS(check_left(&watch, &refusal, &err), err, CORDON_ERR_TAMPERED, "disconnect");
    CHECK_STR(refusal.fact, "step.events");
    CHECK_INT(refusal.code, CORDON_REFUSED_CHANGED);
}

static void a_step_that_ends_after_it_left_its_network_has_just_ended(void)
{
    cordon_watch watch = sample_watch();
    cordon_err err = CORDON_ERR_INIT;

    check_allowed(&watch, NETWORK, SAMPLE_VENDOR_NET, CORDON_EVENT_DISCONNECT, SAMPLE_STEP);
    watch.step_left_ns -= 60 * CORDON_NS_PER_SEC;
    check_allowed(&watch, CONTAINER, SAMPLE_STEP, CORDON_EVENT_DIE, NULL);
    CHECK_OK(check_left(&watch, NULL, &err), err);
    watch.step_died = false;
    watch.signalled = true;
    CHECK_OK(check_left(&watch, NULL, &err), err);
}

/* Podman cuts its log file when it has grown and tells its readers the rest of it again. */
static void an_event_that_is_told_again_happened_once(void)
{
    char raw[] = "attach";
    char id[CORDON_ID_HEX + 1];
    cordon_watch watch = sample_watch();
    cordon_event event = {.type = CONTAINER,
                          .action = CORDON_EVENT_ATTACH,
                          .id = id,
                          .raw_action = raw,
                          .time_ns = {true, 1000}};

    (void)snprintf(id, sizeof(id), "%s", watch.step);
    for (int i = 0; i < 3; i++) {
        cordon_err err = CORDON_ERR_INIT;

        CHECK(cordon_watch_judge(&watch, &event, NULL, &err) == 0);
    }
    event.time_ns.value = 1001;
    cordon_err err = CORDON_ERR_INIT;
    CHECK(cordon_watch_judge(&watch, &event, NULL, &err) == -1);
    CHECK(err.code == CORDON_ERR_TAMPERED);
}

/* The same of a step that has been removed since: what it did is known from when it was there. */
static void what_is_told_again_of_a_step_of_before_happened_once(void)
{
    char raw[] = "attach";
    char id[CORDON_ID_HEX + 1];
    cordon_watch watch = sample_watch();
    cordon_event event = {.type = CONTAINER,
                          .action = CORDON_EVENT_ATTACH,
                          .id = id,
                          .raw_action = raw,
                          .time_ns = {true, 1000}};
    cordon_err err = CORDON_ERR_INIT;

    (void)snprintf(id, sizeof(id), "%s", SAMPLE_STEP);
    CHECK(cordon_watch_judge(&watch, &event, NULL, &err) == 0);
    cordon_watch_retire(&watch, false);
    watch.step = SAMPLE_FOREIGN;
    for (int i = 0; i < 3; i++)
        CHECK_OK(cordon_watch_judge(&watch, &event, NULL, &err), err);
    /* Of another step, at the same moment, it is another event; a second one is none of ours. */
    (void)snprintf(id, sizeof(id), "%s", SAMPLE_FOREIGN);
    CHECK_OK(cordon_watch_judge(&watch, &event, NULL, &err), err);
    CHECK_INT(watch.attaches[1], 1);
    event.time_ns.value = 1001;
    (void)snprintf(id, sizeof(id), "%s", SAMPLE_STEP);
    CHECK(cordon_watch_judge(&watch, &event, NULL, &err) == -1);
    CHECK(err.code == CORDON_ERR_TAMPERED);
}

CORDON_TEST_MAIN("watch", TEST(an_event_that_is_told_again_happened_once),
                 TEST(what_is_told_again_of_a_step_of_before_happened_once),
                 TEST(every_action_on_step_and_proxy_is_as_the_table_says),
                 TEST(every_action_has_a_row), TEST(nothing_that_happens_to_others_is_our_business),
                 TEST(only_create_connect_and_disconnect_may_happen_to_a_network),
                 TEST(our_own_containers_join_each_network_once),
                 TEST(somebody_else_on_one_of_our_networks_is_tampering),
                 TEST(a_step_on_the_egress_network_is_tampering),
                 TEST(our_containers_on_a_foreign_network_are_tampering),
                 TEST(our_containers_on_a_network_that_is_not_told_are_tampering),
                 TEST(a_step_that_left_its_network_cannot_come_back),
                 TEST(the_proxy_leaves_only_when_the_step_is_dead_or_we_end_it),
                 TEST(ids_that_are_not_known_yet_match_nothing), TEST(an_id_is_compared_whole),
                 TEST(the_steps_exit_code_is_kept), TEST(an_end_without_a_code_has_none),
                 TEST(the_proxys_end_is_not_the_steps),
                 TEST(others_that_come_up_or_join_something_make_us_look),
                 TEST(a_step_off_its_network_that_does_not_end_is_tampering),
                 TEST(a_step_that_ends_after_it_left_its_network_has_just_ended))

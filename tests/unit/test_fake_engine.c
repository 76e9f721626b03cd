/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake engine is held to what core expects of a real one: a run by hand, through plan,
 * expectation, comparison, gate and events, on both of its models.
 */
#include "support/fake_engine.h"

#include "expect.h"
#include "gate_link.h"
#include "gate_view.h"
#include "kit/cleanup.h"
#include "kit/httpc.h"
#include "kit/stdcopy.h"
#include "support/test.h"
#include "witness.h"

const cordon_engine_ops *const cordon_engine_registry[] = {&fake_engine_docker, &fake_engine_podman,
                                                           NULL};

#define BUDGET_MS 20000

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(BUDGET_MS, -1);
}

/* A run that is carried through by hand, up to where a test wants it. */
typedef struct rig {
    fake_engine *fake;
    const cordon_engine_ops *ops;
    void *impl;
    cordon_engine_facts engine;
    cordon_owner owner;
    cordon_plan plan;
    cordon_run_ids ids;
    cordon_stream *step;
    cordon_stream *proxy;
    cordon_stream *events;
    cordon_gate_link link;
    cordon_stdcopy demux;
    cordon_buf out;
    cordon_buf err_out;
    cordon_err err;
} rig;

static int take_output(void *context, const void *bytes, size_t length, cordon_err *err)
{
    rig *r = context;
    return cordon_buf_append(&r->out, bytes, length, err);
}

static int take_stream(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    rig *r = context;
    if (stream == CORDON_STDCOPY_STDOUT)
        return cordon_gate_link_feed(&r->link, bytes, length, err);
    return cordon_buf_append(&r->err_out, bytes, length, err);
}

static void rig_clear(rig *r)
{
    cordon_stream_close(r->step);
    cordon_stream_close(r->proxy);
    cordon_stream_close(r->events);
    if (r->impl)
        r->ops->close(r->impl);
    cordon_gate_link_clear(&r->link);
    cordon_plan_clear(&r->plan);
    cordon_engine_facts_clear(&r->engine);
    cordon_buf_clear(&r->out);
    cordon_buf_clear(&r->err_out);
    fake_engine_free(r->fake);
}

static int rig_open(rig *r, const cordon_engine_ops *ops)
{
    r->fake = fake_engine_new();
    if (!r->fake)
        return -1;
    cordon_engine_address address = {.endpoint = fake_engine_endpoint(r->fake)};
    r->ops = ops;
    r->out = cordon_buf_make(1024 * 1024);
    r->err_out = cordon_buf_make(1024 * 1024);
    cordon_stdcopy_init(&r->demux, take_stream, r);
    if (cordon_gate_link_init(&r->link, take_output, r, &r->err) != 0 ||
        ops->open(&address, soon(), &r->impl, &r->err) != 0 ||
        ops->describe(r->impl, soon(), &r->engine, &r->err) != 0 ||
        ops->events_open(r->impl, 0, soon(), &r->events, &r->err) != 0)
        return -1;
    return cordon_owner_init(&r->owner, 1000, &r->err);
}

static void rig_plan(rig *r)
{
    static const cordon_plan_host hosts[] = {{"ok.test", NULL}};
    cordon_plan_input input = {
        .networked = true,
        .owner = &r->owner,
        .engine = &r->engine,
        .hosts = hosts,
        .host_count = 1,
        .limits = {.memory_bytes = 1 << 28,
                   .nano_cpus = 1000000000,
                   .pids = 64,
                   .open_files = 1024,
                   .scratch_bytes = 1 << 20},
        .guard_image_id = FAKE_IMAGE_ID,
        .step_image_id = FAKE_IMAGE_ID,
        .delivery = CORDON_GATE_ALONE,
        .worktree = "/srv/tree",
        .uid = 1000,
        .gid = 1000,
    };
    cordon_plan_init(&r->plan, &input);
}

static int rig_networks(rig *r)
{
    static const char *const subnets[] = {"10.213.0.0/29", "10.213.0.8/29"};
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        cordon_autofree char *id = NULL;
        if (cordon_plan_place(&r->plan, (cordon_role)role, subnets[role], &r->err) != 0 ||
            r->ops->network_create(r->impl, &r->plan.networks[role], soon(), &id, NULL, &r->err) !=
                0)
            return -1;
        cordon_plan_network_made(&r->plan, (cordon_role)role, id);
    }
    return 0;
}

static int rig_container(rig *r, const cordon_container_spec *spec, char *ret_id, unsigned flags,
                         cordon_stream **ret_stream)
{
    cordon_autofree char *id = NULL;
    if (r->ops->container_create(r->impl, spec, soon(), &id, &r->err) != 0)
        return -1;
    memcpy(ret_id, id, CORDON_ID_HEX + 1);
    return r->ops->container_attach(r->impl, id, flags, soon(), ret_stream, &r->err);
}

static int rig_make(rig *r)
{
    rig_plan(r);
    if (rig_networks(r) != 0 ||
        rig_container(r, &r->plan.proxy, r->ids.proxy, CORDON_ATTACH_STDIN, &r->proxy) != 0)
        return -1;
    return rig_container(r, &r->plan.step, r->ids.step, CORDON_ATTACH_STDIN, &r->step);
}

static int rig_start(rig *r)
{
    if (r->ops->container_start(r->impl, r->ids.proxy, soon(), &r->err) != 0)
        return -1;
    return r->ops->container_start(r->impl, r->ids.step, soon(), &r->err);
}

/* Reads the step's stream until the link is in this state, or the stream ends. */
static int rig_until(rig *r, cordon_link_state state)
{
    while (r->link.state != state) {
        char piece[4096];
        size_t length = 0;
        if (cordon_stream_read_wait(r->step, piece, sizeof piece, soon(), &length, &r->err) != 0 ||
            cordon_stdcopy_feed(&r->demux, piece, length, &r->err) != 0)
            return -1;
        if (length == 0)
            return cordon_gate_link_finish(&r->link, &r->err);
    }
    return 0;
}

static int rig_release(rig *r)
{
    static const char *const argv[] = {"make", "check"};
    static const char *const environment[] = {"PATH=/bin"};
    cordon_release release = {.argv = argv,
                              .argc = 2,
                              .environment = environment,
                              .environment_count = 1,
                              .working_dir = "/worktree"};
    cordon_auto(cordon_gate_view) view = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    if (cordon_gate_view_read(r->link.held.data, r->link.held.length, &view, &r->err) != 0 ||
        cordon_witness_check(&r->plan, &view, &tally, &refusal, &r->err) != 0 ||
        cordon_gate_link_release(&r->link, view.nonce, &release, &frame, &r->err) != 0)
        return -1;
    cordon_gate_link_released(&r->link);
    return cordon_stream_write(r->step, frame.bytes.data, frame.bytes.length, soon(), &r->err);
}

static int compare_container(rig *r, cordon_role role, const char *id, cordon_round round)
{
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_auto(cordon_container_facts) actual = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    if (cordon_expect_container(&r->plan, role, &r->ids, round, &expected, &r->err) != 0 ||
        r->ops->container_inspect(r->impl, id, soon(), &actual, &r->err) != 0)
        return -1;
    return cordon_validate_container(cordon_role_name(role), &expected, &actual, round, &tally,
                                     &refusal, &r->err);
}

static int compare_network(rig *r, cordon_role role, cordon_round round)
{
    cordon_auto(cordon_network_facts) expected = {0};
    cordon_auto(cordon_network_facts) actual = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    if (cordon_expect_network(&r->plan, role, &r->ids, round, &expected, &r->err) != 0 ||
        r->ops->network_inspect(r->impl, r->plan.network_ids[role], soon(), &actual, &r->err) != 0)
        return -1;
    return cordon_validate_network(cordon_role_name(role), &expected, &actual, round, &tally,
                                   &refusal, &r->err);
}

static int compare_all(rig *r, cordon_round round)
{
    if (compare_network(r, CORDON_ROLE_VENDOR_NETWORK, round) != 0 ||
        compare_network(r, CORDON_ROLE_EGRESS_NETWORK, round) != 0 ||
        compare_container(r, CORDON_ROLE_PROXY, r->ids.proxy, round) != 0)
        return -1;
    return compare_container(r, CORDON_ROLE_STEP, r->ids.step, round);
}

/* Newest first, as core does. */
static int rig_dispose(rig *r)
{
    if (r->ops->container_remove(r->impl, r->ids.step, soon(), &r->err) != 0 ||
        r->ops->container_remove(r->impl, r->ids.proxy, soon(), &r->err) != 0 ||
        r->ops->network_remove(r->impl, r->plan.network_ids[1], soon(), &r->err) != 0)
        return -1;
    return r->ops->network_remove(r->impl, r->plan.network_ids[0], soon(), &r->err);
}

static void check_whole_run(const cordon_engine_ops *ops)
{
    cordon_cleanup(rig_clear) rig r = {0};
    fake_release release;
    int code = -1;
    REQUIRE_OK(rig_open(&r, ops), r.err);
    fake_step step = {.stdout_text = "out\n", .stderr_text = "err\n", .exit_code = 3};
    fake_engine_step(r.fake, &step);
    REQUIRE_OK(rig_make(&r), r.err);
    REQUIRE_OK(compare_all(&r, CORDON_ROUND_CREATED), r.err);
    REQUIRE_OK(rig_start(&r), r.err);
    REQUIRE_OK(rig_until(&r, CORDON_LINK_WAITING), r.err);
    REQUIRE_OK(compare_all(&r, CORDON_ROUND_RUNNING), r.err);
    REQUIRE_OK(rig_release(&r), r.err);
    REQUIRE_OK(rig_until(&r, CORDON_LINK_ENDED), r.err);
    CHECK_INT(r.link.exit_code, 3);
    CHECK_STR(cordon_buf_text(&r.out), "out\n");
    CHECK_STR(cordon_buf_text(&r.err_out), "err\n");
    REQUIRE_OK(cordon_stream_write(r.step, "\n", 1, soon(), &r.err), r.err);
    REQUIRE_OK(ops->container_wait(r.impl, r.ids.step, soon(), &code, &r.err), r.err);
    CHECK_INT(code, 3);
    REQUIRE(fake_engine_released(r.fake, &release));
    CHECK_INT(release.argv->count, 2);
    CHECK_STR(release.argv->items[1], "check");
    CHECK_STR(release.working_dir, "/worktree");
    CHECK_INT(fake_engine_left(r.fake), 4);
    REQUIRE_OK(rig_dispose(&r), r.err);
    CHECK_INT(fake_engine_left(r.fake), 0);
    CHECK(fake_engine_complaint(r.fake) == NULL);
}

static void a_run_by_hand_goes_through_on_docker(void)
{
    check_whole_run(&fake_engine_docker);
}

static void a_run_by_hand_goes_through_on_podman(void)
{
    check_whole_run(&fake_engine_podman);
}

/* The engine was given the right path, which led to another folder when it mounted. */
static void a_folder_that_was_not_approved_is_refused(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    fake_release release;
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    REQUIRE_OK(rig_make(&r), r.err);
    REQUIRE_OK(rig_start(&r), r.err);
    REQUIRE_OK(rig_until(&r, CORDON_LINK_WAITING), r.err);
    for (size_t i = 0; i < r.plan.step.mount_count; i++)
        if (r.plan.mounts[i].type == CORDON_MOUNT_BIND)
            r.plan.mounts[i].ino = 131074;
    CHECK_FAILS(rig_release(&r), r.err, CORDON_ERR_REFUSED,
                "kernel.folder: expected 0:0 131074, found /worktree 0:0 0");
    CHECK(!fake_engine_released(r.fake, &release));
}

static void the_proxy_says_where_it_listens_once_it_has_its_policy(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    char bytes[512] = "";
    size_t length = 0;
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    REQUIRE_OK(rig_make(&r), r.err);
    REQUIRE_OK(rig_start(&r), r.err);
    REQUIRE_OK(cordon_stream_write(r.proxy, r.plan.proxy_policy.bytes.data,
                                   r.plan.proxy_policy.bytes.length, soon(), &r.err),
               r.err);
    REQUIRE_OK(cordon_stream_read_wait(r.proxy, bytes, sizeof bytes - 1, soon(), &length, &r.err),
               r.err);
    while (length <= 8)
        REQUIRE_OK(
            cordon_stream_read_wait(r.proxy, bytes + 8, sizeof bytes - 9, soon(), &length, &r.err),
            r.err);
    CHECK_CONTAINS(bytes + 8, "{\"event\":\"ready\",\"listen\":\"10.213.0.2:3128\",\"policy\":\"");
}

static void events_tell_what_happened_in_order(void)
{
    static const cordon_event_action wanted[] = {
        CORDON_EVENT_CREATE, CORDON_EVENT_CREATE, CORDON_EVENT_CREATE,
        CORDON_EVENT_ATTACH, CORDON_EVENT_CREATE, CORDON_EVENT_ATTACH,
    };
    cordon_cleanup(rig_clear) rig r = {0};
    cordon_auto(cordon_buf) bytes = cordon_buf_make(65536);
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    REQUIRE_OK(rig_make(&r), r.err);
    for (size_t seen = 0; seen < sizeof wanted / sizeof wanted[0];) {
        cordon_auto(cordon_event) event = {0};
        size_t used = 0;
        REQUIRE_OK(
            r.ops->events_parse(cordon_buf_text(&bytes), bytes.length, &used, &event, &r.err),
            r.err);
        cordon_buf_consume(&bytes, used);
        if (used > 0) {
            CHECK_INT(event.action, wanted[seen]);
            seen++;
            continue;
        }
        char piece[4096];
        size_t length = 0;
        REQUIRE_OK(cordon_stream_read_wait(r.events, piece, sizeof piece, soon(), &length, &r.err),
                   r.err);
        REQUIRE(length > 0);
        REQUIRE_OK(cordon_buf_append(&bytes, piece, length, &r.err), r.err);
    }
}

static void a_fault_strikes_the_call_that_it_is_for(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    REQUIRE_OK(rig_open(&r, &fake_engine_podman), r.err);
    fake_fault fault = {.op = FAKE_CONTAINER_CREATE,
                        .object = "step",
                        .nth = 1,
                        .kind = FAKE_FAULT_AFTER,
                        .code = CORDON_ERR_INDETERMINATE};
    fake_engine_fault(r.fake, &fault);
    CHECK_FAILS(rig_make(&r), r.err, CORDON_ERR_INDETERMINATE, "scripted");
    CHECK_STR(r.ids.step, "");
    CHECK_INT(fake_engine_left(r.fake), 4);
    CHECK_INT(fake_engine_count(r.fake, FAKE_CONTAINER_CREATE, NULL), 2);
    fake_call last = fake_engine_call(r.fake, fake_engine_call_count(r.fake) - 1);
    CHECK_INT(last.op, FAKE_CONTAINER_CREATE);
    CHECK_INT(last.result, CORDON_ERR_INDETERMINATE);
    CHECK_STR(last.object, "step");
    CHECK(last.left_ms > 0);
}

static void a_hang_ends_at_the_deadline(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    cordon_auto(cordon_image_facts) facts = {0};
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    fake_fault fault = {.op = FAKE_IMAGE_RESOLVE, .kind = FAKE_FAULT_HANG};
    fake_engine_fault(r.fake, &fault);
    CHECK_FAILS(
        r.ops->image_resolve(r.impl, FAKE_IMAGE_PIN, cordon_deadline_in_ms(20, -1), &facts, &r.err),
        r.err, CORDON_ERR_TIMEOUT, "image_resolve");
}

static void a_name_in_place_of_an_id_is_a_breach(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    CHECK_FAILS(r.ops->container_start(r.impl, "step", soon(), &r.err), r.err, CORDON_ERR_INVALID,
                "");
    CHECK_CONTAINS(fake_engine_complaint(r.fake), "\"step\" is no id");
}

static void a_step_that_stays_ends_by_signal_alone(void)
{
    cordon_cleanup(rig_clear) rig r = {0};
    int code = 0;
    REQUIRE_OK(rig_open(&r, &fake_engine_docker), r.err);
    fake_step step = {.stays = true, .ignores_term = true};
    fake_engine_step(r.fake, &step);
    REQUIRE_OK(rig_make(&r), r.err);
    REQUIRE_OK(rig_start(&r), r.err);
    REQUIRE_OK(rig_until(&r, CORDON_LINK_WAITING), r.err);
    REQUIRE_OK(rig_release(&r), r.err);
    REQUIRE_OK(rig_until(&r, CORDON_LINK_OUTPUT), r.err);
    REQUIRE_OK(r.ops->container_signal(r.impl, r.ids.step, "SIGTERM", soon(), &r.err), r.err);
    CHECK_FAILS(
        r.ops->container_wait(r.impl, r.ids.step, cordon_deadline_in_ms(30, -1), &code, &r.err),
        r.err, CORDON_ERR_TIMEOUT, "wait");
    r.err = (cordon_err)CORDON_ERR_INIT;
    REQUIRE_OK(r.ops->container_signal(r.impl, r.ids.step, "SIGKILL", soon(), &r.err), r.err);
    REQUIRE_OK(r.ops->container_wait(r.impl, r.ids.step, soon(), &code, &r.err), r.err);
    CHECK_INT(code, 137);
}

CORDON_TEST_MAIN("fake_engine", TEST(a_run_by_hand_goes_through_on_docker),
                 TEST(a_run_by_hand_goes_through_on_podman),
                 TEST(a_folder_that_was_not_approved_is_refused),
                 TEST(the_proxy_says_where_it_listens_once_it_has_its_policy),
                 TEST(events_tell_what_happened_in_order),
                 TEST(a_fault_strikes_the_call_that_it_is_for), TEST(a_hang_ends_at_the_deadline),
                 TEST(a_name_in_place_of_an_id_is_a_breach),
                 TEST(a_step_that_stays_ends_by_signal_alone))

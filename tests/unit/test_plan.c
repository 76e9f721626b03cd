/* SPDX-License-Identifier: Apache-2.0 */
/* From decisions to specifications: exactly what is asked for, written out. */
#include "plan.h"
#include "proxy/options.h"
#include "support/sample_plan.h"

static bool check_texts(cordon_texts texts, const char *const *want, size_t count)
{
    bool ok = CHECK_INT(texts.count, count);

    for (size_t i = 0; ok && i < count; i++)
        ok = CHECK_STR(texts.items[i], want[i]);
    return ok;
}
#define CHECK_TEXTS(texts, ...)                                                                    \
    check_texts((texts), (const char *const[]){__VA_ARGS__},                                       \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void the_vendor_network_is_internal_and_without_an_address_of_the_host(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_network_spec *net = &run.plan.networks[CORDON_ROLE_VENDOR_NETWORK];

    REQUIRE(sample_run_make(&run));
    CHECK_STR(net->name, run.owner.badges[CORDON_ROLE_VENDOR_NETWORK].name);
    CHECK_STR(net->subnet, "10.213.4.8/29");
    CHECK(net->internal);
    CHECK(net->no_gateway);
    CHECK(net->isolated);
    CHECK_INT(net->labels.count, CORDON_LABEL_COUNT);
}

static void the_egress_network_has_a_way_out_and_is_isolated(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_network_spec *net = &run.plan.networks[CORDON_ROLE_EGRESS_NETWORK];

    REQUIRE(sample_run_make(&run));
    CHECK_STR(net->name, run.owner.badges[CORDON_ROLE_EGRESS_NETWORK].name);
    CHECK_STR(net->subnet, "10.213.7.16/29");
    CHECK(!net->internal);
    CHECK(!net->no_gateway);
    CHECK(net->isolated);
}

static void the_proxy_is_told_its_hosts_and_nothing_else(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_container_spec *proxy = &run.plan.proxy;

    REQUIRE(sample_run_make(&run));
    CHECK_STR(proxy->name, run.owner.badges[CORDON_ROLE_PROXY].name);
    CHECK_STR(proxy->image_id, SAMPLE_GUARD_IMAGE);
    CHECK_TEXTS(proxy->entrypoint, "/cordon-guard");
    CHECK_TEXTS(proxy->command, "proxy");
    CHECK_TEXTS(proxy->environment, "HOME=/", "HOSTNAME=proxy", "PATH=/");
    CHECK_STR(proxy->user, "65532:65532");
    CHECK_STR(proxy->working_dir, "/");
    CHECK_STR(proxy->hostname, "proxy");
    CHECK(proxy->open_stdin);
    CHECK_INT(proxy->userns, CORDON_USERNS_HOST);
    CHECK_INT(proxy->mount_count, 0);
    CHECK_INT(proxy->dns_servers.count, 0);
}

/* What the proxy reads is what was planned, and its own reader says so. */
static void the_policy_is_what_the_proxy_reads_from_its_frame(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_proxy_options read;
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    run.plan.input.deadline_ms = 60000;
    run.plan.input.egress = (cordon_egress_limits){7, 8, 9, 10};
    REQUIRE_OK(cordon_plan_policy(&run.plan, &err), err);
    REQUIRE_OK(cordon_proxy_options_read(run.plan.proxy_policy.bytes.data,
                                         run.plan.proxy_policy.bytes.length, &read, &err),
               err);
    CHECK_STR(read.code, run.plan.proxy_code);
    CHECK_INT(read.listen.port, CORDON_PLAN_PROXY_PORT);
    CHECK_INT(read.policy.count, 2);
    CHECK_STR(read.policy.hosts[0].name, "api.example.com");
    CHECK_INT(read.policy.hosts[0].upstream.family, 0);
    CHECK_STR(read.policy.hosts[1].name, "llm.example.com");
    CHECK_INT(read.policy.hosts[1].upstream.port, 8443);
    CHECK_INT(read.head_ms, 10000);
    CHECK_INT(read.connect_ms, 15000);
    CHECK_INT(read.hello_ms, 15000);
    CHECK_INT(read.idle_ms, 60000);
    CHECK_INT(read.max_tunnels, 7);
    CHECK_INT(read.max_tunnel_bytes, 8);
    CHECK_INT(read.max_all_bytes, 9);
    CHECK_INT(read.max_refusals, 10);
}

static void the_proxy_joins_both_networks_the_one_with_the_way_out_first(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_endpoint_spec *endpoints = run.plan.proxy_endpoints;

    REQUIRE(sample_run_make(&run));
    REQUIRE_INT(run.plan.proxy.endpoint_count, 2);
    REQUIRE(run.plan.proxy.endpoints == endpoints);
    CHECK_STR(endpoints[0].network_id, SAMPLE_EGRESS_NET);
    CHECK_STR(endpoints[0].network_name, run.owner.badges[CORDON_ROLE_EGRESS_NETWORK].name);
    CHECK_STR(endpoints[0].ipv4, "10.213.7.18");
    CHECK_STR(endpoints[1].network_id, SAMPLE_VENDOR_NET);
    CHECK_STR(endpoints[1].network_name, run.owner.badges[CORDON_ROLE_VENDOR_NETWORK].name);
    CHECK_STR(endpoints[1].ipv4, "10.213.4.10");
}

static void the_step_starts_as_a_gate_on_the_vendor_network_alone(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_container_spec *step = &run.plan.step;

    REQUIRE(sample_run_make(&run));
    CHECK_STR(step->name, run.owner.badges[CORDON_ROLE_STEP].name);
    CHECK_STR(step->image_id, SAMPLE_STEP_IMAGE);
    CHECK_TEXTS(step->entrypoint, "/.cordon/cordon-guard");
    CHECK_TEXTS(step->command, "gate");
    CHECK_TEXTS(step->environment, "HOME=/", "HOSTNAME=step", "PATH=/");
    CHECK_STR(step->user, "1000:1001");
    CHECK_STR(step->hostname, "step");
    CHECK(step->open_stdin);
    CHECK_TEXTS(step->dns_servers, "127.0.0.1");
    CHECK_TEXTS(step->sysctls, "net.ipv4.ip_forward=0", "net.ipv6.conf.all.disable_ipv6=1",
                "net.ipv6.conf.default.disable_ipv6=1");
    REQUIRE_INT(step->endpoint_count, 1);
    CHECK_STR(step->endpoints[0].network_id, SAMPLE_VENDOR_NET);
    CHECK_STR(step->endpoints[0].ipv4, "10.213.4.11");
}

static void the_step_gets_scratch_worktree_and_guard(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_mount_spec *mounts = run.plan.mounts;

    REQUIRE(sample_run_make(&run));
    REQUIRE_INT(run.plan.step.mount_count, 3);
    CHECK_INT(mounts[0].type, CORDON_MOUNT_TMPFS);
    CHECK_STR(mounts[0].target, "/tmp");
    CHECK(!mounts[0].read_only);
    CHECK(mounts[0].no_exec);
    CHECK_INT(mounts[0].size_bytes, INT64_C(16) << 20);
    CHECK_INT(mounts[0].mode_octal, 01777);
    CHECK_INT(mounts[1].type, CORDON_MOUNT_BIND);
    CHECK_STR(mounts[1].source, SAMPLE_WORKTREE);
    CHECK_STR(mounts[1].target, "/worktree");
    CHECK(!mounts[1].read_only);
    CHECK_INT(mounts[2].type, CORDON_MOUNT_IMAGE);
    CHECK_STR(mounts[2].source, SAMPLE_GUARD_IMAGE);
    CHECK_STR(mounts[2].target, "/.cordon");
    CHECK(mounts[2].read_only);
}

static void a_phase_that_may_not_write_gets_its_worktree_read_only(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_input(&run));
    run.input.worktree_writable = false;
    REQUIRE(sample_plan(&run));
    REQUIRE_INT(run.plan.mounts[1].type, CORDON_MOUNT_BIND);
    CHECK(run.plan.mounts[1].read_only);
}

static void a_guard_inside_the_image_needs_no_mount(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_input(&run));
    run.input.delivery = CORDON_GATE_LAYER;
    run.input.worktree = NULL;
    REQUIRE(sample_plan(&run));
    REQUIRE_INT(run.plan.step.mount_count, 1);
    CHECK_STR(run.plan.step.mounts[0].target, "/tmp");
    CHECK_TEXTS(run.plan.step.entrypoint, "/.cordon/cordon-guard");
}

static void a_probe_runs_in_the_guards_own_image(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_input(&run));
    run.input.delivery = CORDON_GATE_ALONE;
    run.input.step_image_id = SAMPLE_GUARD_IMAGE;
    REQUIRE(sample_plan(&run));
    CHECK_TEXTS(run.plan.step.entrypoint, "/cordon-guard");
    CHECK_TEXTS(run.plan.step.command, "gate");
    CHECK_INT(run.plan.step.mount_count, 2);
}

static void keep_id_is_for_the_step_alone(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_input(&run));
    run.input.keep_id = true;
    REQUIRE(sample_plan(&run));
    CHECK_INT(run.plan.step.userns, CORDON_USERNS_KEEP_ID);
    CHECK_INT(run.plan.proxy.userns, CORDON_USERNS_HOST);
}

static void the_steps_limits_are_the_operators(void)
{
    cordon_auto(sample_run) run = {0};
    const cordon_limits_spec *limits = &run.plan.step.limits;

    REQUIRE(sample_run_make(&run));
    CHECK_INT(limits->memory_bytes, INT64_C(2) << 30);
    CHECK_INT(limits->nano_cpus, 1500000000);
    CHECK_INT(limits->pids, 256);
    CHECK_INT(limits->open_files, 4096);
    CHECK_INT(limits->user_processes, 4096);
    CHECK_INT(limits->shm_bytes, INT64_C(64) << 20);
    CHECK_INT(run.plan.step.stop_timeout_s, 10);
    CHECK_INT(run.plan.step.oom_score_adj, 500);
}

static void a_limit_that_the_engine_cannot_enforce_is_not_asked_for(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_input(&run));
    run.engine.can = CORDON_CAN_LIMIT_PIDS;
    REQUIRE(sample_plan(&run));
    CHECK_INT(run.plan.step.limits.memory_bytes, 0);
    CHECK_INT(run.plan.step.limits.nano_cpus, 0);
    CHECK_INT(run.plan.step.limits.pids, 256);
    CHECK_INT(run.plan.step.limits.open_files, 4096);
    CHECK_INT(run.plan.proxy.limits.memory_bytes, 0);
    CHECK_INT(run.plan.proxy.limits.pids, 32);
}

static void another_block_moves_network_addresses_and_proxy_together(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(sample_run_make(&run));
    REQUIRE_OK(cordon_plan_place(&run.plan, CORDON_ROLE_VENDOR_NETWORK, "10.213.9.0/29", &err),
               err);
    CHECK_STR(run.plan.networks[CORDON_ROLE_VENDOR_NETWORK].subnet, "10.213.9.0/29");
    CHECK_STR(run.plan.proxy_endpoints[1].ipv4, "10.213.9.2");
    CHECK_STR(run.plan.step_endpoints[0].ipv4, "10.213.9.3");
    CHECK_STR(run.plan.proxy_endpoints[0].ipv4, "10.213.7.18");
    CHECK_STR(run.plan.proxy_listen, "10.213.9.2:3128");
}

static void the_step_never_joins_the_network_with_a_way_out(void)
{
    CHECK(cordon_plan_joins(CORDON_ROLE_PROXY, CORDON_ROLE_VENDOR_NETWORK));
    CHECK(cordon_plan_joins(CORDON_ROLE_PROXY, CORDON_ROLE_EGRESS_NETWORK));
    CHECK(cordon_plan_joins(CORDON_ROLE_STEP, CORDON_ROLE_VENDOR_NETWORK));
    CHECK(!cordon_plan_joins(CORDON_ROLE_STEP, CORDON_ROLE_EGRESS_NETWORK));
}

CORDON_TEST_MAIN("plan", TEST(the_vendor_network_is_internal_and_without_an_address_of_the_host),
                 TEST(the_egress_network_has_a_way_out_and_is_isolated),
                 TEST(the_proxy_is_told_its_hosts_and_nothing_else),
                 TEST(the_policy_is_what_the_proxy_reads_from_its_frame),
                 TEST(the_proxy_joins_both_networks_the_one_with_the_way_out_first),
                 TEST(the_step_starts_as_a_gate_on_the_vendor_network_alone),
                 TEST(the_step_gets_scratch_worktree_and_guard),
                 TEST(a_phase_that_may_not_write_gets_its_worktree_read_only),
                 TEST(a_guard_inside_the_image_needs_no_mount),
                 TEST(a_probe_runs_in_the_guards_own_image), TEST(keep_id_is_for_the_step_alone),
                 TEST(the_steps_limits_are_the_operators),
                 TEST(a_limit_that_the_engine_cannot_enforce_is_not_asked_for),
                 TEST(another_block_moves_network_addresses_and_proxy_together),
                 TEST(the_step_never_joins_the_network_with_a_way_out))

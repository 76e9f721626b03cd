/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as expected facts: every value that decides about safety, written out. */
#include "expect.h"
#include "support/sample_plan.h"

static bool check_list(const cordon_fact_list *list, const char *const *want, size_t count)
{
    bool ok = CHECK(list->known) && CHECK_INT(list->count, count);

    for (size_t i = 0; ok && i < count; i++)
        ok = CHECK_STR(list->items[i], want[i]);
    return ok;
}
#define CHECK_LIST(list, ...)                                                                      \
    check_list(&(list), (const char *const[]){__VA_ARGS__},                                        \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define CHECK_EMPTY(list) check_list(&(list), NULL, 0)

static bool expect(const sample_run *run, cordon_role role, cordon_round round,
                   cordon_container_facts *facts)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_expect_container(&run->plan, role, &run->ids, round, facts, &err), err);
}

static bool expect_net(const sample_run *run, cordon_role role, cordon_round round,
                       cordon_network_facts *facts)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_expect_network(&run->plan, role, &run->ids, round, facts, &err), err);
}

static bool check_locked_down(const cordon_container_facts *facts)
{
    return CHECK_INT(facts->privileged, CORDON_FACT_NO) &
           CHECK_INT(facts->no_new_privileges, CORDON_FACT_YES) &
           CHECK_INT(facts->read_only_root, CORDON_FACT_YES) &
           CHECK_INT(facts->tty, CORDON_FACT_NO) & CHECK_INT(facts->init, CORDON_FACT_NO) &
           CHECK_INT(facts->publish_all, CORDON_FACT_NO) &
           CHECK_INT(facts->auto_remove, CORDON_FACT_NO) &
           CHECK_INT(facts->oom_kill_disable, CORDON_FACT_NO) &
           CHECK_STR(facts->pid_mode, "private") & CHECK_STR(facts->ipc_mode, "private") &
           CHECK_STR(facts->uts_mode, "private") & CHECK_STR(facts->cgroup_mode, "private") &
           CHECK_STR(facts->cgroup_parent, "") & CHECK_STR(facts->network_mode, "network") &
           CHECK_STR(facts->restart_policy, "no") & CHECK_STR(facts->stop_signal, "SIGTERM") &
           CHECK_EMPTY(facts->capabilities) & CHECK_EMPTY(facts->security_options) &
           CHECK_EMPTY(facts->extra_groups) & CHECK_EMPTY(facts->devices) &
           CHECK_EMPTY(facts->secrets) & CHECK_EMPTY(facts->volumes_from) &
           CHECK_EMPTY(facts->image_volumes) & CHECK_EMPTY(facts->published_ports) &
           CHECK_EMPTY(facts->exposed_ports) & CHECK_EMPTY(facts->extra_hosts) &
           CHECK_EMPTY(facts->links) & CHECK_EMPTY(facts->dns_search) &
           CHECK_EMPTY(facts->dns_options) & CHECK_EMPTY(facts->healthcheck) &
           CHECK_EMPTY(facts->exec_ids) & CHECK_EMPTY(facts->unmodelled);
}

static void both_containers_are_locked_down_in_both_rounds(void)
{
    cordon_auto(sample_run) run = {0};
    static const cordon_round rounds[] = {CORDON_ROUND_CREATED, CORDON_ROUND_RUNNING};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < 4; i++) {
        cordon_auto(cordon_container_facts) facts = {0};

        REQUIRE(
            expect(&run, i % 2 == 0 ? CORDON_ROLE_PROXY : CORDON_ROLE_STEP, rounds[i / 2], &facts));
        CHECK(check_locked_down(&facts));
    }
}

static void the_step_is_what_was_planned(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) facts = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect(&run, CORDON_ROLE_STEP, CORDON_ROUND_CREATED, &facts));
    CHECK_STR(facts.id, SAMPLE_STEP);
    CHECK_STR(facts.name, run.owner.badges[CORDON_ROLE_STEP].name);
    CHECK_STR(facts.image_id, SAMPLE_STEP_IMAGE);
    CHECK(cordon_owner_matches(&run.owner, CORDON_ROLE_STEP, &facts.labels));
    CHECK_INT(facts.state, CORDON_STATE_CREATED);
    CHECK_LIST(facts.entrypoint, "/.cordon/cordon-guard");
    CHECK_LIST(facts.command, "gate");
    CHECK_LIST(facts.argv, "/.cordon/cordon-guard", "gate");
    CHECK_LIST(facts.environment, "HOME=/", "HOSTNAME=step", "PATH=/");
    CHECK_STR(facts.user, "1000:1001");
    CHECK_INT(facts.open_stdin, CORDON_FACT_YES);
    CHECK_INT(facts.stdin_once, CORDON_FACT_YES);
    CHECK_STR(facts.user_mode, "host");
    CHECK_LIST(facts.dns_servers, "127.0.0.1");
    CHECK_LIST(facts.sysctls, "net.ipv4.ip_forward=0", "net.ipv6.conf.all.disable_ipv6=1",
               "net.ipv6.conf.default.disable_ipv6=1");
    CHECK_LIST(facts.ulimits, "core=0:0", "nofile=4096:4096", "nproc=4096:4096");
    CHECK(facts.memory_bytes.known && facts.memory_bytes.value == INT64_C(2) << 30);
    CHECK(facts.memory_swap_bytes.known && facts.memory_swap_bytes.value == INT64_C(2) << 30);
    CHECK(facts.pids.known && facts.pids.value == 256);
    CHECK(facts.nano_cpus.known && facts.nano_cpus.value == INT64_C(1500000000));
}

static void the_proxy_takes_its_policy_from_stdin_and_has_the_engines_resolver(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) facts = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect(&run, CORDON_ROLE_PROXY, CORDON_ROUND_RUNNING, &facts));
    CHECK_STR(facts.id, SAMPLE_PROXY);
    CHECK_STR(facts.image_id, SAMPLE_GUARD_IMAGE);
    CHECK_INT(facts.state, CORDON_STATE_RUNNING);
    CHECK_INT(facts.open_stdin, CORDON_FACT_YES);
    CHECK_STR(facts.user, "65532:65532");
    CHECK_EMPTY(facts.dns_servers);
    CHECK(facts.mounts.known);
    CHECK_INT(facts.mounts.count, 0);
    CHECK_INT(facts.argv.count, 2);
    CHECK_STR(facts.argv.items[0], "/cordon-guard");
    CHECK_STR(facts.argv.items[1], "proxy");
}

static void mounts_come_with_their_options(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) facts = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect(&run, CORDON_ROLE_STEP, CORDON_ROUND_CREATED, &facts));
    REQUIRE_INT(facts.mounts.count, 3);
    CHECK_INT(facts.mounts.items[0].type, CORDON_MOUNT_TMPFS);
    CHECK_LIST(facts.mounts.items[0].options, "mode=1777", "nodev", "noexec", "nosuid",
               "size=16777216");
    CHECK_INT(facts.mounts.items[0].read_only, CORDON_FACT_NO);
    CHECK_INT(facts.mounts.items[1].type, CORDON_MOUNT_BIND);
    CHECK_STR(facts.mounts.items[1].source, SAMPLE_WORKTREE);
    CHECK_INT(facts.mounts.items[1].read_only, CORDON_FACT_NO);
    CHECK_INT(facts.mounts.items[2].type, CORDON_MOUNT_IMAGE);
    CHECK_INT(facts.mounts.items[2].read_only, CORDON_FACT_YES);
}

static void an_address_is_in_use_only_once_a_container_runs(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) created = {0};
    cordon_auto(cordon_container_facts) running = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect(&run, CORDON_ROLE_STEP, CORDON_ROUND_CREATED, &created));
    REQUIRE(expect(&run, CORDON_ROLE_STEP, CORDON_ROUND_RUNNING, &running));
    REQUIRE_INT(created.endpoints.count, 1);
    CHECK(created.endpoints.items[0].ipv4 == NULL);
    CHECK_STR(created.endpoints.items[0].requested_ipv4, "10.213.4.11");
    CHECK_STR(created.endpoints.items[0].network_id, SAMPLE_VENDOR_NET);
    CHECK_STR(running.endpoints.items[0].ipv4, "10.213.4.11");
    CHECK_STR(running.endpoints.items[0].ipv6, "");
}

static void keep_id_is_expected_where_it_was_asked_for(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_container_facts) step = {0};
    cordon_auto(cordon_container_facts) proxy = {0};

    REQUIRE(sample_input(&run));
    run.input.keep_id = true;
    REQUIRE(sample_plan(&run));
    REQUIRE(expect(&run, CORDON_ROLE_STEP, CORDON_ROUND_CREATED, &step));
    REQUIRE(expect(&run, CORDON_ROLE_PROXY, CORDON_ROUND_CREATED, &proxy));
    CHECK_STR(step.user_mode, "keep-id");
    CHECK_STR(proxy.user_mode, "host");
}

static void the_vendor_network_holds_proxy_and_step_and_nobody_else(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_network_facts) vendor = {0};
    cordon_auto(cordon_network_facts) egress = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect_net(&run, CORDON_ROLE_VENDOR_NETWORK, CORDON_ROUND_RUNNING, &vendor));
    REQUIRE(expect_net(&run, CORDON_ROLE_EGRESS_NETWORK, CORDON_ROUND_RUNNING, &egress));
    CHECK_LIST(vendor.endpoints, SAMPLE_PROXY, SAMPLE_STEP);
    CHECK_LIST(egress.endpoints, SAMPLE_PROXY);
}

static void networks_differ_in_what_lets_traffic_out(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_auto(cordon_network_facts) vendor = {0};
    cordon_auto(cordon_network_facts) egress = {0};

    REQUIRE(sample_run_make(&run));
    REQUIRE(expect_net(&run, CORDON_ROLE_VENDOR_NETWORK, CORDON_ROUND_CREATED, &vendor));
    REQUIRE(expect_net(&run, CORDON_ROLE_EGRESS_NETWORK, CORDON_ROUND_CREATED, &egress));
    CHECK_STR(vendor.id, SAMPLE_VENDOR_NET);
    CHECK_STR(vendor.driver, "bridge");
    CHECK_INT(vendor.internal, CORDON_FACT_YES);
    CHECK_INT(vendor.host_address, CORDON_FACT_NO);
    CHECK_INT(egress.internal, CORDON_FACT_NO);
    CHECK_INT(egress.host_address, CORDON_FACT_YES);
    CHECK_INT(vendor.isolated, CORDON_FACT_YES);
    CHECK_INT(egress.isolated, CORDON_FACT_YES);
    CHECK_INT(vendor.ipv6, CORDON_FACT_NO);
    CHECK_INT(vendor.dns, CORDON_FACT_NO);
    CHECK_LIST(vendor.subnets, "10.213.4.8/29");
    CHECK_LIST(egress.subnets, "10.213.7.16/29");
    CHECK_EMPTY(vendor.options);
    CHECK_EMPTY(vendor.unmodelled);
    CHECK(!vendor.endpoints.known);
}

CORDON_TEST_MAIN("expect", TEST(both_containers_are_locked_down_in_both_rounds),
                 TEST(the_step_is_what_was_planned),
                 TEST(the_proxy_takes_its_policy_from_stdin_and_has_the_engines_resolver),
                 TEST(mounts_come_with_their_options),
                 TEST(an_address_is_in_use_only_once_a_container_runs),
                 TEST(keep_id_is_expected_where_it_was_asked_for),
                 TEST(the_vendor_network_holds_proxy_and_step_and_nobody_else),
                 TEST(networks_differ_in_what_lets_traffic_out))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman decoders over recorded answers (tests/samples/podman) and over the same answers with
 * one thing changed: what the facts must be, and what must not go unseen.
 */
#include "podman_samples.h"

#define STEP_ID "bf37e58d5c016a09ce1447d5ddd7c8cfe56f28b01125c08ba39ecd3fd051847e"
#define GUARD   "b0a6f2c33e830dd226dc9160058eb53f1b84b4bb90072a928aeff287ca4690aa"
#define CREATED "4.3-step-created.json"
#define RUNNING "4.3-step-running.json"

static int decode(const char *text, int major, cordon_container_facts *ret, cordon_err *err)
{
    return podman_decode_container(text ? text : "", text ? strlen(text) : 0, major, ret, err);
}

static const cordon_mount_fact *mount_at(const cordon_container_facts *facts, const char *target)
{
    for (size_t i = 0; i < facts->mounts.count; i++) {
        if (strcmp(facts->mounts.items[i].target, target) == 0)
            return &facts->mounts.items[i];
    }
    return NULL;
}

static void check_confinement(const cordon_container_facts *f)
{
    CHECK_INT(f->privileged, CORDON_FACT_NO);
    CHECK_STR(joined(&f->capabilities), "");
    CHECK_INT(f->no_new_privileges, CORDON_FACT_YES);
    CHECK_STR(joined(&f->security_options), "");
    CHECK_INT(f->read_only_root, CORDON_FACT_YES);
    CHECK_STR(f->pid_mode, "private");
    CHECK_STR(f->uts_mode, "private");
    CHECK_STR(f->cgroup_mode, "private");
    CHECK_STR(f->network_mode, "network");
    CHECK_STR(joined(&f->devices), "");
    CHECK_STR(joined(&f->ulimits), "core=0:0 nofile=1024:1024 nproc=4096:4096");
    CHECK_INT(f->oom_score_adj.value, 500);
    CHECK_STR(f->restart_policy, "no");
    CHECK_INT(f->auto_remove, CORDON_FACT_NO);
    CHECK_STR(f->log_driver, "k8s-file");
}

static void check_process(const cordon_container_facts *f)
{
    CHECK_STR(joined(&f->entrypoint), "/.cordon/busybox");
    CHECK_STR(joined(&f->command), "sh -c echo out; echo err >&2; cat; id; sleep 30");
    CHECK_INT(f->argv.count, 4);
    CHECK_STR(joined(&f->environment), "HOME=/ HOSTNAME=step PATH=/bin");
    CHECK_STR(f->working_dir, "/");
    CHECK_STR(f->hostname, "step");
    CHECK_INT(f->open_stdin, CORDON_FACT_YES);
    CHECK_INT(f->init, CORDON_FACT_NO);
    CHECK_STR(f->stop_signal, "SIGTERM");
    CHECK_INT(f->stop_timeout_s.value, 10);
    CHECK_STR(joined(&f->healthcheck), "NONE");
}

static void check_mounts(const cordon_container_facts *f)
{
    CHECK(f->mounts.known);
    CHECK_INT(f->mounts.count, 3);
    const cordon_mount_fact *guard = mount_at(f, "/.cordon");
    const cordon_mount_fact *tree = mount_at(f, "/worktree");
    const cordon_mount_fact *tmp = mount_at(f, "/tmp");
    REQUIRE(guard && tree && tmp);
    CHECK_INT(guard->type, CORDON_MOUNT_IMAGE);
    CHECK_STR(guard->source, GUARD);
    CHECK_INT(guard->read_only, CORDON_FACT_YES);
    CHECK_INT(tree->type, CORDON_MOUNT_BIND);
    CHECK_STR(tree->source, "/srv/worktree");
    CHECK_INT(tree->read_only, CORDON_FACT_YES);
    CHECK_STR(tree->propagation, "rprivate");
    CHECK_STR(joined(&tree->options), "nodev nonrecursive nosuid");
    CHECK_INT(tmp->type, CORDON_MOUNT_TMPFS);
    CHECK_INT(tmp->read_only, CORDON_FACT_NO);
    CHECK_STR(joined(&tmp->options), "mode=1777 nodev noexec nosuid size=16777216");
}

static void a_created_step_shows_its_whole_specification(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) f = {0};
    cordon_autofree char *text = sample(CREATED);
    REQUIRE_OK(decode(text, 4, &f, &err), err);
    CHECK_STR(f.id, STEP_ID);
    CHECK_STR(f.name, "podx-step");
    CHECK_INT(f.state, CORDON_STATE_CREATED);
    CHECK_STR(f.started_at, "");
    CHECK_STR(f.finished_at, "");
    CHECK_INT(f.pid.value, 0);
    CHECK_STR(joined(&f.labels), "podx=1");
    check_process(&f);
    check_confinement(&f);
    check_mounts(&f);
    CHECK_INT(f.nano_cpus.value, 1500000000);
    CHECK_INT(f.memory_bytes.value, 268435456);
    CHECK_INT(f.memory_swap_bytes.value, 268435456);
    CHECK_INT(f.pids.value, 64);
    CHECK_STR(f.user_mode, "host");
    CHECK_STR(joined(&f.unmodelled), "");
}

static void a_running_step_differs_in_state_and_addresses_alone(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) f = {0};
    cordon_autofree char *text = sample(RUNNING);
    REQUIRE_OK(decode(text, 4, &f, &err), err);
    CHECK_INT(f.state, CORDON_STATE_RUNNING);
    CHECK(f.pid.value > 0);
    CHECK(f.started_at && f.started_at[0] == '2');
    check_process(&f);
    check_confinement(&f);
    check_mounts(&f);
    REQUIRE_INT(f.endpoints.count, 2);
    const cordon_endpoint_fact *agent = &f.endpoints.items[1];
    CHECK_STR(agent->network_key, "podx-net");
    CHECK(agent->network_id == NULL);
    CHECK_STR(agent->ipv4, "10.232.7.3");
    CHECK_STR(agent->gateway, "");
    CHECK(agent->requested_ipv4 == NULL);
    CHECK_STR(joined(&agent->aliases), "");
    CHECK_STR(joined(&f.unmodelled), "");
}

static void a_rootless_step_keeps_the_callers_id(void)
{
    static const struct {
        const char *name;
        int major;
    } rows[] = {
        {"4.3-rootless-step-created.json", 4},
        {"4.3-rootless-step-running.json", 4},
        {"5.4-rootless-step-created.json", 5},
        {"5.4-rootless-step-running.json", 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        cordon_autofree char *text = sample(rows[i].name);
        REQUIRE_OK(decode(text, rows[i].major, &f, &err), err);
        CHECK_STR(f.user, "60999:60999");
        CHECK_STR(f.user_mode, "keep-id");
        check_process(&f);
        check_confinement(&f);
        check_mounts(&f);
        CHECK_INT(f.memory_bytes.value, 0);
        CHECK(f.memory_bytes.known && f.pids.known && f.nano_cpus.known);
        CHECK_STR(joined(&f.unmodelled), "");
    }
}

static void podman_5_shows_the_same_step_and_more(void)
{
    static const char *const names[] = {"5.4-step-created.json", "5.4-step-running.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        cordon_autofree char *text = sample(names[i]);
        REQUIRE_OK(decode(text, 5, &f, &err), err);
        check_process(&f);
        check_confinement(&f);
        check_mounts(&f);
        CHECK_STR(f.ipc_mode, "private");
        REQUIRE_INT(f.endpoints.count, 2);
        CHECK(f.endpoints.items[0].network_id != NULL);
        CHECK_STR(joined(&f.endpoints.items[0].aliases), "");
        CHECK_STR(joined(&f.unmodelled), "");
    }
}

static void no_network_is_no_endpoint_however_it_is_shown(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) none = {0};
    cordon_auto(cordon_container_facts) some = {0};
    cordon_autofree char *named =
        changed("5.4-step-created.json", "\"podx-egress\": {", "\"none\": {");
    REQUIRE_OK(decode(named, 5, &some, &err), err);
    CHECK_INT(some.endpoints.count, 2);
    char *mode = strstr(named, "\"NetworkMode\": \"bridge\"");
    REQUIRE(mode != NULL);
    memcpy(mode, "\"NetworkMode\": \"none\"  ", strlen("\"NetworkMode\": \"bridge\""));
    REQUIRE_OK(decode(named, 5, &none, &err), err);
    CHECK_STR(none.network_mode, "none");
    CHECK_INT(none.endpoints.count, 1);
}

static void podman_4_says_less_than_it_seems_to(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) f = {0};
    cordon_autofree char *text = sample(CREATED);
    REQUIRE_OK(decode(text, 4, &f, &err), err);
    CHECK(f.ipc_mode == NULL);
    CHECK(!f.sysctls.known);
    CHECK(!f.masked_paths.known);
    CHECK(!f.readonly_paths.known);
    CHECK(f.exposed_ports.known);
}

static void podman_5_tells_ipc_mode_network_id_and_entrypoint_as_a_list(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) f = {0};
    cordon_autofree char *text = sample("5.4-container-running.json");
    REQUIRE_OK(decode(text, 5, &f, &err), err);
    CHECK_STR(f.ipc_mode, "private");
    CHECK_STR(joined(&f.entrypoint), "/bin/sh");
    CHECK_STR(f.stop_signal, "SIGTERM");
    CHECK_INT(f.oom_killed, CORDON_FACT_NO);
    REQUIRE_INT(f.endpoints.count, 1);
    CHECK_STR(f.endpoints.items[0].network_id,
              "ee00eeb0c056a15f9456da08d817c91d2322bfb788ec5f0bb94f11445d13e2fc");
    CHECK_CONTAINS(joined(&f.unmodelled), "$.HostConfig.HostsFile = \"none\"");
    CHECK_CONTAINS(joined(&f.unmodelled), "$.UseImageHosts");
    CHECK_CONTAINS(joined(&f.unmodelled), "$.HostsPath");
}

static void an_init_of_podmans_own_is_seen(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) f = {0};
    cordon_autofree char *text = sample("4.3-container-created.json");
    REQUIRE_OK(decode(text, 4, &f, &err), err);
    CHECK_INT(f.init, CORDON_FACT_YES);
    CHECK_STR(joined(&f.entrypoint), "/bin/sh");
    CHECK_STR(f.argv.items[0], "/run/podman-init");
    CHECK_STR(joined(&f.secrets), "agn-s");
    CHECK_STR(joined(&f.extra_hosts), "proxy.internal:10.237.1.2");
}

/* --- one thing changed --- */

static void what_nobody_knows_is_reported_with_its_path(void)
{
    static const change changes[] = {
        {CREATED, "\"Namespace\": \"\"", "\"Namespace\": \"x\"", "$.Namespace = \"x\""},
        {CREATED, "\"Rootfs\": \"\"", "\"Rootfs\": \"/\"", "$.Rootfs = \"/\""},
        {CREATED, "\"Pod\": \"\"", "\"Pod\": \"abc\"", "$.Pod"},
        {CREATED, "\"IsInfra\": false", "\"IsInfra\": true", "$.IsInfra = true"},
        {CREATED, "\"Dependencies\": []", "\"Dependencies\": [\"x\"]", "$.Dependencies[0]"},
        {CREATED, "\"Privileged\": false", "\"Privileged\": false, \"New\": {\"a\": [1]}",
         "$.HostConfig.New.a[0] = 1"},
        {CREATED, "\"Umask\": \"0022\"", "\"Umask\": \"0000\"", "$.Config.Umask = \"0000\""},
        {CREATED, "\"Timeout\": 0", "\"Timeout\": 9", "$.Config.Timeout = 9"},
        {CREATED, "\"Runtime\": \"oci\"", "\"Runtime\": \"x\"", "$.HostConfig.Runtime"},
        {CREATED, "\"Cgroups\": \"default\"", "\"Cgroups\": \"disabled\"", "$.HostConfig.Cgroups"},
        {CREATED, "\"CapAdd\": []", "\"CapAdd\": [\"CAP_KILL\"]", "$.HostConfig.CapAdd[0]"},
        {CREATED, "\"CpusetCpus\": \"\"", "\"CpusetCpus\": \"0\"", "$.HostConfig.CpusetCpus"},
        {CREATED, "\"MemorySwappiness\": -1", "\"MemorySwappiness\": 60", "MemorySwappiness"},
        {CREATED, "\"Size\": \"1.049MB\"", "\"Size\": \"0B\"", "LogConfig.Size = \"0B\""},
        {CREATED, "/userdata/ctr.log", "/userdata/../../ctr.log", "LogConfig.Path"},
        {CREATED, "userdata/conmon.pid", "userdata/x", "$.ConmonPidFile"},
        {CREATED, "\"io.podman.annotations.privileged\": \"FALSE\"",
         "\"io.podman.annotations.privileged\": \"TRUE\"", "privileged\"] = \"TRUE\""},
        {CREATED, "\"io.podman.annotations.privileged\": \"FALSE\"", "\"run.oci.x\": \"1\"",
         "$.Config.Annotations[\"run.oci.x\"]"},
        {CREATED, "\"/srv/worktree:/worktree:", "\"/:/worktree:", "$.HostConfig.Binds[0]"},
        {CREATED, "\"Binds\": [", "\"Binds\": [\"/:/host\", ",
         "$.HostConfig.Binds[0] = \"/:/host\""},
        {CREATED, "\"Entrypoint\": \"/.cordon/busybox\"", "\"Entrypoint\": \"/bin/sh\"",
         "$.Config.Entrypoint"},
        {CREATED, "\"NetworkID\": \"podx-net\"", "\"NetworkID\": \"other\"",
         "NetworkID = \"other\""},
        {CREATED, "\"NanoCpus\": 1500000000", "\"NanoCpus\": 9", "$.HostConfig.NanoCpus"},
        {CREATED, "\"ExitCode\": 0", "\"ExitCode\": 256", "$.State.ExitCode"},
        {CREATED, "\"Status\": \"created\"", "\"Status\": \"odd\"", "$.State.Status = \"odd\""},
        {CREATED, "\"HostsPath\": \"\"", "\"HostsPath\": \"/x\"", "$.HostsPath"},
        {CREATED, "\"DriverOpts\": null", "\"DriverOpts\": {\"a\": \"b\"}", "DriverOpts.a"},
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        cordon_autofree char *text = changed(changes[i].sample, changes[i].old, changes[i].new);
        if (CHECK_OK(decode(text, 4, &f, &err), err))
            CHECK_CONTAINS(joined(&f.unmodelled), changes[i].part);
    }
}

static void a_value_of_the_wrong_type_fails_the_answer_and_names_its_path(void)
{
    static const change changes[] = {
        {CREATED, "\"Privileged\": false", "\"Privileged\": \"false\"", "$.HostConfig.Privileged"},
        {CREATED, "\"Privileged\": false", "\"Privileged\": 0", "$.HostConfig.Privileged"},
        {CREATED, "\"ReadonlyRootfs\": true", "\"ReadonlyRootfs\": 1", "$.HostConfig.Readonly"},
        {CREATED, "\"EffectiveCaps\": null", "\"EffectiveCaps\": {}", "$.EffectiveCaps"},
        {CREATED, "\"Binds\": [", "\"Binds\": [7, ", "$.HostConfig.Binds[0]"},
        {CREATED, "\"PidsLimit\": 64", "\"PidsLimit\": 64.5", "$.HostConfig.PidsLimit"},
        {CREATED, "\"Memory\": 268435456", "\"Memory\": 18446744073709551615", "Memory"},
        {CREATED, "\"SecurityOpt\": [", "\"SecurityOpt\": [null, ", "$.HostConfig.SecurityOpt[0]"},
        {CREATED, "\"Labels\": {", "\"Labels\": {\"a=b\": \"c\", ", "$.Config.Labels"},
        {CREATED, "\"Mounts\": [", "\"Mounts\": [{}, ", "$.Mounts[0].Type"},
        {CREATED, "\"Networks\": {", "\"Networks\": {\"x\": null, ", "Networks.x"},
        {CREATED, "\"State\": {", "\"State\": null, \"Was\": {", "$.State"},
        {CREATED, "\"Id\": \"bf37", "\"Id\": \"BF37", "Id"},
        {CREATED, "\"Tmpfs\": {", "\"Tmpfs\": {\"/x\": 1, ", "$.HostConfig.Tmpfs"},
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        cordon_autofree char *text = changed(changes[i].sample, changes[i].old, changes[i].new);
        CHECK_FAILS(decode(text, 4, &f, &err), err, CORDON_ERR_PROTOCOL, changes[i].part);
        CHECK(f.id == NULL);
    }
}

/* The key under another name: what it said is gone, and gone is not off. */
static void a_missing_key_leaves_its_fact_unknown(void)
{
    static const struct {
        const char *key;
        size_t offset;
        size_t size;
    } rows[] = {
#define ROW(key, fact)                                                                             \
    {key, offsetof(cordon_container_facts, fact), sizeof(((cordon_container_facts *)0)->fact)}
        ROW("\"Privileged\"", privileged),
        ROW("\"ReadonlyRootfs\"", read_only_root),
        ROW("\"PidMode\"", pid_mode),
        ROW("\"UTSMode\"", uts_mode),
        ROW("\"UsernsMode\"", user_mode),
        ROW("\"CgroupMode\"", cgroup_mode),
        ROW("\"NetworkMode\"", network_mode),
        ROW("\"CgroupParent\"", cgroup_parent),
        ROW("\"PublishAllPorts\"", publish_all),
        ROW("\"AutoRemove\"", auto_remove),
        ROW("\"OomKillDisable\"", oom_kill_disable),
        ROW("\"RestartPolicy\"", restart_policy),
        ROW("\"SecurityOpt\"", no_new_privileges),
        ROW("\"SecurityOpt\"", security_options),
        ROW("\"BoundingCaps\"", capabilities),
        ROW("\"EffectiveCaps\"", capabilities),
        ROW("\"Devices\"", devices),
        ROW("\"Mounts\"", mounts),
        ROW("\"Tmpfs\"", mounts),
        ROW("\"PortBindings\"", published_ports),
        ROW("\"Ports\"", published_ports),
        ROW("\"Networks\"", endpoints),
        ROW("\"Dns\"", dns_servers),
        ROW("\"ExtraHosts\"", extra_hosts),
        ROW("\"Ulimits\"", ulimits),
        ROW("\"Healthcheck\"", healthcheck),
        ROW("\"Env\"", environment),
        ROW("\"User\"", user),
        ROW("\"VolumesFrom\"", volumes_from),
        ROW("\"GroupAdd\"", extra_groups),
        ROW("\"ExecIDs\"", exec_ids),
        ROW("\"CpuQuota\"", nano_cpus),
        ROW("\"PidsLimit\"", pids),
        ROW("\"Memory\"", memory_bytes),
        ROW("\"Path\"", argv),
#undef ROW
    };
    static const char zero[sizeof(cordon_fact_list)];
    for (size_t i = 0; i < COUNT(rows); i++) {
        char gone[64];
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        (void)snprintf(gone, sizeof gone, "\"X%s", rows[i].key + 1);
        cordon_autofree char *text = changed(CREATED, rows[i].key, gone);
        if (!CHECK_OK(decode(text, 4, &f, &err), err))
            continue;
        /* lists and sets may hold what another key said; their `known` is what must be gone */
        size_t size = rows[i].size > sizeof(char *) ? sizeof(bool) : rows[i].size;
        TEST_RECORDF(memcmp((const char *)&f + rows[i].offset, zero, size) == 0,
                     "without %s its fact is known", rows[i].key);
    }
}

static void hostile_settings_show_in_their_facts(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) caps = {0};
    cordon_auto(cordon_container_facts) host = {0};
    cordon_auto(cordon_container_facts) user = {0};
    cordon_autofree char *a = changed(CREATED, "\"BoundingCaps\": null",
                                      "\"BoundingCaps\": [\"CAP_NET_RAW\", \"CAP_CHOWN\"]");
    cordon_autofree char *b =
        changed(CREATED, "\"PidMode\": \"private\"", "\"PidMode\": \"container:abc\"");
    cordon_autofree char *c =
        changed("4.3-rootless-step-created.json", "\"60999:0:1\"", "\"60999:0:2\"");
    REQUIRE_OK(decode(a, 4, &caps, &err), err);
    REQUIRE_OK(decode(b, 4, &host, &err), err);
    REQUIRE_OK(decode(c, 4, &user, &err), err);
    CHECK_STR(joined(&caps.capabilities), "chown net_raw");
    CHECK_STR(host.pid_mode, "other:container:abc");
    CHECK_STR(user.user_mode, "other:private");
}

static void an_overlay_is_the_image_mount_only_without_an_upper_layer(void)
{
    static const change changes[] = {
        {RUNNING, "\"lowerdir=", "\"upperdir=/x\", \"lowerdir=", ""},
        {RUNNING, "\"lowerdir=", "\"lowerdir=/x\", \"lowerdir=", ""},
        {RUNNING, "/userdata/overlay/", "/elsewhere/overlay/", ""},
        {RUNNING, "\"Type\": \"image\"", "\"Type\": \"volume\"", ""},
        {RUNNING, "\"Type\": \"image\",\n   \"Source\"", "\"Type\": \"glob\",\n   \"Source\"", ""},
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_container_facts) f = {0};
        cordon_autofree char *text = changed(RUNNING, changes[i].old, changes[i].new);
        if (CHECK_OK(decode(text, 4, &f, &err), err))
            CHECK_INT(f.mounts.count, 4);
    }
}

static void an_end_with_137_may_have_been_for_lack_of_memory(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) four = {0};
    cordon_auto(cordon_container_facts) five = {0};
    cordon_autofree char *text = changed(RUNNING, "\"ExitCode\": 0", "\"ExitCode\": 137");
    REQUIRE_OK(decode(text, 4, &four, &err), err);
    REQUIRE_OK(decode(text, 5, &five, &err), err);
    CHECK_INT(four.oom_killed, CORDON_FACT_UNKNOWN);
    CHECK_INT(five.oom_killed, CORDON_FACT_NO);
}

static void CP3_broken_json_is_no_answer(void)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"Id\":\"a\",}",
        "{\"Id\":1} x",
        "{\"Id\":NaN}",
        "{'Id':1}",
        "{\"Id\":\"a\",\"Id\":\"b\"}",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_auto(cordon_container_facts) f = {0};
        cordon_auto(cordon_network_facts) n = {0};
        cordon_auto(cordon_image_facts) im = {0};
        cordon_err err = CORDON_ERR_INIT;
        size_t length = strlen(bad[i]);
        CHECK_FAILS(decode(bad[i], 4, &f, &err), err, CORDON_ERR_PROTOCOL, "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(podman_decode_network(bad[i], length, &n, &err), err, CORDON_ERR_PROTOCOL, "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(podman_decode_image(bad[i], length, &im, &err), err, CORDON_ERR_PROTOCOL, "");
    }
}

CORDON_TEST_MAIN(
    "podman_decode", TEST(a_created_step_shows_its_whole_specification),
    TEST(a_running_step_differs_in_state_and_addresses_alone),
    TEST(a_rootless_step_keeps_the_callers_id), TEST(podman_5_shows_the_same_step_and_more),
    TEST(no_network_is_no_endpoint_however_it_is_shown), TEST(podman_4_says_less_than_it_seems_to),
    TEST(podman_5_tells_ipc_mode_network_id_and_entrypoint_as_a_list),
    TEST(an_init_of_podmans_own_is_seen), TEST(what_nobody_knows_is_reported_with_its_path),
    TEST(a_value_of_the_wrong_type_fails_the_answer_and_names_its_path),
    TEST(a_missing_key_leaves_its_fact_unknown), TEST(hostile_settings_show_in_their_facts),
    TEST(an_overlay_is_the_image_mount_only_without_an_upper_layer),
    TEST(an_end_with_137_may_have_been_for_lack_of_memory), TEST(CP3_broken_json_is_no_answer))

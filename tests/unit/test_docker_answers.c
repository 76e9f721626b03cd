/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All other answers of Docker's: networks and images to facts, exit statuses, created ids, loads,
 * refusals, what the daemon says of itself, lists and events.
 */
#include "support/docker_change.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void changed_networks_show_it(void)
{
    static const change changes[] = {
        {"\"Internal\": true", "\"Internal\": false", "\ninternal=no\n"},
        {"inhibit_ipv4\": \"true\"", "inhibit_ipv4\": \"false\"", "\nhost_address=yes\n"},
        {"inhibit_ipv4\": \"true\"", "inhibit_ipv4\": \"false\"",
         "\noptions=[com.docker.network.bridge.inhibit_ipv4=false]\n"},
        {"inhibit_ipv4\": \"true\"", "gateway_mode_ipv4\": \"isolated\"", "\nhost_address=yes\n"},
        {"\"Options\": {", "\"Options\": {\"com.docker.network.bridge.name\": \"br0\", ",
         "\noptions=[com.docker.network.bridge.name=br0]\n"},
        {"\"EnableIPv6\": false", "\"EnableIPv6\": true", "\nipv6=yes\n"},
        {"\"EnableIPv6\": false", "\"EnableIPv6\": false, \"EnableIPv4\": true", "unmodelled=\n"},
        {"\"EnableIPv6\": false", "\"EnableIPv6\": false, \"EnableIPv4\": false",
         "unmodelled=[$ = \"EnableIPv4 off\"]\n"},
        {"\"Attachable\": false", "\"Attachable\": true", "\nattachable=yes\n"},
        {"\"Ingress\": false", "\"Ingress\": true", "\ningress=yes\n"},
        {"\"Driver\": \"bridge\"", "\"Driver\": \"macvlan\"", "\ndriver=macvlan\nint"},
        {"\"Driver\": \"bridge\"", "\"Driver\": \"macvlan\"", "\nisolated=?\n"},
        {"\"Scope\": \"local\"", "\"Scope\": \"swarm\"", "unmodelled=[$ = \"swarm\"]\n"},
        {"\"Driver\": \"default\"", "\"Driver\": \"dhcp\"", "unmodelled=[$.IPAM = \"dhcp\"]\n"},
        {"\"Subnet\": \"10.219.9.0/29\"", "\"Subnet\": \"10.0.0.0/8\"", "\nsubnets=[10.0.0.0/8]\n"},
        {"\"Subnet\": \"10.219.9.0/29\"",
         "\"Subnet\": \"10.219.9.0/29\", \"Gateway\": \"10.219.9.1\"", "\ngateways=\n"},
        {"\"Subnet\": \"10.219.9.0/29\"",
         "\"Subnet\": \"10.219.9.0/29\", \"AuxiliaryAddresses\": {\"a\": \"10.219.9.2\"}",
         "unmodelled=[$.IPAM.Config[0].AuxiliaryAddresses.a = "},
        {"\"ConfigOnly\": false", "\"ConfigOnly\": true", "unmodelled=[$.ConfigOnly = true]\n"},
        {"\"ConfigFrom\": {\n  \"Network\": \"\"", "\"ConfigFrom\": {\n  \"Network\": \"x\"",
         "unmodelled=[$.ConfigFrom.Network = \"x\"]\n"},
        {"\"Containers\": {", "\"Peers\": [{\"Name\": \"n\"}], \"Containers\": {",
         "unmodelled=[$.Peers[0].Name = \"n\"]\n"},
        {"\"Containers\": {", "\"Containers_\": {}, \"Containers\": {", "\nendpoints=[ba1e18b8"},
        {"\"Containers\": {", "\"Containers\": null, \"C\": {", "\nendpoints=\n"},
        {"\"Options\": {", "\"Options_\": {", "\nhost_address=?\n"},
        {"\"Internal\":", "\"Internal_\":", "\ninternal=?\n"},
        {"\"IPv6Address\": \"\"", "\"IPv6Address\": \"fd00::2/64\"",
         "IPv6Address = \"fd00::2/64\"]\n"},
    };
    check_changes(NETWORK, "docker/20.10-network-in-use.json", changes, COUNT(changes));
}

static void changed_images_show_it(void)
{
    static const change changes[] = {
        {"\"Config\": {", "\"Config\": {\"Env_\": 0},\n \"ConfigWas\": {",
         "\nentrypoint=\ncommand=\nenvironment=\nvolumes=\n"},
        {"\"Config\": {",
         "\"Config\": {\"User\": \"1\", \"Volumes\": {\"/v\": {}}, \"Env\": [\"A=b\"],"
         "\"OnBuild\": [\"RUN x\"]},\n \"ConfigWas\": {",
         "\nuser=1\nentrypoint=\ncommand=\nenvironment=[A=b]\nvolumes=[/v]\nexposed_ports=\n"
         "on_build=[RUN x]\n"},
        {"\"Architecture\": \"amd64\"", "\"Architecture\": \"arm64\"", "\narchitecture=arm64\n"},
        {"\"Os\": \"linux\"", "\"Os\": \"windows\"", "\nos=windows\n"},
        {"\"RepoDigests\": []", "\"RepoDigests\": [\"x@sha256:1\"]", "\ndigests=[x@sha256:1]\n"},
        {"\"Type\": \"layers\"", "\"Type\": \"layers+base\"",
         "unmodelled=[$.RootFS = \"layers+base\"]\n"},
        {"\"Os\":", "\"OsFeatures\": [\"x\"], \"Os\":", "unmodelled=[$.OsFeatures[0] = \"x\"]\n"},
    };
    check_changes(IMAGE, "docker/20.10-image.json", changes, COUNT(changes));
}

static void CP4_exit_statuses_are_numbers_from_0_to_255(void)
{
    static const struct {
        const char *body;
        int code; /* -1: refused */
    } rows[] = {
        {"{\"StatusCode\":0}", 0},
        {"{\"Error\":null,\"StatusCode\":7}", 7},
        {"{\"StatusCode\":255}\n", 255},
        {"{\"StatusCode\":256}", -1},
        {"{\"StatusCode\":-1}", -1},
        {"{\"StatusCode\":4294967296}", -1},
        {"{\"StatusCode\":18446744073709551615}", -1},
        {"{\"StatusCode\":18446744073709551616}", -1},
        {"{\"StatusCode\":1e2}", -1},
        {"{\"StatusCode\":1.0}", -1},
        {"{\"StatusCode\":\"0\"}", -1},
        {"{\"StatusCode\":null}", -1},
        {"{\"StatusCode\":NaN}", -1},
        {"{}", -1},
        {"", -1},
        {"0", -1},
        {"[0]", -1},
        {"{\"StatusCode\":0,}", -1},
        {"{\"StatusCode\":0} x", -1},
        {"{'StatusCode':0}", -1},
        {"{\"StatusCode\":0,\"StatusCode\":1}", -1},
        {"{\"Error\":{\"Message\":\"gone\"},\"StatusCode\":0}", -1},
        {"{\"Error\":{},\"StatusCode\":0}", -1},
        {"{\"Error\":\"gone\",\"StatusCode\":0}", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int code = -1;
        cordon_err err = CORDON_ERR_INIT;
        int rc = docker_decode_exit(rows[i].body, strlen(rows[i].body), &code, &err);
        TEST_RECORDF(rc == (rows[i].code < 0 ? -1 : 0) && code == rows[i].code &&
                         (rc == 0 || err.code == CORDON_ERR_PROTOCOL),
                     "%s: rc %d code %d %s", rows[i].body, rc, code, cordon_code_name(err.code));
    }
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void create_answers_hand_out_the_id_and_refuse_warnings(void)
{
    static const struct {
        const char *body;
        cordon_code code;
        bool has_id;
        const char *part;
    } rows[] = {
        {"{\"Id\":\"" HEX "\",\"Warnings\":[]}", CORDON_OK, true, ""},
        {"{\"Id\":\"" HEX "\",\"Warnings\":null}", CORDON_OK, true, ""},
        {"{\"Id\":\"" HEX "\",\"Warning\":\"\"}", CORDON_OK, true, ""},
        {"{\"Id\":\"" HEX "\",\"Warnings\":[\"no \\u001b[31mlimit\"]}", CORDON_ERR_WARNED, true,
         "no ?[31mlimit"},
        {"{\"Id\":\"" HEX "\",\"Warning\":\"twice\"}", CORDON_ERR_WARNED, true, "twice"},
        {"{\"Id\":\"" HEX "\",\"Warnings\":\"x\"}", CORDON_ERR_PROTOCOL, true, "$.Warnings"},
        {"{\"Id\":\"abc\"}", CORDON_ERR_INDETERMINATE, false, "no id"},
        {"{\"Id\":\"a\",}", CORDON_ERR_INDETERMINATE, false, ""},
        {"", CORDON_ERR_INDETERMINATE, false, ""},
        {"{\"Id\":null}", CORDON_ERR_INDETERMINATE, false, "$.Id"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        int rc = docker_decode_created(rows[i].body, strlen(rows[i].body), &id, &err);
        TEST_RECORDF(err.code == rows[i].code && rc == (rows[i].code == CORDON_OK ? 0 : -1) &&
                         (id != NULL) == rows[i].has_id && strstr(err.message, rows[i].part),
                     "%s: %s %.200s", rows[i].body, cordon_code_name(err.code), err.message);
    }
}

static void a_load_is_judged_by_its_objects(void)
{
    static const struct {
        const char *body;
        cordon_code code;
    } rows[] = {
        {"{\"stream\":\"Loaded image ID: sha256:1\\n\"}\r\n", CORDON_OK},
        {"{\"stream\":\"Loaded image: x:1\\n\"}\n", CORDON_OK},
        {"{\"status\":\"Loading layer\"}\r\n\r\n{\"stream\":\"Loaded image ID: x\"}", CORDON_OK},
        {"{\"errorDetail\":{\"message\":\"m\"},\"error\":\"m\"}\r\n", CORDON_ERR_ENGINE},
        {"{\"stream\":\"Loaded image ID: x\"}\n{\"error\":\"late\"}\n", CORDON_ERR_ENGINE},
        {"{\"errorDetail\":{\"message\":\"m\"}}", CORDON_ERR_ENGINE},
        {"{\"error\":null}", CORDON_ERR_ENGINE},
        {"", CORDON_ERR_PROTOCOL},
        {"{}", CORDON_ERR_PROTOCOL},
        {"{\"stream\":\"other\"}", CORDON_ERR_PROTOCOL},
        {"Loaded image", CORDON_ERR_PROTOCOL},
        {"{\"stream\":\"Loaded image ID: x\"", CORDON_ERR_PROTOCOL},
        {"{\"stream\":\"Loaded image ID: x\"} {}", CORDON_ERR_PROTOCOL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_err err = CORDON_ERR_INIT;
        int rc = docker_decode_load(rows[i].body, strlen(rows[i].body), &err);
        TEST_RECORDF(err.code == rows[i].code && rc == (err.code == CORDON_OK ? 0 : -1), "%s: %s",
                     rows[i].body, cordon_code_name(err.code));
    }
}

static void error_bodies_are_quoted_printably(void)
{
    static const struct {
        const char *body;
        const char *want;
    } rows[] = {
        {"{\"message\":\"No such container: x\"}\n", "No such container: x"},
        {"client version 1.11 is too old.\n\n", "client version 1.11 is too old."},
        {"\x1b[2J", "?[2J"},
        {"{\"msg\":\"x\"}", "{\"msg\":\"x\"}"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        docker_decode_error(rows[i].body, strlen(rows[i].body), text, sizeof text);
        CHECK_STR(text, rows[i].want);
    }
    char text[64];
    docker_decode_error(NULL, 0, text, sizeof text);
    CHECK_STR(text, "");
}

static void check_description(const char *sample)
{
    cordon_autofree char *json = sample_read(sample);
    cordon_auto(cordon_engine_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(json != NULL);
    REQUIRE_OK(docker_decode_info(json, strlen(json), &facts, &err), err);
    CHECK_STR(facts.os, "linux");
    CHECK_STR(facts.storage_driver, "overlay2");
    CHECK_STR(facts.runtime, "runc");
    CHECK_INT(facts.rootless, CORDON_FACT_NO);
    CHECK(facts.cgroup_version.known && facts.cgroup_version.value == 1);
    CHECK_INT(facts.can, CORDON_CAN_LOAD_ON_BASE | CORDON_CAN_LIMIT_MEMORY | CORDON_CAN_LIMIT_CPU |
                             CORDON_CAN_LIMIT_PIDS | CORDON_CAN_DEFAULT_SECCOMP |
                             CORDON_CAN_SHOW_SYSCTLS | CORDON_CAN_SHOW_NAMESPACES |
                             CORDON_CAN_TELL_UPLOADS);
    CHECK(facts.security.known && facts.security.count == 1);
    CHECK(facts.warnings.known && facts.warnings.count == 0);
}

static void a_daemon_is_described(void)
{
    check_description("docker/20.10-info.json");
    check_description("docker/26.1-info.json");
}

/* What is absent or changed there takes an ability away, never gives one. */
static void a_lesser_daemon_can_less(void)
{
    static const struct {
        const char *from;
        const char *to;
        unsigned lacks;
    } rows[] = {
        {"\"MemoryLimit\": true", "\"MemoryLimit\": false", CORDON_CAN_LIMIT_MEMORY},
        {"\"SwapLimit\": true", "\"SwapLimit\": false", CORDON_CAN_LIMIT_MEMORY},
        {"\"SwapLimit\": true", "\"SwapLimit\": null", CORDON_CAN_LIMIT_MEMORY},
        {"\"CpuCfsQuota\": true", "\"CpuCfsQuota_\": true", CORDON_CAN_LIMIT_CPU},
        {"\"CpuCfsPeriod\": true", "\"CpuCfsPeriod\": false", CORDON_CAN_LIMIT_CPU},
        {"\"PidsLimit\": true", "\"PidsLimit\": false", CORDON_CAN_LIMIT_PIDS},
        {"profile=default", "profile=unconfined", CORDON_CAN_DEFAULT_SECCOMP},
        {"profile=default", "profile=/etc/x.json", CORDON_CAN_DEFAULT_SECCOMP},
        {"\"Backing Filesystem\",\n   \"extfs\"",
         "\"driver-type\",\n   \"io.containerd.snapshotter.v1\"", CORDON_CAN_LOAD_ON_BASE},
        {"\"DriverStatus\"", "\"DriverStatus_\"", CORDON_CAN_LOAD_ON_BASE},
    };
    cordon_autofree char *json = sample_read("docker/20.10-info.json");
    REQUIRE(json != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_autofree char *mutant = sample_mutate(json, rows[i].from, rows[i].to);
        cordon_auto(cordon_engine_facts) facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(mutant != NULL);
        REQUIRE_OK(docker_decode_info(mutant, strlen(mutant), &facts, &err), err);
        TEST_RECORDF((facts.can & rows[i].lacks) == 0, "%s -> %s", rows[i].from, rows[i].to);
    }
}

static void a_daemon_without_seccomp_or_linux_is_unsupported(void)
{
    static const change rows[] = {
        {"name=seccomp,profile=default", "name=apparmor", "seccomp"},
        {"\"OSType\": \"linux\"", "\"OSType\": \"windows\"", "windows"},
        {"\"OSType\": \"linux\"", "\"OSType_\": \"linux\"", "linux"},
    };
    cordon_autofree char *json = sample_read("docker/20.10-info.json");
    REQUIRE(json != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_autofree char *mutant = sample_mutate(json, rows[i].from, rows[i].to);
        cordon_engine_facts facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(mutant != NULL);
        CHECK_FAILS(docker_decode_info(mutant, strlen(mutant), &facts, &err), err,
                    CORDON_ERR_UNSUPPORTED, rows[i].line);
    }
}

static void a_rootless_daemon_says_so(void)
{
    cordon_autofree char *json = sample_read("docker/20.10-info.json");
    REQUIRE(json != NULL);
    cordon_autofree char *mutant = sample_mutate(json, "\"name=seccomp,profile=default\"",
                                                 "\"name=seccomp,profile=builtin\","
                                                 "\"name=rootless\"");
    cordon_auto(cordon_engine_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(mutant != NULL);
    REQUIRE_OK(docker_decode_info(mutant, strlen(mutant), &facts, &err), err);
    CHECK_INT(facts.rootless, CORDON_FACT_YES);
    CHECK((facts.can & CORDON_CAN_DEFAULT_SECCOMP) != 0);
}

static void versions_are_read_and_podman_is_recognised(void)
{
    cordon_autofree char *json = sample_read("docker/20.10-version.json");
    REQUIRE(json != NULL);
    cordon_autofree char *podman =
        sample_mutate(json, "\"Name\": \"Engine\"", "\"Name\": \"Podman Engine\"");
    cordon_auto(docker_version) version = {0};
    cordon_auto(docker_version) other = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(podman != NULL);
    REQUIRE_OK(docker_decode_version(json, strlen(json), &version, &err), err);
    CHECK_STR(version.version, "20.10.24+dfsg1");
    CHECK_STR(version.os, "linux");
    CHECK_STR(version.architecture, "amd64");
    CHECK(!version.is_podman);
    REQUIRE_OK(docker_decode_version(podman, strlen(podman), &other, &err), err);
    CHECK(other.is_podman);
}

static void api_versions_are_one_dot_something(void)
{
    static const char *const bad[] = {"",     "1",     "1.",    "2.41",  "1.4x",   "v1.41",
                                      "1.-1", "1.041", "1.41 ", "1.4.1", "1.99999"};
    unsigned minor = 7;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(docker_decode_api("1.41", &minor, &err), err);
    CHECK_INT(minor, 41);
    for (size_t i = 0; i < COUNT(bad); i++) {
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(docker_decode_api(bad[i], &minor, &err), err, CORDON_ERR_PROTOCOL,
                    "not an API version");
    }
    CHECK_INT(minor, 41);
}

static void lists_carry_ids_names_and_labels(void)
{
    cordon_autofree char *containers = sample_read("docker/20.10-container-list.json");
    cordon_autofree char *networks = sample_read("docker/20.10-network-list.json");
    cordon_auto(cordon_list) c = {0};
    cordon_auto(cordon_list) n = {0};
    cordon_auto(cordon_list) empty = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(containers && networks);
    REQUIRE_OK(
        docker_decode_list(CORDON_OBJECT_CONTAINER, containers, strlen(containers), &c, &err), err);
    REQUIRE_INT(c.count, 1);
    CHECK_STR(c.items[0].name, "cordon-01j-step");
    CHECK_STR(cordon_fact_map_get(&c.items[0].labels, "cordon.role"), "step");
    REQUIRE_OK(docker_decode_list(CORDON_OBJECT_NETWORK, networks, strlen(networks), &n, &err),
               err);
    REQUIRE_INT(n.count, 1);
    CHECK_STR(n.items[0].name, "cordon-01j-vendor");
    CHECK_STR(cordon_fact_map_get(&n.items[0].labels, "cordon.role"), "vendor");
    REQUIRE_OK(docker_decode_list(CORDON_OBJECT_CONTAINER, "[]", 2, &empty, &err), err);
    CHECK_INT(empty.count, 0);
}

static void CP3_broken_lists_are_none(void)
{
    static const char *const bad[] = {"",
                                      "null",
                                      "{}",
                                      "[1]",
                                      "[{}]",
                                      "[{\"Id\":\"abc\"}]",
                                      "[{\"Id\":\"" HEX "\",\"Names\":1}]",
                                      "[{\"Id\":\"" HEX "\",\"Labels\":[]}]"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_list list = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(
            docker_decode_list(CORDON_OBJECT_CONTAINER, bad[i], strlen(bad[i]), &list, &err), err,
            CORDON_ERR_PROTOCOL, "");
        CHECK_INT(list.count, 0);
    }
}

static void recorded_events_are_told_apart(void)
{
    static const cordon_event_action want[] = {
        CORDON_EVENT_CREATE,     CORDON_EVENT_CONNECT, CORDON_EVENT_START,  CORDON_EVENT_DIE,
        CORDON_EVENT_DISCONNECT, CORDON_EVENT_REMOVE,  CORDON_EVENT_REMOVE,
    };
    cordon_autofree char *text = sample_read("docker/20.10-events.ndjson");
    size_t seen = 0;
    REQUIRE(text != NULL);
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line && *line != '\0'; line = strsep(&rest, "\n")) {
        cordon_auto(cordon_event) event = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(docker_decode_event(line, strlen(line), &event, &err), err);
        /* creating and removing the network itself are of the network, too */
        if (event.type == CORDON_OBJECT_NETWORK && event.action == CORDON_EVENT_CREATE)
            continue;
        REQUIRE(seen < COUNT(want));
        CHECK_INT(event.action, want[seen]);
        bool joins =
            event.action == CORDON_EVENT_CONNECT || event.action == CORDON_EVENT_DISCONNECT;
        CHECK((event.container_id != NULL) == joins);
        CHECK(event.exit_code.known == (event.action == CORDON_EVENT_DIE));
        if (event.action == CORDON_EVENT_DIE)
            CHECK_INT(event.exit_code.value, 3);
        if (event.type == CORDON_OBJECT_CONTAINER)
            CHECK_STR(cordon_fact_map_get(&event.labels, "cordon.role"), "step");
        seen++;
    }
    CHECK_INT(seen, COUNT(want));
}

static void foreign_actions_are_never_expected_ones(void)
{
    static const struct {
        const char *action;
        cordon_event_action want;
    } rows[] = {
        {"exec_create: /bin/sh", CORDON_EVENT_EXEC},
        {"exec_start: x", CORDON_EVENT_EXEC},
        {"exec_die", CORDON_EVENT_EXEC},
        {"archive-path", CORDON_EVENT_COPY},
        {"extract-to-dir", CORDON_EVENT_COPY},
        {"update", CORDON_EVENT_UPDATE},
        {"rename", CORDON_EVENT_RENAME},
        {"pause", CORDON_EVENT_PAUSE},
        {"oom", CORDON_EVENT_OOM},
        {"detach", CORDON_EVENT_DETACH},
        {"starting", CORDON_EVENT_OTHER},
        {"START", CORDON_EVENT_OTHER},
        {"", CORDON_EVENT_OTHER},
        {"health_status: healthy", CORDON_EVENT_OTHER},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_auto(cordon_event) event = {0};
        cordon_err err = CORDON_ERR_INIT;
        char line[256];
        (void)snprintf(line, sizeof line,
                       "{\"Type\":\"container\",\"Action\":\"%s\",\"Actor\":{\"ID\":\"x\"}}",
                       rows[i].action);
        REQUIRE_OK(docker_decode_event(line, strlen(line), &event, &err), err);
        CHECK_INT(event.action, rows[i].want);
        CHECK_STR(event.raw_action, rows[i].action);
    }
}

static void broken_events_are_errors(void)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"Type\":\"container\",\"Action\":\"die\"}",
        "{\"Type\":1,\"Action\":\"die\",\"Actor\":{\"ID\":\"x\"}}",
        "{\"Type\":\"container\",\"Action\":\"die\",\"Actor\":{\"ID\":\"x\",\"Attributes\":"
        "{\"exitCode\":\"256\"}}}",
        "{\"Type\":\"container\",\"Action\":\"die\",\"Actor\":{\"ID\":\"x\",\"Attributes\":"
        "{\"exitCode\":\"-1\"}}}",
        "{\"Type\":\"container\",\"Action\":\"die\",\"Actor\":{\"ID\":\"x\",\"Attributes\":"
        "{\"exitCode\":\"0x0\"}}}",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_event event = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(docker_decode_event(bad[i], strlen(bad[i]), &event, &err), err,
                    CORDON_ERR_PROTOCOL, "");
    }
}

CORDON_TEST_MAIN("docker_answers", TEST(changed_networks_show_it), TEST(changed_images_show_it),
                 TEST(CP4_exit_statuses_are_numbers_from_0_to_255),
                 TEST(create_answers_hand_out_the_id_and_refuse_warnings),
                 TEST(a_load_is_judged_by_its_objects), TEST(error_bodies_are_quoted_printably),
                 TEST(a_daemon_is_described), TEST(a_lesser_daemon_can_less),
                 TEST(a_daemon_without_seccomp_or_linux_is_unsupported),
                 TEST(a_rootless_daemon_says_so), TEST(versions_are_read_and_podman_is_recognised),
                 TEST(api_versions_are_one_dot_something), TEST(lists_carry_ids_names_and_labels),
                 TEST(CP3_broken_lists_are_none), TEST(recorded_events_are_told_apart),
                 TEST(foreign_actions_are_never_expected_ones), TEST(broken_events_are_errors))

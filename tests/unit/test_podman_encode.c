/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman encoders: what is said explicitly, what is never said, and what cannot be said.
 */
#include "podman_internal.h"
#include "support/test.h"

#include "kit/jsonr.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define ID_A "1902b0fbd4b784c2f5511bf5b9987973bb9a542b96b7808391f9659f6de7dd84"
#define ID_B "bf37e58d5c016a09ce1447d5ddd7c8cfe56f28b01125c08ba39ecd3fd051847e"

static const char *const labels[] = {"cordon.run=1", "cordon.role=step"};
static const char *const entrypoint[] = {"/.cordon/cordon-guard"};
static const char *const command[] = {"gate", "a \"b\"", ""};
static const char *const environment[] = {"PATH=/", "EMPTY=", "EQ=a=b"};
static const char *const dns[] = {"127.0.0.1"};
static const char *const sysctls[] = {"net.ipv4.ip_forward=0"};
static const cordon_mount_spec mounts[] = {
    {.type = CORDON_MOUNT_TMPFS,
     .source = "",
     .target = "/tmp",
     .no_exec = true,
     .size_bytes = 16777216,
     .mode_octal = 01777},
    {.type = CORDON_MOUNT_BIND, .source = "/srv/tree", .target = "/worktree", .read_only = true},
    {.type = CORDON_MOUNT_IMAGE, .source = ID_B, .target = "/.cordon", .read_only = true},
};
static const cordon_endpoint_spec endpoints[] = {
    {.network_id = ID_A, .network_name = "n1", .ipv4 = "10.0.0.2", .interface = "vendor0"},
    {.network_id = ID_B, .network_name = "n2"},
};

static cordon_container_spec step_spec(void)
{
    return (cordon_container_spec){
        .name = "step",
        .image_id = ID_A,
        .labels = {labels, COUNT(labels)},
        .entrypoint = {entrypoint, COUNT(entrypoint)},
        .command = {command, COUNT(command)},
        .environment = {environment, COUNT(environment)},
        .user = "1000:1000",
        .working_dir = "/",
        .hostname = "step",
        .open_stdin = true,
        .keep_log = true,
        .userns = CORDON_USERNS_HOST,
        .mounts = mounts,
        .mount_count = COUNT(mounts),
        .endpoints = endpoints,
        .endpoint_count = COUNT(endpoints),
        .dns_servers = {dns, COUNT(dns)},
        .sysctls = {sysctls, COUNT(sysctls)},
        .limits = {268435456, 1500000000, 64, 1024, 4096, 67108864},
        .stop_timeout_s = 10,
        .oom_score_adj = 500,
    };
}

/* The body, parsed; valid until it is freed. */
static cordon_json_doc *encode(const cordon_container_spec *spec, char **ret_text)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) out = cordon_buf_make(PODMAN_BODY_MAX);
    cordon_json_doc *doc = NULL;
    if (!CHECK_OK(podman_encode_container(spec, &out, &err), err) ||
        !CHECK_OK(cordon_json_parse(out.data, out.length, out.length, 0, &doc, &err), err) ||
        !CHECK_OK(cordon_buf_take(&out, ret_text, NULL, &err), err))
        return NULL;
    return doc;
}

static void what_is_off_is_said_to_be_off(void)
{
    static const char *const parts[] = {
        "\"privileged\":false",
        "\"terminal\":false",
        "\"env_host\":false",
        "\"httpproxy\":false",
        "\"unsetenvall\":true",
        "\"init\":false",
        "\"systemd\":\"false\"",
        "\"sdnotifyMode\":\"ignore\"",
        "\"cap_add\":[]",
        "\"cap_drop\":[\"all\"]",
        "\"no_new_privileges\":true",
        "\"seccomp_policy\":\"default\"",
        "\"pidns\":{\"nsmode\":\"private\"}",
        "\"ipcns\":{\"nsmode\":\"private\"}",
        "\"utsns\":{\"nsmode\":\"private\"}",
        "\"cgroupns\":{\"nsmode\":\"private\"}",
        "\"userns\":{\"nsmode\":\"host\"}",
        "\"read_only_filesystem\":true",
        "\"read_write_tmpfs\":false",
        "\"image_volume_mode\":\"ignore\"",
        "\"volumes\":[]",
        "\"volumes_from\":[]",
        "\"devices\":[]",
        "\"secrets\":[]",
        "\"groups\":[]",
        "\"use_image_hosts\":true",
        "\"publish_image_ports\":false",
        "\"portmappings\":[]",
        "\"expose\":{}",
        "\"restart_policy\":\"no\"",
        "\"remove\":false",
        "\"healthconfig\":{\"Test\":[\"NONE\"]}",
        "\"log_configuration\":{\"driver\":\"k8s-file\",\"size\":1048576}",
        "\"dns_search\":[\".\"]",
        "\"umask\":\"0022\"",
    };
    cordon_container_spec spec = step_spec();
    cordon_autofree char *text = NULL;
    cordon_auto_ptr(cordon_json_doc) doc = encode(&spec, &text);
    REQUIRE(doc != NULL);
    for (size_t i = 0; i < COUNT(parts); i++)
        CHECK_CONTAINS(text, parts[i]);
}

static void the_specification_is_said_in_libpods_words(void)
{
    static const char *const parts[] = {
        "\"name\":\"step\"",
        "\"image\":\"" ID_A "\"",
        "\"labels\":{\"cordon.run\":\"1\",\"cordon.role\":\"step\"}",
        "\"entrypoint\":[\"/.cordon/cordon-guard\"]",
        "\"command\":[\"gate\",\"a \\\"b\\\"\",\"\"]",
        "\"env\":{\"PATH\":\"/\",\"EMPTY\":\"\",\"EQ\":\"a=b\"}",
        "\"user\":\"1000:1000\"",
        "\"work_dir\":\"/\"",
        "\"stdin\":true",
        "\"stop_signal\":15",
        "\"stop_timeout\":10",
        "\"netns\":{\"nsmode\":\"bridge\"}",
        "\"" ID_A "\":{\"static_ips\":[\"10.0.0.2\"],\"interface_name\":\"vendor0\"}",
        "\"" ID_B "\":{}",
        "\"dns_server\":[\"127.0.0.1\"]",
        "\"sysctl\":{\"net.ipv4.ip_forward\":\"0\"}",
        "{\"type\":\"bind\",\"source\":\"/srv/tree\",\"destination\":\"/worktree\","
        "\"options\":[\"bind\",\"rprivate\",\"ro\",\"nosuid\",\"nodev\"]}",
        "\"destination\":\"/tmp\",\"options\":[\"rw\",\"nosuid\",\"nodev\",\"noexec\","
        "\"size=16777216\",\"mode=1777\",\"notmpcopyup\"]}",
        "\"image_volumes\":[{\"Source\":\"" ID_B "\",\"Destination\":\"/.cordon\","
        "\"ReadWrite\":false}]",
        "\"memory\":{\"limit\":268435456,\"swap\":268435456}",
        "\"cpu\":{\"quota\":150000,\"period\":100000}",
        "\"pids\":{\"limit\":64}",
        "{\"type\":\"nofile\",\"soft\":1024,\"hard\":1024}",
        "{\"type\":\"nproc\",\"soft\":4096,\"hard\":4096}",
        "{\"type\":\"core\",\"soft\":0,\"hard\":0}",
        "\"shm_size\":67108864",
        "\"oom_score_adj\":500",
    };
    cordon_container_spec spec = step_spec();
    cordon_autofree char *text = NULL;
    cordon_auto_ptr(cordon_json_doc) doc = encode(&spec, &text);
    REQUIRE(doc != NULL);
    for (size_t i = 0; i < COUNT(parts); i++)
        CHECK_CONTAINS(text, parts[i]);
}

/* Rootless Podman on cgroup v1 answers even an empty object with a warning. */
static void limits_that_nobody_asked_for_are_not_mentioned(void)
{
    cordon_container_spec spec = step_spec();
    cordon_autofree char *text = NULL;
    spec.limits.memory_bytes = 0;
    spec.limits.nano_cpus = 0;
    spec.limits.pids = 0;
    cordon_auto_ptr(cordon_json_doc) doc = encode(&spec, &text);
    REQUIRE(doc != NULL);
    CHECK(strstr(text, "resource_limits") == NULL);
    CHECK_CONTAINS(text, "\"r_limits\":[{\"type\":\"nofile\"");
}

static void without_networks_and_servers_there_is_no_bridge_and_the_engines_resolver(void)
{
    cordon_container_spec spec = step_spec();
    cordon_autofree char *text = NULL;
    spec.endpoint_count = 0;
    spec.dns_servers.count = 0;
    spec.userns = CORDON_USERNS_KEEP_ID;
    cordon_auto_ptr(cordon_json_doc) doc = encode(&spec, &text);
    REQUIRE(doc != NULL);
    CHECK_CONTAINS(text, "\"netns\":{\"nsmode\":\"none\"},\"networks\":{}");
    CHECK(strstr(text, "dns_server") == NULL);
    CHECK_CONTAINS(text, "\"use_image_resolve_conf\":false");
    CHECK_CONTAINS(text, "\"userns\":{\"nsmode\":\"keep-id\",\"value\":\"uid=1000,gid=1000\"}");
}

static int refused(const cordon_container_spec *spec, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(PODMAN_BODY_MAX);
    return podman_encode_container(spec, &out, err);
}

static void what_cannot_be_said_exactly_is_invalid(void)
{
    static const char *const twice[] = {"A=1", "B=2", "A=3"};
    static const char *const bare[] = {"A"};
    static const cordon_endpoint_spec by_name[] = {{.network_id = "n1", .network_name = "n1"}};
    cordon_mount_spec bad = mounts[2];
    cordon_container_spec specs[9];
    const char *parts[] = {"given twice",   "not KEY=VALUE", "not a full id",
                           "not a full id", "read-only",     "multiples",
                           "a volume's",    "below zero",    "user namespace"};
    for (size_t i = 0; i < COUNT(specs); i++)
        specs[i] = step_spec();
    specs[0].environment = (cordon_texts){twice, COUNT(twice)};
    specs[1].labels = (cordon_texts){bare, COUNT(bare)};
    specs[2].image_id = "bb:latest";
    specs[3].endpoints = by_name;
    specs[3].endpoint_count = 1;
    bad.read_only = false;
    specs[4].mounts = &bad;
    specs[4].mount_count = 1;
    specs[5].limits.nano_cpus = 1;
    cordon_mount_spec volume = {.type = CORDON_MOUNT_VOLUME, .source = "../v", .target = "/v"};
    specs[6].mounts = &volume;
    specs[6].mount_count = 1;
    specs[7].limits.pids = -1;
    specs[8].userns = (cordon_userns)0;
    for (size_t i = 0; i < COUNT(specs); i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(refused(&specs[i], &err), err, CORDON_ERR_INVALID, parts[i]);
    }
}

static void an_internal_network_asks_for_no_gateway_and_no_names(void)
{
    cordon_network_spec spec = {.name = "n",
                                .subnet = "10.0.0.0/29",
                                .internal = true,
                                .no_gateway = true,
                                .isolated = true,
                                .labels = {labels, COUNT(labels)}};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) out = cordon_buf_make(PODMAN_BODY_MAX);
    REQUIRE_OK(podman_encode_network(&spec, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out),
              "{\"name\":\"n\",\"driver\":\"bridge\",\"internal\":true,\"dns_enabled\":false,"
              "\"ipv6_enabled\":false,\"subnets\":[{\"subnet\":\"10.0.0.0/29\"}],"
              "\"options\":{\"isolate\":\"true\"},"
              "\"labels\":{\"cordon.run\":\"1\",\"cordon.role\":\"step\"}}");
}

static void no_gateway_goes_with_internal_alone(void)
{
    cordon_network_spec spec = {.name = "n", .subnet = "10.0.0.0/29", .no_gateway = true};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) out = cordon_buf_make(PODMAN_BODY_MAX);
    CHECK_FAILS(podman_encode_network(&spec, &out, &err), err, CORDON_ERR_INVALID, "gateway");
}

CORDON_TEST_MAIN("podman_encode", TEST(what_is_off_is_said_to_be_off),
                 TEST(the_specification_is_said_in_libpods_words),
                 TEST(limits_that_nobody_asked_for_are_not_mentioned),
                 TEST(without_networks_and_servers_there_is_no_bridge_and_the_engines_resolver),
                 TEST(what_cannot_be_said_exactly_is_invalid),
                 TEST(an_internal_network_asks_for_no_gateway_and_no_names),
                 TEST(no_gateway_goes_with_internal_alone))

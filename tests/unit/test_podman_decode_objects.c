/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman decoders of everything but containers: networks, lists, images, what Podman is,
 * events.
 */
#include "podman_samples.h"

#define STEP_ID    "bf37e58d5c016a09ce1447d5ddd7c8cfe56f28b01125c08ba39ecd3fd051847e"
#define NETWORK_ID "1902b0fbd4b784c2f5511bf5b9987973bb9a542b96b7808391f9659f6de7dd84"
#define NETWORK(internal, gateway, extra)                                                          \
    "{\"name\":\"n1\",\"id\":\"" NETWORK_ID "\",\"driver\":\"bridge\","                            \
    "\"network_interface\":\"podman1\",\"created\":\"2026-11-29T22:39:56Z\","                      \
    "\"subnets\":[{\"subnet\":\"10.232.7.0/29\"" gateway "}],\"ipv6_enabled\":false,"              \
    "\"internal\":" internal ",\"dns_enabled\":false,\"labels\":{\"a\":\"b\"},"                    \
    "\"options\":{\"isolate\":\"true\"},\"ipam_options\":{\"driver\":\"host-local\"}" extra "}"

static int decode_network(const char *text, cordon_network_facts *ret, cordon_err *err)
{
    return podman_decode_network(text, strlen(text), ret, err);
}

static void an_internal_network_has_no_address_of_the_hosts(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_network_facts) f = {0};
    REQUIRE_OK(decode_network(NETWORK("true", "", ""), &f, &err), err);
    CHECK_STR(f.id, NETWORK_ID);
    CHECK_STR(f.name, "n1");
    CHECK_STR(f.driver, "bridge");
    CHECK_INT(f.internal, CORDON_FACT_YES);
    CHECK_INT(f.host_address, CORDON_FACT_NO);
    CHECK_INT(f.isolated, CORDON_FACT_YES);
    CHECK_INT(f.dns, CORDON_FACT_NO);
    CHECK_INT(f.ipv6, CORDON_FACT_NO);
    CHECK_STR(joined(&f.subnets), "10.232.7.0/29");
    CHECK_STR(joined(&f.gateways), "");
    CHECK_STR(joined(&f.options), "");
    CHECK_STR(joined(&f.labels), "a=b");
    CHECK(!f.endpoints.known);
    CHECK_STR(joined(&f.unmodelled), "");
}

static void a_network_with_a_gateway_or_a_way_out_shows_it(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_network_facts) egress = {0};
    cordon_auto(cordon_network_facts) odd = {0};
    cordon_auto(cordon_network_facts) extra = {0};
    REQUIRE_OK(decode_network(NETWORK("false", ",\"gateway\":\"10.232.7.1\"", ""), &egress, &err),
               err);
    CHECK_INT(egress.host_address, CORDON_FACT_YES);
    CHECK_STR(joined(&egress.gateways), "10.232.7.1");
    REQUIRE_OK(decode_network(NETWORK("false", "", ""), &odd, &err), err);
    CHECK_INT(odd.host_address, CORDON_FACT_UNKNOWN);
    REQUIRE_OK(decode_network(NETWORK("true", ",\"lease_range\":{\"start_ip\":\"10.232.7.4\"}",
                                      ",\"network_dns_servers\":[\"1.1.1.1\"]"),
                              &extra, &err),
               err);
    CHECK_CONTAINS(joined(&extra.unmodelled), "$.subnets[0].lease_range.start_ip");
    CHECK_CONTAINS(joined(&extra.unmodelled), "$.network_dns_servers[0]");
}

static void check_network_5(const char *name, cordon_fact_bool internal, const char *gateways,
                            size_t members)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_network_facts) f = {0};
    cordon_autofree char *text = sample(name);
    REQUIRE(text != NULL);
    REQUIRE_OK(decode_network(text, &f, &err), err);
    CHECK_INT(f.internal, internal);
    CHECK_INT(f.isolated, CORDON_FACT_YES);
    CHECK_INT(f.dns, CORDON_FACT_NO);
    CHECK_STR(joined(&f.gateways), gateways);
    CHECK(f.endpoints.known);
    CHECK_INT(f.endpoints.count, members);
    CHECK_STR(joined(&f.unmodelled), "");
}

/* Those that run; podman_network.c adds the others. */
static void podman_5_tells_a_networks_members_itself(void)
{
    check_network_5("5.4-network.json", CORDON_FACT_NO, "10.213.88.201", 0);
    check_network_5("5.4-network-in-use.json", CORDON_FACT_YES, "", 2);
}

/* The engine's own driver puts a volume there; whatever lies elsewhere is not it. */
static void a_volume_lies_in_a_folder_of_its_own_name(void)
{
    static const struct {
        const char *name;
        const char *place;
        bool good;
    } rows[] = {
        {"v", "/srv/volumes/v/_data", true},
        {"v", "/v/_data", true},
        {"v", "/srv/volumes/w/_data", false},
        {"v", "/srv/wv/_data", false},
        {"v", "/srv/v/_data/", false},
        {"v", "/srv/v/_dat", false},
        {"v", "srv/v/_data", false},
        {"v", "/srv/../v/_data", false},
        {"v", "/_data", false},
        {"v", "", false},
        {"v", NULL, false},
        {"", "//_data", false},
        {NULL, "/v/_data", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        TEST_RECORDF(cordon_volume_is_place(rows[i].name, rows[i].place) == rows[i].good,
                     "row %zu: %s", i, rows[i].place ? rows[i].place : "(null)");
}

static void a_volume_that_lies_elsewhere_is_unmodelled(void)
{
    static const char volume[] = "{\"Name\":\"v\",\"Mountpoint\":\"/etc\",\"Driver\":\"local\"}";
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_volume_facts) f = {0};
    cordon_auto(cordon_volume_facts) none = {0};
    REQUIRE_OK(podman_decode_volume(volume, sizeof volume - 1, &f, &err), err);
    CHECK(f.place == NULL);
    CHECK_STR(joined(&f.unmodelled), "$.Mountpoint = \"/etc\"");
    CHECK_FAILS(podman_decode_volume("{\"Name\":\"v\"}", 12, &none, &err), err, CORDON_ERR_PROTOCOL,
                "Mountpoint");
}

static void lists_hold_full_ids_names_and_labels(void)
{
    static const char containers[] = "[{\"Id\":\"" NETWORK_ID "\",\"Names\":[\"c1\"],"
                                     "\"Labels\":{\"k\":\"v\"},\"State\":\"created\"},"
                                     "{\"Id\":\"" STEP_ID "\",\"Names\":[\"c2\"],\"Labels\":null}]";
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_list) list = {0};
    cordon_auto(cordon_fact_list) ids = {0};
    REQUIRE_OK(
        podman_decode_list(containers, sizeof containers - 1, CORDON_OBJECT_CONTAINER, &list, &err),
        err);
    REQUIRE_INT(list.count, 2);
    CHECK_STR(list.items[0].id, NETWORK_ID);
    CHECK_STR(list.items[0].name, "c1");
    CHECK_STR(joined(&list.items[0].labels), "k=v");
    CHECK_STR(joined(&list.items[1].labels), "");
    REQUIRE_OK(podman_decode_members(containers, sizeof containers - 1, &ids, &err), err);
    CHECK_INT(ids.count, 2);
    CHECK_STR(ids.items[0], NETWORK_ID);
    CHECK_FAILS(podman_decode_members("[{\"Id\":\"c1\"}]", 13, &ids, &err), err,
                CORDON_ERR_PROTOCOL, "no id");
}

static void an_image_shows_layers_and_an_empty_configuration(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_image_facts) f = {0};
    cordon_autofree char *text = sample("4.3-image.json");
    REQUIRE(text != NULL);
    REQUIRE_OK(podman_decode_image(text, strlen(text), &f, &err), err);
    CHECK_STR(f.os, "linux");
    CHECK_STR(f.architecture, "amd64");
    CHECK_INT(f.layers.count, 1);
    CHECK_INT(f.digests.count, 1);
    CHECK_STR(f.user, "");
    CHECK_STR(joined(&f.volumes), "");
    CHECK_STR(joined(&f.unmodelled), "");
}

static int decode_info(const char *name, const char *old, const char *new, cordon_engine_facts *ret,
                       cordon_err *err)
{
    cordon_autofree char *text = changed(name, old, new);
    return podman_decode_info(text ? text : "", text ? strlen(text) : 0, 4, ret, err);
}

static void info_tells_what_can_be_limited(void)
{
    const unsigned limits = CORDON_CAN_LIMIT_MEMORY | CORDON_CAN_LIMIT_CPU | CORDON_CAN_LIMIT_PIDS;
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_engine_facts) root = {0};
    cordon_auto(cordon_engine_facts) less = {0};
    REQUIRE_OK(decode_info("4.3-info.json", "{", "{", &root, &err), err);
    REQUIRE_OK(decode_info("4.3-rootless-info.json", "{", "{", &less, &err), err);
    CHECK_INT(root.rootless, CORDON_FACT_NO);
    CHECK_INT(less.rootless, CORDON_FACT_YES);
    CHECK_INT(root.can & limits, limits);
    CHECK_INT(less.can & limits, 0);
    CHECK((root.can & CORDON_CAN_KEEP_ID) == 0);
    CHECK((less.can & CORDON_CAN_KEEP_ID) != 0);
    CHECK((root.can & CORDON_CAN_DEFAULT_SECCOMP) != 0);
    CHECK((root.can & CORDON_CAN_SHOW_NAMESPACES) == 0);
    CHECK((root.can & CORDON_CAN_MOUNT_IMAGES) != 0);
    CHECK_STR(root.storage_root, "/var/lib/containers/storage");
    CHECK_INT(root.cgroup_version.value, 1);
}

static void rootless_on_cgroup_v2_limits_what_is_delegated(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_engine_facts) f = {0};
    cordon_autofree char *v2 =
        changed("4.3-rootless-info.json", "\"cgroupVersion\": \"v1\"", "\"cgroupVersion\": \"v2\"");
    REQUIRE(v2 != NULL);
    char *place = strstr(v2, "\"cgroupControllers\": []");
    REQUIRE(place != NULL);
    char text[32768];
    (void)snprintf(text, sizeof text, "%.*s\"cgroupControllers\": [\"memory\", \"pids\"]%s",
                   (int)(place - v2), v2, place + strlen("\"cgroupControllers\": []"));
    REQUIRE_OK(podman_decode_info(text, strlen(text), 4, &f, &err), err);
    CHECK((f.can & CORDON_CAN_LIMIT_MEMORY) != 0);
    CHECK((f.can & CORDON_CAN_LIMIT_PIDS) != 0);
    CHECK((f.can & CORDON_CAN_LIMIT_CPU) == 0);
}

static void an_unfit_podman_is_refused_by_name(void)
{
    static const change changes[] = {
        {"4.3-info.json", "\"networkBackend\": \"netavark\"", "\"networkBackend\": \"cni\"", "cni"},
        {"4.3-info.json", "\"seccompEnabled\": true", "\"seccompEnabled\": false", "seccomp"},
        {"4.3-info.json", "\"seccompEnabled\"", "\"XseccompEnabled\"", "seccomp"},
        {"4.3-info.json", "\"os\": \"linux\"", "\"os\": \"freebsd\"", "freebsd"},
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_engine_facts) f = {0};
        CHECK_FAILS(decode_info(changes[i].sample, changes[i].old, changes[i].new, &f, &err), err,
                    CORDON_ERR_UNSUPPORTED, changes[i].part);
    }
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_engine_facts) own = {0};
    REQUIRE_OK(decode_info("4.3-info.json", "/usr/share/containers/seccomp.json", "unconfined",
                           &own, &err),
               err);
    CHECK((own.can & CORDON_CAN_DEFAULT_SECCOMP) == 0);
}

#define EVENT(type, action, id, attributes)                                                        \
    "{\"status\":\"" action "\",\"Type\":\"" type "\",\"Action\":\"" action                        \
    "\",\"Actor\":{\"ID\":\"" id "\",\"Attributes\":{" attributes "}},\"scope\":\"local\"}"

static int decode_event(const char *text, cordon_event *ret, cordon_err *err)
{
    return podman_decode_event(text, strlen(text), ret, err);
}

static void events_carry_action_ids_labels_and_exit_status(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_event) died = {0};
    cordon_auto(cordon_event) join = {0};
    cordon_auto(cordon_event) odd = {0};
    REQUIRE_OK(decode_event(EVENT("container", "died", STEP_ID,
                                  "\"containerExitCode\":\"7\",\"image\":\"i\",\"name\":\"n\","
                                  "\"podId\":\"\",\"k\":\"v\""),
                            &died, &err),
               err);
    CHECK_INT(died.type, CORDON_OBJECT_CONTAINER);
    CHECK_INT(died.action, CORDON_EVENT_DIE);
    CHECK_STR(died.id, STEP_ID);
    CHECK(died.exit_code.known && died.exit_code.value == 7);
    CHECK_STR(joined(&died.labels), "k=v");
    REQUIRE_OK(decode_event(EVENT("network", "connect", STEP_ID, "\"name\":\"n\""), &join, &err),
               err);
    CHECK_INT(join.action, CORDON_EVENT_CONNECT);
    CHECK_STR(join.container_id, STEP_ID);
    CHECK_STR(join.id, "");
    REQUIRE_OK(decode_event(EVENT("container", "sing\\u001b", STEP_ID, ""), &odd, &err), err);
    CHECK_INT(odd.action, CORDON_EVENT_OTHER);
    CHECK_STR(odd.raw_action, "sing?");
}

static void an_event_with_an_absurd_exit_status_is_none(void)
{
    static const char *const bad[] = {
        EVENT("container", "died", STEP_ID, "\"containerExitCode\":\"256\""),
        EVENT("container", "died", STEP_ID, "\"containerExitCode\":\"-1\""),
        EVENT("container", "died", STEP_ID, "\"containerExitCode\":\"1e2\""),
        EVENT("container", "died", STEP_ID, "\"containerExitCode\":7"),
        "{\"Type\":\"container\",\"Action\":\"died\"}",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_event) event = {0};
        CHECK_FAILS(decode_event(bad[i], &event, &err), err, CORDON_ERR_PROTOCOL, "");
    }
}

CORDON_TEST_MAIN(
    "podman_decode_objects", TEST(an_internal_network_has_no_address_of_the_hosts),
    TEST(a_network_with_a_gateway_or_a_way_out_shows_it),
    TEST(podman_5_tells_a_networks_members_itself), TEST(a_volume_lies_in_a_folder_of_its_own_name),
    TEST(a_volume_that_lies_elsewhere_is_unmodelled), TEST(lists_hold_full_ids_names_and_labels),
    TEST(an_image_shows_layers_and_an_empty_configuration), TEST(info_tells_what_can_be_limited),
    TEST(rootless_on_cgroup_v2_limits_what_is_delegated), TEST(an_unfit_podman_is_refused_by_name),
    TEST(events_carry_action_ids_labels_and_exit_status),
    TEST(an_event_with_an_absurd_exit_status_is_none))

/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership and normal forms of facts: filled to the brim, half built, and freed (leak check). */
#include "facts.h"
#include "engine.h"

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void zeroed_facts_are_unknown_and_clear_to_nothing(void)
{
    cordon_container_facts facts = {0};
    CHECK_INT(facts.privileged, CORDON_FACT_UNKNOWN);
    CHECK_INT(facts.state, CORDON_STATE_UNKNOWN);
    CHECK(!facts.labels.known && !facts.mounts.known && !facts.memory_bytes.known);
    CHECK(facts.id == NULL);
    cordon_container_facts_clear(&facts);
    cordon_container_facts_clear(&facts);
    CHECK(facts.id == NULL);
}

static void adding_keeps_order_and_makes_a_list_known(void)
{
    cordon_auto(cordon_fact_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    static const char *const words[] = {"b", "a", "d", "c", "e", "a"};
    for (size_t i = 0; i < COUNT(words); i++)
        REQUIRE_OK(cordon_fact_list_add(&list, words[i], &err), err);
    REQUIRE_INT(list.count, COUNT(words));
    CHECK(list.known);
    for (size_t i = 0; i < COUNT(words); i++)
        CHECK_STR(list.items[i], words[i]);
    CHECK(list.items[0] != words[0]);
}

static void an_empty_known_list_is_not_an_unknown_one(void)
{
    cordon_auto(cordon_fact_list) list = {0};
    CHECK(!list.known);
    cordon_fact_list_known(&list);
    CHECK(list.known);
    CHECK_INT(list.count, 0);
    cordon_fact_list_sort(&list);
    CHECK_INT(list.count, 0);
}

static void sorting_is_by_bytes(void)
{
    cordon_auto(cordon_fact_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    static const char *const words[] = {"b", "B", "", "ab", "\xc3\xa9", "a"};
    static const char *const sorted[] = {"", "B", "a", "ab", "b", "\xc3\xa9"};
    for (size_t i = 0; i < COUNT(words); i++)
        REQUIRE_OK(cordon_fact_list_add(&list, words[i], &err), err);
    cordon_fact_list_sort(&list);
    for (size_t i = 0; i < COUNT(sorted); i++)
        CHECK_STR(list.items[i], sorted[i]);
}

static void formatted_items_are_whole(void)
{
    cordon_auto(cordon_fact_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_fact_list_addf(&list, &err, "%s=%d:%d", "nofile", 1024, 2048), err);
    char wide[5001];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    REQUIRE_OK(cordon_fact_list_addf(&list, &err, "%s", wide), err);
    CHECK_STR(list.items[0], "nofile=1024:2048");
    CHECK_INT(strlen(list.items[1]), 5000);
}

static void a_list_without_end_is_refused(void)
{
    cordon_auto(cordon_fact_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    for (size_t i = 0; i < 65536; i++)
        TEST_OR_RETURN(cordon_fact_list_add(&list, "", &err) == 0 || CHECK(false));
    CHECK_FAILS(cordon_fact_list_add(&list, "", &err), err, CORDON_ERR_PROTOCOL, "more than");
    CHECK_INT(list.count, 65536);
}

static void a_map_finds_whole_keys_only(void)
{
    cordon_auto(cordon_fact_list) map = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_fact_list_add(&map, "run.id=7", &err), err);
    REQUIRE_OK(cordon_fact_list_add(&map, "run=a=b", &err), err);
    REQUIRE_OK(cordon_fact_list_add(&map, "empty=", &err), err);
    REQUIRE_OK(cordon_fact_list_add(&map, "bare", &err), err);
    CHECK_STR(cordon_fact_map_get(&map, "run"), "a=b");
    CHECK_STR(cordon_fact_map_get(&map, "run.id"), "7");
    CHECK_STR(cordon_fact_map_get(&map, "empty"), "");
    CHECK(cordon_fact_map_get(&map, "bare") == NULL);
    CHECK(cordon_fact_map_get(&map, "ru") == NULL);
    CHECK(cordon_fact_map_get(&map, "run.i") == NULL);
}

static void a_text_is_replaced_even_by_itself(void)
{
    cordon_autofree char *slot = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_fact_text_set(&slot, "one", &err), err);
    REQUIRE_OK(cordon_fact_text_set(&slot, slot + 1, &err), err);
    CHECK_STR(slot, "ne");
    REQUIRE_OK(cordon_fact_text_set(&slot, "", &err), err);
    CHECK_STR(slot, "");
}

static int fill_texts(cordon_container_facts *f, cordon_err *err)
{
    cordon_fact_text *const texts[] = {
        &f->id,
        &f->name,
        &f->image_id,
        &f->started_at,
        &f->finished_at,
        &f->error,
        &f->user,
        &f->working_dir,
        &f->hostname,
        &f->domainname,
        &f->stop_signal,
        &f->apparmor_profile,
        &f->selinux_label,
        &f->runtime,
        &f->pid_mode,
        &f->ipc_mode,
        &f->uts_mode,
        &f->user_mode,
        &f->cgroup_mode,
        &f->network_mode,
        &f->cgroup_parent,
        &f->restart_policy,
        &f->log_driver,
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (cordon_fact_text_set(texts[i], "text", err) != 0)
            return -1;
    }
    return 0;
}

static int fill_lists(cordon_container_facts *f, cordon_err *err)
{
    cordon_fact_list *const lists[] = {
        &f->labels,
        &f->exec_ids,
        &f->entrypoint,
        &f->command,
        &f->argv,
        &f->environment,
        &f->healthcheck,
        &f->capabilities,
        &f->security_options,
        &f->masked_paths,
        &f->readonly_paths,
        &f->extra_groups,
        &f->volumes_from,
        &f->image_volumes,
        &f->devices,
        &f->secrets,
        &f->published_ports,
        &f->exposed_ports,
        &f->dns_servers,
        &f->dns_search,
        &f->dns_options,
        &f->extra_hosts,
        &f->links,
        &f->sysctls,
        &f->ulimits,
        &f->unmodelled,
    };
    for (size_t i = 0; i < COUNT(lists); i++) {
        if (cordon_fact_list_add(lists[i], "item", err) != 0)
            return -1;
    }
    return 0;
}

static int fill_endpoint(cordon_endpoint_fact *endpoint, cordon_err *err)
{
    cordon_fact_text *const texts[] = {
        &endpoint->network_key, &endpoint->network_id, &endpoint->ipv4, &endpoint->requested_ipv4,
        &endpoint->gateway,     &endpoint->ipv6,       &endpoint->mac,
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (cordon_fact_text_set(texts[i], "text", err) != 0)
            return -1;
    }
    return cordon_fact_list_add(&endpoint->aliases, "alias", err);
}

static int fill_mount(cordon_mount_fact *mount, cordon_err *err)
{
    if (cordon_fact_text_set(&mount->source, "/a", err) != 0 ||
        cordon_fact_text_set(&mount->target, "/b", err) != 0 ||
        cordon_fact_text_set(&mount->propagation, "rprivate", err) != 0)
        return -1;
    return cordon_fact_list_add(&mount->options, "nosuid", err);
}

static void a_container_filled_to_the_brim_is_freed_whole(void)
{
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(fill_texts(&facts, &err), err);
    REQUIRE_OK(fill_lists(&facts, &err), err);
    for (int i = 0; i < 5; i++) {
        cordon_mount_fact *mount = NULL;
        REQUIRE_OK(cordon_mount_facts_add(&facts.mounts, &mount, &err), err);
        CHECK(mount == &facts.mounts.items[i] && mount->target == NULL);
        REQUIRE_OK(fill_mount(mount, &err), err);
        cordon_endpoint_fact *endpoint = NULL;
        REQUIRE_OK(cordon_endpoint_facts_add(&facts.endpoints, &endpoint, &err), err);
        CHECK(endpoint == &facts.endpoints.items[i] && endpoint->ipv4 == NULL);
        REQUIRE_OK(fill_endpoint(endpoint, &err), err);
    }
    CHECK(facts.mounts.known && facts.endpoints.known);
    CHECK_INT(facts.mounts.count, 5);
    CHECK_INT(facts.endpoints.count, 5);
}

static void networks_and_images_are_freed_whole(void)
{
    cordon_auto(cordon_network_facts) n = {0};
    cordon_auto(cordon_image_facts) m = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_fact_text *const texts[] = {&n.id, &n.name, &n.driver,      &m.id,
                                       &m.os, &m.user, &m.architecture};
    cordon_fact_list *const lists[] = {
        &n.subnets,     &n.gateways, &n.options,    &n.labels,  &n.endpoints,     &n.unmodelled,
        &m.digests,     &m.command,  &m.entrypoint, &m.volumes, &m.exposed_ports, &m.on_build,
        &m.environment, &m.labels,   &m.unmodelled, &m.layers,
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        REQUIRE_OK(cordon_fact_text_set(texts[i], "text", &err), err);
    for (size_t i = 0; i < COUNT(lists); i++)
        REQUIRE_OK(cordon_fact_list_add(lists[i], "item", &err), err);
}

static void what_operations_hand_out_is_freed_whole(void)
{
    cordon_auto(cordon_engine_facts) engine = {0};
    cordon_auto(cordon_list) list = {0};
    cordon_auto(cordon_event) event = {0};
    cordon_err err = CORDON_ERR_INIT;
    list.items = calloc(2, sizeof *list.items);
    REQUIRE(list.items != NULL);
    list.count = 2; /* the second one stays half built */
    char **const texts[] = {
        &engine.version,      &engine.api,
        &engine.os,           &engine.architecture,
        &engine.runtime,      &engine.storage_driver,
        &engine.storage_root, &list.items[0].id,
        &list.items[0].name,  &event.id,
        &event.container_id,  &event.raw_action,
    };
    cordon_fact_list *const lists[] = {&engine.security, &engine.warnings, &list.items[0].labels,
                                       &event.labels};
    for (size_t i = 0; i < COUNT(texts); i++)
        REQUIRE_OK(cordon_fact_text_set(texts[i], "text", &err), err);
    for (size_t i = 0; i < COUNT(lists); i++)
        REQUIRE_OK(cordon_fact_list_add(lists[i], "item", &err), err);
}

static void states_have_names_and_foreign_numbers_have_none(void)
{
    CHECK_STR(cordon_run_state_name(CORDON_STATE_UNKNOWN), "unknown");
    CHECK_STR(cordon_run_state_name(CORDON_STATE_CREATED), "created");
    CHECK_STR(cordon_run_state_name(CORDON_STATE_INITIALIZED), "initialized");
    CHECK_STR(cordon_run_state_name(CORDON_STATE_DEAD), "dead");
    CHECK_STR(cordon_run_state_name((cordon_run_state)(CORDON_STATE_DEAD + 1)), "unknown");
}

CORDON_TEST_MAIN("facts", TEST(zeroed_facts_are_unknown_and_clear_to_nothing),
                 TEST(adding_keeps_order_and_makes_a_list_known),
                 TEST(an_empty_known_list_is_not_an_unknown_one), TEST(sorting_is_by_bytes),
                 TEST(formatted_items_are_whole), TEST(a_list_without_end_is_refused),
                 TEST(a_map_finds_whole_keys_only), TEST(a_text_is_replaced_even_by_itself),
                 TEST(a_container_filled_to_the_brim_is_freed_whole),
                 TEST(networks_and_images_are_freed_whole),
                 TEST(what_operations_hand_out_is_freed_whole),
                 TEST(states_have_names_and_foreign_numbers_have_none))

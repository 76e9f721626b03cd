/* SPDX-License-Identifier: Apache-2.0 */
/* Contract cases: networks and containers as they are made, shown, listed and removed. */
#include "contract.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool has(const cordon_fact_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

static void check_network(const session *s, const cordon_network_spec *spec, const char *id)
{
    cordon_auto(cordon_network_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(s->ops->network_inspect(s->impl, id, soon(), &facts, &err), err);
    CHECK_STR(facts.id, id);
    CHECK_STR(facts.name, spec->name);
    CHECK_STR(facts.driver, "bridge");
    CHECK_INT(facts.internal, spec->internal ? CORDON_FACT_YES : CORDON_FACT_NO);
    CHECK_INT(facts.host_address, spec->no_gateway ? CORDON_FACT_NO : CORDON_FACT_YES);
    CHECK_INT(facts.isolated, CORDON_FACT_YES);
    CHECK_INT(facts.ipv6, CORDON_FACT_NO);
    CHECK(facts.dns != CORDON_FACT_YES);
    CHECK_INT(facts.attachable, CORDON_FACT_NO);
    CHECK_INT(facts.ingress, CORDON_FACT_NO);
    CHECK(facts.subnets.known && facts.subnets.count == 1);
    CHECK(facts.subnets.count == 1 && strcmp(facts.subnets.items[0], spec->subnet) == 0);
    CHECK(facts.options.known && facts.options.count == 0);
    CHECK(facts.labels.known && facts.labels.count == spec->labels.count);
    CHECK(has(&facts.labels, s->label));
    CHECK(facts.endpoints.known && facts.endpoints.count == 0);
    CHECK(facts.unmodelled.known);
    for (size_t i = 0; i < facts.unmodelled.count; i++)
        TEST_RECORDF(false, "unmodelled: %s", facts.unmodelled.items[i]);
}

static void an_internal_network_shows_exactly_its_specification(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 2, true);
    const char *id = make_network(&s, &spec);
    REQUIRE(id != NULL);
    check_network(&s, &spec, id);
}

static void an_egress_network_shows_exactly_its_specification(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 3, false);
    const char *id = make_network(&s, &spec);
    REQUIRE(id != NULL);
    check_network(&s, &spec, id);
}

static void a_network_name_is_used_once(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    char *second = NULL;
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 4, true);
    REQUIRE(make_network(&s, &spec) != NULL);
    cordon_network_spec again = network_spec(&s, 5, true);
    again.name = spec.name;
    CHECK_FAILS(s.ops->network_create(s.impl, &again, soon(), &second, NULL, &err), err,
                CORDON_ERR_CONFLICT, "");
    CHECK(second == NULL);
}

static void a_subnet_that_is_taken_is_an_overlap(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    char *second = NULL;
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 6, true);
    REQUIRE(make_network(&s, &spec) != NULL);
    cordon_network_spec again = spec;
    again.name = session_name(&s);
    CHECK_FAILS(s.ops->network_create(s.impl, &again, soon(), &second, NULL, &err), err,
                CORDON_ERR_OVERLAP, "");
    CHECK(second == NULL);
}

static void a_removed_network_is_gone_and_removed_once(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_network_facts facts = {0};
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 7, true);
    const char *id = make_network(&s, &spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->network_remove(s.impl, id, soon(), &err), err);
    CHECK_FAILS(s.ops->network_inspect(s.impl, id, soon(), &facts, &err), err, CORDON_ERR_NOTFOUND,
                "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->network_remove(s.impl, id, soon(), &err), err, CORDON_ERR_NOTFOUND, "");
    forget(&s, id);
}

/* Nothing is joined and every limit is asked for; a folder of the host is bound twice. */
static void a_created_container_shows_exactly_its_specification(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s) && session_folder(&s));
    shell_spec_init(&s, "exit 0", &shell);
    shell.spec.open_stdin = true;
    shell.mounts[1] = (cordon_mount_spec){
        .type = CORDON_MOUNT_BIND, .source = s.folder, .target = "/work", .read_only = false};
    shell.mounts[2] = (cordon_mount_spec){
        .type = CORDON_MOUNT_BIND, .source = s.folder, .target = "/look", .read_only = true};
    shell.spec.mount_count = 3;
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err);
    check_container_facts(&s, &shell.spec, id, CORDON_STATE_CREATED, &facts);
    CHECK(facts.started_at && facts.started_at[0] == '\0');
}

/* A second tmpfs that may execute, and no limits at all: what is off is shown as off. */
static void a_container_without_limits_shows_none(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    shell.spec.limits.memory_bytes = 0;
    shell.spec.limits.nano_cpus = 0;
    shell.mounts[1] = (cordon_mount_spec){.type = CORDON_MOUNT_TMPFS,
                                          .source = "",
                                          .target = "/run",
                                          .size_bytes = INT64_C(3) << 20,
                                          .mode_octal = 0755};
    shell.spec.mount_count = 2;
    shell.spec.sysctls.count = 0;
    shell.spec.dns_servers.count = 0;
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err);
    check_container_facts(&s, &shell.spec, id, CORDON_STATE_CREATED, &facts);
}

static void a_container_joins_both_its_networks(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_container_facts) created = {0};
    cordon_auto(cordon_container_facts) running = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    cordon_network_spec egress = network_spec(&s, 8, false);
    cordon_network_spec inside = network_spec(&s, 9, true);
    const char *egress_id = make_network(&s, &egress);
    const char *inside_id = make_network(&s, &inside);
    REQUIRE(egress_id && inside_id);
    char first[32];
    char second[32];
    (void)snprintf(first, sizeof first, "%.*s2", (int)strlen(egress.subnet) - 4, egress.subnet);
    (void)snprintf(second, sizeof second, "%.*s3", (int)strlen(inside.subnet) - 4, inside.subnet);
    shell_spec_init(&s, "sleep 60", &shell);
    shell_spec_join(&shell, egress_id, egress.name, first);
    shell_spec_join(&shell, inside_id, inside.name, second);
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &created, &err), err);
    check_container_facts(&s, &shell.spec, id, CORDON_STATE_CREATED, &created);
    REQUIRE_OK(s.ops->container_start(s.impl, id, soon(), &err), err);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &running, &err), err);
    check_container_facts(&s, &shell.spec, id, CORDON_STATE_RUNNING, &running);
    cordon_auto(cordon_network_facts) network = {0};
    REQUIRE_OK(s.ops->network_inspect(s.impl, inside_id, soon(), &network, &err), err);
    CHECK_INT(network.endpoints.count, 1);
    CHECK(has(&network.endpoints, id));
    CHECK_INT(network.unmodelled.count, 0);
    /* in use: by a running container, on every engine */
    CHECK_FAILS(s.ops->network_remove(s.impl, inside_id, soon(), &err), err, CORDON_ERR_CONFLICT,
                "");
}

static void a_container_name_is_used_once(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    char *second = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    REQUIRE(make_container(&s, &shell.spec) != NULL);
    CHECK_FAILS(s.ops->container_create(s.impl, &shell.spec, soon(), &second, &err), err,
                CORDON_ERR_CONFLICT, "");
    CHECK(second == NULL);
}

static void create_without(const char *what, session *s, shell_spec *shell, cordon_code code)
{
    char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    int rc = s->ops->container_create(s->impl, &shell->spec, soon(), &id, &err);
    TEST_RECORDF(rc == -1 && err.code == code, "%s: rc %d, %s %.300s", what, rc,
                 cordon_code_name(err.code), err.message);
    if (id)
        remember_container(s, id);
}

/* By the create, or by the start at the latest. */
static void a_missing_network_is_not_found(void)
{
    static const char nobody[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    cordon_auto(session) s = {0};
    shell_spec shell;
    char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    shell_spec_join(&shell, nobody, "contract-nobody", "10.211.0.2");
    int rc = s.ops->container_create(s.impl, &shell.spec, soon(), &id, &err);
    if (id)
        remember_container(&s, id);
    if (rc == 0)
        rc = s.ops->container_start(s.impl, id, soon(), &err);
    CHECK_INT(rc, -1);
    CHECK_INT(err.code, CORDON_ERR_NOTFOUND);
}

static void a_missing_image_or_source_is_not_found(void)
{
    static const char nobody[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    cordon_auto(session) s = {0};
    shell_spec shell;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    shell.spec.image_id = nobody;
    create_without("image", &s, &shell, CORDON_ERR_NOTFOUND);

    shell_spec_init(&s, "exit 0", &shell);
    shell_spec_init(&s, "exit 0", &shell);
    shell.mounts[1] = (cordon_mount_spec){
        .type = CORDON_MOUNT_BIND, .source = "/var/tmp/cordon-contract-nobody", .target = "/work"};
    shell.spec.mount_count = 2;
    create_without("source", &s, &shell, CORDON_ERR_NOTFOUND);
}

static void what_the_engine_cannot_do_is_unsupported(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    REQUIRE(session_open(&s));
    if ((s.facts.can & CORDON_CAN_KEEP_ID) == 0) {
        shell_spec_init(&s, "exit 0", &shell);
        shell.spec.userns = CORDON_USERNS_KEEP_ID;
        create_without("keep-id", &s, &shell, CORDON_ERR_UNSUPPORTED);
    }
    if ((s.facts.can & CORDON_CAN_MOUNT_IMAGES) == 0) {
        shell_spec_init(&s, "exit 0", &shell);
        shell.mounts[1] = (cordon_mount_spec){
            .type = CORDON_MOUNT_IMAGE, .source = s.image, .target = "/image", .read_only = true};
        shell.spec.mount_count = 2;
        create_without("image mount", &s, &shell, CORDON_ERR_UNSUPPORTED);
    }
}

static cordon_volume_spec volume_spec(session *s)
{
    return (cordon_volume_spec){
        .name = session_name(s), .blocks = 256, .labels = network_spec(s, 1, true).labels};
}

static void check_volume(const session *s, const cordon_volume_spec *spec, const char *user)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(s->ops->volume_inspect(s->impl, spec->name, soon(), &facts, &err), err);
    CHECK_STR(facts.name, spec->name);
    CHECK_STR(facts.driver, "local");
    CHECK_STR(facts.scope, "local");
    CHECK(facts.place && facts.place[0] == '/' && facts.created_at);
    REQUIRE_INT(facts.options.count, 3);
    CHECK_STR(facts.options.items[0], "device=tmpfs");
    CHECK_STR(facts.options.items[1], "o=nr_blocks=256,nodev,nosuid,noexec");
    CHECK_STR(facts.options.items[2], "type=tmpfs");
    CHECK(facts.labels.known && facts.labels.count == spec->labels.count);
    CHECK(has(&facts.labels, s->label));
    CHECK(facts.users.known);
    CHECK_INT(facts.users.count, user ? 1 : 0);
    CHECK(!user || has(&facts.users, user));
    CHECK(facts.unmodelled.known);
    for (size_t i = 0; i < facts.unmodelled.count; i++)
        TEST_RECORDF(false, "unmodelled: %s", facts.unmodelled.items[i]);
}

/* A volume that a container has: its facts, who has it, how the container shows it, and its end. */
static void a_volume_shows_its_specification_and_goes_when_nobody_has_it(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_auto(cordon_list) list = {0};
    cordon_volume_facts none = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    cordon_volume_spec spec = volume_spec(&s);
    REQUIRE_OK(s.ops->volume_create(s.impl, &spec, soon(), &err), err);
    check_volume(&s, &spec, NULL);
    REQUIRE_OK(s.ops->list_by_label(s.impl, CORDON_OBJECT_VOLUME, s.label, soon(), &list, &err),
               err);
    CHECK_INT(list.count, 1);
    CHECK(list.count == 1 && CHECK_STR(list.items[0].id, spec.name) &&
          has(&list.items[0].labels, s.label));
    shell_spec_init(&s, "exit 0", &shell);
    shell.mounts[0] = (cordon_mount_spec){
        .type = CORDON_MOUNT_VOLUME, .source = spec.name, .target = "/shared", .no_exec = true};
    shell.spec.mounts = shell.mounts;
    shell.spec.mount_count = 1;
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    check_volume(&s, &spec, id);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err);
    REQUIRE_INT(facts.mounts.count, 1);
    CHECK_INT(facts.mounts.items[0].type, CORDON_MOUNT_VOLUME);
    CHECK_STR(facts.mounts.items[0].source, spec.name);
    CHECK_STR(facts.mounts.items[0].target, "/shared");
    CHECK_INT(facts.mounts.items[0].read_only, CORDON_FACT_NO);
    CHECK(has(&facts.mounts.items[0].options, "nocopy"));
    CHECK_INT(facts.unmodelled.count, 0);
    CHECK_FAILS(s.ops->volume_remove(s.impl, spec.name, soon(), &err), err, CORDON_ERR_CONFLICT,
                "");
    err = (cordon_err)CORDON_ERR_INIT;
    REQUIRE_OK(s.ops->container_remove(s.impl, id, soon(), &err), err);
    forget(&s, id);
    REQUIRE_OK(s.ops->volume_remove(s.impl, spec.name, soon(), &err), err);
    CHECK_FAILS(s.ops->volume_inspect(s.impl, spec.name, soon(), &none, &err), err,
                CORDON_ERR_NOTFOUND, "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->volume_remove(s.impl, spec.name, soon(), &err), err, CORDON_ERR_NOTFOUND,
                "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->volume_inspect(s.impl, "../x", soon(), &none, &err), err, CORDON_ERR_INVALID,
                "");
}

static void check_listed(session *s, cordon_object_type type, const char *id, const char *name)
{
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(s->ops->list_by_label(s->impl, type, s->label, soon(), &list, &err), err);
    REQUIRE_INT(list.count, 1);
    CHECK_STR(list.items[0].id, id);
    CHECK_STR(list.items[0].name, name);
    CHECK(has(&list.items[0].labels, s->label));
    CHECK_INT(list.items[0].labels.count, 2);
}

/* Without a label everything is listed, also what carries none of ours. */
static void check_listed_among_all(session *s, cordon_object_type type, const char *id,
                                   const char *name)
{
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    bool found = false;
    REQUIRE_OK(s->ops->list_by_label(s->impl, type, NULL, soon(), &list, &err), err);
    for (size_t i = 0; i < list.count; i++)
        found = found || (strcmp(list.items[i].id, id) == 0 && CHECK_STR(list.items[i].name, name));
    CHECK(found);
}

static void objects_are_listed_by_their_label(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_err err = CORDON_ERR_INIT;
    cordon_list list = {0};
    REQUIRE(session_open(&s));
    cordon_network_spec spec = network_spec(&s, 10, true);
    const char *network = make_network(&s, &spec);
    shell_spec_init(&s, "exit 0", &shell);
    const char *container = make_container(&s, &shell.spec);
    REQUIRE(network && container);
    check_listed(&s, CORDON_OBJECT_NETWORK, network, spec.name);
    check_listed(&s, CORDON_OBJECT_CONTAINER, container, shell.spec.name);
    check_listed_among_all(&s, CORDON_OBJECT_NETWORK, network, spec.name);
    check_listed_among_all(&s, CORDON_OBJECT_CONTAINER, container, shell.spec.name);
    CHECK_FAILS(s.ops->list_by_label(s.impl, CORDON_OBJECT_IMAGE, s.label, soon(), &list, &err),
                err, CORDON_ERR_INVALID, "");
}

const test_case contract_object_cases[] = {
    TEST(an_internal_network_shows_exactly_its_specification),
    TEST(an_egress_network_shows_exactly_its_specification),
    TEST(a_network_name_is_used_once),
    TEST(a_subnet_that_is_taken_is_an_overlap),
    TEST(a_removed_network_is_gone_and_removed_once),
    TEST(a_created_container_shows_exactly_its_specification),
    TEST(a_container_without_limits_shows_none),
    TEST(a_container_joins_both_its_networks),
    TEST(a_container_name_is_used_once),
    TEST(a_missing_image_or_source_is_not_found),
    TEST(a_missing_network_is_not_found),
    TEST(what_the_engine_cannot_do_is_unsupported),
    TEST(a_volume_shows_its_specification_and_goes_when_nobody_has_it),
    TEST(objects_are_listed_by_their_label),
};
const size_t contract_object_case_count = COUNT(contract_object_cases);

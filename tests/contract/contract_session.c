/* SPDX-License-Identifier: Apache-2.0 */
/* Contract cases: the session, images, and what is refused before anything is sent. */
#include "contract.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char nobody[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static void describe_names_the_engine_and_what_it_can(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    CHECK_INT(s.facts.kind, s.ops->kind);
    CHECK_STR(s.facts.os, "linux");
    REQUIRE(s.facts.version && s.facts.api && s.facts.architecture && s.facts.storage_driver);
    CHECK(s.facts.version[0] >= '0' && s.facts.version[0] <= '9');
    CHECK(s.facts.api[0] >= '0' && s.facts.api[0] <= '9');
    CHECK(s.facts.architecture[0] != '\0');
    CHECK(s.facts.rootless != CORDON_FACT_UNKNOWN);
    CHECK(s.facts.cgroup_version.known);
    CHECK((s.facts.can & CORDON_CAN_DEFAULT_SECCOMP) != 0);
}

static void a_missing_socket_is_unreachable_by_name(void)
{
    const cordon_engine_address address = {.endpoint = "unix:///nonexistent/engine.sock"};
    void *impl = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(contract_under_test->ops->open(&address, soon(), &impl, &err), err,
                CORDON_ERR_UNREACHABLE, "/nonexistent/engine.sock");
    CHECK(impl == NULL);
}

static void a_directory_is_no_engine(void)
{
    const cordon_engine_address address = {.endpoint = "unix:///tmp"};
    void *impl = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(contract_under_test->ops->open(&address, soon(), &impl, &err), err,
                CORDON_ERR_UNREACHABLE, "/tmp");
}

static void an_endpoint_must_be_one(void)
{
    static const char *const bad[] = {"", "unix://relative", "http://localhost",
                                      "tcp://10.0.0.1:1"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const cordon_engine_address address = {.endpoint = bad[i]};
        void *impl = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(contract_under_test->ops->open(&address, soon(), &impl, &err), err,
                    CORDON_ERR_CONFIG, bad[i]);
    }
}

static void a_passed_deadline_sends_nothing(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_image_facts) image = {0};
    cordon_auto(cordon_list) list = {0};
    REQUIRE(session_open(&s));
    cordon_deadline past = cordon_deadline_in_ms(0, -1);
    cordon_network_spec spec = network_spec(&s, 1, true);
    char *id = NULL;
    CHECK_FAILS(s.ops->image_resolve(s.impl, contract_under_test->image, past, &image, &err), err,
                CORDON_ERR_TIMEOUT, "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->network_create(s.impl, &spec, past, &id, NULL, &err), err,
                CORDON_ERR_TIMEOUT, "");
    CHECK(id == NULL);
    err = (cordon_err)CORDON_ERR_INIT;
    REQUIRE_OK(s.ops->list_by_label(s.impl, CORDON_OBJECT_NETWORK, s.label, soon(), &list, &err),
               err);
    CHECK_INT(list.count, 0);
}

/* Every operation that takes an id takes a whole one only: names and prefixes can be re-pointed. */
static void names_and_prefixes_are_no_ids(void)
{
    static const char *const bad[] = {
        "", "abc", "a-name", "../x",
        "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789ab"};
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_container_facts container = {0};
        cordon_network_facts network = {0};
        cordon_stream *stream = NULL;
        char *text = NULL;
        int code = -1;
        cordon_endpoint_spec endpoint = {.ipv4 = "10.0.0.2"};
        cordon_err e[11] = {{0}};
        const cordon_engine_ops *ops = s.ops;
        CHECK_INT(ops->image_remove(s.impl, bad[i], soon(), &e[0]), -1);
        CHECK_INT(ops->network_inspect(s.impl, bad[i], soon(), &network, &e[1]), -1);
        CHECK_INT(ops->network_connect(s.impl, nobody, bad[i], &endpoint, soon(), &e[2]), -1);
        CHECK_INT(ops->network_connect(s.impl, bad[i], nobody, &endpoint, soon(), &e[3]), -1);
        CHECK_INT(ops->network_remove(s.impl, bad[i], soon(), &e[4]), -1);
        CHECK_INT(ops->container_inspect(s.impl, bad[i], soon(), &container, &e[5]), -1);
        CHECK_INT(ops->container_attach(s.impl, bad[i], 0, soon(), &stream, &e[6]), -1);
        CHECK_INT(ops->container_start(s.impl, bad[i], soon(), &e[7]), -1);
        CHECK_INT(ops->container_signal(s.impl, bad[i], "SIGTERM", soon(), &e[8]), -1);
        CHECK_INT(ops->container_wait(s.impl, bad[i], soon(), &code, &e[9]), -1);
        CHECK_INT(ops->container_remove(s.impl, bad[i], soon(), &e[10]), -1);
        for (size_t k = 0; k < COUNT(e); k++)
            TEST_RECORDF(e[k].code == CORDON_ERR_INVALID, "operation %zu takes \"%s\" as an id: %s",
                         k, bad[i], cordon_code_name(e[k].code));
        cordon_err log = CORDON_ERR_INIT;
        CHECK_FAILS(ops->container_log(s.impl, bad[i], 100, soon(), &text, &log), log,
                    CORDON_ERR_INVALID, "");
        cordon_changes changes = {0};
        cordon_err list = CORDON_ERR_INIT;
        CHECK_FAILS(ops->container_changes(s.impl, bad[i], soon(), &changes, &list), list,
                    CORDON_ERR_INVALID, "");
        cordon_runtime_facts runtime = {0};
        cordon_err prepare = CORDON_ERR_INIT;
        cordon_err read = CORDON_ERR_INIT;
        CHECK_FAILS(ops->container_prepare(s.impl, bad[i], soon(), &prepare), prepare,
                    CORDON_ERR_INVALID, "");
        CHECK_FAILS(ops->container_runtime(s.impl, bad[i], "/x", soon(), &runtime, &read), read,
                    CORDON_ERR_INVALID, "");
    }
}

static void what_does_not_exist_is_not_found(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    cordon_container_facts container = {0};
    cordon_network_facts network = {0};
    cordon_image_facts image = {0};
    cordon_stream *stream = NULL;
    cordon_err e[9] = {{0}};
    char *text = NULL;
    int code = -1;
    CHECK_INT(s.ops->image_resolve(s.impl, nobody, soon(), &image, &e[0]), -1);
    CHECK_INT(s.ops->image_remove(s.impl, nobody, soon(), &e[1]), -1);
    CHECK_INT(s.ops->network_inspect(s.impl, nobody, soon(), &network, &e[2]), -1);
    CHECK_INT(s.ops->network_remove(s.impl, nobody, soon(), &e[3]), -1);
    CHECK_INT(s.ops->container_inspect(s.impl, nobody, soon(), &container, &e[4]), -1);
    CHECK_INT(s.ops->container_attach(s.impl, nobody, 0, soon(), &stream, &e[5]), -1);
    CHECK_INT(s.ops->container_start(s.impl, nobody, soon(), &e[6]), -1);
    CHECK_INT(s.ops->container_signal(s.impl, nobody, "SIGTERM", soon(), &e[7]), -1);
    CHECK_INT(s.ops->container_remove(s.impl, nobody, soon(), &e[8]), -1);
    for (size_t k = 0; k < COUNT(e); k++)
        TEST_RECORDF(e[k].code == CORDON_ERR_NOTFOUND, "operation %zu: %s %.300s", k,
                     cordon_code_name(e[k].code), e[k].message);
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->container_wait(s.impl, nobody, soon(), &code, &err), err,
                CORDON_ERR_NOTFOUND, "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->container_log(s.impl, nobody, 100, soon(), &text, &err), err,
                CORDON_ERR_NOTFOUND, "");
    cordon_changes changes = {0};
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->container_changes(s.impl, nobody, soon(), &changes, &err), err,
                CORDON_ERR_NOTFOUND, "");
    CHECK_INT(code, -1);
}

static void an_image_is_found_by_id_with_and_without_prefix(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    char prefixed[80];
    (void)snprintf(prefixed, sizeof prefixed, "sha256:%s", s.image);
    const char *const references[] = {s.image, prefixed};
    for (size_t i = 0; i < COUNT(references); i++) {
        cordon_auto(cordon_image_facts) facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(s.ops->image_resolve(s.impl, references[i], soon(), &facts, &err), err);
        CHECK_STR(facts.id, s.image);
        CHECK_STR(facts.os, "linux");
        CHECK_STR(facts.architecture, s.facts.architecture);
        CHECK(facts.volumes.known && facts.volumes.count == 0);
        CHECK(facts.unmodelled.known && facts.unmodelled.count == 0);
        REQUIRE(facts.layers.known && facts.layers.count > 0);
        CHECK(strncmp(facts.layers.items[0], "sha256:", 7) == 0);
    }
}

static void check_listed(const session *s, const char *id, bool there)
{
    cordon_auto(cordon_image_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    const cordon_listed_image *found = NULL;
    REQUIRE_OK(s->ops->image_list(s->impl, soon(), &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].id, id) == 0)
            found = &list.items[i];
    }
    TEST_RECORDF((found != NULL) == there, "image %s is %s", id, there ? "not listed" : "listed");
    if (found != NULL) {
        CHECK(found->names.known && found->labels.known);
        CHECK(found->size_bytes.known && found->size_bytes.value > 0);
    }
}

static void load_resolve_remove(session *s, const char *base_layer)
{
    archive a = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_image_facts) facts = {0};
    REQUIRE(archive_make(base_layer, s->facts.architecture, &a));
    cordon_autofree char *tar = a.tar;
    REQUIRE_OK(s->ops->image_load(s->impl, tar, a.length, soon(), &err), err);
    if (CHECK_OK(s->ops->image_resolve(s->impl, a.image_id, soon(), &facts, &err), err)) {
        CHECK_STR(facts.id, a.image_id);
        CHECK_INT(facts.layers.count, base_layer ? 2 : 1);
        CHECK_STR(cordon_fact_map_get(&facts.labels, "cordon.contract"), "image");
    }
    check_listed(s, a.image_id, true);
    check_listed(s, s->image, true);
    err = (cordon_err)CORDON_ERR_INIT;
    REQUIRE_OK(s->ops->image_remove(s->impl, a.image_id, soon(), &err), err);
    check_listed(s, a.image_id, false);
    cordon_image_facts gone = {0};
    CHECK_FAILS(s->ops->image_resolve(s->impl, a.image_id, soon(), &gone, &err), err,
                CORDON_ERR_NOTFOUND, "");
}

static void an_archive_becomes_the_image_whose_id_was_computed(void)
{
    cordon_auto(session) s = {0};
    REQUIRE(session_open(&s));
    load_resolve_remove(&s, NULL);
}

/* Only where the engine says that it can; elsewhere whole archives are loaded. */
static void a_layer_is_loaded_onto_a_base_that_is_there(void)
{
    cordon_auto(session) s = {0};
    cordon_auto(cordon_image_facts) base = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    if ((s.facts.can & CORDON_CAN_LOAD_ON_BASE) == 0)
        return;
    REQUIRE_OK(s.ops->image_resolve(s.impl, s.image, soon(), &base, &err), err);
    REQUIRE_INT(base.layers.count, 1);
    load_resolve_remove(&s, base.layers.items[0]);
}

static void a_broken_archive_is_a_failure_although_http_says_200(void)
{
    cordon_auto(session) s = {0};
    archive a = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    REQUIRE(archive_make(NULL, s.facts.architecture, &a));
    cordon_autofree char *tar = a.tar;
    /* the layer's name in the manifest leads nowhere */
    char *layer = tar;
    for (size_t i = 0; i + 9 < a.length; i++) {
        if (memcmp(tar + i, "\"layer.tar", 10) == 0)
            layer = tar + i;
    }
    REQUIRE(layer != tar);
    layer[1] = 'X';
    CHECK_FAILS(s.ops->image_load(s.impl, tar, a.length, soon(), &err), err, CORDON_ERR_ENGINE, "");
}

static void bytes_that_are_no_archive_load_nothing(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    CHECK_FAILS(s.ops->image_load(s.impl, "not a tar", 9, soon(), &err), err, CORDON_ERR_ENGINE,
                "");
}

const test_case contract_session_cases[] = {
    TEST(describe_names_the_engine_and_what_it_can),
    TEST(a_missing_socket_is_unreachable_by_name),
    TEST(a_directory_is_no_engine),
    TEST(an_endpoint_must_be_one),
    TEST(a_passed_deadline_sends_nothing),
    TEST(names_and_prefixes_are_no_ids),
    TEST(what_does_not_exist_is_not_found),
    TEST(an_image_is_found_by_id_with_and_without_prefix),
    TEST(an_archive_becomes_the_image_whose_id_was_computed),
    TEST(a_layer_is_loaded_onto_a_base_that_is_there),
    TEST(a_broken_archive_is_a_failure_although_http_says_200),
    TEST(bytes_that_are_no_archive_load_nothing),
};
const size_t contract_session_case_count = COUNT(contract_session_cases);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Docker engine over a scripted socket: inspections, waits, streams and logs that are cut,
 * wrong, foreign or never come.
 */
#include "script_docker.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void inspections_answer_for_the_object_that_was_named(void)
{
    cordon_autofree char *step = sample_read("docker/20.10-step-running.json");
    cordon_autofree char *net = sample_read("docker/20.10-network.json");
    REQUIRE(step && net);
    const udsd_step steps[] = {
        PING,
        ASK,
        {.path = "/v1.41/containers/" HEX "/json", .status = 200, .json = step},
        {.path = "/v1.41/networks/" HEX, .status = 200, .json = net},
    };
    cordon_auto(script) s = {0};
    cordon_container_facts c = {0};
    cordon_network_facts n = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->container_inspect(s.impl, HEX, soon(), &c, &err), err, CORDON_ERR_PROTOCOL,
                "another one");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(ops->network_inspect(s.impl, HEX, soon(), &n, &err), err, CORDON_ERR_NOTFOUND,
                "none has this id");
}

static void mutilated_inspections_tell_nothing(void)
{
    cordon_autofree char *step = sample_read("docker/20.10-step-running.json");
    REQUIRE(step != NULL);
    cordon_autofree char *trailing = malloc(strlen(step) + 8);
    REQUIRE(trailing != NULL);
    (void)snprintf(trailing, strlen(step) + 8, "%s{}", step);
    const answer answers[] = {
        {{.status = 200, .json = trailing}, CORDON_ERR_PROTOCOL, "inspect a container", false},
        {{.status = 200, .json = step, .close_after = 3000}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 200, .json = step, .length_delta = -100}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 200, .json = ""}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 200, .json = "[]"}, CORDON_ERR_PROTOCOL, "expected object", false},
        {{.status = 200, .json = "{\"Id\":\"a\",}"}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 201, .json = step}, CORDON_ERR_PROTOCOL, "HTTP 201", false},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"},
         CORDON_ERR_PROTOCOL,
         "page not found",
         false},
        {{.status = 404, .json = "{\"message\":\"No such container: x\"}"},
         CORDON_ERR_NOTFOUND,
         "No such container",
         false},
        {{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", .filler_bytes = 99999999},
         CORDON_ERR_PROTOCOL,
         "",
         false},
        {{.raw = "garbage\r\n\r\n"}, CORDON_ERR_PROTOCOL, "", false},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        const udsd_step steps[] = {PING, ASK, answers[i].step};
        cordon_auto(script) s = {0};
        cordon_container_facts facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_inspect(s.impl, HEX, soon(), &facts, &err), err, answers[i].code,
                    answers[i].part);
        CHECK(facts.id == NULL);
    }
}

/* EA1, EA2: neither an error nor a hang nor a container that never ran is an exit status. */
static void EA1_only_a_real_end_is_an_exit_status(void)
{
    cordon_autofree char *created = sample_read("docker/20.10-step-created.json");
    cordon_autofree char *running = sample_read("docker/20.10-step-running.json");
    cordon_autofree char *exited = sample_read("docker/20.10-step-exited.json");
    REQUIRE(created && running && exited);
    const struct {
        int status;
        const char *body;
        const char *inspect;
        int code;
        cordon_code error;
    } rows[] = {
        {200, "{\"Error\":null,\"StatusCode\":3}", exited, 3, CORDON_OK},
        {200, "{\"Error\":null,\"StatusCode\":0}", exited, -1, CORDON_ERR_PROTOCOL},
        {200, "{\"Error\":null,\"StatusCode\":0}", created, -1, CORDON_ERR_PROTOCOL},
        {200, "{\"Error\":null,\"StatusCode\":0}", running, -1, CORDON_ERR_PROTOCOL},
        {200, "{\"StatusCode\":3}", "{}", -1, CORDON_ERR_PROTOCOL},
        {200, "3", exited, -1, CORDON_ERR_PROTOCOL},
        {200, "", exited, -1, CORDON_ERR_PROTOCOL},
        {400, "{\"message\":\"invalid condition\"}", exited, -1, CORDON_ERR_ENGINE},
        {204, NULL, exited, -1, CORDON_ERR_PROTOCOL},
        {404, "{\"message\":\"No such container: x\"}", exited, -1, CORDON_ERR_NOTFOUND},
    };
    char id[CORDON_ID_HEX + 1];
    (void)snprintf(id, sizeof id, "%s", strstr(exited, "\"Id\": \"") + 7);
    char wait_path[128];
    char inspect_path[128];
    (void)snprintf(wait_path, sizeof wait_path, "/v1.41/containers/%s/wait?condition=not-running",
                   id);
    (void)snprintf(inspect_path, sizeof inspect_path, "/v1.41/containers/%s/json", id);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PING,
            ASK,
            {.method = "POST", .path = wait_path, .status = rows[i].status, .json = rows[i].body},
            {.method = "GET", .path = inspect_path, .status = 200, .json = rows[i].inspect},
        };
        cordon_auto(script) s = {0};
        int code = -1;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        int rc = ops->container_wait(s.impl, id, soon(), &code, &err);
        TEST_RECORDF(rc == (rows[i].error == CORDON_OK ? 0 : -1) && err.code == rows[i].error &&
                         code == rows[i].code,
                     "row %zu: rc %d code %d %s %.200s", i, rc, code, cordon_code_name(err.code),
                     err.message);
    }
}

static void EA1_a_wait_that_never_ends_ends_at_its_deadline(void)
{
    static const udsd_step steps[] = {PING, ASK, {.method = "POST", .flags = UDSD_NEVER_ANSWER}};
    cordon_auto(script) s = {0};
    int code = -1;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->container_wait(s.impl, HEX, cordon_deadline_in_ms(200, -1), &code, &err), err,
                CORDON_ERR_TIMEOUT, "wait for a container");
    CHECK_INT(code, -1);
}

static void an_attach_is_a_stream_with_101_and_with_200(void)
{
    static const char *const heads[] = {
        "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
        "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nhello",
    };
    for (size_t i = 0; i < COUNT(heads); i++) {
        const udsd_step steps[] = {
            PING,
            ASK,
            {.method = "POST",
             .path = "/v1.41/containers/" HEX "/attach?stream=1&stdout=1&stderr=1&stdin=1",
             .raw = heads[i],
             .flags = UDSD_CLOSE},
        };
        cordon_auto(script) s = {0};
        char bytes[16] = "";
        size_t length = 0;
        size_t got = 0;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        cordon_auto_ptr(cordon_stream) stream = NULL;
        REQUIRE_OK(ops->container_attach(s.impl, HEX, CORDON_ATTACH_STDIN, soon(), &stream, &err),
                   err);
        while (got < 5) {
            REQUIRE_OK(cordon_stream_read_wait(stream, bytes + got, sizeof bytes - 1 - got, soon(),
                                               &length, &err),
                       err);
            REQUIRE(length > 0);
            got += length;
        }
        CHECK_STR(bytes, "hello");
        CHECK_CONTAINS(udsd_at(s.server, 2)->head, "Upgrade: tcp");
    }
}

static void a_refused_attach_is_an_error(void)
{
    static const udsd_step steps[] = {
        PING,
        ASK,
        {.path = "/v1.41/containers/" HEX "/attach?stream=1&stdout=1&stderr=1",
         .status = 404,
         .json = "{\"message\":\"No such container: x\"}"},
    };
    cordon_auto(script) s = {0};
    cordon_stream *stream = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->container_attach(s.impl, HEX, 0, soon(), &stream, &err), err,
                CORDON_ERR_NOTFOUND, "attach to a container");
    CHECK(stream == NULL);
}

static void a_log_is_demultiplexed_and_a_broken_one_refused(void)
{
    static const char whole[] = "HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n"
                                "\1\0\0\0\0\0\0\3abc\2\0\0\0\0\0\0\3def";
    static const char cut[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
                              "\1\0\0\0\0\0\0\3ab";
    static const char bad[] = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nAAAAAAAA";
    const udsd_step steps[] = {
        PING,
        ASK,
        {.path = "/v1.41/containers/" HEX "/logs?*", .raw = whole, .raw_length = sizeof whole - 1},
        {.path = "/v1.41/containers/" HEX "/logs?*", .raw = cut, .raw_length = sizeof cut - 1},
        {.path = "/v1.41/containers/" HEX "/logs?*", .raw = bad, .raw_length = sizeof bad - 1},
    };
    cordon_auto(script) s = {0};
    cordon_autofree char *text = NULL;
    char *none = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    REQUIRE_OK(ops->container_log(s.impl, HEX, 4, soon(), &text, &err), err);
    CHECK_STR(text, "cdef");
    for (int i = 0; i < 2; i++) {
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(ops->container_log(s.impl, HEX, 100, soon(), &none, &err), err,
                    CORDON_ERR_PROTOCOL, "log");
        CHECK(none == NULL);
    }
}

static void changes_are_a_whole_list_or_none(void)
{
    static const answer answers[] = {
        {{.status = 200, .json = "[{\"Path\":\"/tmp\",\"Kind\":1}]"}, CORDON_OK, "", false},
        {{.status = 200, .json = "null"}, CORDON_OK, "", false},
        {{.status = 200, .json = "[{\"Path\":\"/tmp\",\"Kind\":7}]"},
         CORDON_ERR_PROTOCOL,
         "a container's changes",
         false},
        {{.status = 200, .json = "[{\"Path\":\"/tmp\""}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 200, .json = ""}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 204}, CORDON_ERR_PROTOCOL, "HTTP 204", false},
        {{.status = 404, .json = "{\"message\":\"No such container: x\"}"},
         CORDON_ERR_NOTFOUND,
         "",
         false},
        {{.status = 500, .json = "{\"message\":\"lstat\"}"}, CORDON_ERR_ENGINE, "lstat", false},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        udsd_step step = answers[i].step;
        step.method = "GET";
        step.path = "/v1.41/containers/" HEX "/changes";
        const udsd_step steps[] = {PING, ASK, step};
        cordon_auto(script) s = {0};
        cordon_auto(cordon_changes) changes = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        int rc = ops->container_changes(s.impl, HEX, soon(), &changes, &err);
        TEST_RECORDF(err.code == answers[i].code && (rc == 0) == (answers[i].code == CORDON_OK) &&
                         strstr(err.message, answers[i].part) != NULL,
                     "row %zu: rc %d %s %.200s", i, rc, cordon_code_name(err.code), err.message);
        CHECK_INT(changes.count, i == 0 ? 1 : 0);
    }
}

static void events_are_asked_for_without_a_hole_at_the_start(void)
{
    static const udsd_step steps[] = {
        PING,
        ASK,
        {.method = "GET", .path = "/v1.41/events?since=*", .status = 200, .json = "{}\n"},
    };
    cordon_auto(script) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    cordon_auto_ptr(cordon_stream) stream = NULL;
    REQUIRE_OK(ops->events_open(s.impl, 0, soon(), &stream, &err), err);
    CHECK_CONTAINS(
        udsd_at(s.server, 2)->path,
        "filters=%7B%22type%22%3A%5B%22container%22%2C%22network%22%2C%22volume%22%5D%7D");
}

static void image_references_make_no_other_path(void)
{
    static const char *const bad[] = {"", "../x", "a/../b", "a//b", "a b", "a?b", "a%2fb", "-x"};
    static const udsd_step steps[] = {PING, ASK};
    cordon_auto(script) s = {0};
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_image_facts facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(ops->image_resolve(s.impl, bad[i], soon(), &facts, &err), err,
                    CORDON_ERR_INVALID, "not an image reference");
    }
    CHECK_INT(udsd_count(s.server), 2);
}

static void an_image_that_answers_for_another_is_refused(void)
{
    cordon_autofree char *image = sample_read("docker/20.10-image.json");
    REQUIRE(image != NULL);
    const udsd_step steps[] = {
        PING, ASK, {.path = "/v1.41/images/sha256%3A" HEX "/json", .status = 200, .json = image}};
    cordon_auto(script) s = {0};
    cordon_image_facts facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->image_resolve(s.impl, HEX, soon(), &facts, &err), err, CORDON_ERR_PROTOCOL,
                "another one");
    CHECK(facts.id == NULL);
}

/* What an image list says, and with how many names. */
typedef struct listing {
    const char *json;
    cordon_code code;
    size_t images;
    size_t names;
} listing;

static void a_list_of_images_is_whole_or_refused(void)
{
    static const listing rows[] = {
        {"[]", CORDON_OK, 0, 0},
        {"[{\"Id\":\"sha256:" HEX "\",\"RepoTags\":[\"a:1\",\"b:1\"],\"Labels\":{\"x\":\"y\"},"
         "\"Size\":5,\"Containers\":-1}]",
         CORDON_OK, 1, 2},
        {"[{\"Id\":\"sha256:" HEX "\",\"RepoTags\":null,\"Labels\":null,\"Size\":0}]", CORDON_OK, 1,
         0},
        {"[{\"Id\":\"sha256:" HEX "\",\"RepoTags\":[\"<none>:<none>\"]}]", CORDON_OK, 1, 0},
        {"null", CORDON_ERR_PROTOCOL, 0, 0},
        {"{}", CORDON_ERR_PROTOCOL, 0, 0},
        {"[null]", CORDON_ERR_PROTOCOL, 0, 0},
        {"[{}]", CORDON_ERR_PROTOCOL, 0, 0},
        {"[{\"Id\":\"sha256:12\"}]", CORDON_ERR_PROTOCOL, 0, 0},
        {"[{\"Id\":\"sha256:" HEX "\",\"Labels\":[]}]", CORDON_ERR_PROTOCOL, 0, 0},
        {"[{\"Id\":\"sha256:" HEX "\",\"Size\":\"1\"}]", CORDON_ERR_PROTOCOL, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PING,
            ASK,
            {.method = "GET", .path = "/v1.41/images/json", .status = 200, .json = rows[i].json}};
        cordon_auto(script) s = {0};
        cordon_auto(cordon_image_list) list = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        int rc = ops->image_list(s.impl, soon(), &list, &err);
        TEST_RECORDF(err.code == rows[i].code && rc == (err.code == CORDON_OK ? 0 : -1) &&
                         list.count == rows[i].images,
                     "row %zu: %s %.200s, %zu images", i, cordon_code_name(err.code), err.message,
                     list.count);
        if (list.count == 1)
            CHECK_INT(list.items[0].names.count, rows[i].names);
    }
}

static void no_slot_is_empty_and_serving_is_unsupported(void)
{
    char **argv = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const void *slots[sizeof(cordon_engine_ops) / sizeof(void *)];
    memcpy(slots, ops, sizeof slots);
    for (size_t i = 1; i < COUNT(slots); i++)
        CHECK(slots[i] != NULL);
    CHECK_INT(ops->kind, CORDON_ENGINE_DOCKER);
    CHECK_STR(ops->name, "docker");
    CHECK_FAILS(ops->serve("dockerd", "/x", &argv, &err), err, CORDON_ERR_UNSUPPORTED, "dockerd");
    CHECK(argv == NULL);
}

CORDON_TEST_MAIN(
    "docker over a script, reads", TEST(inspections_answer_for_the_object_that_was_named),
    TEST(mutilated_inspections_tell_nothing), TEST(EA1_only_a_real_end_is_an_exit_status),
    TEST(EA1_a_wait_that_never_ends_ends_at_its_deadline),
    TEST(an_attach_is_a_stream_with_101_and_with_200), TEST(a_refused_attach_is_an_error),
    TEST(a_log_is_demultiplexed_and_a_broken_one_refused), TEST(changes_are_a_whole_list_or_none),
    TEST(events_are_asked_for_without_a_hole_at_the_start),
    TEST(image_references_make_no_other_path), TEST(an_image_that_answers_for_another_is_refused),
    TEST(a_list_of_images_is_whole_or_refused), TEST(no_slot_is_empty_and_serving_is_unsupported))

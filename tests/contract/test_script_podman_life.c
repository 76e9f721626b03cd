/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman engine against scripted answers, second part: start, signal, wait, streams, images.
 * Nothing but a whole, believable answer ever means "started" or is an exit status.
 */
#include "podman_rig.h"

/* --- start, signal, wait --- */

static void EA2_a_start_that_did_not_happen_is_no_start(void)
{
    static const answer rows[] = {
        {304, NULL, CORDON_ERR_CONFLICT, "already"},
        {404, FAILURE("no such container", "no such container"), CORDON_ERR_NOTFOUND, ""},
        {500, FAILURE("network not found", "unable to find network n1: network not found"),
         CORDON_ERR_NOTFOUND, "n1"},
        {500,
         FAILURE("OCI runtime attempted to invoke a command that was not found",
                 "runc: error mounting \\\"/srv/x\\\" to rootfs: stat /srv/x: no such file or "
                 "directory: OCI runtime attempted to invoke a command that was not found"),
         CORDON_ERR_NOTFOUND, "/srv/x"},
        {500,
         FAILURE("OCI runtime attempted to invoke a command that was not found",
                 "exec: \\\"/x\\\": stat /x: no such file or directory: OCI runtime attempted to "
                 "invoke a command that was not found"),
         CORDON_ERR_ENGINE, "/x"},
        {500, FAILURE("OCI runtime error", "error mounting \\\"cgroup\\\": denied"),
         CORDON_ERR_ENGINE, "denied"},
        {200, "{}", CORDON_ERR_INDETERMINATE, "unexpected"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = ON_ID "/start",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_start(r.impl, ID, soon(), &err), err, rows[i].code,
                    rows[i].part);
        CHECK_INT(udsd_count(r.server), 2);
    }
}

static void EA6_not_running_is_a_conflict_whatever_status_it_has(void)
{
    static const answer rows[] = {
        {500, FAILURE("container state improper", "can only kill running containers"),
         CORDON_ERR_CONFLICT, "kill"},
        {409, FAILURE("container state improper", "can only kill running containers"),
         CORDON_ERR_CONFLICT, "kill"},
        {304, NULL, CORDON_ERR_CONFLICT, "already"},
        {500, FAILURE("invalid signal: X", "invalid signal: X"), CORDON_ERR_ENGINE, "signal: X"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = ON_ID "/kill?signal=SIGTERM",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_signal(r.impl, ID, "SIGTERM", soon(), &err), err, rows[i].code,
                    rows[i].part);
    }
}

/* The least inspect answer that a wait looks at. */
#define INSPECT(started)                                                                           \
    "{\"Id\":\"" ID "\",\"Image\":\"" ID                                                           \
    "\",\"State\":{\"Status\":\"running\",\"StartedAt\":\"" started                                \
    "\"},\"Config\":{},\"HostConfig\":{},\"NetworkSettings\":{}}"
#define STARTED INSPECT("2026-11-29T20:30:58.287909348Z")
#define WAIT    ON_ID "/wait?condition=stopped&condition=exited&interval=5ms"

static void EA1_CP4_only_a_number_from_0_to_255_is_an_exit_status(void)
{
    static const struct {
        const char *body;
        int status;
        cordon_code code;
        int exit_code;
    } rows[] = {
        {"0", 200, CORDON_OK, 0},
        {"7\n", 200, CORDON_OK, 7},
        {"255", 200, CORDON_OK, 255},
        {"256", 200, CORDON_ERR_PROTOCOL, -1},
        {"-1", 200, CORDON_ERR_PROTOCOL, -1},
        {"1e2", 200, CORDON_ERR_PROTOCOL, -1},
        {"4294967296", 200, CORDON_ERR_PROTOCOL, -1},
        {"18446744073709551615", 200, CORDON_ERR_PROTOCOL, -1},
        {"null", 200, CORDON_ERR_PROTOCOL, -1},
        {"\"0\"", 200, CORDON_ERR_PROTOCOL, -1},
        {"{\"StatusCode\":0}", 200, CORDON_ERR_PROTOCOL, -1},
        {"0 0", 200, CORDON_ERR_PROTOCOL, -1},
        {"", 200, CORDON_ERR_PROTOCOL, -1},
        {FAILURE("x", "unknown container state"), 400, CORDON_ERR_ENGINE, -1},
        {FAILURE("no such container", "no such container"), 404, CORDON_ERR_NOTFOUND, -1},
        {"0", 500, CORDON_ERR_ENGINE, -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG,
            {.path = ON_ID "/json", .status = 200, .json = STARTED},
            {.method = "POST", .path = WAIT, .status = rows[i].status, .json = rows[i].body},
        };
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        int code = -1;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        if (rows[i].code == CORDON_OK)
            CHECK_OK(ops->container_wait(r.impl, ID, soon(), &code, &err), err);
        else
            CHECK_FAILS(ops->container_wait(r.impl, ID, soon(), &code, &err), err, rows[i].code,
                        "");
        CHECK_INT(code, rows[i].exit_code);
    }
}

/* libpod would answer such a wait with 0 at once, so it is not asked. */
static void EA2_a_container_that_never_started_has_no_exit_status(void)
{
    static const char *const never[] = {INSPECT("0001-01-01T00:00:00Z"), INSPECT("")};
    for (size_t i = 0; i < COUNT(never); i++) {
        const udsd_step steps[] = {PONG, {.path = ON_ID "/json", .status = 200, .json = never[i]}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        int code = -1;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_wait(r.impl, ID, soon(), &code, &err), err, CORDON_ERR_PROTOCOL,
                    "never started");
        CHECK_INT(code, -1);
        CHECK_INT(udsd_count(r.server), 2);
    }
}

static void EA1_a_wait_that_hangs_ends_at_its_deadline(void)
{
    const udsd_step steps[] = {PONG,
                               {.path = ON_ID "/json", .status = 200, .json = STARTED},
                               {.path = WAIT, .flags = UDSD_NEVER_ANSWER}};
    cordon_auto(rig) r = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->container_wait(r.impl, ID, cordon_deadline_in_ms(300, -1), &code, &err), err,
                CORDON_ERR_TIMEOUT, "wait for container");
    CHECK_INT(code, -1);
}

static void a_container_of_another_id_is_not_ours(void)
{
    static const char other[] = "{\"Id\":\"" NET "\",\"Image\":\"" ID "\",\"State\":{},"
                                "\"Config\":{},\"HostConfig\":{},\"NetworkSettings\":{}}";
    const udsd_step steps[] = {PONG, {.path = ON_ID "/json", .status = 200, .json = other}};
    cordon_auto(rig) r = {0};
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->container_inspect(r.impl, ID, soon(), &facts, &err), err, CORDON_ERR_NOTFOUND,
                ID);
}

/* Somebody's attach may have done it; that is as good. */
static void a_container_is_set_up_once_or_was_already(void)
{
    static const struct {
        int status;
        const char *json;
        cordon_code code;
    } rows[] = {
        {204, NULL, CORDON_OK},
        {304, NULL, CORDON_OK},
        {404, "{\"cause\":\"no such container\",\"message\":\"x\",\"response\":404}",
         CORDON_ERR_NOTFOUND},
        {409, "{\"cause\":\"container state improper\",\"message\":\"x\",\"response\":409}",
         CORDON_ERR_CONFLICT},
        {500, "{\"cause\":\"x\",\"message\":\"OCI runtime error\",\"response\":500}",
         CORDON_ERR_ENGINE},
        {200, NULL, CORDON_ERR_INDETERMINATE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = ON_ID "/init",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->container_prepare(r.impl, ID, soon(), &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (rows[i].code == CORDON_OK),
                     "row %zu: %s: %.200s", i, cordon_code_name(err.code), err.message);
    }
}

/* --- streams --- */

#define ATTACH ON_ID "/attach?logs=false&stream=true&stdout=true&stderr=true&stdin=true"

static void an_attach_is_a_101_or_a_200_and_nothing_else(void)
{
    static const struct {
        const char *raw;
        cordon_code code;
    } rows[] = {
        {"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", CORDON_OK},
        {"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n", CORDON_OK},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 60\r\n\r\n"
         "{\"cause\":\"no such container\",\"message\":\"x\",\"response\":404}   ",
         CORDON_ERR_NOTFOUND},
        {"HTTP/1.1 409 Conflict\r\nContent-Length: 62\r\n\r\n"
         "{\"cause\":\"state improper\",\"message\":\"stopped\",\"response\":409}  ",
         CORDON_ERR_CONFLICT},
        {"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", CORDON_ERR_ENGINE},
        {"HTTP/1.1 204 No Content\r\n\r\n", CORDON_ERR_INDETERMINATE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG, {.method = "POST", .path = ATTACH, .raw = rows[i].raw, .flags = UDSD_CLOSE}};
        cordon_auto(rig) r = {0};
        cordon_auto_ptr(cordon_stream) stream = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->container_attach(r.impl, ID, CORDON_ATTACH_STDIN, soon(), &stream, &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (rows[i].code == CORDON_OK),
                     "row %zu: %s: %.200s", i, cordon_code_name(err.code), err.message);
        CHECK((stream != NULL) == (rows[i].code == CORDON_OK));
    }
}

static void the_log_is_the_last_bytes_of_whole_frames(void)
{
    static const char frames[] =
        "\1\0\0\0\0\0\0\4one\n\2\0\0\0\0\0\0\4two\n\1\0\0\0\0\0\0\6three\n";
    static const char cut[] = "\1\0\0\0\0\0\0\4on";
    char whole[256];
    char broken[256];
    (void)snprintf(whole, sizeof whole, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                   sizeof frames - 1);
    (void)snprintf(broken, sizeof broken, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                   sizeof cut - 1);
    size_t head = strlen(whole);
    memcpy(whole + head, frames, sizeof frames);
    size_t broken_head = strlen(broken);
    memcpy(broken + broken_head, cut, sizeof cut);
    const udsd_step steps[] = {
        PONG,
        {.path = ON_ID "/logs*", .raw = whole, .raw_length = head + sizeof frames - 1},
        {.path = ON_ID "/logs*", .raw = broken, .raw_length = broken_head + sizeof cut - 1},
    };
    cordon_auto(rig) r = {0};
    cordon_autofree char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    REQUIRE_OK(ops->container_log(r.impl, ID, 9, soon(), &text, &err), err);
    CHECK_STR(text, "wo\nthree\n");
    cordon_autofree char *none = NULL;
    CHECK_FAILS(ops->container_log(r.impl, ID, 9, soon(), &none, &err), err, CORDON_ERR_PROTOCOL,
                "");
}

static void changes_are_a_whole_list_or_none(void)
{
    static const answer rows[] = {
        {200, "[{\"Path\":\"/etc\",\"Kind\":0}]", CORDON_OK, ""},
        {200, "[]", CORDON_OK, ""},
        {200, "[{\"Path\":\"/etc\",\"Kind\":7}]", CORDON_ERR_PROTOCOL, "list changes"},
        {200, "[{\"Path\":\"/etc\",\"Kind\":0},]", CORDON_ERR_PROTOCOL, "list changes"},
        {200, "", CORDON_ERR_PROTOCOL, ""},
        {204, "", CORDON_ERR_PROTOCOL, "unexpected"},
        {404, FAILURE("no such container", "no container with ID or name x found"),
         CORDON_ERR_NOTFOUND, ""},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, ""},
        {500, FAILURE("x", "layer not known"), CORDON_ERR_ENGINE, "layer not known"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "GET",
                                    .path = ON_ID "/changes",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_changes) changes = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->container_changes(r.impl, ID, soon(), &changes, &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (rows[i].code == CORDON_OK) &&
                         strstr(err.message, rows[i].part) != NULL,
                     "row %zu: rc %d %s %.200s", i, rc, cordon_code_name(err.code), err.message);
        CHECK_INT(changes.count, i == 0 ? 1 : 0);
    }
}

#define DIED                                                                                       \
    "{\"Type\":\"container\",\"Action\":\"died\",\"Actor\":{\"ID\":\"" ID                          \
    "\",\"Attributes\":{\"containerExitCode\":\"3\"}}}\n"

static void events_come_one_line_at_a_time(void)
{
    cordon_auto(cordon_event) event = {0};
    cordon_err err = CORDON_ERR_INIT;
    size_t used = 99;
    static const char two[] = "\n" DIED DIED;
    for (size_t length = 0; length < sizeof DIED; length++) {
        REQUIRE_OK(ops->events_parse(two, length, &used, &event, &err), err);
        REQUIRE_INT(used, 0);
    }
    REQUIRE_OK(ops->events_parse(two, sizeof two - 1, &used, &event, &err), err);
    CHECK_INT(used, sizeof DIED);
    CHECK_INT(event.action, CORDON_EVENT_DIE);
    CHECK_INT(event.exit_code.value, 3);
    cordon_auto(cordon_event) none = {0};
    CHECK_FAILS(ops->events_parse("{\n", 2, &used, &none, &err), err, CORDON_ERR_PROTOCOL, "");
}

/* --- images --- */

#define IMAGE_JSON(digest)                                                                         \
    "{\"Id\":\"" NET "\",\"RepoDigests\":[\"h/x@sha256:" digest "\"],\"Os\":\"linux\","            \
    "\"Architecture\":\"amd64\",\"Config\":{},\"RootFS\":{\"Type\":\"layers\",\"Layers\":[]}}"

static void an_image_is_what_was_asked_for_or_not_found(void)
{
    static const struct {
        const char *reference;
        cordon_code code;
    } rows[] = {
        {NET, CORDON_OK},
        {"sha256:" NET, CORDON_OK},
        {"x:latest", CORDON_OK},
        {"h/x@sha256:" ID, CORDON_OK},
        {ID, CORDON_ERR_NOTFOUND},
        {"sha256:" ID, CORDON_ERR_NOTFOUND},
        {"h/x@sha256:" NET, CORDON_ERR_NOTFOUND},
    };
    const udsd_step steps[] = {PONG,
                               {.method = "GET",
                                .path = API "/images/*",
                                .status = 200,
                                .json = IMAGE_JSON(ID),
                                .flags = UDSD_REPEAT}};
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_auto(cordon_image_facts) facts = {0};
        cordon_err err = CORDON_ERR_INIT;
        int rc = ops->image_resolve(r.impl, rows[i].reference, soon(), &facts, &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (facts.id != NULL), "%s: %s %.200s",
                     rows[i].reference, cordon_code_name(err.code), err.message);
    }
    CHECK_STR(udsd_at(r.server, 4)->path, API "/images/h%2Fx%40sha256%3A" ID "/json");
}

static void a_load_is_done_when_an_image_came_out_of_it(void)
{
    static const answer rows[] = {
        {200, "{\"Names\":[\"sha256:" ID "\"]}", CORDON_OK, ""},
        {200, "{\"Names\":[]}", CORDON_ERR_ENGINE, "nothing"},
        {200, "{\"Names\":null}", CORDON_ERR_INDETERMINATE, "Names"},
        {200, "", CORDON_ERR_INDETERMINATE, ""},
        {500, FAILURE("x", "payload does not match any of the supported image formats"),
         CORDON_ERR_ENGINE, "payload"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = API "/images/load",
                                    .body_has = "tar",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->image_load(r.impl, "tar", 3, soon(), &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (rows[i].code == CORDON_OK) &&
                         strstr(err.message, rows[i].part),
                     "row %zu: %s %.200s", i, cordon_code_name(err.code), err.message);
    }
}

static void a_list_of_images_is_whole_or_refused(void)
{
    static const struct {
        const char *json;
        cordon_code code;
        size_t images;
    } rows[] = {
        {"[]", CORDON_OK, 0},
        {"null", CORDON_OK, 0},
        {"[{\"Id\":\"" ID "\",\"RepoTags\":[\"a:1\"],\"Labels\":{\"x\":\"y\"},\"Size\":5}]",
         CORDON_OK, 1},
        {"[{\"Id\":\"" ID "\",\"RepoTags\":null,\"Labels\":null}]", CORDON_OK, 1},
        {"{}", CORDON_ERR_PROTOCOL, 0},
        {"[null]", CORDON_ERR_PROTOCOL, 0},
        {"[{}]", CORDON_ERR_PROTOCOL, 0},
        {"[{\"Id\":\"12\"}]", CORDON_ERR_PROTOCOL, 0},
        {"[{\"Id\":\"" ID "\",\"RepoTags\":\"a\"}]", CORDON_ERR_PROTOCOL, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG,
            {.method = "GET", .path = API "/images/json", .status = 200, .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_image_list) list = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->image_list(r.impl, soon(), &list, &err);
        TEST_RECORDF(err.code == rows[i].code && rc == (err.code == CORDON_OK ? 0 : -1) &&
                         list.count == rows[i].images,
                     "row %zu: %s %.200s, %zu images", i, cordon_code_name(err.code), err.message,
                     list.count);
    }
}

#define LAYERS(list)                                                                               \
    "{\"Id\":\"" ID "\",\"RepoDigests\":[],\"Config\":{},\"RootFS\":{\"Layers\":" list "}}"

/* libpod takes untagged parents along, so only an image that has none may go. */
static void an_image_with_parents_is_not_removed(void)
{
    static const struct {
        const char *image;
        const char *json;
        cordon_code code;
        size_t requests;
    } rows[] = {
        {LAYERS("[\"sha256:1\"]"), "{\"Deleted\":[\"" ID "\"],\"Errors\":[]}", CORDON_OK, 3},
        {LAYERS("[\"sha256:1\"]"), "{\"Deleted\":[],\"Errors\":[\"busy\"]}", CORDON_ERR_ENGINE, 3},
        {LAYERS("[\"sha256:1\"]"), "ok", CORDON_ERR_INDETERMINATE, 3},
        {LAYERS("[\"sha256:1\",\"sha256:2\"]"), "{}", CORDON_ERR_UNSUPPORTED, 2},
        {"{\"Id\":\"" ID "\"}", "{}", CORDON_ERR_UNSUPPORTED, 2},
        {IMAGE_JSON(ID), "{}", CORDON_ERR_NOTFOUND, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG,
            {.method = "GET",
             .path = API "/images/" ID "/json",
             .status = 200,
             .json = rows[i].image},
            {.method = "DELETE",
             .path = API "/images/" ID "?force=false",
             .status = 200,
             .json = rows[i].json},
        };
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->image_remove(r.impl, ID, soon(), &err);
        TEST_RECORDF(err.code == rows[i].code && (rc == 0) == (rows[i].code == CORDON_OK),
                     "row %zu: %s %.200s", i, cordon_code_name(err.code), err.message);
        CHECK_INT(udsd_count(r.server), rows[i].requests);
    }
}

static void serving_is_podman_system_service_for_ever(void)
{
    cordon_err err = CORDON_ERR_INIT;
    char **argv = NULL;
    REQUIRE_OK(ops->serve("/usr/bin/podman", "/run/x.sock", &argv, &err), err);
    static const char *const want[] = {"/usr/bin/podman", "system", "service", "--time=0",
                                       "unix:///run/x.sock"};
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK_STR(argv[i], want[i]);
    CHECK(argv[COUNT(want)] == NULL);
    for (char **arg = argv; *arg; arg++)
        free(*arg);
    free(argv);
    argv = NULL;
    CHECK_FAILS(ops->serve("podman", "x.sock", &argv, &err), err, CORDON_ERR_INVALID, "absolute");
}

CORDON_TEST_MAIN(
    "script_podman_life", TEST(EA2_a_start_that_did_not_happen_is_no_start),
    TEST(EA6_not_running_is_a_conflict_whatever_status_it_has),
    TEST(EA1_CP4_only_a_number_from_0_to_255_is_an_exit_status),
    TEST(EA2_a_container_that_never_started_has_no_exit_status),
    TEST(EA1_a_wait_that_hangs_ends_at_its_deadline), TEST(a_container_of_another_id_is_not_ours),
    TEST(a_container_is_set_up_once_or_was_already),
    TEST(an_attach_is_a_101_or_a_200_and_nothing_else),
    TEST(the_log_is_the_last_bytes_of_whole_frames), TEST(changes_are_a_whole_list_or_none),
    TEST(events_come_one_line_at_a_time), TEST(an_image_is_what_was_asked_for_or_not_found),
    TEST(a_load_is_done_when_an_image_came_out_of_it), TEST(a_list_of_images_is_whole_or_refused),
    TEST(an_image_with_parents_is_not_removed), TEST(serving_is_podman_system_service_for_ever))

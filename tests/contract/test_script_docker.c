/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Docker engine over a scripted socket: negotiation, and what each answer to a change means. A
 * real daemon cannot be made to misbehave like this.
 */
#include "script_docker.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void the_version_is_what_both_sides_know(void)
{
    static const struct {
        const char *headers;
        const char *version_path;
    } rows[] = {
        {"Api-Version: 1.41\r\nOstype: linux\r\n", "/v1.41/version"},
        {"Api-Version: 1.44\r\n", "/v1.44/version"},
        {"Api-Version: 1.45\r\nOstype: linux\r\n", "/v1.45/version"},
        {"Api-Version: 1.52\r\nOstype: linux\r\n", "/v1.45/version"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            {.path = "/_ping", .status = 200, .json = "OK", .headers = rows[i].headers},
            {.path = rows[i].version_path, .status = 200, .json = VERSION},
        };
        cordon_auto(script) s = {0};
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        CHECK(udsd_complaint(s.server) == NULL);
    }
}

static void a_daemon_that_is_no_docker_is_told_by_name(void)
{
    static const struct {
        int status;
        const char *headers;
        const char *version;
        cordon_code code;
        const char *part;
    } rows[] = {
        {200, "Api-Version: 1.40\r\n", VERSION, CORDON_ERR_UNSUPPORTED, "1.40"},
        {200, "Api-Version: 1.12\r\n", VERSION, CORDON_ERR_UNSUPPORTED, "20.10"},
        {200, "Api-Version: 1.41\r\nLibpod-Api-Version: 4.3.1\r\n", VERSION, CORDON_ERR_UNSUPPORTED,
         "use kind = \"podman\""},
        {200, PING_HEADERS,
         "{\"Version\":\"4\",\"Os\":\"linux\",\"Arch\":\"amd64\",\"Components\":[{\"Name\":"
         "\"Podman Engine\"}]}",
         CORDON_ERR_UNSUPPORTED, "use kind = \"podman\""},
        {200, "Api-Version: 1.41\r\nOstype: windows\r\n", VERSION, CORDON_ERR_UNSUPPORTED,
         "windows"},
        {200, NULL, VERSION, CORDON_ERR_PROTOCOL, "does not answer like Docker"},
        {200, "Api-Version: one\r\n", VERSION, CORDON_ERR_PROTOCOL, "not an API version"},
        {200, PING_HEADERS, "{}", CORDON_ERR_PROTOCOL, "$.Version"},
        {200, PING_HEADERS, "<html>", CORDON_ERR_PROTOCOL, "ask for the version"},
        {500, PING_HEADERS, VERSION, CORDON_ERR_ENGINE, "HTTP 500"},
        {204, PING_HEADERS, VERSION, CORDON_ERR_PROTOCOL, "HTTP 204"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            {.path = "/_ping", .status = rows[i].status, .json = "OK", .headers = rows[i].headers},
            {.path = "/v1.41/version", .status = 200, .json = rows[i].version},
        };
        udsd *server = udsd_start(steps, COUNT(steps));
        void *impl = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(open_on(server, &impl, &err), err, rows[i].code, rows[i].part);
        CHECK(impl == NULL);
        udsd_stop(server);
    }
}

static void a_daemon_whose_oldest_version_is_too_new_is_unsupported(void)
{
    static const udsd_step steps[] = {
        {.path = "/_ping", .status = 200, .json = "OK", .headers = "Api-Version: 1.60\r\n"},
        {.path = "/v1.45/version",
         .status = 400,
         .json = "{\"message\":\"client version 1.45 is too old. Minimum supported API version is "
                 "1.50\"}"},
    };
    udsd *server = udsd_start(steps, COUNT(steps));
    void *impl = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(open_on(server, &impl, &err), err, CORDON_ERR_UNSUPPORTED, "Minimum supported");
    udsd_stop(server);
}

static void a_silent_daemon_ends_at_the_deadline_by_name(void)
{
    static const udsd_step steps[] = {{.path = "/_ping", .flags = UDSD_NEVER_ANSWER}};
    udsd *server = udsd_start(steps, COUNT(steps));
    void *impl = NULL;
    char endpoint[256];
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(endpoint, sizeof endpoint, "unix://%s", udsd_path(server));
    const cordon_engine_address address = {.endpoint = endpoint};
    CHECK_FAILS(ops->open(&address, cordon_deadline_in_ms(200, -1), &impl, &err), err,
                CORDON_ERR_TIMEOUT, endpoint);
    CHECK_CONTAINS(err.message, "ping");
    udsd_stop(server);
}

static const cordon_network_spec network = {
    .name = "n", .subnet = "10.213.0.0/29", .internal = true, .no_gateway = true};

static int create_network(void *impl, char **ret_id, cordon_err *err)
{
    return ops->network_create(impl, &network, soon(), ret_id, NULL, err);
}

static const cordon_container_spec container = {
    .name = "c",
    .image_id = HEX,
    .user = "1:1",
    .working_dir = "/",
    .hostname = "h",
    .userns = CORDON_USERNS_HOST,
};

static int create_container(void *impl, char **ret_id, cordon_err *err)
{
    return ops->container_create(impl, &container, soon(), ret_id, err);
}

static int start(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->container_start(impl, HEX, soon(), err);
}

static int send_signal(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->container_signal(impl, HEX, "SIGTERM", soon(), err);
}

static int remove_container(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->container_remove(impl, HEX, soon(), err);
}

static int remove_network(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->network_remove(impl, HEX, soon(), err);
}

static int load(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->image_load(impl, "tar", 3, soon(), err);
}

static void network_creates_are_judged_by_their_answer(void)
{
    static const answer answers[] = {
        {{.status = 201, .json = "{\"Id\":\"" HEX "\",\"Warning\":\"\"}"}, CORDON_OK, "", true},
        {{.status = 201, .json = "{\"Id\":\"" HEX "\",\"Warning\":\"exists twice\"}"},
         CORDON_ERR_WARNED,
         "exists twice",
         true},
        {{.status = 201, .json = "{\"Id\":\"" HEX "\""}, CORDON_ERR_INDETERMINATE, "", false},
        {{.status = 201, .json = "{\"Id\":\"short\"}"}, CORDON_ERR_INDETERMINATE, "no id", false},
        {{.status = 201}, CORDON_ERR_INDETERMINATE, "", false},
        {{.status = 200, .json = "{\"Id\":\"" HEX "\"}"},
         CORDON_ERR_INDETERMINATE,
         "HTTP 200",
         false},
        {{.status = 201, .json = "{\"Id\":\"" HEX "\"}", .length_delta = 10, .flags = UDSD_CLOSE},
         CORDON_ERR_INDETERMINATE,
         "",
         false},
        {{.flags = UDSD_CLOSE_UNREAD}, CORDON_ERR_INDETERMINATE, "", false},
        {{.status = 409, .json = "{\"message\":\"network with name n already exists\"}"},
         CORDON_ERR_CONFLICT,
         "already exists",
         false},
        {{.status = 403,
          .json = "{\"message\":\"Pool overlaps with other one on this address "
                  "space\"}"},
         CORDON_ERR_OVERLAP,
         "overlaps",
         false},
        {{.status = 400, .json = "{\"message\":\"invalid pool request: Pool overlaps\"}"},
         CORDON_ERR_OVERLAP,
         "overlaps",
         false},
        {{.status = 500, .json = "text"}, CORDON_ERR_ENGINE, "text", false},
        {{.status = 500}, CORDON_ERR_ENGINE, "no reason given", false},
    };
    check_answers(create_network, answers, COUNT(answers));
}

static void container_creates_are_judged_by_their_answer(void)
{
    static const answer answers[] = {
        {{.path = "/v1.41/containers/create?name=c",
          .status = 201,
          .json = "{\"Id\":\"" HEX "\",\"Warnings\":[]}"},
         CORDON_OK,
         "",
         true},
        {{.status = 201,
          .json = "{\"Id\":\"" HEX "\",\"Warnings\":[\"Your kernel does not support "
                  "pids limit\"]}"},
         CORDON_ERR_WARNED,
         "pids limit",
         true},
        {{.status = 404, .json = "{\"message\":\"No such image: sha256:1\"}"},
         CORDON_ERR_NOTFOUND,
         "No such image",
         false},
        {{.status = 400,
          .json = "{\"message\":\"invalid mount config for type \\\"bind\\\": bind "
                  "source path does not exist: /x\"}"},
         CORDON_ERR_NOTFOUND,
         "/x",
         false},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"},
         CORDON_ERR_INDETERMINATE,
         "page not found",
         false},
        {{.status = 409, .json = "{\"message\":\"Conflict. The container name is in use\"}"},
         CORDON_ERR_CONFLICT,
         "in use",
         false},
        {{.flags = UDSD_CLOSE_UNREAD}, CORDON_ERR_INDETERMINATE, "", false},
    };
    check_answers(create_container, answers, COUNT(answers));
}

static void starts_signals_and_removals_are_judged_by_their_answer(void)
{
    static const answer starts[] = {
        {{.method = "POST", .path = "/v1.41/containers/" HEX "/start", .status = 204},
         CORDON_OK,
         "",
         false},
        {{.status = 304}, CORDON_ERR_CONFLICT, "start a container", false},
        {{.status = 200, .json = "{}"}, CORDON_ERR_INDETERMINATE, "HTTP 200", false},
        {{.status = 404, .json = "{\"message\":\"network x not found\"}"},
         CORDON_ERR_NOTFOUND,
         "network x",
         false},
        {{.status = 400, .json = "{\"message\":\"exec: no such file\"}"},
         CORDON_ERR_ENGINE,
         "no such file",
         false},
        {{.flags = UDSD_CLOSE_UNREAD}, CORDON_ERR_INDETERMINATE, "", false},
    };
    static const answer signals[] = {
        {{.path = "/v1.41/containers/" HEX "/kill?signal=SIGTERM", .status = 204},
         CORDON_OK,
         "",
         false},
        {{.status = 409, .json = "{\"message\":\"Container x is not running\"}"},
         CORDON_ERR_CONFLICT,
         "not running",
         false},
        {{.status = 500,
          .json = "{\"message\":\"Cannot kill container: x: Container x is not "
                  "running\"}"},
         CORDON_ERR_CONFLICT,
         "not running",
         false},
        {{.status = 404, .json = "{\"message\":\"No such container: x\"}"},
         CORDON_ERR_NOTFOUND,
         "No such container",
         false},
        {{.status = 500, .json = "{\"message\":\"daemon trouble\"}"},
         CORDON_ERR_ENGINE,
         "daemon trouble",
         false},
    };
    static const answer removals[] = {
        {{.method = "DELETE", .path = "/v1.41/containers/" HEX "?force=1&v=1", .status = 204},
         CORDON_OK,
         "",
         false},
        {{.status = 404, .json = "{\"message\":\"No such container: x\"}"},
         CORDON_ERR_NOTFOUND,
         "",
         false},
        {{.status = 409, .json = "{\"message\":\"removal of container x is already in progress\"}"},
         CORDON_ERR_CONFLICT,
         "in progress",
         false},
        {{.status = 500, .json = "{\"message\":\"driver failed\"}"},
         CORDON_ERR_ENGINE,
         "failed",
         false},
    };
    check_answers(start, starts, COUNT(starts));
    check_answers(send_signal, signals, COUNT(signals));
    check_answers(remove_container, removals, COUNT(removals));
}

static void network_removals_and_loads_are_judged_by_their_answer(void)
{
    static const answer removals[] = {
        {{.method = "DELETE", .path = "/v1.41/networks/" HEX, .status = 204}, CORDON_OK, "", false},
        {{.status = 403, .json = "{\"message\":\"network n has active endpoints\"}"},
         CORDON_ERR_CONFLICT,
         "active endpoints",
         false},
        {{.status = 409, .json = "{\"message\":\"busy\"}"}, CORDON_ERR_CONFLICT, "busy", false},
        {{.status = 404, .json = "{\"message\":\"network x not found\"}"},
         CORDON_ERR_NOTFOUND,
         "",
         false},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"},
         CORDON_ERR_INDETERMINATE,
         "",
         false},
    };
    static const answer loads[] = {
        {{.method = "POST",
          .path = "/v1.41/images/load?quiet=1",
          .body_has = "tar",
          .status = 200,
          .json = "{\"stream\":\"Loaded image ID: sha256:1\"}",
          .flags = UDSD_CHUNKED},
         CORDON_OK,
         "",
         false},
        {{.status = 200, .json = "{\"error\":\"no space\"}"}, CORDON_ERR_ENGINE, "no space", false},
        {{.status = 200, .json = ""}, CORDON_ERR_PROTOCOL, "", false},
        {{.status = 500, .json = "{\"message\":\"invalid tar\"}"},
         CORDON_ERR_ENGINE,
         "invalid tar",
         false},
    };
    check_answers(remove_network, removals, COUNT(removals));
    check_answers(load, loads, COUNT(loads));
}

/* The second network is joined by a request of its own, within the create. */
static void a_second_endpoint_is_connected_before_anybody_sees_the_container(void)
{
    static const cordon_endpoint_spec endpoints[] = {
        {.network_id = HEX, .network_name = "e", .ipv4 = "10.213.0.2"},
        {.network_id = OTHER, .network_name = "v", .ipv4 = "10.213.0.10"},
    };
    static const int statuses[] = {200, 404};
    for (size_t i = 0; i < COUNT(statuses); i++) {
        const udsd_step steps[] = {
            PING,
            ASK,
            {.path = "/v1.41/containers/create?name=c",
             .body_has = "\"NetworkMode\":\"" HEX "\"",
             .status = 201,
             .json = "{\"Id\":\"" OTHER "\",\"Warnings\":null}"},
            {.path = "/v1.41/networks/" OTHER "/connect",
             .body_has =
                 "{\"Container\":\"" OTHER
                 "\",\"EndpointConfig\":{\"IPAMConfig\":{\"IPv4Address\":\"10.213.0.10\"}}}",
             .status = statuses[i],
             .json = "{\"message\":\"network v not found\"}"},
        };
        cordon_auto(script) s = {0};
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        cordon_container_spec spec = container;
        spec.endpoints = endpoints;
        spec.endpoint_count = 2;
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        int rc = ops->container_create(s.impl, &spec, soon(), &id, &err);
        CHECK_INT(rc, statuses[i] == 200 ? 0 : -1);
        CHECK_INT(err.code, statuses[i] == 200 ? CORDON_OK : CORDON_ERR_NOTFOUND);
        CHECK_STR(id, OTHER);
        CHECK(udsd_complaint(s.server) == NULL);
    }
}

CORDON_TEST_MAIN("docker over a script", TEST(the_version_is_what_both_sides_know),
                 TEST(a_daemon_that_is_no_docker_is_told_by_name),
                 TEST(a_daemon_whose_oldest_version_is_too_new_is_unsupported),
                 TEST(a_silent_daemon_ends_at_the_deadline_by_name),
                 TEST(network_creates_are_judged_by_their_answer),
                 TEST(container_creates_are_judged_by_their_answer),
                 TEST(starts_signals_and_removals_are_judged_by_their_answer),
                 TEST(network_removals_and_loads_are_judged_by_their_answer),
                 TEST(a_second_endpoint_is_connected_before_anybody_sees_the_container))

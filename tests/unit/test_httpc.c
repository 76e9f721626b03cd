/* SPDX-License-Identifier: Apache-2.0 */
/* One request and its answer, against a scripted server that may do anything. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "kit/httpc.h"
#include "support/test.h"
#include "support/udsd.h"

static cordon_httpc *client_of(const udsd *server)
{
    cordon_httpc_endpoint endpoint = {.unix_path = udsd_path(server)};
    cordon_httpc *client = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    return client;
}

static void stop(udsd **server)
{
    udsd_stop(*server);
}

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(20000, -1);
}

static cordon_httpc_request get(const char *path)
{
    return (cordon_httpc_request){.method = "GET", .path = path, .response_max_bytes = 10000};
}

static cordon_httpc_request change(const char *path, const char *body)
{
    return (cordon_httpc_request){.method = "POST",
                                  .path = path,
                                  .body = body,
                                  .body_length = body ? strlen(body) : 0,
                                  .response_max_bytes = 10000,
                                  .mutating = true};
}

#define SERVER(name, ...)                                                                          \
    static const udsd_step name##_steps[] = {__VA_ARGS__};                                         \
    cordon_cleanup(stop) udsd *name =                                                              \
        udsd_start(name##_steps, sizeof name##_steps / sizeof name##_steps[0]);                    \
    cordon_auto_ptr(cordon_httpc) client = client_of(name);                                        \
    cordon_auto(cordon_httpc_response) response = {0};                                             \
    cordon_err err = CORDON_ERR_INIT

static void status_headers_and_body_come_back(void)
{
    SERVER(s, {.method = "GET",
               .path = "/v1.41/info?x=1",
               .status = 404,
               .headers = "Api-Version: 1.41\r\nServer: Docker/20\r\n",
               .json = "{\"message\":\"no\"}"});
    cordon_httpc_request request = get("/v1.41/info?x=1");
    REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    CHECK_INT(response.status, 404);
    CHECK_STR(response.api_version, "1.41");
    CHECK_STR(response.server, "Docker/20");
    CHECK_STR(response.content_type, "application/json");
    CHECK_STR(response.libpod_api_version, "");
    CHECK_STR(cordon_buf_text(&response.body), "{\"message\":\"no\"}");
    CHECK(udsd_complaint(s) == NULL);
}

static void what_is_sent_is_plain(void)
{
    SERVER(s, {.status = 200, .json = "{}", .flags = UDSD_REPEAT});
    static const char *const headers[] = {"Content-Type: application/json", "X-A: b", NULL};
    cordon_httpc_request request = change("/containers/create?name=a%20b", "{\"Image\":\"x\"}");
    request.headers = headers;
    REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    const udsd_request *got = udsd_at(s, 0);
    REQUIRE(got != NULL);
    CHECK_STR(got->head, "POST /containers/create?name=a%20b HTTP/1.1\r\nHost: localhost\r\n"
                         "Accept: */*\r\nContent-Type: application/json\r\nX-A: b\r\n"
                         "Content-Length: 13\r\n\r\n");
    CHECK_STR(got->body, "{\"Image\":\"x\"}");
}

static void every_method_frames_its_body_right(void)
{
    static const struct {
        const char *method;
        const char *body;
        const char *has;
        const char *lacks;
    } rows[] = {
        {"POST", NULL, "POST /x HTTP/1.1\r\n", "Content-Type"},
        {"POST", NULL, "Content-Length: 0\r\n", "Expect"},
        {"DELETE", NULL, "DELETE /x HTTP/1.1\r\n", "Content-Length"},
        {"GET", NULL, "GET /x HTTP/1.1\r\n", "Content-Length"},
        {"PUT", "abc", "Content-Length: 3\r\n", "Content-Type"},
        {"HEAD", NULL, "HEAD /x HTTP/1.1\r\n", "Content-Length"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SERVER(s, {.status = 204, .flags = UDSD_REPEAT});
        cordon_httpc_request request = change("/x", rows[i].body);
        request.method = rows[i].method;
        REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
        CHECK_INT(response.status, 204);
        CHECK_CONTAINS(udsd_at(s, 0)->head, rows[i].has);
        CHECK(strstr(udsd_at(s, 0)->head, rows[i].lacks) == NULL);
    }
}

static void chunked_and_dripping_answers_are_whole(void)
{
    SERVER(s, {.path = "/a", .status = 200, .json = "{\"chunked\":true}", .flags = UDSD_CHUNKED},
           {.path = "/b", .status = 200, .json = "{\"drip\":1}", .drip_bytes = 7, .drip_ms = 1},
           {.path = "/c", .raw = "HTTP/1.1 200 OK\r\n\r\nto the end", .flags = UDSD_CLOSE});
    static const char *const paths[] = {"/a", "/b", "/c"};
    static const char *const bodies[] = {"{\"chunked\":true}", "{\"drip\":1}", "to the end"};
    for (size_t i = 0; i < 3; i++) {
        cordon_httpc_request request = get(paths[i]);
        cordon_httpc_response_clear(&response);
        REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
        CHECK_STR(cordon_buf_text(&response.body), bodies[i]);
    }
}

static void one_connection_serves_many_calls(void)
{
    SERVER(s, {.status = 200, .json = "{}", .flags = UDSD_REPEAT});
    for (int i = 0; i < 20; i++) {
        cordon_httpc_request request = get("/ping");
        cordon_httpc_response_clear(&response);
        REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    }
    CHECK_INT(udsd_connections(s), 1);
    CHECK_INT(udsd_count(s), 20);
}

static void a_connection_that_died_idle_is_replaced(void)
{
    SERVER(s, {.path = "/a", .status = 200, .json = "{}", .flags = UDSD_CLOSE | UDSD_REPEAT});
    for (int i = 0; i < 3; i++) {
        cordon_httpc_request request = get("/a");
        cordon_httpc_response_clear(&response);
        REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    }
    CHECK_INT(udsd_count(s), 3);
}

/* The server takes the change, says nothing and closes: did it happen? It is never sent twice. */
static void a_change_is_sent_once_and_its_lost_answer_is_indeterminate(void)
{
    SERVER(s, {.method = "GET", .status = 200, .json = "{}", .flags = UDSD_REPEAT},
           {.method = "POST", .flags = UDSD_CLOSE_UNREAD | UDSD_REPEAT});
    cordon_httpc_request warm = get("/ping");
    REQUIRE_OK(cordon_httpc_call(client, &warm, soon(), &response, &err), err);
    cordon_httpc_request request = change("/containers/abc/start", NULL);
    CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                CORDON_ERR_INDETERMINATE, "POST /containers/abc/start: no whole answer");
    CHECK_CONTAINS(err.message, "may have happened");
    CHECK_INT(udsd_count(s), 2);
}

static void broken_answers_are_protocol_errors_and_indeterminate_for_changes(void)
{
    static const struct {
        udsd_step step;
        const char *why;
    } rows[] = {
        {{.raw = "HTTP/1.1 200 OK\r\nContent-Le", .flags = UDSD_CLOSE}, "no whole answer"},
        {{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .flags = UDSD_CLOSE},
         "no whole answer"},
        {{.status = 200, .json = "{}", .length_delta = 5, .flags = UDSD_CLOSE}, "no whole answer"},
        {{.status = 200, .json = "{\"a\":1}", .close_after = 60}, "no whole answer"},
        {{.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
          .flags = UDSD_CLOSE},
         "no whole answer"},
        {{.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          .flags = UDSD_CLOSE},
         "no whole answer"},
        {{.raw = "garbage garbage garbage\r\n\r\n", .flags = UDSD_CLOSE}, "no whole answer"},
        {{.raw = "\x15\x03\x01\x00\x02\x02\x28", .raw_length = 7, .flags = UDSD_CLOSE},
         "no whole answer"},
        {{.raw = "HTTP/1.0 200 OK\r\n\r\n{}", .flags = UDSD_CLOSE}, "does not begin with"},
        {{.raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .flags = UDSD_CLOSE},
         "interim answer"},
        {{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
          .flags = UDSD_CLOSE},
         "a second Content-Length"},
        {{.raw = "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", .flags = UDSD_CLOSE}, "CRLF"},
        {{.raw = "HTTP/1.1 200 OK\r\nA: ", .filler_bytes = 40000, .flags = UDSD_CLOSE}, "answer"},
        {{.raw = "HTTP/1.1 200 OK\r\n\r\n", .filler_bytes = 10001, .flags = UDSD_CLOSE},
         "the answer: more than the limit of 10000 bytes"},
        {{.raw = "HTTP/1.1 200 OK\r\n\r\n", .filler_bytes = UINT64_C(1) << 40},
         "the answer: more than the limit of 10000 bytes"},
        {{.flags = UDSD_CLOSE_UNREAD}, "no whole answer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int mutating = 0; mutating < 2; mutating++) {
            udsd_step step = rows[i].step;
            step.flags |= UDSD_REPEAT;
            cordon_cleanup(stop) udsd *s = udsd_start(&step, 1);
            cordon_auto_ptr(cordon_httpc) client = client_of(s);
            cordon_auto(cordon_httpc_response) response = {0};
            cordon_err err = CORDON_ERR_INIT;
            cordon_httpc_request request = mutating ? change("/x", "{}") : get("/x");
            CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                        mutating ? CORDON_ERR_INDETERMINATE : CORDON_ERR_PROTOCOL, rows[i].why);
            CHECK_CONTAINS(err.message, udsd_path(s));
        }
    }
}

static void LC4_a_server_that_never_answers_is_a_timeout_that_names_call_and_endpoint(void)
{
    SERVER(s, {.flags = UDSD_NEVER_ANSWER | UDSD_REPEAT});
    cordon_httpc_request request = get("/info");
    CHECK_FAILS(cordon_httpc_call(client, &request, cordon_deadline_in_ms(50, -1), &response, &err),
                err, CORDON_ERR_TIMEOUT, "engine.sock: GET /info: the deadline passed");
    cordon_err_clear(&err);
    request = change("/x", NULL);
    CHECK_FAILS(cordon_httpc_call(client, &request, cordon_deadline_in_ms(50, -1), &response, &err),
                err, CORDON_ERR_INDETERMINATE, "POST /x: the deadline passed");
    CHECK(udsd_wait_count(s, 2));
}

static void LC4_an_endless_drip_does_not_move_the_deadline(void)
{
    SERVER(s, {.raw = "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567890123456789",
               .drip_bytes = 1,
               .drip_ms = 500,
               .flags = UDSD_REPEAT});
    cordon_httpc_request request = get("/info");
    CHECK_FAILS(
        cordon_httpc_call(client, &request, cordon_deadline_in_ms(100, -1), &response, &err), err,
        CORDON_ERR_TIMEOUT, "GET /info");
}

/* Half a head and then silence; chunks for ever. */
static void LC4_half_a_head_is_a_timeout_and_chunks_for_ever_have_a_ceiling(void)
{
    SERVER(s, {.path = "/half", .raw = "HTTP/1.1 200 OK\r\nContent-", .flags = UDSD_HOLD},
           {.path = "/chunks",
            .raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n",
            .filler_bytes = UINT64_C(1) << 40});
    cordon_httpc_request request = get("/half");
    CHECK_FAILS(
        cordon_httpc_call(client, &request, cordon_deadline_in_ms(100, -1), &response, &err), err,
        CORDON_ERR_TIMEOUT, "GET /half: the deadline passed");
    cordon_err_clear(&err);
    request = get("/chunks");
    CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                CORDON_ERR_PROTOCOL, "the answer: more than the limit of 10000 bytes");
    CHECK_CONTAINS(err.message, "GET /chunks");
}

static void an_expired_deadline_sends_nothing(void)
{
    SERVER(s, {.status = 200, .flags = UDSD_REPEAT});
    cordon_httpc_request request = change("/x", NULL);
    CHECK_FAILS(cordon_httpc_call(client, &request, cordon_deadline_in_ms(0, -1), &response, &err),
                err, CORDON_ERR_TIMEOUT, "POST /x");
    CHECK_INT(udsd_connections(s), 0);
}

typedef struct canceller {
    int fds[2];
    udsd *server;
} canceller;

static void *cancel_after_a_request(void *argument)
{
    const canceller *c = argument;
    (void)udsd_wait_count(c->server, 1);
    (void)!write(c->fds[1], "x", 1);
    return NULL;
}

static void cancel_ends_a_call_that_waits(void)
{
    SERVER(s, {.flags = UDSD_NEVER_ANSWER | UDSD_REPEAT});
    canceller c = {.server = s};
    pthread_t thread;
    REQUIRE_INT(pipe(c.fds), 0);
    cordon_autoclose int out = c.fds[0];
    cordon_autoclose int in = c.fds[1];
    REQUIRE_INT(pthread_create(&thread, NULL, cancel_after_a_request, &c), 0);
    cordon_httpc_request request = get("/wait");
    CHECK_FAILS(
        cordon_httpc_call(client, &request, cordon_deadline_in_ms(20000, out), &response, &err),
        err, CORDON_ERR_CANCELLED, "GET /wait: cancelled");
    (void)pthread_join(thread, NULL);
    (void)in;
}

static void unusable_requests_are_refused_before_anything_is_sent(void)
{
    SERVER(s, {.status = 200, .flags = UDSD_REPEAT});
    static const char *const bad_headers[][2] = {{"X: a\r\nY: b", NULL},
                                                 {"X", NULL},
                                                 {"X:y", NULL},
                                                 {": y", NULL},
                                                 {"X: ", NULL},
                                                 {"X Y: z", NULL},
                                                 {"content-length: 5", NULL},
                                                 {"Host: evil", NULL},
                                                 {"Expect: x", NULL},
                                                 {"Transfer-Encoding: chunked", NULL}};
    static const char *const bad_paths[] = {"",     "info",      "/a b",  "/a\r\nX: y",
                                            "/a#b", "/\xc3\xa9", "/a\tb", "/\x7f"};
    static const char *const bad_methods[] = {"", "get", "GET /x", "G\n"};
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        cordon_httpc_request request = get("/x");
        request.headers = bad_headers[i];
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                    CORDON_ERR_INVALID, "a header");
    }
    for (size_t i = 0; i < sizeof bad_paths / sizeof bad_paths[0]; i++) {
        cordon_httpc_request request = get(bad_paths[i]);
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                    CORDON_ERR_INVALID, "a path");
    }
    for (size_t i = 0; i < sizeof bad_methods / sizeof bad_methods[0]; i++) {
        cordon_httpc_request request = get("/x");
        request.method = bad_methods[i];
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                    CORDON_ERR_INVALID, "a method");
    }
    CHECK_INT(udsd_connections(s), 0);
}

/* --- uploads from a source --- */

typedef struct source {
    uint64_t left;
    bool fail;
} source;

static int read_source(void *context, char *buffer, size_t size, size_t *ret_length,
                       cordon_err *err)
{
    source *src = context;
    if (src->fail && src->left < 200000)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "disk on fire");
    size_t count = src->left < size ? (size_t)src->left : size;
    memset(buffer, 'u', count);
    src->left -= count;
    *ret_length = count;
    return 0;
}

static cordon_httpc_request upload(source *src, uint64_t announced)
{
    return (cordon_httpc_request){.method = "POST",
                                  .path = "/images/load",
                                  .read = read_source,
                                  .read_context = src,
                                  .body_length = announced,
                                  .response_max_bytes = 1000,
                                  .mutating = true};
}

static void a_large_body_is_streamed_from_its_source(void)
{
    SERVER(s, {.method = "POST", .path = "/images/load", .status = 200, .json = "{}"});
    source src = {.left = 3000000};
    cordon_httpc_request request = upload(&src, 3000000);
    REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    CHECK_INT(udsd_at(s, 0)->body_length, 3000000);
    CHECK_CONTAINS(udsd_at(s, 0)->head, "Content-Length: 3000000\r\n");
    CHECK(strstr(udsd_at(s, 0)->head, "Expect") == NULL);
}

static void a_source_that_fails_or_ends_early_ends_the_call(void)
{
    SERVER(s, {.status = 200, .json = "{}", .flags = UDSD_REPEAT});
    source broken = {.left = 2000000, .fail = true};
    cordon_httpc_request request = upload(&broken, 2000000);
    CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                CORDON_ERR_INDETERMINATE, "disk on fire");
    source shorter = {.left = 1000};
    request = upload(&shorter, 2000);
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                CORDON_ERR_INDETERMINATE, "shorter than announced");
}

/* Nothing in the environment leads engine calls elsewhere. */
static void UX5_proxies_and_netrc_in_the_environment_are_ignored(void)
{
    static const char *const names[] = {"http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy",
                                        "https_proxy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        REQUIRE_INT(setenv(names[i], "http://127.0.0.1:1", 1), 0);
    {
        SERVER(s, {.status = 200, .json = "{}", .flags = UDSD_REPEAT});
        cordon_httpc_request request = get("/info");
        CHECK_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
        CHECK(strstr(udsd_at(s, 0)->head, "Authorization") == NULL);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unsetenv(names[i]);
}

static void redirects_are_answers_like_others(void)
{
    SERVER(s, {.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"});
    cordon_httpc_request request = get("/x");
    REQUIRE_OK(cordon_httpc_call(client, &request, soon(), &response, &err), err);
    CHECK_INT(response.status, 302);
    CHECK_INT(udsd_count(s), 1);
}

static void LC6_dispositions_of_signals_are_left_alone(void)
{
    SERVER(s, {.flags = UDSD_CLOSE_UNREAD | UDSD_REPEAT});
    struct sigaction before;
    struct sigaction after;
    REQUIRE_INT(sigaction(SIGPIPE, NULL, &before), 0);
    CHECK(before.sa_handler == SIG_DFL);
    source src = {.left = 5000000};
    cordon_httpc_request request = upload(&src, 5000000);
    CHECK_FAILS(cordon_httpc_call(client, &request, soon(), &response, &err), err,
                CORDON_ERR_INDETERMINATE, "POST /images/load");
    REQUIRE_INT(sigaction(SIGPIPE, NULL, &after), 0);
    CHECK(after.sa_handler == SIG_DFL);
}

static void escaping_keeps_only_unreserved_bytes(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(100);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_httpc_escape(&out, "aZ0-._~ /?&=%\"{}\xc3\xa9\n", &err), err);
    CHECK_STR(cordon_buf_text(&out), "aZ0-._~%20%2F%3F%26%3D%25%22%7B%7D%C3%A9%0A");
}

CORDON_TEST_MAIN("httpc", TEST(status_headers_and_body_come_back), TEST(what_is_sent_is_plain),
                 TEST(every_method_frames_its_body_right),
                 TEST(chunked_and_dripping_answers_are_whole),
                 TEST(one_connection_serves_many_calls),
                 TEST(a_connection_that_died_idle_is_replaced),
                 TEST(a_change_is_sent_once_and_its_lost_answer_is_indeterminate),
                 TEST(broken_answers_are_protocol_errors_and_indeterminate_for_changes),
                 TEST(LC4_a_server_that_never_answers_is_a_timeout_that_names_call_and_endpoint),
                 TEST(LC4_an_endless_drip_does_not_move_the_deadline),
                 TEST(LC4_half_a_head_is_a_timeout_and_chunks_for_ever_have_a_ceiling),
                 TEST(an_expired_deadline_sends_nothing), TEST(cancel_ends_a_call_that_waits),
                 TEST(unusable_requests_are_refused_before_anything_is_sent),
                 TEST(a_large_body_is_streamed_from_its_source),
                 TEST(a_source_that_fails_or_ends_early_ends_the_call),
                 TEST(UX5_proxies_and_netrc_in_the_environment_are_ignored),
                 TEST(redirects_are_answers_like_others),
                 TEST(LC6_dispositions_of_signals_are_left_alone),
                 TEST(escaping_keeps_only_unreserved_bytes))

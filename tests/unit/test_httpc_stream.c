/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: attach (upgraded and hijacked), events and wait (chunked), and everything they can
 * break. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "kit/httpc.h"
#include "support/test.h"
#include "support/udsd.h"

static void stop(udsd **server)
{
    udsd_stop(*server);
}

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(20000, -1);
}

static cordon_httpc *client_of(const udsd *server)
{
    cordon_httpc_endpoint endpoint = {.unix_path = udsd_path(server)};
    cordon_httpc *client = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    return client;
}

static const char *const upgrade[] = {"Connection: Upgrade", "Upgrade: tcp", NULL};

static cordon_httpc_request attach(void)
{
    return (cordon_httpc_request){.method = "POST",
                                  .path = "/containers/abc/attach?stream=1",
                                  .headers = upgrade,
                                  .response_max_bytes = 10000};
}

#define SERVER(name, ...)                                                                          \
    static const udsd_step name##_steps[] = {__VA_ARGS__};                                         \
    cordon_cleanup(stop) udsd *name =                                                              \
        udsd_start(name##_steps, sizeof name##_steps / sizeof name##_steps[0]);                    \
    cordon_auto_ptr(cordon_httpc) client = client_of(name);                                        \
    cordon_auto(cordon_httpc_response) response = {0};                                             \
    cordon_auto_ptr(cordon_stream) stream = NULL;                                                  \
    cordon_httpc_request request = attach();                                                       \
    cordon_err err = CORDON_ERR_INIT

#define OPEN() cordon_httpc_stream(client, &request, soon(), &response, &stream, &err)

/* Everything up to the end, in pieces of `size`. */
static int drain(cordon_stream *stream, size_t size, cordon_buf *out, cordon_err *err)
{
    char piece[4096];
    size_t length = 0;
    do {
        if (cordon_stream_read_wait(stream, piece, size, soon(), &length, err) < 0 ||
            cordon_buf_append(out, piece, length, err) < 0)
            return -1;
    } while (length > 0);
    return 0;
}

static void an_upgraded_connection_goes_both_ways_and_half_closes(void)
{
    SERVER(s, {.raw = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
                      "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly bytes",
               .flags = UDSD_READ_TAIL});
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    REQUIRE_OK(OPEN(), err);
    REQUIRE(stream != NULL);
    CHECK_INT(response.status, 101);
    CHECK_STR(response.content_type, "application/vnd.docker.raw-stream");
    CHECK_STR(udsd_at(s, 0)->head,
              "POST /containers/abc/attach?stream=1 HTTP/1.1\r\nHost: localhost\r\n"
              "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n");
    REQUIRE_OK(cordon_stream_write(stream, "release frame", 13, soon(), &err), err);
    REQUIRE_OK(cordon_stream_shutdown(stream, &err), err);
    REQUIRE_OK(drain(stream, 5, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), "early bytes");
    REQUIRE(udsd_wait_tail(s, 0));
    CHECK_STR(udsd_at(s, 0)->tail, "release frame");
}

static void a_hijacked_200_is_the_same_raw_stream(void)
{
    SERVER(s, {.raw = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"
                      "\1\0\0\0\0\0\0\2hi",
               .raw_length = 78,
               .flags = UDSD_READ_TAIL});
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    REQUIRE_OK(OPEN(), err);
    REQUIRE(stream != NULL);
    CHECK_INT(response.status, 200);
    REQUIRE_OK(cordon_stream_shutdown(stream, &err), err);
    REQUIRE_OK(drain(stream, 4096, &out, &err), err);
    CHECK_INT(out.length, 10);
    CHECK(memcmp(out.data, "\1\0\0\0\0\0\0\2hi", 10) == 0);
}

static void chunked_events_arrive_one_by_one(void)
{
    SERVER(s, {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "8\r\n{\"a\":1}\n\r\n8\r\n{\"a\":2}\n\r\n0\r\n\r\n",
               .drip_bytes = 1,
               .flags = UDSD_HOLD});
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    request.method = "GET";
    REQUIRE_OK(OPEN(), err);
    REQUIRE(stream != NULL);
    REQUIRE_OK(drain(stream, 4096, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), "{\"a\":1}\n{\"a\":2}\n");
    CHECK(strstr(udsd_at(s, 0)->head, "Content-Length") == NULL);
}

/* Docker's wait: the head comes at once, the body when the container ends. */
static void the_head_alone_opens_the_stream(void)
{
    SERVER(s, {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n", .flags = UDSD_HOLD});
    char byte;
    size_t length = 0;
    cordon_stream_state state = CORDON_STREAM_UNKNOWN;
    REQUIRE_OK(OPEN(), err);
    REQUIRE(stream != NULL);
    REQUIRE_OK(cordon_stream_read(stream, &byte, 1, &length, &state, &err), err);
    CHECK_INT(state, CORDON_STREAM_AGAIN);
    struct pollfd fd = {.fd = cordon_stream_fd(stream), .events = POLLIN};
    CHECK_INT(poll(&fd, 1, 0), 0);
    CHECK_FAILS(
        cordon_stream_read_wait(stream, &byte, 1, cordon_deadline_in_ms(20, -1), &length, &err),
        err, CORDON_ERR_TIMEOUT, "POST /containers/abc/attach");
    cordon_err_clear(&err);
    REQUIRE_OK(cordon_stream_read(stream, &byte, 1, &length, &state, &err), err);
    CHECK_INT(state, CORDON_STREAM_AGAIN);
}

static void a_body_of_known_length_ends_by_itself(void)
{
    SERVER(s, {.status = 200, .json = "{\"StatusCode\":7}", .flags = UDSD_HOLD});
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    char byte;
    size_t length = 9;
    cordon_stream_state state = CORDON_STREAM_UNKNOWN;
    REQUIRE_OK(OPEN(), err);
    REQUIRE_OK(drain(stream, 3, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), "{\"StatusCode\":7}");
    REQUIRE_OK(cordon_stream_read(stream, &byte, 1, &length, &state, &err), err);
    CHECK_INT(state, CORDON_STREAM_END);
    CHECK_INT(length, 0);
}

static void another_status_is_a_whole_answer_and_no_stream(void)
{
    SERVER(s, {.status = 404, .json = "{\"message\":\"No such container\"}", .flags = UDSD_HOLD});
    REQUIRE_OK(OPEN(), err);
    CHECK(stream == NULL);
    CHECK_INT(response.status, 404);
    CHECK_STR(cordon_buf_text(&response.body), "{\"message\":\"No such container\"}");
}

static void an_error_body_has_its_ceiling(void)
{
    SERVER(s, {.raw = "HTTP/1.1 500 x\r\n\r\n", .filler_bytes = 20000, .flags = UDSD_CLOSE});
    CHECK_FAILS(OPEN(), err, CORDON_ERR_PROTOCOL, "the answer: more than the limit of 10000");
    CHECK(stream == NULL);
}

static void a_request_body_is_sent(void)
{
    SERVER(s, {.method = "POST", .body_has = "{\"x\":1}", .status = 200, .flags = UDSD_HOLD});
    request.body = "{\"x\":1}";
    request.body_length = 7;
    REQUIRE_OK(OPEN(), err);
    CHECK_INT(response.status, 200);
    CHECK(udsd_complaint(s) == NULL);
}

static void heads_that_are_none_are_refused(void)
{
    static const struct {
        const char *raw;
        uint64_t filler;
        const char *why;
    } rows[] = {
        {"x", 0, "closed before an answer"},
        {"HTTP/1.1 101 UPGRADED\r\nA: b\r\n", 0, "closed before an answer"},
        {"HTTP/1.1 101 UPGRADED\nA: b\n\n", 0, "CRLF"},
        {"HTTP/1.0 200 OK\r\n\r\n", 0, "does not begin with"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 0, "interim"},
        {"HTTP/1.1 200 OK\r\nX: ", 40000, "a head line over the limit"},
        {"garbage", 40000, "a head line over the limit"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 0, "both"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int mutating = 0; mutating < 2; mutating++) {
            udsd_step step = {
                .raw = rows[i].raw, .filler_bytes = rows[i].filler, .flags = UDSD_CLOSE};
            cordon_cleanup(stop) udsd *s = udsd_start(&step, 1);
            cordon_auto_ptr(cordon_httpc) client = client_of(s);
            cordon_auto(cordon_httpc_response) response = {0};
            cordon_auto_ptr(cordon_stream) stream = NULL;
            cordon_err err = CORDON_ERR_INIT;
            cordon_httpc_request request = attach();
            request.mutating = mutating == 1;
            CHECK_FAILS(OPEN(), err, mutating ? CORDON_ERR_INDETERMINATE : CORDON_ERR_PROTOCOL,
                        rows[i].why);
            CHECK_CONTAINS(err.message, "POST /containers/abc/attach");
        }
    }
}

static void bodies_that_break_are_errors_and_stay_errors(void)
{
    static const char *const rows[][2] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "closed before its end"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "closed before its end"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
         "closed before its end"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "no hex number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        udsd_step step = {.raw = rows[i][0], .flags = UDSD_CLOSE};
        cordon_cleanup(stop) udsd *s = udsd_start(&step, 1);
        cordon_auto_ptr(cordon_httpc) client = client_of(s);
        cordon_auto(cordon_httpc_response) response = {0};
        cordon_auto_ptr(cordon_stream) stream = NULL;
        cordon_auto(cordon_buf) out = cordon_buf_make(1000);
        cordon_err err = CORDON_ERR_INIT;
        cordon_httpc_request request = attach();
        char byte;
        size_t length = 0;
        cordon_stream_state state = CORDON_STREAM_UNKNOWN;
        REQUIRE_OK(OPEN(), err);
        CHECK_FAILS(drain(stream, 100, &out, &err), err, CORDON_ERR_PROTOCOL, rows[i][1]);
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_stream_read(stream, &byte, 1, &length, &state, &err), err,
                    CORDON_ERR_PROTOCOL, "broken before");
    }
}

static void LC6_a_peer_that_has_gone_is_an_error_and_no_signal(void)
{
    SERVER(s, {.raw = "HTTP/1.1 101 UPGRADED\r\n\r\n", .flags = UDSD_CLOSE});
    static char block[65536];
    struct sigaction action;
    REQUIRE_INT(sigaction(SIGPIPE, NULL, &action), 0);
    REQUIRE(action.sa_handler == SIG_DFL);
    REQUIRE_OK(OPEN(), err);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++)
        rc = cordon_stream_write(stream, block, sizeof block, soon(), &err);
    CHECK_INT(rc, -1);
    CHECK_INT(err.code, CORDON_ERR_PROTOCOL);
    CHECK_CONTAINS(err.message, "the connection broke");
}

static void a_peer_that_does_not_read_is_a_timeout(void)
{
    /* It drips its reply for longer than this test lives, and does not read meanwhile. */
    SERVER(s, {.raw = "HTTP/1.1 101 UPGRADED\r\n\r\nabc",
               .drip_bytes = 26,
               .drip_ms = 20000,
               .flags = UDSD_REPEAT});
    static char block[4000000];
    REQUIRE_OK(OPEN(), err);
    CHECK_FAILS(
        cordon_stream_write(stream, block, sizeof block, cordon_deadline_in_ms(300, -1), &err), err,
        CORDON_ERR_TIMEOUT, "POST /containers/abc/attach");
}

static void LC4_no_answer_is_a_timeout_that_names_the_call(void)
{
    SERVER(s, {.flags = UDSD_NEVER_ANSWER});
    CHECK_FAILS(cordon_httpc_stream(client, &request, cordon_deadline_in_ms(50, -1), &response,
                                    &stream, &err),
                err, CORDON_ERR_TIMEOUT, "POST /containers/abc/attach");
    CHECK(stream == NULL);
}

static void a_missing_socket_is_unreachable(void)
{
    cordon_httpc_endpoint endpoint = {.unix_path = "/nonexistent/x.sock"};
    cordon_auto_ptr(cordon_httpc) client = NULL;
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_httpc_request request = attach();
    cordon_err err = CORDON_ERR_INIT;
    request.mutating = true;
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    CHECK_FAILS(OPEN(), err, CORDON_ERR_UNREACHABLE, "unix:///nonexistent/x.sock: no such socket");
}

static void cancel_ends_a_read_and_keeps_the_stream(void)
{
    SERVER(s, {.raw = "HTTP/1.1 101 UPGRADED\r\n\r\n", .flags = UDSD_READ_TAIL});
    int fds[2];
    char byte;
    size_t length = 0;
    cordon_auto(cordon_buf) out = cordon_buf_make(100);
    REQUIRE_OK(OPEN(), err);
    REQUIRE_INT(pipe(fds), 0);
    cordon_autoclose int readable = fds[0];
    cordon_autoclose int writable = fds[1];
    REQUIRE_INT(write(writable, "x", 1), 1);
    CHECK_FAILS(cordon_stream_read_wait(stream, &byte, 1, cordon_deadline_in_ms(20000, readable),
                                        &length, &err),
                err, CORDON_ERR_CANCELLED, "cancelled");
    cordon_err_clear(&err);
    REQUIRE_OK(cordon_stream_shutdown(stream, &err), err);
    CHECK_OK(drain(stream, 10, &out, &err), err);
}

static void sixty_four_mebibytes_pass_through_in_constant_memory(void)
{
    SERVER(s, {.raw = "HTTP/1.1 101 UPGRADED\r\n\r\n",
               .filler_bytes = UINT64_C(64) << 20,
               .flags = UDSD_CLOSE});
    static char piece[65536];
    uint64_t total = 0;
    size_t length = 0;
    REQUIRE_OK(OPEN(), err);
    do {
        REQUIRE_OK(cordon_stream_read_wait(stream, piece, sizeof piece, soon(), &length, &err),
                   err);
        total += length;
    } while (length > 0);
    CHECK(total == UINT64_C(64) << 20);
}

static void a_body_source_is_refused(void)
{
    SERVER(s, {.status = 200, .flags = UDSD_REPEAT});
    request.read = (cordon_httpc_read_fn *)1;
    CHECK_FAILS(OPEN(), err, CORDON_ERR_INVALID, "takes no body source");
    CHECK_INT(udsd_connections(s), 0);
}

CORDON_TEST_MAIN(
    "httpc_stream", TEST(an_upgraded_connection_goes_both_ways_and_half_closes),
    TEST(a_hijacked_200_is_the_same_raw_stream), TEST(chunked_events_arrive_one_by_one),
    TEST(the_head_alone_opens_the_stream), TEST(a_body_of_known_length_ends_by_itself),
    TEST(another_status_is_a_whole_answer_and_no_stream), TEST(an_error_body_has_its_ceiling),
    TEST(a_request_body_is_sent), TEST(heads_that_are_none_are_refused),
    TEST(bodies_that_break_are_errors_and_stay_errors),
    TEST(LC6_a_peer_that_has_gone_is_an_error_and_no_signal),
    TEST(a_peer_that_does_not_read_is_a_timeout),
    TEST(LC4_no_answer_is_a_timeout_that_names_the_call), TEST(a_missing_socket_is_unreachable),
    TEST(cancel_ends_a_read_and_keeps_the_stream),
    TEST(sixty_four_mebibytes_pass_through_in_constant_memory), TEST(a_body_source_is_refused))

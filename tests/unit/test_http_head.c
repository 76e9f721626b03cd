/* SPDX-License-Identifier: Apache-2.0 */
/* Response heads: good and bad tables over whole heads, fed line by line as libcurl does. */
#include "kit/http_head.h"
#include "support/test.h"

/* Feeds a whole head; -1 at the first refusal. */
static int feed(cordon_http_head *head, const char *text, cordon_err *err)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
        if (cordon_http_head_line(head, text, length, err) < 0)
            return -1;
        text += length;
    }
    return 0;
}

static void a_daemon_s_head_is_read(void)
{
    cordon_httpc_response r = {0};
    cordon_http_head head = {.response = &r};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(
        feed(&head,
             "HTTP/1.1 201 Created\r\nApi-Version: 1.41\r\ncontent-type:application/json  \r\n"
             "Libpod-API-Version: 4.3.1\r\nServer: Docker/20.10.24 (linux)\r\n"
             "OSType: linux\r\nX-Empty:\r\nContent-Length: 12\r\n\r\n",
             &err),
        err);
    CHECK(head.complete && head.has_length && !head.chunked);
    CHECK_INT(head.length, 12);
    CHECK_INT(r.status, 201);
    CHECK_STR(r.api_version, "1.41");
    CHECK_STR(r.content_type, "application/json");
    CHECK_STR(r.libpod_api_version, "4.3.1");
    CHECK_STR(r.server, "Docker/20.10.24 (linux)");
    CHECK_STR(r.ostype, "linux");
}

static void an_upgrade_and_a_bare_status_are_read(void)
{
    static const struct {
        const char *text;
        int status;
        cordon_http_framing framing;
        bool done;
    } rows[] = {
        {"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", 101,
         CORDON_HTTP_RAW, false},
        {"HTTP/1.1 101 UPGRADED\r\nContent-Length: 0\r\n\r\n", 101, CORDON_HTTP_RAW, false},
        {"HTTP/1.1 200\r\n\r\n", 200, CORDON_HTTP_RAW, false},
        {"HTTP/1.1 200 \r\nTransfer-Encoding: Chunked\r\n\r\n", 200, CORDON_HTTP_CHUNKED, false},
        {"HTTP/1.1 204 No Content\r\n\r\n", 204, CORDON_HTTP_LENGTH, true},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 304, CORDON_HTTP_LENGTH, true},
        {"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n", 404, CORDON_HTTP_LENGTH, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_httpc_response r = {0};
        cordon_http_head head = {.response = &r};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(feed(&head, rows[i].text, &err), err);
        cordon_http_body body = cordon_http_body_of(&head);
        CHECK_INT(r.status, rows[i].status);
        CHECK_INT(body.framing, rows[i].framing);
        CHECK_INT(body.done, rows[i].done);
    }
}

static void malformed_heads_are_refused(void)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"HTTP/1.0 200 OK\r\n", "does not begin with"},
        {"HTTP/2 200\r\n", "does not begin with"},
        {"http/1.1 200 OK\r\n", "does not begin with"},
        {"ICY 200 OK\r\n", "does not begin with"},
        {"\r\n", "does not begin with"},
        {"SSH-2.0-OpenSSH\r\n", "does not begin with"},
        {"HTTP/1.1 20 OK\r\n", "a status that is no number"},
        {"HTTP/1.1 2000 OK\r\n", "a status that is no number"},
        {"HTTP/1.1 +20 OK\r\n", "a status that is no number"},
        {"HTTP/1.1 600 OK\r\n", "a status that is no number"},
        {"HTTP/1.1 100 Continue\r\n", "interim"},
        {"HTTP/1.1 103 Early Hints\r\n", "interim"},
        {"HTTP/1.1 200 OK\n", "does not end in CRLF"},
        {"HTTP/1.1 200 OK\r\nA: b\n", "does not end in CRLF"},
        {"HTTP/1.1 200 OK\r\nA: b\rc\r\n", "control characters"},
        {"HTTP/1.1 200 OK\r\nA: \x1b[2J\r\n", "control characters"},
        {"HTTP/1.1 200 OK\r\nno colon\r\n", "without a colon"},
        {"HTTP/1.1 200 OK\r\n: v\r\n", "name that is none"},
        {"HTTP/1.1 200 OK\r\nA : v\r\n", "name that is none"},
        {"HTTP/1.1 200 OK\r\nA: 1\r\n folded: x\r\n", "name that is none"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 1\r\n",
         "a second Content-Length"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n", "Content-Length that is no number"},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", "Content-Length that is no number"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n", "Content-Length that is no number"},
        {"HTTP/1.1 200 OK\r\nContent-Length:\r\n", "Content-Length that is no number"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n",
         "Content-Length that is no number"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", "a transfer coding other"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n", "a transfer coding other"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
         "a transfer coding other"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
         "both Content-Length and Transfer-Encoding"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_httpc_response r = {0};
        cordon_http_head head = {.response = &r};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(feed(&head, bad[i].text, &err), err, CORDON_ERR_PROTOCOL, bad[i].why);
        CHECK(!head.complete);
    }
}

static void a_nul_is_a_control_character(void)
{
    cordon_httpc_response r = {0};
    cordon_http_head head = {.response = &r};
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_http_head_line(&head, "HTTP/1.1 200 O\0K\r\n", 18, &err), err,
                CORDON_ERR_PROTOCOL, "control characters");
}

static void a_header_too_long_for_its_place_is_as_good_as_absent(void)
{
    cordon_httpc_response r = {0};
    cordon_http_head head = {.response = &r};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(feed(&head,
                    "HTTP/1.1 200 OK\r\nApi-Version: 1.41111111111111111111111111111111\r\n\r\n",
                    &err),
               err);
    CHECK_STR(r.api_version, "");
}

static void many_headers_are_refused(void)
{
    cordon_httpc_response r = {0};
    cordon_http_head head = {.response = &r};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(feed(&head, "HTTP/1.1 200 OK\r\n", &err), err);
    for (int i = 0; i < CORDON_HTTPC_HEADERS_MAX; i++)
        REQUIRE_OK(feed(&head, "A: b\r\n", &err), err);
    cordon_http_head at_limit = head;
    REQUIRE_OK(feed(&at_limit, "\r\n", &err), err);
    REQUIRE_OK(feed(&head, "A: b\r\n", &err), err);
    CHECK_FAILS(feed(&head, "\r\n", &err), err, CORDON_ERR_PROTOCOL, "over the limit");
}

static void long_heads_are_refused(void)
{
    static char line[1024];
    cordon_httpc_response r = {0};
    cordon_http_head head = {.response = &r};
    cordon_err err = CORDON_ERR_INIT;
    memset(line, 'a', sizeof line);
    line[1] = ':';
    memcpy(line + sizeof line - 2, "\r\n", 2);
    REQUIRE_OK(feed(&head, "HTTP/1.1 200 OK\r\n", &err), err);
    for (int i = 0; i < 31; i++)
        REQUIRE_OK(cordon_http_head_line(&head, line, sizeof line, &err), err);
    CHECK_FAILS(cordon_http_head_line(&head, line, sizeof line, &err), err, CORDON_ERR_PROTOCOL,
                "over the limit");
}

CORDON_TEST_MAIN("http_head", TEST(a_daemon_s_head_is_read),
                 TEST(an_upgrade_and_a_bare_status_are_read), TEST(malformed_heads_are_refused),
                 TEST(a_nul_is_a_control_character),
                 TEST(a_header_too_long_for_its_place_is_as_good_as_absent),
                 TEST(many_headers_are_refused), TEST(long_heads_are_refused))

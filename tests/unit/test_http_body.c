/* SPDX-License-Identifier: Apache-2.0 */
/* Response bodies: every cut of the input and every size of the output gives the same bytes. */
#include "kit/buf.h"
#include "kit/http_head.h"
#include "support/test.h"

static cordon_http_body chunked(void)
{
    return (cordon_http_body){.framing = CORDON_HTTP_CHUNKED};
}

/* Decodes text given in pieces of `in_size` into pieces of `out_size`; stops at done. */
static int decode(cordon_http_body *body, const char *text, size_t length, size_t in_size,
                  size_t out_size, cordon_buf *out, size_t *ret_used, cordon_err *err)
{
    char piece[256];
    size_t at = 0;
    while (at < length && !body->done) {
        size_t count = length - at < in_size ? length - at : in_size;
        size_t used = 0;
        size_t made = 0;
        if (cordon_http_body_decode(body, text + at, count, piece, out_size, &used, &made, err) <
                0 ||
            cordon_buf_append(out, piece, made, err) < 0)
            return -1;
        at += used;
    }
    *ret_used = at;
    return 0;
}

static void chunks_are_decoded_whatever_the_cuts(void)
{
    static const char text[] =
        "5\r\nhello\r\n01;a=\"b\"\r\n \r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nrest";
    for (size_t in = 1; in < sizeof text; in++) {
        for (size_t out_size = 1; out_size < 20; out_size += 3) {
            cordon_auto(cordon_buf) out = cordon_buf_make(1000);
            cordon_http_body body = chunked();
            cordon_err err = CORDON_ERR_INIT;
            size_t used = 0;
            REQUIRE_OK(decode(&body, text, sizeof text - 1, in, out_size, &out, &used, &err), err);
            REQUIRE(body.done);
            CHECK_STR(cordon_buf_text(&out), "hello 0123456789");
            CHECK_INT(used, sizeof text - 1 - 4);
            CHECK_OK(cordon_http_body_closed(&body, &err), err);
        }
    }
}

static void malformed_chunks_are_refused(void)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"\r\n", "chunk size that is no hex"},
        {"0x5\r\n", "chunk size that is no hex"},
        {" 5\r\n", "chunk size that is no hex"},
        {"-5\r\n", "chunk size that is no hex"},
        {"5 \r\n", "chunk size that is no hex"},
        {";x\r\n", "chunk size that is no hex"},
        {"8000000000000000\r\n", "chunk size that is no hex"},
        {"10000000000000000\r\n", "chunk size that is no hex"},
        {"5\nhello", "does not end in CRLF"},
        {"1\r\nab\r\n", "longer than its size"},
        {"1\r\na\n", "does not end in CRLF"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (size_t in = 1; in <= strlen(bad[i].text); in++) {
            cordon_auto(cordon_buf) out = cordon_buf_make(1000);
            cordon_http_body body = chunked();
            cordon_err err = CORDON_ERR_INIT;
            size_t used = 0;
            CHECK_FAILS(decode(&body, bad[i].text, strlen(bad[i].text), in, 64, &out, &used, &err),
                        err, CORDON_ERR_PROTOCOL, bad[i].why);
        }
    }
}

static void LC4_an_endless_chunk_line_or_trailer_is_refused(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    cordon_http_body body = chunked();
    cordon_err err = CORDON_ERR_INIT;
    char text[300];
    size_t used = 0;
    memset(text, '0', sizeof text);
    CHECK_FAILS(decode(&body, text, sizeof text, sizeof text, 64, &out, &used, &err), err,
                CORDON_ERR_PROTOCOL, "line over the limit");
    cordon_err_clear(&err);
    body = chunked();
    REQUIRE_OK(decode(&body, "0\r\n", 3, 3, 64, &out, &used, &err), err);
    int rc = 0;
    for (int i = 0; i < 10000 && rc == 0; i++)
        rc = decode(&body, "A: b\r\n", 6, 6, 64, &out, &used, &err);
    CHECK_INT(rc, -1);
    CHECK_CONTAINS(err.message, "trailers over the limit");
}

static void a_body_of_known_length_ends_there(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    cordon_http_body body = {.framing = CORDON_HTTP_LENGTH, .left = 5};
    cordon_err err = CORDON_ERR_INIT;
    size_t used = 0;
    REQUIRE_OK(decode(&body, "hello world", 11, 3, 2, &out, &used, &err), err);
    CHECK_STR(cordon_buf_text(&out), "hello");
    CHECK_INT(used, 5);
    CHECK(body.done);
}

static void a_close_too_early_is_refused_and_a_raw_close_is_the_end(void)
{
    cordon_http_body with_length = {.framing = CORDON_HTTP_LENGTH, .left = 5};
    cordon_http_body chunks = chunked();
    cordon_http_body raw = {.framing = CORDON_HTTP_RAW};
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_http_body_closed(&with_length, &err), err, CORDON_ERR_PROTOCOL,
                "closed before its end");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_http_body_closed(&chunks, &err), err, CORDON_ERR_PROTOCOL,
                "closed before its end");
    cordon_err_clear(&err);
    CHECK_OK(cordon_http_body_closed(&raw, &err), err);
    CHECK(raw.done);
}

CORDON_TEST_MAIN("http_body", TEST(chunks_are_decoded_whatever_the_cuts),
                 TEST(malformed_chunks_are_refused),
                 TEST(LC4_an_endless_chunk_line_or_trailer_is_refused),
                 TEST(a_body_of_known_length_ends_there),
                 TEST(a_close_too_early_is_refused_and_a_raw_close_is_the_end))

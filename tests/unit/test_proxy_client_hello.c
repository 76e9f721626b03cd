/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's ClientHello parser: whole, cut at every byte, spread over records of every size, and
 * broken in every way that could hide another server's name.
 */
#include <stdlib.h>

#include "proxy/client_hello.h"
#include "support/hello.h"
#include "support/test.h"

/* Parses an exact heap copy, so that a sanitizer sees a read past the window. */
static cordon_hello_status parse(const uint8_t *bytes, size_t length, cordon_hello *hello)
{
    uint8_t *copy = malloc(length + 1);
    memcpy(copy, bytes, length);
    copy = realloc(copy, length > 0 ? length : 1);
    cordon_hello_status status = cordon_hello_parse(copy, length, hello);
    free(copy);
    return status;
}

static bool names(const cordon_hello *hello, const char *name)
{
    return hello->server_name_length == strlen(name) &&
           memcmp(hello->server_name, name, strlen(name)) == 0;
}

static void check_bad(const hello_bytes *bytes, cordon_reason reason, const char *what)
{
    cordon_hello hello;
    cordon_hello_status status = parse(bytes->data, bytes->length, &hello);
    TEST_RECORDF(status == CORDON_HELLO_BAD && hello.reason == reason,
                 "%s: status %d reason %s, want %s", what, status, cordon_reason_name(hello.reason),
                 cordon_reason_name(reason));
}

static void a_hello_is_read_however_its_records_are_cut(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "Ok.test"});
    for (size_t most = 1; most <= message.length + 1; most++) {
        cordon_hello hello;
        hello_records(&bytes, &message, most);
        CHECK_INT(parse(bytes.data, bytes.length, &hello), CORDON_HELLO_DONE);
        CHECK(names(&hello, "Ok.test"));
    }
}

static void every_proper_prefix_asks_for_more(void)
{
    static const size_t sizes[] = {1, 3, 7, 50, 16384};
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = 100});
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        hello_records(&bytes, &message, sizes[i]);
        for (size_t length = 0; length < bytes.length; length++) {
            cordon_hello hello = {0};
            TEST_RECORDF(parse(bytes.data, length, &hello) == CORDON_HELLO_MORE,
                         "records of %zu, %zu bytes: %s", sizes[i], length,
                         cordon_reason_name(hello.reason));
        }
    }
}

static void bytes_after_the_hello_are_not_looked_at(void)
{
    static hello_bytes bytes;
    cordon_hello hello;
    hello_for(&bytes, "ok.test");
    hello_add(&bytes, "\x14\x03\x03\x00\x01\x01GET / HTTP/1.1", 20);
    CHECK_INT(parse(bytes.data, bytes.length, &hello), CORDON_HELLO_DONE);
    CHECK(names(&hello, "ok.test"));
}

static void what_is_not_tls_is_told_from_its_first_bytes(void)
{
    static const char *const others[] = {
        "GET / HTTP/1.1\r\n", "CONNECT evil.test:443", "SSH-2.0-x",
        "\x80\x2e\x01\x03",   "\x17\x03\x03",          "\x16\x02\x00",
        "\x16\x03\x04",       "\x16\xfe\xfd",          "\x05\x01"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        hello_bytes bytes = {.length = 0};
        hello_add(&bytes, others[i], strlen(others[i]));
        check_bad(&bytes, CORDON_REASON_NOT_TLS, others[i]);
    }
}

static void a_hello_without_a_name_is_refused(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = NULL});
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_NO_SERVER_NAME, "no server_name");
    hello_message(&message, &(hello_knobs){.no_extensions = true});
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_NO_SERVER_NAME, "no extensions");
}

static void a_second_name_is_refused_whatever_the_first(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "ok.test", .second_name = "ok.test"});
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "repeated extension");
    /* Two entries in one list. */
    hello_bytes body = {.length = 0};
    hello_put(&body, 20, 2);
    hello_add(&body, "\0\0\7ok.test\0\0\7no.test", 20);
    hello_message(&message, &(hello_knobs){.name = NULL});
    size_t list = message.length - 2 - 7;
    hello_extension(&message, 0, body.data, body.length);
    hello_close(&message, list, 2);
    hello_close(&message, 1, 3);
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "two entries");
}

static void a_hidden_name_is_refused_also_behind_the_right_one(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "ok.test", .encrypted = true});
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_ENCRYPTED_HELLO, "encrypted hello");
}

static void a_name_that_is_no_host_name_is_a_mismatch(void)
{
    static const char *const wrong[] = {"ok.test.", "1.2.3.4", "ok test",     "*.test",
                                        "[::1]",    ".",       "ok.test:443", "ok..test"};
    static hello_bytes bytes;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hello_for(&bytes, wrong[i]);
        check_bad(&bytes, CORDON_REASON_SERVER_NAME_MISMATCH, wrong[i]);
    }
    char name[301];
    memset(name, 'a', sizeof name);
    name[300] = '\0';
    hello_for(&bytes, name);
    check_bad(&bytes, CORDON_REASON_SERVER_NAME_MISMATCH, "300 letters");
    hello_for(&bytes, "ok.testX");
    bytes.data[bytes.length - 1] = '\0';
    check_bad(&bytes, CORDON_REASON_SERVER_NAME_MISMATCH, "a NUL at the end");
    hello_for(&bytes, "");
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "an empty name");
}

/* Every byte of every length field, changed by one either way, yields no name but the right one. */
static void a_changed_length_never_yields_another_name(void)
{
    static hello_bytes good;
    static hello_bytes bytes;
    hello_for(&good, "ok.test");
    for (size_t i = 0; i < good.length; i++) {
        for (int delta = -1; delta <= 1; delta += 2) {
            cordon_hello hello;
            bytes = good;
            bytes.data[i] = (uint8_t)(bytes.data[i] + delta);
            bool in_name = i >= good.length - 7;
            if (parse(bytes.data, bytes.length, &hello) == CORDON_HELLO_DONE && !in_name)
                CHECK(names(&hello, "ok.test"));
        }
    }
}

static void a_message_must_end_where_its_record_ends(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "ok.test"});
    hello_add(&message, "\1\0\0\0", 4);
    hello_records(&bytes, &message, 16384);
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "second message in the record");
    /* Seen before the record is whole. */
    bytes.length -= 6;
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "the same, cut");
}

static void other_records_between_the_pieces_are_refused(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    hello_message(&message, &(hello_knobs){.name = "ok.test"});
    hello_records(&bytes, &message, 60);
    bytes.data[65] = 23;
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "application data in between");
    hello_records(&bytes, &message, 60);
    bytes.data[68] = bytes.data[69] = 0;
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "empty record");
    hello_records(&bytes, &message, 16384);
    bytes.data[3] = 0x40;
    bytes.data[4] = 0x01;
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "record over 2^14");
    hello_records(&bytes, &message, 16384);
    bytes.data[5] = 2;
    check_bad(&bytes, CORDON_REASON_HELLO_MALFORMED, "a ServerHello");
}

static void a_hello_is_bounded_however_it_comes(void)
{
    static hello_bytes message;
    static hello_bytes bytes;
    cordon_hello hello;
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = 16000});
    hello_records(&bytes, &message, 16384);
    CHECK_INT(parse(bytes.data, bytes.length, &hello), CORDON_HELLO_DONE);
    /* The headers count: the same message in small records is over the bound. */
    hello_records(&bytes, &message, 64);
    check_bad(&bytes, CORDON_REASON_HELLO_TOO_LONG, "16 KiB in small records");
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = 20000});
    hello_records(&bytes, &message, 16384);
    bytes.length = 9;
    check_bad(&bytes, CORDON_REASON_HELLO_TOO_LONG, "20 KiB announced");
    /* One-byte records never reach the message's end within the bound. */
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = 10000});
    hello_records(&bytes, &message, 1);
    check_bad(&bytes, CORDON_REASON_HELLO_TOO_LONG, "one byte a record");
}

CORDON_TEST_MAIN("proxy_client_hello", TEST(a_hello_is_read_however_its_records_are_cut),
                 TEST(every_proper_prefix_asks_for_more),
                 TEST(bytes_after_the_hello_are_not_looked_at),
                 TEST(what_is_not_tls_is_told_from_its_first_bytes),
                 TEST(a_hello_without_a_name_is_refused),
                 TEST(a_second_name_is_refused_whatever_the_first),
                 TEST(a_hidden_name_is_refused_also_behind_the_right_one),
                 TEST(a_name_that_is_no_host_name_is_a_mismatch),
                 TEST(a_changed_length_never_yields_another_name),
                 TEST(a_message_must_end_where_its_record_ends),
                 TEST(other_records_between_the_pieces_are_refused),
                 TEST(a_hello_is_bounded_however_it_comes))

/* SPDX-License-Identifier: Apache-2.0 */
/* Records between core and gate: what is sealed can be read; anything changed, cut or added cannot.
 */
#include <stdlib.h>

#include "kit/frame.h"
#include "kit/hash.h"
#include "support/test.h"

#define MAGIC "CDNTEST1"

static const uint8_t key[CORDON_FRAME_KEY_BYTES] = {1, 2, 3};

/* Three fields: text, number, empty. */
static bool make(cordon_frame *frame, const uint8_t *with)
{
    cordon_err err = CORDON_ERR_INIT;
    return CHECK_OK(cordon_frame_init(frame, MAGIC, 4096, &err), err) &&
           CHECK_OK(cordon_frame_add_string(frame, 1, "argv0", &err), err) &&
           CHECK_OK(cordon_frame_add_u64(frame, 2, UINT64_C(0x0102030405060708), &err), err) &&
           CHECK_OK(cordon_frame_add_bytes(frame, 65535, NULL, 0, &err), err) &&
           CHECK_OK(cordon_frame_seal(frame, with, &err), err);
}

static void what_was_sealed_is_read_back_in_order(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_frame_reader reader = {0};
    cordon_frame_field field = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *text = NULL;
    uint64_t number = 0;
    REQUIRE(make(&frame, key));
    REQUIRE_INT(frame.bytes.length, 44 + 6 + 5 + 6 + 8 + 6);
    REQUIRE_OK(cordon_frame_open(&reader, MAGIC, frame.bytes.data, frame.bytes.length, key, &err),
               err);
    REQUIRE(cordon_frame_next(&reader, &field));
    CHECK_INT(field.tag, 1);
    CHECK_OK(cordon_frame_field_text(&field, 5, &text, &err), err);
    CHECK_STR(text, "argv0");
    REQUIRE(cordon_frame_next(&reader, &field));
    CHECK_INT(field.tag, 2);
    CHECK_OK(cordon_frame_field_u64(&field, &number, &err), err);
    CHECK(number == UINT64_C(0x0102030405060708));
    REQUIRE(cordon_frame_next(&reader, &field));
    CHECK_INT(field.tag, 65535);
    CHECK_INT(field.length, 0);
    CHECK(!cordon_frame_next(&reader, &field));
    CHECK(!cordon_frame_next(&reader, &field));
}

/* The format is a contract between two programs, so its bytes are written down here. */
static void the_bytes_are_exactly_these(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    static const uint8_t head[] = {'C', 'D', 'N', 'T', 'E', 'S', 'T', '1', 0,   0,
                                   0,   8,   0,   7,   0,   0,   0,   2,   'h', 'i'};
    uint8_t mac[32];
    REQUIRE_OK(cordon_frame_init(&frame, MAGIC, 4096, &err), err);
    REQUIRE_OK(cordon_frame_add_string(&frame, 7, "hi", &err), err);
    REQUIRE_OK(cordon_frame_seal(&frame, cordon_frame_unkeyed, &err), err);
    REQUIRE_INT(frame.bytes.length, sizeof head + 32);
    CHECK(memcmp(frame.bytes.data, head, sizeof head) == 0);
    cordon_hmac_sha256(cordon_frame_unkeyed, 32, head, sizeof head, mac);
    CHECK(memcmp(frame.bytes.data + sizeof head, mac, sizeof mac) == 0);
}

static void an_empty_record_is_a_record(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_frame_reader reader = {0};
    cordon_frame_field field = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_frame_init(&frame, MAGIC, CORDON_FRAME_OVERHEAD_BYTES, &err), err);
    REQUIRE_OK(cordon_frame_seal(&frame, key, &err), err);
    REQUIRE_OK(cordon_frame_open(&reader, MAGIC, frame.bytes.data, frame.bytes.length, key, &err),
               err);
    CHECK(!cordon_frame_next(&reader, &field));
}

static void a_cut_anywhere_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};
    REQUIRE(make(&frame, key));
    for (size_t length = 0; length < frame.bytes.length; length++) {
        /* On the heap, so that a read past the cut is seen. */
        cordon_autofree char *bytes = malloc(length + 1);
        cordon_frame_reader reader = {0};
        cordon_err err = CORDON_ERR_INIT;
        memcpy(bytes, frame.bytes.data, length);
        CHECK_FAILS(cordon_frame_open(&reader, MAGIC, bytes, length, key, &err), err,
                    CORDON_ERR_PROTOCOL, "a record cut after");
        CHECK(reader.next == NULL);
    }
}

static void one_changed_bit_anywhere_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};
    REQUIRE(make(&frame, key));
    for (size_t bit = 0; bit < 8 * frame.bytes.length; bit++) {
        cordon_frame_reader reader = {0};
        cordon_err err = CORDON_ERR_INIT;
        frame.bytes.data[bit / 8] = (char)(frame.bytes.data[bit / 8] ^ (1 << bit % 8));
        CHECK_FAILS(
            cordon_frame_open(&reader, MAGIC, frame.bytes.data, frame.bytes.length, key, &err), err,
            CORDON_ERR_PROTOCOL, "record");
        frame.bytes.data[bit / 8] = (char)(frame.bytes.data[bit / 8] ^ (1 << bit % 8));
    }
}

static void a_byte_too_many_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_frame_reader reader = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(make(&frame, key));
    REQUIRE_OK(cordon_buf_append_char(&frame.bytes, 0, &err), err);
    CHECK_FAILS(cordon_frame_open(&reader, MAGIC, frame.bytes.data, frame.bytes.length, key, &err),
                err, CORDON_ERR_PROTOCOL, "1 bytes too many");
}

static void another_nonce_is_another_key(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_frame_reader reader = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(make(&frame, key));
    CHECK_FAILS(cordon_frame_open(&reader, MAGIC, frame.bytes.data, frame.bytes.length,
                                  cordon_frame_unkeyed, &err),
                err, CORDON_ERR_PROTOCOL, "not authentic");
}

static void another_magic_is_another_record(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_frame_reader reader = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(make(&frame, key));
    CHECK_FAILS(
        cordon_frame_open(&reader, "CDNTEST2", frame.bytes.data, frame.bytes.length, key, &err),
        err, CORDON_ERR_PROTOCOL, "does not begin with CDNTEST2");
}

/* A sealed body whose fields lie about their lengths: authentic, and still refused. */
static void fields_that_do_not_fill_the_body_are_refused(void)
{
    static const char *const bodies[] = {"\0\1\0\0\0\1", "\0\1\0\0\0", "\0\1\xff\xff\xff\xff",
                                         "\0\1\0\0\0\0\0"};
    static const uint8_t lengths[] = {6, 5, 6, 7};
    for (size_t i = 0; i < sizeof lengths; i++) {
        uint8_t bytes[64] = MAGIC;
        size_t signed_length = 12u + lengths[i];
        cordon_frame_reader reader = {0};
        cordon_err err = CORDON_ERR_INIT;
        bytes[11] = lengths[i];
        memcpy(bytes + 12, bodies[i], lengths[i]);
        cordon_hmac_sha256(key, sizeof key, bytes, signed_length, bytes + signed_length);
        CHECK_FAILS(cordon_frame_open(&reader, MAGIC, bytes, signed_length + 32, key, &err), err,
                    CORDON_ERR_PROTOCOL, "fields do not fill its body");
    }
}

static void the_size_limit_counts_everything_and_leaves_room_for_the_seal(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_frame_init(&frame, MAGIC, CORDON_FRAME_OVERHEAD_BYTES + 10, &err), err);
    CHECK_FAILS(cordon_frame_add_bytes(&frame, 1, "12345", 5, &err), err, CORDON_ERR_PROTOCOL,
                "field 1 of 5 bytes does not fit");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_frame_add_bytes(&frame, 1, "12345", SIZE_MAX, &err), err,
                CORDON_ERR_PROTOCOL, "does not fit");
    cordon_err_clear(&err);
    CHECK_OK(cordon_frame_add_bytes(&frame, 1, "1234", 4, &err), err);
    CHECK_OK(cordon_frame_seal(&frame, key, &err), err);
    CHECK_INT(frame.bytes.length, CORDON_FRAME_OVERHEAD_BYTES + 10);
}

static void nothing_is_added_after_the_seal(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(make(&frame, key));
    size_t length = frame.bytes.length;
    CHECK_FAILS(cordon_frame_add_u64(&frame, 1, 1, &err), err, CORDON_ERR_INVALID, "sealed");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_frame_seal(&frame, key, &err), err, CORDON_ERR_INVALID, "once");
    CHECK_INT(frame.bytes.length, length);
}

static void typed_fields_refuse_the_wrong_shape(void)
{
    const cordon_frame_field nul = {.tag = 3, .bytes = (const uint8_t *)"a\0b", .length = 3};
    const cordon_frame_field seven = {.tag = 4, .bytes = (const uint8_t *)"1234567", .length = 7};
    cordon_err err = CORDON_ERR_INIT;
    char *text = NULL;
    uint64_t number = 5;
    CHECK_FAILS(cordon_frame_field_text(&nul, 10, &text, &err), err, CORDON_ERR_PROTOCOL,
                "field 3 holds a NUL");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_frame_field_text(&seven, 6, &text, &err), err, CORDON_ERR_PROTOCOL,
                "field 4 has 7 bytes, at most 6");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_frame_field_u64(&seven, &number, &err), err, CORDON_ERR_PROTOCOL,
                "field 4 has 7 bytes, expected 8");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_frame_field_unknown(&seven, &err), err, CORDON_ERR_PROTOCOL,
                "field 4 is not known");
    CHECK(text == NULL && number == 5);
}

static void measuring_asks_for_exactly_what_is_missing(void)
{
    cordon_auto(cordon_frame) frame = {0};
    REQUIRE(make(&frame, key));
    for (size_t have = 0; have <= frame.bytes.length + 3; have++) {
        size_t total = 1;
        size_t need = 1;
        cordon_err err = CORDON_ERR_INIT;
        size_t all = frame.bytes.length;
        REQUIRE_OK(cordon_frame_measure(MAGIC, frame.bytes.data, have, 4096, &total, &need, &err),
                   err);
        CHECK_INT(total, have < 12 ? 0 : all);
        CHECK_INT(need, have < 12 ? 12 - have : have < all ? all - have : 0);
    }
}

static void measuring_stops_at_the_first_wrong_byte_and_at_the_limit(void)
{
    size_t total = 0;
    size_t need = 0;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_frame_measure(MAGIC, "CX", 2, 4096, &total, &need, &err), err,
                CORDON_ERR_PROTOCOL, "not a record");
    cordon_err_clear(&err);
    CHECK_FAILS(
        cordon_frame_measure(MAGIC, MAGIC "\xff\xff\xff\xff", 12, 4096, &total, &need, &err), err,
        CORDON_ERR_PROTOCOL, "a record of 4294967339 bytes is over the limit of 4096");
    cordon_err_clear(&err);
    CHECK_OK(cordon_frame_measure(MAGIC, MAGIC "\0\0\x0f\xd4", 12, 4096, &total, &need, &err), err);
    CHECK_INT(total, 4096);
}

CORDON_TEST_MAIN("frame", TEST(what_was_sealed_is_read_back_in_order),
                 TEST(the_bytes_are_exactly_these), TEST(an_empty_record_is_a_record),
                 TEST(a_cut_anywhere_is_refused), TEST(one_changed_bit_anywhere_is_refused),
                 TEST(a_byte_too_many_is_refused), TEST(another_nonce_is_another_key),
                 TEST(another_magic_is_another_record),
                 TEST(fields_that_do_not_fill_the_body_are_refused),
                 TEST(the_size_limit_counts_everything_and_leaves_room_for_the_seal),
                 TEST(nothing_is_added_after_the_seal), TEST(typed_fields_refuse_the_wrong_shape),
                 TEST(measuring_asks_for_exactly_what_is_missing),
                 TEST(measuring_stops_at_the_first_wrong_byte_and_at_the_limit))

/* SPDX-License-Identifier: Apache-2.0 */
/* The multiplexed attach stream (cases OT1 and OT2): cut everywhere, empty frames, bad ids, lies.
 */
#include "kit/buf.h"
#include "kit/stdcopy.h"
#include "support/test.h"

static const char good[] = "\1\0\0\0\0\0\0\3out"
                           "\2\0\0\0\0\0\0\0"
                           "\2\0\0\0\0\0\0\4err!"
                           "\1\0\0\0\0\0\0\1+";
#define GOOD_LENGTH (sizeof good - 1)

typedef struct collected {
    cordon_buf streams[3];
    size_t largest;
    bool refuse;
} collected;

static int collect(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    collected *c = context;
    if (c->refuse)
        return CORDON_FAIL(err, CORDON_ERR_CANCELLED, "enough");
    if (length > c->largest)
        c->largest = length;
    return cordon_buf_append(&c->streams[stream], bytes, length, err);
}

static collected start(void)
{
    return (collected){.streams = {{0}, cordon_buf_make(65536), cordon_buf_make(65536)}};
}

static void clear(collected *c)
{
    cordon_buf_clear(&c->streams[1]);
    cordon_buf_clear(&c->streams[2]);
}

static void OT2_every_cut_into_two_gives_the_same_two_streams(void)
{
    for (size_t cut = 0; cut <= GOOD_LENGTH; cut++) {
        cordon_cleanup(clear) collected c = start();
        cordon_stdcopy demux;
        cordon_err err = CORDON_ERR_INIT;
        cordon_stdcopy_init(&demux, collect, &c);
        REQUIRE_OK(cordon_stdcopy_feed(&demux, good, cut, &err), err);
        REQUIRE_OK(cordon_stdcopy_feed(&demux, good + cut, GOOD_LENGTH - cut, &err), err);
        REQUIRE_OK(cordon_stdcopy_finish(&demux, &err), err);
        CHECK_STR(cordon_buf_text(&c.streams[1]), "out+");
        CHECK_STR(cordon_buf_text(&c.streams[2]), "err!");
    }
}

static void byte_by_byte_is_fine(void)
{
    cordon_cleanup(clear) collected c = start();
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    cordon_stdcopy_init(&demux, collect, &c);
    for (size_t i = 0; i < GOOD_LENGTH; i++)
        REQUIRE_OK(cordon_stdcopy_feed(&demux, good + i, 1, &err), err);
    CHECK_OK(cordon_stdcopy_finish(&demux, &err), err);
    CHECK_STR(cordon_buf_text(&c.streams[1]), "out+");
}

static void OT2_an_end_inside_a_header_or_payload_is_named_and_the_data_so_far_is_kept(void)
{
    for (size_t cut = 1; cut < GOOD_LENGTH; cut++) {
        cordon_cleanup(clear) collected c = start();
        cordon_stdcopy demux;
        cordon_err err = CORDON_ERR_INIT;
        bool boundary = cut == 11 || cut == 19 || cut == 31;
        bool payload = (cut > 7 && cut < 11) || (cut > 26 && cut < 31) || cut == 39;
        cordon_stdcopy_init(&demux, collect, &c);
        REQUIRE_OK(cordon_stdcopy_feed(&demux, good, cut, &err), err);
        if (boundary)
            CHECK_OK(cordon_stdcopy_finish(&demux, &err), err);
        else
            CHECK_FAILS(cordon_stdcopy_finish(&demux, &err), err, CORDON_ERR_PROTOCOL,
                        payload ? "before the end of a payload" : "inside a header");
        if (cut >= 11)
            CHECK(strncmp(cordon_buf_text(&c.streams[1]), "out", 3) == 0);
    }
}

static void OT2_other_stream_ids_are_refused_with_their_place(void)
{
    static const unsigned char ids[] = {0, 3, 4, 'A', 255};
    for (size_t i = 0; i < sizeof ids; i++) {
        cordon_cleanup(clear) collected c = start();
        cordon_stdcopy demux;
        cordon_err err = CORDON_ERR_INIT;
        char bytes[] = "\1\0\0\0\0\0\0\1x?\0\0\0\0\0\0\1y";
        bytes[9] = (char)ids[i];
        cordon_stdcopy_init(&demux, collect, &c);
        CHECK_FAILS(cordon_stdcopy_feed(&demux, bytes, sizeof bytes - 1, &err), err,
                    CORDON_ERR_PROTOCOL, "at byte 9, expected 1 or 2");
        CHECK_STR(cordon_buf_text(&c.streams[1]), "x");
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_stdcopy_feed(&demux, good, GOOD_LENGTH, &err), err, CORDON_ERR_PROTOCOL,
                    "broken before");
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_stdcopy_finish(&demux, &err), err, CORDON_ERR_PROTOCOL, "broken before");
    }
}

static void OT1_a_tty_s_raw_output_is_not_taken_for_frames(void)
{
    cordon_cleanup(clear) collected c = start();
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    cordon_stdcopy_init(&demux, collect, &c);
    CHECK_FAILS(cordon_stdcopy_feed(&demux, "AAAAAAAA", 8, &err), err, CORDON_ERR_PROTOCOL,
                "stream id 65 at byte 0");
}

static void padding_must_be_zero(void)
{
    for (size_t i = 1; i <= 3; i++) {
        cordon_cleanup(clear) collected c = start();
        cordon_stdcopy demux;
        cordon_err err = CORDON_ERR_INIT;
        char bytes[9] = "\1\0\0\0\0\0\0\1";
        bytes[i] = 1;
        cordon_stdcopy_init(&demux, collect, &c);
        CHECK_FAILS(cordon_stdcopy_feed(&demux, bytes, 8, &err), err, CORDON_ERR_PROTOCOL,
                    "not padded with zeros");
    }
}

static void OT1_a_header_that_claims_4_GiB_is_streamed(void)
{
    cordon_cleanup(clear) collected c = start();
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    cordon_stdcopy_init(&demux, collect, &c);
    REQUIRE_OK(cordon_stdcopy_feed(&demux, "\1\0\0\0\xff\xff\xff\xff", 8, &err), err);
    for (int i = 0; i < 100; i++)
        REQUIRE_OK(cordon_stdcopy_feed(&demux, "0123456789", 10, &err), err);
    CHECK_INT(c.streams[1].length, 1000);
    CHECK_INT(c.largest, 10);
    CHECK_FAILS(cordon_stdcopy_finish(&demux, &err), err, CORDON_ERR_PROTOCOL,
                "ended 4294966295 bytes before the end of a payload");
}

static void the_sink_s_refusal_ends_it(void)
{
    cordon_cleanup(clear) collected c = start();
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    c.refuse = true;
    cordon_stdcopy_init(&demux, collect, &c);
    CHECK_FAILS(cordon_stdcopy_feed(&demux, good, GOOD_LENGTH, &err), err, CORDON_ERR_CANCELLED,
                "enough");
}

static void nothing_at_all_is_a_whole_stream(void)
{
    cordon_cleanup(clear) collected c = start();
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    cordon_stdcopy_init(&demux, collect, &c);
    CHECK_OK(cordon_stdcopy_feed(&demux, "", 0, &err), err);
    CHECK_OK(cordon_stdcopy_finish(&demux, &err), err);
}

CORDON_TEST_MAIN("stdcopy", TEST(OT2_every_cut_into_two_gives_the_same_two_streams),
                 TEST(byte_by_byte_is_fine),
                 TEST(OT2_an_end_inside_a_header_or_payload_is_named_and_the_data_so_far_is_kept),
                 TEST(OT2_other_stream_ids_are_refused_with_their_place),
                 TEST(OT1_a_tty_s_raw_output_is_not_taken_for_frames), TEST(padding_must_be_zero),
                 TEST(OT1_a_header_that_claims_4_GiB_is_streamed), TEST(the_sink_s_refusal_ends_it),
                 TEST(nothing_at_all_is_a_whole_stream))

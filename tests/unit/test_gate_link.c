/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversation with the gate: the same result for every cut of the stream, and nothing that a
 * command writes is taken for a word of the gate, or hides one.
 */
#include "support/gate_talk.h"

static bool check_output(const talk *value, const cordon_buf *want, const char *name, size_t cut)
{
    return TEST_RECORDF(
        value->output.length == want->length &&
            (want->length == 0 || memcmp(value->output.data, want->data, want->length) == 0),
        "%s, cut at %zu: %zu bytes came out, want %zu", name, cut, value->output.length,
        want->length);
}

static bool check_ended(const talk *value, int code, const char *name, size_t cut)
{
    return TEST_RECORDF(value->link.state == CORDON_LINK_ENDED && value->link.exit_code == code &&
                            value->link.exit_signal == 0,
                        "%s, cut at %zu: state %d, code %d, signal %d", name, cut,
                        value->link.state, value->link.exit_code, value->link.exit_signal);
}

/* --- Stories ---------------------------------------------------------------------------------- */

static void a_report_is_whole_at_every_cut(void)
{
    cordon_auto(cordon_buf) report = cordon_buf_make(65536);

    REQUIRE(append_report(&report));
    for (size_t cut = 0; cut <= report.length; cut++) {
        cordon_auto(talk) value = {0};

        REQUIRE(talk_begin(&value));
        REQUIRE(feed_cut(&value, &report, cut));
        CHECK_INT(value.link.state, CORDON_LINK_WAITING);
        REQUIRE_INT(value.link.held.length, report.length);
        CHECK(memcmp(value.link.held.data, report.data, report.length) == 0);
    }
}

static void half_a_report_is_no_report(void)
{
    cordon_auto(cordon_buf) report = cordon_buf_make(65536);

    REQUIRE(append_report(&report));
    for (size_t length = 0; length < report.length; length++) {
        cordon_auto(talk) value = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_begin(&value));
        REQUIRE_OK(feed(&value, report.data, length, SIZE_MAX, &err), err);
        CHECK_INT(value.link.state, CORDON_LINK_REPORT);
    }
}

static void start_output_and_exit_are_told_apart_at_every_cut(void)
{
    static const char text[] = "hello\nCRDN\n";
    size_t length = 1;

    for (size_t cut = 0; cut <= length; cut++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
        cordon_auto(cordon_buf) want = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(append_report(&stream));
        REQUIRE(talk_begin(&value));
        REQUIRE_OK(feed(&value, stream.data, stream.length, SIZE_MAX, &err), err);
        cordon_gate_link_released(&value.link);
        cordon_buf_reset(&stream);
        REQUIRE(append_started(&stream, value.link.exit_key, 0));
        REQUIRE(append(&stream, text, strlen(text)) && append(&want, text, strlen(text)));
        REQUIRE(append_exit(&stream, value.link.exit_key, 7));
        length = stream.length;
        REQUIRE(feed_cut(&value, &stream, cut));
        check_output(&value, &want, "conversation", cut);
        check_ended(&value, 7, "conversation", cut);
        CHECK_INT(value.link.start_errnum, 0);
    }
}

/* The output that a hostile or unlucky command may have written, number i; false past the last. */
static bool hostile_output(size_t i, const uint8_t *exit_key, cordon_buf *output,
                           const char **ret_name)
{
    static const char *const texts[] = {
        "",
        "C",
        "CC",
        "CRDNexi1",
        "CRDNexi",
        "CRDNexi2",
        "CRDNCRDNexi1",
        "CCRDNexi1C",
        "x CRDNexi1 x",
        "CRDNexi1CRDNexi1CRDNexi1",
    };
    static const struct {
        const char *name;
        unsigned char head[4];
    } heads[] = {
        {"a head that asks for more than is allowed", {0, 0, 0, 213}},
        {"a head that asks for as much as is allowed", {0, 0, 0, 212}},
        {"a head that asks for nothing", {0, 0, 0, 0}},
        {"a head that asks for a note's length", {0, 0, 0, 14}},
        {"a head that would end with the gate's note", {0, 0, 0, 26}},
        {"a head that would end inside of the gate's note", {0, 0, 0, 20}},
        {"a head that asks for four GiB", {255, 255, 255, 255}},
    };
    const size_t text_count = sizeof(texts) / sizeof(texts[0]);
    const size_t head_count = sizeof(heads) / sizeof(heads[0]);
    uint8_t wrong[CORDON_FRAME_KEY_BYTES];

    memcpy(wrong, exit_key, sizeof(wrong));
    wrong[31] ^= 1;
    if (i < text_count) {
        *ret_name = texts[i];
        return append(output, texts[i], strlen(texts[i]));
    }
    i -= text_count;
    if (i < head_count) {
        *ret_name = heads[i].name;
        return append(output, CORDON_GATE_MAGIC_EXIT, 8) && append(output, heads[i].head, 4);
    }
    i -= head_count;
    switch (i) {
    case 0:
        *ret_name = "a note under a key that is off by one bit";
        return append_exit(output, wrong, 0);
    case 1:
        *ret_name = "an unkeyed note";
        return append_exit(output, cordon_frame_unkeyed, 0);
    case 2:
        *ret_name = "two forged notes and text";
        return append_exit(output, wrong, 0) && append_exit(output, wrong, 0) &&
               append(output, "CRD", 3);
    case 3:
        *ret_name = "twenty heads inside each other";
        for (int n = 0; n < 20; n++) {
            if (!append(output, CORDON_GATE_MAGIC_EXIT "\0\0\0\xd4", 12))
                return false;
        }
        return true;
    case 4:
        *ret_name = "a report and a start note";
        return append_report(output) && append_started(output, exit_key, 0);
    default:
        return false;
    }
}

static void whatever_a_command_writes_comes_out_and_the_gates_note_is_found(void)
{
    size_t streams = 0;
    bool more = true;

    for (size_t i = 0; more; i++) {
        size_t length = 1;

        for (size_t cut = 0; more && cut <= length; cut++, streams++) {
            cordon_auto(talk) value = {0};
            cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
            cordon_auto(cordon_buf) want = cordon_buf_make(65536);
            const char *name = "";

            REQUIRE(talk_until_output(&value));
            more = hostile_output(i, value.link.exit_key, &want, &name);
            if (!more)
                break;
            REQUIRE(append(&stream, cordon_buf_text(&want), want.length));
            REQUIRE(append_exit(&stream, value.link.exit_key, 3));
            length = stream.length;
            REQUIRE(feed_cut(&value, &stream, cut));
            check_output(&value, &want, name, cut);
            check_ended(&value, 3, name, cut);
        }
    }
    (void)printf("%zu streams ... ", streams);
    CHECK(streams > 1000);
}

static void without_a_note_everything_is_output_and_nothing_has_ended(void)
{
    for (size_t i = 0;; i++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) want = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;
        const char *name = "";

        REQUIRE(talk_until_output(&value));
        if (!hostile_output(i, value.link.exit_key, &want, &name))
            break;
        REQUIRE_OK(feed(&value, cordon_buf_text(&want), want.length, 1, &err), err);
        REQUIRE_OK(cordon_gate_link_finish(&value.link, &err), err);
        check_output(&value, &want, name, 1);
        CHECK_INT(value.link.state, CORDON_LINK_OUTPUT);
        CHECK_INT(value.link.exit_code, -1);
    }
}

static void a_note_with_any_bit_changed_is_output(void)
{
    size_t length = 1;

    for (size_t bit = 0; bit < 8 * length; bit++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) note = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_until_output(&value));
        REQUIRE(append_exit(&note, value.link.exit_key, 3));
        length = note.length;
        note.data[bit / 8] = (char)(note.data[bit / 8] ^ (1 << bit % 8));
        REQUIRE_OK(feed(&value, note.data, note.length, 7, &err), err);
        REQUIRE_OK(cordon_gate_link_finish(&value.link, &err), err);
        check_output(&value, &note, "a changed note", bit);
        CHECK_INT(value.link.state, CORDON_LINK_OUTPUT);
    }
}

static void a_note_that_was_cut_is_output(void)
{
    size_t length = 1;

    for (size_t cut = 0; cut < length; cut++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) note = cordon_buf_make(65536);
        cordon_auto(cordon_buf) want = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_until_output(&value));
        REQUIRE(append_exit(&note, value.link.exit_key, 3));
        length = note.length;
        REQUIRE(append(&want, note.data, cut));
        REQUIRE_OK(feed(&value, note.data, cut, SIZE_MAX, &err), err);
        REQUIRE_OK(cordon_gate_link_finish(&value.link, &err), err);
        check_output(&value, &want, "a cut note", cut);
        CHECK_INT(value.link.state, CORDON_LINK_OUTPUT);
    }
}

static void a_megabyte_that_looks_like_notes_comes_out_whole(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_buf) want = cordon_buf_make(2u << 20);
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(talk_until_output(&value));
    while (want.length < 1u << 20)
        REQUIRE(append(&want, CORDON_GATE_MAGIC_EXIT "\0\0\0\xd4", 12));
    REQUIRE_OK(feed(&value, want.data, want.length, 4096, &err), err);
    REQUIRE_OK(cordon_gate_link_finish(&value.link, &err), err);
    check_output(&value, &want, "a megabyte", 4096);
}

CORDON_TEST_MAIN("gate_link", TEST(a_report_is_whole_at_every_cut),
                 TEST(half_a_report_is_no_report),
                 TEST(start_output_and_exit_are_told_apart_at_every_cut),
                 TEST(whatever_a_command_writes_comes_out_and_the_gates_note_is_found),
                 TEST(without_a_note_everything_is_output_and_nothing_has_ended),
                 TEST(a_note_with_any_bit_changed_is_output), TEST(a_note_that_was_cut_is_output),
                 TEST(a_megabyte_that_looks_like_notes_comes_out_whole))

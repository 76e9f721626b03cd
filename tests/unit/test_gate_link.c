/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversation with the gate: the same result for every cut of the stream, and nothing that a
 * command writes is taken for a word of the gate, or hides one.
 */
#include "gate_link.h"
#include "support/test.h"

/* A link and what came out of it. */
typedef struct talk {
    cordon_gate_link link;
    cordon_buf output;
} talk;

static int collect(void *context, const void *bytes, size_t length, cordon_err *err)
{
    cordon_buf *output = context;

    return cordon_buf_append(output, bytes, length, err);
}

static void talk_clear(talk *value)
{
    cordon_gate_link_clear(&value->link);
    cordon_buf_clear(&value->output);
}
CORDON_DEFINE_AUTO(talk, talk_clear)

static bool talk_begin(talk *value)
{
    cordon_err err = CORDON_ERR_INIT;

    value->output = cordon_buf_make(8u << 20);
    return CHECK_OK(cordon_gate_link_init(&value->link, collect, &value->output, &err), err);
}

/* --- What the gate says ----------------------------------------------------------------------- */

typedef struct number {
    uint16_t tag;
    uint64_t value;
} number;

/* Appends one frame of u64 fields. */
static bool append_frame(cordon_buf *stream, const char *magic, const uint8_t *key,
                         const number *numbers, size_t count)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;

    if (!CHECK_OK(cordon_frame_init(&frame, magic, 4096, &err), err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!CHECK_OK(cordon_frame_add_u64(&frame, numbers[i].tag, numbers[i].value, &err), err))
            return false;
    }
    return CHECK_OK(cordon_frame_seal(&frame, key, &err), err) &&
           CHECK_OK(cordon_buf_append(stream, frame.bytes.data, frame.bytes.length, &err), err);
}

static bool append_report(cordon_buf *stream)
{
    const number fields[] = {{CORDON_GATE_REPORT_VERSION, 1}, {CORDON_GATE_REPORT_FACT, 0}};

    return append_frame(stream, CORDON_GATE_MAGIC_REPORT, cordon_frame_unkeyed, fields, 2);
}

static bool append_started(cordon_buf *stream, const uint8_t *key, uint64_t errnum)
{
    const number field = {CORDON_GATE_STARTED_ERRNUM, errnum};

    return append_frame(stream, CORDON_GATE_MAGIC_STARTED, key, &field, 1);
}

static bool append_exit(cordon_buf *stream, const uint8_t *key, uint64_t code)
{
    const number field = {CORDON_GATE_EXIT_CODE, code};

    return append_frame(stream, CORDON_GATE_MAGIC_EXIT, key, &field, 1);
}

static bool append(cordon_buf *stream, const void *bytes, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_buf_append(stream, bytes, length, &err), err);
}

/* --- Feeding in cuts -------------------------------------------------------------------------- */

/* Pieces of `size` bytes, copied so that reading beyond a piece is seen by the sanitizer. */
static int feed(talk *value, const char *bytes, size_t length, size_t size, cordon_err *err)
{
    for (size_t at = 0; at < length; at += size) {
        size_t piece = length - at < size ? length - at : size;
        cordon_autofree char *copy = malloc(piece);

        if (copy == NULL)
            return -1;
        memcpy(copy, bytes + at, piece);
        if (cordon_gate_link_feed(&value->link, copy, piece, err) != 0)
            return -1;
    }
    return 0;
}

/* Two pieces, cut at `cut`; then the end of the stream. */
static bool feed_cut(talk *value, const cordon_buf *stream, size_t cut)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(feed(value, stream->data, cut, SIZE_MAX, &err), err) &&
           CHECK_OK(feed(value, stream->data + cut, stream->length - cut, SIZE_MAX, &err), err) &&
           CHECK_OK(cordon_gate_link_finish(&value->link, &err), err);
}

/* A talk that has been released and whose command has been found. */
static bool talk_until_output(talk *value)
{
    cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    if (!talk_begin(value) || !append_report(&stream) ||
        !CHECK_OK(feed(value, stream.data, stream.length, SIZE_MAX, &err), err) ||
        !CHECK_INT(value->link.state, CORDON_LINK_WAITING))
        return false;
    cordon_gate_link_released(&value->link);
    cordon_buf_reset(&stream);
    return append_started(&stream, value->link.exit_key, 0) &&
           CHECK_OK(feed(value, stream.data, stream.length, SIZE_MAX, &err), err) &&
           CHECK_INT(value->link.state, CORDON_LINK_OUTPUT);
}

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

static void words_before_the_release_are_refused(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(talk) late = {0};
    cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    cordon_err later = CORDON_ERR_INIT;

    REQUIRE(talk_begin(&late) && talk_begin(&value) && append_report(&stream));
    REQUIRE_OK(feed(&late, stream.data, stream.length, SIZE_MAX, &later), later);
    REQUIRE_FAILS(feed(&late, "x", 1, 1, &later), later, CORDON_ERR_PROTOCOL,
                  "the step wrote before it was released");
    REQUIRE(append(&stream, "x", 1));
    REQUIRE_FAILS(feed(&value, stream.data, stream.length, SIZE_MAX, &err), err,
                  CORDON_ERR_PROTOCOL, "the step wrote before it was released");
    CHECK_INT(value.output.length, 0);
}

static void words_after_the_exit_note_are_refused(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(talk_until_output(&value));
    REQUIRE(append_exit(&stream, value.link.exit_key, 0) && append(&stream, "x", 1));
    REQUIRE_FAILS(feed(&value, stream.data, stream.length, SIZE_MAX, &err), err,
                  CORDON_ERR_PROTOCOL, "the step wrote after its gate had said that it ended");
    CHECK_INT(value.output.length, 0);
}

static void first_bytes_that_are_no_report_are_refused_at_once(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } bad[] = {
        {"x", 1, "does not begin with CRDNrep1"},
        {"CRDNrep2", 8, "does not begin with CRDNrep1"},
        {"CRDNrel1", 8, "does not begin with CRDNrep1"},
        {"CRDNrep1\xff\xff\xff\xff", 12, "over the limit of 262144"},
        {"CRDNrep1\0\3\xff\xd5", 12, "a record of 262145 bytes"},
        {"exec /cordon-guard: no such file", 32, "no report of the gate"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cordon_auto(talk) value = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_begin(&value));
        CHECK_FAILS(feed(&value, bad[i].bytes, bad[i].length, 1, &err), err, CORDON_ERR_PROTOCOL,
                    bad[i].message);
    }
}

static bool talk_until_released(talk *value)
{
    cordon_auto(cordon_buf) report = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    if (!talk_begin(value) || !append_report(&report) ||
        !CHECK_OK(feed(value, report.data, report.length, SIZE_MAX, &err), err))
        return false;
    cordon_gate_link_released(&value->link);
    return true;
}

static void a_start_note_must_be_authentic_and_whole(void)
{
    for (int i = 0; i < 4; i++) {
        static const char *const messages[] = {"not authentic", "not authentic", "has no errno",
                                               "does not begin with CRDNsta1"};
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;
        const number other = {CORDON_GATE_STARTED_ERRNUM + 1, 0};
        uint8_t key[CORDON_FRAME_KEY_BYTES];

        REQUIRE(talk_until_released(&value));
        memcpy(key, value.link.exit_key, sizeof(key));
        key[0] ^= 0x80;
        if (i == 0)
            REQUIRE(append_started(&stream, key, 0));
        if (i == 1)
            REQUIRE(append_started(&stream, cordon_frame_unkeyed, 0));
        if (i == 2)
            REQUIRE(
                append_frame(&stream, CORDON_GATE_MAGIC_STARTED, value.link.exit_key, &other, 1));
        if (i == 3)
            REQUIRE(append_exit(&stream, value.link.exit_key, 0));
        CHECK_FAILS(feed(&value, stream.data, stream.length, SIZE_MAX, &err), err,
                    CORDON_ERR_PROTOCOL, messages[i]);
        CHECK(value.link.state != CORDON_LINK_OUTPUT);
    }
}

static void a_start_note_says_why_a_command_was_not_found(void)
{
    static const struct {
        uint64_t told;
        int errnum;
    } cases[] = {{0, 0}, {2, 2}, {13, 13}, {4095, 4095}, {4096, 4095}, {UINT64_MAX, 4095}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_until_released(&value));
        REQUIRE(append_started(&stream, value.link.exit_key, cases[i].told));
        REQUIRE_OK(feed(&value, stream.data, stream.length, 1, &err), err);
        CHECK_INT(value.link.state, CORDON_LINK_OUTPUT);
        CHECK_INT(value.link.start_errnum, cases[i].errnum);
    }
}

static void an_exit_note_names_one_way_of_ending(void)
{
    static const struct {
        number fields[3];
        size_t count;
        bool good;
        int code;
        int signal;
        bool out_of_memory;
    } cases[] = {
        {{{CORDON_GATE_EXIT_CODE, 0}}, 1, true, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 255}}, 1, true, 255, 0, false},
        {{{CORDON_GATE_EXIT_SIGNAL, 9}}, 1, true, -1, 9, false},
        {{{CORDON_GATE_EXIT_SIGNAL, 9}, {CORDON_GATE_EXIT_OOM, 2}}, 2, true, -1, 9, true},
        {{{CORDON_GATE_EXIT_CODE, 1}, {CORDON_GATE_EXIT_OOM, 0}}, 2, true, 1, 0, false},
        {{{0, 0}}, 0, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_OOM, 1}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 256}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_SIGNAL, 0}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 0}, {CORDON_GATE_EXIT_SIGNAL, 9}}, 2, false, 0, 0, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;
        int rc;

        REQUIRE(talk_until_output(&value));
        REQUIRE(append_frame(&stream, CORDON_GATE_MAGIC_EXIT, value.link.exit_key, cases[i].fields,
                             cases[i].count));
        rc = feed(&value, stream.data, stream.length, SIZE_MAX, &err);
        if (!cases[i].good) {
            CHECK_FAILS(rc, err, CORDON_ERR_PROTOCOL, "no single way in which the command ended");
            CHECK(value.link.state != CORDON_LINK_ENDED);
            continue;
        }
        CHECK_OK(rc, err);
        CHECK_INT(value.link.state, CORDON_LINK_ENDED);
        CHECK_INT(value.link.exit_code, cases[i].code);
        CHECK_INT(value.link.exit_signal, cases[i].signal);
        CHECK(value.link.out_of_memory == cases[i].out_of_memory);
    }
}

static int refuse_output(void *context, const void *bytes, size_t length, cordon_err *err)
{
    (void)context;
    (void)bytes;
    (void)length;
    return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no room");
}

static void an_error_of_the_reader_stops_the_feed(void)
{
    cordon_auto(talk) value = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(talk_until_output(&value));
    value.link.output = refuse_output;
    REQUIRE_FAILS(feed(&value, "text", 4, 4, &err), err, CORDON_ERR_NOMEM, "no room");
}

CORDON_TEST_MAIN("gate_link", TEST(a_report_is_whole_at_every_cut),
                 TEST(half_a_report_is_no_report),
                 TEST(start_output_and_exit_are_told_apart_at_every_cut),
                 TEST(whatever_a_command_writes_comes_out_and_the_gates_note_is_found),
                 TEST(without_a_note_everything_is_output_and_nothing_has_ended),
                 TEST(a_note_with_any_bit_changed_is_output), TEST(a_note_that_was_cut_is_output),
                 TEST(a_megabyte_that_looks_like_notes_comes_out_whole),
                 TEST(words_before_the_release_are_refused),
                 TEST(words_after_the_exit_note_are_refused),
                 TEST(first_bytes_that_are_no_report_are_refused_at_once),
                 TEST(a_start_note_must_be_authentic_and_whole),
                 TEST(a_start_note_says_why_a_command_was_not_found),
                 TEST(an_exit_note_names_one_way_of_ending),
                 TEST(an_error_of_the_reader_stops_the_feed))

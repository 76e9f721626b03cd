/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the conversation one by one: what may be said when, what each note must have, and
 * the frame that releases a command.
 */
#include "support/gate_talk.h"

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
        {{{CORDON_GATE_EXIT_CODE, 1}, {CORDON_GATE_EXIT_OUTSIDE, 15}}, 2, true, 1, 0, false},
        {{{CORDON_GATE_EXIT_OUTSIDE, 15}}, 1, false, 0, 0, false},
        {{{0, 0}}, 0, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_OOM, 1}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 256}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_SIGNAL, 0}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 0}, {CORDON_GATE_EXIT_SIGNAL, 9}}, 2, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_ERRNUM, 8}}, 1, true, -1, 0, false},
        {{{CORDON_GATE_EXIT_ERRNUM, 0}}, 1, false, 0, 0, false},
        {{{CORDON_GATE_EXIT_CODE, 1}, {CORDON_GATE_EXIT_ERRNUM, 8}}, 2, false, 0, 0, false},
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
        CHECK_INT(value.link.outside_signal,
                  cases[i].fields[1].tag == CORDON_GATE_EXIT_OUTSIDE ? 15 : 0);
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

/* --- The release ------------------------------------------------------------------------------ */

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {9, 8, 7};

static const char *const argv[] = {"agent", "--print", ""};
static const char *const environment[] = {"PATH=/bin", "KEY=secret"};
static const char *const rules[] = {"read /usr", "connect 3128"};

static cordon_release sample_release(void)
{
    return (cordon_release){
        .argv = argv,
        .argc = 3,
        .environment = environment,
        .environment_count = 2,
        .working_dir = "/worktree",
        .input = "prompt\0",
        .input_length = 7,
        .rules = rules,
        .rule_count = 2,
        .landlock_abi = 4,
    };
}

/* "tag:text" of every field that is no number and no key, joined by '|'. */
static void fields_of(cordon_frame_reader reader, char *text, size_t size)
{
    cordon_frame_field field;
    size_t used = 0;

    text[0] = '\0';
    while (cordon_frame_next(&reader, &field) && used < size) {
        uint64_t value = 0;
        bool is_number =
            field.tag == CORDON_GATE_RELEASE_VERSION || field.tag == CORDON_GATE_RELEASE_LANDLOCK;
        bool key = field.tag == CORDON_GATE_RELEASE_EXIT_KEY;

        if (is_number)
            CHECK_INT(cordon_frame_field_u64(&field, &value, NULL), 0);
        used +=
            (size_t)snprintf(text + used, size - used, is_number ? "%d:%llu|" : "%d:", field.tag,
                             (unsigned long long)value);
        if (!is_number)
            used += (size_t)snprintf(text + used, size - used, "%.*s|", key ? 0 : (int)field.length,
                                     (const char *)field.bytes);
    }
}

static void a_release_carries_everything_in_order_under_the_nonce(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_release release = sample_release();
    cordon_frame_reader reader;
    cordon_frame_field field;
    cordon_err err = CORDON_ERR_INIT;
    char text[512];

    REQUIRE(talk_begin(&value));
    REQUIRE_OK(cordon_gate_link_release(&value.link, nonce, &release, &frame, &err), err);
    REQUIRE_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, frame.bytes.data,
                                 frame.bytes.length, nonce, &err),
               err);
    fields_of(reader, text, sizeof(text));
    CHECK_STR(text, "1:1|2:|3:agent|3:--print|3:|4:PATH=/bin|4:KEY=secret|5:/worktree|6:prompt|"
                    "7:read /usr|7:connect 3128|8:4|");
    REQUIRE(cordon_frame_next(&reader, &field) && cordon_frame_next(&reader, &field));
    REQUIRE_INT(field.length, sizeof(value.link.exit_key));
    CHECK(memcmp(field.bytes, value.link.exit_key, field.length) == 0);
}

static void secrets_go_as_a_variable_or_for_a_descriptor_by_their_name(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_auto(cordon_secrets) secrets = {0};
    cordon_release release = sample_release();
    cordon_frame_reader reader;
    cordon_err err = CORDON_ERR_INIT;
    char text[512];

    REQUIRE(talk_begin(&value));
    REQUIRE_OK(cordon_secrets_add(&secrets, "API_KEY", "sk", 2, &err), err);
    REQUIRE_OK(cordon_secrets_add(&secrets, "T_FILE_DESCRIPTOR", "tok", 3, &err), err);
    release.secrets = &secrets;
    REQUIRE_OK(cordon_gate_link_release(&value.link, nonce, &release, &frame, &err), err);
    REQUIRE_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, frame.bytes.data,
                                 frame.bytes.length, nonce, &err),
               err);
    fields_of(reader, text, sizeof(text));
    CHECK_CONTAINS(text, "|4:KEY=secret|4:API_KEY=sk|9:T_FILE_DESCRIPTOR=tok|5:/worktree|");
}

static void a_release_is_for_one_nonce_alone(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_release release = sample_release();
    cordon_frame_reader reader;
    cordon_err err = CORDON_ERR_INIT;
    cordon_err other = CORDON_ERR_INIT;

    REQUIRE(talk_begin(&value));
    REQUIRE_OK(cordon_gate_link_release(&value.link, nonce, &release, &frame, &err), err);
    CHECK_FAILS(cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, frame.bytes.data,
                                  frame.bytes.length, cordon_frame_unkeyed, &other),
                other, CORDON_ERR_PROTOCOL, "not authentic");
}

static void no_input_and_an_empty_input_are_two_things(void)
{
    cordon_auto(talk) value = {0};
    cordon_release release = sample_release();

    REQUIRE(talk_begin(&value));
    for (int i = 0; i < 2; i++) {
        cordon_auto(cordon_frame) frame = {0};
        cordon_frame_reader reader;
        cordon_err err = CORDON_ERR_INIT;
        char text[512];

        release.input = i == 0 ? NULL : "";
        release.input_length = 0;
        REQUIRE_OK(cordon_gate_link_release(&value.link, nonce, &release, &frame, &err), err);
        REQUIRE_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, frame.bytes.data,
                                     frame.bytes.length, nonce, &err),
                   err);
        fields_of(reader, text, sizeof(text));
        CHECK((strstr(text, "|6:|") != NULL) == (i == 1));
    }
}

static void a_release_that_no_gate_would_take_is_not_made(void)
{
    cordon_auto(talk) value = {0};
    cordon_auto(cordon_buf) large = cordon_buf_make(8u << 20);
    cordon_frame frame = {0};
    cordon_release release = sample_release();
    cordon_err err = CORDON_ERR_INIT;
    char *space;

    REQUIRE(talk_begin(&value));
    REQUIRE_OK(cordon_buf_reserve(&large, CORDON_GATE_RELEASE_MAX, &space, &err), err);
    memset(space, 'x', CORDON_GATE_RELEASE_MAX);
    release.input = space;
    release.input_length = CORDON_GATE_RELEASE_MAX;
    CHECK_FAILS(cordon_gate_link_release(&value.link, nonce, &release, &frame, &err), err,
                CORDON_ERR_PROTOCOL, "does not fit");
    CHECK(frame.bytes.data == NULL && !frame.sealed);
}

static void every_link_has_a_key_of_its_own_and_wipes_it(void)
{
    static const uint8_t zeros[CORDON_FRAME_KEY_BYTES] = {0};
    cordon_auto(talk) one = {0};
    cordon_auto(talk) two = {0};

    REQUIRE(talk_begin(&one) && talk_begin(&two));
    CHECK(memcmp(one.link.exit_key, two.link.exit_key, sizeof(zeros)) != 0);
    CHECK(memcmp(one.link.exit_key, zeros, sizeof(zeros)) != 0);
    cordon_gate_link_clear(&one.link);
    CHECK(memcmp(one.link.exit_key, zeros, sizeof(zeros)) == 0);
}

/*
 * The gate waits for our word after its note, so the note must be seen before the stream ends, and
 * no made-up beginning of a note may hold it back.
 */
static void the_exit_note_is_seen_without_the_end_of_the_stream(void)
{
    static const struct {
        const char *bytes;
        size_t length;
    } tails[] = {
        {"", 0},
        {"C", 1},
        {CORDON_GATE_MAGIC_EXIT, 8},
        {CORDON_GATE_MAGIC_EXIT "\xf0\0\0\0", 12},
        {CORDON_GATE_MAGIC_EXIT "\0\0\0\xf0", 12},
        {CORDON_GATE_MAGIC_EXIT "\x80\0\0\0CRDN" CORDON_GATE_MAGIC_EXIT "\x70\0\0\0", 28},
        {CORDON_GATE_MAGIC_EXIT "\0\0\0\x80"
                                "CRDN" CORDON_GATE_MAGIC_EXIT "\0\0\0\x70",
         28},
    };

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        cordon_auto(talk) value = {0};
        cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(talk_until_output(&value));
        REQUIRE(append(&stream, tails[i].bytes, tails[i].length) &&
                append_exit(&stream, value.link.exit_key, 5));
        REQUIRE_OK(feed(&value, stream.data, stream.length, 1, &err), err);
        TEST_RECORDF(value.link.state == CORDON_LINK_ENDED && value.link.exit_code == 5,
                     "tail %zu: state %d, code %d", i, value.link.state, value.link.exit_code);
        CHECK(value.output.length == tails[i].length &&
              memcmp(cordon_buf_text(&value.output), tails[i].bytes, tails[i].length) == 0);
    }
}

CORDON_TEST_MAIN("gate_notes", TEST(words_before_the_release_are_refused),
                 TEST(words_after_the_exit_note_are_refused),
                 TEST(first_bytes_that_are_no_report_are_refused_at_once),
                 TEST(a_start_note_must_be_authentic_and_whole),
                 TEST(a_start_note_says_why_a_command_was_not_found),
                 TEST(an_exit_note_names_one_way_of_ending),
                 TEST(the_exit_note_is_seen_without_the_end_of_the_stream),
                 TEST(an_error_of_the_reader_stops_the_feed),
                 TEST(a_release_carries_everything_in_order_under_the_nonce),
                 TEST(secrets_go_as_a_variable_or_for_a_descriptor_by_their_name),
                 TEST(a_release_is_for_one_nonce_alone),
                 TEST(no_input_and_an_empty_input_are_two_things),
                 TEST(a_release_that_no_gate_would_take_is_not_made),
                 TEST(every_link_has_a_key_of_its_own_and_wipes_it))

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the gate's report: all of it or nothing, and every broken one refused by its fault. */
#include "gate_view.h"

#include "kit/frame.h"
#include "support/test.h"

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {1, 2, 3, 4};

typedef struct part {
    uint16_t tag;
    const void *bytes;
    size_t length;
} part;

#define VERSION(text)                                                                              \
    {                                                                                              \
        CORDON_GATE_REPORT_VERSION, text, 8                                                        \
    }
#define GOOD_VERSION VERSION("\0\0\0\0\0\0\0\1")
#define NONCE                                                                                      \
    {                                                                                              \
        CORDON_GATE_REPORT_NONCE, nonce, sizeof(nonce)                                             \
    }
#define FACT(text)                                                                                 \
    {                                                                                              \
        CORDON_GATE_REPORT_FACT, text, sizeof(text) - 1                                            \
    }

static bool make(cordon_frame *frame, const part *parts, size_t count)
{
    cordon_err err = CORDON_ERR_INIT;

    if (!CHECK_OK(cordon_frame_init(frame, CORDON_GATE_MAGIC_REPORT, 8u << 20, &err), err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!CHECK_OK(
                cordon_frame_add_bytes(frame, parts[i].tag, parts[i].bytes, parts[i].length, &err),
                err))
            return false;
    }
    return CHECK_OK(cordon_frame_seal(frame, cordon_frame_unkeyed, &err), err);
}

static const part good[] = {
    GOOD_VERSION,     NONCE,          FACT("uid=0 0 0 0"), FACT("group=5"), FACT("group=7"),
    FACT("groups=9"), FACT("empty="), FACT("env=A=b=c"),
};
#define GOOD_COUNT (sizeof(good) / sizeof(good[0]))

static void a_report_gives_its_nonce_and_its_facts_in_order(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_auto(cordon_gate_view) view = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(make(&frame, good, GOOD_COUNT));
    REQUIRE_OK(cordon_gate_view_read(frame.bytes.data, frame.bytes.length, &view, &err), err);
    CHECK(memcmp(view.nonce, nonce, sizeof(nonce)) == 0);
    REQUIRE_INT(view.facts.count, 6);
    CHECK_STR(view.facts.items[0], "uid=0 0 0 0");
    CHECK_STR(view.facts.items[5], "env=A=b=c");
}

static void a_key_is_looked_up_whole_and_gives_each_of_its_values(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_auto(cordon_gate_view) view = {0};
    cordon_err err = CORDON_ERR_INIT;
    size_t at = 0;

    REQUIRE(make(&frame, good, GOOD_COUNT));
    REQUIRE_OK(cordon_gate_view_read(frame.bytes.data, frame.bytes.length, &view, &err), err);
    CHECK_STR(cordon_gate_view_next(&view, "group", &at), "5");
    CHECK_STR(cordon_gate_view_next(&view, "group", &at), "7");
    CHECK(cordon_gate_view_next(&view, "group", &at) == NULL);
    CHECK(cordon_gate_view_next(&view, "group", &at) == NULL);
    at = 0;
    CHECK_STR(cordon_gate_view_next(&view, "empty", &at), "");
    at = 0;
    CHECK_STR(cordon_gate_view_next(&view, "env", &at), "A=b=c");
    at = 0;
    CHECK(cordon_gate_view_next(&view, "grou", &at) == NULL);
    at = 0;
    CHECK(cordon_gate_view_next(&view, "", &at) == NULL);
}

static void the_order_of_fields_is_free(void)
{
    static const part reversed[] = {FACT("uid=0"), NONCE, GOOD_VERSION};
    cordon_auto(cordon_frame) frame = {0};
    cordon_auto(cordon_gate_view) view = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(make(&frame, reversed, 3));
    REQUIRE_OK(cordon_gate_view_read(frame.bytes.data, frame.bytes.length, &view, &err), err);
    CHECK_INT(view.facts.count, 1);
}

static void a_broken_report_is_refused_by_its_fault(void)
{
    static const struct {
        part parts[4];
        size_t count;
        const char *message;
    } bad[] = {
        {{NONCE, FACT("a=b")}, 2, "lacks its version or nonce"},
        {{GOOD_VERSION, FACT("a=b")}, 2, "lacks its version or nonce"},
        {{FACT("a=b")}, 0, "lacks its version or nonce"},
        {{VERSION("\0\0\0\0\0\0\0\2"), NONCE}, 2, "speaks version 2, this cordon speaks 1"},
        {{VERSION("\0\0\0\0\0\0\0\0"), NONCE}, 2, "speaks version 0, this cordon speaks 1"},
        {{VERSION("\1\0\0\0\0\0\0\1"), NONCE}, 2, "this cordon speaks 1"},
        {{GOOD_VERSION, GOOD_VERSION, NONCE}, 3, "names its version twice"},
        {{{CORDON_GATE_REPORT_VERSION, "\1", 1}, NONCE}, 2, "1 bytes, expected 8"},
        {{GOOD_VERSION, NONCE, NONCE}, 3, "no single nonce of 32 bytes"},
        {{GOOD_VERSION, {CORDON_GATE_REPORT_NONCE, nonce, 31}}, 2, "no single nonce of 32 bytes"},
        {{GOOD_VERSION, {CORDON_GATE_REPORT_NONCE, nonce, 0}}, 2, "no single nonce of 32 bytes"},
        {{GOOD_VERSION, NONCE, FACT("uid")}, 3, "a fact without '=': uid"},
        {{GOOD_VERSION, NONCE, FACT("")}, 3, "a fact without '='"},
        {{GOOD_VERSION, NONCE, FACT("u\x1b[2J")}, 3, "a fact without '=': u?[2J"},
        {{GOOD_VERSION, NONCE, FACT("a=b\0c")}, 3, "field 3 holds a NUL"},
        {{GOOD_VERSION, NONCE, {4, "a=b", 3}}, 3, "field 4 is not known"},
        {{GOOD_VERSION, NONCE, {0, "", 0}}, 3, "field 0 is not known"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cordon_auto(cordon_frame) frame = {0};
        cordon_gate_view view = {0};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(make(&frame, bad[i].parts, bad[i].count));
        CHECK_FAILS(cordon_gate_view_read(frame.bytes.data, frame.bytes.length, &view, &err), err,
                    CORDON_ERR_PROTOCOL, bad[i].message);
        CHECK(view.facts.items == NULL && view.nonce[0] == 0);
    }
}

/* A report with `count` facts of `length` bytes each. */
static int read_many(size_t count, size_t length, cordon_gate_view *view, cordon_err *err)
{
    static const part head[] = {GOOD_VERSION, NONCE};
    cordon_auto(cordon_frame) frame = {0};
    cordon_autofree char *fact = malloc(length);

    if (fact == NULL || cordon_frame_init(&frame, CORDON_GATE_MAGIC_REPORT, 8u << 20, err) != 0)
        return -1;
    memset(fact, '=', length);
    for (size_t i = 0; i < 2 + count; i++) {
        part next = i < 2 ? head[i] : (part){CORDON_GATE_REPORT_FACT, fact, length};

        if (cordon_frame_add_bytes(&frame, next.tag, next.bytes, next.length, err) != 0)
            return -1;
    }
    if (cordon_frame_seal(&frame, cordon_frame_unkeyed, err) != 0)
        return -1;
    return cordon_gate_view_read(frame.bytes.data, frame.bytes.length, view, err);
}

static void facts_are_bounded_in_number_and_length(void)
{
    static const struct {
        size_t count;
        size_t length;
        const char *message; /* NULL: it is read */
    } cases[] = {
        {CORDON_GATE_VIEW_FACTS_MAX, 2, NULL},
        {CORDON_GATE_VIEW_FACTS_MAX + 1, 2, "over 2048 facts"},
        {1, 16384, NULL},
        {1, 16385, "16385 bytes, at most 16384"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cordon_auto(cordon_gate_view) view = {0};
        cordon_err err = CORDON_ERR_INIT;
        int rc = read_many(cases[i].count, cases[i].length, &view, &err);

        if (cases[i].message == NULL) {
            CHECK_OK(rc, err);
            CHECK_INT(view.facts.count, cases[i].count);
        } else {
            CHECK_FAILS(rc, err, CORDON_ERR_PROTOCOL, cases[i].message);
        }
    }
}

static void a_report_that_was_cut_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};

    REQUIRE(make(&frame, good, GOOD_COUNT));
    for (size_t cut = 0; cut < frame.bytes.length; cut++) {
        cordon_gate_view view = {0};
        cordon_err err = CORDON_ERR_INIT;
        cordon_autofree char *copy = malloc(cut + 1);

        REQUIRE(copy != NULL);
        memcpy(copy, frame.bytes.data, cut);
        CHECK_FAILS(cordon_gate_view_read(copy, cut, &view, &err), err, CORDON_ERR_PROTOCOL,
                    "a record cut after");
    }
}

static void a_report_with_any_bit_changed_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};

    REQUIRE(make(&frame, good, GOOD_COUNT));
    for (size_t bit = 0; bit < 8 * frame.bytes.length; bit++) {
        cordon_gate_view view = {0};
        cordon_err err = CORDON_ERR_INIT;
        char *byte = &frame.bytes.data[bit / 8];

        *byte = (char)(*byte ^ (1 << bit % 8));
        CHECK_FAILS(cordon_gate_view_read(frame.bytes.data, frame.bytes.length, &view, &err), err,
                    CORDON_ERR_PROTOCOL, "a record");
        *byte = (char)(*byte ^ (1 << bit % 8));
    }
}

static void a_report_with_more_behind_it_is_refused(void)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_gate_view view = {0};
    cordon_err err = CORDON_ERR_INIT;
    char longer[1024] = {0};

    REQUIRE(make(&frame, good, GOOD_COUNT));
    REQUIRE(frame.bytes.length < sizeof(longer));
    memcpy(longer, frame.bytes.data, frame.bytes.length);
    CHECK_FAILS(cordon_gate_view_read(longer, frame.bytes.length + 1, &view, &err), err,
                CORDON_ERR_PROTOCOL, "1 bytes too many");
}

CORDON_TEST_MAIN("gate_view", TEST(a_report_gives_its_nonce_and_its_facts_in_order),
                 TEST(a_key_is_looked_up_whole_and_gives_each_of_its_values),
                 TEST(the_order_of_fields_is_free), TEST(a_broken_report_is_refused_by_its_fault),
                 TEST(facts_are_bounded_in_number_and_length),
                 TEST(a_report_that_was_cut_is_refused),
                 TEST(a_report_with_any_bit_changed_is_refused),
                 TEST(a_report_with_more_behind_it_is_refused))

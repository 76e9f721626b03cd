/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON reader: what it refuses as a whole (case CP3), and its typed, tri-state getters.
 */
#include <stdint.h>
#include <stdlib.h>

#include "kit/buf.h"
#include "kit/jsonr.h"
#include "support/test.h"

#define MAX_BYTES 1000000

static int parse_n(const char *text, size_t length, cordon_json_doc **ret_doc, cordon_err *err)
{
    /* An exact heap copy, so that a read past the end is seen. */
    cordon_autofree char *bytes = malloc(length + (length == 0));
    memcpy(bytes, text, length);
    return cordon_json_parse(bytes, length, MAX_BYTES, 0, ret_doc, err);
}

static int parse(const char *text, cordon_json_doc **ret_doc, cordon_err *err)
{
    return parse_n(text, strlen(text), ret_doc, err);
}

static void well_formed_texts_are_taken(void)
{
    static const char *const good[] = {
        "null",
        " true ",
        "12",
        "-0",
        "-0.5e-7",
        "1E+2",
        "\"\"",
        "[]",
        "{}",
        " [ 1 , 2 ] \n",
        "{\"a\":{\"a\":[{\"a\":1}]}}",
        "\"\\ud83d\\ude00 \\u00e9 \\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
        "18446744073709551615",
        "-9223372036854775808",
        "[null,null,{\"x\":null}]",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(parse(good[i], &doc, &err), err);
        CHECK(doc != NULL);
    }
}

static void CP3_malformed_texts_are_refused_as_a_whole(void)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"", "empty text"},
        {" ", "byte 1: the text ends"},
        {"{\"Id\":\"a\",}", "byte 10: expected a key"},
        {"[1,]", "malformed number"},
        {"[,1]", "malformed number"},
        {"[1 2]", "byte 3: expected ',' or ']'"},
        {"{\"a\" 1}", "expected ':'"},
        {"{\"a\":1 \"b\":2}", "expected ',' or '}'"},
        {"{a:1}", "expected a key"},
        {"{'a':1}", "expected a key"},
        {"{\"a\":'b'}", "malformed number"},
        {"{}x", "byte 2: text after the value"},
        {"{} {}", "text after the value"},
        {"{}\f", "text after the value"},
        {"\xef\xbb\xbf{}", "malformed number"},
        {"NaN", "malformed number"},
        {"nan", "not a value"},
        {"Infinity", "malformed number"},
        {"-Infinity", "malformed number"},
        {"[1,NaN]", "malformed number"},
        {"True", "malformed number"},
        {"nul", "not a value"},
        {"nullx", "text after the value"},
        {"{} // c", "text after the value"},
        {"{/* c */}", "expected a key"},
        {"[/**/1]", "malformed number"},
        {"01", "malformed number"},
        {"-", "malformed number"},
        {"+1", "malformed number"},
        {".5", "malformed number"},
        {"1.", "malformed number"},
        {"1e", "malformed number"},
        {"0x1", "text after the value"},
        {"18446744073709551616", "beyond 64 bits"},
        {"-9223372036854775809", "beyond 64 bits"},
        {"[1e999]", "$[0]: a number beyond 64 bits"},
        {"\"a", "string without an end"},
        {"\"a\nb\"", "raw control character"},
        {"\"a\tb\"", "raw control character"},
        {"\"\\x41\"", "unknown escape"},
        {"\"\\", "unknown escape"},
        {"\"\\u12\"", "four hex digits"},
        {"\"\\u 123\"", "four hex digits"},
        {"\"\\ud800\"", "lone surrogate"},
        {"\"\\udc00\\ud800\"", "lone surrogate"},
        {"\"\\ud800\\u0041\"", "lone surrogate"},
        {"\"\x80\"", "invalid UTF-8"},
        {"\"\xc0\xaf\"", "invalid UTF-8"},
        {"\"\xe0\x9f\xbf\"", "invalid UTF-8"},
        {"\"\xed\xa0\x80\"", "invalid UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "invalid UTF-8"},
        {"\"\xe2\x82\"", "invalid UTF-8"},
        {"\"\xf0\x9f\x98", "invalid UTF-8"},
        {"{\"a\\u0000b\":1}", "NUL in a key"},
        {"[", "the text ends"},
        {"{\"a\":", "the text ends"},
        {"{\"a\":1", "expected ',' or '}'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_json_doc *doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(parse(bad[i].text, &doc, &err), err, CORDON_ERR_PROTOCOL, bad[i].why);
        CHECK(doc == NULL);
    }
}

static void a_nul_byte_is_no_end_of_text(void)
{
    cordon_json_doc *doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(parse_n("{}\0", 3, &doc, &err), err, CORDON_ERR_PROTOCOL, "text after the value");
    cordon_err_clear(&err);
    CHECK_FAILS(parse_n("\"a\0b\"", 5, &doc, &err), err, CORDON_ERR_PROTOCOL, "control character");
}

static void duplicate_keys_are_refused_wherever_and_however_they_are_written(void)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"{\"a\":1,\"a\":1}", "$: a key appears twice (2 members, 1 names)"},
        {"{\"a\":1,\"b\":2,\"\\u0061\":3}", "$: a key appears twice"},
        {"{\"HostConfig\":{\"Privileged\":true,\"Privileged\":false}}",
         "$.HostConfig: a key appears twice"},
        {"[0,{\"x\":[{\"\":1,\"\":2}]}]", "$[1].x[0]: a key appears twice"},
        {"{\"a\":{\"b\":1},\"a\":{}}", "$: a key appears twice"},
        {"{\"\xc3\xa9\":1,\"\\u00e9\":2}", "$: a key appears twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_json_doc *doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(parse(bad[i].text, &doc, &err), err, CORDON_ERR_PROTOCOL, bad[i].why);
    }
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(parse("{\"a\":{\"a\":1},\"A\":[{\"a\":1},{\"a\":1}]}", &doc, &err), err);
}

static void depth_has_a_limit_that_counts_containers(void)
{
    char text[200] = "";
    for (unsigned depth = 63; depth <= 66; depth++) {
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        memset(text, '[', depth);
        text[depth] = '1';
        memset(text + depth + 1, ']', depth);
        if (depth <= 64)
            CHECK_OK(cordon_json_parse(text, 2 * depth + 1, MAX_BYTES, 0, &doc, &err), err);
        else
            CHECK_FAILS(cordon_json_parse(text, 2 * depth + 1, MAX_BYTES, 0, &doc, &err), err,
                        CORDON_ERR_PROTOCOL, "nested too deeply");
    }
    cordon_json_doc *doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_json_parse("[[[]]]", 6, MAX_BYTES, 2, &doc, &err), err, CORDON_ERR_PROTOCOL,
                "byte 2: nested too deeply");
}

static void size_has_a_limit(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_json_parse("[1]", 3, 3, 0, &doc, &err), err);
    cordon_json_doc *none = NULL;
    CHECK_FAILS(cordon_json_parse("[12]", 4, 3, 0, &none, &err), err, CORDON_ERR_PROTOCOL,
                "4 bytes of JSON are over the limit of 3");
}

static void absent_null_and_present_are_three_things(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_bool flag = {0};
    cordon_json_string text = {0};
    REQUIRE_OK(parse("{\"t\":true,\"f\":false,\"n\":null,\"s\":\"\"}", &doc, &err), err);
    cordon_json root = cordon_json_root(doc);
    CHECK_OK(cordon_json_get_bool(root, "t", &flag, &err), err);
    CHECK(flag.has == CORDON_JSON_PRESENT && flag.value);
    CHECK_OK(cordon_json_get_bool(root, "f", &flag, &err), err);
    CHECK(flag.has == CORDON_JSON_PRESENT && !flag.value);
    CHECK_OK(cordon_json_get_bool(root, "n", &flag, &err), err);
    CHECK(flag.has == CORDON_JSON_NULL);
    CHECK_OK(cordon_json_get_bool(root, "T", &flag, &err), err);
    CHECK(flag.has == CORDON_JSON_ABSENT);
    CHECK_OK(cordon_json_get_string(root, "s", &text, &err), err);
    CHECK(text.has == CORDON_JSON_PRESENT && text.length == 0);
    CHECK_STR(text.text, "");
    CHECK_OK(cordon_json_get_string(root, "", &text, &err), err);
    CHECK(text.has == CORDON_JSON_ABSENT && text.text == NULL);
}

static const char mixed[] = "{\"b\":true,\"i\":-5,\"u\":18446744073709551615,\"d\":1.5,\"s\":\"x\","
                            "\"a\":[1],\"o\":{\"k\":0},\"nul\":\"a\\u0000b\"}";

static void a_wrong_type_names_path_and_both_types(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(parse(mixed, &doc, &err), err);
    cordon_json root = cordon_json_root(doc);
    cordon_json_bool b = {.value = true};
    cordon_json_i64 i = {0};
    cordon_json_u64 u = {0};
    cordon_json_double d = {0};
    cordon_json_string s = {0};
    cordon_json_place p = {0};
#define WRONG(call, part)                                                                          \
    do {                                                                                           \
        cordon_err_clear(&err);                                                                    \
        CHECK_FAILS(call, err, CORDON_ERR_PROTOCOL, part);                                         \
    } while (0)
    WRONG(cordon_json_get_bool(root, "s", &b, &err), "$.s: expected boolean, found string");
    WRONG(cordon_json_get_bool(root, "i", &b, &err), "$.i: expected boolean, found integer");
    WRONG(cordon_json_get_i64(root, "d", &i, &err), "$.d: expected integer, found number");
    WRONG(cordon_json_get_i64(root, "u", &i, &err), "$.u: an integer beyond the signed 64-bit");
    WRONG(cordon_json_get_i64(root, "b", &i, &err), "$.b: expected integer, found boolean");
    WRONG(cordon_json_get_u64(root, "i", &u, &err), "$.i: a negative integer");
    WRONG(cordon_json_get_double(root, "s", &d, &err), "$.s: expected number, found string");
    WRONG(cordon_json_get_string(root, "i", &s, &err), "$.i: expected string, found integer");
    WRONG(cordon_json_get_string(root, "nul", &s, &err), "$.nul: a string with a NUL");
    WRONG(cordon_json_get_object(root, "a", &p, &err), "$.a: expected object, found array");
    WRONG(cordon_json_get_array(root, "o", &p, &err), "$.o: expected array, found object");
    CHECK(b.value && i.has == CORDON_JSON_ABSENT);
    cordon_err_clear(&err);
    REQUIRE_OK(cordon_json_get_array(root, "a", &p, &err), err);
    WRONG(cordon_json_get_bool(p.value, "x", &b, &err), "$.a: expected object, found array");
#undef WRONG
}

static void numbers_come_out_exactly(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_i64 i = {0};
    cordon_json_u64 u = {0};
    cordon_json_double d = {0};
    REQUIRE_OK(parse("[9223372036854775807,-9223372036854775808,18446744073709551615,0,2.5,7]",
                     &doc, &err),
               err);
    int64_t want[] = {INT64_MAX, INT64_MIN};
    cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc));
    for (size_t n = 0; n < 2; n++) {
        REQUIRE(cordon_json_next(&it));
        REQUIRE_OK(cordon_json_as_i64(it.value, &i, &err), err);
        CHECK(i.value == want[n]);
    }
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_as_u64(it.value, &u, &err), err);
    CHECK(u.value == UINT64_MAX);
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_as_u64(it.value, &u, &err), err);
    CHECK(u.has == CORDON_JSON_PRESENT && u.value == 0);
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_as_double(it.value, &d, &err), err);
    CHECK(d.value > 2.4 && d.value < 2.6);
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_as_double(it.value, &d, &err), err);
    CHECK(d.value > 6.9 && d.value < 7.1);
    CHECK(!cordon_json_next(&it));
}

static void strings_are_unescaped(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *text = NULL;
    REQUIRE_OK(parse("{\"k\\u00e9y\":\"\\ud83d\\ude00\\n\\/\"}", &doc, &err), err);
    REQUIRE_OK(cordon_json_need_string(cordon_json_root(doc), "k\xc3\xa9y", &text, &err), err);
    CHECK_STR(text, "\xf0\x9f\x98\x80\n/");
}

static void what_is_needed_must_be_there(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *text = "untouched";
    int64_t number = 0;
    bool flag = false;
    cordon_json place = {0};
    REQUIRE_OK(parse("{\"Id\":null,\"o\":{\"n\":7,\"b\":true,\"a\":[]}}", &doc, &err), err);
    cordon_json root = cordon_json_root(doc);
    CHECK_FAILS(cordon_json_need_string(root, "Id", &text, &err), err, CORDON_ERR_PROTOCOL,
                "$.Id: null, expected string");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_json_need_string(root, "Na me", &text, &err), err, CORDON_ERR_PROTOCOL,
                "$[\"Na me\"]: missing, expected string");
    CHECK_STR(text, "untouched");
    cordon_err_clear(&err);
    REQUIRE_OK(cordon_json_need_object(root, "o", &place, &err), err);
    CHECK_OK(cordon_json_need_i64(place, "n", &number, &err), err);
    CHECK_INT(number, 7);
    CHECK_OK(cordon_json_need_bool(place, "b", &flag, &err), err);
    CHECK(flag);
    CHECK_FAILS(cordon_json_need_array(place, "x", &place, &err), err, CORDON_ERR_PROTOCOL,
                "$.o.x: missing, expected array");
}

static void paths_cannot_be_forged_by_keys(void)
{
    static const struct {
        const char *text;
        const char *path;
    } rows[] = {
        {"{\"a\":[0,{\"b-c\":1}]}", "$.a[1].b-c"},
        {"{\"a.b\":1}", "$[\"a.b\"]"},
        {"{\"\":1}", "$[\"\"]"},
        {"{\"a\\\"]b\":1}", "$[\"a\\x22]b\"]"},
        {"{\"\\u001b[2J\":1}", "$[\"\\x1b[2J\"]"},
        {"{\"\xc3\xa9\":1}", "$[\"\\xc3\\xa9\"]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(parse(rows[i].text, &doc, &err), err);
        /* The last child of the last child ... */
        cordon_json at = cordon_json_root(doc);
        while (cordon_json_count(at) > 0) {
            cordon_json_iter it = cordon_json_iterate(at);
            while (cordon_json_next(&it))
                ;
            at = it.value;
        }
        CHECK_STR(CORDON_JSON_PATH(at), rows[i].path);
    }
}

static void a_long_path_is_cut_where_one_can_see_it(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char small[12];
    REQUIRE_OK(parse("{\"abc\":{\"defghijkl\":1}}", &doc, &err), err);
    cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc));
    REQUIRE(cordon_json_next(&it));
    cordon_json_iter inner = cordon_json_iterate(it.value);
    REQUIRE(cordon_json_next(&inner));
    CHECK_STR(cordon_json_path(inner.value, small, sizeof small), "$.abc....");
    CHECK_STR(cordon_json_path(it.value, small, sizeof small), "$.abc");
}

static void iteration_is_in_document_order(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) seen = cordon_buf_make(100);
    REQUIRE_OK(parse("{\"z\":1,\"a\":null,\"m\":[]}", &doc, &err), err);
    CHECK_INT(cordon_json_count(cordon_json_root(doc)), 3);
    for (cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc)); cordon_json_next(&it);)
        REQUIRE_OK(cordon_buf_printf(&seen, &err, "%zu%s:%s ", it.index, it.key,
                                     cordon_json_type_name(cordon_json_type_of(it.value))),
                   err);
    CHECK_STR(cordon_buf_text(&seen), "0z:integer 1a:null 2m:array ");
}

CORDON_TEST_MAIN("jsonr", TEST(well_formed_texts_are_taken),
                 TEST(CP3_malformed_texts_are_refused_as_a_whole),
                 TEST(a_nul_byte_is_no_end_of_text),
                 TEST(duplicate_keys_are_refused_wherever_and_however_they_are_written),
                 TEST(depth_has_a_limit_that_counts_containers), TEST(size_has_a_limit),
                 TEST(absent_null_and_present_are_three_things),
                 TEST(a_wrong_type_names_path_and_both_types), TEST(numbers_come_out_exactly),
                 TEST(strings_are_unescaped), TEST(what_is_needed_must_be_there),
                 TEST(paths_cannot_be_forged_by_keys),
                 TEST(a_long_path_is_cut_where_one_can_see_it),
                 TEST(iteration_is_in_document_order))

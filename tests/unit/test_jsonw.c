/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: it writes what it was told, and cannot be made to write anything but JSON. */
#include "kit/jsonr.h"
#include "kit/jsonw.h"
#include "support/test.h"

static void everything_once(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    cordon_err err = CORDON_ERR_INIT;
    cordon_jsonw w;
    cordon_jsonw_init(&w, &out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "s", "x");
    cordon_jsonw_string_n(&w, "sn", "xyz", 2);
    cordon_jsonw_string_or_null(&w, "no", NULL);
    cordon_jsonw_i64(&w, "i", INT64_MIN);
    cordon_jsonw_u64(&w, "u", UINT64_MAX);
    cordon_jsonw_bool(&w, "b", true);
    cordon_jsonw_null(&w, "n");
    cordon_jsonw_begin_array(&w, "a");
    cordon_jsonw_i64(&w, NULL, 1);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_end_object(&w);
    cordon_jsonw_begin_array(&w, NULL);
    cordon_jsonw_end_array(&w);
    cordon_jsonw_bool(&w, NULL, false);
    cordon_jsonw_end_array(&w);
    cordon_jsonw_string(&w, "", "");
    cordon_jsonw_end_object(&w);
    REQUIRE_OK(cordon_jsonw_finish(&w, &err), err);
    CHECK_STR(cordon_buf_text(&out),
              "{\"s\":\"x\",\"sn\":\"xy\",\"no\":null,\"i\":-9223372036854775808,"
              "\"u\":18446744073709551615,\"b\":true,\"n\":null,\"a\":[1,{},[],false],\"\":\"\"}");
}

static void strings_are_escaped_and_repaired(void)
{
    static const struct {
        const char *text;
        const char *json;
    } rows[] = {
        {"plain", "\"plain\""},
        {"q\" b\\ s/", "\"q\\\" b\\\\ s/\""},
        {"\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"a\x80z", "\"a\xef\xbf\xbdz\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf5\x80\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe0\x80\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(1000);
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        cordon_jsonw w;
        cordon_jsonw_init(&w, &out);
        cordon_jsonw_string(&w, NULL, rows[i].text);
        REQUIRE_OK(cordon_jsonw_finish(&w, &err), err);
        CHECK_STR(cordon_buf_text(&out), rows[i].json);
        CHECK_OK(cordon_json_parse(out.data, out.length, 1000, 0, &doc, &err), err);
    }
}

static void a_nul_inside_is_written_as_its_escape(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    cordon_err err = CORDON_ERR_INIT;
    cordon_jsonw w;
    cordon_jsonw_init(&w, &out);
    cordon_jsonw_string_n(&w, NULL, "a\0b", 3);
    REQUIRE_OK(cordon_jsonw_finish(&w, &err), err);
    CHECK_STR(cordon_buf_text(&out), "\"a\\u0000b\"");
}

static void no_key_in_object(cordon_jsonw *w)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_i64(w, NULL, 1);
    cordon_jsonw_end_object(w);
}

static void key_in_array(cordon_jsonw *w)
{
    cordon_jsonw_begin_array(w, NULL);
    cordon_jsonw_bool(w, "k", true);
    cordon_jsonw_end_array(w);
}

static void key_at_root(cordon_jsonw *w)
{
    cordon_jsonw_null(w, "k");
}

static void wrong_end(cordon_jsonw *w)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_end_array(w);
}

static void end_too_many(cordon_jsonw *w)
{
    cordon_jsonw_begin_array(w, NULL);
    cordon_jsonw_end_array(w);
    cordon_jsonw_end_array(w);
}

static void second_root(cordon_jsonw *w)
{
    cordon_jsonw_i64(w, NULL, 1);
    cordon_jsonw_i64(w, NULL, 2);
}

static void unfinished(cordon_jsonw *w)
{
    cordon_jsonw_begin_array(w, NULL);
}

static void nothing(cordon_jsonw *w)
{
    (void)w;
}

static void null_string(cordon_jsonw *w)
{
    cordon_jsonw_string(w, NULL, NULL);
}

static void too_deep(cordon_jsonw *w)
{
    for (int i = 0; i < 65; i++)
        cordon_jsonw_begin_array(w, NULL);
    for (int i = 0; i < 65; i++)
        cordon_jsonw_end_array(w);
}

static void misuse_is_an_error_at_the_end(void)
{
    static const struct {
        void (*write)(cordon_jsonw *w);
        const char *why;
    } rows[] = {
        {no_key_in_object, "a member without a name"},
        {key_in_array, "a name outside an object"},
        {key_at_root, "a name outside an object"},
        {wrong_end, "an end without its begin"},
        {end_too_many, "an end without its begin"},
        {second_root, "a second value at the root"},
        {unfinished, "finished before its value was whole"},
        {nothing, "finished before its value was whole"},
        {null_string, "a string that is NULL"},
        {too_deep, "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(1000);
        cordon_err err = CORDON_ERR_INIT;
        cordon_jsonw w;
        cordon_jsonw_init(&w, &out);
        rows[i].write(&w);
        CHECK_FAILS(cordon_jsonw_finish(&w, &err), err, CORDON_ERR_INVALID, rows[i].why);
    }
}

static void sixty_four_levels_are_fine(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1000);
    cordon_err err = CORDON_ERR_INIT;
    cordon_jsonw w;
    cordon_jsonw_init(&w, &out);
    for (int i = 0; i < 64; i++)
        cordon_jsonw_begin_array(&w, NULL);
    for (int i = 0; i < 64; i++)
        cordon_jsonw_end_array(&w);
    CHECK_OK(cordon_jsonw_finish(&w, &err), err);
    CHECK_INT(out.length, 128);
}

static void the_buffer_s_ceiling_is_the_first_failure_and_sticks(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(10);
    cordon_err err = CORDON_ERR_INIT;
    cordon_jsonw w;
    cordon_jsonw_init(&w, &out);
    cordon_jsonw_begin_array(&w, NULL);
    cordon_jsonw_string(&w, NULL, "much too long for it");
    cordon_jsonw_i64(&w, "misuse after the failure", 1);
    cordon_jsonw_end_array(&w);
    CHECK_FAILS(cordon_jsonw_finish(&w, &err), err, CORDON_ERR_PROTOCOL, "limit of 10 bytes");
}

CORDON_TEST_MAIN("jsonw", TEST(everything_once), TEST(strings_are_escaped_and_repaired),
                 TEST(a_nul_inside_is_written_as_its_escape), TEST(misuse_is_an_error_at_the_end),
                 TEST(sixty_four_levels_are_fine),
                 TEST(the_buffer_s_ceiling_is_the_first_failure_and_sticks))

/* SPDX-License-Identifier: Apache-2.0 */
/* The table interpreter behind the decoders: kinds, nulls, absences, and what is left over. */
#include "factread.h"

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef struct sample {
    cordon_fact_text text;
    cordon_fact_bool flag;
    cordon_fact_int number;
    cordon_fact_list list;
    cordon_fact_list set;
    cordon_fact_list map;
    cordon_fact_list keys;
} sample;

static void sample_clear(sample *s)
{
    free(s->text);
    cordon_fact_list_clear(&s->list);
    cordon_fact_list_clear(&s->set);
    cordon_fact_list_clear(&s->map);
    cordon_fact_list_clear(&s->keys);
}
CORDON_DEFINE_AUTO(sample, sample_clear)

#define FIELDS(null_rule)                                                                          \
    {                                                                                              \
        {"T", CORDON_READ_TEXT, offsetof(sample, text), null_rule},                                \
            {"B", CORDON_READ_BOOL, offsetof(sample, flag), null_rule},                            \
            {"I", CORDON_READ_INT, offsetof(sample, number), null_rule},                           \
            {"L", CORDON_READ_LIST, offsetof(sample, list), null_rule},                            \
            {"S", CORDON_READ_SET, offsetof(sample, set), null_rule},                              \
            {"M", CORDON_READ_MAP, offsetof(sample, map), null_rule},                              \
            {"K", CORDON_READ_KEYS, offsetof(sample, keys), null_rule},                            \
    }

static const cordon_factread_field strict[] = FIELDS(CORDON_NULL_UNKNOWN);
static const cordon_factread_field lenient[] = FIELDS(CORDON_NULL_EMPTY);

static int read_fields(const char *json, const cordon_factread_field *fields, sample *ret,
                       cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (cordon_json_parse(json, strlen(json), 1 << 16, 0, &doc, err) != 0)
        return -1;
    return cordon_factread_fields(cordon_json_root(doc), fields, COUNT(strict), ret, err);
}

static void values_arrive_in_their_normal_order(void)
{
    cordon_auto(sample) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(read_fields("{\"T\":\"x\",\"B\":true,\"I\":-7,\"L\":[\"b\",\"a\"],\"S\":[\"b\","
                           "\"a\"],\"M\":{\"z\":\"1\",\"a\":\"b=c\"},\"K\":{\"80/tcp\":{},"
                           "\"22/tcp\":{}}}",
                           strict, &s, &err),
               err);
    CHECK_STR(s.text, "x");
    CHECK_INT(s.flag, CORDON_FACT_YES);
    CHECK(s.number.known && s.number.value == -7);
    REQUIRE(s.list.count == 2 && s.set.count == 2 && s.map.count == 2 && s.keys.count == 2);
    CHECK_STR(s.list.items[0], "b");
    CHECK_STR(s.set.items[0], "a");
    CHECK_STR(s.map.items[0], "a=b=c");
    CHECK_STR(s.map.items[1], "z=1");
    CHECK_STR(s.keys.items[0], "22/tcp");
}

static void check_unknown(const sample *s)
{
    CHECK(s->text == NULL);
    CHECK_INT(s->flag, CORDON_FACT_UNKNOWN);
    CHECK(!s->number.known);
    CHECK(!s->list.known && !s->set.known && !s->map.known && !s->keys.known);
}

static void absent_is_unknown_whatever_null_means(void)
{
    cordon_auto(sample) a = {0};
    cordon_auto(sample) b = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(read_fields("{}", strict, &a, &err), err);
    check_unknown(&a);
    REQUIRE_OK(read_fields("{}", lenient, &b, &err), err);
    check_unknown(&b);
}

static void null_is_what_its_row_says(void)
{
    static const char nulls[] = "{\"T\":null,\"B\":null,\"I\":null,\"L\":null,\"S\":null,"
                                "\"M\":null,\"K\":null}";
    cordon_auto(sample) a = {0};
    cordon_auto(sample) b = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(read_fields(nulls, strict, &a, &err), err);
    check_unknown(&a);
    REQUIRE_OK(read_fields(nulls, lenient, &b, &err), err);
    CHECK_STR(b.text, "");
    CHECK_INT(b.flag, CORDON_FACT_NO);
    CHECK(b.number.known && b.number.value == 0);
    CHECK(b.list.known && b.set.known && b.map.known && b.keys.known);
    CHECK_INT(b.list.count + b.set.count + b.map.count + b.keys.count, 0);
}

static void another_type_fails_with_its_path(void)
{
    static const struct {
        const char *json;
        const char *path;
    } bad[] = {
        {"{\"T\":1}", "$.T"},
        {"{\"T\":true}", "$.T"},
        {"{\"B\":\"true\"}", "$.B"},
        {"{\"B\":0}", "$.B"},
        {"{\"I\":\"1\"}", "$.I"},
        {"{\"I\":1.5}", "$.I"},
        {"{\"I\":true}", "$.I"},
        {"{\"L\":{}}", "$.L"},
        {"{\"L\":\"a\"}", "$.L"},
        {"{\"L\":[\"a\",1]}", "$.L[1]"},
        {"{\"L\":[null]}", "$.L[0]"},
        {"{\"S\":[[]]}", "$.S[0]"},
        {"{\"M\":[]}", "$.M"},
        {"{\"M\":{\"a\":1}}", "$.M.a"},
        {"{\"M\":{\"a\":null}}", "$.M.a"},
        {"{\"K\":[]}", "$.K"},
        {"{\"M\":{\"a=b\":\"c\"}}", "equals"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_auto(sample) s = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(read_fields(bad[i].json, lenient, &s, &err), err, CORDON_ERR_PROTOCOL,
                    bad[i].path);
    }
}

static void patterns_name_whole_steps(void)
{
    static const struct {
        const char *pattern;
        const char *path;
        bool matches;
    } rows[] = {
        {"$.A", "$.A", true},
        {"$.A", "$.AB", false},
        {"$.AB", "$.A", false},
        {"$.A", "$.A.B", false},
        {"$.A.B", "$.A", false},
        {"$.A**", "$.A", true},
        {"$.A**", "$.A.B[3].C", true},
        {"$.A**", "$.A[0]", true},
        {"$.A**", "$.AB", false},
        {"$.A.*.B", "$.A.x.B", true},
        {"$.A.*.B", "$.A[\"x.y\"].B", true},
        {"$.A.*.B", "$.A[\"x\\\"].B\"].B", true},
        {"$.A.*.B", "$.A.x.y.B", false},
        {"$.A.*.B", "$.A[0].B", false},
        {"$.A.*.B", "$.A.B", false},
        {"$.A[*]", "$.A[0]", true},
        {"$.A[*]", "$.A[17]", true},
        {"$.A[*]", "$.A[\"0\"]", false},
        {"$.A[*]", "$.A.x", false},
        {"$.A[*]", "$.A[0].B", false},
        {"$.A[*].B", "$.A[0].B", true},
        {"$**", "$.anything", true},
        {"$**", "$", true},
        {"$", "$", true},
        {"$.A", "A", false},
        /* a key that looks like a path stands in quotes and is no path */
        {"$.A.B", "$[\"A.B\"]", false},
        /* cut paths: only what surely lies below a named subtree */
        {"$.A**", "$.A.B.longlonglong...", true},
        {"$.A**", "$.A...", false},
        {"$.A.*", "$.A[\"longlonglong...", false},
        {"$.A.*", "$.A.longlonglong...", false},
        {"$.A", "$.A...", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        TEST_RECORDF(cordon_factread_path_matches(rows[i].pattern, rows[i].path) == rows[i].matches,
                     "%s against %s", rows[i].pattern, rows[i].path);
}

static int leftovers_of(const char *json, cordon_fact_list *ret, cordon_err *err)
{
    static const cordon_factread_harmless table[] = {
        {"$.Time", "a clock"}, {"$.Graph**", "storage"}, {"$.Nets.*.Id", "an id"}};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(sample) s = {0};
    if (cordon_json_parse(json, strlen(json), 1 << 16, 0, &doc, err) != 0 ||
        cordon_factread_fields(cordon_json_root(doc), lenient, COUNT(lenient), &s, err) != 0)
        return -1;
    return cordon_factread_leftovers(cordon_json_root(doc), table, COUNT(table), ret, err);
}

static void what_is_read_empty_or_excused_is_not_left_over(void)
{
    cordon_auto(cordon_fact_list) left = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(leftovers_of("{\"T\":\"x\",\"L\":[\"a\"],\"M\":{\"a\":\"b\"},\"Time\":\"now\","
                            "\"Graph\":{\"a\":{\"b\":[1]}},\"Nets\":{\"n-1\":{\"Id\":\"7\"}},"
                            "\"New\":{},\"New2\":[],\"New3\":null,\"New4\":0,\"New5\":false,"
                            "\"New6\":\"\",\"New7\":{\"deep\":[{\"x\":0}]},\"K\":{\"80\":{}}}",
                            &left, &err),
               err);
    CHECK(left.known);
    CHECK_INT(left.count, 0);
}

static void everything_else_is_left_over_by_path_and_value(void)
{
    cordon_auto(cordon_fact_list) left = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(leftovers_of("{\"New\":true,\"Nets\":{\"n\":{\"Id\":\"7\",\"Other\":5}},"
                            "\"K\":{\"80\":{\"x\":1}},\"Deep\":[{\"a\":\"v\"}],\"time\":\"t\"}",
                            &left, &err),
               err);
    static const char *const want[] = {"$.New = true", "$.Nets.n.Other = 5",
                                       "$.Deep[0].a = ", "$.time = "};
    CHECK_INT(left.count, 5);
    for (size_t k = 0; k < COUNT(want); k++) {
        bool found = false;
        for (size_t i = 0; i < left.count; i++)
            found = found || strncmp(left.items[i], want[k], strlen(want[k])) == 0;
        TEST_RECORDF(found, "nothing like \"%s\"", want[k]);
    }
}

CORDON_TEST_MAIN("factread", TEST(values_arrive_in_their_normal_order),
                 TEST(absent_is_unknown_whatever_null_means), TEST(null_is_what_its_row_says),
                 TEST(another_type_fails_with_its_path), TEST(patterns_name_whole_steps),
                 TEST(what_is_read_empty_or_excused_is_not_left_over),
                 TEST(everything_else_is_left_over_by_path_and_value))

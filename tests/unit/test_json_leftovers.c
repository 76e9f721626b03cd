/* SPDX-License-Identifier: Apache-2.0 */
/* The closed world: what nobody read is reported with its path, and defaults are told apart. */
#include "kit/buf.h"
#include "kit/jsonr.h"
#include "support/test.h"

static int note(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    return cordon_buf_printf(context, err, "%s%s=%s\n", leftover->empty ? "(empty) " : "",
                             leftover->path, leftover->value);
}

static int parse(const char *text, cordon_json_doc **ret_doc, cordon_err *err)
{
    return cordon_json_parse(text, strlen(text), 100000, 0, ret_doc, err);
}

static void check_leftovers(cordon_json at, const char *want)
{
    cordon_auto(cordon_buf) seen = cordon_buf_make(10000);
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_json_leftovers(at, note, &seen, &err), err);
    CHECK_STR(cordon_buf_text(&seen), want);
}

static void an_unread_document_is_all_leftovers(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(
        parse("{\"a\":true,\"b\":false,\"c\":null,\"d\":0,\"e\":-1,\"f\":\"\",\"g\":\"x\\ny\","
              "\"h\":[],\"i\":{},\"j\":[0,{\"k\":18446744073709551615}],\"l\":0.0,"
              "\"m\":0.25}",
              &doc, &err),
        err);
    check_leftovers(cordon_json_root(doc), "$.a=true\n(empty) $.b=false\n(empty) $.c=null\n"
                                           "(empty) $.d=0\n$.e=-1\n(empty) $.f=\"\"\n"
                                           "$.g=\"x?y\"\n(empty) $.h=[]\n(empty) $.i={}\n"
                                           "(empty) $.j[0]=0\n$.j[1].k=18446744073709551615\n"
                                           "(empty) $.l=0\n$.m=0.25\n");
}

static void what_was_read_is_no_leftover(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_bool flag;
    cordon_json_i64 number;
    cordon_json_place place;
    REQUIRE_OK(parse("{\"a\":true,\"n\":null,\"deep\":{\"x\":1,\"y\":2},\"arr\":[5,6],\"e\":[]}",
                     &doc, &err),
               err);
    cordon_json root = cordon_json_root(doc);
    REQUIRE_OK(cordon_json_get_bool(root, "a", &flag, &err), err);
    REQUIRE_OK(cordon_json_get_bool(root, "n", &flag, &err), err);
    REQUIRE_OK(cordon_json_get_object(root, "deep", &place, &err), err);
    REQUIRE_OK(cordon_json_get_i64(place.value, "x", &number, &err), err);
    REQUIRE_OK(cordon_json_get_array(root, "arr", &place, &err), err);
    REQUIRE_OK(cordon_json_get_array(root, "e", &place, &err), err);
    check_leftovers(root, "$.deep.y=2\n$.arr[0]=5\n$.arr[1]=6\n");
}

static void a_getter_that_fails_reads_nothing(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_bool flag;
    REQUIRE_OK(parse("{\"a\":\"yes\"}", &doc, &err), err);
    CHECK_INT(cordon_json_get_bool(cordon_json_root(doc), "a", &flag, NULL), -1);
    check_leftovers(cordon_json_root(doc), "$.a=\"yes\"\n");
}

static void iterating_alone_reads_nothing(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_string text;
    REQUIRE_OK(parse("[\"a\",\"b\"]", &doc, &err), err);
    cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc));
    REQUIRE(cordon_json_next(&it));
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_as_string(it.value, &text, &err), err);
    check_leftovers(cordon_json_root(doc), "$[0]=\"a\"\n");
}

static void a_consumed_subtree_is_judged_by_somebody_else(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(parse("{\"State\":{\"Pid\":1,\"x\":[2]},\"Other\":{\"y\":3}}", &doc, &err), err);
    cordon_json_consume_key(cordon_json_root(doc), "State");
    cordon_json_consume_key(cordon_json_root(doc), "NotThere");
    check_leftovers(cordon_json_root(doc), "$.Other.y=3\n");
    cordon_json_consume(cordon_json_root(doc));
    check_leftovers(cordon_json_root(doc), "");
}

static void leftovers_can_be_asked_for_below_a_place(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json host_config;
    REQUIRE_OK(parse("{\"a\":1,\"HostConfig\":{\"Privileged\":true}}", &doc, &err), err);
    REQUIRE_OK(cordon_json_need_object(cordon_json_root(doc), "HostConfig", &host_config, &err),
               err);
    check_leftovers(host_config, "$.HostConfig.Privileged=true\n");
}

static void an_empty_object_that_was_asked_for_a_member_was_read(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json_bool flag;
    REQUIRE_OK(parse("{}", &doc, &err), err);
    check_leftovers(cordon_json_root(doc), "(empty) $={}\n");
    REQUIRE_OK(cordon_json_get_bool(cordon_json_root(doc), "a", &flag, &err), err);
    check_leftovers(cordon_json_root(doc), "");
}

static int refuse(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (*(int *)context)++;
    return cordon_json_fail(leftover->at, err, "not known: %s", leftover->value);
}

static void the_callback_can_stop_the_walk_with_its_error(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    int calls = 0;
    REQUIRE_OK(parse("{\"a\":{\"b\":[1,2]}}", &doc, &err), err);
    CHECK_FAILS(cordon_json_leftovers(cordon_json_root(doc), refuse, &calls, &err), err,
                CORDON_ERR_PROTOCOL, "$.a.b[0]: not known: 1");
    CHECK_INT(calls, 1);
}

static void a_long_value_is_cut(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char text[1000];
    cordon_auto(cordon_buf) seen = cordon_buf_make(10000);
    memset(text, 'v', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    REQUIRE_OK(cordon_json_parse(text, sizeof text, 1000, 0, &doc, &err), err);
    REQUIRE_OK(cordon_json_leftovers(cordon_json_root(doc), note, &seen, &err), err);
    CHECK(seen.length < 110);
    CHECK_CONTAINS(cordon_buf_text(&seen), "vvv...\"\n");
}

CORDON_TEST_MAIN("json_leftovers", TEST(an_unread_document_is_all_leftovers),
                 TEST(what_was_read_is_no_leftover), TEST(a_getter_that_fails_reads_nothing),
                 TEST(iterating_alone_reads_nothing),
                 TEST(a_consumed_subtree_is_judged_by_somebody_else),
                 TEST(leftovers_can_be_asked_for_below_a_place),
                 TEST(an_empty_object_that_was_asked_for_a_member_was_read),
                 TEST(the_callback_can_stop_the_walk_with_its_error), TEST(a_long_value_is_cut))

/* SPDX-License-Identifier: Apache-2.0 */
/* The byte string: its ceiling holds, a failed growth changes nothing, it is always terminated. */
#include <stdint.h>
#include <stdlib.h>

#include "kit/buf.h"
#include "support/test.h"

static void an_empty_buffer_is_an_empty_text(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(10);
    CHECK_STR(cordon_buf_text(&buf), "");
    CHECK_INT(buf.length, 0);
}

static void appending_grows_and_terminates(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(1000);
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i < 100; i++)
        REQUIRE_OK(cordon_buf_append_text(&buf, "0123456789", &err), err);
    REQUIRE_INT(buf.length, 1000);
    CHECK_INT(strlen(cordon_buf_text(&buf)), 1000);
    CHECK_STR(cordon_buf_text(&buf) + 995, "56789");
}

static void the_ceiling_is_exact_and_a_refused_append_changes_nothing(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(4);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_buf_append(&buf, "abcd", 4, &err), err);
    CHECK_FAILS(cordon_buf_append_char(&buf, 'e', &err), err, CORDON_ERR_PROTOCOL,
                "more than the limit of 4 bytes");
    CHECK_STR(cordon_buf_text(&buf), "abcd");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_buf_append(&buf, "x", SIZE_MAX, &err), err, CORDON_ERR_PROTOCOL, "limit");
    cordon_err_clear(&err);
    CHECK_OK(cordon_buf_append(&buf, NULL, 0, &err), err);
}

static void printf_counts_against_the_ceiling_too(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(8);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_buf_printf(&buf, &err, "%d-%s", 12, "ab"), err);
    CHECK_STR(cordon_buf_text(&buf), "12-ab");
    CHECK_FAILS(cordon_buf_printf(&buf, &err, "%04d", 1), err, CORDON_ERR_PROTOCOL, "limit of 8");
    CHECK_STR(cordon_buf_text(&buf), "12-ab");
}

static void bytes_may_be_nul(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(8);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_buf_append(&buf, "a\0b", 3, &err), err);
    CHECK_INT(buf.length, 3);
    CHECK(memcmp(buf.data, "a\0b\0", 4) == 0);
}

static void reserve_and_commit_write_in_place(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(16);
    cordon_err err = CORDON_ERR_INIT;
    char *space = NULL;
    REQUIRE_OK(cordon_buf_reserve(&buf, 16, &space, &err), err);
    memcpy(space, "hello", 5);
    cordon_buf_commit(&buf, 5);
    CHECK_STR(cordon_buf_text(&buf), "hello");
    CHECK_FAILS(cordon_buf_reserve(&buf, 12, &space, &err), err, CORDON_ERR_PROTOCOL, "limit");
}

static void consuming_drops_from_the_front(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(16);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_buf_append_text(&buf, "headbody", &err), err);
    cordon_buf_consume(&buf, 0);
    cordon_buf_consume(&buf, 4);
    CHECK_STR(cordon_buf_text(&buf), "body");
    cordon_buf_consume(&buf, 4);
    CHECK_STR(cordon_buf_text(&buf), "");
}

static void taking_hands_over_and_leaves_an_empty_buffer(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(16);
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *text = NULL;
    cordon_autofree char *nothing = NULL;
    size_t length = 0;
    REQUIRE_OK(cordon_buf_append_text(&buf, "abc", &err), err);
    REQUIRE_OK(cordon_buf_take(&buf, &text, &length, &err), err);
    CHECK_STR(text, "abc");
    CHECK_INT(length, 3);
    CHECK_INT(buf.length, 0);
    REQUIRE_OK(cordon_buf_take(&buf, &nothing, NULL, &err), err);
    CHECK_STR(nothing, "");
}

static void a_secret_survives_growth_and_is_gone_after_reset(void)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make_secret(4096);
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i < 256; i++)
        REQUIRE_OK(cordon_buf_append_text(&buf, "secret..", &err), err);
    CHECK_STR(cordon_buf_text(&buf) + 2040, "secret..");
    cordon_buf_reset(&buf);
    CHECK_STR(cordon_buf_text(&buf), "");
    for (size_t i = 0; i < buf.capacity; i++)
        REQUIRE_INT(buf.data[i], 0);
}

static void clearing_twice_is_fine(void)
{
    cordon_buf buf = {0};
    cordon_buf_clear(&buf);
    buf = cordon_buf_make(4);
    CHECK_INT(cordon_buf_append_char(&buf, 'x', NULL), 0);
    cordon_buf_clear(&buf);
    cordon_buf_clear(&buf);
    CHECK_INT(buf.length, 0);
}

CORDON_TEST_MAIN("buf", TEST(an_empty_buffer_is_an_empty_text),
                 TEST(appending_grows_and_terminates),
                 TEST(the_ceiling_is_exact_and_a_refused_append_changes_nothing),
                 TEST(printf_counts_against_the_ceiling_too), TEST(bytes_may_be_nul),
                 TEST(reserve_and_commit_write_in_place), TEST(consuming_drops_from_the_front),
                 TEST(taking_hands_over_and_leaves_an_empty_buffer),
                 TEST(a_secret_survives_growth_and_is_gone_after_reset),
                 TEST(clearing_twice_is_fine))

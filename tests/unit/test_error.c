/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: filling, wrapping, cutting, and that foreign text cannot reach a terminal. */
#include <errno.h>

#include "kit/error.h"
#include "support/test.h"

static void every_code_has_a_name_and_no_number_escapes(void)
{
    CHECK_STR(cordon_code_name(CORDON_OK), "OK");
    CHECK_STR(cordon_code_name(CORDON_ERR_TIMEOUT), "TIMEOUT");
    CHECK_STR(cordon_code_name(CORDON_ERR_INVALID), "INVALID");
    CHECK_STR(cordon_code_name(CORDON_ERR_WARNED), "WARNED");
    CHECK_STR(cordon_code_name((cordon_code)18), "UNKNOWN");
    CHECK_STR(cordon_code_name((cordon_code)-1), "UNKNOWN");
    for (int code = 0; code <= CORDON_ERR_WARNED; code++)
        CHECK(strcmp(cordon_code_name((cordon_code)code), "UNKNOWN") != 0);
}

static void set_fills_everything_and_yields_minus_one(void)
{
    cordon_err err = CORDON_ERR_INIT;
    CHECK_INT(CORDON_FAIL(&err, CORDON_ERR_CONFLICT, "container %s", "abc"), -1);
    CHECK_INT(err.code, CORDON_ERR_CONFLICT);
    CHECK_INT(err.errnum, 0);
    CHECK_STR(err.message, "container abc");
}

static void http_status_is_kept(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_err_set(&err, CORDON_ERR_NOTFOUND, 404, "gone");
    CHECK_INT(err.http, 404);
}

static void a_null_object_is_nobody_s_problem(void)
{
    CHECK_INT(CORDON_FAIL(NULL, CORDON_ERR_CONFIG, "x"), -1);
    CHECK_INT(CORDON_FAIL_ERRNO(NULL, EIO, "x"), -1);
    cordon_err_wrap(NULL, "x");
    cordon_err_clear(NULL);
}

static void errno_chooses_the_code_and_adds_its_text(void)
{
    static const struct {
        int errnum;
        cordon_code code;
        const char *text;
    } rows[] = {
        {ENOENT, CORDON_ERR_NOTFOUND, "open x: No such file or directory"},
        {ENOMEM, CORDON_ERR_NOMEM, "open x: Cannot allocate memory"},
        {EACCES, CORDON_ERR_SYSTEM, "open x: Permission denied"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        errno = 77;
        CHECK_INT(CORDON_FAIL_ERRNO(&err, rows[i].errnum, "open %s", "x"), -1);
        CHECK_INT(errno, 77);
        CHECK_INT(err.code, rows[i].code);
        CHECK_INT(err.errnum, rows[i].errnum);
        CHECK_STR(err.message, rows[i].text);
    }
}

static void wrapping_prepends_and_keeps_the_code(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_err_wrap(&err, "ignored");
    CHECK_STR(err.message, "");
    cordon_err_set(&err, CORDON_ERR_TIMEOUT, 0, "no answer");
    cordon_err_wrap(&err, "start %s", "c1");
    cordon_err_wrap(&err, "run");
    CHECK_STR(err.message, "run: start c1: no answer");
    CHECK_INT(err.code, CORDON_ERR_TIMEOUT);
}

static void a_long_message_is_cut_where_one_can_see_it(void)
{
    cordon_err err = CORDON_ERR_INIT;
    char text[2 * CORDON_ERR_MESSAGE_MAX];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cordon_err_set(&err, CORDON_ERR_CONFIG, 0, "%s", text);
    REQUIRE_INT(strlen(err.message), CORDON_ERR_MESSAGE_MAX - 1);
    CHECK_STR(err.message + CORDON_ERR_MESSAGE_MAX - 5, "a...");
    cordon_err_wrap(&err, "front");
    CHECK(strncmp(err.message, "front: aaa", 10) == 0);
    CHECK_STR(err.message + CORDON_ERR_MESSAGE_MAX - 5, "a...");
}

static void clear_makes_it_usable_again(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_err_set(&err, CORDON_ERR_ENGINE, 500, "x");
    cordon_err_clear(&err);
    CHECK_INT(err.code, CORDON_OK);
    CHECK_INT(err.http, 0);
    cordon_err_set(&err, CORDON_ERR_CONFIG, 0, "y");
    CHECK_STR(err.message, "y");
}

static void foreign_text_loses_everything_but_printable_ascii(void)
{
    char out[32];
    CHECK_STR(cordon_err_printable(out, sizeof out, "a\033[2Jb\n\x7f\xc3\xa9", 10), "a?[2Jb????");
    CHECK_STR(cordon_err_printable(out, sizeof out, "a\0b", 3), "a?b");
    CHECK_STR(cordon_err_printable(out, sizeof out, NULL, 5), "");
    CHECK_STR(CORDON_QUOTE("tab\t"), "tab?");
    const char *nothing = NULL;
    CHECK_STR(CORDON_QUOTE(nothing), "");
}

static void foreign_text_that_does_not_fit_ends_in_dots(void)
{
    char out[8];
    CHECK_STR(cordon_err_printable(out, sizeof out, "1234567", 7), "1234567");
    CHECK_STR(cordon_err_printable(out, sizeof out, "12345678", 8), "1234...");
    char tiny[4];
    CHECK_STR(cordon_err_printable(tiny, sizeof tiny, "12345678", 8), "...");
}

CORDON_TEST_MAIN("error", TEST(every_code_has_a_name_and_no_number_escapes),
                 TEST(set_fills_everything_and_yields_minus_one), TEST(http_status_is_kept),
                 TEST(a_null_object_is_nobody_s_problem),
                 TEST(errno_chooses_the_code_and_adds_its_text),
                 TEST(wrapping_prepends_and_keeps_the_code),
                 TEST(a_long_message_is_cut_where_one_can_see_it),
                 TEST(clear_makes_it_usable_again),
                 TEST(foreign_text_loses_everything_but_printable_ascii),
                 TEST(foreign_text_that_does_not_fit_ends_in_dots))

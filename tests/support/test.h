/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: REQUIRE records a failure and returns from the test function, so
 * that cleanup attributes run (CU_*_FATAL would longjmp past them), and a main whose exit status
 * tells. CHECK records and goes on, for table loops. Use a module's own functions under test only;
 * nothing here depends on the product but cordon_err.
 */
#ifndef CORDON_TESTS_SUPPORT_TEST_H
#define CORDON_TESTS_SUPPORT_TEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include "cordon/error.h"

typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

#define TEST(function)                                                                             \
    {                                                                                              \
#function, function                                                                        \
    }

static inline bool test_record(bool ok, unsigned line, const char *what, const char *file)
{
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, line, what, file, "", CU_FALSE);
    return ok;
}

static inline bool test_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static inline bool test_has(const char *text, const char *part)
{
    return text != NULL && part != NULL && strstr(text, part) != NULL;
}

/* Formats a failure message with the values in it; CUnit copies the text. */
static inline bool test_recordf(bool ok, unsigned line, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline bool test_recordf(bool ok, unsigned line, const char *file, const char *format, ...)
{
    char text[1024] = "";
    va_list arguments;
    va_start(arguments, format);
    if (!ok)
        (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return test_record(ok, line, text, file);
}

#define TEST_RECORDF(ok, ...) test_recordf((ok), __LINE__, __FILE__, __VA_ARGS__)

#define CHECK(condition) test_record((condition), __LINE__, #condition, __FILE__)

#define CHECK_STR(got, want)                                                                       \
    __extension__({                                                                                \
        const char *test_got_ = (got);                                                             \
        const char *test_want_ = (want);                                                           \
        TEST_RECORDF(test_same(test_got_, test_want_), "%s: got \"%.200s\", want \"%.200s\"",      \
                     #got, test_got_ ? test_got_ : "(null)", test_want_ ? test_want_ : "(null)");  \
    })

#define CHECK_INT(got, want)                                                                       \
    __extension__({                                                                                \
        long long test_got_ = (long long)(got);                                                    \
        long long test_want_ = (long long)(want);                                                  \
        TEST_RECORDF(test_got_ == test_want_, "%s: got %lld, want %lld", #got, test_got_,          \
                     test_want_);                                                                  \
    })

#define CHECK_CONTAINS(text, part)                                                                 \
    __extension__({                                                                                \
        const char *test_text_in_ = (text);                                                        \
        const char *test_part_ = (part);                                                           \
        TEST_RECORDF(test_has(test_text_in_, test_part_), "%s: \"%.300s\" lacks \"%.150s\"",       \
                     #text, test_text_in_ ? test_text_in_ : "(null)",                              \
                     test_part_ ? test_part_ : "(null)");                                          \
    })

/* The call succeeded; shows the error otherwise. `err` is a cordon_err variable. */
#define CHECK_OK(call, err)                                                                        \
    __extension__({                                                                                \
        int test_rc_ = (call);                                                                     \
        TEST_RECORDF(test_rc_ == 0 && (err).code == CORDON_OK, "%.150s: %s: %.300s", #call,        \
                     cordon_code_name((err).code), (err).message);                                 \
    })

/* The call failed with exactly this code, and its message has this part in it. */
#define CHECK_FAILS(call, err, want_code, part)                                                    \
    __extension__({                                                                                \
        int test_rc_ = (call);                                                                     \
        TEST_RECORDF(                                                                              \
            test_rc_ == -1 && (err).code == (want_code) && strstr((err).message, (part)) != NULL,  \
            "%.120s: rc %d %s \"%.200s\", want %s with \"%s\"", #call, test_rc_,                   \
            cordon_code_name((err).code), (err).message, cordon_code_name(want_code), (part));     \
    })

#define TEST_OR_RETURN(check)                                                                      \
    do {                                                                                           \
        if (!(check))                                                                              \
            return;                                                                                \
    } while (0)

#define REQUIRE(condition)                    TEST_OR_RETURN(CHECK(condition))
#define REQUIRE_STR(got, want)                TEST_OR_RETURN(CHECK_STR(got, want))
#define REQUIRE_INT(got, want)                TEST_OR_RETURN(CHECK_INT(got, want))
#define REQUIRE_CONTAINS(text, part)          TEST_OR_RETURN(CHECK_CONTAINS(text, part))
#define REQUIRE_OK(call, err)                 TEST_OR_RETURN(CHECK_OK(call, err))
#define REQUIRE_FAILS(call, err, code_, part) TEST_OR_RETURN(CHECK_FAILS(call, err, code_, part))

static inline int test_main(const char *suite_name, const test_case *cases, size_t count)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    bool added = suite != NULL;
    for (size_t i = 0; added && i < count; i++)
        added = CU_add_test(suite, cases[i].name, cases[i].run) != NULL;
    int status = 2;
    if (added) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        CU_ErrorCode ran = CU_basic_run_tests();
        bool failed = CU_get_number_of_failures() > 0 || CU_get_number_of_tests_failed() > 0;
        bool all = CU_get_number_of_tests_run() == count;
        status = ran == CUE_SUCCESS && !failed && all ? 0 : 1;
    }
    CU_cleanup_registry();
    return status;
}

/* The last line of a test file: CORDON_TEST_MAIN("buf", TEST(a), TEST(b)) */
#define CORDON_TEST_MAIN(suite_name, ...)                                                          \
    int main(void)                                                                                 \
    {                                                                                              \
        static const test_case cases[] = {__VA_ARGS__};                                            \
        return test_main(suite_name, cases, sizeof cases / sizeof cases[0]);                       \
    }

#endif

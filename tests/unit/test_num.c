/* SPDX-License-Identifier: Apache-2.0 */
/* Text to number: good and bad tables for each kind. */
#include <stdint.h>

#include "kit/num.h"
#include "support/test.h"

static void u64_takes_plain_decimals(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0}, {"7", 7}, {"443", 443}, {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        uint64_t value = 99;
        CHECK_OK(cordon_num_u64(good[i].text, strlen(good[i].text), 0, UINT64_MAX, &value, &err),
                 err);
        CHECK(value == good[i].value);
    }
}

static void u64_refuses_everything_else(void)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"", "is not a number"},
        {" 1", "not a whole decimal"},
        {"1 ", "not a whole decimal"},
        {"+1", "not a whole decimal"},
        {"-1", "not a whole decimal"},
        {"0x10", "not a whole decimal"},
        {"1e3", "not a whole decimal"},
        {"1.0", "not a whole decimal"},
        {"1\n", "\"1?\" is not a whole decimal"},
        {"01", "leading zero"},
        {"00", "leading zero"},
        {"18446744073709551616", "too large"},
        {"99999999999999999999999", "too large"},
        {"\xd9\xa1", "\"??\" is not"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        uint64_t value = 99;
        CHECK_FAILS(cordon_num_u64(bad[i].text, strlen(bad[i].text), 0, UINT64_MAX, &value, &err),
                    err, CORDON_ERR_CONFIG, bad[i].why);
        CHECK(value == 99);
    }
}

static void u64_range_is_inclusive_and_a_nul_inside_is_refused(void)
{
    cordon_err err = CORDON_ERR_INIT;
    uint64_t value = 0;
    CHECK_OK(cordon_num_u64("65535", 5, 1, 65535, &value, &err), err);
    CHECK_FAILS(cordon_num_u64("65536", 5, 1, 65535, &value, &err), err, CORDON_ERR_CONFIG,
                "\"65536\" is not between 1 and 65535");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_num_u64("0", 1, 1, 65535, &value, &err), err, CORDON_ERR_CONFIG, "between");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_num_u64("4\0", 2, 1, 65535, &value, &err), err, CORDON_ERR_CONFIG,
                "\"4?\" is not");
}

static void i64_takes_a_minus_and_nothing_else(void)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-1", -1},
                {"12", 12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {
        "-0", "--1", "-", "", "+1", "- 1", "9223372036854775808", "-9223372036854775809", "-01"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        int64_t value = 99;
        CHECK_OK(
            cordon_num_i64(good[i].text, strlen(good[i].text), INT64_MIN, INT64_MAX, &value, &err),
            err);
        CHECK(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        int64_t value = 99;
        CHECK_FAILS(cordon_num_i64(bad[i], strlen(bad[i]), INT64_MIN, INT64_MAX, &value, &err), err,
                    CORDON_ERR_CONFIG, bad[i]);
        CHECK(value == 99);
    }
    cordon_err err = CORDON_ERR_INIT;
    int64_t value = 0;
    CHECK_FAILS(cordon_num_i64("-1001", 5, -1000, 1000, &value, &err), err, CORDON_ERR_CONFIG,
                "between -1000 and 1000");
}

static void hex_takes_digits_of_both_cases(void)
{
    cordon_err err = CORDON_ERR_INIT;
    uint64_t value = 0;
    CHECK_OK(cordon_num_hex("00000000a80425fB", 16, UINT64_MAX, &value, &err), err);
    CHECK(value == 0xa80425fb);
    CHECK_OK(cordon_num_hex("ffffffffffffffff", 16, UINT64_MAX, &value, &err), err);
    CHECK(value == UINT64_MAX);
    static const char *const bad[] = {"", "0x1", "g", " 1", "1 ", "-1", "00000000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err_clear(&err);
        CHECK_FAILS(cordon_num_hex(bad[i], strlen(bad[i]), UINT64_MAX, &value, &err), err,
                    CORDON_ERR_CONFIG, "hex");
    }
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_num_hex("100", 3, 0xff, &value, &err), err, CORDON_ERR_CONFIG,
                "more than 0xff");
}

static void sizes_are_exact(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"512", 512},
                {"64KiB", 65536},
                {"256MiB", UINT64_C(268435456)},
                {"2GiB", UINT64_C(2147483648)},
                {"1TiB", UINT64_C(1099511627776)},
                {"8388607TiB", UINT64_C(8388607) << 40}};
    static const char *const bad[] = {"",
                                      "GiB",
                                      "2gib",
                                      "2GB",
                                      "2G",
                                      "2 GiB",
                                      "2GiB ",
                                      "2.5GiB",
                                      "-1",
                                      "+1",
                                      "02KiB",
                                      "2KiBx",
                                      "0x2",
                                      "8388608TiB",
                                      "9223372036854775808",
                                      "99999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        uint64_t bytes = 1;
        CHECK_OK(cordon_num_size(good[i].text, strlen(good[i].text), &bytes, &err), err);
        CHECK(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        uint64_t bytes = 1;
        CHECK_FAILS(cordon_num_size(bad[i], strlen(bad[i]), &bytes, &err), err, CORDON_ERR_CONFIG,
                    bad[i]);
        CHECK(bytes == 1);
    }
}

static void durations_need_a_unit(void)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0s", 0},       {"500ms", 500},  {"30s", 30000},
                {"10m", 600000}, {"2h", 7200000}, {"9223372036854775807ms", INT64_MAX}};
    static const char *const bad[] = {"",
                                      "10",
                                      "10 m",
                                      "m",
                                      "1d",
                                      "1h30m",
                                      "1.5h",
                                      "-1s",
                                      "010s",
                                      "10M",
                                      "10sec",
                                      "9223372036854775807s",
                                      "9223372036854775808ms"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        int64_t ms = 1;
        CHECK_OK(cordon_num_duration(good[i].text, strlen(good[i].text), &ms, &err), err);
        CHECK(ms == good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        int64_t ms = 1;
        CHECK_FAILS(cordon_num_duration(bad[i], strlen(bad[i]), &ms, &err), err, CORDON_ERR_CONFIG,
                    bad[i]);
        CHECK(ms == 1);
    }
}

CORDON_TEST_MAIN("num", TEST(u64_takes_plain_decimals), TEST(u64_refuses_everything_else),
                 TEST(u64_range_is_inclusive_and_a_nul_inside_is_refused),
                 TEST(i64_takes_a_minus_and_nothing_else), TEST(hex_takes_digits_of_both_cases),
                 TEST(sizes_are_exact), TEST(durations_need_a_unit))

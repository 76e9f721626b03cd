/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of the probe's container is believed only whole and exact. */
#include "cli/probe_report.h"

#include "kit/buf.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define ONE                                                                                        \
    "{\"name\":\"dns\",\"want\":\"no answer\",\"got\":\"no "                                       \
    "answer\",\"ok\":true,\"detail\":\"\"}\n"
#define TWO                                                                                        \
    "{\"name\":\"udp\",\"want\":\"refused\",\"got\":\"sent\",\"ok\":false,\"detail\":\"4\"}\n"
#define DONE(n) "{\"probe\":1,\"done\":true,\"checks\":" #n "}\n"

static int parse(const char *text, cordon_cli_probe_report *report, cordon_err *err)
{
    return cordon_cli_probe_report_parse(text, strlen(text), report, err);
}

static void a_whole_report_is_read_in_order(void)
{
    cordon_auto(cordon_cli_probe_report) report = {0};
    cordon_err err = CORDON_ERR_INIT;
    static const char whole[] = ONE TWO DONE(2);
    REQUIRE_OK(parse(whole, &report, &err), err);
    REQUIRE_INT(report.count, 2);
    CHECK_STR(report.checks[0].name, "dns");
    CHECK_STR(report.checks[1].want, "refused");
    CHECK_STR(report.checks[1].got, "sent");
    CHECK_STR(report.checks[1].detail, "4");
    CHECK(report.checks[0].ok && !report.checks[1].ok);
    CHECK_INT(cordon_cli_probe_report_bad(&report), 1);
}

static void terminal_escapes_do_not_survive(void)
{
    cordon_auto(cordon_cli_probe_report) report = {0};
    cordon_err err = CORDON_ERR_INIT;
    int rc = parse("{\"name\":\"a\\u001b[2J\",\"want\":\"\",\"got\":\"\",\"ok\":true,"
                   "\"detail\":\"\"}\n" DONE(1),
                   &report, &err);
    REQUIRE_OK(rc, err);
    CHECK_STR(report.checks[0].name, "a?[2J");
}

static const struct {
    const char *text;
    const char *message;
} bad[] = {
    {"", "it has no end"},
    {ONE, "it has no end"},
    {DONE(0), "does not match"},
    {ONE DONE(2), "does not match its 1 checks"},
    {ONE TWO DONE(1), "does not match its 2 checks"},
    {ONE DONE(1) ONE, "line 3: something follows its end"},
    {ONE DONE(1) "\n", "line 3: something follows its end"},
    {ONE "{\"probe\":1,\"done\":true,\"checks\":1}", "line 2 is cut"},
    {ONE ONE DONE(2), "line 2: check dns is there twice"},
    {ONE "{\"probe\":2,\"done\":true,\"checks\":1}\n", "does not match"},
    {ONE "{\"probe\":1,\"done\":false,\"checks\":1}\n", "does not match"},
    {ONE "{\"probe\":1,\"done\":true,\"checks\":-1}\n", "does not match"},
    {ONE "{\"probe\":1,\"done\":true,\"checks\":1,\"x\":1}\n", "$.x"},
    {"{\"name\":\"a\",\"want\":\"\",\"got\":\"\",\"ok\":true}\n" DONE(1), "$.detail"},
    {"{\"name\":\"a\",\"want\":\"\",\"got\":\"\",\"ok\":\"true\",\"detail\":\"\"}\n" DONE(1),
     "$.ok"},
    {"{\"name\":1,\"want\":\"\",\"got\":\"\",\"ok\":true,\"detail\":\"\"}\n" DONE(1), "$.name"},
    {"{\"name\":\"a\",\"want\":\"\",\"got\":\"\",\"ok\":true,\"detail\":\"\",\"more\":0}\n" DONE(1),
     "$.more"},
    {"{\"ok\":false,\"name\":\"a\",\"want\":\"\",\"got\":\"\",\"ok\":true,\"detail\":\"\"}\n" DONE(
         1),
     "line 1"},
    {"[]\n" DONE(0), "line 1"},
    {"hello\n" DONE(0), "line 1"},
};

static void anything_less_or_more_is_no_report(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_auto(cordon_cli_probe_report) report = {0};
        cordon_err err = CORDON_ERR_INIT;
        int rc = parse(bad[i].text, &report, &err);
        TEST_RECORDF(rc == -1 && err.code == CORDON_ERR_PROTOCOL && report.count == 0 &&
                         strstr(err.message, bad[i].message),
                     "row %zu: rc %d %s \"%.300s\", want \"%s\"", i, rc, cordon_code_name(err.code),
                     err.message, bad[i].message);
    }
}

static void a_report_without_end_is_bounded(void)
{
    cordon_auto(cordon_cli_probe_report) report = {0};
    cordon_auto(cordon_buf) text = cordon_buf_make(4 * 1024 * 1024);
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i <= CORDON_CLI_PROBE_CHECKS_MAX; i++) {
        int rc = cordon_buf_printf(&text, &err,
                                   "{\"name\":\"c%d\",\"want\":\"\",\"got\":\"\",\"ok\":true,"
                                   "\"detail\":\"\"}\n",
                                   i);
        REQUIRE_OK(rc, err);
    }
    CHECK_FAILS(cordon_cli_probe_report_parse(text.data, text.length, &report, &err), err,
                CORDON_ERR_PROTOCOL, "more than 512 checks");
    cordon_err_clear(&err);
    while (text.length <= CORDON_CLI_PROBE_BYTES_MAX)
        REQUIRE_OK(cordon_buf_append_text(&text, "                    ", &err), err);
    CHECK_FAILS(cordon_cli_probe_report_parse(text.data, text.length, &report, &err), err,
                CORDON_ERR_PROTOCOL, "longer than");
}

CORDON_TEST_MAIN("cli_probe_report", TEST(a_whole_report_is_read_in_order),
                 TEST(terminal_escapes_do_not_survive), TEST(anything_less_or_more_is_no_report),
                 TEST(a_report_without_end_is_bounded))

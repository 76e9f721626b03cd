/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon egress`: receipts and events as a person and as a program read them, and what is none. */
#include "cli/egress_report.h"

#include <stdlib.h>
#include <time.h>

#include "support/test.h"

static bool add(cordon_cli_egress_report *report, const char *text, cordon_err *err)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(1 << 20);
    return cordon_buf_append_text(&buf, text, err) == 0 &&
           cordon_cli_egress_report_add(report, "r.json", &buf, err) == 0;
}

#define RECEIPT(allowed, denied)                                                                   \
    "{\"receipt\":1,\"invocation\":\"0123456789abcdef0123456789abcdef\",\"engine\":null,"          \
    "\"egress\":{\"allowed\":[" allowed "],\"denied\":[" denied "],\"dropped\":2}}"
#define HOST                                                                                       \
    "{\"host\":\"api.example.com\",\"port\":443,\"rule\":\"resolved\",\"addresses\":"              \
    "[\"8.8.8.8:443\",\"8.8.4.4:443\"],\"tunnels\":3,\"bytes_up\":1536,\"bytes_down\":5242880}"
#define DENIED                                                                                     \
    "{\"target\":\"evil.example:443\",\"reason\":\"not_pinned\",\"rule\":\"host\","                \
    "\"addresses\":[],\"count\":4}"
/* As receipts were before rules were told. */
#define OLD_HOST                                                                                   \
    "{\"host\":\"a.example\",\"port\":443,\"tunnels\":1,\"bytes_up\":10,\"bytes_down\":0}"

static void receipts_become_a_table_with_sums(void)
{
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
    REQUIRE(add(report, RECEIPT(HOST, DENIED), &err));
    REQUIRE(add(report, RECEIPT(OLD_HOST, ""), &err));
    REQUIRE_OK(cordon_cli_egress_report_table(report, &out, &err), err);
    CHECK_STR(
        cordon_buf_text(&out),
        "RUN       VERDICT  TARGET               RULE      COUNT  DETAIL\n"
        "01234567  allowed  api.example.com:443  resolved  3      1.5 KiB up, 5.0 MiB down, "
        "8.8.8.8:443 and 1 more\n"
        "01234567  denied   evil.example:443     host      4      not_pinned\n"
        "01234567  allowed  a.example:443        -         1      10 B up, 0 B down\n"
        "2 receipts: 4 tunnels, 1.5 KiB up, 5.0 MiB down; 4 denied; 4 events were not told\n");
}

static void receipts_become_one_object(void)
{
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
    REQUIRE(add(report, RECEIPT(HOST, DENIED), &err));
    REQUIRE_OK(cordon_cli_egress_report_json(report, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out),
              "{\"egress\":1,\"receipts\":[{\"file\":\"r.json\",\"invocation\":"
              "\"0123456789abcdef0123456789abcdef\",\"allowed\":[" HOST "],\"denied\":["
              "{\"target\":\"evil.example:443\",\"reason\":\"not_pinned\",\"rule\":\"host\","
              "\"addresses\":[],\"count\":4}],\"dropped\":2}],\"tunnels\":3,\"bytes_up\":1536,"
              "\"bytes_down\":5242880,\"denied\":4}\n");
}

static void a_run_that_reached_nobody_is_a_line(void)
{
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
    REQUIRE(add(report,
                "{\"receipt\":1,\"invocation\":null,\"egress\":{\"allowed\":[],"
                "\"denied\":[]}}",
                &err));
    REQUIRE_OK(cordon_cli_egress_report_table(report, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), "1 receipt: 0 tunnels, 0 B up, 0 B down; 0 denied\n");
}

static void what_is_no_receipt_is_named_and_told_why(void)
{
    static const struct {
        const char *text;
        const char *part;
    } bad[] = {
        {"", "r.json is no receipt"},
        {"[]", "r.json is no receipt"},
        {"{}", "$.receipt"},
        {"{\"receipt\":2}", "it is of version 2, not 1"},
        {"{\"receipt\":\"1\"}", "$.receipt"},
        {"{\"receipt\":1}", "$.egress"},
        {"{\"receipt\":1,\"egress\":{\"allowed\":[]}}", "$.egress.denied"},
        {RECEIPT("1", ""), "r.json is no receipt"},
        {RECEIPT("{\"host\":\"a\"}", ""), "$.egress.allowed[0].port"},
        {RECEIPT("{\"host\":\"a\",\"port\":-1}", ""), "port is negative"},
        {RECEIPT("", "{\"target\":\"a\",\"reason\":\"b\",\"count\":1.5}"), "count"},
        {RECEIPT("", "{\"target\":\"a\",\"reason\":\"b\",\"count\":1,\"rule\":7}"), "rule"},
        {RECEIPT("", "{\"target\":\"a\",\"reason\":\"b\",\"count\":1,\"addresses\":[7]}"),
         "no address"},
        {"{\"event\":\"egress\"}", "$.receipt"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
        CHECK(!add(report, bad[i].text, &err));
        CHECK_INT(err.code, CORDON_ERR_CONFIG);
        CHECK_CONTAINS(err.message, "r.json is no receipt");
        CHECK_CONTAINS(err.message, bad[i].part);
    }
}

static void foreign_text_is_printable(void)
{
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
    REQUIRE(add(report,
                RECEIPT("", "{\"target\":\"a\\u001b[2Jb\",\"reason\":\"x\\ny\",\"count\":1,"
                            "\"rule\":\"\\u0007\",\"addresses\":[\"\\u001b\"]}"),
                &err));
    REQUIRE_OK(cordon_cli_egress_report_table(report, &out, &err), err);
    CHECK_CONTAINS(cordon_buf_text(&out), "a?[2Jb");
    CHECK_CONTAINS(cordon_buf_text(&out), "x?y, ?\n");
    CHECK(strchr(cordon_buf_text(&out), '\x1b') == NULL);
}

static void sums_do_not_wrap(void)
{
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_egress_report_new(&report, &err), err);
    for (int i = 0; i < 3; i++)
        REQUIRE(
            add(report,
                RECEIPT("", "{\"target\":\"a\",\"reason\":\"b\",\"count\":9223372036854775807}"),
                &err));
    REQUIRE_OK(cordon_cli_egress_report_json(report, &out, &err), err);
    CHECK_CONTAINS(cordon_buf_text(&out), "\"denied\":9223372036854775807}\n");
}

static void an_event_is_a_line(void)
{
    static const struct {
        const char *json;
        const char *line;
    } rows[] = {
        {"{\"event\":\"egress\",\"what\":\"allowed\",\"id\":1,\"target\":\"a.example:443\","
         "\"rule\":\"resolved\",\"address\":\"8.8.8.8:443\",\"status\":200,\"reason\":\"pinned\","
         "\"addresses\":[\"8.8.8.8\"],\"mixed\":true,\"refused\":2}",
         "allowed  a.example:443  resolved pinned  8.8.8.8:443  not public: 2\n"},
        {"{\"event\":\"egress\",\"what\":\"denied\",\"target\":\"evil\\u001b:443\","
         "\"rule\":\"server_name\",\"status\":0,\"reason\":\"server_name_mismatch\","
         "\"server_name\":\"x.example\",\"error\":\"ECONNRESET\"}",
         "denied   evil?:443  server_name server_name_mismatch  server name x.example  "
         "ECONNRESET\n"},
        {"{\"event\":\"egress\",\"what\":\"closed\",\"target\":\"a.example:443\","
         "\"rule\":\"upstream\",\"address\":\"10.0.0.1:443\",\"server_name\":\"a.example\","
         "\"bytes_up\":1,\"bytes_down\":2,\"ms\":3,\"end\":\"idle\",\"by\":\"deadline\"}",
         "closed   a.example:443  upstream  10.0.0.1:443  idle by deadline  up 1 down 2  ms 3\n"},
        {"{\"event\":\"egress\",\"what\":\"dropped\",\"count\":5}", "dropped  5\n"},
        {"{\"event\":\"egress\",\"what\":\"full\"}", "full   \n"},
        {"{\"event\":\"egress\",\"time_ms\":0,\"what\":\"dropped\",\"count\":5}",
         "00:00:00 dropped  5\n"},
    };
    (void)setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_cli_egress_line(rows[i].json, &out, &err), err);
        CHECK_STR(cordon_buf_text(&out), rows[i].line);
    }
}

static void what_is_no_event_is_no_line(void)
{
    static const char *const bad[] = {"", "{}", "{\"what\":1}",
                                      "{\"what\":\"denied\",\"target\":{}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        CHECK_INT(cordon_cli_egress_line(bad[i], &out, &err), -1);
        CHECK_INT(err.code, CORDON_ERR_PROTOCOL);
    }
}

CORDON_TEST_MAIN("cli_egress", TEST(receipts_become_a_table_with_sums),
                 TEST(receipts_become_one_object), TEST(a_run_that_reached_nobody_is_a_line),
                 TEST(what_is_no_receipt_is_named_and_told_why), TEST(foreign_text_is_printable),
                 TEST(sums_do_not_wrap), TEST(an_event_is_a_line),
                 TEST(what_is_no_event_is_no_line))

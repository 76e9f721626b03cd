/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's lines added up: in any cut, within bounds, and nothing taken that is no event. */
#include "egress.h"

#include "support/test.h"

static int feed(cordon_egress *egress, const char *text, cordon_err *err)
{
    return cordon_egress_feed(egress, text, strlen(text), err);
}

static void egress_clear(cordon_egress **egress)
{
    if (*egress != NULL)
        cordon_egress_clear(*egress);
    free(*egress);
}

/* On the heap, so that a step past its tables is seen. */
static cordon_egress *egress_new(void)
{
    cordon_egress *egress = malloc(sizeof(*egress));

    if (egress != NULL)
        cordon_egress_init(egress);
    return egress;
}

#define DECISION_HEAD(target, verdict, reason)                                                     \
    "{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"target\":\"" target                          \
    "\",\"verdict\":\"" verdict "\",\"status\":403,\"reason\":\"" reason "\",\"rule\":\"host\""
#define DECISION(target, verdict, reason) DECISION_HEAD(target, verdict, reason) "}\n"
#define TUNNEL(host, up, down)                                                                     \
    "{\"event\":\"tunnel\",\"time_ms\":1,\"id\":1,\"host\":\"" host "\",\"port\":443,"             \
    "\"rule\":\"resolved\",\"address\":\"8.8.8.8:443\",\"up\":" up ",\"down\":" down               \
    ",\"ms\":5,\"end\":\"client_closed\",\"by\":\"client\"}\n"
#define DROPPED(count) "{\"event\":\"dropped\",\"time_ms\":1,\"count\":" count "}\n"
#define LOCKS          "\"seccomp\":1,\"landlock\":6,\"no_new_privs\":1,\"dumpable\":0,\"capabilities\":0"
#define READY_HEAD                                                                                 \
    "{\"event\":\"ready\",\"time_ms\":1,\"listen\":\"10.213.4.10:3128\",\"hosts\":1,"              \
    "\"max_tunnels\":64,\"policy\":\"c0de\"," LOCKS
#define READY READY_HEAD "}\n"

static const char life[] = READY DECISION("api.example.com:443", "allow", "pinned")
    DECISION("evil.example:443", "deny", "not_pinned") TUNNEL("api.example.com", "100", "2000")
        DECISION("evil.example:443", "deny", "not_pinned") TUNNEL("api.example.com", "1", "2")
            DECISION("api.example.com:80", "deny", "port_not_allowed") DROPPED("3");

static bool check_life(const cordon_egress *egress)
{
    return CHECK(egress->ready) & CHECK(!egress->broken) &
           CHECK_STR(egress->listen, "10.213.4.10:3128") & CHECK_STR(egress->policy, "c0de") &
           CHECK_INT(egress->seccomp, 1) & CHECK_INT(egress->landlock, 6) &
           CHECK_INT(egress->no_new_privs, 1) & CHECK_INT(egress->host_count, 1) &
           CHECK_STR(egress->hosts[0].host, "api.example.com") &
           CHECK_INT(egress->hosts[0].port, 443) & CHECK_INT(egress->hosts[0].tunnels, 2) &
           CHECK_INT(egress->hosts[0].bytes_up, 101) &
           CHECK_INT(egress->hosts[0].bytes_down, 2002) & CHECK_INT(egress->denied_count, 2) &
           CHECK_STR(egress->denied[0].target, "evil.example:443") &
           CHECK_STR(egress->denied[0].reason, "not_pinned") &
           CHECK_INT(egress->denied[0].count, 2) &
           CHECK_STR(egress->denied[1].target, "api.example.com:80") &
           CHECK_INT(egress->denied[1].count, 1) & CHECK_INT(egress->dropped, 3);
}

static void lines_add_up_the_same_at_every_cut(void)
{
    for (size_t cut = 0; cut <= strlen(life); cut++) {
        cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(egress != NULL);
        REQUIRE_OK(cordon_egress_feed(egress, life, cut, &err), err);
        REQUIRE_OK(cordon_egress_feed(egress, life + cut, strlen(life) - cut, &err), err);
        REQUIRE(check_life(egress));
    }
}

static void lines_add_up_byte_by_byte(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(egress != NULL);
    for (size_t i = 0; i < strlen(life); i++)
        REQUIRE_OK(cordon_egress_feed(egress, life + i, 1, &err), err);
    REQUIRE(check_life(egress));
}

static void a_line_counts_once_it_is_whole(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(egress != NULL);
    REQUIRE_OK(cordon_egress_feed(egress, READY, strlen(READY) - 1, &err), err);
    CHECK(!egress->ready);
    REQUIRE_OK(feed(egress, "\n", &err), err);
    CHECK(egress->ready);
}

static void what_is_no_event_is_refused(void)
{
    static const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"\n", "the proxy's output"},
        {"ready\n", "the proxy's output"},
        {"{}\n", "$.event"},
        {"[]\n", "the proxy's output"},
        {"{\"event\":7}\n", "$.event"},
        {"{\"event\":\"ready\"}\n", "$.listen"},
        {"{\"event\":\"ready\",\"listen\":null}\n", "$.listen"},
        {"{\"event\":\"ready\",\"listen\":\"a\"," LOCKS "}\n", "$.policy"},
        {"{\"event\":\"ready\",\"listen\":\"a\",\"policy\":\"b\"}\n", "$.seccomp"},
        {READY READY, "it is ready twice"},
        {"{\"event\":\"ready\",\"listen\":\"a\",\"listen\":\"b\"}\n", "the proxy's output"},
        {"{\"event\":\"hello\\u001b\"}\n", "unknown event 'hello?'"},
        {"{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"target\":\"a\",\"status\":1,"
         "\"verdict\":\"allow\"}\n",
         "$.reason: missing"},
        {"{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"target\":\"a\",\"status\":1,"
         "\"verdict\":\"allow\",\"reason\":\"x\"}\n",
         "$.rule: missing"},
        {"{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"target\":\"a\",\"status\":1,"
         "\"reason\":\"x\",\"rule\":\"y\"}\n",
         "$.verdict"},
        {DECISION_HEAD("a", "deny", "x") ",\"surprise\":1}\n", "$.surprise: unknown"},
        {DECISION_HEAD("a", "deny", "x") ",\"up\":1}\n", "$.up: unknown"},
        {DECISION_HEAD("a", "deny", "x") ",\"detail\":null}\n", "$.detail: missing"},
        {DECISION_HEAD("a", "deny", "x") ",\"detail\":[]}\n", "$.detail"},
        {DECISION_HEAD("a", "deny", "x") ",\"refused\":-1}\n", "$.refused: -1 is no count"},
        {DECISION_HEAD("a", "deny", "x") ",\"mixed\":\"yes\"}\n", "$.mixed"},
        {DECISION_HEAD("a", "deny", "x") ",\"addresses\":\"8.8.8.8\"}\n", "$.addresses"},
        {DECISION_HEAD("a", "deny", "x") ",\"addresses\":[1]}\n", "$.addresses[0]"},
        {DECISION_HEAD("a", "deny", "x") ",\"addresses\":[null]}\n", "$.addresses[0]"},
        {DECISION_HEAD("a", "deny",
                       "x") ",\"addresses\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}\n",
         "too many addresses"},
        {READY_HEAD ",\"surprise\":1}\n", "$.surprise: unknown"},
        {"{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"verdict\":\"deny\",\"reason\":\"x\"}\n",
         "$.target: missing"},
        {TUNNEL("a.example", "-1", "0"), "$.up: -1 is no count"},
        {TUNNEL("a.example", "0", "-1"), "$.down: -1 is no count"},
        {TUNNEL("a.example", "1.5", "0"), "$.up"},
        {TUNNEL("a.example", "18446744073709551615", "0"), "$.up"},
        {TUNNEL("a.example", "\"1\"", "0"), "$.up"},
        {DROPPED("-5"), "$.count: -5 is no count"},
        {"{\"event\":\"dropped\",\"time_ms\":1}\n", "$.count"},
        {"{\"event\":\"ready\",\"listen\":\"a\",\"x\":[[[[[1]]]]]}\n", "the proxy's output"},
        {READY "panic: out of memory\n", "the proxy's output"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(egress != NULL);
        CHECK_FAILS(feed(egress, bad[i].text, &err), err, CORDON_ERR_PROTOCOL, bad[i].message);
        CHECK(egress->broken);
        CHECK_INT(egress->host_count, 0);
        CHECK_INT(egress->denied_count, 0);
        CHECK_INT(egress->dropped, 0);
    }
}

static void a_line_without_an_end_is_refused_and_not_kept(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;
    char text[CORDON_EGRESS_LINE_MAX + 1];

    REQUIRE(egress != NULL);
    memset(text, ' ', sizeof(text));
    REQUIRE_OK(cordon_egress_feed(egress, text, CORDON_EGRESS_LINE_MAX, &err), err);
    REQUIRE_FAILS(cordon_egress_feed(egress, text, 1, &err), err, CORDON_ERR_PROTOCOL,
                  "the proxy's output");
    CHECK(egress->broken);
    CHECK(egress->line.length <= CORDON_EGRESS_LINE_MAX);
}

static void the_longest_line_is_taken(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;
    char text[CORDON_EGRESS_LINE_MAX + 1];

    REQUIRE(egress != NULL);
    memset(text, ' ', sizeof(text));
    memcpy(text, READY, strlen(READY) - 1);
    text[CORDON_EGRESS_LINE_MAX] = '\n';
    REQUIRE_OK(cordon_egress_feed(egress, text, sizeof(text), &err), err);
    CHECK(egress->ready);
}

static void denied_targets_are_bounded_and_the_rest_is_counted(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    const cordon_egress_denied *rest;
    char line[512];

    REQUIRE(egress != NULL);
    for (int i = 0; i < 1000; i++) {
        cordon_err err = CORDON_ERR_INIT;

        (void)snprintf(line, sizeof(line), DECISION("host%d.example:443", "deny", "not_pinned"), i);
        REQUIRE_OK(feed(egress, line, &err), err);
    }
    REQUIRE_INT(egress->denied_count, CORDON_EGRESS_DENIED_MAX);
    CHECK_STR(egress->denied[62].target, "host62.example:443");
    CHECK_INT(egress->denied[62].count, 1);
    rest = &egress->denied[CORDON_EGRESS_DENIED_MAX - 1];
    CHECK_STR(rest->target, "(others)");
    CHECK_STR(rest->reason, "too many to list");
    CHECK_INT(rest->count, 1000 - 63);
}

static void hosts_are_bounded(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    int64_t tunnels = 0;
    char line[512];

    REQUIRE(egress != NULL);
    for (int i = 0; i < 1000; i++) {
        cordon_err err = CORDON_ERR_INIT;

        (void)snprintf(line, sizeof(line), TUNNEL("host%d.example", "1", "1"), i);
        REQUIRE_OK(feed(egress, line, &err), err);
    }
    REQUIRE_INT(egress->host_count, CORDON_EGRESS_HOSTS_MAX);
    for (size_t i = 0; i < egress->host_count; i++)
        tunnels += egress->hosts[i].tunnels;
    CHECK_INT(tunnels, 1000);
}

static void sums_do_not_wrap(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();

    REQUIRE(egress != NULL);
    for (int i = 0; i < 3; i++) {
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE_OK(
            feed(egress, TUNNEL("a.example", "9223372036854775807", "9223372036854775806"), &err),
            err);
        REQUIRE_OK(feed(egress, DROPPED("9223372036854775807"), &err), err);
    }
    CHECK_INT(egress->hosts[0].bytes_up, INT64_MAX);
    CHECK_INT(egress->hosts[0].bytes_down, INT64_MAX);
    CHECK_INT(egress->dropped, INT64_MAX);
}

static void an_agents_text_is_made_printable_and_cut(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;
    char target[1000];
    char line[2000];

    REQUIRE(egress != NULL);
    memset(target, 'a', sizeof(target) - 1);
    target[sizeof(target) - 1] = '\0';
    (void)snprintf(line, sizeof(line), DECISION("%s", "deny", "not_pinned"), target);
    REQUIRE_OK(feed(egress, DECISION("a\\u001b[2Jb\\n", "deny", "bad\\u0007reason"), &err), err);
    REQUIRE_OK(feed(egress, line, &err), err);
    CHECK_STR(egress->denied[0].target, "a?[2Jb?");
    CHECK_STR(egress->denied[0].reason, "bad?reason");
    CHECK_INT(strlen(egress->denied[1].target), CORDON_EGRESS_TEXT_SIZE - 1);
    CHECK_STR(egress->denied[1].target + CORDON_EGRESS_TEXT_SIZE - 4, "...");
}

static void a_verdict_that_is_not_allow_is_a_denial(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(egress != NULL);
    REQUIRE_OK(feed(egress, DECISION("a:443", "allow", "pinned"), &err), err);
    CHECK_INT(egress->denied_count, 0);
    REQUIRE_OK(feed(egress, DECISION("a:443", "ALLOW", "pinned"), &err), err);
    CHECK_INT(egress->denied_count, 1);
}

static void the_receipt_shows_both_lists(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_auto(cordon_buf) text = cordon_buf_make(65536);
    cordon_jsonw json;
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(egress != NULL);
    REQUIRE_OK(feed(egress, life, &err), err);
    cordon_jsonw_init(&json, &text);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_egress_write(egress, &json);
    cordon_jsonw_end_object(&json);
    REQUIRE_OK(cordon_jsonw_finish(&json, &err), err);
    CHECK_STR(cordon_buf_text(&text),
              "{\"egress\":{\"allowed\":[{\"host\":\"api.example.com\",\"port\":443,"
              "\"rule\":\"resolved\",\"addresses\":[\"8.8.8.8:443\"],\"tunnels\":2,"
              "\"bytes_up\":101,\"bytes_down\":2002}],\"denied\":[{\"target\":\"evil.example:443\","
              "\"reason\":\"not_pinned\",\"rule\":\"host\",\"addresses\":[],\"count\":2},"
              "{\"target\":\"api.example.com:80\",\"reason\":\"port_not_allowed\","
              "\"rule\":\"host\",\"addresses\":[],\"count\":1}],"
              "\"mixed_answers\":0,\"dropped\":3}}");
}

static void a_proxy_that_said_nothing_gives_empty_lists(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    cordon_auto(cordon_buf) text = cordon_buf_make(65536);
    cordon_jsonw json;
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(egress != NULL);
    cordon_jsonw_init(&json, &text);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_egress_write(egress, &json);
    cordon_jsonw_end_object(&json);
    REQUIRE_OK(cordon_jsonw_finish(&json, &err), err);
    CHECK_STR(cordon_buf_text(&text),
              "{\"egress\":{\"allowed\":[],\"denied\":[],\"mixed_answers\":0,\"dropped\":0}}");
}

/* --- Events --- */

typedef struct told {
    cordon_buf text;
    cordon_err err;
    int result;
} told;

static void tell(void *context, cordon_egress_event *event)
{
    told *t = context;

    if (cordon_egress_event_json(event, &t->text, &t->err) != 0 ||
        cordon_buf_append_char(&t->text, '\n', &t->err) != 0)
        t->result = -1;
}

static void each_line_is_told_as_an_event(void)
{
    static const struct {
        const char *line;
        const char *event;
    } rows[] = {
        {READY, ""},
        {DECISION("evil.example:443", "deny", "not_pinned"),
         "{\"event\":\"egress\",\"time_ms\":1,\"what\":\"denied\",\"id\":1,"
         "\"target\":\"evil.example:443\",\"rule\":\"host\",\"status\":403,"
         "\"reason\":\"not_pinned\"}\n"},
        {DECISION_HEAD("a.example:443", "allow",
                       "pinned") ",\"address\":\"8.8.8.8:443\","
                                 "\"addresses\":[\"8.8.8.8\",\"8.8.4.4\"],"
                                 "\"mixed\":true,\"refused\":2}\n",
         "{\"event\":\"egress\",\"time_ms\":1,\"what\":\"allowed\",\"id\":1,"
         "\"target\":\"a.example:443\",\"rule\":\"host\",\"address\":\"8.8.8.8:443\","
         "\"status\":403,\"reason\":\"pinned\",\"addresses\":[\"8.8.8.8\",\"8.8.4.4\"],"
         "\"mixed\":true,\"refused\":2}\n"},
        {DECISION_HEAD("a.example:443", "deny", "connect_failed") ",\"addresses\":[],"
                                                                  "\"detail\":\"no\","
                                                                  "\"error\":\"ECONNREFUSED\"}\n",
         "{\"event\":\"egress\",\"time_ms\":1,\"what\":\"denied\",\"id\":1,"
         "\"target\":\"a.example:443\",\"rule\":\"host\",\"status\":403,"
         "\"reason\":\"connect_failed\",\"detail\":\"no\",\"error\":\"ECONNREFUSED\"}\n"},
        {TUNNEL("a.example", "3", "4"),
         "{\"event\":\"egress\",\"time_ms\":1,\"what\":\"closed\",\"id\":1,"
         "\"target\":\"a.example:443\",\"rule\":\"resolved\",\"address\":\"8.8.8.8:443\","
         "\"bytes_up\":3,\"bytes_down\":4,\"ms\":5,\"end\":\"client_closed\","
         "\"by\":\"client\"}\n"},
        {DROPPED("7"), "{\"event\":\"egress\",\"time_ms\":1,\"what\":\"dropped\",\"count\":7}\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
        told t = {.text = cordon_buf_make(65536)};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(egress != NULL);
        egress->tell = tell;
        egress->tell_context = &t;
        CHECK_OK(feed(egress, rows[i].line, &err), err);
        CHECK_INT(t.result, 0);
        CHECK_STR(cordon_buf_text(&t.text), rows[i].event);
        cordon_buf_clear(&t.text);
    }
}

/* Every byte of it escaped: an event is never more than a pipe takes at once. */
static void the_longest_event_is_bounded(void)
{
    static cordon_egress_event event;
    cordon_auto(cordon_buf) text = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    event = (cordon_egress_event){.what = CORDON_EGRESS_DECISION,
                                  .answer_count = CORDON_EGRESS_ANSWER_MAX,
                                  .time_ms = INT64_MAX,
                                  .id = INT64_MAX,
                                  .refused = INT64_MAX,
                                  .mixed = true};
    memset(event.target, '"', sizeof(event.target) - 1);
    memset(event.server_name, '"', sizeof(event.server_name) - 1);
    memset(event.detail, '"', sizeof(event.detail) - 1);
    memset(event.reason, '"', sizeof(event.reason) - 1);
    memset(event.rule, '"', sizeof(event.rule) - 1);
    memset(event.error, '"', sizeof(event.error) - 1);
    memset(event.address, '"', sizeof(event.address) - 1);
    for (size_t i = 0; i < CORDON_EGRESS_ANSWER_MAX; i++)
        memset(event.answer[i], '"', sizeof(event.answer[i]) - 1);
    REQUIRE_OK(cordon_egress_event_json(&event, &text, &err), err);
    CHECK(text.length < CORDON_EGRESS_EVENT_MAX);
    CHECK_CONTAINS(cordon_buf_text(&text), "\"refused\":9223372036854775807");
}

static void addresses_are_kept_once_and_bounded(void)
{
    cordon_cleanup(egress_clear) cordon_egress *egress = egress_new();
    char line[512];

    REQUIRE(egress != NULL);
    for (int i = 0; i < 40; i++) {
        cordon_err err = CORDON_ERR_INIT;

        (void)snprintf(line, sizeof(line),
                       DECISION_HEAD("a:443", "deny", "x") ",\"addresses\":[\"8.8.8.%d\"]}\n",
                       i / 2 % 12);
        REQUIRE_OK(feed(egress, line, &err), err);
    }
    REQUIRE_INT(egress->denied_count, 1);
    CHECK_INT(egress->denied[0].addresses.count, CORDON_EGRESS_ADDRESSES_MAX);
    CHECK(egress->denied[0].addresses.more);
    CHECK_STR(egress->denied[0].addresses.items[1], "8.8.8.1");
}

CORDON_TEST_MAIN("egress", TEST(lines_add_up_the_same_at_every_cut),
                 TEST(lines_add_up_byte_by_byte), TEST(a_line_counts_once_it_is_whole),
                 TEST(what_is_no_event_is_refused),
                 TEST(a_line_without_an_end_is_refused_and_not_kept),
                 TEST(the_longest_line_is_taken),
                 TEST(denied_targets_are_bounded_and_the_rest_is_counted), TEST(hosts_are_bounded),
                 TEST(sums_do_not_wrap), TEST(an_agents_text_is_made_printable_and_cut),
                 TEST(a_verdict_that_is_not_allow_is_a_denial), TEST(the_receipt_shows_both_lists),
                 TEST(a_proxy_that_said_nothing_gives_empty_lists),
                 TEST(each_line_is_told_as_an_event), TEST(the_longest_event_is_bounded),
                 TEST(addresses_are_kept_once_and_bounded))

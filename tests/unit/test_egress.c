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

#define DECISION(target, verdict, reason)                                                          \
    "{\"event\":\"decision\",\"time_ms\":1,\"id\":1,\"target\":\"" target                          \
    "\",\"verdict\":\"" verdict "\",\"status\":403,\"reason\":\"" reason "\"}\n"
#define TUNNEL(host, up, down)                                                                     \
    "{\"event\":\"tunnel\",\"time_ms\":1,\"id\":1,\"host\":\"" host "\",\"port\":443,\"up\":" up   \
    ",\"down\":" down ",\"ms\":5,\"end\":\"client_closed\"}\n"
#define LOCKS "\"seccomp\":1,\"landlock\":6,\"no_new_privs\":1,\"dumpable\":0,\"capabilities\":0"
#define READY                                                                                      \
    "{\"event\":\"ready\",\"time_ms\":1,\"listen\":\"10.213.4.10:3128\",\"hosts\":1,"              \
    "\"max_tunnels\":64,\"policy\":\"c0de\"," LOCKS "}\n"

static const char life[] = READY DECISION("api.example.com:443", "allow", "pinned")
    DECISION("evil.example:443", "deny", "not_pinned") TUNNEL("api.example.com", "100", "2000")
        DECISION("evil.example:443", "deny", "not_pinned") TUNNEL("api.example.com", "1", "2")
            DECISION("api.example.com:80", "deny",
                     "port_not_allowed") "{\"event\":\"dropped\",\"count\":3}\n";

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
        {"{\"event\":\"decision\",\"target\":\"a\",\"verdict\":\"allow\"}\n", "$.reason"},
        {"{\"event\":\"decision\",\"verdict\":\"deny\",\"reason\":\"x\"}\n", "$.target"},
        {TUNNEL("a.example", "-1", "0"), "$.up: -1 is no count"},
        {TUNNEL("a.example", "0", "-1"), "$.down: -1 is no count"},
        {TUNNEL("a.example", "1.5", "0"), "$.up"},
        {TUNNEL("a.example", "18446744073709551615", "0"), "$.up"},
        {TUNNEL("a.example", "\"1\"", "0"), "$.up"},
        {"{\"event\":\"dropped\",\"count\":-5}\n", "$.count: -5 is no count"},
        {"{\"event\":\"dropped\"}\n", "$.count"},
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
        REQUIRE_OK(feed(egress, "{\"event\":\"dropped\",\"count\":9223372036854775807}\n", &err),
                   err);
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
              "{\"egress\":{\"allowed\":[{\"host\":\"api.example.com\",\"port\":443,\"tunnels\":2,"
              "\"bytes_up\":101,\"bytes_down\":2002}],\"denied\":[{\"target\":\"evil.example:443\","
              "\"reason\":\"not_pinned\",\"count\":2},{\"target\":\"api.example.com:80\","
              "\"reason\":\"port_not_allowed\",\"count\":1}]}}");
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
    CHECK_STR(cordon_buf_text(&text), "{\"egress\":{\"allowed\":[],\"denied\":[]}}");
}

CORDON_TEST_MAIN("egress", TEST(lines_add_up_the_same_at_every_cut),
                 TEST(lines_add_up_byte_by_byte), TEST(a_line_counts_once_it_is_whole),
                 TEST(what_is_no_event_is_refused),
                 TEST(a_line_without_an_end_is_refused_and_not_kept),
                 TEST(the_longest_line_is_taken),
                 TEST(denied_targets_are_bounded_and_the_rest_is_counted), TEST(hosts_are_bounded),
                 TEST(sums_do_not_wrap), TEST(an_agents_text_is_made_printable_and_cut),
                 TEST(a_verdict_that_is_not_allow_is_a_denial), TEST(the_receipt_shows_both_lists),
                 TEST(a_proxy_that_said_nothing_gives_empty_lists))

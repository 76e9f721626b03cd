/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon probe`: the boundary as the agent meets it. With a TLS server as upstream the pinned
 * host is a whole tunnel; without one the proxy says so honestly; and witnesses in the engines'
 * network see nothing of all that was tried.
 */
#include "real.h"

#include "upstream.h"

/* The probe's own report, from standard output. */
static cordon_json_doc *read_report(const outcome *o)
{
    cordon_json_doc *doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const cordon_buf *out = &o->process.out;
    CHECK_OK(cordon_json_parse(cordon_buf_text(out), out->length, 1U << 20, 0, &doc, &err), err);
    return doc;
}

/* Member `key` of the check with this name; NULL when there is none. */
static const char *check_word(cordon_json_doc *report, const char *name, const char *key)
{
    cordon_json checks;
    cordon_err ignored = CORDON_ERR_INIT;
    if (!json_find(report, "checks", &checks))
        return NULL;
    for (cordon_json_iter it = cordon_json_iterate(checks); cordon_json_next(&it);) {
        const char *has = NULL;
        const char *word = NULL;
        if (cordon_json_need_string(it.value, "name", &has, &ignored) == 0 &&
            strcmp(has, name) == 0 && cordon_json_need_string(it.value, key, &word, &ignored) == 0)
            return word;
    }
    return NULL;
}

/* Every check came out as it must; names those that did not. */
static void every_check_is_ok(cordon_json_doc *report)
{
    cordon_json checks;
    REQUIRE(json_find(report, "checks", &checks));
    CHECK(cordon_json_count(checks) > 100);
    for (cordon_json_iter it = cordon_json_iterate(checks); cordon_json_next(&it);) {
        const char *name = "";
        const char *got = "";
        const char *detail = "";
        bool ok = false;
        cordon_err err = CORDON_ERR_INIT;
        bool read = cordon_json_need_string(it.value, "name", &name, &err) == 0 &&
                    cordon_json_need_string(it.value, "got", &got, &err) == 0 &&
                    cordon_json_need_string(it.value, "detail", &detail, &err) == 0 &&
                    cordon_json_need_bool(it.value, "ok", &ok, &err) == 0;
        TEST_RECORDF(read && ok, "%s: %s: %.300s %s", name, got, detail, err.message);
    }
}

/* What an agent that ignores its proxy could try; a probe that lost one of these shows less. */
static void tries_all_ways_out(cordon_json_doc *report)
{
    static const char *const ways[] = {
        "tcp.internet.1.1.1.1", "udp.internet.1.1.1.1", "tcp.loopback",      "ipv6.internet-tcp",
        "ipv6.internet-udp",    "ipv6.all-nodes",       "icmp.internet",     "icmp.gateway",
        "socket.raw-icmp",      "socket.raw-ip",        "socket.raw-ipv6",   "socket.packet",
        "socket.ping",          "socket.datagram",      "network.add-route", "network.add-address",
        "dns.configured-udp",   "dns.configured-tcp",   "proxy.other-ports", "proxy.itself",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        TEST_RECORDF(check_word(report, ways[i], "got") != NULL, "%s was not tried", ways[i]);
}

static void report_is_good(const outcome *o, cordon_json_doc *report)
{
    cordon_json place;
    cordon_json_bool ok = {.value = false};
    cordon_err ignored = CORDON_ERR_INIT;
    CHECK(json_find(report, "ok", &place) && cordon_json_as_bool(place, &ok, &ignored) == 0 &&
          ok.value);
    every_check_is_ok(report);
    EXPECT_EXITED(o, 0);
    CHECK_STR(outcome_err(o), "");
    EXPECT_NOTHING_LEFT(o);
}

/* A member of the entry of egress.LIST whose `by` is `name`; -1 when there is none. */
static long long egress_number(const outcome *o, const char *list, const char *by, const char *name,
                               const char *key)
{
    cordon_json entries;
    cordon_err ignored = CORDON_ERR_INIT;
    if (!json_find(o->receipt, list, &entries))
        return -1;
    for (cordon_json_iter it = cordon_json_iterate(entries); cordon_json_next(&it);) {
        const char *has = NULL;
        int64_t number = -1;
        if (cordon_json_need_string(it.value, by, &has, &ignored) == 0 && strcmp(has, name) == 0 &&
            cordon_json_need_i64(it.value, key, &number, &ignored) == 0)
            return number;
    }
    return -1;
}

/* Without this, witnesses that see nothing would prove nothing. */
static void DN6_a_container_that_nobody_contains_reaches_a_witness(void)
{
    char id[65] = "";
    char command[128];
    cordon_auto(witnesses) world;
    (void)snprintf(command, sizeof command, "[\"nc\",\"-w\",\"5\",\"%s\",\"9999\"]",
                   real_variable("CORDON_TEST_UPSTREAM_ADDR"));
    if (witnesses_start(&world) && real_foreign_container("cordon-uncontained", command, NULL, id))
        CHECK(witnesses_saw_something(&world, REAL_PATIENCE_MS));
    real_remove_container(id);
}

static void DN6_a_tunnel_to_the_pinned_host_and_to_nothing_else(void)
{
    cordon_auto(upstream) vendor;
    cordon_auto(witnesses) world;
    cordon_auto(outcome) o = {0};
    bool ready = upstream_start(&vendor);
    ready = witnesses_start(&world) && ready;
    if (!ready ||
        !cordon_call(
            &(call){.verb = "probe", .options = WORDS("--json", "--upstream", vendor.address)}, &o))
        return;
    cordon_auto_ptr(cordon_json_doc) report = read_report(&o);
    REQUIRE(report != NULL);
    report_is_good(&o, report);
    tries_all_ways_out(report);
    CHECK_STR(check_word(report, "proxy.pinned-host", "got"), "tunnel");
    CHECK_STR(check_word(report, "proxy.other-host", "got"), "403");
    witnesses_saw_nothing(&world);

    const char *host = "api.anthropic.com";
    CHECK(egress_number(&o, "egress.allowed", "host", host, "tunnels") >= 1);
    CHECK_INT(egress_number(&o, "egress.allowed", "host", host, "port"), 443);
    CHECK(egress_number(&o, "egress.allowed", "host", host, "bytes_up") > 100);
    CHECK(egress_number(&o, "egress.allowed", "host", host, "bytes_down") > 100);
    CHECK_INT(egress_number(&o, "egress.denied", "target", "other.invalid:443", "count"), 1);
    CHECK_INT(egress_number(&o, "egress.denied", "target", "1.1.1.1:443", "count"), 1);
}

/* The definition says where the host is, and the words of that vendor show. */
static void a_vendor_definition_says_where_its_host_is(void)
{
    char text[512];
    cordon_auto(upstream) vendor;
    cordon_auto(outcome) o = {0};
    if (!upstream_start(&vendor))
        return;
    (void)snprintf(text, sizeof text,
                   "name = \"gateway\"; adapter = \"claude\"; hosts = [ \"llm.corp.example\" ];\n"
                   "upstream = ( { host = \"llm.corp.example\"; address = \"%s\"; } );\n",
                   vendor.address);
    if (!real_file("vendors.d/gateway.conf", text) ||
        !cordon_call(&(call){.verb = "probe", .options = WORDS("--json", "--vendor", "gateway")},
                     &o))
        return;
    cordon_auto_ptr(cordon_json_doc) report = read_report(&o);
    REQUIRE(report != NULL);
    report_is_good(&o, report);
    CHECK_STR(check_word(report, "proxy.pinned-host", "got"), "tunnel");
    CHECK(egress_number(&o, "egress.allowed", "host", "llm.corp.example", "tunnels") >= 1);
    CHECK_STR(receipt_text(&o, "vendor"), "gateway");
}

/* No internet, no lie: 502 or 504 with a reason, and the boundary holds all the same. */
static void without_an_upstream_the_proxy_says_why(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.verb = "probe", .options = WORDS("--json")}, &o))
        return;
    cordon_auto_ptr(cordon_json_doc) report = read_report(&o);
    REQUIRE(report != NULL);
    report_is_good(&o, report);
    const char *got = check_word(report, "proxy.pinned-host", "got");
    TEST_RECORDF(test_same(got, "502") || test_same(got, "504"), "pinned host: %s",
                 got ? got : "(nothing)");
    CHECK_CONTAINS(check_word(report, "proxy.pinned-host", "detail"), "api.anthropic.com");
    cordon_json allowed;
    REQUIRE(json_find(o.receipt, "egress.allowed", &allowed));
    CHECK_INT(cordon_json_count(allowed), 0);
}

/* An upstream that refuses connections: 502, and the table for people says what it was. */
static void an_upstream_that_is_down_is_502(void)
{
    char address[64];
    cordon_auto(outcome) o = {0};
    (void)snprintf(address, sizeof address, "%s:1", real_variable("CORDON_TEST_UPSTREAM_ADDR"));
    if (!cordon_call(&(call){.verb = "probe", .options = WORDS("--upstream", address)}, &o))
        return;
    CHECK_INT(o.process.status, 1); /* --upstream says that something answers there */
    CHECK_CONTAINS(outcome_out(&o), "proxy.pinned-host");
    CHECK_CONTAINS(outcome_out(&o), "502");
    CHECK_CONTAINS(outcome_out(&o), "NOT as it must be");
    EXPECT_NOTHING_LEFT(&o);
}

/* In a writing phase the worktree can be written, and everything else still cannot. */
static void a_writing_phase_writes_the_worktree_alone(void)
{
    const char *tree = real_worktree("probed");
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.verb = "probe",
                             .options = WORDS("--json", "--phase", "execute", "--worktree", tree)},
                     &o))
        return;
    cordon_auto_ptr(cordon_json_doc) report = read_report(&o);
    REQUIRE(report != NULL);
    report_is_good(&o, report);
}

REAL_MAIN("probe", TEST(DN6_a_container_that_nobody_contains_reaches_a_witness),
          TEST(DN6_a_tunnel_to_the_pinned_host_and_to_nothing_else),
          TEST(a_vendor_definition_says_where_its_host_is),
          TEST(without_an_upstream_the_proxy_says_why), TEST(an_upstream_that_is_down_is_502),
          TEST(a_writing_phase_writes_the_worktree_alone))

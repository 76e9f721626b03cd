/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a killed run left is removed by whoever can prove that it has ended, and nothing else is:
 * cases CG1, CG2 and CG4. Over the fake engine; the objects and the journal are made here as a run
 * makes them.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "cordon/gc.h"
#include "journal_read.h"
#include "object_ops.h"
#include "session.h"
#include "support/fake_run.h"
#include "support/test.h"

#define JOURNAL_MAX 16384

typedef struct bench {
    fake_run run;
    cordon_owner owner;
    cordon_journal journal;
    char path[160];
    cordon_gc_report *report;
    cordon_err err;
} bench;

static void bench_clear(bench *b)
{
    cordon_gc_report_free(b->report);
    cordon_journal_close(&b->journal, false);
    fake_run_clear(&b->run);
}
CORDON_DEFINE_AUTO(bench, bench_clear)

static bool bench_owner(bench *b)
{
    const cordon_journal_head head = {&b->owner, "podman", b->run.engine->endpoint, NULL, NULL};
    if (cordon_owner_init(&b->owner, 1000, &b->err) != 0)
        return false;
    (void)snprintf(b->path, sizeof b->path, "%s/state/%s.jsonl", b->run.folder.path,
                   b->owner.invocation);
    return cordon_journal_open(test_path(&b->run.folder, "state"), &head, &b->journal, &b->err) ==
           0;
}

static bool bench_open(bench *b)
{
    const fake_run_options options = {.podman = true};
    b->journal = (cordon_journal)CORDON_JOURNAL_INIT;
    return fake_run_prepare(&b->run, &options) && fake_run_connect(&b->run) && bench_owner(b);
}

/* A network of this owner, as a run makes one. note: also its id. */
static bool make_network(bench *b, const cordon_owner *owner, cordon_role role, bool note,
                         char ret_id[CORDON_ID_HEX + 1])
{
    static unsigned block;
    char subnet[32];
    cordon_autofree char *id = NULL;
    (void)snprintf(subnet, sizeof subnet, "10.213.7.%u/29", block * 8);
    block++;
    const cordon_network_spec spec = {
        .name = owner->badges[role].name[0] ? owner->badges[role].name : "copied",
        .labels = cordon_owner_labels(owner, role),
        .subnet = subnet,
        .internal = true,
    };
    if (cordon_journal_planned(&b->journal, role, "n", &b->err) != 0 ||
        b->run.engine->ops->network_create(
            b->run.engine->impl, &spec, cordon_deadline_in_ms(5000, -1), &id, NULL, &b->err) != 0)
        return false;
    if (ret_id)
        (void)snprintf(ret_id, CORDON_ID_HEX + 1, "%s", id);
    return !note || cordon_journal_created(&b->journal, role, id, &b->err) == 0;
}

static bool make_both(bench *b)
{
    return make_network(b, &b->owner, CORDON_ROLE_VENDOR_NETWORK, true, NULL) &&
           make_network(b, &b->owner, CORDON_ROLE_EGRESS_NETWORK, true, NULL);
}

/* The text of the journal with the value behind `key` replaced, once. */
static bool rewrite(bench *b, const char *key, const char *value)
{
    char text[JOURNAL_MAX];
    char changed[JOURNAL_MAX];
    cordon_autoclose int fd = open(b->path, O_RDWR | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (length <= 0)
        return false;
    text[length] = '\0';
    char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    const char *rest = at + strcspn(at, ",}");
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, value, rest);
    return ftruncate(fd, 0) == 0 &&
           pwrite(fd, changed, strlen(changed), 0) == (ssize_t)strlen(changed);
}

/* As a kill would: nobody holds the journal, and its process is another than it says. */
static bool die(bench *b)
{
    cordon_journal_close(&b->journal, false);
    b->journal = (cordon_journal)CORDON_JOURNAL_INIT;
    return rewrite(b, "\"pid_start\":", "1");
}

static bool collect(bench *b, cordon_gc_mode mode, bool here)
{
    const cordon_host host = {
        .uid = getuid(),
        .gid = getgid(),
        .home = test_path(&b->run.folder, "home"),
        .state_dir = test_path(&b->run.folder, "state"),
    };
    const cordon_gc_options options = {
        .mode = mode,
        .engine = here ? b->run.engine : NULL,
        .budget_ms = 60000,
        .cancel_fd = -1,
    };
    cordon_gc_report_free(b->report);
    b->report = NULL;
    return cordon_gc(b->run.config, &host, &options, &b->report, &b->err) == 0;
}

static const char *state_of(bench *b, size_t index)
{
    cordon_gc_run run = {0};
    return cordon_gc_report_run(b->report, index, &run) ? run.state : "none";
}

static const char *why_of(bench *b, size_t index)
{
    cordon_gc_run run = {0};
    return cordon_gc_report_run(b->report, index, &run) ? run.why : "none";
}

static const char *object_state(bench *b, size_t index)
{
    cordon_gc_object object = {0};
    return cordon_gc_report_object(b->report, 0, index, &object) ? object.state : "none";
}

static bool journal_is_there(const bench *b)
{
    return access(b->path, F_OK) == 0;
}

/* --- What is removed ------------------------------------------------------------------------- */

static void CG1_what_a_dead_run_left_is_removed_and_a_second_time_there_is_nothing(void)
{
    for (int here = 0; here < 2; here++) {
        cordon_auto(bench) b = {0};
        REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
        REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, here != 0) ? 0 : -1, b.err);
        CHECK_STR(state_of(&b, 0), "cleared");
        CHECK_STR(object_state(&b, 0), "removed");
        CHECK_STR(object_state(&b, 1), "removed");
        CHECK_STR(object_state(&b, 2), "none");
        CHECK(cordon_gc_report_complete(b.report));
        CHECK_INT(fake_engine_left(b.run.fake), 0);
        CHECK(!journal_is_there(&b));
        REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, here != 0) ? 0 : -1, b.err);
        CHECK_STR(state_of(&b, 0), "none");
        CHECK(fake_engine_complaint(b.run.fake) == NULL);
    }
}

static void a_run_of_before_the_last_boot_is_over(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) ? 0 : -1, b.err);
    cordon_journal_close(&b.journal, false);
    REQUIRE(rewrite(&b, "\"boot\":", "\"00000000-0000-0000-0000-000000000000\""));
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "cleared");
    CHECK_STR(why_of(&b, 0), "the host was booted since");
    CHECK_INT(fake_engine_left(b.run.fake), 0);
}

static void an_object_whose_create_was_never_answered_is_found_by_the_token(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) &&
                       make_network(&b, &b.owner, CORDON_ROLE_VENDOR_NETWORK, false, NULL) &&
                       die(&b)
                   ? 0
                   : -1,
               b.err);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "cleared");
    CHECK_INT(fake_engine_left(b.run.fake), 0);
}

static void what_was_gone_already_is_told_as_gone_and_the_journal_goes(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    fake_engine_vanish(b.run.fake, "vendor-network");
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(object_state(&b, 0), "gone");
    CHECK_STR(object_state(&b, 1), "removed");
    CHECK(!journal_is_there(&b));
}

static void a_line_that_a_crash_has_cut_is_no_line(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    cordon_autoclose int fd = open(b.path, O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, "{\"object\":\"st", 13) == 13);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "cleared");
    CHECK_INT(fake_engine_left(b.run.fake), 0);
}

/* --- What is not ----------------------------------------------------------------------------- */

typedef struct spared {
    const char *name;
    const char *key;
    const char *value;
    const char *state;
    const char *why;
} spared;

static void CG1_what_may_still_be_alive_is_left_alone(void)
{
    static const spared rows[] = {
        {"a process that runs", NULL, NULL, "alive", "its process runs"},
        {"another host", "\"host\":", "\"ffffffffffffffffffffffffffffffff\"", "unknown",
         "it was made on another host"},
        {"a host that was not told", "\"host\":", "\"\"", "unknown", "it was made on another host"},
        {"another pid namespace", "\"pid_space\":", "\"pid:[1]\"", "unknown",
         "its process is in another pid namespace"},
        {"no start time", "\"pid_start\":", "0", "unknown",
         "/proc does not tell when processes began"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(bench) b = {0};
        REQUIRE_OK(bench_open(&b) && make_both(&b) ? 0 : -1, b.err);
        cordon_journal_close(&b.journal, false);
        REQUIRE(!rows[i].key || rewrite(&b, rows[i].key, rows[i].value));
        REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
        TEST_RECORDF(strcmp(state_of(&b, 0), rows[i].state) == 0 &&
                         strcmp(why_of(&b, 0), rows[i].why) == 0,
                     "%s: %s, %s", rows[i].name, state_of(&b, 0), why_of(&b, 0));
        CHECK_INT(fake_engine_left(b.run.fake), 2);
        CHECK_INT(fake_engine_count(b.run.fake, FAKE_NETWORK_REMOVE, NULL), 0);
        CHECK(journal_is_there(&b));
        CHECK(cordon_gc_report_complete(b.report) == (strcmp(rows[i].state, "alive") == 0));
    }
}

static void CG1_a_journal_that_somebody_holds_is_alive_whatever_it_says(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && rewrite(&b, "\"pid_start\":", "1") ? 0 : -1,
               b.err);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "alive");
    CHECK_CONTAINS(why_of(&b, 0), "holds its journal");
    CHECK_INT(fake_engine_left(b.run.fake), 2);
}

static void CG2_CG4_an_object_with_our_labels_and_another_token_is_never_touched(void)
{
    cordon_auto(bench) b = {0};
    cordon_owner foreign;
    char id[CORDON_ID_HEX + 1];
    REQUIRE_OK(bench_open(&b) ? 0 : -1, b.err);
    /* The same user, invocation and role; whatever a list filter lets through, the token differs.
     */
    REQUIRE_OK(cordon_owner_restore(&foreign, b.owner.owner, b.owner.invocation,
                                    "0123456789abcdef0123456789abcdef", &b.err),
               b.err);
    REQUIRE_OK(make_network(&b, &foreign, CORDON_ROLE_VENDOR_NETWORK, true, id) &&
                       make_network(&b, &b.owner, CORDON_ROLE_EGRESS_NETWORK, true, NULL) && die(&b)
                   ? 0
                   : -1,
               b.err);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(object_state(&b, 0), "left");
    CHECK_STR(object_state(&b, 1), "removed");
    CHECK_STR(state_of(&b, 0), "dead");
    CHECK_INT(fake_engine_left(b.run.fake), 1);
    CHECK_INT(fake_engine_count(b.run.fake, FAKE_NETWORK_REMOVE, "vendor-network"), 0);
    CHECK(journal_is_there(&b));
    CHECK(!cordon_gc_report_complete(b.report));
}

static void a_dry_run_says_what_is_there_and_changes_nothing(void)
{
    cordon_auto(bench) b = {0};
    cordon_autofree char *json = NULL;
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    REQUIRE_OK(collect(&b, CORDON_GC_LOOK, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "dead");
    CHECK_STR(object_state(&b, 0), "found");
    CHECK_INT(fake_engine_left(b.run.fake), 2);
    CHECK(journal_is_there(&b));
    REQUIRE_OK(cordon_gc_report_json(b.report, &json, &b.err), b.err);
    CHECK_CONTAINS(json, "{\"gc\":1,\"mode\":\"look\",\"runs\":[{\"invocation\":\"");
    CHECK_CONTAINS(json, "\"state\":\"dead\",\"why\":\"its process has ended\"");
    CHECK_CONTAINS(json, "\"type\":\"network\",\"role\":\"vendor-network\",\"id\":\"");
    CHECK_CONTAINS(json, "],\"complete\":false}");
}

static void a_list_asks_no_engine(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    size_t calls = fake_engine_call_count(b.run.fake);
    REQUIRE_OK(collect(&b, CORDON_GC_LIST, false) ? 0 : -1, b.err);
    CHECK_STR(object_state(&b, 1), "noted");
    CHECK_INT(fake_engine_call_count(b.run.fake), calls);
}

static void what_will_not_go_is_named_and_its_journal_stays(void)
{
    cordon_auto(bench) b = {0};
    static const fake_fault fault = {FAKE_NETWORK_INSPECT, NULL, 0, FAKE_FAULT_BEFORE,
                                     CORDON_ERR_UNREACHABLE};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    fake_engine_fault(b.run.fake, &fault);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "dead");
    CHECK_CONTAINS(why_of(&b, 0), "scripted failure");
    CHECK(journal_is_there(&b));
}

static void an_engine_that_is_not_there_keeps_the_journal(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    REQUIRE(rewrite(&b, "\"engine\":", "\"unix:///nonexistent/e.sock\""));
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, false) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "dead");
    CHECK(journal_is_there(&b));
    /* With an engine given, it is nobody's business. */
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "none");
}

static void what_is_no_journal_is_unreadable_and_stays(void)
{
    static const char *const texts[] = {
        "garbage\n",
        "{\"journal\":1}\n",
        "{\"journal\":2,\"owner\":\"uid-1\",\"invocation\":\"x\",\"token\":\"x\"}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cordon_auto(bench) b = {0};
        REQUIRE_OK(bench_open(&b) ? 0 : -1, b.err);
        cordon_journal_close(&b.journal, true);
        REQUIRE(test_file(&b.run.folder, "state/0123456789abcdef0123456789abcdef.jsonl", texts[i],
                          0600));
        REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
        CHECK_STR(state_of(&b, 0), "unreadable");
        CHECK(!cordon_gc_report_complete(b.report));
    }
}

static void a_journal_that_others_may_write_is_not_acted_on(void)
{
    cordon_auto(bench) b = {0};
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    REQUIRE(chmod(b.path, 0622) == 0);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "unreadable");
    CHECK_CONTAINS(why_of(&b, 0), "not a file of yours alone");
    CHECK_INT(fake_engine_left(b.run.fake), 2);
}

static void a_copy_under_another_name_is_not_acted_on(void)
{
    cordon_auto(bench) b = {0};
    char copy[192];
    REQUIRE_OK(bench_open(&b) && make_both(&b) && die(&b) ? 0 : -1, b.err);
    (void)snprintf(copy, sizeof copy, "%s/state/0123456789abcdef0123456789abcdef.jsonl",
                   b.run.folder.path);
    REQUIRE(rename(b.path, copy) == 0);
    REQUIRE_OK(collect(&b, CORDON_GC_REMOVE, true) ? 0 : -1, b.err);
    CHECK_STR(state_of(&b, 0), "unreadable");
    CHECK_INT(fake_engine_left(b.run.fake), 2);
}

static void handles_that_are_none_are_refused(void)
{
    cordon_auto(bench) b = {0};
    cordon_gc_report *report = NULL;
    cordon_autofree char *json = NULL;
    cordon_gc_run run;
    cordon_host host = {.state_dir = "/nonexistent"};
    const cordon_gc_options options = {.mode = CORDON_GC_LOOK, .cancel_fd = -1};
    REQUIRE_OK(bench_open(&b) ? 0 : -1, b.err);
    CHECK_FAILS(cordon_gc((const cordon_config *)&host, &host, &options, &report, &b.err), b.err,
                CORDON_ERR_INVALID, "no configuration");
    cordon_err_clear(&b.err);
    CHECK_FAILS(cordon_gc_report_json((const cordon_gc_report *)&host, &json, &b.err), b.err,
                CORDON_ERR_INVALID, "no report");
    CHECK(!cordon_gc_report_run((const cordon_gc_report *)&host, 0, &run));
    cordon_gc_report_free((cordon_gc_report *)&host);
}

/* Disposal and collection ask for an object by one table; what has no row is nobody's. */
static void what_a_run_has_no_objects_of_is_neither_looked_at_nor_removed(void)
{
    static const cordon_object_type types[] = {CORDON_OBJECT_UNKNOWN, CORDON_OBJECT_IMAGE,
                                               (cordon_object_type)99};
    cordon_auto(bench) b = {.err = CORDON_ERR_INIT};
    char id[CORDON_ID_HEX + 1];

    REQUIRE(bench_open(&b));
    REQUIRE(make_network(&b, &b.owner, CORDON_ROLE_VENDOR_NETWORK, false, id));
    const cordon_engine *engine = b.run.engine;
    size_t calls = fake_engine_call_count(b.run.fake);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        cordon_object_facts facts = {0};
        cordon_err err = CORDON_ERR_INIT;

        CHECK_FAILS(cordon_object_inspect(engine->ops, engine->impl, types[i], id,
                                          cordon_deadline_in_ms(1000, -1), &facts, &err),
                    err, CORDON_ERR_INVALID, "no objects");
        CHECK(facts.labels.items == NULL && !facts.labels.known);
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(cordon_object_remove(engine->ops, engine->impl, types[i], id,
                                         cordon_deadline_in_ms(1000, -1), &err),
                    err, CORDON_ERR_INVALID, "no objects");
    }
    CHECK_INT(fake_engine_call_count(b.run.fake), calls);
}

CORDON_TEST_MAIN("gc", TEST(CG1_what_a_dead_run_left_is_removed_and_a_second_time_there_is_nothing),
                 TEST(a_run_of_before_the_last_boot_is_over),
                 TEST(an_object_whose_create_was_never_answered_is_found_by_the_token),
                 TEST(what_was_gone_already_is_told_as_gone_and_the_journal_goes),
                 TEST(a_line_that_a_crash_has_cut_is_no_line),
                 TEST(CG1_what_may_still_be_alive_is_left_alone),
                 TEST(CG1_a_journal_that_somebody_holds_is_alive_whatever_it_says),
                 TEST(CG2_CG4_an_object_with_our_labels_and_another_token_is_never_touched),
                 TEST(a_dry_run_says_what_is_there_and_changes_nothing),
                 TEST(a_list_asks_no_engine), TEST(what_will_not_go_is_named_and_its_journal_stays),
                 TEST(an_engine_that_is_not_there_keeps_the_journal),
                 TEST(what_is_no_journal_is_unreadable_and_stays),
                 TEST(a_journal_that_others_may_write_is_not_acted_on),
                 TEST(a_copy_under_another_name_is_not_acted_on),
                 TEST(handles_that_are_none_are_refused),
                 TEST(what_a_run_has_no_objects_of_is_neither_looked_at_nor_removed))

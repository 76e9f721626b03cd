/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a container's file system: how an engine's list of them is read, and that nothing
 * follows from a plan but its mount points.
 */
#include "changes.h"
#include "support/sample_plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Reading ---------------------------------------------------------------------------------- */

static int read_text(const char *json, cordon_changes *ret, cordon_err *err)
{
    return cordon_changes_read(json, strlen(json), ret, err);
}

static void kinds_and_paths_arrive_as_they_are(void)
{
    cordon_auto(cordon_changes) changes = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(read_text("[{\"Path\":\"/etc\",\"Kind\":0},{\"Kind\":1,\"Path\":\"/a b\"},"
                         "{\"Path\":\"/bin/sh\",\"Kind\":2,\"Size\":0}]",
                         &changes, &err),
               err);
    REQUIRE_INT(changes.count, 3);
    CHECK(!changes.more);
    CHECK_STR(changes.items[0].path, "/etc");
    CHECK_STR(cordon_change_kind_name(changes.items[0].kind), "modified");
    CHECK_STR(changes.items[1].path, "/a b");
    CHECK_STR(cordon_change_kind_name(changes.items[1].kind), "added");
    CHECK_STR(changes.items[2].path, "/bin/sh");
    CHECK_STR(cordon_change_kind_name(changes.items[2].kind), "deleted");
}

static void none_is_written_in_two_ways(void)
{
    static const char *const none[] = {"null", "[]"};
    for (size_t i = 0; i < COUNT(none); i++) {
        cordon_auto(cordon_changes) changes = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(read_text(none[i], &changes, &err), err);
        CHECK_INT(changes.count, 0);
    }
}

static void what_is_no_list_of_changes_is_refused(void)
{
    static const struct {
        const char *json;
        const char *part;
    } rows[] = {
        {"", ""},
        {"{}", "expected array"},
        {"[null]", ""},
        {"[\"/etc\"]", ""},
        {"[{\"Path\":\"/etc\"}]", "Kind"},
        {"[{\"Kind\":1}]", "Path"},
        {"[{\"Path\":null,\"Kind\":1}]", "Path"},
        {"[{\"Path\":\"/etc\",\"Kind\":null}]", "Kind"},
        {"[{\"Path\":\"/etc\",\"Kind\":\"1\"}]", "Kind"},
        {"[{\"Path\":\"/etc\",\"Kind\":1.5}]", "Kind"},
        {"[{\"Path\":\"/etc\",\"Kind\":3}]", "kind 3"},
        {"[{\"Path\":\"/etc\",\"Kind\":-1}]", "kind -1"},
        {"[{\"Path\":\"etc\",\"Kind\":1}]", "absolute"},
        {"[{\"Path\":\"\",\"Kind\":1}]", "absolute"},
        {"[{\"Path\":\"/etc\",\"Kind\":1,\"Kind\":0}]", ""},
        {"[{\"Path\":\"/etc\",\"Kind\":1,\"Mode\":\"0777\"}]", "not known"},
        {"[{\"Path\":\"/etc\",\"Kind\":1}] x", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_changes changes = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(read_text(rows[i].json, &changes, &err), err, CORDON_ERR_PROTOCOL,
                    rows[i].part);
        CHECK(changes.items == NULL);
    }
}

/* The rest is read and counted out, so that a bad one behind the bound is not passed over. */
static void more_than_any_plan_makes_is_said(void)
{
    char json[8192];
    size_t length = 1;
    cordon_auto(cordon_changes) changes = {0};
    cordon_changes none = {0};
    cordon_err err = CORDON_ERR_INIT;
    json[0] = '[';
    for (int i = 0; i < CORDON_CHANGES_MAX; i++)
        length += (size_t)snprintf(json + length, sizeof json - length,
                                   "{\"Path\":\"/%d\",\"Kind\":1},", i);
    (void)snprintf(json + length, sizeof json - length, "{\"Path\":\"/last\",\"Kind\":1}]");
    REQUIRE_OK(read_text(json, &changes, &err), err);
    CHECK_INT(changes.count, CORDON_CHANGES_MAX);
    CHECK(changes.more);
    (void)snprintf(json + length, sizeof json - length, "{\"Path\":\"/last\",\"Kind\":9}]");
    CHECK_FAILS(read_text(json, &none, &err), err, CORDON_ERR_PROTOCOL, "kind 9");
}

/* --- Against the plan ------------------------------------------------------------------------- */

#define DOCKER CORDON_ENGINE_DOCKER
#define PODMAN CORDON_ENGINE_PODMAN

typedef struct change_row {
    cordon_engine_kind kind;
    cordon_role role;
    cordon_change_kind what;
    const char *path;
    bool planned;
} change_row;

#define STEP     CORDON_ROLE_STEP
#define PROXY    CORDON_ROLE_PROXY
#define ADDED    CORDON_CHANGE_ADDED
#define MODIFIED CORDON_CHANGE_MODIFIED
#define DELETED  CORDON_CHANGE_DELETED

static const change_row change_rows[] = {
    {DOCKER, STEP, ADDED, "/worktree", true},
    {DOCKER, STEP, ADDED, "/tmp", true},
    {DOCKER, STEP, ADDED, "/.cordon", true},
    {DOCKER, STEP, MODIFIED, "/", true},
    {DOCKER, STEP, MODIFIED, "/etc", false},
    {DOCKER, STEP, ADDED, "/etc/passwd", false},
    {DOCKER, PROXY, ADDED, "/worktree", false},
    {DOCKER, PROXY, ADDED, "/etc", false},
    {PODMAN, STEP, ADDED, "/worktree", true},
    {PODMAN, STEP, ADDED, "/.cordon", true},
    {PODMAN, STEP, ADDED, "/etc", true},
    {PODMAN, STEP, MODIFIED, "/etc", true},
    {PODMAN, STEP, ADDED, "/etc/passwd", true},
    {PODMAN, STEP, ADDED, "/etc/group", true},
    {PODMAN, PROXY, ADDED, "/etc", true},
    {PODMAN, PROXY, ADDED, "/etc/passwd", true},
    {PODMAN, PROXY, ADDED, "/etc/group", true},
    /* what an upload does */
    {PODMAN, STEP, ADDED, "/tmp/x", false},
    {PODMAN, STEP, MODIFIED, "/tmp", false},
    {PODMAN, STEP, MODIFIED, "/worktree", false},
    {PODMAN, STEP, MODIFIED, "/etc/passwd", false},
    {PODMAN, STEP, ADDED, "/etc/passwd/x", false},
    {PODMAN, STEP, ADDED, "/etc/ld.so.preload", false},
    {PODMAN, STEP, ADDED, "/etcetera", false},
    {PODMAN, STEP, ADDED, "/et", false},
    {PODMAN, STEP, ADDED, "/.cordon/cordon-guard", false},
    {PODMAN, STEP, MODIFIED, "/bin/sh", false},
    {PODMAN, STEP, DELETED, "/etc", false},
    {PODMAN, STEP, DELETED, "/worktree", false},
    {PODMAN, STEP, DELETED, "/", false},
    {PODMAN, STEP, CORDON_CHANGE_UNKNOWN, "/etc", false},
    {PODMAN, PROXY, MODIFIED, "/cordon-guard", false},
    {PODMAN, PROXY, ADDED, "/tmp", false},
    {PODMAN, PROXY, ADDED, "/worktree", false},
    {CORDON_ENGINE_UNKNOWN, STEP, ADDED, "/etc", false},
};

static void check_row(sample_run *run, const change_row *row)
{
    cordon_auto(cordon_changes) changes = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    char fact[160];
    run->engine.kind = row->kind;
    REQUIRE_OK(cordon_changes_add(&changes, row->what, row->path, &err), err);
    int rc = cordon_changes_check(&run->plan, row->role, &changes, &tally, &refusal, &err);
    TEST_RECORDF((rc == 0) == row->planned && tally.facts == 1, "%s %s %s: %d",
                 cordon_role_name(row->role), cordon_change_kind_name(row->what), row->path, rc);
    if (rc == 0)
        return;
    (void)snprintf(fact, sizeof fact, "%s.changes[%s]", cordon_role_name(row->role), row->path);
    CHECK_INT(err.code, CORDON_ERR_REFUSED);
    CHECK_INT(refusal.code, CORDON_REFUSED_CHANGED);
    CHECK_STR(refusal.fact, fact);
    CHECK_STR(refusal.actual, cordon_change_kind_name(row->what));
}

static void only_mount_points_follow_from_a_plan(void)
{
    cordon_auto(sample_run) run = {0};
    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < COUNT(change_rows); i++)
        check_row(&run, &change_rows[i]);
}

static void a_list_that_was_cut_is_refused(void)
{
    cordon_auto(sample_run) run = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(sample_run_make(&run));
    const cordon_changes cut = {.more = true};
    CHECK_FAILS(cordon_changes_check(&run.plan, STEP, &cut, &tally, &refusal, &err), err,
                CORDON_ERR_REFUSED, "more changes");
    CHECK_STR(refusal.fact, "step.changes[*]");
}

CORDON_TEST_MAIN("changes", TEST(kinds_and_paths_arrive_as_they_are),
                 TEST(none_is_written_in_two_ways), TEST(what_is_no_list_of_changes_is_refused),
                 TEST(more_than_any_plan_makes_is_said), TEST(only_mount_points_follow_from_a_plan),
                 TEST(a_list_that_was_cut_is_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a writable worktree is kept as it is, what a placeholder is, and what is found once a
 * step has gone. The step is played by this program.
 */
#include "worktree_guard.h"

#include <errno.h>
#include <stdarg.h>

#include "support/git_tree.h"
#include "support/test.h"

static const cordon_worktree_rules rules = {.home = "/nonexistent/home", .max_entries = 100000};

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

typedef struct kept {
    test_folder folder;
    cordon_worktree worktree;
    cordon_worktree_link link;
    cordon_text_list protected;
    cordon_guard guard;
    cordon_guard_findings findings;
    cordon_err err;
} kept;

static void kept_clear(kept *k)
{
    cordon_guard_findings_clear(&k->findings);
    cordon_guard_clear(&k->guard);
    cordon_text_list_clear(&k->protected);
    cordon_worktree_link_clear(&k->link);
    cordon_worktree_clear(&k->worktree);
    test_folder_remove(&k->folder);
}
CORDON_DEFINE_AUTO(kept, kept_clear)

#define KEPT_INIT                                                                                  \
    {                                                                                              \
        .worktree = CORDON_WORKTREE_INIT, .link = CORDON_WORKTREE_LINK_INIT                        \
    }

static int plan(kept *k, bool writable)
{
    if (cordon_worktree_open(test_path(&k->folder, "tree"), &rules, soon(), &k->worktree,
                             &k->err) != 0 ||
        cordon_worktree_link_open(&k->worktree, "/worktree", true, &rules, soon(), &k->link,
                                  &k->err) != 0)
        return -1;
    return cordon_guard_plan(&k->worktree, &k->link, "/worktree", &k->protected, writable,
                             rules.max_entries, soon(), &k->guard, &k->err);
}

/* An ordinary repository of its own, and two protected paths. */
static bool prepare(kept *k)
{
    return test_folder_make(&k->folder) && git_folders(&k->folder, "tree/src") &&
           git_directory(&k->folder, "tree/.git") &&
           cordon_text_list_add(&k->protected, ".envrc", &k->err) == 0 &&
           cordon_text_list_add(&k->protected, ".github/workflows", &k->err) == 0;
}

static const cordon_guard_item *item_of(const kept *k, const char *target)
{
    for (size_t i = 0; i < k->guard.count; i++)
        if (test_same(k->guard.items[i].target, target))
            return &k->guard.items[i];
    return NULL;
}

#define CHECK_KIND(k, target_, kind_)                                                              \
    __extension__({                                                                                \
        const cordon_guard_item *test_item_ = item_of((k), (target_));                             \
        TEST_RECORDF(test_item_ && test_item_->kind == (kind_), "%s: kind %d, want %d", (target_), \
                     test_item_ ? (int)test_item_->kind : 0, (int)(kind_));                        \
    })

static void a_repository_is_kept_part_by_part(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k) && git_file(&k.folder, "tree/.github/workflows/x.yml", "on: push\n"));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/.git", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/.git/config", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/.git/hooks", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/.git/info", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/.git/objects", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/.git/objects/info", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/.git/config.worktree", CORDON_GUARD_PLACEHOLDER);
    CHECK_KIND(&k, "/worktree/.git/commondir", CORDON_GUARD_PLACEHOLDER);
    CHECK_KIND(&k, "/worktree/.git/modules", CORDON_GUARD_PLACEHOLDER);
    CHECK_KIND(&k, "/worktree/.git/worktrees", CORDON_GUARD_PLACEHOLDER);
    CHECK_KIND(&k, "/worktree/.git/rebase-merge", CORDON_GUARD_ABSENT);
    CHECK_KIND(&k, "/worktree/.github", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/.github/workflows", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/.envrc", CORDON_GUARD_ABSENT);
    CHECK_STR(item_of(&k, "/worktree/.git/config")->source,
              test_path(&k.folder, "tree/.git/config"));
    for (size_t i = 1; i < k.guard.count; i++)
        CHECK(strcmp(k.guard.items[i - 1].target, k.guard.items[i].target) < 0);
    CHECK(access(test_path(&k.folder, "tree/.git/commondir"), F_OK) != 0);
}

static void a_reading_phase_gets_the_common_directory_alone(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE_OK(plan(&k, false), k.err);
    CHECK_INT(k.guard.count, 1);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git"), CORDON_GUARD_READ_ONLY);
}

static void a_linked_worktree_keeps_the_shared_directory_and_its_own(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/.git", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git"), CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/hooks"), CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees"), CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees/tree"), CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees/tree/commondir"),
               CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees/tree/config.worktree"),
               CORDON_GUARD_PLACEHOLDER);
}

static void nested_repositories_are_kept_whole_and_where_they_are(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k) && git_directory(&k.folder, "tree/a/b/.git"));
    REQUIRE(git_directory(&k.folder, "tree/fixtures/x.git"));
    REQUIRE(git_file(&k.folder, "tree/sub/.git", "gitdir: ../.git/modules/sub\n"));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/a", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/a/b", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/a/b/.git", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/fixtures", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/fixtures/x.git", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/sub", CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, "/worktree/sub/.git", CORDON_GUARD_READ_ONLY);
    CHECK(item_of(&k, "/worktree/src") == NULL);
}

/* --- What cannot be kept ------------------------------------------------------------------- */

typedef bool act_fn(test_folder *folder);

static bool hooks_by_link(test_folder *folder)
{
    return rmdir(test_path(folder, "tree/.git/hooks")) == 0 &&
           test_symlink(folder, "../src", "tree/.git/hooks");
}

static bool config_with_two_names(test_folder *folder)
{
    return link(test_path(folder, "tree/.git/config"), test_path(folder, "tree/src/same")) == 0;
}

static bool link_in_git(test_folder *folder)
{
    return test_symlink(folder, "/etc/passwd", "tree/.git/COMMIT_EDITMSG");
}

static bool protected_by_link(test_folder *folder)
{
    return test_symlink(folder, "src/x", "tree/.envrc");
}

static bool protected_behind_link(test_folder *folder)
{
    return test_symlink(folder, "src", "tree/.github");
}

static bool protected_fifo(test_folder *folder)
{
    return mkfifo(test_path(folder, "tree/.envrc"), 0600) == 0;
}

static bool bare_itself(test_folder *folder)
{
    return git_directory(folder, "tree");
}

static bool nested_with_control_characters(test_folder *folder)
{
    return git_directory(folder, "tree/a\nb/.git");
}

static bool too_many(test_folder *folder)
{
    char path[64];
    for (int i = 0; i <= CORDON_GUARD_MOUNTS_MAX / 2; i++) {
        (void)snprintf(path, sizeof path, "tree/n%d/.git", i);
        if (!git_file(folder, path, "gitdir: x\n"))
            return false;
    }
    return true;
}

static void what_cannot_be_kept_refuses_by_name(void)
{
    static const struct {
        act_fn *act;
        const char *why;
    } rows[] = {
        {hooks_by_link, ".git/hooks is a symbolic link"},
        {config_with_two_names, ".git/config is a file with a second name (hard link)"},
        {link_in_git, ".git/COMMIT_EDITMSG is a symbolic link in a git directory"},
        {protected_by_link, ".envrc is a symbolic link"},
        {protected_behind_link, ".github/workflows lies behind a symbolic link"},
        {protected_fifo, ".envrc is neither a file nor a folder"},
        {bare_itself, "itself is a bare git repository"},
        {nested_with_control_characters, "has a name with control characters"},
        {too_many, "more than 160 places would have to be kept"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(kept) k = KEPT_INIT;
        REQUIRE(prepare(&k) && rows[i].act(&k.folder));
        CHECK_FAILS(plan(&k, true), k.err, CORDON_ERR_REFUSED, rows[i].why);
        CHECK_CONTAINS(k.err.message, "worktree /tmp/cordon-test-");
    }
}

static void only_plain_paths_are_protected(void)
{
    static const char *const good[] = {".envrc", "a/b/c", "..a", "a..", ".github/workflows",
                                       ".gitx"};
    static const char *const bad[] = {"",     "/a",  "a/",   "a//b",   ".",     "..",
                                      "a/..", "./a", ".git", ".git/x", "a/./b", "a\nb"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_guard_check_path(good[i], &err), err);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_guard_check_path(bad[i], &err), err, CORDON_ERR_CONFIG,
                    "is no plain path below the worktree");
    }
}

/* --- Placeholders -------------------------------------------------------------------------- */

static bool is_there(kept *k, const char *path)
{
    struct stat facts;
    return lstat(test_path(&k->folder, path), &facts) == 0;
}

static void placeholders_come_and_go(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    struct stat facts;
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
    REQUIRE(stat(test_path(&k.folder, "tree/.git/commondir"), &facts) == 0);
    CHECK_INT(facts.st_size, 2);
    CHECK(is_there(&k, "tree/.git/modules") && is_there(&k, "tree/.git/config.worktree"));
    CHECK(!is_there(&k, "tree/.envrc"));
    CHECK_OK(cordon_guard_recheck(&k.guard, &k.err), k.err);
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    CHECK_INT(k.findings.count, 0);
    cordon_guard_unmake(&k.guard);
    CHECK(!is_there(&k, "tree/.git/commondir") && !is_there(&k, "tree/.git/modules") &&
          !is_there(&k, "tree/.git/config.worktree"));
}

/* What a killed run has left is no repository's own: the next run takes it away. */
static void placeholders_of_a_killed_run_are_taken_away_by_the_next(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k));
    REQUIRE(test_file(&k.folder, "tree/.git/commondir", ".\n", 0400));
    REQUIRE(test_subfolder(&k.folder, "tree/.git/modules", 0500));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/.git/commondir", CORDON_GUARD_PLACEHOLDER);
    CHECK_KIND(&k, "/worktree/.git/modules", CORDON_GUARD_PLACEHOLDER);
    REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
    cordon_guard_unmake(&k.guard);
    CHECK(!is_there(&k, "tree/.git/commondir") && !is_there(&k, "tree/.git/modules"));
}

static void a_second_run_keeps_the_placeholders_of_the_first(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    cordon_auto(cordon_guard) second = {0};
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
    REQUIRE_OK(cordon_guard_plan(&k.worktree, &k.link, "/worktree", &k.protected, true,
                                 rules.max_entries, soon(), &second, &k.err),
               k.err);
    REQUIRE_OK(cordon_guard_make(&second, &k.err), k.err);
    cordon_guard_unmake(&k.guard);
    CHECK(is_there(&k, "tree/.git/commondir"));
    CHECK_OK(cordon_guard_recheck(&second, &k.err), k.err);
    cordon_guard_unmake(&second);
    CHECK(!is_there(&k, "tree/.git/commondir"));
}

static void what_took_the_place_of_a_placeholder_is_refused_and_stays(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(git_file(&k.folder, "tree/.git/config.worktree", "[core]\n"));
    CHECK_FAILS(cordon_guard_make(&k.guard, &k.err), k.err, CORDON_ERR_REFUSED,
                ".git/config.worktree appeared since it was looked at");
    cordon_guard_unmake(&k.guard);
    CHECK(is_there(&k, "tree/.git/config.worktree") && !is_there(&k, "tree/.git/commondir"));
}

/* --- Before the release -------------------------------------------------------------------- */

static bool new_envrc(test_folder *folder)
{
    return git_file(folder, "tree/.envrc", "x\n");
}

static bool longer_config(test_folder *folder)
{
    return git_file(folder, "tree/.git/config", "[core]\n\tfsmonitor = x\n");
}

static bool other_hooks(test_folder *folder)
{
    return rename(test_path(folder, "tree/.git/hooks"), test_path(folder, "old")) == 0 &&
           git_folders(folder, "tree/.git/hooks");
}

static void a_change_before_the_release_is_refused(void)
{
    static const struct {
        act_fn *act;
        const char *why;
    } rows[] = {
        {new_envrc, ".envrc appeared since it was looked at; nothing was released"},
        {longer_config, ".git/config changed since it was looked at"},
        {other_hooks, ".git/hooks changed since it was looked at"},
        {protected_behind_link, ".github/workflows appeared since it was looked at"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(kept) k = KEPT_INIT;
        REQUIRE(prepare(&k));
        REQUIRE_OK(plan(&k, true), k.err);
        REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
        REQUIRE(rows[i].act(&k.folder));
        CHECK_FAILS(cordon_guard_recheck(&k.guard, &k.err), k.err, CORDON_ERR_REFUSED, rows[i].why);
        cordon_guard_unmake(&k.guard);
    }
}

/* --- Once the step has gone ---------------------------------------------------------------- */

static bool new_workflow(test_folder *folder)
{
    return git_file(folder, "tree/.github/workflows/x.yml", "on: push\n");
}

static bool new_nested(test_folder *folder)
{
    return git_directory(folder, "tree/src/.git");
}

static bool new_bare(test_folder *folder)
{
    return git_directory(folder, "tree/src/x");
}

static bool new_rebase(test_folder *folder)
{
    return git_file(folder, "tree/.git/rebase-merge/git-rebase-todo", "exec x\n");
}

static bool new_link_in_git(test_folder *folder)
{
    return git_folders(folder, "tree/.git/logs") &&
           test_symlink(folder, "/etc/passwd", "tree/.git/logs/HEAD");
}

static bool filled_placeholder(test_folder *folder)
{
    return unlink(test_path(folder, "tree/.git/config.worktree")) == 0 &&
           git_file(folder, "tree/.git/config.worktree", "[core]\n");
}

static bool locked_folder(test_folder *folder)
{
    return git_file(folder, "tree/src/.git", "x\n") &&
           chmod(test_path(folder, "tree/src"), 0500) == 0;
}

static void what_appeared_is_renamed_and_told(void)
{
    static const struct {
        act_fn *act;
        const char *path;
        const char *moved_to;
    } rows[] = {
        {new_envrc, ".envrc", ".envrc.cordon-x"},
        {new_workflow, ".github/workflows", "workflows.cordon-x"},
        {protected_behind_link, ".github", ".github.cordon-x"},
        {protected_by_link, ".envrc", ".envrc.cordon-x"},
        {new_bare, "src/x/HEAD", "HEAD.cordon-x"},
        {new_rebase, ".git/rebase-merge", "rebase-merge.cordon-x"},
        {new_link_in_git, ".git/logs/HEAD", "HEAD.cordon-x"},
        {filled_placeholder, ".git/config.worktree", "config.worktree.cordon-x"},
        {locked_folder, "src/.git", ".git.cordon-x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(kept) k = KEPT_INIT;
        char path[128];
        REQUIRE(prepare(&k));
        REQUIRE_OK(plan(&k, true), k.err);
        REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
        REQUIRE(rows[i].act(&k.folder));
        CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
        REQUIRE_INT(k.findings.count, 1);
        CHECK_STR(k.findings.items[0].path, rows[i].path);
        CHECK_STR(k.findings.items[0].what, "appeared");
        CHECK_STR(k.findings.items[0].moved_to, rows[i].moved_to);
        (void)snprintf(path, sizeof path, "tree/%s", rows[i].path);
        CHECK(!is_there(&k, path));
        cordon_guard_unmake(&k.guard);
    }
}

/* Under its new name a repository would still be one. */
static void a_new_repository_is_none_under_its_new_name(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(new_nested(&k.folder));
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    CHECK_INT(k.findings.count, 2);
    CHECK(is_there(&k, "tree/src/.git.cordon-x/HEAD.cordon-x"));
    CHECK(!is_there(&k, "tree/src/.git.cordon-x/HEAD"));
}

/* Nobody inside could have done that; somebody outside has, and lifted the protection by it. */
static void a_kept_file_that_was_replaced_from_outside_is_told(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(longer_config(&k.folder));
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    REQUIRE_INT(k.findings.count, 1);
    CHECK_STR(k.findings.items[0].path, ".git/config");
    CHECK_STR(k.findings.items[0].what, "changed");
    CHECK(k.findings.items[0].moved_to == NULL);
}

static void ordinary_work_is_no_finding(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k) && git_directory(&k.folder, "tree/nested/.git"));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(git_file(&k.folder, "tree/src/new/file", "x\n"));
    REQUIRE(test_symlink(&k.folder, "/etc/passwd", "tree/src/link"));
    REQUIRE(git_file(&k.folder, "tree/.git/index", "x") &&
            git_file(&k.folder, "tree/.git/logs/HEAD", "x") &&
            git_file(&k.folder, "tree/.git/refs/remotes/origin/HEAD", "x"));
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    CHECK_INT(k.findings.count, 0);
}

static void a_look_that_takes_too_long_is_no_look(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(prepare(&k));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_FAILS(
        cordon_guard_settle(&k.guard, "x", cordon_deadline_in_ms(0, -1), &k.findings, &k.err),
        k.err, CORDON_ERR_TIMEOUT, "looking through the worktree for git data");
}

CORDON_TEST_MAIN("worktree_guard", TEST(a_repository_is_kept_part_by_part),
                 TEST(a_reading_phase_gets_the_common_directory_alone),
                 TEST(a_linked_worktree_keeps_the_shared_directory_and_its_own),
                 TEST(nested_repositories_are_kept_whole_and_where_they_are),
                 TEST(what_cannot_be_kept_refuses_by_name), TEST(only_plain_paths_are_protected),
                 TEST(placeholders_come_and_go),
                 TEST(placeholders_of_a_killed_run_are_taken_away_by_the_next),
                 TEST(a_second_run_keeps_the_placeholders_of_the_first),
                 TEST(what_took_the_place_of_a_placeholder_is_refused_and_stays),
                 TEST(a_change_before_the_release_is_refused),
                 TEST(what_appeared_is_renamed_and_told),
                 TEST(a_new_repository_is_none_under_its_new_name),
                 TEST(a_kept_file_that_was_replaced_from_outside_is_told),
                 TEST(ordinary_work_is_no_finding), TEST(a_look_that_takes_too_long_is_no_look))

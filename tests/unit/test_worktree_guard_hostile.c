/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways around what is kept of a writable worktree: places that nobody looked at, and mounts that
 * would make kept ones writable again. The step is played by this program.
 */
#include "worktree_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>

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

/* --- Places that are looked at ------------------------------------------------------------- */

/* worktrees/ is kept, but this worktree's own folder in it is the step's to write. */
static void a_link_in_the_own_folder_below_worktrees_is_refused(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE(test_symlink(&k.folder, "/etc/passwd", "main/.git/worktrees/tree/COMMIT_EDITMSG"));
    CHECK_FAILS(plan(&k, true), k.err, CORDON_ERR_REFUSED,
                "worktrees/tree/COMMIT_EDITMSG is a symbolic link in a git directory");
}

static void a_link_in_the_own_folder_below_worktrees_is_found(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(git_folders(&k.folder, "main/.git/worktrees/tree/logs") &&
            test_symlink(&k.folder, "/etc/passwd", "main/.git/worktrees/tree/logs/HEAD"));
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    REQUIRE_INT(k.findings.count, 1);
    CHECK_STR(k.findings.items[0].path, test_path(&k.folder, "main/.git/worktrees/tree/logs/HEAD"));
    CHECK_STR(k.findings.items[0].moved_to, "HEAD.cordon-x");
}

/* Root is stopped by no mode: as who owns the tree. */
static bool settle_as_owner(kept *k, mode_t mode, uid_t uid)
{
    bool fine = chmod(test_path(&k->folder, "tree/src"), mode) == 0 &&
                (geteuid() != 0 || seteuid(uid) == 0);
    fine = fine && cordon_guard_settle(&k->guard, "x", soon(), &k->findings, &k->err) == 0;
    return (getuid() != 0 || seteuid(0) == 0) && fine;
}

/* Their names may be read, or not: what is behind them cannot be looked at. */
static void a_folder_that_cannot_be_searched_is_told(void)
{
    static const mode_t modes[] = {0000, 0400, 0600};
    uid_t uid = geteuid() == 0 ? 12345 : geteuid();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cordon_auto(kept) k = KEPT_INIT;
        REQUIRE(test_folder_make(&k.folder) && git_directory(&k.folder, "tree/.git") &&
                git_folders(&k.folder, "tree/src"));
        REQUIRE(chown(test_path(&k.folder, "tree"), uid, (gid_t)-1) == 0 &&
                chown(test_path(&k.folder, "tree/src"), uid, (gid_t)-1) == 0);
        REQUIRE_OK(plan(&k, true), k.err);
        REQUIRE(git_directory(&k.folder, "tree/src"));
        CHECK_OK(settle_as_owner(&k, modes[i], uid) ? 0 : -1, k.err);
        (void)chmod(test_path(&k.folder, "tree/src"), 0700);
        REQUIRE_INT(k.findings.count, 1);
        CHECK_STR(k.findings.items[0].path, "src");
        CHECK_STR(k.findings.items[0].what, "unseen");
    }
}

/* The opts of a cherry-pick that goes on name a strategy: git-NAME is executed. */
static void a_cherry_pick_to_be_gone_on_with_is_found(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(git_file(&k.folder, "main/.git/sequencer/opts", "[options]\n\tstrategy = x\n") &&
            git_folders(&k.folder, "main/.git/worktrees/tree/sequencer"));
    CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
    REQUIRE_INT(k.findings.count, 2);
    CHECK_STR(k.findings.items[0].path, test_path(&k.folder, "main/.git/sequencer"));
    CHECK_STR(k.findings.items[0].moved_to, "sequencer.cordon-x");
    CHECK_STR(k.findings.items[1].path, test_path(&k.folder, "main/.git/worktrees/tree/sequencer"));
}

/* Gone is no better than changed: a mount goes with what lay below it. */
static void a_kept_place_that_is_gone_is_told(void)
{
    static const char *const paths[] = {".git/config", ".git/hooks", ".git/commondir"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        cordon_auto(kept) k = KEPT_INIT;
        char path[64];
        REQUIRE(test_folder_make(&k.folder) && git_directory(&k.folder, "tree/.git"));
        REQUIRE_OK(plan(&k, true), k.err);
        REQUIRE_OK(cordon_guard_make(&k.guard, &k.err), k.err);
        (void)snprintf(path, sizeof path, "tree/%s", paths[i]);
        REQUIRE(remove(test_path(&k.folder, path)) == 0);
        CHECK_OK(cordon_guard_settle(&k.guard, "x", soon(), &k.findings, &k.err), k.err);
        REQUIRE_INT(k.findings.count, 1);
        CHECK_STR(k.findings.items[0].path, paths[i]);
        CHECK_STR(k.findings.items[0].what, "changed");
        cordon_guard_unmake(&k.guard);
    }
}

/* Nobody would know it again, and git would read it. */
static void half_a_placeholder_is_taken_away(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    struct rlimit before;
    REQUIRE(test_folder_make(&k.folder) && git_directory(&k.folder, "tree/.git"));
    REQUIRE_OK(plan(&k, true), k.err);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
    int result = cordon_guard_make(&k.guard, &k.err);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_FAILS(result, k.err, CORDON_ERR_SYSTEM, "a placeholder at .git/commondir cannot be made");
    cordon_guard_unmake(&k.guard);
    CHECK(access(test_path(&k.folder, "tree/.git/commondir"), F_OK) != 0);
}

/* --- Mounts in mounts ---------------------------------------------------------------------- */

static void a_link_within_the_hooks_makes_no_part_of_them_writable(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_directory(&k.folder, "tree/.git") &&
            git_file(&k.folder, "tree/.git/hooks/lib/pc", "#!/bin/sh\n"));
    REQUIRE(test_symlink(&k.folder, "lib/pc", "tree/.git/hooks/pre-commit"));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/.git/hooks", CORDON_GUARD_READ_ONLY);
    CHECK(item_of(&k, "/worktree/.git/hooks/lib") == NULL);
}

static void what_is_kept_later_keeps_what_was_mounted_in_it(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_directory(&k.folder, "tree/.git") &&
            git_file(&k.folder, "tree/tools/a/b", "x\n"));
    REQUIRE(cordon_text_list_add(&k.protected, "tools/a/b", &k.err) == 0 &&
            cordon_text_list_add(&k.protected, "tools", &k.err) == 0);
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, "/worktree/tools", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/tools/a", CORDON_GUARD_READ_ONLY);
    CHECK_KIND(&k, "/worktree/tools/a/b", CORDON_GUARD_READ_ONLY);
}

/* What its own configuration includes there is kept by itself: the folder is the step's. */
static void a_file_in_the_own_folder_below_worktrees_is_kept(void)
{
    cordon_auto(kept) k = KEPT_INIT;
    REQUIRE(test_folder_make(&k.folder) && git_linked(&k.folder));
    REQUIRE(git_file(&k.folder, "main/.git/worktrees/tree/config.worktree",
                     "[include]\n\tpath = extra\n") &&
            git_file(&k.folder, "main/.git/worktrees/tree/extra", "[a]\n"));
    REQUIRE_OK(plan(&k, true), k.err);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees/tree"), CORDON_GUARD_ANCHOR);
    CHECK_KIND(&k, test_path(&k.folder, "main/.git/worktrees/tree/extra"), CORDON_GUARD_READ_ONLY);
}

CORDON_TEST_MAIN("worktree_guard_hostile",
                 TEST(a_link_within_the_hooks_makes_no_part_of_them_writable),
                 TEST(what_is_kept_later_keeps_what_was_mounted_in_it),
                 TEST(a_file_in_the_own_folder_below_worktrees_is_kept),
                 TEST(a_link_in_the_own_folder_below_worktrees_is_refused),
                 TEST(a_link_in_the_own_folder_below_worktrees_is_found),
                 TEST(a_folder_that_cannot_be_searched_is_told),
                 TEST(a_cherry_pick_to_be_gone_on_with_is_found),
                 TEST(a_kept_place_that_is_gone_is_told), TEST(half_a_placeholder_is_taken_away))

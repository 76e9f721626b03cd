/* SPDX-License-Identifier: Apache-2.0 */
/* What changed in a folder between two looks; the step is played by this program. */
#include "worktree_snapshot.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/time.h>

#include "support/git_tree.h"
#include "support/test.h"

#define KEPT_BYTES ((int64_t)4 << 20)

static const cordon_worktree_rules rules = {.home = "/nonexistent/home", .max_entries = 100000};

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

typedef struct looked {
    test_folder folder;
    cordon_worktree worktree;
    cordon_snapshot snapshot;
    cordon_snapshot_changes changes;
    cordon_buf patch;
    cordon_err err;
} looked;

static void looked_clear(looked *l)
{
    cordon_buf_clear(&l->patch);
    cordon_snapshot_clear(&l->snapshot);
    cordon_worktree_clear(&l->worktree);
    test_folder_remove(&l->folder);
}
CORDON_DEFINE_AUTO(looked, looked_clear)

#define LOOKED_INIT                                                                                \
    {                                                                                              \
        .worktree = CORDON_WORKTREE_INIT, .snapshot = CORDON_SNAPSHOT_INIT                         \
    }

static bool make(looked *l)
{
    return test_folder_make(&l->folder) && git_file(&l->folder, "tree/a", "one\ntwo\n") &&
           git_file(&l->folder, "tree/sub/b", "b\n") &&
           git_file(&l->folder, "tree/.git/config", "[core]\n") &&
           test_subfolder(&l->folder, "state", 0700);
}

static int take(looked *l, int64_t max_bytes)
{
    cordon_autoclose int state =
        open(test_path(&l->folder, "state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cordon_worktree_open(test_path(&l->folder, "tree"), &rules, soon(), &l->worktree,
                             &l->err) != 0)
        return -1;
    return cordon_snapshot_take(&l->worktree, state, max_bytes, 1000, soon(), &l->snapshot,
                                &l->err);
}

static int compare(looked *l, size_t max_bytes)
{
    l->patch = cordon_buf_make(max_bytes);
    return cordon_snapshot_compare(&l->snapshot, &l->worktree, soon(), &l->patch, &l->changes,
                                   &l->err);
}

typedef bool act_fn(test_folder *folder);

static bool nothing(test_folder *folder)
{
    (void)folder;
    return true;
}

static bool touched(test_folder *folder)
{
    return utimes(test_path(folder, "tree/a"), NULL) == 0;
}

static bool rewritten_the_same(test_folder *folder)
{
    return unlink(test_path(folder, "tree/a")) == 0 && git_file(folder, "tree/a", "one\ntwo\n");
}

static bool in_git(test_folder *folder)
{
    return git_file(folder, "tree/.git/config", "[core]\n\tfsmonitor = x\n") &&
           git_file(folder, "tree/.git/index", "x");
}

/* The size is the same and the times of the content are set back: the inode's cannot be. */
static bool changed_in_secret(test_folder *folder)
{
    struct stat facts;
    if (stat(test_path(folder, "tree/a"), &facts) != 0 || !git_file(folder, "tree/a", "one\ntoo\n"))
        return false;
    struct timespec times[2] = {facts.st_atim, facts.st_mtim};
    return utimensat(AT_FDCWD, test_path(folder, "tree/a"), times, 0) == 0;
}

static bool added_and_deleted(test_folder *folder)
{
    return unlink(test_path(folder, "tree/sub/b")) == 0 && git_file(folder, "tree/new/c", "c\n");
}

static bool made_a_program(test_folder *folder)
{
    return chmod(test_path(folder, "tree/a"), 0755) == 0;
}

static bool linked(test_folder *folder)
{
    return test_symlink(folder, "/etc/passwd", "tree/link");
}

/* Never followed, wherever it leads. */
static bool folder_became_link(test_folder *folder)
{
    return rename(test_path(folder, "tree/sub"), test_path(folder, "elsewhere")) == 0 &&
           test_symlink(folder, "../elsewhere", "tree/sub");
}

static bool fifo(test_folder *folder)
{
    return mkfifo(test_path(folder, "tree/pipe"), 0600) == 0;
}

static bool binary(test_folder *folder)
{
    FILE *file = fopen(test_path(folder, "tree/a"), "we");
    return file && fwrite("x\0y", 1, 3, file) == 3 && fclose(file) == 0;
}

static bool large(test_folder *folder)
{
    return git_file(folder, "tree/large", "x") &&
           truncate(test_path(folder, "tree/large"), CORDON_SNAPSHOT_FILE_MAX + 1) == 0;
}

static void a_change_is_told_as_git_would(void)
{
    static const struct {
        act_fn *act;
        const char *want;
        int files;
        int hidden;
    } rows[] = {
        {nothing, "", 0, 0},
        {touched, "", 0, 0},
        {rewritten_the_same, "", 0, 0},
        {in_git, "", 0, 0},
        {changed_in_secret,
         "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+too\n", 1, 0},
        {added_and_deleted,
         "diff --git a/new/c b/new/c\nnew file mode 100644\n--- /dev/null\n+++ b/new/c\n"
         "@@ -0,0 +1,1 @@\n+c\n"
         "diff --git a/sub/b b/sub/b\ndeleted file mode 100644\n--- a/sub/b\n+++ /dev/null\n"
         "@@ -1,1 +0,0 @@\n-b\n",
         2, 0},
        {made_a_program, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", 1, 0},
        {linked,
         "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n"
         "@@ -0,0 +1,1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
         1, 0},
        {folder_became_link,
         "diff --git a/sub b/sub\nnew file mode 120000\n--- /dev/null\n+++ b/sub\n"
         "@@ -0,0 +1,1 @@\n+../elsewhere\n\\ No newline at end of file\n"
         "diff --git a/sub/b b/sub/b\ndeleted file mode 100644\n--- a/sub/b\n+++ /dev/null\n"
         "@@ -1,1 +0,0 @@\n-b\n",
         2, 0},
        {fifo, "# not shown, neither a file nor a symbolic link: pipe (added)\n", 1, 1},
        {binary, "# not shown, binary: a (changed)\n", 1, 1},
        {large, "# not shown, too large, or not to be read: large (added)\n", 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(looked) l = LOOKED_INIT;
        REQUIRE(make(&l));
        REQUIRE_OK(take(&l, KEPT_BYTES), l.err);
        REQUIRE(rows[i].act(&l.folder));
        REQUIRE_OK(compare(&l, 1 << 20), l.err);
        CHECK_STR(cordon_buf_text(&l.patch), rows[i].want);
        CHECK_INT(l.changes.files, rows[i].files);
        CHECK_INT(l.changes.hidden, rows[i].hidden);
    }
}

static void what_was_not_kept_is_told_by_name(void)
{
    cordon_auto(looked) l = LOOKED_INIT;
    REQUIRE(make(&l));
    REQUIRE_OK(take(&l, 1), l.err);
    REQUIRE(changed_in_secret(&l.folder));
    REQUIRE_OK(compare(&l, 1 << 20), l.err);
    CHECK_STR(cordon_buf_text(&l.patch),
              "# not shown, too large, or not to be read: a (changed)\n");
}

static void a_patch_that_is_full_says_what_is_missing(void)
{
    cordon_auto(looked) l = LOOKED_INIT;
    REQUIRE(make(&l));
    REQUIRE_OK(take(&l, KEPT_BYTES), l.err);
    REQUIRE(changed_in_secret(&l.folder));
    REQUIRE_OK(compare(&l, 80), l.err);
    CHECK_STR(cordon_buf_text(&l.patch), "# not shown, the patch is full: a (changed)\n");
    CHECK_INT(l.changes.hidden, 1);
}

/* Whatever ends this program, the copy goes with it. */
static void the_copy_has_no_name(void)
{
    cordon_auto(looked) l = LOOKED_INIT;
    struct stat facts;
    REQUIRE(make(&l));
    REQUIRE_OK(take(&l, KEPT_BYTES), l.err);
    REQUIRE(fstat(l.snapshot.store, &facts) == 0);
    CHECK_INT(facts.st_nlink, 0);
    CHECK_INT(facts.st_size, 10);
    CHECK(rmdir(test_path(&l.folder, "state")) == 0);
}

static void too_many_files_are_refused(void)
{
    cordon_auto(looked) l = LOOKED_INIT;
    cordon_auto(cordon_snapshot) again = CORDON_SNAPSHOT_INIT;
    REQUIRE(make(&l));
    REQUIRE_OK(take(&l, KEPT_BYTES), l.err);
    cordon_autoclose int state =
        open(test_path(&l.folder, "state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_FAILS(cordon_snapshot_take(&l.worktree, state, KEPT_BYTES, 2, soon(), &again, &l.err),
                l.err, CORDON_ERR_REFUSED, "too many to look through for changes");
}

CORDON_TEST_MAIN("worktree_snapshot", TEST(a_change_is_told_as_git_would),
                 TEST(what_was_not_kept_is_told_by_name),
                 TEST(a_patch_that_is_full_says_what_is_missing), TEST(the_copy_has_no_name),
                 TEST(too_many_files_are_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pointers of linked worktrees: which lead somewhere, where to inside, and that none leads a
 * step to what it must not get.
 */
#include "worktree_link.h"

#include <errno.h>
#include <stdarg.h>

#include "support/git_tree.h"
#include "support/test.h"

static const cordon_worktree_rules rules = {.home = "/nonexistent/home", .max_entries = 100000};

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

/* A worktree and its link; both are needed until the end. */
typedef struct opened {
    cordon_worktree worktree;
    cordon_worktree_link link;
} opened;

static void opened_clear(opened *o)
{
    cordon_worktree_link_clear(&o->link);
    cordon_worktree_clear(&o->worktree);
}
CORDON_DEFINE_AUTO(opened, opened_clear)

#define OPENED_INIT                                                                                \
    {                                                                                              \
        .worktree = CORDON_WORKTREE_INIT, .link = CORDON_WORKTREE_LINK_INIT                        \
    }

static int open_tree(test_folder *folder, const char *mount, bool follow, opened *o,
                     cordon_err *err)
{
    if (cordon_worktree_open(test_path(folder, "tree"), &rules, soon(), &o->worktree, err) != 0)
        return -1;
    return cordon_worktree_link_open(&o->worktree, mount, follow, &rules, soon(), &o->link, err);
}

static void what_stands_at_dot_git_is_told(void)
{
    test_auto_folder folder = {0};
    cordon_auto(opened) none = OPENED_INIT;
    cordon_auto(opened) own = OPENED_INIT;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder) && git_folders(&folder, "tree"));
    REQUIRE_OK(open_tree(&folder, "/worktree", true, &none, &err), err);
    CHECK_INT(none.link.kind, CORDON_GIT_NONE);
    REQUIRE(git_directory(&folder, "tree/.git"));
    REQUIRE_OK(open_tree(&folder, "/worktree", true, &own, &err), err);
    CHECK_INT(own.link.kind, CORDON_GIT_FOLDER);
    CHECK(own.link.common.path == NULL && own.link.target == NULL);
}

static void an_absolute_pointer_leads_to_the_same_path_inside(void)
{
    test_auto_folder folder = {0};
    cordon_auto(opened) o = OPENED_INIT;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder) && git_linked(&folder));
    REQUIRE_OK(open_tree(&folder, "/src/project", true, &o, &err), err);
    CHECK_INT(o.link.kind, CORDON_GIT_LINKED);
    CHECK_STR(o.link.common.path, test_path(&folder, "main/.git"));
    CHECK_STR(o.link.target, test_path(&folder, "main/.git"));
    CHECK_STR(o.link.name, "tree");
    CHECK_OK(cordon_worktree_link_recheck(&o.worktree, &o.link, NULL, &err), err);
}

static void a_relative_pointer_starts_where_the_worktree_is_mounted(void)
{
    static const struct {
        const char *mount;
        const char *target;
    } rows[] = {
        {"/worktree", "/main/.git"},
        {"/src/project", "/src/main/.git"},
        {"/a/b/c", "/a/b/main/.git"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_auto(opened) o = OPENED_INIT;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder) && git_linked(&folder));
        REQUIRE(git_pointer(&folder, "tree/.git", "gitdir: ../main/.git/worktrees/tree\n"));
        REQUIRE(git_pointer(&folder, "main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n"));
        REQUIRE_OK(open_tree(&folder, rows[i].mount, true, &o, &err), err);
        CHECK_STR(o.link.common.path, test_path(&folder, "main/.git"));
        CHECK_STR(o.link.target, rows[i].target);
    }
}

static void a_pointer_is_left_alone_where_the_operator_says_so(void)
{
    test_auto_folder folder = {0};
    cordon_auto(opened) o = OPENED_INIT;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder) && git_folders(&folder, "tree"));
    REQUIRE(git_pointer(&folder, "tree/.git", "gitdir: /etc\n"));
    REQUIRE_OK(open_tree(&folder, "/worktree", false, &o, &err), err);
    CHECK_INT(o.link.kind, CORDON_GIT_ALONE);
}

/* --- What is refused ----------------------------------------------------------------------- */

typedef bool spoil_fn(test_folder *folder);

#define SPOIL_POINTER(name, path, ...)                                                             \
    static bool name(test_folder *folder)                                                          \
    {                                                                                              \
        return git_pointer(folder, path, __VA_ARGS__);                                             \
    }

SPOIL_POINTER(no_gitdir, "tree/.git", "%s", "path: /x\n")
SPOIL_POINTER(nothing_after, "tree/.git", "%s", "gitdir: \n")
SPOIL_POINTER(empty_pointer, "tree/.git", "%s", "")
SPOIL_POINTER(two_lines, "tree/.git", "gitdir: %s/main/.git/worktrees/tree\nmore\n", folder->path)
SPOIL_POINTER(control_characters, "tree/.git", "gitdir: /x\x1b[2J/worktrees/y\n")
SPOIL_POINTER(dots_within, "tree/.git", "gitdir: %s/main/../main/.git/worktrees/tree\n",
              folder->path)
SPOIL_POINTER(dots_behind, "tree/.git", "gitdir: ../main/x/../.git/worktrees/tree\n")
SPOIL_POINTER(doubled_slashes, "tree/.git", "gitdir: %s//main/.git/worktrees/tree\n", folder->path)
SPOIL_POINTER(to_nowhere, "tree/.git", "gitdir: /nonexistent/.git/worktrees/tree\n")
SPOIL_POINTER(to_a_submodule, "tree/.git", "gitdir: ../main/.git/modules/tree\n")
SPOIL_POINTER(to_the_repository, "tree/.git", "gitdir: ../main/.git\n")
SPOIL_POINTER(to_a_system_folder, "tree/.git", "gitdir: /etc/worktrees/tree\n")
SPOIL_POINTER(to_the_root, "tree/.git", "gitdir: /worktrees/tree\n")
SPOIL_POINTER(to_another_name, "tree/.git", "gitdir: ../main/.git/worktrees/none\n")
SPOIL_POINTER(into_itself, "tree/.git", "gitdir: inner/worktrees/tree\n")
SPOIL_POINTER(no_way_back, "main/.git/worktrees/tree/gitdir", "%s/other/.git\n", folder->path)
SPOIL_POINTER(a_way_back_to_no_git, "main/.git/worktrees/tree/gitdir", "%s/tree\n", folder->path)
SPOIL_POINTER(another_commondir, "main/.git/worktrees/tree/commondir", "../../../../other\n")

static bool pointer_by_link(test_folder *folder)
{
    return rename(test_path(folder, "tree/.git"), test_path(folder, "real")) == 0 &&
           test_symlink(folder, "../real", "tree/.git");
}

static bool pointer_with_two_names(test_folder *folder)
{
    return link(test_path(folder, "tree/.git"), test_path(folder, "second")) == 0;
}

static bool common_by_link(test_folder *folder)
{
    return rename(test_path(folder, "main"), test_path(folder, "real")) == 0 &&
           test_symlink(folder, "real", "main");
}

static bool admin_by_link(test_folder *folder)
{
    return rename(test_path(folder, "main/.git/worktrees/tree"), test_path(folder, "real")) == 0 &&
           test_symlink(folder, "../../../real", "main/.git/worktrees/tree");
}

static bool without_objects(test_folder *folder)
{
    return rename(test_path(folder, "main/.git/objects"), test_path(folder, "gone")) == 0;
}

static bool with_a_socket(test_folder *folder)
{
    return test_socket(folder, "main/.git/fsmonitor--daemon.ipc");
}

static bool with_keys(test_folder *folder)
{
    return git_folders(folder, "main/.git/.ssh");
}

static bool of_another_user(test_folder *folder)
{
    return chown(test_path(folder, "main/.git"), 12345, 12345) == 0;
}

static bool holding_the_worktree(test_folder *folder)
{
    return git_folders(folder, "tree/inner/worktrees/tree") && into_itself(folder);
}

static void pointers_that_lead_astray_are_refused_by_name(void)
{
    static const struct {
        spoil_fn *spoil;
        const char *why;
        bool root;
    } rows[] = {
        {no_gitdir, "its .git does not say \"gitdir: PATH\"", false},
        {nothing_after, "its .git does not say \"gitdir: PATH\"", false},
        {empty_pointer, "its .git is not one line of text", false},
        {two_lines, "its .git is not one line of text", false},
        {control_characters, "its .git is not one line of text", false},
        {dots_within, "points to no place", false},
        {dots_behind, "points to no place", false},
        {doubled_slashes, "points to no place", false},
        {to_nowhere, "points to git data that a step does not get", false},
        {to_a_submodule, "which is no linked worktree's (a submodule's checkout", false},
        {to_the_repository, "which is no linked worktree's", false},
        {to_a_system_folder, "leads to /etc inside, which is taken", false},
        {to_the_root, "which is no linked worktree's", false},
        {to_another_name, "which has no worktrees/none", false},
        {holding_the_worktree, "leads to /worktree/inner inside, which is taken", false},
        {no_way_back, "points to the git data of another worktree", false},
        {a_way_back_to_no_git, "whose file gitdir names no worktree", false},
        {another_commondir, "whose commondir is ../../../../other", false},
        {pointer_by_link, "its .git is a symbolic link", false},
        {pointer_with_two_names, "its .git is not a file of the worktree's owner alone", false},
        {common_by_link, "is a symlink, and what it points to can be swapped", false},
        {admin_by_link, "where worktrees/tree is not what git has there", false},
        {without_objects, "which has no objects", false},
        {with_a_socket, "fsmonitor--daemon.ipc is a socket", false},
        {with_keys, "holds .ssh", false},
        {of_another_user, "which belongs to another user", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_auto(opened) o = OPENED_INIT;
        cordon_err err = CORDON_ERR_INIT;
        if (rows[i].root && geteuid() != 0)
            continue;
        REQUIRE(test_folder_make(&folder) && git_linked(&folder) && rows[i].spoil(&folder));
        CHECK_FAILS(open_tree(&folder, "/worktree", true, &o, &err), err, CORDON_ERR_REFUSED,
                    rows[i].why);
        CHECK_CONTAINS(err.message, "worktree /tmp/cordon-test-");
    }
}

/* A worktree inside the directory that it shares would be mounted twice. */
static void a_worktree_within_the_common_directory_is_refused(void)
{
    test_auto_folder folder = {0};
    cordon_auto(opened) o = OPENED_INIT;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder) && git_directory(&folder, "repo") &&
            git_folders(&folder, "repo/tree"));
    REQUIRE(
        git_pointer(&folder, "repo/tree/.git", "gitdir: %s/repo/worktrees/tree\n", folder.path));
    REQUIRE(git_file(&folder, "repo/worktrees/tree/HEAD", "ref: refs/heads/x\n"));
    REQUIRE_OK(
        cordon_worktree_open(test_path(&folder, "repo/tree"), &rules, soon(), &o.worktree, &err),
        err);
    CHECK_FAILS(
        cordon_worktree_link_open(&o.worktree, "/worktree", true, &rules, soon(), &o.link, &err),
        err, CORDON_ERR_REFUSED, "and one of the two lies in the other");
}

/* --- Right before the start ---------------------------------------------------------------- */

static bool another_pointer(test_folder *folder)
{
    return git_pointer(folder, "tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
}

static bool another_repository(test_folder *folder)
{
    return rename(test_path(folder, "main"), test_path(folder, "old")) == 0 &&
           git_directory(folder, "main/.git");
}

static void a_pointer_that_changed_is_refused_before_the_start(void)
{
    static const struct {
        spoil_fn *spoil;
        const char *why;
    } rows[] = {
        {another_pointer, "its .git was changed since it was approved"},
        {pointer_by_link, "its .git is a symbolic link"},
        {another_repository, "main/.git: was replaced by another folder since it was approved"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_auto(opened) o = OPENED_INIT;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder) && git_linked(&folder));
        REQUIRE_OK(open_tree(&folder, "/worktree", true, &o, &err), err);
        REQUIRE(rows[i].spoil(&folder));
        CHECK_FAILS(cordon_worktree_link_recheck(&o.worktree, &o.link, NULL, &err), err,
                    CORDON_ERR_REFUSED, rows[i].why);
    }
}

/* --- Paths ------------------------------------------------------------------------------------ */

static void the_root_is_its_own_parent(void)
{
    static const struct {
        const char *base;
        const char *path;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"/a/b", "c", "/a/b/c"},       {"/a/b", "../c", "/a/c"}, {"/a/b", "../../c/d", "/c/d"},
        {"/a/b", "../../../c", "/c"},  {"/", "c", "/c"},         {"/", "../c", "/c"},
        {"/a", "../../../../c", "/c"}, {"/a", "", NULL},         {"/a", "..", NULL},
        {"/a", "../", NULL},           {"/a", "b/../c", NULL},   {"/a", "./b", NULL},
        {"/a", "b//c", NULL},          {"/a", "b/", NULL},       {"/a", "/b", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_autofree char *path = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (!rows[i].want) {
            CHECK_FAILS(cordon_path_from(rows[i].base, rows[i].path, &path, &err), err,
                        CORDON_ERR_CONFIG, "is not a plain relative path");
            continue;
        }
        if (CHECK_OK(cordon_path_from(rows[i].base, rows[i].path, &path, &err), err))
            CHECK_STR(path, rows[i].want);
    }
}

static void a_worktree_is_mounted_where_nothing_else_is(void)
{
    static const char *const good[] = {"/worktree", "/src/project", "/home/dev/p", "/opt/x"};
    static const char *const bad[] = {"/",    "/etc/x",   "/proc",  "/tmp",    "/tmp/x",
                                      "/usr", "/lib64",   "x",      "/a/../b", "/a//b",
                                      "/a/",  "/.cordon", "/run/x", "/opt",    "/a\x1b[2J"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_worktree_check_mount(good[i], &err), err);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_worktree_check_mount(bad[i], &err), err, CORDON_ERR_CONFIG,
                    "is no free place");
    }
}

CORDON_TEST_MAIN("worktree_link", TEST(what_stands_at_dot_git_is_told),
                 TEST(an_absolute_pointer_leads_to_the_same_path_inside),
                 TEST(a_relative_pointer_starts_where_the_worktree_is_mounted),
                 TEST(a_pointer_is_left_alone_where_the_operator_says_so),
                 TEST(pointers_that_lead_astray_are_refused_by_name),
                 TEST(a_worktree_within_the_common_directory_is_refused),
                 TEST(a_pointer_that_changed_is_refused_before_the_start),
                 TEST(the_root_is_its_own_parent),
                 TEST(a_worktree_is_mounted_where_nothing_else_is))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which folders are no worktree, what may not be in one, and that the one that was approved is
 * the one that is there at the start.
 */
#include "worktree.h"

#include <sys/mount.h>

#include "support/folder.h"
#include "support/test.h"
#include "worktree_rules.h"

#define PLENTY 100000

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

static int open_path(const char *path, const cordon_worktree_rules *rules, cordon_err *err)
{
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    return cordon_worktree_open(path, rules, soon(), &worktree, err);
}

static void a_project_folder_is_pinned(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.home = "/nonexistent/home", .max_entries = PLENTY};
    struct stat facts;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "p/.git", 0755));
    REQUIRE(test_file(&folder, "p/.git/config", "", 0644));
    REQUIRE(test_symlink(&folder, ".git/config", "p/link"));
    REQUIRE(test_symlink(&folder, "nowhere", "p/dangling"));
    REQUIRE(test_symlink(&folder, "/", "p/root"));
    REQUIRE_OK(
        cordon_worktree_open(test_path(&folder, "p/./.git/.."), &rules, soon(), &worktree, &err),
        err);
    CHECK_STR(worktree.path, test_path(&folder, "p"));
    REQUIRE(fstat(worktree.fd, &facts) == 0);
    CHECK(facts.st_dev == worktree.dev && facts.st_ino == worktree.ino);
    CHECK(fcntl(worktree.fd, F_GETFD) & FD_CLOEXEC);
    CHECK_OK(cordon_worktree_recheck(&worktree, NULL, &err), err);
}

static void missing_things_and_files_are_no_worktree(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "file", "", 0644));
    CHECK_FAILS(open_path(test_path(&folder, "none"), &rules, &err), err, CORDON_ERR_NOTFOUND,
                "/none: No such file or directory); create it or check --worktree");
    CHECK(strncmp(err.message, "worktree /tmp/", 14) == 0);
    cordon_err_clear(&err);
    CHECK_FAILS(open_path(test_path(&folder, "file"), &rules, &err), err, CORDON_ERR_CONFIG,
                "/file: is not a directory; give the folder of one project");
    cordon_err_clear(&err);
    CHECK_FAILS(open_path(test_path(&folder, "file/x"), &rules, &err), err, CORDON_ERR_CONFIG,
                "is not a directory");
    cordon_err_clear(&err);
    CHECK_FAILS(open_path("", &rules, &err), err, CORDON_ERR_CONFIG,
                "worktree: the path is empty; give the folder of one project");
}

static void paths_that_no_engine_can_take_are_refused(void)
{
    static const char *const names[] = {
        "a\nb",          "a\x1b[31m",         "a\x7f",    "a\xff", "a\xc0\xaf",
        "a\xed\xa0\x80", "a\xf4\x90\x80\x80", "a\xe2\x82"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_worktree_rules rules = {.max_entries = PLENTY};
        CHECK_FAILS(open_path(names[i], &rules, &err), err, CORDON_ERR_CONFIG,
                    "the path holds control characters or is not UTF-8; rename the folder");
    }
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80:,", 0755));
    CHECK_OK(open_path(test_path(&folder, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80:,"),
                       &rules, &err),
             err);
}

static void a_symlink_anywhere_in_the_path_is_refused(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "d", 0755));
    REQUIRE(test_subfolder(&folder, "d/p", 0755));
    REQUIRE(test_symlink(&folder, "d", "up"));
    REQUIRE(test_symlink(&folder, "d/p", "end"));
    CHECK_FAILS(open_path(test_path(&folder, "end"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/end: is a symlink, and what it points to can be swapped; give the real path");
    cordon_err_clear(&err);
    CHECK_FAILS(open_path(test_path(&folder, "up/p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/up: is a symlink, and what it points to can be swapped; give the real path");
    CHECK_CONTAINS(err.message, "/up/p: ");
}

static void system_folders_are_refused_by_name(void)
{
    static const struct {
        const char *path;
        const char *why;
    } rows[] = {
        {"/", "worktree /: is the whole file system; give the folder of one project"},
        {"/..", "worktree /: is the whole file system"},
        {"/etc", "worktree /etc: is the system folder /etc; give the folder of one project"},
        {"/etc/ssl", "worktree /etc/ssl: lies in the system folder /etc; give the folder"},
        {"/usr", "is the system folder /usr"},
        {"/usr/bin", "is the system folder /"},
        {"/usr/share/doc", "lies in the system folder /usr/share"},
        {"/var", "is the system folder /var"},
        {"/run", "is the system folder /run"},
        {"/proc", "is the system folder /proc"},
        {"/proc/self/", "worktree /proc/self: lies in the system folder /proc"},
        {"/proc/1", "lies in the system folder /proc"},
        {"/sys", "is the system folder /sys"},
        {"/dev", "is the system folder /dev"},
        {"/boot", "is the system folder /boot"},
        {"/root", "is the system folder /root"},
        {"/home", "is the system folder /home"},
        {"/tmp", "is the system folder /tmp"},
        {"/opt", "is the system folder /opt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_worktree_rules rules = {.max_entries = PLENTY};
        if (access(rows[i].path, F_OK) == 0)
            CHECK_FAILS(open_path(rows[i].path, &rules, &err), err, CORDON_ERR_REFUSED,
                        rows[i].why);
    }
}

static void the_home_and_what_is_above_it_are_refused(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    char home[PATH_MAX];
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "homes", 0755));
    REQUIRE(test_subfolder(&folder, "homes/me", 0755));
    REQUIRE(test_subfolder(&folder, "homes/me/p", 0755));
    REQUIRE(test_symlink(&folder, "homes/me", "myhome"));
    (void)snprintf(home, sizeof home, "%s/myhome", folder.path);
    rules.home = home;
    CHECK_FAILS(open_path(test_path(&folder, "homes/me"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/homes/me: is your home directory, with all its keys and settings; give the "
                "folder of one project");
    cordon_err_clear(&err);
    CHECK_FAILS(open_path(test_path(&folder, "homes"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/homes: is a folder above your home directory, with all its keys and settings");
    cordon_err_clear(&err);
    CHECK_OK(open_path(test_path(&folder, "homes/me/p"), &rules, &err), err);
    (void)snprintf(home, sizeof home, "%s/homes/me/p/not/yet", folder.path);
    CHECK_FAILS(open_path(test_path(&folder, "homes/me/p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "is a folder above your home directory");
}

static void key_stores_are_refused(void)
{
    static const struct {
        const char *folders[2];
        const char *file;
        const char *named;
    } rows[] = {
        {{"p/.ssh", NULL}, NULL, "holds .ssh, so it looks like somebody's home with keys"},
        {{"p/.gnupg", NULL}, NULL, "holds .gnupg, "},
        {{"p/.aws", NULL}, "p/.aws/credentials", "holds .aws/credentials, "},
        {{"p/.docker", NULL}, "p/.docker/config.json", "holds .docker/config.json, "},
        {{"p/.kube", NULL}, "p/.kube/config", "holds .kube/config, "},
        {{"p/.config", "p/.config/gcloud"}, NULL, "holds .config/gcloud, "},
        {{NULL, NULL}, "p/.netrc", "holds .netrc, "},
        {{"p/.codex", NULL}, "p/.codex/auth.json", "holds .codex/auth.json, "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_err err = CORDON_ERR_INIT;
        cordon_worktree_rules rules = {.max_entries = PLENTY};
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_subfolder(&folder, "p", 0755));
        for (size_t j = 0; j < 2 && rows[i].folders[j]; j++)
            REQUIRE(test_subfolder(&folder, rows[i].folders[j], 0755));
        if (rows[i].file)
            REQUIRE(test_file(&folder, rows[i].file, "", 0600));
        CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                    rows[i].named);
        CHECK_CONTAINS(err.message, "; move that away or give the folder of one project");
    }
}

static void harmless_dot_folders_are_fine(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "p/.docker", 0755));
    REQUIRE(test_subfolder(&folder, "p/.config", 0755));
    REQUIRE(test_subfolder(&folder, "p/.claude", 0755));
    REQUIRE(test_subfolder(&folder, "p/sub", 0755));
    REQUIRE(test_subfolder(&folder, "p/sub/.ssh", 0755));
    CHECK_OK(open_path(test_path(&folder, "p"), &rules, &err), err);
}

static void SL3_sockets_are_refused_wherever_they_are(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "p/a", 0755));
    REQUIRE(test_subfolder(&folder, "p/a/b", 0755));
    REQUIRE(test_socket(&folder, "p/a/b/any.sock"));
    CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/p: a/b/any.sock is a socket: what listens there could be reached from inside the "
                "container; remove it or give a folder without it");
    cordon_err_clear(&err);
    REQUIRE(rename(test_path(&folder, "p/a/b/any.sock"), test_path(&folder, "out.sock")) == 0);
    CHECK_OK(open_path(test_path(&folder, "p"), &rules, &err), err);
    REQUIRE(test_symlink(&folder, "../../out.sock", "p/a/link"));
    CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/p: a/link is a link to a socket; remove it or give a folder without it");
}

static void SL3_the_place_of_a_configured_engine_socket_is_refused(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    char socket[PATH_MAX];
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "q", 0755));
    (void)snprintf(socket, sizeof socket, "%s/p/not/up/docker.sock", folder.path);
    const char *const sockets[] = {"/nonexistent.sock", socket};
    cordon_worktree_rules rules = {.sockets = sockets, .socket_count = 2, .max_entries = PLENTY};
    CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/p: holds the engine socket ");
    CHECK_CONTAINS(err.message, "which is control over the host; give a folder without it");
    cordon_err_clear(&err);
    CHECK_OK(open_path(test_path(&folder, "q"), &rules, &err), err);
}

static void the_runtime_folder_of_the_user_is_refused(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "r", 0700));
    REQUIRE(test_subfolder(&folder, "h", 0700));
    char runtime[PATH_MAX];
    char home[PATH_MAX];
    (void)snprintf(runtime, sizeof runtime, "%s/r", folder.path);
    (void)snprintf(home, sizeof home, "%s/h", folder.path);
    cordon_worktree_rules rules = {.runtime_dir = runtime, .home = home, .max_entries = PLENTY};
    CHECK_FAILS(open_path(runtime, &rules, &err), err, CORDON_ERR_REFUSED,
                "/r: holds the engine socket ");
    cordon_err_clear(&err);
    REQUIRE(test_subfolder(&folder, "h/.docker", 0700));
    CHECK_FAILS(open_path(test_path(&folder, "h/.docker"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/.docker: holds the engine socket ");
}

static void a_tree_too_large_or_too_deep_is_refused(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = 3};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "p/d", 0755));
    REQUIRE(test_file(&folder, "p/d/a", "", 0644));
    REQUIRE(test_file(&folder, "p/b", "", 0644));
    CHECK_OK(open_path(test_path(&folder, "p"), &rules, &err), err);
    REQUIRE(test_file(&folder, "p/c", "", 0644));
    CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "/p: has more than 3 entries, too many to look through for sockets; give a smaller "
                "folder or raise limits.worktree_entries");
    cordon_err_clear(&err);
    char deep[1024] = "q";
    rules.max_entries = PLENTY;
    REQUIRE(test_subfolder(&folder, deep, 0755));
    for (size_t i = 0; i <= CORDON_WORKTREE_MAX_DEPTH; i++) {
        if (i == CORDON_WORKTREE_MAX_DEPTH)
            CHECK_OK(open_path(test_path(&folder, "q"), &rules, &err), err);
        memcpy(deep + strlen(deep), "/d", 3);
        REQUIRE(test_subfolder(&folder, deep, 0755));
    }
    CHECK_FAILS(open_path(test_path(&folder, "q"), &rules, &err), err, CORDON_ERR_REFUSED,
                "lies too deep to be looked at for sockets; give a shallower folder");
}

static void the_deadline_holds_for_the_scan(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    CHECK_FAILS(
        cordon_worktree_open(folder.path, &rules, cordon_deadline_in_ms(0, -1), &worktree, &err),
        err, CORDON_ERR_TIMEOUT, "looking through the worktree for sockets");
    CHECK_INT(worktree.fd, -1);
}

static void folders_closed_to_the_caller_are_passed_over(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "closed", 0000));
    if (getuid() == 0 && seteuid(12345) != 0)
        return;
    if (getuid() == 0) {
        REQUIRE(seteuid(0) == 0);
        REQUIRE(chmod(folder.path, 0755) == 0);
        REQUIRE(seteuid(12345) == 0);
    }
    CHECK_OK(open_path(folder.path, &rules, &err), err);
    if (getuid() == 0)
        REQUIRE(seteuid(0) == 0);
    REQUIRE(chmod(test_path(&folder, "closed"), 0700) == 0);
}

/* --- Mounts -------------------------------------------------------------------------------- */

static void TO3_mounts_below_are_refused_by_name(void)
{
    static const struct {
        const char *point; /* behind the worktree's path, as the kernel writes it */
        const char *named; /* NULL: fine */
    } rows[] = {
        {"", NULL},
        {"beside", NULL},
        {"/m", "/p/m, which a read-only phase"},
        {"/a/b", "/p/a/b"},
        {"/with\\040blank", "/p/with blank"},
        {"/with\\012line", "/p/with?line"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_err err = CORDON_ERR_INIT;
        char table[PATH_MAX * 2];
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_subfolder(&folder, "p", 0755));
        (void)snprintf(table, sizeof table,
                       "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                       "36 35 98:0 /x %s/p%s rw,noatime master:1 - ext3 /dev/root rw\n",
                       folder.path, rows[i].point);
        REQUIRE(test_file(&folder, "mountinfo", table, 0644));
        cordon_worktree_rules rules = {.max_entries = PLENTY,
                                       .mountinfo = test_path(&folder, "mountinfo")};
        if (!rows[i].named) {
            CHECK_OK(open_path(test_path(&folder, "p"), &rules, &err), err);
            continue;
        }
        CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                    rows[i].named);
        CHECK_CONTAINS(err.message, "another file system is mounted below it at /tmp/");
        CHECK_CONTAINS(err.message, "; unmount it or give a folder without it");
    }
}

static void a_mount_table_that_cannot_be_read_refuses(void)
{
    static const struct {
        const char *table;
        const char *why;
    } rows[] = {{"", "the mount table is empty"},
                {"22 1 8:1 /\n", "the mount table has a line that is none: \"22 1 8:1 /\""},
                {"22 1 8:1 / relative rw\n", "the mount table has a line that is none"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_file(&folder, "mountinfo", rows[i].table, 0644));
        CHECK_FAILS(cordon_worktree_check_mounts("/p", test_path(&folder, "mountinfo"), &err), err,
                    CORDON_ERR_SYSTEM, rows[i].why);
    }
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_worktree_check_mounts("/p", "/nonexistent", &err), err, CORDON_ERR_NOTFOUND,
                "the mount table /nonexistent");
}

/* With the kernel's own table, where mounting is possible at all. */
static void TO3_a_real_mount_below_is_seen(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    cordon_err err = CORDON_ERR_INIT;
    cordon_worktree_rules rules = {.max_entries = PLENTY};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "p", 0755));
    REQUIRE(test_subfolder(&folder, "p/m", 0755));
    REQUIRE_OK(cordon_worktree_open(test_path(&folder, "p"), &rules, soon(), &worktree, &err), err);
    if (mount("cordon-test", test_path(&folder, "p/m"), "tmpfs", 0, "size=64k") != 0)
        return;
    CHECK_FAILS(open_path(test_path(&folder, "p"), &rules, &err), err, CORDON_ERR_REFUSED,
                "another file system is mounted below it at ");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_worktree_recheck(&worktree, NULL, &err), err, CORDON_ERR_REFUSED,
                "another file system is mounted below it at ");
    REQUIRE(umount2(test_path(&folder, "p/m"), MNT_DETACH) == 0);
}

/* --- Right before the start ---------------------------------------------------------------- */

typedef bool disturb_fn(test_folder *folder);

static bool disturb_delete(test_folder *folder)
{
    return rmdir(test_path(folder, "d/p")) == 0;
}

static bool disturb_recreate(test_folder *folder)
{
    return rename(test_path(folder, "d/p"), test_path(folder, "d/old")) == 0 &&
           test_subfolder(folder, "d/p", 0755);
}

static bool disturb_link(test_folder *folder)
{
    return rename(test_path(folder, "d/p"), test_path(folder, "d/old")) == 0 &&
           test_symlink(folder, "old", "d/p");
}

static bool disturb_parent_link(test_folder *folder)
{
    return rename(test_path(folder, "d"), test_path(folder, "old")) == 0 &&
           test_symlink(folder, "old", "d");
}

static bool disturb_file(test_folder *folder)
{
    return rmdir(test_path(folder, "d/p")) == 0 && test_file(folder, "d/p", "", 0644);
}

static void TO2_a_worktree_that_changed_is_refused_before_the_start(void)
{
    static const struct {
        disturb_fn *disturb;
        const char *why;
    } rows[] = {
        {disturb_delete, "/d/p: is gone since it was approved; nothing was started"},
        {disturb_recreate, "/d/p: was replaced by another folder since it was approved"},
        {disturb_link, "/d/p: it or a folder above was replaced by a symlink since it was"},
        {disturb_parent_link, "/d/p: it or a folder above was replaced by a symlink since it"},
        {disturb_file, "/d/p: is not a directory any more since it was approved"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
        cordon_err err = CORDON_ERR_INIT;
        cordon_worktree_rules rules = {.max_entries = PLENTY};
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_subfolder(&folder, "d", 0755));
        REQUIRE(test_subfolder(&folder, "d/p", 0755));
        REQUIRE_OK(cordon_worktree_open(test_path(&folder, "d/p"), &rules, soon(), &worktree, &err),
                   err);
        REQUIRE(rows[i].disturb(&folder));
        CHECK_FAILS(cordon_worktree_recheck(&worktree, NULL, &err), err, CORDON_ERR_REFUSED,
                    rows[i].why);
        CHECK_CONTAINS(err.message, "; leave the folder in place during a run");
    }
}

CORDON_TEST_MAIN(
    "worktree", TEST(a_project_folder_is_pinned), TEST(missing_things_and_files_are_no_worktree),
    TEST(paths_that_no_engine_can_take_are_refused),
    TEST(a_symlink_anywhere_in_the_path_is_refused), TEST(system_folders_are_refused_by_name),
    TEST(the_home_and_what_is_above_it_are_refused), TEST(key_stores_are_refused),
    TEST(harmless_dot_folders_are_fine), TEST(SL3_sockets_are_refused_wherever_they_are),
    TEST(SL3_the_place_of_a_configured_engine_socket_is_refused),
    TEST(the_runtime_folder_of_the_user_is_refused), TEST(a_tree_too_large_or_too_deep_is_refused),
    TEST(the_deadline_holds_for_the_scan), TEST(folders_closed_to_the_caller_are_passed_over),
    TEST(TO3_mounts_below_are_refused_by_name), TEST(a_mount_table_that_cannot_be_read_refuses),
    TEST(TO3_a_real_mount_below_is_seen),
    TEST(TO2_a_worktree_that_changed_is_refused_before_the_start))

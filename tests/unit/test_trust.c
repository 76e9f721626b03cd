/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have written a file that is believed, and that the path that was checked is the one
 * that is read.
 */
#include "trust.h"

#include "support/folder.h"
#include "support/test.h"

static int read_file(test_folder *folder, const char *name, char **ret_text, cordon_err *err)
{
    cordon_trust trust = {.uid = getuid()};
    size_t length = 0;
    return cordon_trust_read(&trust, test_path(folder, name), NULL, ret_text, &length, err);
}

static void a_private_file_is_read_whole(void)
{
    test_auto_folder folder = {0};
    cordon_autofree char *text = NULL;
    cordon_autofree char *path = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    size_t length = 0;
    char winding[PATH_MAX];
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "a.conf", "hello", 0640));
    (void)snprintf(winding, sizeof winding, "%s//b/.././a.conf", folder.path);
    REQUIRE_OK(cordon_trust_read(&trust, winding, &path, &text, &length, &err), err);
    CHECK_STR(text, "hello");
    CHECK_INT(length, 5);
    CHECK_STR(path, test_path(&folder, "a.conf"));
}

static void what_others_may_write_is_refused(void)
{
    static const struct {
        mode_t mode;
        const char *why;
    } rows[] = {{0620, "may be written by its group, so it is not trusted"},
                {0602, "may be written by everybody, so it is not trusted"},
                {0666, "may be written by everybody, so it is not trusted"},
                {01602, "may be written by everybody, so it is not trusted"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        char *text = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_file(&folder, "a.conf", "x", rows[i].mode));
        CHECK_FAILS(read_file(&folder, "a.conf", &text, &err), err, CORDON_ERR_REFUSED,
                    rows[i].why);
        CHECK_CONTAINS(err.message, test_path(&folder, "a.conf"));
        CHECK_CONTAINS(err.message, "chown it to yourself or root and chmod go-w it");
    }
}

static void a_folder_that_others_may_write_spoils_what_is_in_it(void)
{
    static const struct {
        mode_t mode;
        const char *why; /* NULL: fine */
    } rows[] = {{0720, "/d may be written by its group"},
                {0702, "/d may be written by everybody"},
                {01777, NULL},
                {0755, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_autofree char *text = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_subfolder(&folder, "d", rows[i].mode));
        REQUIRE(test_subfolder(&folder, "d/e", 0700));
        REQUIRE(test_file(&folder, "d/e/a.conf", "x", 0600));
        if (rows[i].why)
            CHECK_FAILS(read_file(&folder, "d/e/a.conf", &text, &err), err, CORDON_ERR_REFUSED,
                        rows[i].why);
        else
            CHECK_OK(read_file(&folder, "d/e/a.conf", &text, &err), err);
    }
}

static void a_file_of_another_user_is_refused(void)
{
    test_auto_folder folder = {0};
    char *text = NULL;
    size_t length = 0;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust stranger = {.uid = getuid() + 1};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "a.conf", "x", 0600));
    if (getuid() == 0) {
        /* root's files are trusted by everybody; a stranger's are not even by root */
        REQUIRE(chown(test_path(&folder, "a.conf"), 12345, 0) == 0);
        CHECK_FAILS(read_file(&folder, "a.conf", &text, &err), err, CORDON_ERR_REFUSED,
                    "a.conf: belongs to another user, so it is not trusted");
        return;
    }
    CHECK_FAILS(
        cordon_trust_read(&stranger, test_path(&folder, "a.conf"), NULL, &text, &length, &err), err,
        CORDON_ERR_REFUSED, "belongs to another user");
}

static void no_symlink_is_followed(void)
{
    test_auto_folder folder = {0};
    char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "d", 0700));
    REQUIRE(test_file(&folder, "d/a.conf", "x", 0600));
    REQUIRE(test_symlink(&folder, "d", "link"));
    REQUIRE(test_symlink(&folder, "d/a.conf", "b.conf"));
    CHECK_FAILS(read_file(&folder, "b.conf", &text, &err), err, CORDON_ERR_REFUSED,
                "/b.conf: is a symlink, and what it points to can be swapped; give the real path");
    cordon_err_clear(&err);
    CHECK_FAILS(read_file(&folder, "link/a.conf", &text, &err), err, CORDON_ERR_REFUSED,
                "/link: is a symlink");
}

static void what_is_no_regular_file_is_refused(void)
{
    test_auto_folder folder = {0};
    char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "d", 0700));
    REQUIRE(mkfifo(test_path(&folder, "fifo"), 0600) == 0);
    CHECK_FAILS(read_file(&folder, "d", &text, &err), err, CORDON_ERR_REFUSED,
                "/d: is not a regular file");
    cordon_err_clear(&err);
    CHECK_FAILS(read_file(&folder, "fifo", &text, &err), err, CORDON_ERR_REFUSED,
                "/fifo: is not a regular file");
    cordon_err_clear(&err);
    CHECK_FAILS(read_file(&folder, "", &text, &err), err, CORDON_ERR_REFUSED,
                "is not a regular file");
}

static void a_missing_file_is_missing_whoever_may_write_its_folder(void)
{
    test_auto_folder folder = {0};
    char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "d", 0777));
    CHECK_FAILS(read_file(&folder, "d/none.conf", &text, &err), err, CORDON_ERR_NOTFOUND,
                "/d/none.conf");
    cordon_err_clear(&err);
    CHECK_FAILS(read_file(&folder, "none/none.conf", &text, &err), err, CORDON_ERR_NOTFOUND,
                "/none");
    cordon_err_clear(&err);
    REQUIRE(test_file(&folder, "file", "", 0600));
    CHECK_FAILS(read_file(&folder, "file/a.conf", &text, &err), err, CORDON_ERR_SYSTEM,
                "/file: Not a directory");
}

static void a_file_of_one_mebibyte_is_the_largest(void)
{
    for (size_t extra = 0; extra < 2; extra++) {
        test_auto_folder folder = {0};
        cordon_autofree char *text = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_file(&folder, "a.conf", "", 0600));
        REQUIRE(truncate(test_path(&folder, "a.conf"), (1 << 20) + (off_t)extra) == 0);
        if (extra == 0)
            CHECK_OK(read_file(&folder, "a.conf", &text, &err), err);
        else
            CHECK_FAILS(read_file(&folder, "a.conf", &text, &err), err, CORDON_ERR_CONFIG,
                        "a.conf: is larger than 1 MiB");
    }
}

static void the_worktree_is_no_place_for_it(void)
{
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    char worktree[PATH_MAX];
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "wt", 0700));
    REQUIRE(test_subfolder(&folder, "wt/d", 0700));
    REQUIRE(test_subfolder(&folder, "beside", 0700));
    REQUIRE(test_file(&folder, "wt/d/a.conf", "", 0600));
    REQUIRE(test_file(&folder, "beside/a.conf", "", 0600));
    REQUIRE(test_symlink(&folder, "wt", "alias"));
    (void)snprintf(worktree, sizeof worktree, "%s/alias/", folder.path);
    cordon_trust trust = {.uid = getuid(), .worktree = worktree};
    CHECK_FAILS(cordon_trust_check(&trust, test_path(&folder, "wt/d/a.conf"), &err), err,
                CORDON_ERR_REFUSED, "/wt/d/a.conf: lies in the worktree");
    cordon_err_clear(&err);
    CHECK_OK(cordon_trust_check(&trust, test_path(&folder, "beside/a.conf"), &err), err);
    trust.worktree = test_path(&folder, "missing");
    CHECK_OK(cordon_trust_check(&trust, test_path(&folder, "beside/a.conf"), &err), err);
}

static void a_folder_is_listed_by_suffix_in_order(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_text_list) names = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "b.conf", "", 0600));
    REQUIRE(test_file(&folder, "a.conf", "", 0600));
    REQUIRE(test_file(&folder, ".conf", "", 0600));
    REQUIRE(test_file(&folder, ".x.conf", "", 0600));
    REQUIRE(test_file(&folder, "c.txt", "", 0600));
    REQUIRE(test_subfolder(&folder, "d.conf", 0700));
    REQUIRE_OK(cordon_trust_list(&trust, folder.path, ".conf", &names, &err), err);
    REQUIRE_INT(names.count, 2);
    CHECK_STR(names.items[0], "a");
    CHECK_STR(names.items[1], "b");
    CHECK_FAILS(cordon_trust_list(&trust, test_path(&folder, "none"), ".conf", &names, &err), err,
                CORDON_ERR_NOTFOUND, "/none");
}

static void paths_are_made_absolute_by_text(void)
{
    static const struct {
        const char *path;
        const char *want;
    } rows[] = {{"/", "/"},      {"//", "/"},       {"/a/", "/a"},     {"/a//b/./c", "/a/b/c"},
                {"/../..", "/"}, {"/a/../b", "/b"}, {"/a/b/..", "/a"}, {"/a/...", "/a/..."},
                {"/.a/", "/.a"}, {"/a/..", "/"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_autofree char *path = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_OK(cordon_path_absolute(rows[i].path, &path, &err), err))
            CHECK_STR(path, rows[i].want);
    }
    cordon_autofree char *here = getcwd(NULL, 0);
    cordon_autofree char *path = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_path_absolute("x/..", &path, &err), err);
    CHECK_STR(path, here);
    char *none = NULL;
    CHECK_FAILS(cordon_path_absolute("", &none, &err), err, CORDON_ERR_CONFIG, "a path is empty");
    char *text = calloc(1, PATH_MAX + 1);
    REQUIRE(text != NULL);
    memset(text, 'a', PATH_MAX);
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_path_absolute(text, &none, &err), err, CORDON_ERR_CONFIG,
                "the path is longer than 4095 bytes");
    free(text);
}

CORDON_TEST_MAIN("trust", TEST(a_private_file_is_read_whole),
                 TEST(what_others_may_write_is_refused),
                 TEST(a_folder_that_others_may_write_spoils_what_is_in_it),
                 TEST(a_file_of_another_user_is_refused), TEST(no_symlink_is_followed),
                 TEST(what_is_no_regular_file_is_refused),
                 TEST(a_missing_file_is_missing_whoever_may_write_its_folder),
                 TEST(a_file_of_one_mebibyte_is_the_largest), TEST(the_worktree_is_no_place_for_it),
                 TEST(a_folder_is_listed_by_suffix_in_order), TEST(paths_are_made_absolute_by_text))

/* SPDX-License-Identifier: Apache-2.0 */
/* Where --receipt may point, and that a receipt is there whole or not at all. */
#include "cli/receipt_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A folder of its own for each test, entered; removed by the next line's cleanup. */
typedef struct sandbox {
    char path[64];
} sandbox;

static bool sandbox_enter(sandbox *box)
{
    (void)snprintf(box->path, sizeof box->path, "/tmp/cordon-receipt-XXXXXX");
    return mkdtemp(box->path) && chdir(box->path) == 0;
}

static void sandbox_leave(const sandbox *box)
{
    static const char *const names[] = {"r.json", "target", "link", "sub/r.json", "sub"};
    for (size_t i = 0; i < COUNT(names); i++)
        (void)remove(names[i]);
    (void)!chdir("/");
    (void)rmdir(box->path);
}

static bool read_file(const char *path, char *ret_text, size_t size)
{
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, ret_text, size - 1) : -1;
    ret_text[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

static bool write_file(const char *path, const char *text)
{
    cordon_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static void a_receipt_is_private_whole_and_replaces_the_old_one(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_auto_ptr(cordon_cli_receipt_file) file = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char text[64];
    struct stat there;
    REQUIRE(sandbox_enter(&box));
    REQUIRE(write_file("r.json", "an older and longer receipt, world readable"));
    REQUIRE_OK(cordon_cli_receipt_file_open("r.json", &file, &err), err);
    REQUIRE_OK(cordon_cli_receipt_file_write(file, "{\"receipt\":1}", &err), err);
    REQUIRE(read_file("r.json", text, sizeof text));
    CHECK_STR(text, "{\"receipt\":1}\n");
    REQUIRE(stat("r.json", &there) == 0);
    CHECK_INT(there.st_mode & 07777, 0600);
}

static void opening_creates_nothing(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_auto_ptr(cordon_cli_receipt_file) file = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(sandbox_enter(&box));
    REQUIRE_OK(cordon_cli_receipt_file_open("r.json", &file, &err), err);
    CHECK(access("r.json", F_OK) != 0);
    CHECK(rmdir(box.path) == 0);
}

static void a_folder_that_is_swapped_during_the_run_is_not_followed(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_auto_ptr(cordon_cli_receipt_file) file = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(sandbox_enter(&box));
    REQUIRE(mkdir("sub", 0700) == 0);
    REQUIRE_OK(cordon_cli_receipt_file_open("sub/r.json", &file, &err), err);
    REQUIRE(rename("sub", "target") == 0);
    REQUIRE(symlink("/", "sub") == 0);
    REQUIRE_OK(cordon_cli_receipt_file_write(file, "{}", &err), err);
    CHECK(access("target/r.json", F_OK) == 0);
    CHECK(remove("target/r.json") == 0);
}

static void a_link_that_appears_during_the_run_is_refused_and_nothing_is_left(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_auto_ptr(cordon_cli_receipt_file) file = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char text[64];
    REQUIRE(sandbox_enter(&box));
    REQUIRE_OK(cordon_cli_receipt_file_open("r.json", &file, &err), err);
    REQUIRE(write_file("target", "mine"));
    REQUIRE(symlink("target", "r.json") == 0);
    CHECK_FAILS(cordon_cli_receipt_file_write(file, "{}", &err), err, CORDON_ERR_CONFIG,
                "is no plain file");
    REQUIRE(read_file("target", text, sizeof text));
    CHECK_STR(text, "mine");
    CHECK(remove("r.json") == 0 && remove("target") == 0 && rmdir(box.path) == 0);
}

static const struct {
    const char *path;
    const char *message;
} bad[] = {
    {"missing/r.json", "folder missing/ cannot be opened"},
    {"target/r.json", "folder target/ cannot be opened"},
    {"sub/", "names no file"},
    {"sub", "is no plain file"},
    {"link", "is no plain file"},
    {"/dev/null", "is no plain file"},
    {"/proc/self/r.json", "cannot be written"},
};

static void what_cannot_hold_a_receipt_is_told_before_the_run(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box));
    REQUIRE(write_file("target", "") && mkdir("sub", 0700) == 0);
    REQUIRE(symlink("target", "link") == 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_auto_ptr(cordon_cli_receipt_file) file = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_cli_receipt_file_open(bad[i].path, &file, &err), err, CORDON_ERR_CONFIG,
                    bad[i].message);
    }
}

CORDON_TEST_MAIN("cli_receipt_file", TEST(a_receipt_is_private_whole_and_replaces_the_old_one),
                 TEST(opening_creates_nothing),
                 TEST(a_folder_that_is_swapped_during_the_run_is_not_followed),
                 TEST(a_link_that_appears_during_the_run_is_refused_and_nothing_is_left),
                 TEST(what_cannot_hold_a_receipt_is_told_before_the_run))

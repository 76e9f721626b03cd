/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipes of images: found only where nobody else can have changed them, executed with exact
 * words and a clean environment, and ended with all that they started.
 */
#include "image_recipe.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

#define LIST                                                                                       \
    "# CLI, version\nclaude 2.1.197 amd64 p d\nclaude 2.1.332 amd64 p d\nclaude 3.0.0 arm64 p d\n" \
    "codex 0.171.0 amd64 p d\n"

static bool write_recipes(test_folder *folder, const char *script)
{
    return test_folder_make(folder) && test_file(folder, "build", script, 0700) &&
           test_file(folder, "cli.list", LIST, 0600) &&
           test_file(folder, "codex-models", "x", 0700);
}

static int find(test_folder *folder, const char *cli, const char *version, cordon_recipe *ret,
                cordon_err *err)
{
    cordon_trust trust = {.uid = getuid()};
    *err = (cordon_err)CORDON_ERR_INIT;
    return cordon_recipe_find(&trust, folder->path, cli, version, "amd64", ret, err);
}

static void the_last_version_is_the_one_that_is_made_unless_another_is_named(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_recipe) newest = {0};
    cordon_auto(cordon_recipe) named = {0};
    cordon_err err;
    REQUIRE(write_recipes(&folder, "#!/bin/sh\n"));
    REQUIRE_OK(find(&folder, "claude", NULL, &newest, &err), err);
    CHECK_STR(newest.version, "2.1.332");
    REQUIRE_OK(find(&folder, "claude", "2.1.197", &named, &err), err);
    CHECK_STR(named.version, "2.1.197");
    CHECK_STR(named.digest, newest.digest);
    CHECK_INT(strlen(named.digest), 71);
}

static void another_recipe_has_another_digest(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_recipe) before = {0};
    cordon_auto(cordon_recipe) after = {0};
    cordon_err err;
    REQUIRE(write_recipes(&folder, "#!/bin/sh\n"));
    REQUIRE_OK(find(&folder, "codex", NULL, &before, &err), err);
    REQUIRE(test_file(&folder, "codex-models", "y", 0700));
    REQUIRE_OK(find(&folder, "codex", NULL, &after, &err), err);
    CHECK(strcmp(before.digest, after.digest) != 0);
}

static void what_has_no_recipe_is_said_with_what_has(void)
{
    test_auto_folder folder = {0};
    cordon_recipe recipe = {0};
    cordon_err err;
    REQUIRE(write_recipes(&folder, "#!/bin/sh\n"));
    CHECK_FAILS(find(&folder, "claude", "3.0.0", &recipe, &err), err, CORDON_ERR_CONFIG,
                "it has: 2.1.197, 2.1.332");
    CHECK_FAILS(find(&folder, "bash", NULL, &recipe, &err), err, CORDON_ERR_CONFIG, "it has: none");
    CHECK_FAILS(find(&folder, "claude", "2.1", &recipe, &err), err, CORDON_ERR_CONFIG,
                "no recipe in");
    REQUIRE(unlink(test_path(&folder, "cli.list")) == 0);
    CHECK_FAILS(find(&folder, "claude", NULL, &recipe, &err), err, CORDON_ERR_NOTFOUND, "cli.list");
}

static void recipes_that_others_may_write_are_refused(void)
{
    static const char *const files[] = {"build", "cli.list", "codex-models"};
    for (size_t i = 0; i < 3; i++) {
        test_auto_folder folder = {0};
        cordon_recipe recipe = {0};
        cordon_err err;
        REQUIRE(write_recipes(&folder, "#!/bin/sh\n"));
        REQUIRE(chmod(test_path(&folder, files[i]), 0722) == 0);
        CHECK_FAILS(find(&folder, "claude", NULL, &recipe, &err), err, CORDON_ERR_REFUSED,
                    files[i]);
        REQUIRE(chmod(test_path(&folder, files[i]), 0700) == 0 && chmod(folder.path, 0777) == 0);
        CHECK_FAILS(find(&folder, "claude", NULL, &recipe, &err), err, CORDON_ERR_REFUSED,
                    "may be written by everybody");
    }
}

static int run(test_folder *folder, int64_t budget_ms, const char *file, cordon_err *err)
{
    static const char *const given[] = {"npm_config_registry=x", NULL};
    cordon_auto(cordon_recipe) recipe = {0};
    cordon_host host = {.home = "/home/of/me", .path = "/usr/bin:/bin"};
    cordon_image_build_options options = {.cli = "claude", .environment = given, .log_fd = -1};
    if (find(folder, "claude", NULL, &recipe, err) != 0)
        return -1;
    return cordon_recipe_run(&recipe, &host, &options, file, cordon_deadline_in_ms(budget_ms, -1),
                             err);
}

/* The content, cut to size. */
static const char *content(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void it_gets_exact_words_a_clean_environment_and_no_descriptor(void)
{
    static const char script[] =
        "#!/bin/sh\n{ echo \"$# $1 $2\"; env -u PWD -u _ -u SHLVL -u OLDPWD | "
        "sort; ls /proc/$$/fd | tr '\\n' ' '; } >\"$3\"\n";
    test_auto_folder folder = {0};
    cordon_err err;
    char file[128];
    char text[512];
    REQUIRE(write_recipes(&folder, script));
    (void)snprintf(file, sizeof file, "%s", test_path(&folder, "out"));
    int stray =
        fcntl(STDERR_FILENO, F_DUPFD, 77); /* not CLOEXEC, as somebody else's library may have it */
    int rc = run(&folder, 60000, file, &err);
    (void)close(stray);
    REQUIRE_OK(rc, err);
    const char *said = content(file, text, sizeof text);
    static const char wanted[] = "3 claude 2.1.332\nHOME=/home/of/me\nLC_ALL=C.UTF-8\n"
                                 "PATH=/usr/bin:/bin\nnpm_config_registry=x\n";
    CHECK(strncmp(said, wanted, strlen(wanted)) == 0);
    CHECK_INT(stray, 77);
    CHECK(strstr(said, "77") == NULL);
}

static void one_that_fails_or_cannot_be_executed_is_an_error(void)
{
    static const struct {
        const char *script;
        const char *says;
    } rows[] = {{"#!/bin/sh\nexit 3\n", "status 3"},
                {"#!/nonexistent/interpreter\n", "status 127"},
                {"#!/bin/sh\nkill -KILL $$\n", "status 137"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder = {0};
        cordon_err err;
        REQUIRE(write_recipes(&folder, rows[i].script));
        CHECK_FAILS(run(&folder, 60000, "/nonexistent", &err), err, CORDON_ERR_ENGINE,
                    rows[i].says);
    }
}

static void one_that_takes_too_long_is_ended_with_what_it_started(void)
{
    static const char script[] =
        "#!/bin/sh\ntrap '' TERM\nsleep 600 & echo $! >\"$3\"\nwait\nsleep 600\n";
    test_auto_folder folder = {0};
    cordon_err err;
    char file[128];
    char text[32];
    REQUIRE(write_recipes(&folder, script));
    (void)snprintf(file, sizeof file, "%s", test_path(&folder, "pid"));
    CHECK_FAILS(run(&folder, 1000, file, &err), err, CORDON_ERR_TIMEOUT, "the root of the image");
    (void)content(file, text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    REQUIRE(text[0] != '\0');
    /* reaped by init, or a zombie until it is */
    char state[64];
    (void)snprintf(state, sizeof state, "/proc/%s/cmdline", text);
    bool gone = false;
    for (int i = 0; i < 200 && !gone; i++) {
        gone = content(state, text, sizeof text)[0] == '\0';
        (void)usleep(10000);
    }
    CHECK(gone);
}

CORDON_TEST_MAIN("image_recipe",
                 TEST(the_last_version_is_the_one_that_is_made_unless_another_is_named),
                 TEST(another_recipe_has_another_digest),
                 TEST(what_has_no_recipe_is_said_with_what_has),
                 TEST(recipes_that_others_may_write_are_refused),
                 TEST(it_gets_exact_words_a_clean_environment_and_no_descriptor),
                 TEST(one_that_fails_or_cannot_be_executed_is_an_error),
                 TEST(one_that_takes_too_long_is_ended_with_what_it_started))

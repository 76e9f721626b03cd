/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret reaches the command and nobody else: while the command runs it is looked for wherever
 * the engine, the kernel or Cordon's own files could show it.
 */
#include "real.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOKEN "sk-cordon-test-7f3a9c21"
#define KEY   "key-cordon-test-5be0d814"
/* No secret, but what the engine need not know either: the command's arguments. */
#define ARGUMENT "argument-cordon-test-91c4e6"

#define TEXT_MAX (16U << 20)

/* --- Looking for it -----------------------------------------------------------------------------
 */

static bool holds_secret(const cordon_buf *text)
{
    return text->length > 0 && (memmem(text->data, text->length, TOKEN, strlen(TOKEN)) != NULL ||
                                memmem(text->data, text->length, KEY, strlen(KEY)) != NULL);
}

/* Of at least so many bytes: an answer that is empty would show nothing. */
static void not_in_answer(const char *path, size_t least)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(TEXT_MAX);
    int status = 0;
    if (!rest_text(path, &status, &text))
        return;
    TEST_RECORDF(status == 200 && text.length >= least, "%s: status %d, %zu bytes", path, status,
                 text.length);
    TEST_RECORDF(!holds_secret(&text) &&
                     !memmem(text.data, text.length, ARGUMENT, strlen(ARGUMENT)),
                 "%s shows a secret, or an argument", path);
}

static void not_in_object(const char *head, const char *id, const char *tail, size_t least)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s%s", head, id, tail);
    not_in_answer(path, least);
}

/* Configuration and history of every image that is there. */
static void not_in_any_image(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    int status = 0;
    size_t count = 0;
    not_in_answer("/images/json?all=true", 100);
    if (!rest_call("GET", "/images/json", NULL, &status, &doc))
        return;
    for (cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc));
         cordon_json_next(&it) && count < 16; count++) {
        const char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_json_need_string(it.value, "Id", &id, &err), err);
        not_in_object("/images/", id, "/json", 100);
        not_in_object("/images/", id, "/history", 2);
    }
    CHECK(count > 0);
}

static void not_in_the_engines_answers(const real_ids *ids)
{
    const char *json = real_is_docker() ? "" : "/json";
    char path[256];
    not_in_object("/containers/", ids->step, "/json", 1000);
    not_in_object("/containers/", ids->proxy, "/json", 1000);
    not_in_object("/networks/", ids->vendor_network, json, 100);
    not_in_object("/networks/", ids->egress_network, json, 100);
    not_in_answer("/containers/json?all=true", 100);
    /* libpod tells nothing at all when it is asked for a stop at the present time. */
    (void)snprintf(path, sizeof path,
                   real_is_docker() ? "/events?since=1&until=%lld"
                                    : "/events?stream=false&since=%lld",
                   (long long)time(NULL) - (real_is_docker() ? 0 : 60));
    not_in_answer(path, 500);
    not_in_any_image();
}

/* One file of at most TEXT_MAX bytes; a process may have ended, so what is not there shows none. */
static bool file_holds_secret(const char *path)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(TEXT_MAX);
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *space = NULL;
    ssize_t got = 1;
    while (fd >= 0 && got > 0 && cordon_buf_reserve(&text, 65536, &space, NULL) == 0) {
        got = read(fd, space, 65536);
        if (got > 0)
            cordon_buf_commit(&text, (size_t)got);
    }
    return holds_secret(&text);
}

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

static void not_in_any_command_line(void)
{
    cordon_cleanup(close_folder) DIR *folder = opendir("/proc");
    size_t looked_at = 0;
    REQUIRE(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300];
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
            continue;
        (void)snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        TEST_RECORDF(!file_holds_secret(path), "%s shows a secret", path);
        looked_at++;
    }
    CHECK(looked_at > 3);
}

static void not_in_the_folder(const char *path)
{
    cordon_cleanup(close_folder) DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char below[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strncmp(entry->d_name, "secret-", 7) == 0)
            continue;
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            not_in_the_folder(below);
        else if (entry->d_type == DT_REG)
            TEST_RECORDF(!file_holds_secret(below), "%s shows a secret", below);
    }
}

/* --- Stories ------------------------------------------------------------------------------------
 */

/* What the command sees of both: it says their lengths and prints them. */
#define SEE_BOTH                                                                                   \
    "echo ${#API_TOKEN}; key=$(cat <&$KEY_FILE_DESCRIPTOR); echo ${#key}; cat "                    \
    "<&$KEY_FILE_DESCRIPTOR; echo \"$API_TOKEN\"; echo \"<$key>\" >&2; "

static void SL1_SL2_a_secret_is_nowhere_but_in_the_command(void)
{
    char script[512];
    char token[192];
    char key[192];
    cordon_auto(running) r = {0};
    cordon_auto(outcome) o = {0};
    real_ids ids = {0};
    REQUIRE(real_file("secret-token", TOKEN "\n") && real_file("secret-key", KEY));
    (void)snprintf(token, sizeof token, "API_TOKEN=%s", real_path("secret-token"));
    (void)snprintf(key, sizeof key, "KEY_FILE_DESCRIPTOR=%s", real_path("secret-key"));
    (void)snprintf(script, sizeof script, SEE_BOTH "echo ${#1}; echo ready; sleep %s & wait",
                   real_marker());
    if (!cordon_start(&(call){.argv = SHELL(script, "name", ARGUMENT),
                              .options = WORDS("--debug", "--secret", token, "--secret", key)},
                      &r))
        return;
    if (CHECK(child_hear(&r.process, "ready\n", REAL_PATIENCE_MS)) &&
        CHECK(real_find_run(NULL, 0, &ids))) {
        not_in_the_engines_answers(&ids);
        not_in_any_command_line();
        not_in_the_folder(real.folder);
    }
    (void)kill(r.process.pid, SIGTERM);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 143);
    CHECK_STR(outcome_out(&o), "23\n24\n********\n27\nready\n");
    CHECK_CONTAINS(outcome_err(&o), "<********>");
    CHECK(!holds_secret(&o.process.err));
    not_in_the_folder(real.folder);
    EXPECT_NOTHING_LEFT(&o);
}

static void output_is_left_alone_where_masking_is_off(void)
{
    char token[192];
    cordon_auto(outcome) o = {0};
    REQUIRE(real_file("secret-token", TOKEN "\n"));
    (void)snprintf(token, sizeof token, "API_TOKEN=%s", real_path("secret-token"));
    if (!cordon_call(&(call){.argv = SHELL("printf %s $API_TOKEN"),
                             .options = WORDS("--secret", token),
                             .settings = "mask_secrets = false;"},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), TOKEN);
}

static void a_secret_in_the_worktree_is_refused_before_anything_is_made(void)
{
    const char *tree = real_worktree("secretive");
    char token[192];
    cordon_auto(outcome) o = {0};
    REQUIRE(real_file("secretive/token", TOKEN));
    (void)snprintf(token, sizeof token, "API_TOKEN=%s", real_path("secretive/token"));
    if (!cordon_call(
            &(call){.argv = WORDS("true"), .options = WORDS("--worktree", tree, "--secret", token)},
            &o))
        return;
    EXPECT_KIND(&o, "error", 125);
    EXPECT_LINE(&o, "--secret API_TOKEN", "lies in the worktree");
    CHECK(!holds_secret(&o.process.err));
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("secret", TEST(SL1_SL2_a_secret_is_nowhere_but_in_the_command),
          TEST(output_is_left_alone_where_masking_is_off),
          TEST(a_secret_in_the_worktree_is_refused_before_anything_is_made))

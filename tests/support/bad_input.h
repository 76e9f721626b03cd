/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built command in a folder of its own, and rows of what it cannot use with what must come of
 * them: exit status, one line, and the kind of the receipt. CORDON_PROGRAM is the command.
 */
#ifndef CORDON_TESTS_SUPPORT_BAD_INPUT_H
#define CORDON_TESTS_SUPPORT_BAD_INPUT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/jsonr.h"
#include "support/test.h"

#define WORDS_MAX    14
#define TEXT_MAX     65536
#define BOX_SIZE     64
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A folder of its own: home, working folder and state of the command. */
typedef struct sandbox {
    char path[BOX_SIZE];
} sandbox;

static inline bool sandbox_enter(sandbox *box)
{
    (void)snprintf(box->path, sizeof box->path, "/tmp/cordon-bad-input-XXXXXX");
    if (!mkdtemp(box->path) || chdir(box->path) != 0)
        return false;
    return mkdir("tree", 0755) == 0 && symlink("tree", "link") == 0;
}

static inline void sandbox_leave(const sandbox *box)
{
    static const char *const names[] = {"r.json", "a.conf", "file", "link", "tree"};
    for (size_t i = 0; i < COUNT(names); i++)
        (void)remove(names[i]);
    (void)!chdir("/");
    (void)rmdir(box->path);
}

static inline bool write_file(const char *path, const char *text, mode_t mode)
{
    cordon_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
           fchmod(fd, mode) == 0;
}

/* What a command said and how it ended; status is -1 when it did not exit by itself. */
typedef struct spoken {
    cordon_buf out;
    cordon_buf err;
    int status;
} spoken;

static inline void spoken_clear(spoken *said)
{
    cordon_buf_clear(&said->out);
    cordon_buf_clear(&said->err);
}

/* Reads both pipes to their end. */
static inline void listen_to(int out_fd, int err_fd, spoken *said)
{
    struct pollfd fds[] = {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
    cordon_buf *const texts[] = {&said->out, &said->err};
    while ((fds[0].fd >= 0 || fds[1].fd >= 0) && poll(fds, 2, -1) > 0) {
        for (size_t i = 0; i < 2; i++) {
            char piece[4096];
            ssize_t got = fds[i].revents ? read(fds[i].fd, piece, sizeof piece) : -1;
            if (got > 0)
                (void)!cordon_buf_append(texts[i], piece, (size_t)got, NULL);
            else if (fds[i].revents)
                fds[i].fd = -1;
        }
    }
}

static inline bool spawn_it(const char *const *words, const char *const *environment, int out_fd,
                            int err_fd, pid_t *ret_pid)
{
    const char *argv[WORDS_MAX + 2] = {"cordon"};
    for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 1] = words[i];
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    (void)posix_spawn_file_actions_adddup2(&actions, err_fd, 2);
    /* posix_spawn(3) takes lists of char * that it does not change. */
    union {
        const char *const *in;
        char *const *out;
    } list = {.in = argv}, env = {.in = environment};
    int failed = posix_spawn(ret_pid, CORDON_PROGRAM, &actions, NULL, list.out, env.out);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

/* Runs the command with exactly this environment beside the sandbox as its home. */
static inline bool run(const sandbox *box, const char *variable, const char *const *words,
                       spoken *said)
{
    char home[BOX_SIZE + 8];
    (void)snprintf(home, sizeof home, "HOME=%s", box->path);
    const char *const environment[] = {home, "PATH=/nonexistent", variable, NULL};
    int out[2];
    int err[2];
    *said = (spoken){cordon_buf_make(TEXT_MAX), cordon_buf_make(TEXT_MAX), -1};
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return false;
    pid_t pid = 0;
    int status = 0;
    bool spawned = spawn_it(words, environment, out[1], err[1], &pid);
    (void)close(out[1]);
    (void)close(err[1]);
    listen_to(out[0], err[0], said);
    (void)close(out[0]);
    (void)close(err[0]);
    if (!spawned || waitpid(pid, &status, 0) != pid)
        return false;
    said->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

/*
 * variable  one environment variable, or NULL
 * message   a part of the one line on standard error
 * kind      of the receipt in r.json, NULL where none is asked for
 */
typedef struct bad_input {
    const char *words[WORDS_MAX];
    const char *variable;
    int status;
    const char *message;
    const char *kind;
} bad_input;

static inline bool one_line(const cordon_buf *text)
{
    const char *newline = text->length ? strchr(text->data, '\n') : NULL;
    return newline && newline == text->data + text->length - 1;
}

/* result.kind of r.json; nothing may have been created, so nothing can be left. */
static inline void check_receipt(size_t row, const char *kind)
{
    char text[16384];
    cordon_autoclose int fd = open("r.json", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_json result;
    cordon_json cleanup;
    const char *found = "";
    bool complete = false;
    bool read = length > 0 &&
                cordon_json_parse(text, (size_t)length, sizeof text, 0, &doc, &err) == 0 &&
                cordon_json_need_object(cordon_json_root(doc), "result", &result, &err) == 0 &&
                cordon_json_need_string(result, "kind", &found, &err) == 0 &&
                cordon_json_need_object(cordon_json_root(doc), "cleanup", &cleanup, &err) == 0 &&
                cordon_json_need_bool(cleanup, "complete", &complete, &err) == 0;
    TEST_RECORDF(read && complete && strcmp(found, kind) == 0,
                 "row %zu: receipt: kind \"%s\", want \"%s\": %.200s", row, found, kind,
                 err.message);
    (void)unlink("r.json");
}

static inline void check_row(const sandbox *box, size_t row, const bad_input *bad)
{
    cordon_cleanup(spoken_clear) spoken said;
    REQUIRE(run(box, bad->variable, bad->words, &said));
    TEST_RECORDF(said.status == bad->status, "row %zu (%s): status %d, want %d", row,
                 bad->words[0] ? bad->words[0] : "", said.status, bad->status);
    TEST_RECORDF(one_line(&said.err) && strstr(said.err.data, bad->message),
                 "row %zu: \"%.200s\" is not one line with \"%s\"", row, cordon_buf_text(&said.err),
                 bad->message);
    CHECK_STR(cordon_buf_text(&said.out), "");
    if (bad->kind)
        check_receipt(row, bad->kind);
    CHECK(access("r.json", F_OK) != 0);
}

#define RECEIPT "--receipt", "r.json"

#endif

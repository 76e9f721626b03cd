/* SPDX-License-Identifier: Apache-2.0 */
/* Following a live run's egress: cordon/egress.h. The other side is egress_file.c. */
#include "cordon/egress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "egress_event.h"
#include "egress_file.h"
#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "state_dir.h"

/* How often it is looked for more. A file can't be polled, and a watch would need more rights. */
#define LIVE_LOOK_MS 200
/* So many live runs are named at most. */
#define LIVE_NAMED_MAX 4
#define LIVE_PIECE     16384

struct cordon_egress_live {
    int fd;
    char invocation[CORDON_OWNER_HEX + 1];
    cordon_buf text; /* read, from `next` on not told yet */
    size_t next;
    cordon_buf line;
};

void cordon_egress_close(cordon_egress_live *live)
{
    if (live == NULL)
        return;
    cordon_cleanup_close(&live->fd);
    cordon_buf_clear(&live->text);
    cordon_buf_clear(&live->line);
    free(live);
}

const char *cordon_egress_invocation(const cordon_egress_live *live)
{
    return live->invocation;
}

/* --- Choosing --- */

static int live_open_file(int dir, const char *name, cordon_err *err)
{
    cordon_autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot open %s", CORDON_QUOTE(name));
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is not a file of yours alone",
                           CORDON_QUOTE(name));
    return cordon_take_fd(&fd);
}

/* Its run holds an exclusive lock as long as it lives. */
static bool live_goes_on(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || st.st_nlink == 0)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    (void)flock(fd, LOCK_UN);
    return false;
}

typedef struct live_choice {
    int fd;
    size_t count;
    char name[CORDON_EGRESS_FILE_NAME]; /* of the last one that fits */
    char names[LIVE_NAMED_MAX * (CORDON_OWNER_HEX + 2) + 1];
} live_choice;

static void choice_note(live_choice *choice, const char *name, int fd)
{
    size_t used = strlen(choice->names);

    cordon_cleanup_close(&choice->fd);
    choice->fd = fd;
    (void)snprintf(choice->name, sizeof(choice->name), "%s", name);
    if (choice->count++ < LIVE_NAMED_MAX)
        (void)snprintf(choice->names + used, sizeof(choice->names) - used, "%s%.*s",
                       used > 0 ? ", " : "", CORDON_OWNER_HEX, name);
}

/* One whose end has come counts only if it was named. */
static void choice_look(live_choice *choice, int dir, const char *name, const char *wanted)
{
    cordon_err ignored = CORDON_ERR_INIT;
    int fd;

    if (!cordon_egress_file_is_name(name) ||
        (wanted != NULL && strncmp(name, wanted, strlen(wanted)) != 0))
        return;
    fd = live_open_file(dir, name, &ignored);
    if (fd >= 0 && (wanted != NULL || live_goes_on(fd)))
        choice_note(choice, name, fd);
    else if (fd >= 0)
        (void)close(fd);
}

static int fail_none(const char *wanted, cordon_err *err)
{
    if (wanted != NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                           "%s: no run of yours with egress is live under this id; of one that has "
                           "ended, its receipt tells",
                           CORDON_QUOTE(wanted));
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                       "no run of yours with egress is live; of one that has ended, its receipt "
                       "tells");
}

static int choice_make(live_choice *choice, int dir, const char *wanted, cordon_err *err)
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;

    if (folder == NULL) {
        int saved = errno;
        cordon_cleanup_close(&again);
        return CORDON_FAIL_ERRNO(err, saved, "cannot read the state folder");
    }
    for (const struct dirent *item = readdir(folder); item != NULL; item = readdir(folder))
        choice_look(choice, dir, item->d_name, wanted);
    (void)closedir(folder);
    if (choice->count == 1)
        return 0;
    if (choice->count > 1)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "more than one run is meant; name one of %s%s",
                           choice->names, choice->count > LIVE_NAMED_MAX ? ", ..." : "");
    return fail_none(wanted, err);
}

static int live_check_id(const char *invocation, cordon_err *err)
{
    size_t length = invocation != NULL ? strlen(invocation) : 1;

    if (length >= 1 && length <= CORDON_OWNER_HEX &&
        (invocation == NULL || strspn(invocation, "0123456789abcdef") == length))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "\"%s\" is no id of a run; it has up to %d digits 0-9 and a-f",
                       CORDON_QUOTE(invocation), CORDON_OWNER_HEX);
}

int cordon_egress_open(const cordon_host *host, const char *invocation,
                       cordon_egress_live **ret_live, cordon_err *err)
{
    live_choice choice = {.fd = -1};
    cordon_autoclose int dir = -1;
    cordon_egress_live *live;

    if (live_check_id(invocation, err) != 0)
        return -1;
    if (host->state_dir == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "there is no state folder, so no run tells its egress there; set HOME");
    /* It is made by the first run, not by a look. */
    if (access(host->state_dir, F_OK) != 0 && errno == ENOENT)
        return fail_none(invocation, err);
    dir = cordon_state_open(host->state_dir, err);
    if (dir < 0 || choice_make(&choice, dir, invocation, err) != 0) {
        cordon_cleanup_close(&choice.fd);
        return -1;
    }
    live = calloc(1, sizeof(*live));
    if (live == NULL) {
        cordon_cleanup_close(&choice.fd);
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    live->fd = choice.fd;
    live->text = cordon_buf_make(LIVE_PIECE + CORDON_EGRESS_EVENT_MAX);
    live->line = cordon_buf_make(CORDON_EGRESS_EVENT_MAX);
    (void)snprintf(live->invocation, sizeof(live->invocation), "%.*s", CORDON_OWNER_HEX,
                   choice.name);
    *ret_live = live;
    return 0;
}

/* --- Reading --- */

/* Forgets what was told and reads one more piece. 0 bytes: there is no more now. */
static int live_read(cordon_egress_live *live, size_t *ret_length, cordon_err *err)
{
    char piece[LIVE_PIECE];
    size_t rest = live->text.length - live->next;
    ssize_t got;

    if (rest >= CORDON_EGRESS_EVENT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a line of the run's egress is too long");
    memcpy(piece, live->text.data != NULL ? live->text.data + live->next : "", rest);
    cordon_buf_reset(&live->text);
    live->next = 0;
    if (cordon_buf_append(&live->text, piece, rest, err) != 0)
        return -1;
    got = read(live->fd, piece, sizeof(piece));
    if (got < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot read the run's egress");
    *ret_length = (size_t)got;
    return cordon_buf_append(&live->text, piece, (size_t)got, err);
}

/* It is the caller's own file; a line that is no event must not pass for one all the same. */
static int live_check(const cordon_buf *line, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *event;

    if (cordon_json_parse(line->data, line->length, CORDON_EGRESS_EVENT_MAX, 4, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "event", &event, err) != 0)
        return -1;
    if (strcmp(event, "egress") != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "$.event: \"%s\"", CORDON_QUOTE(event));
    return 0;
}

/* A whole line of what was read, or NULL. */
static int live_line(cordon_egress_live *live, const char **ret_json, cordon_err *err)
{
    const char *start = live->text.data != NULL ? live->text.data + live->next : "";
    const char *newline = memchr(start, '\n', live->text.length - live->next);

    if (newline == NULL)
        return 0;
    cordon_buf_reset(&live->line);
    live->next += (size_t)(newline - start) + 1;
    if (cordon_buf_append(&live->line, start, (size_t)(newline - start), err) != 0 ||
        live_check(&live->line, err) != 0)
        return -1;
    *ret_json = cordon_buf_text(&live->line);
    return 0;
}

static int live_wait(int cancel_fd, cordon_err *err)
{
    cordon_deadline pause = cordon_deadline_in_ms(LIVE_LOOK_MS, cancel_fd);
    short ready = 0;

    if (cordon_deadline_poll(pause, -1, 0, "the run's egress", &ready, err) == 0 ||
        err->code != CORDON_ERR_TIMEOUT)
        return -1;
    cordon_err_clear(err);
    return 0;
}

int cordon_egress_next(cordon_egress_live *live, int cancel_fd, const char **ret_json,
                       cordon_err *err)
{
    const char *json = NULL;

    for (;;) {
        size_t length = 0;
        bool goes_on;

        if (live_line(live, &json, err) != 0) {
            cordon_err_wrap(err, "the egress of run %.8s", live->invocation);
            return -1;
        }
        if (json != NULL)
            break;
        /* First whether it goes on: what it wrote before its end is then read below. */
        goes_on = live_goes_on(live->fd);
        if (live_read(live, &length, err) != 0)
            return -1;
        if (length == 0 && !goes_on)
            break;
        if (length == 0 && live_wait(cancel_fd, err) != 0)
            return -1;
    }
    *ret_json = json;
    return 0;
}

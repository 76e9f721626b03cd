/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of one invocation; see journal.h. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/jsonw.h"
#include "process_mark.h"
#include "state_dir.h"

/*
 * SECURITY: locked before anything stands in it. Who collects what is dead takes the lock, too, and
 * removes an empty file that is old; so one that was removed meanwhile is not ours any more.
 */
static int journal_lock(int fd, const char *name, cordon_err *err)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot lock the journal %s", name);
    if (st.st_nlink == 0)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the journal %s was removed", name);
    return 0;
}

static int journal_create(int dir, const char *folder, const char *name, cordon_err *err)
{
    cordon_autoclose int fd = -1;

    fd = openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot make the journal %s/%s", CORDON_QUOTE(folder),
                                 name);
    if (journal_lock(fd, name, err) != 0)
        return -1;
    return cordon_take_fd(&fd);
}

static int journal_write(const cordon_journal *journal, cordon_buf *line, cordon_err *err)
{
    ssize_t written;

    if (journal->fd < 0)
        return 0;
    if (cordon_buf_append_char(line, '\n', err) != 0)
        return -1;
    written = write(journal->fd, line->data, line->length);
    if (written < 0 || (size_t)written != line->length)
        return CORDON_FAIL_ERRNO(err, written < 0 ? errno : ENOSPC, "cannot write the journal %s",
                                 CORDON_QUOTE(journal->path));
    return 0;
}

static int journal_head(const cordon_journal *journal, const cordon_journal_head *head,
                        cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(CORDON_JOURNAL_LINE_MAX);
    cordon_process_mark mark;
    cordon_jsonw json;

    cordon_process_mark_self(&mark);
    cordon_jsonw_init(&json, &line);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "journal", 1);
    cordon_jsonw_string(&json, "invocation", head->owner->invocation);
    cordon_jsonw_string(&json, "token", head->owner->token);
    cordon_jsonw_string(&json, "engine", head->endpoint);
    cordon_jsonw_string(&json, "kind", head->kind);
    cordon_jsonw_string_or_null(&json, "service", head->service);
    cordon_jsonw_string_or_null(&json, "worktree", head->worktree);
    cordon_jsonw_string(&json, "owner", head->owner->owner);
    cordon_jsonw_string(&json, "host", mark.host);
    cordon_jsonw_string(&json, "boot", mark.boot);
    cordon_jsonw_string(&json, "pid_space", mark.space);
    cordon_jsonw_i64(&json, "pid", mark.pid);
    cordon_jsonw_i64(&json, "pid_start", mark.start);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return journal_write(journal, &line, err);
}

/* The name of a new file is the folder's to keep: fsync(2). */
static int journal_sync(const cordon_journal *journal, int dir, cordon_err *err)
{
    if (fdatasync(journal->fd) != 0 || fsync(dir) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot bring the journal %s to the disk",
                                 CORDON_QUOTE(journal->path));
    return 0;
}

int cordon_journal_open(const char *folder, const cordon_journal_head *head,
                        cordon_journal *ret_journal, cordon_err *err)
{
    cordon_journal journal = CORDON_JOURNAL_INIT;
    char name[CORDON_OWNER_HEX + sizeof(CORDON_JOURNAL_SUFFIX)];
    cordon_autoclose int dir = cordon_state_open(folder, err);

    if (dir < 0)
        return -1;
    (void)snprintf(name, sizeof(name), "%s" CORDON_JOURNAL_SUFFIX, head->owner->invocation);
    if (asprintf(&journal.path, "%s/%s", folder, name) < 0)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    journal.fd = journal_create(dir, folder, name, err);
    if (journal.fd < 0 || journal_head(&journal, head, err) != 0 ||
        journal_sync(&journal, dir, err) != 0) {
        cordon_journal_close(&journal, true);
        return -1;
    }
    *ret_journal = journal;
    return 0;
}

static int journal_object(const cordon_journal *journal, cordon_role role, const char *key,
                          const char *value, bool gone, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(CORDON_JOURNAL_LINE_MAX);
    cordon_jsonw json;

    cordon_jsonw_init(&json, &line);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "object", cordon_role_name(role));
    cordon_jsonw_string(&json, "type", cordon_role_type_name(role));
    cordon_jsonw_string(&json, key, value);
    if (gone)
        cordon_jsonw_bool(&json, "gone", true);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return journal_write(journal, &line, err);
}

int cordon_journal_planned(const cordon_journal *journal, cordon_role role, const char *name,
                           cordon_err *err)
{
    return journal_object(journal, role, "name", name, false, err);
}

int cordon_journal_created(const cordon_journal *journal, cordon_role role, const char *id,
                           cordon_err *err)
{
    return journal_object(journal, role, "id", id, false, err);
}

void cordon_journal_gone(const cordon_journal *journal, cordon_role role, const char *id)
{
    cordon_err ignored = CORDON_ERR_INIT;
    int result = journal_object(journal, role, "id", id, true, &ignored);

    (void)result;
}

void cordon_journal_close(cordon_journal *journal, bool nothing_left)
{
    /* While the lock is held: nobody shall find it without its run. */
    if (nothing_left && journal->fd >= 0)
        (void)unlink(journal->path);
    if (journal->fd >= 0)
        (void)close(journal->fd);
    free(journal->path);
    *journal = (cordon_journal)CORDON_JOURNAL_INIT;
}

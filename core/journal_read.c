/* SPDX-License-Identifier: Apache-2.0 */
/* Reading journals; see journal_read.h. */
#include "journal_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/jsonr.h"

#define READ_FILE_MAX (256U << 10)

void cordon_journal_entry_clear(cordon_journal_entry *entry)
{
    cordon_cleanup_close(&entry->fd);
    free(entry->engine);
    free(entry->kind);
    free(entry->service);
    free(entry->worktree);
    entry->fd = -1;
    entry->engine = entry->kind = entry->service = entry->worktree = NULL;
}

bool cordon_journal_is_name(const char *name)
{
    return strlen(name) == CORDON_OWNER_HEX + strlen(CORDON_JOURNAL_SUFFIX) &&
           strspn(name, "0123456789abcdef") == CORDON_OWNER_HEX &&
           strcmp(name + CORDON_OWNER_HEX, CORDON_JOURNAL_SUFFIX) == 0;
}

/* --- The file --- */

static int read_open(int dir, cordon_journal_entry *entry, struct stat *ret_stat, cordon_err *err)
{
    /* To write, too: some file systems want that for an exclusive lock (flock(2), NFS). */
    entry->fd = openat(dir, entry->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (entry->fd < 0 && errno == ENOENT)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "journal %s is gone", entry->name);
    if (entry->fd < 0 || fstat(entry->fd, ret_stat) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot open the journal %s", entry->name);
    if (!S_ISREG(ret_stat->st_mode) || ret_stat->st_uid != geteuid() ||
        (ret_stat->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s is not a file of yours alone; remove it if no run is using it",
                           entry->name);
    return 0;
}

/*
 * SECURITY: the lock comes before the text: what is read under it is all that will ever be said.
 * Alive: the run has it, or somebody who is cleaning up after it.
 */
static int read_lock(cordon_journal_entry *entry, struct stat *ret_stat, cordon_err *err)
{
    if (flock(entry->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return CORDON_FAIL_ERRNO(err, errno, "cannot lock the journal %s", entry->name);
        entry->fate = CORDON_PROCESS_ALIVE;
        entry->why = "its run, or a collection, holds its journal";
    }
    if (fstat(entry->fd, ret_stat) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot look at the journal %s", entry->name);
    if (ret_stat->st_nlink == 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "journal %s is gone", entry->name);
    return 0;
}

static int read_text(const cordon_journal_entry *entry, cordon_buf *text, cordon_err *err)
{
    char piece[4096];
    ssize_t length;

    while ((length = read(entry->fd, piece, sizeof(piece))) > 0) {
        if (cordon_buf_append(text, piece, (size_t)length, err) != 0) {
            cordon_err_wrap(err, "journal %s", entry->name);
            return -1;
        }
    }
    if (length < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot read the journal %s", entry->name);
    return 0;
}

/* --- Its lines --- */

static int take_copy(cordon_json line, const char *key, char **ret_text, cordon_err *err)
{
    cordon_json_string text;

    if (cordon_json_get_string(line, key, &text, err) != 0)
        return -1;
    if (text.has != CORDON_JSON_PRESENT)
        return 0;
    *ret_text = strdup(text.text);
    return *ret_text != NULL ? 0 : CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
}

static int take_word(cordon_json line, const char *key, char *ret_text, size_t size,
                     cordon_err *err)
{
    const char *text = NULL;

    if (cordon_json_need_string(line, key, &text, err) != 0)
        return -1;
    if (strlen(text) >= size)
        return cordon_json_fail(line, err, "%s is too long", key);
    memcpy(ret_text, text, strlen(text) + 1);
    return 0;
}

static int take_mark(cordon_json line, cordon_process_mark *mark, cordon_err *err)
{
    if (take_word(line, "host", mark->host, sizeof(mark->host), err) != 0 ||
        take_word(line, "boot", mark->boot, sizeof(mark->boot), err) != 0 ||
        take_word(line, "pid_space", mark->space, sizeof(mark->space), err) != 0 ||
        cordon_json_need_i64(line, "pid", &mark->pid, err) != 0)
        return -1;
    return cordon_json_need_i64(line, "pid_start", &mark->start, err);
}

static int take_head(cordon_journal_entry *entry, cordon_json line, cordon_err *err)
{
    const char *owner = NULL;
    const char *invocation = NULL;
    const char *token = NULL;
    int64_t version = 0;

    if (cordon_json_need_i64(line, "journal", &version, err) != 0 ||
        cordon_json_need_string(line, "owner", &owner, err) != 0 ||
        cordon_json_need_string(line, "invocation", &invocation, err) != 0 ||
        cordon_json_need_string(line, "token", &token, err) != 0)
        return -1;
    if (version != 1)
        return cordon_json_fail(line, err, "this is version %lld of a journal", (long long)version);
    if (cordon_owner_restore(&entry->owner, owner, invocation, token, err) != 0)
        return -1;
    /* A file under another name is a copy; the original counts. */
    if (strncmp(entry->name, invocation, CORDON_OWNER_HEX) != 0)
        return cordon_json_fail(line, err, "it is of another invocation");
    if (take_copy(line, "engine", &entry->engine, err) != 0 ||
        take_copy(line, "kind", &entry->kind, err) != 0 ||
        take_copy(line, "service", &entry->service, err) != 0 ||
        take_copy(line, "worktree", &entry->worktree, err) != 0 ||
        take_mark(line, &entry->mark, err) != 0)
        return -1;
    if (entry->engine == NULL || entry->kind == NULL)
        return cordon_json_fail(line, err, "it names no engine");
    entry->begun = true;
    return 0;
}

/* Planned, created, gone: each line says more of the same role, or begins anew. */
static int take_object(cordon_journal_entry *entry, cordon_json line, cordon_err *err)
{
    const char *name = NULL;
    cordon_json_string id;
    cordon_json_bool gone;
    cordon_role role;

    if (cordon_json_need_string(line, "object", &name, err) != 0 ||
        cordon_json_get_string(line, "id", &id, err) != 0 ||
        cordon_json_get_bool(line, "gone", &gone, err) != 0)
        return -1;
    if (!cordon_role_by_name(name, &role))
        return cordon_json_fail(line, err, "there is no object of that name");
    entry->objects[role] = (cordon_journal_object){.asked = true};
    if (id.has != CORDON_JSON_PRESENT)
        return 0;
    if (id.length > CORDON_ID_HEX)
        return cordon_json_fail(line, err, "id is too long");
    memcpy(entry->objects[role].id, id.text, id.length + 1);
    entry->objects[role].gone = gone.has == CORDON_JSON_PRESENT && gone.value;
    return 0;
}

static int take_line(cordon_journal_entry *entry, const char *line, size_t length, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;

    if (cordon_json_parse(line, length, CORDON_JOURNAL_LINE_MAX, 0, &doc, err) != 0)
        return -1;
    return entry->begun ? take_object(entry, cordon_json_root(doc), err)
                        : take_head(entry, cordon_json_root(doc), err);
}

static int take_lines(cordon_journal_entry *entry, const cordon_buf *text, cordon_err *err)
{
    const char *line = cordon_buf_text(text);
    const char *end;

    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (take_line(entry, line, (size_t)(end - line), err) != 0) {
            cordon_err_wrap(err, "journal %s", entry->name);
            return -1;
        }
    }
    return 0;
}

int cordon_journal_read(int dir, const char *name, cordon_journal_entry *ret_entry, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(READ_FILE_MAX);
    struct stat st;

    memset(ret_entry, 0, sizeof(*ret_entry));
    ret_entry->fd = -1;
    (void)snprintf(ret_entry->name, sizeof(ret_entry->name), "%s", name);
    if (read_open(dir, ret_entry, &st, err) != 0 || read_lock(ret_entry, &st, err) != 0 ||
        read_text(ret_entry, &text, err) != 0 || take_lines(ret_entry, &text, err) != 0)
        return -1;
    ret_entry->changed = st.st_mtime;
    if (ret_entry->fate == CORDON_PROCESS_ALIVE)
        return 0;
    if (ret_entry->begun)
        ret_entry->fate = cordon_process_fate_of(&ret_entry->mark, &ret_entry->why);
    return 0;
}

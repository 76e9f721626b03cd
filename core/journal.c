/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of one invocation; see journal.h. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/jsonw.h"
#include "kit/num.h"
#include "state_dir.h"

#define JOURNAL_LINE_MAX 4096

static int journal_create(const char *folder, const char *name, cordon_err *err)
{
    cordon_autoclose int dir = -1;
    int fd;

    dir = cordon_state_open(folder, err);
    if (dir < 0)
        return -1;
    fd = openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot make the journal %s/%s", CORDON_QUOTE(folder),
                                 name);
    return fd;
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

/* Field 22 of /proc/self/stat, start time in clock ticks since boot: proc_pid_stat(5). */
static int64_t journal_start_ticks(void)
{
    char text[1024];
    char *field;
    int64_t ticks = 0;

    cordon_state_read_line("/proc/self/stat", text, sizeof(text));
    field = strrchr(text, ')');
    for (int number = 2; field != NULL && number < 22; number++)
        field = strchr(field + 1, ' ');
    if (field == NULL)
        return 0;
    field++;
    if (cordon_num_i64(field, strcspn(field, " "), 0, INT64_MAX, &ticks, NULL) != 0)
        return 0;
    return ticks;
}

static int journal_head(const cordon_journal *journal, const cordon_owner *owner, const char *kind,
                        const char *endpoint, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(JOURNAL_LINE_MAX);
    char boot[64];
    cordon_jsonw json;

    cordon_state_boot_id(boot, sizeof(boot));
    cordon_jsonw_init(&json, &line);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "journal", 1);
    cordon_jsonw_string(&json, "invocation", owner->invocation);
    cordon_jsonw_string(&json, "token", owner->token);
    cordon_jsonw_string(&json, "engine", endpoint);
    cordon_jsonw_string(&json, "kind", kind);
    cordon_jsonw_string(&json, "owner", owner->owner);
    cordon_jsonw_i64(&json, "pid", getpid());
    cordon_jsonw_i64(&json, "pid_start", journal_start_ticks());
    cordon_jsonw_string(&json, "boot", boot);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return journal_write(journal, &line, err);
}

int cordon_journal_open(const char *folder, const cordon_owner *owner, const char *kind,
                        const char *endpoint, cordon_journal *ret_journal, cordon_err *err)
{
    cordon_journal journal = CORDON_JOURNAL_INIT;
    char name[CORDON_OWNER_HEX + 8];

    (void)snprintf(name, sizeof(name), "%s.jsonl", owner->invocation);
    if (asprintf(&journal.path, "%s/%s", folder, name) < 0)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    journal.fd = journal_create(folder, name, err);
    if (journal.fd < 0 || journal_head(&journal, owner, kind, endpoint, err) != 0) {
        cordon_journal_close(&journal, true);
        return -1;
    }
    *ret_journal = journal;
    return 0;
}

static int journal_object(const cordon_journal *journal, cordon_role role, const char *key,
                          const char *value, bool gone, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(JOURNAL_LINE_MAX);
    cordon_jsonw json;

    cordon_jsonw_init(&json, &line);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "object", cordon_role_name(role));
    cordon_jsonw_string(&json, "type",
                        cordon_role_type(role) == CORDON_OBJECT_NETWORK ? "network" : "container");
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
    if (journal->fd >= 0)
        (void)close(journal->fd);
    if (nothing_left && journal->fd >= 0)
        (void)unlink(journal->path);
    free(journal->path);
    *journal = (cordon_journal)CORDON_JOURNAL_INIT;
}

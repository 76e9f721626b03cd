/* SPDX-License-Identifier: Apache-2.0 */
/* See worktree_snapshot.h. */
#include "worktree_snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "diff_patch.h"
#include "kit/random.h"
#include "text_list.h"
#include "worktree_walk.h"

#define MODE_FILE    0100644U
#define MODE_PROGRAM 0100755U
#define MODE_LINK    0120000U

/* Names of what is not shown; with more of them the list is cut. */
#define PREAMBLE_MAX ((size_t)1 << 20)

/* --- The store ----------------------------------------------------------------------------- */

/* Where the file system has no unnamed files, one is made and its name taken away. */
static int open_named_store(int state_fd, cordon_err *err)
{
    char token[17];
    char name[40];
    if (cordon_random_hex(token, sizeof token - 1, err) < 0)
        return -1;
    (void)snprintf(name, sizeof name, ".snapshot-%s", token);
    int fd = openat(state_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "the state folder takes no copy of the worktree");
    (void)unlinkat(state_fd, name, 0);
    return fd;
}

static int open_store(int state_fd, cordon_err *err)
{
    int fd = openat(state_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : open_named_store(state_fd, err);
}

static int write_all(int fd, const char *bytes, size_t length, int64_t offset)
{
    while (length > 0) {
        ssize_t put = pwrite(fd, bytes, length, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return -1;
        bytes += put;
        offset += put;
        length -= (size_t)put;
    }
    return 0;
}

/* Reads `length` bytes or up to the end; the number read, or -1. */
static ssize_t read_some(int fd, char *bytes, size_t length, int64_t offset)
{
    size_t total = 0;
    while (total < length) {
        ssize_t got = pread(fd, bytes + total, length - total, offset + (int64_t)total);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        total += (size_t)got;
    }
    return (ssize_t)total;
}

/* --- Contents ------------------------------------------------------------------------------ */

typedef struct content {
    char *text; /* NULL: not to be had */
    size_t length;
} content;

static void content_clear(content *c)
{
    free(c->text);
    *c = (content){0};
}
CORDON_DEFINE_AUTO(content, content_clear)

/* Not to be had (too large, may not be read, vanished) is no error; only memory is. */
static int read_file(int fd, size_t length, int64_t offset, content *ret, cordon_err *err)
{
    cordon_autofree char *text = malloc(length + 1);
    if (!text)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    ssize_t got = read_some(fd, text, length, offset);
    if (got < 0)
        return 0;
    ret->length = (size_t)got;
    ret->text = CORDON_TAKE(text);
    return 0;
}

static int read_link(int folder_fd, const char *name, content *ret, cordon_err *err)
{
    cordon_autofree char *text = malloc(PATH_MAX);
    if (!text)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    ssize_t got = readlinkat(folder_fd, name, text, PATH_MAX);
    if (got < 0 || got == PATH_MAX)
        return 0;
    ret->length = (size_t)got;
    ret->text = CORDON_TAKE(text);
    return 0;
}

static int read_entry(int folder_fd, const char *name, const struct stat *facts, content *ret,
                      cordon_err *err)
{
    if (S_ISLNK(facts->st_mode))
        return read_link(folder_fd, name, ret, err);
    if (!S_ISREG(facts->st_mode) || facts->st_size > CORDON_SNAPSHOT_FILE_MAX)
        return 0;
    cordon_autoclose int fd =
        openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? 0 : read_file(fd, (size_t)facts->st_size, 0, ret, err);
}

/* --- Before -------------------------------------------------------------------------------- */

typedef struct taking {
    cordon_snapshot *snapshot;
} taking;

static int grow(cordon_snapshot *s, cordon_err *err)
{
    size_t capacity = s->capacity ? s->capacity * 2 : 1024;
    cordon_snapshot_entry *items = reallocarray(s->items, capacity, sizeof *items);
    if (!items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    s->items = items;
    s->capacity = capacity;
    return 0;
}

static int keep_content(cordon_snapshot *s, cordon_snapshot_entry *entry, const content *c,
                        cordon_err *err)
{
    if (!c->text || s->kept_bytes + (int64_t)c->length > s->max_bytes)
        return 0;
    if (write_all(s->store, c->text, c->length, s->kept_bytes) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "a copy of the worktree cannot be kept");
    entry->offset = s->kept_bytes;
    entry->size = (off_t)c->length;
    s->kept_bytes += (int64_t)c->length;
    return 0;
}

/* git's folders, and its pointer files, are not the work. */
static bool is_work(const cordon_walk_entry *entry, bool *enter)
{
    if (strcmp(entry->name, ".git") == 0)
        *enter = false;
    return strcmp(entry->name, ".git") != 0 && entry->type != DT_DIR;
}

static int take_visit(void *context, const cordon_walk_entry *entry, bool *enter, cordon_err *err)
{
    cordon_snapshot *s = ((const taking *)context)->snapshot;
    struct stat facts;
    cordon_auto(content) c = {0};
    if (!is_work(entry, enter) ||
        fstatat(entry->folder_fd, entry->name, &facts, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if ((s->count == s->capacity && grow(s, err) < 0) ||
        read_entry(entry->folder_fd, entry->name, &facts, &c, err) < 0)
        return -1;
    cordon_snapshot_entry *item = &s->items[s->count++];
    *item = (cordon_snapshot_entry){.mode = facts.st_mode,
                                    .dev = facts.st_dev,
                                    .ino = facts.st_ino,
                                    .size = facts.st_size,
                                    .changed = facts.st_ctim,
                                    .offset = -1};
    if (cordon_text_copy(entry->path, &item->path, err) < 0)
        return -1;
    return keep_content(s, item, &c, err);
}

static int by_path(const void *a, const void *b)
{
    const cordon_snapshot_entry *left = a;
    const cordon_snapshot_entry *right = b;
    return strcmp(left->path, right->path);
}

static int walk_tree(const cordon_worktree *worktree, int64_t max_entries, cordon_walk_fn *visit,
                     void *context, cordon_deadline dl, cordon_err *err)
{
    char label[CORDON_QUOTE_MAX + 16];
    cordon_walk walk = {.label = label,
                        .purpose = "for changes",
                        .max_entries = max_entries,
                        .dl = dl,
                        .visit = visit,
                        .context = context};
    (void)snprintf(label, sizeof label, "worktree %s", CORDON_QUOTE(worktree->path));
    return cordon_walk_below(&walk, worktree->fd, "", err);
}

int cordon_snapshot_take(const cordon_worktree *worktree, int state_fd, int64_t max_bytes,
                         int64_t max_entries, cordon_deadline dl, cordon_snapshot *ret_snapshot,
                         cordon_err *err)
{
    cordon_auto(cordon_snapshot) s = CORDON_SNAPSHOT_INIT;
    taking context = {.snapshot = &s};
    s.max_bytes = max_bytes;
    s.max_entries = max_entries;
    s.store = open_store(state_fd, err);
    if (s.store < 0 || walk_tree(worktree, max_entries, take_visit, &context, dl, err) < 0)
        return -1;
    if (s.count > 1)
        qsort(s.items, s.count, sizeof *s.items, by_path);
    *ret_snapshot = s;
    s = (cordon_snapshot)CORDON_SNAPSHOT_INIT;
    return 0;
}

/* --- After --------------------------------------------------------------------------------- */

/* One path that differs: what was there (NULL: nothing) and what is there now (mode 0: nothing). */
typedef struct change {
    char *path;
    const cordon_snapshot_entry *old;
    struct stat facts;
} change;

typedef struct comparing {
    cordon_snapshot *snapshot;
    const cordon_worktree *worktree;
    cordon_deadline dl;
    size_t count;
    size_t capacity;
    change *items;
    cordon_buf *out;
    cordon_buf preamble;
    cordon_snapshot_changes told;
} comparing;

static void comparing_clear(comparing *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->items[i].path);
    free(c->items);
    cordon_buf_clear(&c->preamble);
}
CORDON_DEFINE_AUTO(comparing, comparing_clear)

static int add_change(comparing *c, const char *path, const cordon_snapshot_entry *old,
                      const struct stat *facts, cordon_err *err)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 64;
        change *items = reallocarray(c->items, capacity, sizeof *items);
        if (!items)
            return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
        c->items = items;
        c->capacity = capacity;
    }
    change *item = &c->items[c->count++];
    *item = (change){.old = old};
    if (facts)
        item->facts = *facts;
    return cordon_text_copy(path, &item->path, err);
}

/* SECURITY: the time of an inode's change cannot be set back, unlike that of its content. */
static bool is_untouched(const cordon_snapshot_entry *old, const struct stat *now)
{
    return old->dev == now->st_dev && old->ino == now->st_ino && old->mode == now->st_mode &&
           old->changed.tv_sec == now->st_ctim.tv_sec &&
           old->changed.tv_nsec == now->st_ctim.tv_nsec;
}

static int compare_visit(void *context, const cordon_walk_entry *entry, bool *enter,
                         cordon_err *err)
{
    comparing *c = context;
    struct stat facts;
    if (!is_work(entry, enter) ||
        fstatat(entry->folder_fd, entry->name, &facts, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    cordon_autofree char *path = NULL;
    if (cordon_text_copy(entry->path, &path, err) < 0)
        return -1;
    const cordon_snapshot_entry key = {.path = path};
    cordon_snapshot *s = c->snapshot;
    cordon_snapshot_entry *old =
        s->count > 0 ? bsearch(&key, s->items, s->count, sizeof *s->items, by_path) : NULL;
    if (old)
        old->seen = true;
    if (old && is_untouched(old, &facts))
        return 0;
    return add_change(c, entry->path, old, &facts, err);
}

static int add_gone(comparing *c, cordon_err *err)
{
    for (size_t i = 0; i < c->snapshot->count; i++)
        if (!c->snapshot->items[i].seen &&
            add_change(c, c->snapshot->items[i].path, &c->snapshot->items[i], NULL, err) < 0)
            return -1;
    return 0;
}

static int by_change(const void *a, const void *b)
{
    const change *left = a;
    const change *right = b;
    return strcmp(left->path, right->path);
}

/* --- The patch ----------------------------------------------------------------------------- */

static unsigned git_mode(mode_t mode)
{
    if (S_ISLNK(mode))
        return MODE_LINK;
    if (S_ISREG(mode))
        return mode & S_IXUSR ? MODE_PROGRAM : MODE_FILE;
    return 0;
}

static int old_content(const comparing *c, const change *item, content *ret, cordon_err *err)
{
    if (!item->old || item->old->offset < 0)
        return 0;
    return read_file(c->snapshot->store, (size_t)item->old->size, item->old->offset, ret, err);
}

static int new_content(const comparing *c, const change *item, content *ret, cordon_err *err)
{
    const char *slash = strrchr(item->path, '/');
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - item->path) : 0,
                   item->path);
    cordon_autoclose int fd = cordon_open_below(c->worktree->fd, folder, O_PATH | O_DIRECTORY);
    return fd < 0 ? 0 : read_entry(fd, slash ? slash + 1 : item->path, &item->facts, ret, err);
}

static const char *verb_of(const change *item)
{
    return !item->old ? "added" : item->facts.st_mode == 0 ? "deleted" : "changed";
}

/* By name alone, before the patch; git-apply(1) passes over such lines. */
static int hide(comparing *c, const change *item, const char *why, cordon_err *err)
{
    c->told.hidden++;
    if (c->preamble.length > PREAMBLE_MAX)
        return 0;
    if (cordon_buf_printf(&c->preamble, err, "# not shown, %s: ", why) < 0 ||
        cordon_diff_name("", item->path, &c->preamble, err) < 0)
        return -1;
    return cordon_buf_printf(&c->preamble, err, " (%s)\n", verb_of(item));
}

/* Cut back to where it was when the whole of a file does not fit. */
static int show(comparing *c, const change *item, const cordon_diff_side *old,
                const cordon_diff_side *new, cordon_err *err)
{
    size_t length = c->out->length;
    cordon_err failure = CORDON_ERR_INIT;
    if (cordon_diff_patch(item->path, old, new, c->dl, c->out, &failure) == 0)
        return 0;
    if (failure.code != CORDON_ERR_PROTOCOL) {
        *err = failure;
        return -1;
    }
    c->out->length = length;
    return hide(c, item, "the patch is full", err);
}

/* NULL where both sides can be shown. */
static const char *why_hidden(const change *item, const content *old, const content *new)
{
    bool was = item->old != NULL;
    bool is = item->facts.st_mode != 0;
    if ((was && git_mode(item->old->mode) == 0) || (is && git_mode(item->facts.st_mode) == 0))
        return "neither a file nor a symbolic link";
    if ((was && !old->text) || (is && !new->text))
        return "too large, or not to be read";
    if (cordon_diff_is_binary(old->text, old->length) ||
        cordon_diff_is_binary(new->text, new->length))
        return "binary";
    return NULL;
}

static bool is_same(const cordon_diff_side *old, const cordon_diff_side *new)
{
    return old->mode == new->mode && old->length == new->length &&
           (old->length == 0 || memcmp(old->text, new->text, old->length) == 0);
}

/* What was only touched, or changed in ways that git does not keep, is no change. */
static int tell(comparing *c, const change *item, cordon_err *err)
{
    cordon_auto(content) before = {0};
    cordon_auto(content) now = {0};
    if (old_content(c, item, &before, err) < 0 || new_content(c, item, &now, err) < 0)
        return -1;
    cordon_diff_side old = {item->old ? git_mode(item->old->mode) : 0,
                            before.text ? before.text : "", before.length};
    cordon_diff_side new = {git_mode(item->facts.st_mode), now.text ? now.text : "", now.length};
    bool whole = (!item->old || before.text) && (item->facts.st_mode == 0 || now.text);
    if (whole && is_same(&old, &new))
        return 0;
    c->told.files++;
    const char *why = why_hidden(item, &before, &now);
    return why ? hide(c, item, why, err) : show(c, item, &old, &new, err);
}

static int tell_all(comparing *c, cordon_err *err)
{
    for (size_t i = 0; i < c->count; i++)
        if (cordon_deadline_check(c->dl, "comparing what changed", err) < 0 ||
            tell(c, &c->items[i], err) < 0)
            return -1;
    return 0;
}

/* The names of what is hidden go before the patch. */
static int put_together(comparing *c, cordon_buf *patch, cordon_err *err)
{
    size_t rest = c->out->max_bytes - c->out->length;
    size_t names = c->preamble.length < rest ? c->preamble.length : rest;
    if (names > 0 && cordon_buf_append(c->out, c->preamble.data, names, err) < 0)
        return -1;
    return patch->length > 0 ? cordon_buf_append(c->out, patch->data, patch->length, err) : 0;
}

int cordon_snapshot_compare(cordon_snapshot *snapshot, const cordon_worktree *worktree,
                            cordon_deadline dl, cordon_buf *out,
                            cordon_snapshot_changes *ret_changes, cordon_err *err)
{
    cordon_auto(cordon_buf) patch = cordon_buf_make(
        out->max_bytes > PREAMBLE_MAX * 2 ? out->max_bytes - PREAMBLE_MAX * 2 : out->max_bytes / 2);
    cordon_auto(comparing) c = {.snapshot = snapshot,
                                .worktree = worktree,
                                .dl = dl,
                                .out = &patch,
                                .preamble = cordon_buf_make(PREAMBLE_MAX * 2)};
    if (walk_tree(worktree, snapshot->max_entries, compare_visit, &c, dl, err) < 0 ||
        add_gone(&c, err) < 0)
        return -1;
    if (c.count > 1)
        qsort(c.items, c.count, sizeof *c.items, by_change);
    if (tell_all(&c, err) < 0)
        return -1;
    c.out = out;
    if (put_together(&c, &patch, err) < 0)
        return -1;
    *ret_changes = c.told;
    return 0;
}

void cordon_snapshot_clear(cordon_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->items[i].path);
    free(snapshot->items);
    if (snapshot->store >= 0)
        (void)close(snapshot->store);
    *snapshot = (cordon_snapshot)CORDON_SNAPSHOT_INIT;
}

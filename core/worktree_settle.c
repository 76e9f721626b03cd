/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeholders, and what is found once the step has gone; see worktree_guard.h. SECURITY: by then
 * an agent has had the tree. Every open is below a root that was approved, component by component,
 * no symlink followed; what is found is renamed within its own folder and never opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "worktree_guard_impl.h"

/* Modes that nobody else gives: how a placeholder is known again. */
#define PLACEHOLDER_FILE   0400
#define PLACEHOLDER_FOLDER 0500

/* More than this is told as "and more". */
#define FOUND_MAX 4096

/* --- Placeholders -------------------------------------------------------------------------- */

/* The folder of a path, and the path's last part. */
static int open_folder_of(const cordon_guard *guard, cordon_guard_root root, const char *path,
                          const char **ret_name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    cordon_guard_folder_of(path, folder);
    *ret_name = slash ? slash + 1 : path;
    return cordon_open_below(guard->roots[root]->fd, folder, O_PATH | O_DIRECTORY);
}

static void close_stream(DIR **stream)
{
    if (*stream)
        (void)closedir(*stream);
}

/* Also true where it cannot be read: then removing it fails, and that is the answer. */
static bool folder_is_empty(const cordon_guard *guard, cordon_guard_root root, const char *path)
{
    cordon_autoclose int fd =
        cordon_open_below(guard->roots[root]->fd, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    cordon_cleanup(close_stream) DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream)
        return false;
    (void)cordon_take_fd(&fd);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    return true;
}

static bool file_says(const cordon_guard *guard, cordon_guard_root root, const char *path,
                      const char *content)
{
    char text[8];
    cordon_autoclose int fd =
        cordon_open_below(guard->roots[root]->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : -1;
    return got >= 0 && (size_t)got == strlen(content) && memcmp(text, content, (size_t)got) == 0;
}

bool cordon_guard_is_placeholder(const cordon_guard *guard, cordon_guard_root root,
                                 const char *path, const char *content, const struct stat *facts)
{
    mode_t mode = facts->st_mode & 07777;
    if (!content)
        return S_ISDIR(facts->st_mode) && mode == PLACEHOLDER_FOLDER &&
               folder_is_empty(guard, root, path);
    return S_ISREG(facts->st_mode) && mode == PLACEHOLDER_FILE && facts->st_nlink == 1 &&
           file_says(guard, root, path, content);
}

static int fail_make(const cordon_guard *guard, const cordon_guard_item *item, cordon_err *err)
{
    return CORDON_FAIL_ERRNO(err, errno, "worktree %s: a placeholder at %s cannot be made",
                             CORDON_QUOTE(cordon_guard_name(guard, item->root)),
                             CORDON_QUOTE(item->path));
}

/* Opens what was made just now, to give it to the owner of the worktree. */
static int make_entry(int folder, const char *name, const char *content)
{
    if (content)
        return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      PLACEHOLDER_FILE);
    if (mkdirat(folder, name, PLACEHOLDER_FOLDER) < 0)
        return -1;
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int fill_entry(int fd, const char *content, const struct stat *owner)
{
    size_t length = content ? strlen(content) : 0;
    if (length > 0 && write(fd, content, length) != (ssize_t)length)
        return -1;
    if (geteuid() == 0 && fchown(fd, owner->st_uid, owner->st_gid) < 0)
        return -1;
    return fchmod(fd, content ? PLACEHOLDER_FILE : PLACEHOLDER_FOLDER);
}

static int make_new(const cordon_guard *guard, cordon_guard_item *item, cordon_err *err)
{
    const char *name = NULL;
    struct stat owner;
    cordon_autoclose int folder = open_folder_of(guard, item->root, item->path, &name);
    if (folder < 0 || fstatat(guard->roots[item->root]->fd, "", &owner, AT_EMPTY_PATH) < 0)
        return fail_make(guard, item, err);
    cordon_autoclose int fd = make_entry(folder, name, item->content);
    if (fd < 0)
        return fail_make(guard, item, err);
    item->made = true;
    if (fill_entry(fd, item->content, &owner) == 0)
        return 0;
    /* Half of one is not known again as a placeholder. */
    int why = errno;
    if (unlinkat(folder, name, item->content ? 0 : AT_REMOVEDIR) == 0)
        item->made = false;
    errno = why;
    return fail_make(guard, item, err);
}

/* One that another run has made, or left, serves as well. */
static int make_one(const cordon_guard *guard, cordon_guard_item *item, cordon_err *err)
{
    struct stat facts;
    if (cordon_guard_stat(guard, item->root, item->path, &facts) < 0 &&
        make_new(guard, item, err) < 0)
        return -1;
    if (cordon_guard_stat(guard, item->root, item->path, &facts) < 0)
        return fail_make(guard, item, err);
    if (!cordon_guard_is_placeholder(guard, item->root, item->path, item->content, &facts))
        return CORDON_FAIL(
            err, CORDON_ERR_REFUSED,
            "worktree %s: %s appeared since it was looked at; leave the folder alone "
            "during a run",
            CORDON_QUOTE(cordon_guard_name(guard, item->root)), CORDON_QUOTE(item->path));
    item->made = true;
    cordon_guard_see(item, &facts);
    return 0;
}

/*
 * Shared among runs that write in the same folder: only the last one takes placeholders away. It is
 * never waited for, because a step could hold it, too.
 */
static void lock_roots(cordon_guard *guard)
{
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++) {
        guard->locks[root] = -1;
        if (!guard->roots[root] || !guard->writable)
            continue;
        guard->locks[root] =
            openat(guard->roots[root]->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (guard->locks[root] >= 0)
            (void)flock(guard->locks[root], LOCK_SH | LOCK_NB);
    }
}

int cordon_guard_make(cordon_guard *guard, cordon_err *err)
{
    lock_roots(guard);
    guard->locked = true;
    for (size_t i = 0; i < guard->count; i++)
        if (guard->items[i].kind == CORDON_GUARD_PLACEHOLDER &&
            make_one(guard, &guard->items[i], err) < 0)
            return -1;
    return 0;
}

static void unmake_one(const cordon_guard *guard, cordon_guard_item *item)
{
    const char *name = NULL;
    struct stat facts;
    if (!item->made || cordon_guard_stat(guard, item->root, item->path, &facts) < 0 ||
        !cordon_guard_is_placeholder(guard, item->root, item->path, item->content, &facts))
        return;
    cordon_autoclose int folder = open_folder_of(guard, item->root, item->path, &name);
    if (folder >= 0 && unlinkat(folder, name, item->content ? 0 : AT_REMOVEDIR) == 0)
        item->made = false;
}

void cordon_guard_unmake(cordon_guard *guard)
{
    bool last[CORDON_GUARD_ROOTS] = {false};
    if (!guard->locked)
        return;
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++)
        last[root] = guard->locks[root] >= 0 && flock(guard->locks[root], LOCK_EX | LOCK_NB) == 0;
    for (size_t i = guard->count; i > 0; i--)
        if (last[guard->items[i - 1].root])
            unmake_one(guard, &guard->items[i - 1]);
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++)
        cordon_cleanup_close(&guard->locks[root]);
    guard->locked = false;
}

/* --- As it was ----------------------------------------------------------------------------- */

static bool is_same(const cordon_guard_item *item, const struct stat *facts)
{
    bool same = item->dev == facts->st_dev && item->ino == facts->st_ino &&
                item->type == (facts->st_mode & S_IFMT);
    return same && (!S_ISREG(facts->st_mode) || (item->size == facts->st_size &&
                                                 item->changed.tv_sec == facts->st_ctim.tv_sec &&
                                                 item->changed.tv_nsec == facts->st_ctim.tv_nsec));
}

/*
 * The part of an absent path that is there after all: the path itself, or a symlink in place of a
 * folder above it, which leads to wherever it likes. NULL when it is absent.
 */
static const char *what_is_there(const cordon_guard *guard, const cordon_guard_item *item,
                                 char ret_path[PATH_MAX])
{
    struct stat facts;
    for (const char *slash = strchr(item->path, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(ret_path, PATH_MAX, "%.*s", (int)(slash - item->path), item->path);
        if (cordon_guard_stat(guard, item->root, ret_path, &facts) == 0 && S_ISLNK(facts.st_mode))
            return ret_path;
    }
    (void)snprintf(ret_path, PATH_MAX, "%s", item->path);
    return cordon_guard_stat(guard, item->root, item->path, &facts) == 0 ? ret_path : NULL;
}

static int recheck_item(const cordon_guard *guard, const cordon_guard_item *item, cordon_err *err)
{
    char there[PATH_MAX];
    struct stat facts;
    bool absent = item->kind == CORDON_GUARD_ABSENT;
    bool fine = absent ? what_is_there(guard, item, there) == NULL
                       : cordon_guard_stat(guard, item->root, item->path, &facts) == 0 &&
                             is_same(item, &facts);
    return fine ? 0
                : CORDON_FAIL(err, CORDON_ERR_REFUSED,
                              "worktree %s: %s %s since it was looked at; nothing was released; "
                              "leave the folder alone during a run",
                              CORDON_QUOTE(cordon_guard_name(guard, item->root)),
                              CORDON_QUOTE(item->path), absent ? "appeared" : "changed");
}

int cordon_guard_recheck(const cordon_guard *guard, cordon_err *err)
{
    for (size_t i = 0; i < guard->count; i++)
        if (recheck_item(guard, &guard->items[i], err) < 0)
            return -1;
    return 0;
}

/* --- Findings ------------------------------------------------------------------------------ */

void cordon_guard_findings_clear(cordon_guard_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].path);
        free(findings->items[i].moved_to);
    }
    free(findings->items);
    *findings = (cordon_guard_findings){0};
}

/* "PATH" of the worktree; with the host's folder before it where it is the common directory's. */
static int tell(const cordon_guard *guard, cordon_guard_root root, const char *path,
                const char *what, const char *moved_to, cordon_guard_findings *findings,
                cordon_err *err)
{
    cordon_guard_finding *items =
        reallocarray(findings->items, findings->count + 1, sizeof *findings->items);
    if (!items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    findings->items = items;
    cordon_guard_finding *finding = &items[findings->count++];
    *finding = (cordon_guard_finding){.what = what};
    bool common = root == CORDON_GUARD_COMMON;
    if (asprintf(&finding->path, "%s%s%s", common ? guard->roots[root]->path : "",
                 common ? "/" : "", path) < 0) {
        finding->path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    return moved_to ? cordon_text_copy(moved_to, &finding->moved_to, err) : 0;
}

/* An agent may have taken its owner's right to write in the folder. */
static int rename_within(int folder, const char *from, const char *to)
{
    char self[64];
    struct stat facts;
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
        return 0;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", folder);
    if (errno != EACCES || fstat(folder, &facts) < 0 ||
        chmod(self, (facts.st_mode & 07777) | S_IRWXU) < 0)
        return -1;
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

/* A name that does not fit with the suffix gives up its end. */
static int move_away(const cordon_guard *guard, cordon_guard_root root, const char *path,
                     const char *suffix, cordon_guard_findings *findings, cordon_err *err)
{
    char to[NAME_MAX + 1];
    const char *name = NULL;
    cordon_autoclose int folder = open_folder_of(guard, root, path, &name);
    (void)snprintf(to, sizeof to, "%.200s.cordon-%s", name, suffix);
    bool moved = folder >= 0 && rename_within(folder, name, to) == 0;
    return tell(guard, root, path, "appeared", moved ? to : NULL, findings, err);
}

/* A kept place that is not there any more; a placeholder that was never made is not missed. */
static int settle_gone(const cordon_guard *guard, const cordon_guard_item *item, int errnum,
                       cordon_guard_findings *findings, cordon_err *err)
{
    bool absent = cordon_guard_is_absent(errnum);
    if (absent && item->kind == CORDON_GUARD_PLACEHOLDER && !item->made)
        return 0;
    return tell(guard, item->root, item->path, absent ? "changed" : "unseen", NULL, findings, err);
}

static int settle_item(const cordon_guard *guard, const cordon_guard_item *item, const char *suffix,
                       cordon_guard_findings *findings, cordon_err *err)
{
    char there[PATH_MAX];
    struct stat facts;
    if (item->kind == CORDON_GUARD_ABSENT) {
        const char *path = what_is_there(guard, item, there);
        return path ? move_away(guard, item->root, path, suffix, findings, err) : 0;
    }
    if (cordon_guard_stat(guard, item->root, item->path, &facts) < 0)
        return settle_gone(guard, item, errno, findings, err);
    if (is_same(item, &facts))
        return 0;
    if (item->kind == CORDON_GUARD_PLACEHOLDER)
        return move_away(guard, item->root, item->path, suffix, findings, err);
    return tell(guard, item->root, item->path, "changed", NULL, findings, err);
}

static int add_found(cordon_text_list *list, const char *path, cordon_err *err)
{
    if (list->count >= FOUND_MAX)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "more than %d places appeared that should not be there", FOUND_MAX);
    return cordon_text_list_add(list, path, err);
}

/* A folder that its owner may not enter hides what is in it: an agent can close one. */
static int settle_closed(const cordon_guard_look *look, const cordon_walk_entry *entry,
                         cordon_err *err)
{
    struct stat owner;
    struct stat facts;
    bool known = fstatat(look->guard->roots[look->root]->fd, "", &owner, AT_EMPTY_PATH) == 0 &&
                 fstatat(entry->folder_fd, entry->name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && facts.st_uid != owner.st_uid)
        return 0;
    return add_found(look->unseen, entry->path, err);
}

static int settle_visit(void *context, const cordon_walk_entry *entry, bool *enter, cordon_err *err)
{
    const cordon_guard_look *look = context;
    char folder[PATH_MAX];
    if (entry->closed)
        return settle_closed(look, entry, err);
    if (cordon_guard_is_kept(look->guard, look->root, entry->path)) {
        *enter = false;
        return 0;
    }
    if (cordon_guard_is_git_link(look, entry) ||
        (strcmp(entry->name, ".git") == 0 &&
         !cordon_guard_is_own_git(look->guard, look, entry->path)))
        return add_found(look->found, entry->path, err);
    if (!cordon_guard_is_git_head(entry))
        return 0;
    cordon_guard_folder_of(entry->path, folder);
    return cordon_guard_is_own_git(look->guard, look, folder)
               ? 0
               : add_found(look->found, entry->path, err);
}

static int settle_root(const cordon_guard *guard, cordon_guard_root root, const char *suffix,
                       cordon_deadline dl, cordon_guard_findings *findings, cordon_err *err)
{
    cordon_auto(cordon_text_list) found = {0};
    cordon_auto(cordon_text_list) unseen = {0};
    cordon_guard_look look = {.guard = guard, .root = root, .found = &found, .unseen = &unseen};
    int result = cordon_guard_walk(&look, settle_visit, true, dl, err);
    /* What lies deeper first: its path leads there only until what is above has its new name. */
    for (size_t i = found.count; i > 0; i--) {
        cordon_err failed = CORDON_ERR_INIT;
        if (move_away(guard, root, found.items[i - 1], suffix, findings, &failed) < 0 &&
            result == 0) {
            *err = failed;
            result = -1;
        }
    }
    for (size_t i = 0; result == 0 && i < unseen.count; i++)
        result = tell(guard, root, unseen.items[i], "unseen", NULL, findings, err);
    return result;
}

int cordon_guard_settle(const cordon_guard *guard, const char *suffix, cordon_deadline dl,
                        cordon_guard_findings *ret_findings, cordon_err *err)
{
    if (!guard->writable)
        return 0;
    for (size_t i = 0; i < guard->count; i++)
        if (settle_item(guard, &guard->items[i], suffix, ret_findings, err) < 0)
            return -1;
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++)
        if (guard->roots[root] &&
            settle_root(guard, (cordon_guard_root)root, suffix, dl, ret_findings, err) < 0)
            return -1;
    return 0;
}

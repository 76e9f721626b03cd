/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept, place by place; see worktree_guard.h. What of git is, stands in
 * worktree_guard_git.c. */
#include "worktree_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "worktree_guard_impl.h"
#include "worktree_walk.h"

/* --- Items --------------------------------------------------------------------------------- */

bool cordon_guard_is_mount(const cordon_guard_item *item)
{
    return item->kind != CORDON_GUARD_ABSENT;
}

cordon_guard_item *cordon_guard_find(const cordon_guard *guard, cordon_guard_root root,
                                     const char *path)
{
    for (size_t i = 0; i < guard->count; i++)
        if (guard->items[i].root == root && strcmp(guard->items[i].path, path) == 0)
            return &guard->items[i];
    return NULL;
}

static bool lies_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return length == 0 ? path[0] != '\0'
                       : strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* The nearest mount above decides: what lies on top of it can be written again. */
bool cordon_guard_lies_in_kept(const cordon_guard *guard, cordon_guard_root root, const char *path)
{
    const cordon_guard_item *nearest = NULL;
    for (size_t i = 0; i < guard->count; i++) {
        const cordon_guard_item *item = &guard->items[i];
        if (item->root == root && cordon_guard_is_mount(item) && lies_below(path, item->path) &&
            (!nearest || strlen(item->path) > strlen(nearest->path)))
            nearest = item;
    }
    return nearest && nearest->kind == CORDON_GUARD_READ_ONLY;
}

const char *cordon_guard_name(const cordon_guard *guard, cordon_guard_root root)
{
    return guard->roots[root]->path;
}

static int join(const char *folder, const char *path, char **ret_path, cordon_err *err)
{
    if (asprintf(ret_path, "%s%s%s", folder, path[0] ? "/" : "", path) < 0) {
        *ret_path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    return 0;
}

static int grow(cordon_guard *guard, cordon_err *err)
{
    size_t capacity = guard->capacity ? guard->capacity * 2 : 32;
    cordon_guard_item *items = reallocarray(guard->items, capacity, sizeof *items);
    if (!items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    guard->items = items;
    guard->capacity = capacity;
    return 0;
}

static size_t count_mounts(const cordon_guard *guard)
{
    size_t count = 0;
    for (size_t i = 0; i < guard->count; i++)
        count += cordon_guard_is_mount(&guard->items[i]);
    return count;
}

static int check_room(const cordon_guard *guard, const char *path, cordon_err *err)
{
    if (count_mounts(guard) < CORDON_GUARD_MOUNTS_MAX)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: more than %d places would have to be kept from being written "
                       "(%s was one too many); give a smaller folder, move nested repositories "
                       "away, or use a phase that does not write",
                       CORDON_QUOTE(cordon_guard_name(guard, CORDON_GUARD_WORKTREE)),
                       CORDON_GUARD_MOUNTS_MAX, CORDON_QUOTE(path));
}

static int add_item(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                    const char *path, cordon_guard_item **ret_item, cordon_err *err)
{
    if ((guard->count == guard->capacity && grow(guard, err) < 0) ||
        check_room(guard, path, err) < 0)
        return -1;
    cordon_guard_item *item = &guard->items[guard->count++];
    *item = (cordon_guard_item){.kind = kind, .root = root};
    if (cordon_text_copy(path, &item->path, err) < 0 ||
        join(guard->roots[root]->path, path, &item->source, err) < 0 ||
        join(guard->targets[root], path, &item->target, err) < 0)
        return -1;
    *ret_item = item;
    return 0;
}

void cordon_guard_see(cordon_guard_item *item, const struct stat *facts)
{
    item->dev = facts->st_dev;
    item->ino = facts->st_ino;
    item->type = facts->st_mode & S_IFMT;
    item->size = S_ISREG(facts->st_mode) ? facts->st_size : 0;
    item->changed = S_ISREG(facts->st_mode) ? facts->st_ctim : (struct timespec){0};
}

/* --- One place ----------------------------------------------------------------------------- */

int cordon_guard_refuse(const cordon_guard *guard, cordon_guard_root root, const char *path,
                        const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: %s %s, so that it could not be kept from being changed; "
                       "replace it, take it out of worktree.protected if it stands there, or use a "
                       "phase that does not write",
                       CORDON_QUOTE(cordon_guard_name(guard, root)), CORDON_QUOTE(path), why);
}

int cordon_guard_stat(const cordon_guard *guard, cordon_guard_root root, const char *path,
                      struct stat *ret_facts)
{
    cordon_autoclose int fd = cordon_open_below(guard->roots[root]->fd, path, O_PATH);
    return fd < 0 || fstat(fd, ret_facts) < 0 ? -1 : 0;
}

int cordon_guard_fail_stat(const cordon_guard *guard, cordon_guard_root root, const char *path,
                           cordon_err *err)
{
    return CORDON_FAIL_ERRNO(err, errno, "worktree %s: %s",
                             CORDON_QUOTE(cordon_guard_name(guard, root)), CORDON_QUOTE(path));
}

/* An engine gets paths as JSON. */
static int check_spelling(const cordon_guard *guard, cordon_guard_root root, const char *path,
                          cordon_err *err)
{
    return cordon_worktree_is_plain(path)
               ? 0
               : cordon_guard_refuse(guard, root, path,
                                     "has a name with control characters or no UTF-8", err);
}

static bool can_be_kept(const struct stat *facts)
{
    return S_ISDIR(facts->st_mode) || (S_ISREG(facts->st_mode) && facts->st_nlink == 1);
}

/* SECURITY: a folder that was mounted as it is, to stay where it is, would stay writable. */
static void keep_what_is_below(cordon_guard *guard, cordon_guard_root root, const char *path)
{
    for (size_t i = 0; i < guard->count; i++) {
        cordon_guard_item *item = &guard->items[i];
        if (item->root == root && item->kind == CORDON_GUARD_ANCHOR && lies_below(item->path, path))
            item->kind = CORDON_GUARD_READ_ONLY;
    }
}

/* Mounts what is there; a folder or a file with one name. */
int cordon_guard_keep_here(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                           const char *path, const struct stat *facts, cordon_err *err)
{
    cordon_guard_item *item = cordon_guard_find(guard, root, path);
    if (item && kind == CORDON_GUARD_READ_ONLY && item->kind == CORDON_GUARD_ANCHOR) {
        item->kind = kind;
        keep_what_is_below(guard, root, path);
        return 0;
    }
    if (item)
        return 0;
    if (check_spelling(guard, root, path, err) < 0)
        return -1;
    if (S_ISLNK(facts->st_mode))
        return cordon_guard_refuse(guard, root, path, "is a symbolic link", err);
    if (!S_ISDIR(facts->st_mode) && !S_ISREG(facts->st_mode))
        return cordon_guard_refuse(guard, root, path, "is neither a file nor a folder", err);
    if (S_ISREG(facts->st_mode) && facts->st_nlink != 1)
        return cordon_guard_refuse(guard, root, path, "is a file with a second name (hard link)",
                                   err);
    if (add_item(guard, kind, root, path, &item, err) < 0)
        return -1;
    cordon_guard_see(item, facts);
    if (kind == CORDON_GUARD_READ_ONLY)
        keep_what_is_below(guard, root, path);
    return 0;
}

/* SECURITY: a folder with mounts below it can be renamed, and its mounts go with it. */
static int anchor_parents(cordon_guard *guard, cordon_guard_root root, const char *path,
                          cordon_err *err)
{
    char parent[PATH_MAX];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat facts;
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        if (cordon_guard_stat(guard, root, parent, &facts) < 0)
            return cordon_guard_fail_stat(guard, root, parent, err);
        if (cordon_guard_keep_here(guard, CORDON_GUARD_ANCHOR, root, parent, &facts, err) < 0)
            return -1;
    }
    return 0;
}

int cordon_guard_keep(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                      const char *path, const struct stat *facts, cordon_err *err)
{
    /* SECURITY: further mounts, of the folders between, would make a part of it writable again. */
    if (cordon_guard_lies_in_kept(guard, root, path) && can_be_kept(facts))
        return 0;
    if (anchor_parents(guard, root, path, err) < 0)
        return -1;
    return cordon_guard_keep_here(guard, kind, root, path, facts, err);
}

/* ENOTDIR: a file stands where its folder would be; that is absent, too. ELOOP is told by stat. */
bool cordon_guard_is_absent(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR;
}

int cordon_guard_add_absent(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                            const char *path, const char *content, cordon_err *err)
{
    cordon_guard_item *item = NULL;
    if (cordon_guard_find(guard, root, path))
        return 0;
    if (add_item(guard, kind, root, path, &item, err) < 0)
        return -1;
    item->content = content;
    return 0;
}

/* A component above that is a symlink hides what is behind it. */
static bool parent_is_link(const cordon_guard *guard, cordon_guard_root root, const char *path)
{
    char parent[PATH_MAX];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat facts;
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        if (cordon_guard_stat(guard, root, parent, &facts) == 0 && S_ISLNK(facts.st_mode))
            return true;
    }
    return false;
}

int cordon_guard_keep_path(cordon_guard *guard, cordon_guard_root root, const char *path,
                           cordon_err *err)
{
    struct stat facts;
    if (parent_is_link(guard, root, path))
        return cordon_guard_refuse(guard, root, path, "lies behind a symbolic link", err);
    if (cordon_guard_stat(guard, root, path, &facts) == 0)
        return cordon_guard_keep(guard, CORDON_GUARD_READ_ONLY, root, path, &facts, err);
    if (cordon_guard_is_absent(errno))
        return cordon_guard_add_absent(guard, CORDON_GUARD_ABSENT, root, path, NULL, err);
    return cordon_guard_fail_stat(guard, root, path, err);
}

/* --- All of it ----------------------------------------------------------------------------- */

int cordon_guard_check_path(const char *path, cordon_err *err)
{
    bool fine = path[0] != '\0' && path[0] != '/' && cordon_worktree_is_plain(path) &&
                strlen(path) < 512 && strncmp(path, ".git/", 5) != 0 && strcmp(path, ".git") != 0;
    for (const char *part = path; fine && part; part = strchr(part, '/')) {
        part += *part == '/' ? 1 : 0;
        size_t length = strcspn(part, "/");
        fine = length > 0 && strncmp(part, ".", length) != 0 && strncmp(part, "..", length) != 0;
    }
    if (!fine)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is no plain path below the worktree",
                           CORDON_QUOTE(path));
    return 0;
}

static int guard_roots(cordon_guard *guard, const cordon_worktree *worktree,
                       const cordon_worktree_link *link, const char *mount, cordon_err *err)
{
    guard->roots[CORDON_GUARD_WORKTREE] = worktree;
    if (cordon_text_copy(mount, &guard->targets[CORDON_GUARD_WORKTREE], err) < 0)
        return -1;
    if (link->kind != CORDON_GIT_LINKED)
        return 0;
    guard->roots[CORDON_GUARD_COMMON] = &link->common;
    return cordon_text_copy(link->target, &guard->targets[CORDON_GUARD_COMMON], err);
}

static int by_place(const void *a, const void *b)
{
    const cordon_guard_item *left = a;
    const cordon_guard_item *right = b;
    if (left->root != right->root)
        return left->root < right->root ? -1 : 1;
    return strcmp(left->path, right->path);
}

int cordon_guard_plan(const cordon_worktree *worktree, const cordon_worktree_link *link,
                      const char *mount, const cordon_text_list *protected, bool writable,
                      int64_t max_entries, cordon_deadline dl, cordon_guard *ret_guard,
                      cordon_err *err)
{
    cordon_auto(cordon_guard) guard = {.max_entries = max_entries, .writable = writable};
    if (guard_roots(&guard, worktree, link, mount, err) < 0 ||
        cordon_guard_keep_common(&guard, link, err) < 0)
        return -1;
    for (size_t i = 0; writable && i < protected->count; i++)
        if (cordon_guard_keep_path(&guard, CORDON_GUARD_WORKTREE, protected->items[i], err) < 0)
            return -1;
    if (writable && (cordon_guard_keep_own_git(&guard, link, err) < 0 ||
                     cordon_guard_look_through(&guard, dl, err) < 0))
        return -1;
    if (guard.count > 1)
        qsort(guard.items, guard.count, sizeof *guard.items, by_place);
    *ret_guard = guard;
    guard = (cordon_guard){0};
    return 0;
}

void cordon_guard_clear(cordon_guard *guard)
{
    for (size_t i = 0; i < guard->count; i++) {
        free(guard->items[i].path);
        free(guard->items[i].source);
        free(guard->items[i].target);
    }
    free(guard->items);
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++) {
        free(guard->targets[root]);
        if (guard->locked)
            cordon_cleanup_close(&guard->locks[root]);
    }
    *guard = (cordon_guard){0};
}

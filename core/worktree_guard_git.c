/* SPDX-License-Identifier: Apache-2.0 */
/* What of git data is kept, as tables, and the look for more of it; see worktree_guard.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "worktree_guard_impl.h"

/*
 * Of a git directory in which work goes on. Sources: gitrepository-layout(5), git-config(1),
 * githooks(5).
 */
typedef struct git_part {
    const char *path;
    cordon_guard_kind kind; /* when it is there */
    const char *content;    /* of its placeholder; NULL: a folder */
    bool watched;           /* no placeholder is possible: it must stay away */
} git_part;

static const git_part git_parts[] = {
    /* Any number of keys that name programs: core.fsmonitor, core.sshCommand, filters, aliases. */
    {"config", CORDON_GUARD_READ_ONLY, "", false},
    {"config.worktree", CORDON_GUARD_READ_ONLY, "", false},
    {"hooks", CORDON_GUARD_READ_ONLY, NULL, false},
    /* attributes name filters and diff drivers; grafts change what history is. */
    {"info", CORDON_GUARD_READ_ONLY, NULL, false},
    {"objects", CORDON_GUARD_ANCHOR, NULL, false},
    /* alternates: objects of any other folder, also of one that changes later. */
    {"objects/info", CORDON_GUARD_READ_ONLY, NULL, false},
    /* Git directories of submodules, each with a configuration of its own. */
    {"modules", CORDON_GUARD_READ_ONLY, NULL, false},
    /* The other worktrees' pointers lead git to a configuration. */
    {"worktrees", CORDON_GUARD_READ_ONLY, NULL, false},
    /* A pointer to another configuration; "." is the folder itself, as git reads it. */
    {"commondir", CORDON_GUARD_READ_ONLY, ".\n", false},
    /* A todo list with "exec" lines, for the next rebase --continue. */
    {"rebase-merge", CORDON_GUARD_READ_ONLY, NULL, true},
    /* The same of cherry-pick and revert: its opts name a strategy, which is a program. */
    {"sequencer", CORDON_GUARD_READ_ONLY, NULL, true},
};

/* Of this worktree's own folder below worktrees/ of the common directory. */
static const git_part admin_parts[] = {
    {"", CORDON_GUARD_ANCHOR, NULL, false},
    {"config.worktree", CORDON_GUARD_READ_ONLY, "", false},
    {"commondir", CORDON_GUARD_READ_ONLY, NULL, false},
    {"gitdir", CORDON_GUARD_READ_ONLY, NULL, false},
    {"modules", CORDON_GUARD_READ_ONLY, NULL, false},
    {"rebase-merge", CORDON_GUARD_READ_ONLY, NULL, true},
    {"sequencer", CORDON_GUARD_READ_ONLY, NULL, true},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Git directories ----------------------------------------------------------------------- */

static int keep_part(cordon_guard *guard, cordon_guard_root root, const char *folder,
                     const git_part *part, cordon_err *err)
{
    char path[PATH_MAX];
    struct stat facts;
    (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] && part->path[0] ? "/" : "",
                   part->path);
    if (cordon_guard_stat(guard, root, path, &facts) == 0) {
        bool left = cordon_guard_is_placeholder(guard, root, path, part->content, &facts);
        if (left)
            return cordon_guard_add_absent(guard, CORDON_GUARD_PLACEHOLDER, root, path,
                                           part->content, err);
        return cordon_guard_keep_here(guard, part->kind, root, path, &facts, err);
    }
    if (!cordon_guard_is_absent(errno))
        return cordon_guard_fail_stat(guard, root, path, err);
    return cordon_guard_add_absent(guard,
                                   part->watched ? CORDON_GUARD_ABSENT : CORDON_GUARD_PLACEHOLDER,
                                   root, path, part->content, err);
}

static int keep_parts(cordon_guard *guard, cordon_guard_root root, const char *folder,
                      const git_part *parts, size_t count, cordon_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (keep_part(guard, root, folder, &parts[i], err) < 0)
            return -1;
    return 0;
}

/* The worktree's own .git: a folder in which work goes on, a pointer, or nothing. */
int cordon_guard_keep_own_git(cordon_guard *guard, const cordon_worktree_link *link,
                              cordon_err *err)
{
    static const git_part none = {".git", CORDON_GUARD_READ_ONLY, NULL, false};
    struct stat facts;
    if (cordon_guard_stat(guard, CORDON_GUARD_WORKTREE, ".git", &facts) < 0 ||
        cordon_guard_is_placeholder(guard, CORDON_GUARD_WORKTREE, ".git", NULL, &facts))
        return keep_part(guard, CORDON_GUARD_WORKTREE, "", &none, err);
    if (link->kind != CORDON_GIT_FOLDER)
        return cordon_guard_keep_here(guard, CORDON_GUARD_READ_ONLY, CORDON_GUARD_WORKTREE, ".git",
                                      &facts, err);
    if (cordon_guard_keep_here(guard, CORDON_GUARD_ANCHOR, CORDON_GUARD_WORKTREE, ".git", &facts,
                               err) < 0)
        return -1;
    if (keep_parts(guard, CORDON_GUARD_WORKTREE, ".git", git_parts, COUNT(git_parts), err) < 0 ||
        cordon_guard_keep_configured(guard, CORDON_GUARD_WORKTREE, ".git", err) < 0)
        return -1;
    return cordon_guard_keep_linked_hooks(guard, CORDON_GUARD_WORKTREE, ".git/hooks", err);
}

int cordon_guard_keep_common(cordon_guard *guard, const cordon_worktree_link *link, cordon_err *err)
{
    char folder[PATH_MAX];
    struct stat facts;
    if (link->kind != CORDON_GIT_LINKED)
        return 0;
    if (cordon_guard_stat(guard, CORDON_GUARD_COMMON, "", &facts) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(link->common.path));
    if (cordon_guard_keep_here(guard,
                               guard->writable ? CORDON_GUARD_ANCHOR : CORDON_GUARD_READ_ONLY,
                               CORDON_GUARD_COMMON, "", &facts, err) < 0)
        return -1;
    if (!guard->writable)
        return 0;
    (void)snprintf(folder, sizeof folder, "worktrees/%s", link->name);
    if (keep_parts(guard, CORDON_GUARD_COMMON, "", git_parts, COUNT(git_parts), err) < 0)
        return -1;
    if (keep_parts(guard, CORDON_GUARD_COMMON, folder, admin_parts, COUNT(admin_parts), err) < 0 ||
        cordon_guard_keep_configured(guard, CORDON_GUARD_COMMON, "", err) < 0 ||
        cordon_guard_keep_configured(guard, CORDON_GUARD_COMMON, folder, err) < 0)
        return -1;
    return cordon_guard_keep_linked_hooks(guard, CORDON_GUARD_COMMON, "hooks", err);
}

/* --- The look ------------------------------------------------------------------------------ */

static bool has_sibling(const cordon_walk_entry *entry, const char *name)
{
    struct stat facts;
    return fstatat(entry->folder_fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

bool cordon_guard_is_git_head(const cordon_walk_entry *entry)
{
    return strcmp(entry->name, "HEAD") == 0 &&
           ((has_sibling(entry, "objects") && has_sibling(entry, "refs")) ||
            has_sibling(entry, "commondir"));
}

bool cordon_guard_is_git_link(const cordon_guard_look *look, const cordon_walk_entry *entry)
{
    bool in_git = look->root == CORDON_GUARD_COMMON || strncmp(entry->path, ".git/", 5) == 0;
    return in_git && entry->type == DT_LNK;
}

bool cordon_guard_is_kept(const cordon_guard *guard, cordon_guard_root root, const char *path)
{
    const cordon_guard_item *item = cordon_guard_find(guard, root, path);
    return item && (item->kind == CORDON_GUARD_READ_ONLY || item->kind == CORDON_GUARD_PLACEHOLDER);
}

/* "a/b/HEAD" is "a/b"'s; "HEAD" is the root's own. */
void cordon_guard_folder_of(const char *path, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(ret_folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 0, path);
}

static int keep_nested(const cordon_guard_look *look, const char *path, cordon_err *err)
{
    cordon_guard *guard = look->plan;
    struct stat facts;
    if (path[0] == '\0')
        return cordon_guard_refuse(guard, look->root, "itself", "is a bare git repository", err);
    if (cordon_guard_stat(guard, look->root, path, &facts) < 0)
        return cordon_guard_fail_stat(guard, look->root, path, err);
    return cordon_guard_keep(guard, CORDON_GUARD_READ_ONLY, look->root, path, &facts, err);
}

/* Whether a folder with the shape of a git directory is one of those that were planned for. */
bool cordon_guard_is_own_git(const cordon_guard *guard, const cordon_guard_look *look,
                             const char *folder)
{
    const cordon_guard_item *item = cordon_guard_find(guard, look->root, folder);
    if (look->root == CORDON_GUARD_COMMON)
        return folder[0] == '\0' ||
               (item && strncmp(folder, "worktrees/", strlen("worktrees/")) == 0);
    return strcmp(folder, ".git") == 0 && item && item->kind == CORDON_GUARD_ANCHOR;
}

static int plan_visit(void *context, const cordon_walk_entry *entry, bool *enter, cordon_err *err)
{
    cordon_guard_look *look = context;
    const cordon_guard *guard = look->guard;
    char folder[PATH_MAX];
    if (cordon_guard_is_kept(guard, look->root, entry->path)) {
        *enter = false;
        return 0;
    }
    if (cordon_guard_is_git_link(look, entry))
        return cordon_guard_refuse(
            guard, look->root, entry->path,
            "is a symbolic link in a git directory, which git would write through", err);
    if (strcmp(entry->name, ".git") == 0 && strcmp(entry->path, ".git") != 0) {
        *enter = false;
        return keep_nested(look, entry->path, err);
    }
    if (!cordon_guard_is_git_head(entry))
        return 0;
    cordon_guard_folder_of(entry->path, folder);
    return cordon_guard_is_own_git(guard, look, folder) ? 0 : keep_nested(look, folder, err);
}

static bool is_writable_in_kept(const cordon_guard_look *look, const cordon_guard_item *item)
{
    return item->root == look->root && item->kind == CORDON_GUARD_ANCHOR &&
           cordon_guard_lies_in_kept(look->guard, look->root, item->path);
}

/*
 * SECURITY: a kept folder is not entered, but one in it may be mounted writable: a linked
 * worktree's own below worktrees/.
 */
static int walk_writable_in_kept(const cordon_guard_look *look, const cordon_walk *walk,
                                 cordon_err *err)
{
    char prefix[PATH_MAX + 1];
    for (size_t i = 0; i < look->guard->count; i++) {
        const cordon_guard_item *item = &look->guard->items[i];
        if (!is_writable_in_kept(look, item))
            continue;
        cordon_autoclose int fd =
            cordon_open_below(look->guard->roots[look->root]->fd, item->path, O_PATH | O_DIRECTORY);
        if (fd < 0)
            return cordon_guard_fail_stat(look->guard, look->root, item->path, err);
        (void)snprintf(prefix, sizeof prefix, "%s/", item->path);
        if (cordon_walk_below(walk, fd, prefix, err) < 0)
            return -1;
    }
    return 0;
}

int cordon_guard_walk(cordon_guard_look *look, cordon_walk_fn *visit, bool tell_closed,
                      cordon_deadline dl, cordon_err *err)
{
    char label[CORDON_QUOTE_MAX + 16];
    const cordon_worktree *folder = look->guard->roots[look->root];
    cordon_walk walk = {.label = label,
                        .purpose = "for git data",
                        .max_entries = look->guard->max_entries,
                        .dl = dl,
                        .visit = visit,
                        .context = look,
                        .tell_closed = tell_closed};
    (void)snprintf(label, sizeof label, "worktree %s", CORDON_QUOTE(folder->path));
    if (cordon_walk_below(&walk, folder->fd, "", err) < 0)
        return -1;
    return walk_writable_in_kept(look, &walk, err);
}

int cordon_guard_look_through(cordon_guard *guard, cordon_deadline dl, cordon_err *err)
{
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++) {
        cordon_guard_look look = {.guard = guard, .plan = guard, .root = (cordon_guard_root)root};
        if (guard->roots[root] && cordon_guard_walk(&look, plan_visit, false, dl, err) < 0)
            return -1;
    }
    return 0;
}

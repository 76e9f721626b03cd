/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the worktree that git's configuration makes code: configurations that it includes, the
 * folder of hooks that it names, and what links among the hooks lead to. See worktree_guard.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "git_config.h"
#include "worktree_guard_impl.h"

/* As git's own: include depth 10. */
#define INCLUDE_DEPTH_MAX 10
#define CONFIG_BYTES_MAX  ((size_t)1 << 20)
/* Of one repository: a file that includes itself many times over must not cost what it likes. */
#define CONFIG_FILES_MAX 64

/* One file of configuration; folder is the host's path that its relative includes start at. */
typedef struct config_file {
    cordon_guard *guard;
    cordon_guard_root root;
    const char *path;
    int depth;
    int *budget; /* how many more files are read */
} config_file;

static int read_config(const config_file *file, cordon_err *err);

/* --- Places -------------------------------------------------------------------------------- */

/* Removes "." and ".." by text, in place; the path is absolute. */
static void normalise(char *path)
{
    char *out = path;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        bool up = length == 2 && at[0] == '.' && at[1] == '.';
        if (up)
            while (out > path && *--out != '/')
                ;
        else if (length > 0 && !(length == 1 && at[0] == '.')) {
            *out++ = '/';
            memmove(out, at, length);
            out += length;
        }
        at += length;
    }
    *out = '\0';
}

/* Which folder that the step gets holds a path of the host, and where; false when none does. */
static bool find_place(const cordon_guard *guard, const char *path, cordon_guard_root *ret_root,
                       const char **ret_below)
{
    for (int root = 0; root < CORDON_GUARD_ROOTS; root++) {
        size_t length = guard->roots[root] ? strlen(guard->roots[root]->path) : 0;
        if (length > 0 && strncmp(path, guard->roots[root]->path, length) == 0 &&
            path[length] == '/') {
            *ret_root = (cordon_guard_root)root;
            *ret_below = path + length + 1;
            return true;
        }
    }
    return false;
}

/* Absolute, of the home (which is never in a worktree: false), or from `folder`. */
static bool resolve(const char *folder, const char *path, char ret_path[PATH_MAX])
{
    int length = path[0] == '/' ? snprintf(ret_path, PATH_MAX, "%s", path)
                                : snprintf(ret_path, PATH_MAX, "%s/%s", folder, path);
    if (path[0] == '~' || path[0] == '\0' || path[0] == '%' || length >= PATH_MAX)
        return false;
    normalise(ret_path);
    return true;
}

/* --- Includes and hooks -------------------------------------------------------------------- */

/* The folder that holds a file of configuration, as a path of the host. */
static void folder_of(const config_file *file, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(file->path, '/');
    (void)snprintf(ret_folder, PATH_MAX, "%s/%.*s", cordon_guard_name(file->guard, file->root),
                   slash ? (int)(slash - file->path) : 0, file->path);
}

static int follow_include(const config_file *file, const char *value, cordon_err *err)
{
    char folder[PATH_MAX];
    char path[PATH_MAX];
    const char *below = NULL;
    config_file next = {.guard = file->guard, .depth = file->depth + 1, .budget = file->budget};
    folder_of(file, folder);
    if (!resolve(folder, value, path) || !find_place(file->guard, path, &next.root, &below) ||
        next.depth > INCLUDE_DEPTH_MAX)
        return 0;
    next.path = below;
    if (cordon_guard_keep_path(file->guard, next.root, below, err) < 0)
        return -1;
    return read_config(&next, err);
}

/* A relative one starts at the top of the worktree, where hooks are executed. */
static int follow_hooks(const config_file *file, const char *value, cordon_err *err)
{
    char path[PATH_MAX];
    const char *below = NULL;
    cordon_guard_root root = CORDON_GUARD_WORKTREE;
    const char *tree = cordon_guard_name(file->guard, CORDON_GUARD_WORKTREE);
    if (!resolve(tree, value, path))
        return 0;
    if (strcmp(path, tree) == 0)
        return cordon_guard_refuse(file->guard, CORDON_GUARD_WORKTREE, "core.hooksPath",
                                   "is the worktree itself", err);
    if (!find_place(file->guard, path, &root, &below))
        return 0;
    if (cordon_guard_keep_path(file->guard, root, below, err) < 0)
        return -1;
    return cordon_guard_keep_linked_hooks(file->guard, root, below, err);
}

static int config_variable(void *context, const char *section, const char *key, const char *value,
                           cordon_err *err)
{
    const config_file *file = context;
    bool include = strcmp(section, "include") == 0 || strcmp(section, "includeif") == 0;
    if (value && include && strcmp(key, "path") == 0)
        return follow_include(file, value, err);
    if (value && strcmp(section, "core") == 0 && strcmp(key, "hookspath") == 0)
        return follow_hooks(file, value, err);
    return 0;
}

/* What is not there includes nothing; what cannot be read by us git does not read either. */
static int read_config(const config_file *file, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    struct stat facts;
    cordon_autoclose int fd = cordon_open_below(file->guard->roots[file->root]->fd, file->path,
                                                O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &facts) < 0 || !S_ISREG(facts.st_mode))
        return 0;
    if (--*file->budget < 0)
        return cordon_guard_refuse(file->guard, file->root, file->path,
                                   "is one configuration of git too many", err);
    cordon_autofree char *text = malloc(CONFIG_BYTES_MAX);
    ssize_t length = text ? read(fd, text, CONFIG_BYTES_MAX) : -1;
    if (!text)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (length < 0 || (size_t)length == CONFIG_BYTES_MAX)
        return cordon_guard_refuse(file->guard, file->root, file->path,
                                   "is a configuration of git that is too large to be read", err);
    config_file copy = *file;
    if (cordon_git_config_read(text, (size_t)length, config_variable, &copy, &why) == 0)
        return 0;
    if (why.code != CORDON_ERR_CONFIG)
        return CORDON_FAIL(err, why.code, "%s", why.message);
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: %s: %s; nobody can say which files it makes code; mend it",
                       CORDON_QUOTE(cordon_guard_name(file->guard, file->root)),
                       CORDON_QUOTE(file->path), why.message);
}

int cordon_guard_keep_configured(cordon_guard *guard, cordon_guard_root root, const char *folder,
                                 cordon_err *err)
{
    static const char *const names[] = {"config", "config.worktree"};
    char path[PATH_MAX];
    int budget = CONFIG_FILES_MAX;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        config_file file = {.guard = guard, .root = root, .path = path, .budget = &budget};
        (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", names[i]);
        if (read_config(&file, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Links among the hooks ----------------------------------------------------------------- */

static void close_stream(DIR **stream)
{
    if (*stream)
        (void)closedir(*stream);
}

static int follow_hook(cordon_guard *guard, const char *folder, int folder_fd, const char *name,
                       cordon_err *err)
{
    char target[PATH_MAX];
    char path[PATH_MAX];
    const char *below = NULL;
    cordon_guard_root root = CORDON_GUARD_WORKTREE;
    ssize_t length = readlinkat(folder_fd, name, target, sizeof target - 1);
    if (length < 0)
        return 0;
    target[length] = '\0';
    if (!resolve(folder, target, path) || !find_place(guard, path, &root, &below))
        return 0;
    return cordon_guard_keep_path(guard, root, below, err);
}

int cordon_guard_keep_linked_hooks(cordon_guard *guard, cordon_guard_root root, const char *path,
                                   cordon_err *err)
{
    char folder[PATH_MAX];
    cordon_autoclose int fd =
        cordon_open_below(guard->roots[root]->fd, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    cordon_cleanup(close_stream) DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream)
        return 0;
    (void)cordon_take_fd(&fd);
    (void)snprintf(folder, sizeof folder, "%s/%s", cordon_guard_name(guard, root), path);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (follow_hook(guard, folder, dirfd(stream), entry->d_name, err) < 0)
            return -1;
    return 0;
}

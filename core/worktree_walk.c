/* SPDX-License-Identifier: Apache-2.0 */
/* See worktree_walk.h. */
#include "worktree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "worktree.h"

/* How many entries pass between two looks at the clock. */
#define ENTRIES_PER_CHECK 1024

typedef struct walk_state {
    const cordon_walk *walk;
    int64_t entries;
    cordon_buf path;
} walk_state;

static int walk_into(walk_state *s, int parent_fd, const char *name, int depth, cordon_err *err);

/* The entry's kind; where the file system does not tell in passing, the inode is asked. */
static unsigned char entry_type(int fd, const struct dirent *entry)
{
    struct stat facts;
    if (entry->d_type != DT_UNKNOWN ||
        fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return entry->d_type;
    return (unsigned char)IFTODT(facts.st_mode);
}

static int count_entry(walk_state *s, cordon_err *err)
{
    const cordon_walk *walk = s->walk;
    char what[64];
    if (++s->entries > walk->max_entries)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s: has more than %lld entries, too many to look through %s; give a "
                           "smaller folder or raise limits.worktree_entries",
                           CORDON_QUOTE(walk->label), (long long)walk->max_entries, walk->purpose);
    if (s->entries % ENTRIES_PER_CHECK != 0)
        return 0;
    (void)snprintf(what, sizeof what, "looking through the worktree %s", walk->purpose);
    return cordon_deadline_check(walk->dl, what, err);
}

static int visit(walk_state *s, int fd, const char *name, unsigned char type, bool closed,
                 bool *enter, cordon_err *err)
{
    cordon_walk_entry entry = {.folder_fd = fd,
                               .path = cordon_buf_text(&s->path),
                               .name = name,
                               .type = type,
                               .closed = closed};
    *enter = type == DT_DIR && !closed;
    return s->walk->visit(s->walk->context, &entry, enter, err);
}

/* path holds the entry's while it is visited and entered. */
static int walk_entry(walk_state *s, int fd, const struct dirent *entry, int depth, cordon_err *err)
{
    bool enter = false;
    if (visit(s, fd, entry->d_name, entry_type(fd, entry), false, &enter, err) < 0)
        return -1;
    return enter ? walk_into(s, fd, entry->d_name, depth + 1, err) : 0;
}

static int walk_name(walk_state *s, int fd, const struct dirent *entry, int depth, cordon_err *err)
{
    size_t length = s->path.length;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    if (count_entry(s, err) < 0 || cordon_buf_append_text(&s->path, entry->d_name, err) < 0)
        return -1;
    int result = walk_entry(s, fd, entry, depth, err);
    s->path.length = length;
    s->path.data[length] = '\0';
    return result;
}

static void close_stream(DIR **stream)
{
    if (*stream)
        (void)closedir(*stream);
}

/* Reads a folder to its end. fd is taken over. */
static int walk_stream(walk_state *s, int fd, int depth, cordon_err *err)
{
    cordon_autoclose int owned = fd;
    cordon_cleanup(close_stream) DIR *stream = fdopendir(owned);
    if (!stream)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(s->walk->label));
    (void)cordon_take_fd(&owned);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry && errno != 0)
            return CORDON_FAIL_ERRNO(err, errno, "%s: cannot be read",
                                     CORDON_QUOTE(s->walk->label));
        if (!entry)
            return 0;
        if (walk_name(s, dirfd(stream), entry, depth, err) < 0)
            return -1;
    }
}

/* A folder's own path ends with a slash while its entries are read. */
static int walk_folder(walk_state *s, int fd, int depth, cordon_err *err)
{
    cordon_autoclose int owned = fd;
    size_t length = s->path.length;
    if (depth > 0 && cordon_buf_append_char(&s->path, '/', err) < 0)
        return -1;
    int result = walk_stream(s, cordon_take_fd(&owned), depth, err);
    s->path.length = length;
    if (s->path.data)
        s->path.data[length] = '\0';
    return result;
}

/* What vanished meanwhile, or is closed to the caller and so to the step, is passed over. */
static int walk_not_entered(walk_state *s, int parent_fd, const char *name, int depth, int errnum,
                            cordon_err *err)
{
    bool enter = false;
    if (depth > 0 && errnum == EACCES && s->walk->tell_closed)
        return visit(s, parent_fd, name, DT_DIR, true, &enter, err);
    if (depth > 0 && (errnum == EACCES || errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP))
        return 0;
    return CORDON_FAIL_ERRNO(err, errnum, "%s: cannot look into %s", CORDON_QUOTE(s->walk->label),
                             CORDON_QUOTE(name));
}

/*
 * SECURITY: a folder that may be read but not searched gives names, and nothing behind them: to
 * who asks for closed folders it is one. The others take the names, better than nothing.
 */
static int open_folder(const walk_state *s, int parent_fd, const char *name)
{
    struct stat self;
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || !s->walk->tell_closed || fstatat(fd, ".", &self, 0) == 0)
        return fd;
    int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}

static int walk_into(walk_state *s, int parent_fd, const char *name, int depth, cordon_err *err)
{
    if (depth > CORDON_WORKTREE_MAX_DEPTH)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s: %s lies too deep to be looked at %s; give a shallower folder",
                           CORDON_QUOTE(s->walk->label), CORDON_QUOTE(cordon_buf_text(&s->path)),
                           s->walk->purpose);
    int fd = open_folder(s, parent_fd, name);
    if (fd >= 0)
        return walk_folder(s, fd, depth, err);
    return walk_not_entered(s, parent_fd, name, depth, errno, err);
}

int cordon_walk_below(const cordon_walk *walk, int fd, const char *path, cordon_err *err)
{
    walk_state s = {.walk = walk};
    cordon_auto(cordon_buf) text =
        cordon_buf_make((size_t)(CORDON_WORKTREE_MAX_DEPTH + 4) * (NAME_MAX + 1));
    char what[64];
    (void)snprintf(what, sizeof what, "looking through the worktree %s", walk->purpose);
    if (cordon_deadline_check(walk->dl, what, err) < 0 ||
        cordon_buf_append_text(&text, path, err) < 0)
        return -1;
    s.path = text;
    int result = walk_into(&s, fd, ".", 0, err);
    text = s.path;
    return result;
}

/* The folder that holds the last component, and that component in *ret_name. */
static int open_parent(int fd, const char *path, const char **ret_name)
{
    cordon_autoclose int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash = NULL;
    while (at >= 0 && (slash = strchr(path, '/')) != NULL) {
        char name[NAME_MAX + 1];
        size_t length = (size_t)(slash - path);
        if (length == 0 || length > NAME_MAX) {
            errno = length == 0 ? EINVAL : ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, length);
        name[length] = '\0';
        int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        cordon_cleanup_close(&at);
        at = next;
        path = slash + 1;
    }
    *ret_name = path;
    return cordon_take_fd(&at);
}

int cordon_open_below(int fd, const char *path, int flags)
{
    const char *name = NULL;
    cordon_autoclose int parent = open_parent(fd, path, &name);
    if (parent < 0)
        return -1;
    return openat(parent, name[0] ? name : ".", flags | O_NOFOLLOW | O_CLOEXEC);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking through a worktree for sockets. Depth first over descriptors, bounded in entries, depth
 * and time; the path of a find is put together only when there is one.
 */
#include "worktree_rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"

/* How many entries pass between two looks at the clock. */
#define ENTRIES_PER_CHECK 1024

typedef struct scan {
    const cordon_worktree *worktree;
    int64_t entries;
    int64_t max_entries;
    cordon_deadline dl;
} scan;

/* One folder on the way from the worktree to where the scan is. */
typedef struct scan_folder {
    const struct scan_folder *parent;
    const char *name;
    int depth;
} scan_folder;

static int scan_into(scan *s, int parent_fd, const scan_folder *folder, cordon_err *err);

static int append_folder(cordon_buf *path, const scan_folder *folder, cordon_err *err)
{
    const scan_folder *chain[CORDON_WORKTREE_MAX_DEPTH + 1];
    size_t count = 0;
    for (; folder->parent && count <= CORDON_WORKTREE_MAX_DEPTH; folder = folder->parent)
        chain[count++] = folder;
    while (count > 0)
        if (cordon_buf_printf(path, err, "%s/", chain[--count]->name) < 0)
            return -1;
    return 0;
}

/* REFUSED with the path of the entry below the worktree. */
static int refuse_entry(const scan *s, const scan_folder *folder, const char *name, const char *why,
                        cordon_err *err)
{
    cordon_auto(cordon_buf) path =
        cordon_buf_make((size_t)(CORDON_WORKTREE_MAX_DEPTH + 2) * (NAME_MAX + 1));
    if (append_folder(&path, folder, err) < 0 || cordon_buf_append_text(&path, name, err) < 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED, "worktree %s: %s %s",
                       CORDON_QUOTE(s->worktree->path), CORDON_QUOTE(cordon_buf_text(&path)), why);
}

/* The entry's kind; where the file system does not tell in passing, the inode is asked. */
static unsigned char entry_type(int fd, const struct dirent *entry)
{
    struct stat facts;
    if (entry->d_type != DT_UNKNOWN ||
        fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return entry->d_type;
    return (unsigned char)IFTODT(facts.st_mode);
}

static bool leads_to_socket(int fd, const char *name)
{
    struct stat facts;
    return fstatat(fd, name, &facts, AT_NO_AUTOMOUNT) == 0 && S_ISSOCK(facts.st_mode);
}

static int count_entry(scan *s, cordon_err *err)
{
    if (++s->entries > s->max_entries)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "worktree %s: has more than %lld entries, too many to look through for "
                           "sockets; give a smaller folder or raise limits.worktree_entries",
                           CORDON_QUOTE(s->worktree->path), (long long)s->max_entries);
    if (s->entries % ENTRIES_PER_CHECK != 0)
        return 0;
    return cordon_deadline_check(s->dl, "looking through the worktree for sockets", err);
}

static int scan_entry(scan *s, int fd, const scan_folder *folder, const struct dirent *entry,
                      cordon_err *err)
{
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (count_entry(s, err) < 0)
        return -1;
    unsigned char type = entry_type(fd, entry);
    if (type == DT_SOCK)
        return refuse_entry(s, folder, name,
                            "is a socket: what listens there could be reached from inside the "
                            "container; remove it or give a folder without it",
                            err);
    if (type == DT_LNK && leads_to_socket(fd, name))
        return refuse_entry(s, folder, name,
                            "is a link to a socket; remove it or give a folder without it", err);
    if (type != DT_DIR)
        return 0;
    scan_folder below = {.parent = folder, .name = name, .depth = folder->depth + 1};
    return scan_into(s, fd, &below, err);
}

static void close_stream(DIR **stream)
{
    if (*stream)
        (void)closedir(*stream);
}

/* Reads a folder to its end. fd is taken over. */
static int scan_stream(scan *s, int fd, const scan_folder *folder, cordon_err *err)
{
    cordon_autoclose int owned = fd;
    cordon_cleanup(close_stream) DIR *stream = fdopendir(owned);
    if (!stream)
        return CORDON_FAIL_ERRNO(err, errno, "worktree %s", CORDON_QUOTE(s->worktree->path));
    (void)cordon_take_fd(&owned);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry && errno != 0)
            return CORDON_FAIL_ERRNO(err, errno, "worktree %s: cannot be read",
                                     CORDON_QUOTE(s->worktree->path));
        if (!entry)
            return 0;
        if (scan_entry(s, dirfd(stream), folder, entry, err) < 0)
            return -1;
    }
}

/* What vanished meanwhile, or is closed to the caller and so to the step, is passed over. */
static bool may_pass_over(int errnum)
{
    return errnum == EACCES || errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

static int scan_into(scan *s, int parent_fd, const scan_folder *folder, cordon_err *err)
{
    if (folder->depth > CORDON_WORKTREE_MAX_DEPTH)
        return refuse_entry(s, folder->parent, folder->name,
                            "lies too deep to be looked at for sockets; give a shallower folder",
                            err);
    int fd = openat(parent_fd, folder->name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        return scan_stream(s, fd, folder, err);
    if (folder->parent && may_pass_over(errno))
        return 0;
    return CORDON_FAIL_ERRNO(err, errno, "worktree %s: cannot look into %s",
                             CORDON_QUOTE(s->worktree->path), CORDON_QUOTE(folder->name));
}

int cordon_worktree_scan(const cordon_worktree *worktree, int64_t max_entries, cordon_deadline dl,
                         cordon_err *err)
{
    scan s = {.worktree = worktree, .max_entries = max_entries, .dl = dl};
    scan_folder top = {.parent = NULL, .name = ".", .depth = 0};
    if (cordon_deadline_check(dl, "looking through the worktree for sockets", err) < 0)
        return -1;
    return scan_into(&s, worktree->fd, &top, err);
}

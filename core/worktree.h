/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one folder of the host that a step may see. Resolving pins it by descriptor, device and
 * inode, and refuses what would hand the agent more than a project: system folders, a home,
 * anything with a live socket in it (a bind-mounted unix socket works from inside any network
 * namespace, read-only or not), key stores, and other file systems mounted below.
 */
#ifndef CORDON_WORKTREE_H
#define CORDON_WORKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "kit/error.h"

/* Deepest folder below the worktree that is looked at; a deeper tree is refused. */
#define CORDON_WORKTREE_MAX_DEPTH 128

/*
 * What the worktree is compared with. All borrowed; the CLI knows the home and the runtime folder.
 * home         the caller's home directory, or NULL if there is none
 * runtime_dir  XDG_RUNTIME_DIR, or NULL
 * sockets      paths of engine sockets in use or configured (no "unix://"); the well-known ones
 *              are always looked at too
 * max_entries  how many entries are looked at (limits.worktree_entries)
 * mountinfo    NULL for /proc/self/mountinfo
 */
typedef struct cordon_worktree_rules {
    const char *home;
    const char *runtime_dir;
    const char *const *sockets;
    size_t socket_count;
    int64_t max_entries;
    const char *mountinfo;
} cordon_worktree_rules;

/*
 * path   absolute, without symlinks, ".", ".." or doubled slashes
 * fd     O_PATH descriptor of the folder, owned: /proc/self/fd/N reaches it whatever its name
 */
typedef struct cordon_worktree {
    char *path;
    int fd;
    dev_t dev;
    ino_t ino;
} cordon_worktree;

#define CORDON_WORKTREE_INIT                                                                       \
    {                                                                                              \
        .path = NULL, .fd = -1, .dev = 0, .ino = 0                                                 \
    }

/*
 * Resolves a folder and refuses what it is: missing, a symlink on the way, /, a system folder, the
 * home or a folder above it. Needs no configuration, so that these come first. A relative path
 * starts at the current directory.
 *
 * @param home  as in the rules
 * @return 0, or -1 with NOTFOUND (missing), CONFIG (empty, not a directory, not UTF-8 or with
 *         control characters), REFUSED, SYSTEM, NOMEM. The message names the thing, the reason
 *         and the next step.
 */
int cordon_worktree_resolve(const char *path, const char *home, cordon_worktree *ret_worktree,
                            cordon_err *err) __attribute__((warn_unused_result));

/*
 * Refuses what a resolved folder holds: other file systems, engine sockets or any socket, links
 * to one, key stores; and a folder that is too large to look through. Folders that the caller may
 * not enter are passed over: the step, which has no capability and the caller's or a lesser
 * user, cannot enter them either.
 *
 * @return 0, or -1 with REFUSED, TIMEOUT, CANCELLED, SYSTEM, NOMEM
 */
int cordon_worktree_check(const cordon_worktree *worktree, const cordon_worktree_rules *rules,
                          cordon_deadline dl, cordon_err *err) __attribute__((warn_unused_result));

/* Both of the above. */
int cordon_worktree_open(const char *path, const cordon_worktree_rules *rules, cordon_deadline dl,
                         cordon_worktree *ret_worktree, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Right before a start: the path still leads, without a symlink, to the same device and inode,
 * and nothing has been mounted below.
 * @param mountinfo  NULL for /proc/self/mountinfo
 * @return 0, or -1 with REFUSED naming the path, or SYSTEM, NOMEM
 */
int cordon_worktree_recheck(const cordon_worktree *worktree, const char *mountinfo, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * UTF-8 without control characters: an engine takes a path as JSON, and people read it on a
 * terminal.
 */
bool cordon_worktree_is_plain(const char *path);

/* Closes and frees. Fine on CORDON_WORKTREE_INIT. */
void cordon_worktree_clear(cordon_worktree *worktree);
CORDON_DEFINE_AUTO(cordon_worktree, cordon_worktree_clear)

#endif

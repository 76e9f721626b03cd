/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going through all entries of a folder that somebody else may write: depth first over
 * descriptors, no symlink ever followed, bounded in entries, depth and time. The three that look
 * through a worktree (for sockets, for git data, for what changed) are visitors of this walk.
 */
#ifndef CORDON_WORKTREE_WALK_H
#define CORDON_WORKTREE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/deadline.h"
#include "kit/error.h"

/*
 * One entry, borrowed for the visit.
 * folder_fd  the folder that holds it, open for reading
 * path       below the walk's start: "a/b/name"
 * name       the last part of path
 * type       DT_DIR, DT_REG, ...: asked of the inode where readdir(3) does not tell
 * closed     a second visit of a folder that could not be entered or searched (EACCES); else false
 */
typedef struct cordon_walk_entry {
    int folder_fd;
    const char *path;
    const char *name;
    unsigned char type;
    bool closed;
} cordon_walk_entry;

/* *enter is true for a folder and may be set to false. @return 0, or -1 to end the walk */
typedef int cordon_walk_fn(void *context, const cordon_walk_entry *entry, bool *enter,
                           cordon_err *err);

/*
 * label        what the folder is called in messages: "worktree /home/me/project"
 * purpose      what for: "for sockets"
 * max_entries  more of them is REFUSED
 * tell_closed  visit folders that cannot be entered a second time; else they are passed over
 */
typedef struct cordon_walk {
    const char *label;
    const char *purpose;
    int64_t max_entries;
    cordon_deadline dl;
    cordon_walk_fn *visit;
    void *context;
    bool tell_closed;
} cordon_walk;

/*
 * Visits everything below the folder. What vanishes meanwhile is passed over.
 * @param fd    the folder, O_PATH is enough; borrowed
 * @param path  prepended to the entries' paths: "" or "a/b/"
 * @return 0, or -1 with REFUSED (too many, too deep), TIMEOUT, CANCELLED, SYSTEM, NOMEM, or what
 *         a visit said
 */
int cordon_walk_below(const cordon_walk *walk, int fd, const char *path, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Opens a path below a folder, one component at a time, without following a symlink anywhere.
 * @param path   relative and normal: no "", ".", "..", doubled slashes; "" is the folder itself
 * @param flags  open(2) flags of the last component; O_NOFOLLOW | O_CLOEXEC are added
 * @return a descriptor, or -1 with errno (ELOOP for a symlink, but see O_PATH)
 */
int cordon_open_below(int fd, const char *path, int flags);

#endif

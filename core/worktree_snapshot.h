/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step changed in its worktree, as a patch. SECURITY: computed without git, filters, hooks
 * or anything else that the worktree could configure: a copy of every file that is small enough is
 * kept before the step can write, and compared with what is there when it has gone.
 */
#ifndef CORDON_WORKTREE_SNAPSHOT_H
#define CORDON_WORKTREE_SNAPSHOT_H

#include <time.h>

#include "kit/buf.h"
#include "worktree.h"

/* A larger file is compared by its inode's times alone, and its content not shown. */
#define CORDON_SNAPSHOT_FILE_MAX ((int64_t)1 << 20)

/* One entry before the step. offset -1: its content was not kept. */
typedef struct cordon_snapshot_entry {
    char *path;
    mode_t mode;
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
    int64_t offset;
    bool seen; /* while comparing: still there */
} cordon_snapshot_entry;

/*
 * store  an unlinked file that nobody else can open; it vanishes with its descriptor, however the
 *        program ends
 */
typedef struct cordon_snapshot {
    int store;
    int64_t kept_bytes;
    int64_t max_bytes;
    int64_t max_entries;
    size_t count;
    size_t capacity;
    cordon_snapshot_entry *items; /* sorted by path */
} cordon_snapshot;

#define CORDON_SNAPSHOT_INIT                                                                       \
    {                                                                                              \
        .store = -1                                                                                \
    }

/*
 * Keeps what is in the worktree; git's own folders (".git") are left out.
 * @param state_fd   folder for the store, the caller's alone; borrowed
 * @param max_bytes  of all kept contents; files beyond it are not kept
 * @return 0, or -1 with REFUSED (too many entries), TIMEOUT, CANCELLED, SYSTEM, NOMEM
 */
int cordon_snapshot_take(const cordon_worktree *worktree, int state_fd, int64_t max_bytes,
                         int64_t max_entries, cordon_deadline dl, cordon_snapshot *ret_snapshot,
                         cordon_err *err) __attribute__((warn_unused_result));

/* files: changed entries; hidden: how many of them are named only. */
typedef struct cordon_snapshot_changes {
    int64_t files;
    int64_t hidden;
} cordon_snapshot_changes;

/*
 * Appends the patch, once the step has gone. What cannot be shown - binary, too large, neither file
 * nor symlink, or beyond the buffer's ceiling - stands by name before it.
 * @return 0, or -1 with REFUSED, TIMEOUT, CANCELLED, SYSTEM, NOMEM; the buffer may hold a part
 */
int cordon_snapshot_compare(cordon_snapshot *snapshot, const cordon_worktree *worktree,
                            cordon_deadline dl, cordon_buf *out,
                            cordon_snapshot_changes *ret_changes, cordon_err *err)
    __attribute__((warn_unused_result));

/* Fine on CORDON_SNAPSHOT_INIT. */
void cordon_snapshot_clear(cordon_snapshot *snapshot);
CORDON_DEFINE_AUTO(cordon_snapshot, cordon_snapshot_clear)

#endif

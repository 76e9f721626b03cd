/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to worktree*.c: the rules that a worktree has to pass, one function for each kind.
 */
#ifndef CORDON_WORKTREE_RULES_H
#define CORDON_WORKTREE_RULES_H

#include <stdbool.h>

#include "worktree.h"

/* A folder's identity. */
typedef struct cordon_inode {
    dev_t dev;
    ino_t ino;
} cordon_inode;

/* The system folder that this one is, or - for those whose whole tree counts - lies in; or NULL.
 * `last` is true for the worktree itself, false for a folder above it. */
const char *cordon_worktree_system_folder(cordon_inode inode, bool last);

/*
 * True if the folder is `path` or lies above it. Symlinks in `path` are followed, and of a path
 * that does not exist (yet) the part that does is taken.
 */
bool cordon_worktree_is_above(cordon_inode folder, const char *path);

/* REFUSED when something is mounted below. mountinfo may be NULL. */
int cordon_worktree_check_mounts(const char *path, const char *mountinfo, cordon_err *err)
    __attribute__((warn_unused_result));

/* REFUSED for the engine sockets of the rules and the well-known ones. */
int cordon_worktree_check_engines(const cordon_worktree *worktree,
                                  const cordon_worktree_rules *rules, cordon_err *err)
    __attribute__((warn_unused_result));

/* REFUSED for .ssh and the like directly in the worktree. */
int cordon_worktree_check_keys(const cordon_worktree *worktree, cordon_err *err)
    __attribute__((warn_unused_result));

/* Looks through the whole tree for sockets and links to sockets. */
int cordon_worktree_scan(const cordon_worktree *worktree, int64_t max_entries, cordon_deadline dl,
                         cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind a worktree's ".git". In a linked worktree (git-worktree(1)) it is a file that
 * points to a folder elsewhere, whose own files point back and to the common git directory that all
 * worktrees of the repository share. SECURITY: a worktree is what an agent wrote; its pointer
 * chooses another folder of the host to be mounted. So pointers are parsed here, strictly, without
 * git: the way back must lead to this very worktree, everything belongs to its owner, nothing is a
 * symlink, and the common directory passes every rule that the worktree has passed.
 * Formats: gitrepository-layout(5), git-worktree(1) "DETAILS".
 */
#ifndef CORDON_WORKTREE_LINK_H
#define CORDON_WORKTREE_LINK_H

#include "worktree.h"

typedef enum cordon_git_kind {
    CORDON_GIT_UNKNOWN = 0,
    CORDON_GIT_NONE,   /* no .git at all */
    CORDON_GIT_FOLDER, /* a repository of its own */
    CORDON_GIT_LINKED, /* a linked worktree; the other fields are set */
    CORDON_GIT_ALONE,  /* a .git file that is not followed, as the operator wished */
} cordon_git_kind;

/*
 * common   the common git directory, opened and checked like a worktree
 * target   where the pointer leads to inside, when the worktree lies at `mount`: an absolute
 *          pointer leads to the same path as on the host, a relative one starts at the mount
 * name     this worktree's own folder is worktrees/NAME below common
 * pointer  what .git says, for the recheck
 */
typedef struct cordon_worktree_link {
    cordon_git_kind kind;
    cordon_worktree common;
    char *target;
    char *name;
    char *pointer;
} cordon_worktree_link;

#define CORDON_WORKTREE_LINK_INIT                                                                  \
    {                                                                                              \
        .kind = CORDON_GIT_UNKNOWN, .common = CORDON_WORKTREE_INIT, .target = NULL, .name = NULL,  \
        .pointer = NULL                                                                            \
    }

/*
 * Reads and checks it.
 * @param mount   where the worktree will lie inside, absolute and normal
 * @param follow  false: a .git file is left alone, so git does not work inside
 * @return 0, or -1 with REFUSED (a pointer that is none, leads nowhere, does not lead back, or to
 *         what a step must not get), SYSTEM, NOMEM, TIMEOUT, CANCELLED
 */
int cordon_worktree_link_open(const cordon_worktree *worktree, const char *mount, bool follow,
                              const cordon_worktree_rules *rules, cordon_deadline dl,
                              cordon_worktree_link *ret_link, cordon_err *err)
    __attribute__((warn_unused_result));

/* Right before a start: the pointer says the same, and leads to the same folder. */
int cordon_worktree_link_recheck(const cordon_worktree *worktree, const cordon_worktree_link *link,
                                 const char *mountinfo, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_worktree_link_clear(cordon_worktree_link *link);
CORDON_DEFINE_AUTO(cordon_worktree_link, cordon_worktree_link_clear)

/* A place where a worktree may lie inside a step (worktree.mount). CONFIG if not. */
int cordon_worktree_check_mount(const char *path, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * A path from `base` (absolute and normal), by text, as the kernel takes it where nothing is a
 * symlink: ".." of the root is the root. Only at its head may `path` have ".."; else CONFIG.
 */
int cordon_path_from(const char *base, const char *path, char **ret_path, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

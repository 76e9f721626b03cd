/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to worktree_guard*.c and worktree_settle.c: what planning and settling have in common,
 * so that both mean the same by a git directory.
 */
#ifndef CORDON_WORKTREE_GUARD_IMPL_H
#define CORDON_WORKTREE_GUARD_IMPL_H

#include <limits.h>
#include <sys/stat.h>

#include "worktree_guard.h"
#include "worktree_walk.h"

/* One walk through one root. found and unseen are settling's. */
typedef struct cordon_guard_look {
    const cordon_guard *guard;
    cordon_guard *plan; /* the same, while it is made */
    cordon_guard_root root;
    cordon_text_list *found;
    cordon_text_list *unseen;
} cordon_guard_look;

cordon_guard_item *cordon_guard_find(const cordon_guard *guard, cordon_guard_root root,
                                     const char *path);

/* The path lies in a folder that is kept, and nothing nearer makes it writable again. */
bool cordon_guard_lies_in_kept(const cordon_guard *guard, cordon_guard_root root, const char *path);
const char *cordon_guard_name(const cordon_guard *guard, cordon_guard_root root);

/* -1 with errno; a symlink is told as one, not followed. */
int cordon_guard_stat(const cordon_guard *guard, cordon_guard_root root, const char *path,
                      struct stat *ret_facts);

/* Notes what is there now as what must be there later. */
void cordon_guard_see(cordon_guard_item *item, const struct stat *facts);

/* Keeps a place and pins the folders above it; or (here) without what is above. REFUSED if not. */
int cordon_guard_keep(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                      const char *path, const struct stat *facts, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_guard_keep_here(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                           const char *path, const struct stat *facts, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_guard_add_absent(cordon_guard *guard, cordon_guard_kind kind, cordon_guard_root root,
                            const char *path, const char *content, cordon_err *err)
    __attribute__((warn_unused_result));

/* Keeps what is there; what is not must not appear. REFUSED for what cannot be kept. */
int cordon_guard_keep_path(cordon_guard *guard, cordon_guard_root root, const char *path,
                           cordon_err *err) __attribute__((warn_unused_result));

/*
 * Files that the configuration in a git directory makes code (worktree_guard_config.c), as far as
 * they lie in what the step gets; and what links among its hooks lead to.
 */
int cordon_guard_keep_configured(cordon_guard *guard, cordon_guard_root root, const char *folder,
                                 cordon_err *err) __attribute__((warn_unused_result));
int cordon_guard_keep_linked_hooks(cordon_guard *guard, cordon_guard_root root, const char *path,
                                   cordon_err *err) __attribute__((warn_unused_result));

/* The worktree's own .git, the common directory, and all that is found on the way. */
int cordon_guard_keep_own_git(cordon_guard *guard, const cordon_worktree_link *link,
                              cordon_err *err) __attribute__((warn_unused_result));
int cordon_guard_keep_common(cordon_guard *guard, const cordon_worktree_link *link, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_guard_look_through(cordon_guard *guard, cordon_deadline dl, cordon_err *err)
    __attribute__((warn_unused_result));

/* -1, always: with what is wrong with a place, or with errno. */
int cordon_guard_refuse(const cordon_guard *guard, cordon_guard_root root, const char *path,
                        const char *why, cordon_err *err);
int cordon_guard_fail_stat(const cordon_guard *guard, cordon_guard_root root, const char *path,
                           cordon_err *err);

/* ENOENT, or ENOTDIR: a file stands where its folder would be. */
bool cordon_guard_is_absent(int errnum);

/* All of a root that a step can write: its mounts that lie in a kept folder, too. */
int cordon_guard_walk(cordon_guard_look *look, cordon_walk_fn *visit, bool tell_closed,
                      cordon_deadline dl, cordon_err *err) __attribute__((warn_unused_result));

/* What a run made, this one or one that was killed: empty, for reading by its owner alone. */
bool cordon_guard_is_placeholder(const cordon_guard *guard, cordon_guard_root root,
                                 const char *path, const char *content, const struct stat *facts);

/* The entry makes its folder a git directory (setup.c of git, is_git_directory). */
bool cordon_guard_is_git_head(const cordon_walk_entry *entry);

/* SECURITY: git follows links in its own folder when it writes: COMMIT_EDITMSG -> ~/.profile. */
bool cordon_guard_is_git_link(const cordon_guard_look *look, const cordon_walk_entry *entry);

bool cordon_guard_is_kept(const cordon_guard *guard, cordon_guard_root root, const char *path);
bool cordon_guard_is_own_git(const cordon_guard *guard, const cordon_guard_look *look,
                             const char *folder);
void cordon_guard_folder_of(const char *path, char ret_folder[PATH_MAX]);

#endif

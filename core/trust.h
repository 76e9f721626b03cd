/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files that decide what a run may do. Such a file is read only if nobody but root and
 * the caller could have written it: every folder from / down and the file itself belong to root
 * or the caller and are not writable for group or others (a sticky folder, such as /tmp, may be:
 * nobody can swap a foreign entry in it). POSIX access lists need no look of their own: their
 * mask shows in the group bits. Symlinks are refused in every component, so the path that was
 * checked is the path that was opened, and reading goes through the opened descriptor alone.
 *
 * Also the home of the walk itself, which worktree.c uses without the ownership rules.
 */
#ifndef CORDON_TRUST_H
#define CORDON_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kit/cleanup.h"
#include "kit/error.h"
#include "text_list.h"

/* Largest trusted file. */
#define CORDON_TRUST_MAX_BYTES ((size_t)1024 * 1024)

/*
 * uid         the caller; files of root and of this user are trusted
 * worktree    the run's worktree as the user gave it, or NULL. SECURITY: a file in or below it
 *             is refused, by device and inode of every folder on the way, so that a bind mount
 *             or another spelling cannot hide it: what the agent may write is no configuration
 */
typedef struct cordon_trust {
    uid_t uid;
    const char *worktree;
} cordon_trust;

/*
 * Reads the whole file. A relative path starts at the current directory.
 *
 * @param ret_path  absolute path without ".", ".." and doubled slashes, for messages; owned by
 *                  the caller; may be NULL
 * @param ret_text  content with a NUL after it; the content may hold NULs of its own
 * @return 0, or -1 with NOTFOUND (no such file: nothing was refused), REFUSED (others may write
 *         it or a folder above it, a symlink, not a regular file, inside the worktree), CONFIG
 *         (too large, or no path at all), SYSTEM, NOMEM. The message names the offending
 *         component.
 */
int cordon_trust_read(const cordon_trust *trust, const char *path, char **ret_path, char **ret_text,
                      size_t *ret_length, cordon_err *err) __attribute__((warn_unused_result));

/*
 * Opens a trusted regular file, or folder, for reading: the same checks, and what was checked is
 * what was opened.
 */
int cordon_trust_open(const cordon_trust *trust, const char *path, bool folder, int *ret_fd,
                      cordon_err *err) __attribute__((warn_unused_result));

/* The same checks without reading: for files that a library opens by path (TLS keys). */
int cordon_trust_check(const cordon_trust *trust, const char *path, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Names of the regular files NAME<suffix> in a trusted folder, without the suffix, sorted, at
 * most 256 of them. For listings only: each file is checked when it is read.
 */
int cordon_trust_list(const cordon_trust *trust, const char *folder, const char *suffix,
                      cordon_text_list *ret_names, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Makes a path absolute (against the current directory) and removes ".", ".." and doubled
 * slashes by text alone; that is right here because a walk refuses every symlink anyway.
 * @return 0, or -1 with CONFIG (empty, too long), SYSTEM (no current directory), NOMEM
 */
int cordon_path_absolute(const char *path, char **ret_path, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Called for / and every later component of a walk with its O_PATH descriptor.
 * prefix is the path so far, borrowed; last is true for the end of the path.
 */
typedef int cordon_path_visit_fn(void *context, int fd, const char *prefix, bool last,
                                 cordon_err *err);

/*
 * Opens an absolute, normal path from / down, one component at a time, each with O_NOFOLLOW.
 *
 * @param flags    open(2) flags of the last component; O_NOFOLLOW | O_CLOEXEC are added. All
 *                 before it are opened O_PATH | O_DIRECTORY.
 * @param visit    may be NULL
 * @return 0, or -1 with NOTFOUND, REFUSED (a component is a symlink: named), SYSTEM (ENOTDIR,
 *         EACCES, ...), or what visit said
 */
int cordon_path_walk(const char *path, int flags, cordon_path_visit_fn *visit, void *context,
                     int *ret_fd, cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What in a writable worktree turns a write into code on the host, and how it is kept from that.
 * Three means (DESIGN.md, "A worktree that cannot be turned against its owner"):
 *   - what is there is mounted over itself, read-only; the folders above it are mounted over
 *     themselves, too, because a mount point cannot be renamed away
 *   - what is not there inside a git directory gets an empty placeholder for the time of the run,
 *     which is mounted read-only like the rest
 *   - what else is not there must still not be there when the step has gone; what appeared is
 *     renamed to a name that nothing acts on, and the run is called tampered
 */
#ifndef CORDON_WORKTREE_GUARD_H
#define CORDON_WORKTREE_GUARD_H

#include <stdbool.h>
#include <time.h>

#include "text_list.h"
#include "worktree.h"
#include "worktree_link.h"

/* Most mounts that a step gets for this; a worktree that needs more is refused. */
#define CORDON_GUARD_MOUNTS_MAX 160

typedef enum cordon_guard_kind {
    CORDON_GUARD_ANCHOR = 1,  /* mounted as it is, so that it stays where it is */
    CORDON_GUARD_READ_ONLY,   /* mounted read-only */
    CORDON_GUARD_PLACEHOLDER, /* the same, of something that is made for the run */
    CORDON_GUARD_ABSENT,      /* not there, and it must not appear */
} cordon_guard_kind;

/* The folders of the host that a step gets. */
typedef enum cordon_guard_root {
    CORDON_GUARD_WORKTREE = 0,
    CORDON_GUARD_COMMON, /* the common git directory of a linked worktree */
    CORDON_GUARD_ROOTS
} cordon_guard_root;

/*
 * path    below its root; "" is the root itself
 * source  host path, target path inside; of the three kinds that are mounts
 * content what a placeholder holds; NULL for a folder's
 * facts   of what was seen: device, inode, type, and for files what a change would show
 */
typedef struct cordon_guard_item {
    cordon_guard_kind kind;
    cordon_guard_root root;
    char *path;
    char *source;
    char *target;
    const char *content;
    bool made;
    dev_t dev;
    ino_t ino;
    mode_t type;
    off_t size;
    struct timespec changed;
} cordon_guard_item;

/* One place that is not as it was, for the receipt. */
typedef struct cordon_guard_finding {
    char *path;       /* "appeared": where it was; below /worktree or the common directory */
    const char *what; /* "appeared", "changed", "unseen" */
    char *moved_to;   /* its new name, or NULL */
} cordon_guard_finding;

typedef struct cordon_guard_findings {
    size_t count;
    cordon_guard_finding *items;
} cordon_guard_findings;

void cordon_guard_findings_clear(cordon_guard_findings *findings);
CORDON_DEFINE_AUTO(cordon_guard_findings, cordon_guard_findings_clear)

/* items is in the order in which parents come before what is in them. */
typedef struct cordon_guard {
    const cordon_worktree *roots[CORDON_GUARD_ROOTS]; /* borrowed; NULL: no such root */
    char *targets[CORDON_GUARD_ROOTS];
    int64_t max_entries;
    bool writable;
    bool locked; /* locks[] are descriptors or -1 */
    int locks[CORDON_GUARD_ROOTS];
    size_t count;
    size_t capacity;
    cordon_guard_item *items;
} cordon_guard;

/*
 * Looks at the worktree and decides what is kept. Writes nothing.
 * @param worktree   open and checked; borrowed until cordon_guard_clear, as is link
 * @param mount      where it will lie inside
 * @param protected  further paths of the worktree, see cordon_guard_check_path
 * @param writable   false: nothing can be written anyway; only a common directory is mounted
 * @return 0, or -1 with REFUSED (what cannot be kept: a symlink, a file with a second name, too
 *         many), TIMEOUT, CANCELLED, SYSTEM, NOMEM
 */
int cordon_guard_plan(const cordon_worktree *worktree, const cordon_worktree_link *link,
                      const char *mount, const cordon_text_list *protected, bool writable,
                      int64_t max_entries, cordon_deadline dl, cordon_guard *ret_guard,
                      cordon_err *err) __attribute__((warn_unused_result));

/*
 * Makes the placeholders, for the worktree's owner. Right before the containers are created.
 * @return 0, or -1 with REFUSED (something else stands there by now), SYSTEM; then
 *         cordon_guard_unmake takes away what had been made
 */
int cordon_guard_make(cordon_guard *guard, cordon_err *err) __attribute__((warn_unused_result));

/* Takes placeholders away, also those that a killed run has left; only once the step has gone. */
void cordon_guard_unmake(cordon_guard *guard);

/* Right before the release: everything is still what was seen, and what was absent still is. */
int cordon_guard_recheck(const cordon_guard *guard, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Once the step has gone: looks for what should not be there, renames it, and tells of it.
 * @param suffix  of the new names, unguessable: "NAME.cordon-SUFFIX"
 * @param ret_findings  zeroed; also filled with what was found before a failure
 * @return 0 with what was found (usually nothing), or -1 when nobody could look, which is no better
 */
int cordon_guard_settle(const cordon_guard *guard, const char *suffix, cordon_deadline dl,
                        cordon_guard_findings *ret_findings, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_guard_clear(cordon_guard *guard);
CORDON_DEFINE_AUTO(cordon_guard, cordon_guard_clear)

/* True for the kinds that are mounts. */
bool cordon_guard_is_mount(const cordon_guard_item *item);

/* A path that may stand in worktree.protected: relative, normal, not git's own. CONFIG if not. */
int cordon_guard_check_path(const char *path, cordon_err *err) __attribute__((warn_unused_result));

#endif

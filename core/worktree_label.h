/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SELinux and the folders that a step gets. A confined container may use a folder only if its label
 * says so. Engines offer to relabel (":z", ":Z"): recursively, for good, and on somebody's home
 * that breaks logins. SECURITY: Cordon never asks for that and never does it; it looks at the
 * label, and where it does not fit, says what the owner may do.
 */
#ifndef CORDON_WORKTREE_LABEL_H
#define CORDON_WORKTREE_LABEL_H

#include <stdbool.h>

#include "worktree.h"

/*
 * Whether a container may use a folder with this label ("user:role:type:level", selinux(8)).
 * @param label    NULL: it has none, or none can be read
 * @param writable the container writes in it
 * @return 0, or -1 with REFUSED: label, reason, and the command that gives it another one
 */
int cordon_label_check(const char *path, const char *label, bool writable, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The same for an open folder, where the engine says that SELinux confines its containers.
 * @param ret_label  the label, for the receipt; owned by the caller; NULL where the engine does not
 */
int cordon_worktree_check_label(const cordon_worktree *worktree, bool confined, bool writable,
                                char **ret_label, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking through a worktree for sockets: a bind-mounted unix socket works from inside any
 * network namespace.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "worktree_rules.h"
#include "worktree_walk.h"

static bool leads_to_socket(int fd, const char *name)
{
    struct stat facts;
    return fstatat(fd, name, &facts, AT_NO_AUTOMOUNT) == 0 && S_ISSOCK(facts.st_mode);
}

static int scan_visit(void *context, const cordon_walk_entry *entry, bool *enter, cordon_err *err)
{
    const cordon_worktree *worktree = context;
    (void)enter;
    if (entry->type == DT_SOCK)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "worktree %s: %s is a socket: what listens there could be reached from "
                           "inside the container; remove it or give a folder without it",
                           CORDON_QUOTE(worktree->path), CORDON_QUOTE(entry->path));
    if (entry->type == DT_LNK && leads_to_socket(entry->folder_fd, entry->name))
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "worktree %s: %s is a link to a socket; remove it or give a folder "
                           "without it",
                           CORDON_QUOTE(worktree->path), CORDON_QUOTE(entry->path));
    return 0;
}

int cordon_worktree_scan(const cordon_worktree *worktree, int64_t max_entries, cordon_deadline dl,
                         cordon_err *err)
{
    char label[CORDON_QUOTE_MAX + 16];
    cordon_walk walk = {.label = label,
                        .purpose = "for sockets",
                        .max_entries = max_entries,
                        .dl = dl,
                        .visit = scan_visit};
    (void)snprintf(label, sizeof label, "worktree %s", CORDON_QUOTE(worktree->path));
    walk.context = (void *)(uintptr_t)worktree;
    return cordon_walk_below(&walk, worktree->fd, "", err);
}

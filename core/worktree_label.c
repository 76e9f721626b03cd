/* SPDX-License-Identifier: Apache-2.0 */
/* See worktree_label.h. */
#include "worktree_label.h"

#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "text_list.h"

#define LABEL_MAX 256

/* What container-selinux lets every container use; the second name is the older one's. */
static const struct {
    const char *type;
    bool writable;
} types[] = {
    {"container_file_t", true},
    {"svirt_sandbox_file_t", true},
    {"container_ro_file_t", false},
    {"container_share_t", false},
};

/* The nth part of a label; the level, which is the last, may hold colons of its own. */
static const char *label_part(const char *label, int n, size_t *ret_length)
{
    for (; n > 0 && label; n--) {
        label = strchr(label, ':');
        label = label ? label + 1 : NULL;
    }
    if (label)
        *ret_length = strcspn(label, ":");
    return label;
}

static bool type_fits(const char *label, bool writable)
{
    size_t length = 0;
    const char *type = label_part(label, 2, &length);
    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].type) == length && memcmp(types[i].type, type, length) == 0)
            return types[i].writable || !writable;
    return false;
}

/* Categories make a folder one container's own (":Z"); a new container has others. */
static bool is_shared(const char *label)
{
    size_t length = 0;
    const char *level = label_part(label, 3, &length);
    return !level || (strcmp(level, "s0") == 0);
}

int cordon_label_check(const char *path, const char *label, bool writable, cordon_err *err)
{
    if (label && type_fits(label, writable) && is_shared(label))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: SELinux confines this engine's containers, and the folder's "
                       "label %s is none that they may %s; Cordon changes no labels: if it is one "
                       "project's alone, \"chcon -R -t container_file_t -l s0 FOLDER\" does",
                       CORDON_QUOTE(path), label ? CORDON_QUOTE(label) : "(none)",
                       writable ? "write" : "read");
}

/* An O_PATH descriptor has no attributes of its own; its path in /proc has. */
static bool read_label(const cordon_worktree *worktree, char ret_label[LABEL_MAX])
{
    char self[64];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", worktree->fd);
    ssize_t got = getxattr(self, "security.selinux", ret_label, LABEL_MAX - 1);
    if (got <= 0)
        return false;
    ret_label[got] = '\0';
    return true;
}

int cordon_worktree_check_label(const cordon_worktree *worktree, bool confined, bool writable,
                                char **ret_label, cordon_err *err)
{
    char label[LABEL_MAX];
    if (!confined)
        return 0;
    const char *found = read_label(worktree, label) ? label : NULL;
    if (cordon_label_check(worktree->path, found, writable, err) < 0)
        return -1;
    return cordon_text_copy(label, ret_label, err);
}

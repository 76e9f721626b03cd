/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolving a worktree to one inode, and asking again right before a start.
 */
#include "worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "text_list.h"
#include "trust.h"
#include "worktree_rules.h"

/* Bytes that follow a lead byte of UTF-8 (RFC 3629), or -1 when it is none. */
static int utf8_tail(unsigned char lead)
{
    if (lead < 0x80)
        return 0;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 1;
    if (lead >= 0xe0 && lead <= 0xef)
        return 2;
    if (lead >= 0xf0 && lead <= 0xf4)
        return 3;
    return -1;
}

/* SECURITY: the second byte rules out overlong forms, surrogates and what lies past U+10FFFF. */
static bool utf8_second_fits(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second <= 0x9f;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second <= 0x8f;
    default:
        return true;
    }
}

bool cordon_worktree_is_plain(const char *path)
{
    const unsigned char *p = (const unsigned char *)path;
    while (*p) {
        int tail = utf8_tail(*p);
        if (*p < 0x20 || *p == 0x7f || tail < 0 || (tail > 0 && !utf8_second_fits(p[0], p[1])))
            return false;
        for (p++; tail > 0; tail--, p++)
            if ((*p & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* Above the worktree and at it: the folders of the system. */
static int resolve_visit(void *context, int fd, const char *prefix, bool last, cordon_err *err)
{
    const char *path = context;
    struct stat facts;
    if (fstat(fd, &facts) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "worktree %s", CORDON_QUOTE(prefix));
    cordon_inode inode = {.dev = facts.st_dev, .ino = facts.st_ino};
    const char *system_folder = cordon_worktree_system_folder(inode, last);
    if (!system_folder)
        return 0;
    if (system_folder[1] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "worktree %s: is the whole file system; give the folder of one project",
                           CORDON_QUOTE(path));
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: %s the system folder %s; give the folder of one project",
                       CORDON_QUOTE(path), last ? "is" : "lies in", system_folder);
}

/* The walk's error, said as one about a worktree. */
static int fail_resolve(const char *path, const cordon_err *walked, cordon_err *err)
{
    if (walked->code == CORDON_ERR_NOTFOUND)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                           "worktree %s: does not exist (%s); create it or check --worktree",
                           CORDON_QUOTE(path), walked->message);
    if (walked->errnum == ENOTDIR)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "worktree %s: is not a directory; give the folder of one project",
                           CORDON_QUOTE(path));
    if (walked->errnum != 0)
        return CORDON_FAIL_ERRNO(err, walked->errnum, "worktree %s: cannot be opened",
                                 CORDON_QUOTE(path));
    if (strncmp(walked->message, "worktree ", 9) == 0)
        return CORDON_FAIL(err, walked->code, "%s", walked->message);
    return CORDON_FAIL(err, walked->code, "worktree %s: %s", CORDON_QUOTE(path), walked->message);
}

static int check_home(const char *path, cordon_inode inode, const char *home, cordon_err *err)
{
    struct stat facts;
    if (!home || !cordon_worktree_is_above(inode, home))
        return 0;
    bool same = stat(home, &facts) == 0 && facts.st_dev == inode.dev && facts.st_ino == inode.ino;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: %s, with all its keys and settings; "
                       "give the folder of one project",
                       CORDON_QUOTE(path),
                       same ? "is your home directory" : "is a folder above your home directory");
}

/* Fills a worktree whose path is set. */
static int open_folder(cordon_worktree *worktree, cordon_err *err)
{
    cordon_err walked = CORDON_ERR_INIT;
    struct stat facts;
    if (cordon_path_walk(worktree->path, O_PATH | O_DIRECTORY, resolve_visit, worktree->path,
                         &worktree->fd, &walked) < 0)
        return fail_resolve(worktree->path, &walked, err);
    if (fstat(worktree->fd, &facts) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "worktree %s", CORDON_QUOTE(worktree->path));
    worktree->dev = facts.st_dev;
    worktree->ino = facts.st_ino;
    return 0;
}

int cordon_worktree_resolve(const char *path, const char *home, cordon_worktree *ret_worktree,
                            cordon_err *err)
{
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    if (!path || path[0] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "worktree: the path is empty; give the folder of one project");
    if (!cordon_worktree_is_plain(path))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "worktree %s: the path holds control characters or is not UTF-8; "
                           "rename the folder",
                           CORDON_QUOTE(path));
    if (cordon_path_absolute(path, &worktree.path, err) < 0) {
        cordon_err_wrap(err, "worktree");
        return -1;
    }
    if (open_folder(&worktree, err) < 0)
        return -1;
    cordon_inode inode = {.dev = worktree.dev, .ino = worktree.ino};
    if (check_home(worktree.path, inode, home, err) < 0)
        return -1;
    *ret_worktree = worktree;
    worktree = (cordon_worktree)CORDON_WORKTREE_INIT;
    return 0;
}

int cordon_worktree_check(const cordon_worktree *worktree, const cordon_worktree_rules *rules,
                          cordon_deadline dl, cordon_err *err)
{
    if (cordon_worktree_check_mounts(worktree->path, rules->mountinfo, err) < 0 ||
        cordon_worktree_check_engines(worktree, rules, err) < 0 ||
        cordon_worktree_check_keys(worktree, err) < 0)
        return -1;
    return cordon_worktree_scan(worktree, rules->max_entries, dl, err);
}

int cordon_worktree_open(const char *path, const cordon_worktree_rules *rules, cordon_deadline dl,
                         cordon_worktree *ret_worktree, cordon_err *err)
{
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    if (cordon_worktree_resolve(path, rules->home, &worktree, err) < 0 ||
        cordon_worktree_check(&worktree, rules, dl, err) < 0)
        return -1;
    *ret_worktree = worktree;
    worktree = (cordon_worktree)CORDON_WORKTREE_INIT;
    return 0;
}

static int fail_recheck(const cordon_worktree *worktree, const char *what, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: %s since it was approved; nothing was started; "
                       "leave the folder in place during a run",
                       CORDON_QUOTE(worktree->path), what);
}

int cordon_worktree_recheck(const cordon_worktree *worktree, const char *mountinfo, cordon_err *err)
{
    cordon_err walked = CORDON_ERR_INIT;
    cordon_autoclose int fd = -1;
    struct stat facts;
    if (cordon_path_walk(worktree->path, O_PATH | O_DIRECTORY, NULL, NULL, &fd, &walked) < 0) {
        if (walked.code == CORDON_ERR_NOTFOUND)
            return fail_recheck(worktree, "is gone", err);
        if (walked.code == CORDON_ERR_REFUSED)
            return fail_recheck(worktree, "it or a folder above was replaced by a symlink", err);
        if (walked.errnum == ENOTDIR)
            return fail_recheck(worktree, "is not a directory any more", err);
        return fail_resolve(worktree->path, &walked, err);
    }
    if (fstat(fd, &facts) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "worktree %s", CORDON_QUOTE(worktree->path));
    if (facts.st_dev != worktree->dev || facts.st_ino != worktree->ino)
        return fail_recheck(worktree, "was replaced by another folder", err);
    return cordon_worktree_check_mounts(worktree->path, mountinfo, err);
}

void cordon_worktree_clear(cordon_worktree *worktree)
{
    if (worktree->fd >= 0)
        (void)close(worktree->fd);
    free(worktree->path);
    *worktree = (cordon_worktree)CORDON_WORKTREE_INIT;
}

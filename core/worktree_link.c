/* SPDX-License-Identifier: Apache-2.0 */
/* See worktree_link.h. */
#include "worktree_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "text_list.h"
#include "trust.h"
#include "worktree_rules.h"
#include "worktree_walk.h"

#define POINTER_HEAD "gitdir: "
#define POINTER_MAX  (PATH_MAX + sizeof POINTER_HEAD)

#define NEXT_STEP                                                                                  \
    "; run \"git worktree repair\" there, or set worktree.git_data = false to run without git "    \
    "data"

/* Everything here says which worktree, what is wrong with its pointer, and what to do. */
#define LINK_FAIL(err, worktree, ...)                                                              \
    link_refuse((err), (worktree), (char[512]){0}, 512, __VA_ARGS__)

__attribute__((format(printf, 5, 6))) static int link_refuse(cordon_err *err,
                                                             const cordon_worktree *worktree,
                                                             char *text, size_t size,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return CORDON_FAIL(err, CORDON_ERR_REFUSED, "worktree %s: its .git %s" NEXT_STEP,
                       CORDON_QUOTE(worktree->path), text);
}

/* --- Paths --------------------------------------------------------------------------------- */

/* True for "a/b": no empty part, no "." or "..". */
static bool is_normal_tail(const char *path)
{
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += length;
        if (*path == '/' && *++path == '\0')
            return false;
    }
    return true;
}

static bool is_normal_absolute(const char *path)
{
    return path[0] == '/' && path[1] != '\0' && is_normal_tail(path + 1);
}

int cordon_path_from(const char *base, const char *path, char **ret_path, cordon_err *err)
{
    const char *tail = path;
    size_t length = strcmp(base, "/") == 0 ? 0 : strlen(base);
    for (; strncmp(tail, "../", 3) == 0; tail += 3)
        while (length > 0 && base[--length] != '/')
            ;
    if (tail[0] == '\0' || !is_normal_tail(tail))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not a plain relative path",
                           CORDON_QUOTE(path));
    char *joined = NULL;
    if (asprintf(&joined, "%.*s/%s", (int)length, base, tail) < 0)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ret_path = joined;
    return 0;
}

static int resolve(const char *base, const char *pointer, char **ret_path, cordon_err *err)
{
    if (pointer[0] != '/')
        return cordon_path_from(base, pointer, ret_path, err);
    if (!is_normal_absolute(pointer))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not a plain absolute path",
                           CORDON_QUOTE(pointer));
    return cordon_text_copy(pointer, ret_path, err);
}

/* --- Pointer files ------------------------------------------------------------------------- */

/* A line of text without control characters, its line end cut off; false for anything else. */
static bool take_line(char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return length > 0;
}

/* The owner's regular file of one line. errno-like answers: 0, or why not. */
static int read_pointer(int folder_fd, const char *path, uid_t owner, char ret_text[POINTER_MAX])
{
    struct stat facts;
    cordon_autoclose int fd = cordon_open_below(folder_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &facts) < 0)
        return errno;
    if (S_ISDIR(facts.st_mode))
        return EISDIR;
    if (!S_ISREG(facts.st_mode) || facts.st_uid != owner || facts.st_nlink != 1)
        return EPERM;
    ssize_t got = read(fd, ret_text, POINTER_MAX);
    if (got < 0)
        return errno;
    if ((size_t)got == POINTER_MAX)
        return EFBIG;
    ret_text[got] = '\0';
    return take_line(ret_text, (size_t)got) ? 0 : EBADMSG;
}

static const char *pointer_fault(int errnum)
{
    switch (errnum) {
    case ELOOP:
        return "is a symbolic link";
    case EPERM:
        return "is not a file of the worktree's owner alone";
    case EFBIG:
    case EBADMSG:
        return "is not one line of text";
    case EISDIR:
        return "is a folder";
    default:
        return strerrordesc_np(errnum);
    }
}

/* --- The three pointers -------------------------------------------------------------------- */

static int owner_of(int fd, const char *path, struct stat *ret_facts)
{
    cordon_autoclose int found = cordon_open_below(fd, path, O_PATH);
    return found < 0 || fstat(found, ret_facts) < 0 ? -1 : 0;
}

static int link_worktree_owner(const cordon_worktree *worktree, uid_t *ret_owner, cordon_err *err)
{
    struct stat facts;
    if (fstatat(worktree->fd, "", &facts, AT_EMPTY_PATH) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "worktree %s", CORDON_QUOTE(worktree->path));
    *ret_owner = facts.st_uid;
    return 0;
}

/* "gitdir: PATH" of .git itself; *ret_kind tells when there is none. */
static int read_dotgit(const cordon_worktree *worktree, uid_t owner, cordon_git_kind *ret_kind,
                       char **ret_pointer, cordon_err *err)
{
    char text[POINTER_MAX] = "";
    int failed = read_pointer(worktree->fd, ".git", owner, text);
    *ret_kind = failed == ENOENT ? CORDON_GIT_NONE : CORDON_GIT_FOLDER;
    if (failed == ENOENT || failed == EISDIR)
        return 0;
    if (failed != 0)
        return LINK_FAIL(err, worktree, "%s", pointer_fault(failed));
    if (strncmp(text, POINTER_HEAD, strlen(POINTER_HEAD)) != 0 ||
        text[strlen(POINTER_HEAD)] == '\0')
        return LINK_FAIL(err, worktree, "does not say \"gitdir: PATH\"");
    *ret_kind = CORDON_GIT_LINKED;
    return cordon_text_copy(text + strlen(POINTER_HEAD), ret_pointer, err);
}

/* Cuts ".../worktrees/NAME" into both, in place. */
static bool split_admin(char *path, const char **ret_name)
{
    static const char folder[] = "/worktrees";
    size_t length = strlen(folder);
    char *slash = strrchr(path, '/');
    if (!slash || slash - path <= (ptrdiff_t)length)
        return false;
    if (strncmp(slash - length, folder, length) != 0)
        return false;
    *ret_name = slash + 1;
    slash[-(ptrdiff_t)length] = '\0';
    return path[0] != '\0';
}

/* worktrees/NAME/gitdir leads back to this worktree. */
static int check_way_back(const cordon_worktree *worktree, const cordon_worktree_link *link,
                          uid_t owner, const char *admin, cordon_err *err)
{
    char text[POINTER_MAX] = "";
    char file[PATH_MAX];
    cordon_autofree char *path = NULL;
    cordon_err why = CORDON_ERR_INIT;
    struct stat facts;
    (void)snprintf(file, sizeof file, "worktrees/%s/gitdir", link->name);
    int failed = read_pointer(link->common.fd, file, owner, text);
    if (failed != 0)
        return LINK_FAIL(err, worktree, "points to a folder whose file gitdir %s",
                         pointer_fault(failed));
    if (resolve(admin, text, &path, &why) < 0 || strlen(path) < sizeof "/.git" ||
        strcmp(path + strlen(path) - strlen("/.git"), "/.git") != 0)
        return LINK_FAIL(err, worktree, "points to a folder whose file gitdir names no worktree");
    path[strlen(path) - strlen("/.git")] = '\0';
    if (stat(path, &facts) < 0 || facts.st_dev != worktree->dev || facts.st_ino != worktree->ino)
        return LINK_FAIL(err, worktree, "points to the git data of another worktree, %s",
                         CORDON_QUOTE(path));
    return 0;
}

/* worktrees/NAME/commondir leads two up; git writes "../..". */
static int check_commondir(const cordon_worktree *worktree, const cordon_worktree_link *link,
                           uid_t owner, cordon_err *err)
{
    char text[POINTER_MAX] = "";
    char file[PATH_MAX];
    (void)snprintf(file, sizeof file, "worktrees/%s/commondir", link->name);
    int failed = read_pointer(link->common.fd, file, owner, text);
    if (failed != 0)
        return LINK_FAIL(err, worktree, "points to a folder whose file commondir %s",
                         pointer_fault(failed));
    const char *said = text;
    if (strcmp(said, "../..") != 0 && strcmp(said, link->common.path) != 0)
        return LINK_FAIL(err, worktree, "points to a folder whose commondir is %s",
                         CORDON_QUOTE(said));
    return 0;
}

/* What git itself asks of a git directory (setup.c, is_git_directory), and its owner. */
static int check_shape(const cordon_worktree *worktree, const cordon_worktree_link *link,
                       uid_t owner, cordon_err *err)
{
    char admin[PATH_MAX];
    char head[PATH_MAX];
    const struct {
        const char *path;
        mode_t type;
    } parts[] = {
        {"", S_IFDIR},       {"HEAD", S_IFREG}, {"objects", S_IFDIR}, {"refs", S_IFDIR},
        {"config", S_IFREG}, {admin, S_IFDIR},  {head, S_IFREG},
    };
    (void)snprintf(admin, sizeof admin, "worktrees/%s", link->name);
    (void)snprintf(head, sizeof head, "worktrees/%s/HEAD", link->name);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct stat facts;
        if (owner_of(link->common.fd, parts[i].path, &facts) < 0)
            return LINK_FAIL(err, worktree, "points into %s, which has no %s",
                             CORDON_QUOTE(link->common.path), parts[i].path);
        if ((facts.st_mode & S_IFMT) != parts[i].type)
            return LINK_FAIL(err, worktree, "points into %s, where %s is not what git has there",
                             CORDON_QUOTE(link->common.path), parts[i].path);
        if (facts.st_uid != owner)
            return LINK_FAIL(err, worktree, "points into %s, which belongs to another user",
                             CORDON_QUOTE(link->common.path));
    }
    return 0;
}

/* --- Where it will be ---------------------------------------------------------------------- */

static bool is_below_or_same(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* SECURITY: what the kernel, the image or Cordon has there must not be covered. */
static bool is_taken(const char *target)
{
    static const char *const reserved[] = {"/proc",  "/sys",   "/dev",    "/run",
                                           "/etc",   "/bin",   "/sbin",   "/lib",
                                           "/lib32", "/lib64", "/libx32", "/.cordon"};
    static const char *const whole[] = {"/tmp", "/usr", "/var", "/home", "/root", "/opt"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (is_below_or_same(target, reserved[i]))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strcmp(target, whole[i]) == 0)
            return true;
    return false;
}

static int check_target(const cordon_worktree *worktree, const char *target, const char *mount,
                        cordon_err *err)
{
    if (!is_taken(target) && !is_below_or_same(target, mount) && !is_below_or_same(mount, target))
        return 0;
    return LINK_FAIL(err, worktree, "leads to %s inside, which is taken", CORDON_QUOTE(target));
}

/* The scratch's own mount would cover what lies below /tmp in a container that sorts otherwise. */
int cordon_worktree_check_mount(const char *path, cordon_err *err)
{
    if (is_normal_absolute(path) && cordon_worktree_is_plain(path) && !is_taken(path) &&
        !is_below_or_same(path, "/tmp"))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is no free place", CORDON_QUOTE(path));
}

/* Neither holds the other: else one mount would show the other one's files a second time. */
static int check_apart(const cordon_worktree *worktree, const cordon_worktree_link *link,
                       cordon_err *err)
{
    const cordon_inode tree = {.dev = worktree->dev, .ino = worktree->ino};
    const cordon_inode common = {.dev = link->common.dev, .ino = link->common.ino};
    if (cordon_worktree_is_above(tree, link->common.path) ||
        cordon_worktree_is_above(common, worktree->path))
        return LINK_FAIL(err, worktree, "points to %s, and one of the two lies in the other",
                         CORDON_QUOTE(link->common.path));
    return 0;
}

/* --- All of it ----------------------------------------------------------------------------- */

static int open_common(const cordon_worktree *worktree, const char *path,
                       const cordon_worktree_rules *rules, cordon_deadline dl,
                       cordon_worktree_link *link, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    if (cordon_worktree_open(path, rules, dl, &link->common, &why) == 0)
        return 0;
    if (why.code == CORDON_ERR_REFUSED || why.code == CORDON_ERR_NOTFOUND ||
        why.code == CORDON_ERR_CONFIG)
        return LINK_FAIL(err, worktree, "points to git data that a step does not get: %s",
                         why.message);
    return CORDON_FAIL(err, why.code, "%s", why.message);
}

/* Where the pointer leads on the host and inside; the common directory's part of both, and NAME. */
static int split_pointer(const cordon_worktree *worktree, const char *admin, char *common,
                         cordon_worktree_link *link, cordon_err *err)
{
    const char *name = NULL;
    const char *same = NULL;
    if (!split_admin(common, &name) || !split_admin(link->target, &same))
        return LINK_FAIL(err, worktree,
                         "points to %s, which is no linked worktree's (a submodule's checkout is "
                         "no worktree of its own)",
                         CORDON_QUOTE(admin));
    return cordon_text_copy(name, &link->name, err);
}

static int follow_pointer(const cordon_worktree *worktree, const char *mount, uid_t owner,
                          const cordon_worktree_rules *rules, cordon_deadline dl,
                          cordon_worktree_link *link, cordon_err *err)
{
    cordon_autofree char *admin = NULL;
    cordon_err why = CORDON_ERR_INIT;
    if (resolve(worktree->path, link->pointer, &admin, &why) < 0 ||
        resolve(mount, link->pointer, &link->target, &why) < 0)
        return LINK_FAIL(err, worktree, "points to no place: %s", why.message);
    cordon_autofree char *common = strdup(admin);
    if (!common)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (split_pointer(worktree, admin, common, link, err) < 0 ||
        check_target(worktree, link->target, mount, err) < 0 ||
        open_common(worktree, common, rules, dl, link, err) < 0 ||
        check_apart(worktree, link, err) < 0 || check_shape(worktree, link, owner, err) < 0 ||
        check_commondir(worktree, link, owner, err) < 0)
        return -1;
    return check_way_back(worktree, link, owner, admin, err);
}

int cordon_worktree_link_open(const cordon_worktree *worktree, const char *mount, bool follow,
                              const cordon_worktree_rules *rules, cordon_deadline dl,
                              cordon_worktree_link *ret_link, cordon_err *err)
{
    cordon_auto(cordon_worktree_link) link = CORDON_WORKTREE_LINK_INIT;
    uid_t owner = 0;
    if (link_worktree_owner(worktree, &owner, err) < 0 ||
        read_dotgit(worktree, owner, &link.kind, &link.pointer, err) < 0)
        return -1;
    if (link.kind == CORDON_GIT_LINKED && !follow)
        link.kind = CORDON_GIT_ALONE;
    if (link.kind == CORDON_GIT_LINKED &&
        follow_pointer(worktree, mount, owner, rules, dl, &link, err) < 0)
        return -1;
    *ret_link = link;
    link = (cordon_worktree_link)CORDON_WORKTREE_LINK_INIT;
    return 0;
}

int cordon_worktree_link_recheck(const cordon_worktree *worktree, const cordon_worktree_link *link,
                                 const char *mountinfo, cordon_err *err)
{
    cordon_autofree char *pointer = NULL;
    cordon_git_kind kind = CORDON_GIT_UNKNOWN;
    uid_t owner = 0;
    if (link->kind != CORDON_GIT_LINKED)
        return 0;
    if (link_worktree_owner(worktree, &owner, err) < 0 ||
        read_dotgit(worktree, owner, &kind, &pointer, err) < 0)
        return -1;
    if (kind != CORDON_GIT_LINKED || strcmp(pointer, link->pointer) != 0)
        return LINK_FAIL(err, worktree, "was changed since it was approved");
    return cordon_worktree_recheck(&link->common, mountinfo, err);
}

void cordon_worktree_link_clear(cordon_worktree_link *link)
{
    cordon_worktree_clear(&link->common);
    free(link->target);
    free(link->name);
    free(link->pointer);
    *link = (cordon_worktree_link)CORDON_WORKTREE_LINK_INIT;
}

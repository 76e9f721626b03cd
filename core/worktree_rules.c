/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worktree may not be and may not hold, as tables.
 */
#include "worktree_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "kit/octal.h"

#define MOUNTINFO       "/proc/self/mountinfo"
#define MOUNTINFO_MAX   ((size_t)16 * 1024 * 1024)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* --- System folders ------------------------------------------------------------------------ */

typedef struct system_folder {
    const char *path;
    bool whole_tree; /* nothing below it is a worktree either */
} system_folder;

/* Compared by device and inode, so that a bind mount or /bin -> /usr/bin makes no difference. */
static const system_folder system_folders[] = {
    {"/", false},
    {"/bin", true},
    {"/boot", true},
    {"/dev", true},
    {"/etc", true},
    {"/home", false},
    {"/lib", true},
    {"/lib32", true},
    {"/lib64", true},
    {"/libx32", true},
    {"/lost+found", true},
    {"/media", false},
    {"/mnt", false},
    {"/opt", false},
    {"/proc", true},
    {"/root", false},
    {"/run", true},
    {"/sbin", true},
    {"/srv", false},
    {"/sys", true},
    {"/tmp", false},
    {"/usr", false},
    {"/usr/bin", true},
    {"/usr/lib", true},
    {"/usr/lib64", true},
    {"/usr/libexec", true},
    {"/usr/local", false},
    {"/usr/sbin", true},
    {"/usr/share", true},
    {"/usr/src", false},
    {"/var", false},
    {"/var/cache", false},
    {"/var/lib", false},
    {"/var/lib/containerd", true},
    {"/var/lib/containers", true},
    {"/var/lib/docker", true},
    {"/var/log", true},
    {"/var/spool", false},
    {"/var/tmp", false},
};

const char *cordon_worktree_system_folder(cordon_inode inode, bool last)
{
    struct stat facts;
    for (size_t i = 0; i < COUNT_OF(system_folders); i++) {
        if (!last && !system_folders[i].whole_tree)
            continue;
        if (stat(system_folders[i].path, &facts) == 0 && facts.st_dev == inode.dev &&
            facts.st_ino == inode.ino)
            return system_folders[i].path;
    }
    return NULL;
}

/* --- Above or not -------------------------------------------------------------------------- */

/* Cuts the last component; false when nothing but / is left. */
static bool cut_component(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || path[1] == '\0')
        return false;
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

/* The real path of the longest part of `path` that exists; NULL when memory ran out. */
static char *real_part(const char *path)
{
    cordon_autofree char *part = strdup(path);
    char *real = NULL;
    while (part && !(real = realpath(part, NULL)) && errno != ENOMEM)
        if (!cut_component(part))
            break;
    return real;
}

bool cordon_worktree_is_above(cordon_inode folder, const char *path)
{
    cordon_autofree char *real = path[0] == '/' ? real_part(path) : NULL;
    if (!real)
        return path[0] == '/'; /* cannot tell: fail closed */
    do {
        struct stat facts;
        if (stat(real, &facts) == 0 && facts.st_dev == folder.dev && facts.st_ino == folder.ino)
            return true;
    } while (cut_component(real));
    return false;
}

/* --- Mounts -------------------------------------------------------------------------------- */

static int read_mountinfo(const char *file, cordon_buf *content, cordon_err *err)
{
    cordon_autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "the mount table %s", file);
    for (;;) {
        char *space = NULL;
        if (cordon_buf_reserve(content, 16384, &space, err) < 0) {
            cordon_err_wrap(err, "the mount table %s", file);
            return -1;
        }
        ssize_t got = read(fd, space, 16384);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return CORDON_FAIL_ERRNO(err, errno, "the mount table %s", file);
        if (got == 0)
            return 0;
        cordon_buf_commit(content, (size_t)got);
    }
}

/* The fifth field of a line of proc_pid_mountinfo(5), NUL-terminated in place; NULL: no line. */
static char *mount_point(char *line)
{
    for (int field = 0; field < 4; field++) {
        line = strchr(line, ' ');
        if (!line)
            return NULL;
        line++;
    }
    char *end = strchr(line, ' ');
    if (!end || *line != '/')
        return NULL;
    *end = '\0';
    return line;
}

static int check_mount_line(char *line, const char *path, cordon_err *err)
{
    size_t length = strlen(path);
    char *point = mount_point(line);
    if (!point)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM,
                           "the mount table has a line that is none: \"%s\"", CORDON_QUOTE(line));
    cordon_octal_decode(point);
    if (strncmp(point, path, length) != 0 || point[length] != '/')
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: another file system is mounted below it at %s, which a "
                       "read-only phase would not cover; unmount it or give a folder without it",
                       CORDON_QUOTE(path), CORDON_QUOTE(point));
}

int cordon_worktree_check_mounts(const char *path, const char *mountinfo, cordon_err *err)
{
    cordon_auto(cordon_buf) content = cordon_buf_make(MOUNTINFO_MAX);
    if (read_mountinfo(mountinfo ? mountinfo : MOUNTINFO, &content, err) < 0)
        return -1;
    if (content.length == 0)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the mount table is empty");
    char *line = content.data;
    while (*line) {
        char *end = strchr(line, '\n');
        char *next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = '\0';
        if (check_mount_line(line, path, err) < 0)
            return -1;
        line = next;
    }
    return 0;
}

/* --- Engine sockets ------------------------------------------------------------------------ */

static const char *const system_sockets[] = {
    "/run/docker.sock",        "/var/run/docker.sock",
    "/run/podman/podman.sock", "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
};

static const char *const runtime_sockets[] = {"podman/podman.sock", "docker.sock"};

static const char *const home_sockets[] = {".docker/run/docker.sock", ".docker/desktop/docker.sock",
                                           ".colima/default/docker.sock"};

static int check_socket(const cordon_worktree *worktree, const char *socket, cordon_err *err)
{
    cordon_inode inode = {.dev = worktree->dev, .ino = worktree->ino};
    if (!cordon_worktree_is_above(inode, socket))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "worktree %s: holds the engine socket %s, which is control over the host; "
                       "give a folder without it",
                       CORDON_QUOTE(worktree->path), CORDON_QUOTE(socket));
}

static int check_sockets(const cordon_worktree *worktree, const char *folder,
                         const char *const *sockets, size_t count, cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        int length =
            snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", sockets[i]);
        if (length < 0 || (size_t)length >= sizeof path)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: the path is too long",
                               CORDON_QUOTE(sockets[i]));
        if (check_socket(worktree, path, err) < 0)
            return -1;
    }
    return 0;
}

int cordon_worktree_check_engines(const cordon_worktree *worktree,
                                  const cordon_worktree_rules *rules, cordon_err *err)
{
    if (check_sockets(worktree, "", system_sockets, COUNT_OF(system_sockets), err) < 0 ||
        check_sockets(worktree, "", rules->sockets, rules->socket_count, err) < 0)
        return -1;
    if (rules->runtime_dir && check_sockets(worktree, rules->runtime_dir, runtime_sockets,
                                            COUNT_OF(runtime_sockets), err) < 0)
        return -1;
    if (rules->home &&
        check_sockets(worktree, rules->home, home_sockets, COUNT_OF(home_sockets), err) < 0)
        return -1;
    return 0;
}

/* --- Key stores ---------------------------------------------------------------------------- */

static const char *const key_stores[] = {
    ".ssh",
    ".gnupg",
    ".aws/credentials",
    ".azure",
    ".kube/config",
    ".netrc",
    ".docker/config.json",
    ".config/gcloud",
    ".password-store",
    ".claude/.credentials.json",
    ".codex/auth.json",
};

int cordon_worktree_check_keys(const cordon_worktree *worktree, cordon_err *err)
{
    for (size_t i = 0; i < COUNT_OF(key_stores); i++) {
        struct stat facts;
        if (fstatat(worktree->fd, key_stores[i], &facts, AT_SYMLINK_NOFOLLOW) == 0)
            return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                               "worktree %s: holds %s, so it looks like somebody's home with keys; "
                               "move that away or give the folder of one project",
                               CORDON_QUOTE(worktree->path), key_stores[i]);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return CORDON_FAIL_ERRNO(err, errno, "worktree %s: cannot look at %s",
                                     CORDON_QUOTE(worktree->path), key_stores[i]);
    }
    return 0;
}

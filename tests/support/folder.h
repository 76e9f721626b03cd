/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private folder below /tmp for tests of files: made, filled and removed with all it holds.
 */
#ifndef CORDON_TESTS_SUPPORT_FOLDER_H
#define CORDON_TESTS_SUPPORT_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct test_folder {
    char path[64];
    char joined[4][PATH_MAX]; /* used in turn by test_path */
    unsigned next;
} test_folder;

static inline bool test_folder_make(test_folder *folder)
{
    *folder = (test_folder){0};
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/cordon-test-XXXXXX");
    return mkdtemp(folder->path) != NULL;
}

static inline int test_folder_drop(const char *path, const struct stat *facts, int type,
                                   struct FTW *where)
{
    (void)facts;
    (void)type;
    (void)where;
    (void)remove(path);
    return 0;
}

static inline void test_folder_remove(test_folder *folder)
{
    if (folder->path[0] != '\0')
        (void)nftw(folder->path, test_folder_drop, 16, FTW_DEPTH | FTW_PHYS);
}

#define test_auto_folder __attribute__((cleanup(test_folder_remove))) test_folder

/* FOLDER/name, valid until the fourth next call. */
static inline const char *test_path(test_folder *folder, const char *name)
{
    char *path = folder->joined[folder->next++ % 4];
    size_t length = strlen(folder->path);
    size_t rest = strlen(name);
    if (length + rest + 2 > PATH_MAX)
        return "";
    memcpy(path, folder->path, length);
    path[length] = '/';
    memcpy(path + length + 1, name, rest + 1);
    return path;
}

static inline bool test_file(test_folder *folder, const char *name, const char *text, mode_t mode)
{
    int fd = open(test_path(folder, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    size_t length = strlen(text);
    bool ok = write(fd, text, length) == (ssize_t)length && fchmod(fd, mode) == 0;
    return close(fd) == 0 && ok;
}

/* mkdir that the umask has no say in. */
static inline bool test_subfolder(test_folder *folder, const char *name, mode_t mode)
{
    const char *path = test_path(folder, name);
    return mkdir(path, 0700) == 0 && chmod(path, mode) == 0;
}

static inline bool test_symlink(test_folder *folder, const char *target, const char *name)
{
    return symlink(target, test_path(folder, name)) == 0;
}

/* A bound unix socket that nobody listens at. */
static inline bool test_socket(test_folder *folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = test_path(folder, name);
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

#endif

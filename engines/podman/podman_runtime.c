/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the OCI configuration that Podman wrote for its runtime, from the daemon's own folder on
 * this machine. Nothing is asked of the daemon here.
 *
 * SECURITY: the path comes from the daemon. It must be the one that Podman uses for this container,
 * and what is there must be a regular file of the daemon's (or root's) that nobody else can write;
 * the last step of the path is never a symbolic link, and nothing is waited for.
 */
#include "podman_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "podman_decode.h"

#define CONFIG_NAME "config.json"
#define READ_SIZE   16384

/* "/folder/<id>/userdata" of "/folder/<id>/userdata/config.json". */
static int folder_of(const char *id, const char *place, char ret_folder[PATH_MAX], cordon_err *err)
{
    char tail[CORDON_ID_HEX + 64];
    int tail_length = snprintf(tail, sizeof tail, "/%s/userdata/" CONFIG_NAME, id);
    size_t length = strlen(place);
    size_t folder = length - strlen("/" CONFIG_NAME);
    if (place[0] != '/' || length < (size_t)tail_length || length >= PATH_MAX ||
        strcmp(place + length - (size_t)tail_length, tail) != 0 || strstr(place, "/../") != NULL)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "container %.12s: \"%s\" is not where Podman keeps its configuration",
                           id, CORDON_QUOTE(place));
    memcpy(ret_folder, place, folder);
    ret_folder[folder] = '\0';
    return 0;
}

/* Says nothing about the file, so it is an error and no refusal. */
static bool is_shortage(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

/* What cannot be opened cannot be read from here: that is UNSUPPORTED, and says why. */
static int cannot_open(const char *path, int errnum, cordon_err *err)
{
    if (is_shortage(errnum))
        return CORDON_FAIL_ERRNO(err, errnum, "open %s", CORDON_QUOTE(path));
    const char *why = errnum == ENOENT || errnum == ENOTDIR
                          ? "is not on this machine (a remote daemon, or one in another mount "
                            "namespace)"
                          : "may not be read by this user";
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "\"%s\" %s", CORDON_QUOTE(path), why);
}

/* O_NONBLOCK: a FIFO in its place must not hold anybody up. */
static int open_config(const char *folder, const char *place, int *ret_fd, cordon_err *err)
{
    cordon_autoclose int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return cannot_open(folder, errno, err);
    int fd = openat(dir, CONFIG_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "\"%s\" has not been written yet",
                           CORDON_QUOTE(place));
    if (fd < 0 && (errno == EACCES || errno == EPERM || is_shortage(errno)))
        return cannot_open(place, errno, err);
    if (fd < 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "\"%s\" is no file that can be read",
                           CORDON_QUOTE(place));
    *ret_fd = fd;
    return 0;
}

static int check_file(const podman *engine, int fd, const char *place, cordon_err *err)
{
    struct stat st;
    const char *wrong = NULL;
    if (fstat(fd, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "look at %s", CORDON_QUOTE(place));
    if (!S_ISREG(st.st_mode))
        wrong = "is no regular file";
    else if (st.st_uid != 0 && st.st_uid != engine->owner)
        wrong = "belongs to somebody else than the daemon";
    else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        wrong = "can be written by others";
    if (!wrong)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "\"%s\" %s", CORDON_QUOTE(place), wrong);
}

static int read_whole(int fd, const char *place, cordon_buf *bytes, cordon_err *err)
{
    char piece[READ_SIZE];
    for (;;) {
        ssize_t length = read(fd, piece, sizeof piece);
        if (length == 0)
            return 0;
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return CORDON_FAIL_ERRNO(err, errno, "read %s", CORDON_QUOTE(place));
        if (cordon_buf_append(bytes, piece, (size_t)length, err) != 0)
            return -1;
    }
}

static int read_config(const podman *engine, const char *id, const char *place, cordon_buf *bytes,
                       cordon_err *err)
{
    char folder[PATH_MAX];
    cordon_autoclose int fd = -1;
    if (folder_of(id, place, folder, err) != 0 || open_config(folder, place, &fd, err) != 0 ||
        check_file(engine, fd, place, err) != 0)
        return -1;
    return read_whole(fd, place, bytes, err);
}

int podman_container_runtime(void *impl, const char *id, const char *place, cordon_deadline dl,
                             cordon_runtime_facts *ret_facts, cordon_err *err)
{
    const podman *engine = impl;
    cordon_auto(cordon_buf) bytes = cordon_buf_make(PODMAN_ANSWER_MAX);
    if (podman_need_id(id, err) != 0 || cordon_deadline_check(dl, "read a configuration", err) != 0)
        return -1;
    if (!engine->local)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "the daemon is not behind a socket of this machine, so its files are "
                           "not here");
    if (read_config(engine, id, place, &bytes, err) != 0)
        return -1;
    if (podman_decode_runtime(bytes.data, bytes.length, id, ret_facts, err) != 0) {
        cordon_err_wrap(err, "the configuration of container %.12s", id);
        return -1;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The private state folder; see state_dir.h. */
#include "state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/random.h"

/* Makes one folder and its parents; whoever shares a parent with us cannot enter the last one. */
static int state_make_folder(const char *folder, cordon_err *err)
{
    cordon_autofree char *path = strdup(folder);

    if (path == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return CORDON_FAIL_ERRNO(err, errno, "cannot make %s", CORDON_QUOTE(path));
        *slash = '/';
    }
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return CORDON_FAIL_ERRNO(err, errno, "cannot make %s", CORDON_QUOTE(folder));
    return 0;
}

/* SECURITY: what stands in the journal is acted on later, so nobody else may write it. */
static int state_check_folder(int fd, const char *folder, cordon_err *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot look at %s", CORDON_QUOTE(folder));
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s is not a folder of yours alone; give it mode 0700 or set "
                           "XDG_STATE_HOME to another",
                           CORDON_QUOTE(folder));
    return 0;
}

int cordon_state_open(const char *folder, cordon_err *err)
{
    cordon_autoclose int dir = -1;

    if (state_make_folder(folder, err) != 0)
        return -1;
    dir = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot open %s", CORDON_QUOTE(folder));
    if (state_check_folder(dir, folder, err) != 0)
        return -1;
    return cordon_take_fd(&dir);
}

void cordon_state_replace(int dir, const char *name, const void *bytes, size_t length)
{
    cordon_autoclose int fd = -1;
    cordon_err ignored = CORDON_ERR_INIT;
    char unique[17];
    char temporary[96];

    if (cordon_random_hex(unique, sizeof(unique) - 1, &ignored) != 0)
        return;
    (void)snprintf(temporary, sizeof(temporary), ".%s.%s", name, unique);
    fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (write(fd, bytes, length) != (ssize_t)length || renameat(dir, temporary, dir, name) != 0)
        (void)unlinkat(dir, temporary, 0);
}

void cordon_state_read_line(const char *path, char *ret_text, size_t size)
{
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, ret_text, size - 1) : -1;

    ret_text[length > 0 ? length : 0] = '\0';
    ret_text[strcspn(ret_text, "\n")] = '\0';
}

void cordon_state_boot_id(char *ret_text, size_t size)
{
    cordon_state_read_line("/proc/sys/kernel/random/boot_id", ret_text, size);
}

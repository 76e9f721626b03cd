/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the events of a live run; see egress_file.h. */
#include "egress_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "egress_event.h"
#include "kit/cleanup.h"
#include "state_dir.h"

#define FILE_FULL "{\"event\":\"egress\",\"what\":\"full\"}"

void cordon_egress_file_name(const char *invocation, char ret_name[CORDON_EGRESS_FILE_NAME])
{
    (void)snprintf(ret_name, CORDON_EGRESS_FILE_NAME, "%.*s" CORDON_EGRESS_FILE_SUFFIX,
                   CORDON_OWNER_HEX, invocation);
}

bool cordon_egress_file_is_name(const char *name)
{
    return strlen(name) == CORDON_EGRESS_FILE_NAME - 1 &&
           strspn(name, "0123456789abcdef") == CORDON_OWNER_HEX &&
           strcmp(name + CORDON_OWNER_HEX, CORDON_EGRESS_FILE_SUFFIX) == 0;
}

/* SECURITY: locked before anything stands in it, so nobody takes it for a dead run's. */
static int file_create(int dir, const char *name)
{
    cordon_autoclose int fd =
        openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        (void)unlinkat(dir, name, 0);
        return -1;
    }
    return cordon_take_fd(&fd);
}

void cordon_egress_file_open(const char *folder, const char *invocation,
                             cordon_egress_file *ret_file)
{
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_autoclose int dir = cordon_state_open(folder, &ignored);
    cordon_egress_file file = CORDON_EGRESS_FILE_INIT;
    char name[CORDON_EGRESS_FILE_NAME];

    cordon_egress_file_name(invocation, name);
    if (dir < 0 || asprintf(&file.path, "%s/%s", folder, name) < 0)
        return;
    file.fd = file_create(dir, name);
    if (file.fd < 0)
        free(file.path);
    else
        *ret_file = file;
}

static void file_put(cordon_egress_file *file, const char *line, size_t length)
{
    ssize_t written = write(file->fd, line, length);

    /* Half a line, on a full disk, is no line. */
    if (written != (ssize_t)length && (written < 0 || ftruncate(file->fd, file->bytes) != 0)) {
        file->bytes = CORDON_EGRESS_FILE_MAX;
        return;
    }
    if (written == (ssize_t)length)
        file->bytes += written;
}

void cordon_egress_file_write(cordon_egress_file *file, const char *line, size_t length)
{
    char text[CORDON_EGRESS_EVENT_MAX + 1];

    if (file->fd < 0 || length >= CORDON_EGRESS_EVENT_MAX || file->bytes >= CORDON_EGRESS_FILE_MAX)
        return;
    if (file->bytes + (int64_t)length + (int64_t)sizeof(FILE_FULL) >= CORDON_EGRESS_FILE_MAX) {
        file_put(file, FILE_FULL "\n", sizeof(FILE_FULL));
        file->bytes = CORDON_EGRESS_FILE_MAX;
        return;
    }
    memcpy(text, line, length);
    text[length] = '\n';
    file_put(file, text, length + 1);
}

void cordon_egress_file_close(cordon_egress_file *file)
{
    /* While the lock is held: what is found without it is a dead run's. */
    if (file->fd >= 0) {
        (void)unlink(file->path);
        (void)close(file->fd);
    }
    free(file->path);
    *file = (cordon_egress_file)CORDON_EGRESS_FILE_INIT;
}

void cordon_egress_file_forget(int dir, const char *invocation)
{
    char name[CORDON_EGRESS_FILE_NAME];

    cordon_egress_file_name(invocation, name);
    (void)unlinkat(dir, name, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose child a process is: proc_pid_stat(5). */
#ifndef CORDON_TESTS_SUPPORT_PARENT_OF_H
#define CORDON_TESTS_SUPPORT_PARENT_OF_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* pid: the name of a folder of /proc. 0 when it cannot be told. */
static inline pid_t parent_of(const char *pid)
{
    char path[300];
    char text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    /* "pid (name) S ppid": the name may hold blanks and brackets. */
    const char *after = got > 0 ? strrchr(text, ')') : NULL;
    return after ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

#endif

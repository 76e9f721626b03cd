/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_start GUARD [--NAME VALUE...]: becomes `GUARD proxy`, as an engine would start it, with the
 * policy that the pairs say (proxy_policy.h) on its stdin. The stream never ends, since the process
 * itself holds its other end: a FIFO that is open for reading and writing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "support/proxy_policy.h"

static int give(const cordon_frame *frame)
{
    int ends[2];
    char path[64];
    if (pipe(ends) != 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    int both = open(path, O_RDWR);
    if (both < 0 || write(both, frame->bytes.data, frame->bytes.length) < 0 ||
        dup2(both, STDIN_FILENO) < 0)
        return -1;
    /* The guard refuses to start with descriptors that nobody planned. */
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        (void)close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    char home[] = "HOME=/";
    char name[] = "HOSTNAME=proxy";
    char path[] = "PATH=/";
    char role[] = "proxy";
    char *const environment[] = {home, name, path, NULL};
    cordon_frame frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (argc < 2 || policy_make(argc - 2, (const char *const *)argv + 2, &frame, &err) != 0 ||
        give(&frame) != 0) {
        (void)fprintf(stderr, "proxy_start: %s\n", argc < 2 ? "which guard?" : err.message);
        return 2;
    }
    char *const command[] = {argv[1], role, NULL};
    (void)execve(argv[1], command, environment);
    perror(argv[1]);
    return 2;
}

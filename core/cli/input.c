/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a person named; see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define PIECE_BYTES 65536

int cordon_cli_input_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

cordon_deadline cordon_cli_input_deadline(int64_t deadline_ms, int signal_fd)
{
    return deadline_ms > 0 ? cordon_deadline_in_ms(deadline_ms, signal_fd)
                           : (cordon_deadline){.at_ns = INT64_MAX, .cancel_fd = signal_fd};
}

/* 1 for more to come, 0 at the end. */
static int read_piece(int fd, const char *what, size_t room, cordon_buf *out, cordon_err *err)
{
    char *space = NULL;
    size_t size = room < PIECE_BYTES ? room : PIECE_BYTES;
    if (cordon_buf_reserve(out, size, &space, err) != 0)
        return -1;
    ssize_t got = read(fd, space, size);
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
        (void)CORDON_FAIL_ERRNO(err, errno, "%s: cannot be read", what);
        err->code = CORDON_ERR_CONFIG;
        return -1;
    }
    cordon_buf_commit(out, got > 0 ? (size_t)got : 0);
    return got != 0;
}

/* poll(2) tells of a FIFO's end only after it has had a writer, so nothing is read before. */
int cordon_cli_input_read(int fd, cordon_deadline deadline, const char *what, size_t room,
                          cordon_buf *out, cordon_err *err)
{
    int more = 1;
    while (more > 0 && out->length < room) {
        short ready = 0;
        if (cordon_deadline_poll(deadline, fd, POLLIN, what, &ready, err) != 0)
            return -1;
        more = read_piece(fd, what, room - out->length, out, err);
    }
    return more < 0 ? -1 : 0;
}

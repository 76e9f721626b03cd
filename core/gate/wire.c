/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on the gate's standard streams. libc-only.
 */
#include "gate/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "kit/buf.h"
#include "kit/frame.h"

/* Memory is taken for what has arrived, not for what a header promises. */
#define READ_STEP_BYTES 65536

/* poll(2) calls a pipe writable when PIPE_BUF bytes fit, so that much never blocks. */
#define WRITE_STEP_BYTES 4096

cordon_deadline cordon_wire_forever(void)
{
    return (cordon_deadline){.at_ns = INT64_MAX, .cancel_fd = -1};
}

int cordon_wire_write(int fd, const void *bytes, size_t length, cordon_deadline dl, cordon_err *err)
{
    const char *at = bytes;
    while (length > 0) {
        short ready = 0;
        if (cordon_deadline_poll(dl, fd, POLLOUT, "write", &ready, err) < 0)
            return -1;
        ssize_t wrote = write(fd, at, length < WRITE_STEP_BYTES ? length : WRITE_STEP_BYTES);
        if (wrote < 0 && errno != EAGAIN && errno != EINTR)
            return CORDON_FAIL_ERRNO(err, errno, "write");
        if (wrote > 0) {
            at += wrote;
            length -= (size_t)wrote;
        }
    }
    return 0;
}

static int add_fields(cordon_frame *frame, const cordon_wire_field *fields, size_t count,
                      cordon_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].tag != 0 &&
            cordon_frame_add_u64(frame, fields[i].tag, fields[i].value, err) < 0)
            return -1;
    return 0;
}

int cordon_wire_reply(int fd, const char *magic, const cordon_wire_field *fields, size_t count,
                      const uint8_t key[CORDON_GATE_NONCE_BYTES], cordon_err *err)
{
    cordon_auto(cordon_frame) frame = {0};
    if (cordon_frame_init(&frame, magic, CORDON_GATE_REPLY_MAX, err) < 0 ||
        add_fields(&frame, fields, count, err) < 0 || cordon_frame_seal(&frame, key, err) < 0)
        return -1;
    return cordon_wire_write(fd, frame.bytes.data, frame.bytes.length, cordon_wire_forever(), err);
}

/* One read(2) of at most `want` bytes; end of file is a failure. */
static int read_some(int fd, size_t want, cordon_deadline dl, cordon_buf *buf, cordon_err *err)
{
    char *space = NULL;
    short ready = 0;
    size_t step = want < READ_STEP_BYTES ? want : READ_STEP_BYTES;
    if (cordon_deadline_poll(dl, fd, POLLIN, "release", &ready, err) < 0 ||
        cordon_buf_reserve(buf, step, &space, err) < 0)
        return -1;
    ssize_t got = read(fd, space, step);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got < 0)
        return CORDON_FAIL_ERRNO(err, errno, "read the release");
    if (got == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the stream ended after %zu bytes",
                           buf->length);
    cordon_buf_commit(buf, (size_t)got);
    return 0;
}

/* Reads up to the frame's own length, never past it. */
static int read_frame(int fd, cordon_deadline dl, cordon_buf *buf, cordon_err *err)
{
    size_t total = 0;
    size_t need = CORDON_FRAME_HEAD_BYTES;
    while (need > 0) {
        if (read_some(fd, need, dl, buf, err) < 0 ||
            cordon_frame_measure(CORDON_GATE_MAGIC_RELEASE, buf->data, buf->length,
                                 CORDON_GATE_RELEASE_MAX, &total, &need, err) < 0)
            return -1;
    }
    return 0;
}

/* What has arrived behind the frame by now; end of file is fine. */
static int check_nothing_behind(int fd, cordon_err *err)
{
    char byte = 0;
    struct pollfd item = {.fd = fd, .events = POLLIN};
    if (poll(&item, 1, 0) > 0 && (item.revents & POLLIN) && read(fd, &byte, 1) > 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "bytes behind the frame");
    return 0;
}

int cordon_wire_receive(int fd, const uint8_t nonce[CORDON_GATE_NONCE_BYTES], cordon_deadline dl,
                        cordon_release **ret_release, cordon_err *err)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make_secret(CORDON_GATE_RELEASE_MAX);
    cordon_auto_ptr(cordon_release) release = NULL;
    if (read_frame(fd, dl, &buf, err) < 0 ||
        cordon_release_parse(buf.data, buf.length, nonce, &release, err) < 0 ||
        check_nothing_behind(fd, err) < 0)
        return -1;
    *ret_release = CORDON_TAKE(release);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and the policy's arrival; see start.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "descriptors.h"
#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/frame.h"
#include "start.h"

/* What the plan gives, because an engine would otherwise choose it itself (core/plan.c). */
static const char *const known_variables[] = {"HOME=/", "HOSTNAME=proxy", "PATH=/"};

static bool is_known(const char *variable)
{
    for (size_t i = 0; i < sizeof known_variables / sizeof known_variables[0]; i++) {
        if (strcmp(known_variables[i], variable) == 0)
            return true;
    }
    return false;
}

int cordon_start_check(int argc, char *const *argv, char *const *environment, cordon_err *err)
{
    if (argc > 1)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unexpected argument \"%s\"",
                           CORDON_QUOTE(argv[1]));
    for (; environment && *environment; environment++) {
        if (!is_known(*environment))
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unexpected variable \"%s\"",
                               CORDON_QUOTE(*environment));
    }
    int fd = cordon_descriptors_first_from(STDERR_FILENO + 1);
    if (fd >= 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unexpected open descriptor %d", fd);
    return 0;
}

static int read_some(int fd, size_t want, cordon_deadline dl, cordon_buf *buf, cordon_err *err)
{
    char *space = NULL;
    short ready = 0;
    if (cordon_deadline_poll(dl, fd, POLLIN, "the policy", &ready, err) != 0 ||
        cordon_buf_reserve(buf, want, &space, err) != 0)
        return -1;
    ssize_t got = read(fd, space, want);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got < 0)
        return CORDON_FAIL_ERRNO(err, errno, "read the policy");
    if (got == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the policy ended after %zu bytes",
                           buf->length);
    cordon_buf_commit(buf, (size_t)got);
    return 0;
}

int cordon_start_read(int fd, int64_t wait_ms, cordon_proxy_options *ret_options, cordon_err *err)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(CORDON_PROXY_POLICY_MAX);
    cordon_deadline dl = cordon_deadline_in_ms(wait_ms, -1);
    size_t total = 0;
    size_t need = CORDON_FRAME_HEAD_BYTES;
    while (need > 0) {
        if (read_some(fd, need, dl, &buf, err) != 0 ||
            cordon_frame_measure(CORDON_PROXY_MAGIC_POLICY, buf.data, buf.length,
                                 CORDON_PROXY_POLICY_MAX, &total, &need, err) != 0)
            return -1;
    }
    return cordon_proxy_options_read(buf.data, buf.length, ret_options, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting to a unix socket by hand instead of by libcurl: for the exact reason of a failure, for
 * CLOEXEC at birth, and because a full backlog is EAGAIN here, which libcurl takes for success.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "kit/httpc_impl.h"

#define BACKLOG_RETRY_MS 5

static int unreachable(const char *name, const char *why, int errnum, cordon_err *err)
{
    cordon_err_set(err, CORDON_ERR_UNREACHABLE, 0, "%s: %s", name, why);
    if (err)
        err->errnum = errnum;
    return -1;
}

/* What connect(2)'s errno means for the person who named this path. */
static const char *explain(const char *path, int errnum)
{
    struct stat st;
    if (errnum == EACCES || errnum == EPERM)
        return "permission denied; use an account that may open this socket, or a rootless engine";
    if (errnum == ENOENT || errnum == ENOTDIR)
        return "no such socket; start the engine, or correct the endpoint";
    if (stat(path, &st) < 0)
        return "cannot be opened";
    if (S_ISDIR(st.st_mode))
        return "is a directory, not a socket; name the socket inside it";
    if (!S_ISSOCK(st.st_mode))
        return "is a file, not a socket; correct the endpoint";
    if (errnum == ECONNREFUSED)
        return "nothing listens on this socket; start the engine";
    return "cannot be opened";
}

/* Waits a moment for room in the backlog. */
static int wait_for_backlog(const cordon_httpc_exchange *exchange, cordon_err *err)
{
    short revents = 0;
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_deadline moment = cordon_deadline_clamp_ms(exchange->deadline, BACKLOG_RETRY_MS);
    (void)!cordon_deadline_poll(moment, -1, 0, "backlog", &revents, &ignored);
    return cordon_deadline_check(exchange->deadline, exchange->what, err);
}

int cordon_httpc_connect_unix(const cordon_httpc_exchange *exchange, int *ret_fd, cordon_err *err)
{
    const cordon_httpc *client = exchange->client;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* cordon_httpc_new has refused what does not fit. */
    memcpy(address.sun_path, client->unix_path, strlen(client->unix_path) + 1);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s: socket", client->name);
    while (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        if (errno == EAGAIN) {
            if (wait_for_backlog(exchange, err) < 0)
                return -1;
        } else if (errno != EINTR) {
            int errnum = errno;
            return unreachable(client->name, explain(client->unix_path, errnum), errnum, err);
        }
    }
    *ret_fd = cordon_take_fd(&fd);
    return 0;
}

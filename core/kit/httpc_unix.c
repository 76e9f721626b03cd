/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is special about unix sockets: saying for people why one cannot be reached, and waiting for
 * room in a full backlog, which is a failure here and not a wait in the kernel.
 */
#include <errno.h>
#include <sys/stat.h>

#include "kit/httpc_impl.h"

#define BACKLOG_RETRY_MS 5

/* What connect(2)'s errno means for the person who named this path. */
static const char *explain(const char *path, int errnum)
{
    struct stat st;
    if (errnum == EACCES || errnum == EPERM)
        return "permission denied; use an account that may open this socket, or a rootless engine";
    if (errnum == ENOENT || errnum == ENOTDIR)
        return "no such socket; start the engine, or correct the endpoint";
    if (stat(path, &st) < 0)
        return "cannot be opened; correct the endpoint";
    if (S_ISDIR(st.st_mode))
        return "is a directory, not a socket; name the socket inside it";
    if (!S_ISSOCK(st.st_mode))
        return "is a file, not a socket; correct the endpoint";
    if (errnum == ECONNREFUSED)
        return "nothing listens on this socket; start the engine";
    return "cannot be connected to; correct the endpoint";
}

int cordon_httpc_unix_fail(const cordon_httpc_exchange *exchange, int errnum, cordon_err *err)
{
    const cordon_httpc *client = exchange->client;
    cordon_err_set(err, CORDON_ERR_UNREACHABLE, 0, "%s: %s", client->name,
                   explain(client->unix_path, errnum));
    if (err)
        err->errnum = errnum;
    return -1;
}

int cordon_httpc_unix_wait(const cordon_httpc_exchange *exchange, cordon_err *err)
{
    short revents = 0;
    cordon_deadline moment = cordon_deadline_clamp_ms(exchange->deadline, BACKLOG_RETRY_MS);
    /* Ends in a timeout in any case; which deadline it was is asked below. */
    (void)!cordon_deadline_poll(moment, -1, 0, "backlog", &revents, NULL);
    return cordon_deadline_check(exchange->deadline, exchange->what, err);
}

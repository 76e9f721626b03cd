/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over an upgraded connection to ourselves. */
#include "support/stream_pair.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kit/cleanup.h"

#define MAKE_MS  10000
#define HEAD_MAX 4096

static const char upgraded[] =
    "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

struct stream_pairs {
    char folder[64];
    char path[96];
    int listener;
    cordon_httpc *client;
    pthread_mutex_t lock;
};

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 16) != 0)
        return -1;
    return cordon_take_fd(&fd);
}

stream_pairs *stream_pairs_new(void)
{
    stream_pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs)
        return NULL;
    pairs->listener = -1;
    (void)pthread_mutex_init(&pairs->lock, NULL);
    (void)snprintf(pairs->folder, sizeof pairs->folder, "/tmp/cordon-fake-XXXXXX");
    if (mkdtemp(pairs->folder)) {
        (void)snprintf(pairs->path, sizeof pairs->path, "%s/engine.sock", pairs->folder);
        pairs->listener = listen_at(pairs->path);
    }
    cordon_httpc_endpoint endpoint = {.unix_path = pairs->path};
    if (pairs->listener < 0 || cordon_httpc_new(&endpoint, &pairs->client, NULL) != 0) {
        stream_pairs_free(pairs);
        return NULL;
    }
    return pairs;
}

void stream_pairs_free(stream_pairs *pairs)
{
    if (!pairs)
        return;
    cordon_httpc_free(pairs->client);
    if (pairs->listener >= 0)
        (void)close(pairs->listener);
    (void)unlink(pairs->path);
    (void)rmdir(pairs->folder);
    (void)pthread_mutex_destroy(&pairs->lock);
    free(pairs);
}

const char *stream_pairs_path(const stream_pairs *pairs)
{
    return pairs->path;
}

/* Reads the request's head to its end, so that nothing of it shows up in the stream. */
static bool read_head(int fd)
{
    char head[HEAD_MAX + 1];
    size_t have = 0;
    while (have < HEAD_MAX) {
        ssize_t got = read(fd, head + have, 1);
        if (got <= 0)
            return false;
        have++;
        head[have] = '\0';
        if (have >= 4 && strcmp(head + have - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

/* The daemon's side of making one pair; the result is the peer, or -1. */
static void *accept_one(void *argument)
{
    const stream_pairs *pairs = argument;
    cordon_autoclose int fd = accept4(pairs->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || !read_head(fd) ||
        send(fd, upgraded, strlen(upgraded), MSG_NOSIGNAL) != (ssize_t)strlen(upgraded))
        return NULL;
    int *peer = malloc(sizeof *peer);
    if (peer)
        *peer = cordon_take_fd(&fd);
    return peer;
}

static int make(stream_pairs *pairs, cordon_stream **ret_stream, int *ret_peer, cordon_err *err)
{
    static const char *const headers[] = {"Connection: Upgrade", "Upgrade: tcp", NULL};
    cordon_httpc_request request = {
        .method = "POST", .path = "/pair", .headers = headers, .response_max_bytes = 4096};
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    void *accepted = NULL;
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, accept_one, pairs);
    if (failed != 0)
        return CORDON_FAIL_ERRNO(err, failed, "stream pair: thread");
    int rc = cordon_httpc_stream(pairs->client, &request, cordon_deadline_in_ms(MAKE_MS, -1),
                                 &response, &stream, err);
    (void)pthread_join(thread, &accepted);
    cordon_autofree int *peer = accepted;
    if (rc != 0)
        return -1;
    if (!stream || !peer)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "stream pair: not upgraded");
    *ret_stream = CORDON_TAKE(stream);
    *ret_peer = *peer;
    return 0;
}

int stream_pairs_make(stream_pairs *pairs, cordon_stream **ret_stream, int *ret_peer,
                      cordon_err *err)
{
    (void)pthread_mutex_lock(&pairs->lock);
    int rc = make(pairs, ret_stream, ret_peer, err);
    (void)pthread_mutex_unlock(&pairs->lock);
    return rc;
}

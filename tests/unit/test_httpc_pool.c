/* SPDX-License-Identifier: Apache-2.0 */
/* One client in many threads, and an engine whose backlog is full. Run under TSan. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kit/httpc.h"
#include "support/test.h"
#include "support/udsd.h"

#define THREADS 8
#define CALLS   50

typedef struct worker {
    cordon_httpc *client;
    pthread_t thread;
    int id;
    int good;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    for (int i = 0; i < CALLS; i++) {
        char path[64];
        cordon_auto(cordon_httpc_response) response = {0};
        cordon_err err = CORDON_ERR_INIT;
        (void)snprintf(path, sizeof path, "/%d/%d", w->id, i);
        cordon_httpc_request request = {.method = i % 5 ? "GET" : "POST",
                                        .path = path,
                                        .response_max_bytes = 1000,
                                        .mutating = i % 5 == 0};
        if (cordon_httpc_call(w->client, &request, cordon_deadline_in_ms(30000, -1), &response,
                              &err) == 0 &&
            strcmp(cordon_buf_text(&response.body), "{\"ok\":1}") == 0)
            w->good++;
    }
    return NULL;
}

static void eight_threads_share_one_client(void)
{
    static const udsd_step step = {.status = 200, .json = "{\"ok\":1}", .flags = UDSD_REPEAT};
    udsd *server = udsd_start(&step, 1);
    cordon_httpc_endpoint endpoint = {.unix_path = udsd_path(server)};
    cordon_httpc *client = NULL;
    cordon_err err = CORDON_ERR_INIT;
    worker workers[THREADS];
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.client = client, .id = i};
        REQUIRE_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        CHECK_INT(workers[i].good, CALLS);
    }
    CHECK_INT(udsd_count(server), THREADS * CALLS);
    cordon_httpc_free(client);
    udsd_stop(server);
}

/* --- a full backlog --- */

typedef struct busy {
    char folder[32];
    char path[64];
    int listener;
    int fillers[4];
    pthread_t thread;
} busy;

/* Takes the waiting connections away after a while and answers the last one. */
static void *accept_late(void *argument)
{
    busy *b = argument;
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    char request[1024];
    struct timespec moment = {.tv_nsec = 50000000};
    (void)nanosleep(&moment, NULL);
    for (;;) {
        int fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return NULL;
        bool asked = recv(fd, request, sizeof request, 0) > 0;
        if (asked)
            (void)!send(fd, reply, sizeof reply - 1, MSG_NOSIGNAL);
        (void)close(fd);
        if (asked)
            return NULL;
    }
}

static bool fill_backlog(busy *b)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(b->folder, sizeof b->folder, "/tmp/busy.XXXXXX");
    if (!mkdtemp(b->folder))
        return false;
    (void)snprintf(b->path, sizeof b->path, "%s/s", b->folder);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", b->path);
    b->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(b->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(b->listener, 0) < 0)
        return false;
    bool full = false;
    for (size_t i = 0; i < 4; i++) {
        b->fillers[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        full = connect(b->fillers[i], (struct sockaddr *)&address, sizeof address) < 0;
    }
    return full;
}

static void empty_backlog(busy *b)
{
    for (size_t i = 0; i < 4; i++)
        (void)close(b->fillers[i]);
}

static void remove_busy(busy *b)
{
    (void)close(b->listener);
    (void)unlink(b->path);
    (void)rmdir(b->folder);
}

static void a_change_waits_for_room_in_the_backlog(void)
{
    busy b = {0};
    REQUIRE(fill_backlog(&b));
    empty_backlog(&b);
    REQUIRE_INT(pthread_create(&b.thread, NULL, accept_late, &b), 0);
    cordon_httpc_endpoint endpoint = {.unix_path = b.path};
    cordon_auto_ptr(cordon_httpc) client = NULL;
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_httpc_request request = {
        .method = "POST", .path = "/x", .response_max_bytes = 100, .mutating = true};
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    CHECK_OK(cordon_httpc_call(client, &request, cordon_deadline_in_ms(20000, -1), &response, &err),
             err);
    CHECK_STR(cordon_buf_text(&response.body), "ok");
    (void)shutdown(b.listener, SHUT_RDWR);
    (void)pthread_join(b.thread, NULL);
    remove_busy(&b);
}

static void a_backlog_that_stays_full_is_a_timeout_with_nothing_sent(void)
{
    busy b = {0};
    REQUIRE(fill_backlog(&b));
    cordon_httpc_endpoint endpoint = {.unix_path = b.path};
    cordon_auto_ptr(cordon_httpc) client = NULL;
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_stream *stream = NULL;
    cordon_httpc_request request = {
        .method = "POST", .path = "/x", .response_max_bytes = 100, .mutating = true};
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    CHECK_FAILS(cordon_httpc_call(client, &request, cordon_deadline_in_ms(60, -1), &response, &err),
                err, CORDON_ERR_TIMEOUT, "POST /x: the deadline passed");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_httpc_stream(client, &request, cordon_deadline_in_ms(60, -1), &response,
                                    &stream, &err),
                err, CORDON_ERR_TIMEOUT, "POST /x: the deadline passed");
    empty_backlog(&b);
    remove_busy(&b);
}

CORDON_TEST_MAIN("httpc_pool", TEST(eight_threads_share_one_client),
                 TEST(a_change_waits_for_room_in_the_backlog),
                 TEST(a_backlog_that_stays_full_is_a_timeout_with_nothing_sent))

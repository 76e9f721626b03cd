/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripted HTTP server. One accepting thread, one thread per connection, one lock around
 * everything that is shared. Test code: it aborts when the machine fails it.
 */
#include "support/udsd_impl.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX 65536
#define WAIT_MS  5000

void udsd_need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

void *udsd_alloc(size_t size)
{
    void *memory = calloc(1, size);
    udsd_need(memory != NULL, "calloc");
    return memory;
}

/* --- reading --- */

/* One byte or more; 0 at the end or when the server stops. */
static size_t receive(connection *c, char *bytes, size_t size)
{
    struct pollfd fds[] = {{.fd = c->fd, .events = POLLIN},
                           {.fd = c->server->stop_pipe[0], .events = POLLIN}};
    if (poll(fds, 2, -1) < 0 || fds[1].revents)
        return 0;
    ssize_t got = recv(c->fd, bytes, size, 0);
    return got > 0 ? (size_t)got : 0;
}

static size_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    return at ? (size_t)strtoull(at + 17, NULL, 10) : 0;
}

static bool is_chunked(const char *head)
{
    return strcasestr(head, "\r\nTransfer-Encoding: chunked") != NULL;
}

/* Whole head; byte by byte, so that nothing of the body is taken. NULL at the end. */
static char *read_head(connection *c)
{
    char *head = udsd_alloc(HEAD_MAX);
    size_t length = 0;
    while (length < HEAD_MAX - 1 && receive(c, head + length, 1) == 1) {
        length++;
        if (length >= 4 && memcmp(head + length - 4, "\r\n\r\n", 4) == 0)
            return head;
    }
    free(head);
    return NULL;
}

static char *word(const char *from, const char *to)
{
    return strndup(from, (size_t)(to - from));
}

static void split_request_line(udsd_request *r)
{
    char *end = strstr(r->head, "\r\n");
    char *first = strchr(r->head, ' ');
    char *second = first && first < end ? strchr(first + 1, ' ') : NULL;
    bool good = second && second < end;
    r->method = good ? word(r->head, first) : strdup("?");
    r->path = good ? word(first + 1, second) : strdup("?");
}

static void read_body(connection *c, udsd_request *r)
{
    size_t wanted = content_length(r->head);
    r->body = udsd_alloc(wanted + 1);
    while (r->body_length < wanted) {
        size_t got = receive(c, r->body + r->body_length, wanted - r->body_length);
        if (got == 0)
            break;
        r->body_length += got;
    }
}

/* --- the record --- */

static void changed(udsd *s)
{
    (void)pthread_cond_broadcast(&s->changed);
}

static void record(udsd *s, udsd_request *r)
{
    (void)pthread_mutex_lock(&s->lock);
    udsd_need(s->request_count < REQUESTS_MAX, "udsd: too many requests");
    s->requests[s->request_count++] = r;
    changed(s);
    (void)pthread_mutex_unlock(&s->lock);
}

static void complain(udsd *s, const udsd_request *r)
{
    if (!s->complaint[0])
        (void)snprintf(s->complaint, sizeof s->complaint, "no step for %s %s, body %.200s",
                       r->method, r->path, r->body);
}

static bool path_matches(const char *pattern, const char *path)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, path, length - 1) == 0;
    return strcmp(pattern, path) == 0;
}

static bool matches(const udsd_step *step, const udsd_request *r)
{
    return (!step->method || strcmp(step->method, r->method) == 0) &&
           (!step->path || path_matches(step->path, r->path)) &&
           (!step->body_has || strstr(r->body, step->body_has));
}

/* The step that answers; NULL for none. With the lock held. */
static const udsd_step *choose(udsd *s, const udsd_request *r)
{
    for (size_t i = 0; i < s->step_count; i++) {
        const udsd_step *step = &s->steps[i];
        if (s->used[i] && !(step->flags & UDSD_REPEAT))
            continue;
        if (matches(step, r)) {
            s->used[i] = true;
            return step;
        }
        if (s->ordered && !s->used[i])
            break;
    }
    complain(s, r);
    return NULL;
}

static udsd_step step_for(udsd *s, const udsd_request *r)
{
    udsd_step step = {.status = 599, .json = "{\"message\":\"udsd: no step\"}"};
    if (s->handler) {
        s->handler(s->context, r, &step);
        return step;
    }
    (void)pthread_mutex_lock(&s->lock);
    const udsd_step *chosen = choose(s, r);
    if (chosen)
        step = *chosen;
    (void)pthread_mutex_unlock(&s->lock);
    return step;
}

/* --- connections --- */

static void read_tail(connection *c, udsd_request *r)
{
    char piece[4096];
    size_t got = 0;
    while ((got = receive(c, piece, sizeof piece)) > 0) {
        (void)pthread_mutex_lock(&c->server->lock);
        r->tail = realloc(r->tail, r->tail_length + got + 1);
        udsd_need(r->tail != NULL, "realloc");
        memcpy(r->tail + r->tail_length, piece, got);
        r->tail_length += got;
        r->tail[r->tail_length] = '\0';
        (void)pthread_mutex_unlock(&c->server->lock);
    }
    (void)pthread_mutex_lock(&c->server->lock);
    r->tail_done = true;
    changed(c->server);
    (void)pthread_mutex_unlock(&c->server->lock);
}

/* Until the peer closes or the server stops. */
static void hold(connection *c)
{
    char byte;
    while (receive(c, &byte, 1) > 0)
        ;
}

/* False when the connection is over. */
static bool answer(connection *c, udsd_request *r)
{
    udsd_step step = step_for(c->server, r);
    if (step.flags & UDSD_CLOSE_UNREAD)
        return false;
    if (step.flags & UDSD_NEVER_ANSWER) {
        hold(c);
        return false;
    }
    if (!udsd_reply(c, &step))
        return false;
    if (step.flags & UDSD_READ_TAIL) {
        read_tail(c, r);
        return false;
    }
    if (step.flags & UDSD_HOLD)
        hold(c);
    return !(step.flags & (UDSD_CLOSE | UDSD_HOLD));
}

static bool serve_one(connection *c)
{
    char *head = read_head(c);
    if (!head)
        return false;
    udsd_request *r = udsd_alloc(sizeof *r);
    r->head = head;
    r->tail = udsd_alloc(1);
    split_request_line(r);
    udsd_need(!is_chunked(head), "udsd: chunked requests are not read");
    read_body(c, r);
    record(c->server, r);
    return answer(c, r);
}

static void *serve(void *argument)
{
    connection *c = argument;
    while (serve_one(c))
        ;
    (void)close(c->fd);
    free(c);
    return NULL;
}

static void *accept_all(void *argument)
{
    udsd *s = argument;
    struct pollfd fds[] = {{.fd = s->listener, .events = POLLIN},
                           {.fd = s->stop_pipe[0], .events = POLLIN}};
    while (poll(fds, 2, -1) >= 0 && !fds[1].revents) {
        int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        connection *c = udsd_alloc(sizeof *c);
        *c = (connection){.server = s, .fd = fd};
        (void)pthread_mutex_lock(&s->lock);
        udsd_need(s->thread_count < CONNECTIONS_MAX, "udsd: too many connections");
        udsd_need(pthread_create(&s->threads[s->thread_count], NULL, serve, c) == 0,
                  "pthread_create");
        s->thread_count++;
        (void)pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

/* --- start and stop --- */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    udsd_need(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "udsd: bind");
    udsd_need(listen(fd, 64) == 0, "udsd: listen");
    return fd;
}

static udsd *start(udsd *s)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(s->folder, sizeof s->folder, "%s/udsd.XXXXXX",
                   base && strlen(base) < 40 ? base : "/tmp");
    udsd_need(mkdtemp(s->folder) != NULL, "udsd: mkdtemp");
    (void)snprintf(s->path, sizeof s->path, "%s/engine.sock", s->folder);
    s->listener = listen_at(s->path);
    udsd_need(pipe(s->stop_pipe) == 0, "udsd: pipe");
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    udsd_need(pthread_create(&s->acceptor, NULL, accept_all, s) == 0, "pthread_create");
    return s;
}

udsd *udsd_start(const udsd_step *steps, size_t count)
{
    udsd *s = udsd_alloc(sizeof *s);
    s->steps = steps;
    s->step_count = count;
    s->used = udsd_alloc(count + 1);
    return start(s);
}

udsd *udsd_start_ordered(const udsd_step *steps, size_t count)
{
    udsd *s = udsd_alloc(sizeof *s);
    s->steps = steps;
    s->step_count = count;
    s->used = udsd_alloc(count + 1);
    s->ordered = true;
    return start(s);
}

udsd *udsd_start_handler(udsd_handler *handler, void *context)
{
    udsd *s = udsd_alloc(sizeof *s);
    s->handler = handler;
    s->context = context;
    return start(s);
}

static void free_request(udsd_request *r)
{
    free(r->method);
    free(r->path);
    free(r->head);
    free(r->body);
    free(r->tail);
    free(r);
}

void udsd_stop(udsd *s)
{
    if (!s)
        return;
    udsd_need(write(s->stop_pipe[1], "x", 1) == 1, "udsd: write");
    (void)pthread_join(s->acceptor, NULL);
    for (size_t i = 0; i < s->thread_count; i++)
        (void)pthread_join(s->threads[i], NULL);
    (void)close(s->listener);
    (void)close(s->stop_pipe[0]);
    (void)close(s->stop_pipe[1]);
    (void)unlink(s->path);
    (void)rmdir(s->folder);
    for (size_t i = 0; i < s->request_count; i++)
        free_request(s->requests[i]);
    (void)pthread_cond_destroy(&s->changed);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->used);
    free(s);
}

/* --- what came in --- */

const char *udsd_path(const udsd *s)
{
    return s->path;
}

size_t udsd_count(udsd *s)
{
    (void)pthread_mutex_lock(&s->lock);
    size_t count = s->request_count;
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

const udsd_request *udsd_at(udsd *s, size_t index)
{
    (void)pthread_mutex_lock(&s->lock);
    const udsd_request *r = index < s->request_count ? s->requests[index] : NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return r;
}

size_t udsd_connections(udsd *s)
{
    (void)pthread_mutex_lock(&s->lock);
    size_t count = s->thread_count;
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

static void look_for_unused(udsd *s)
{
    for (size_t i = 0; i < s->step_count && !s->complaint[0]; i++)
        if (!s->used[i])
            (void)snprintf(s->complaint, sizeof s->complaint, "step %zu (%s %s) was never used", i,
                           s->steps[i].method ? s->steps[i].method : "any",
                           s->steps[i].path ? s->steps[i].path : "any");
}

const char *udsd_complaint(udsd *s)
{
    (void)pthread_mutex_lock(&s->lock);
    look_for_unused(s);
    const char *complaint = s->complaint[0] ? s->complaint : NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return complaint;
}

/* Waits under the lock until the condition holds or the time is up. */
static bool wait_until(udsd *s, bool (*holds)(const udsd *, size_t), size_t argument)
{
    struct timespec until;
    bool in_time = true;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_MS / 1000;
    (void)pthread_mutex_lock(&s->lock);
    while (in_time && !holds(s, argument))
        in_time = pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0;
    bool held = holds(s, argument);
    (void)pthread_mutex_unlock(&s->lock);
    return held;
}

static bool tail_is_done(const udsd *s, size_t index)
{
    return index < s->request_count && s->requests[index]->tail_done;
}

static bool count_is_reached(const udsd *s, size_t count)
{
    return s->request_count >= count;
}

bool udsd_wait_tail(udsd *s, size_t index)
{
    return wait_until(s, tail_is_done, index);
}

bool udsd_wait_count(udsd *s, size_t count)
{
    return wait_until(s, count_is_reached, count);
}

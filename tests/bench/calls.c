/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls SOCKET LINK -- COMMAND [ARGUMENT...]: an honest relay before the engine's SOCKET, reachable
 * as LINK, while the command runs. Prints a line "BEGIN_US END_US METHOD STATUS ROLE PATH" for each
 * call: times are of CLOCK_MONOTONIC, the end is that of the answer (of its head, for a stream),
 * ROLE is what the call is about ("step", "egress-network", ... or "-"), ids in PATH become "ID".
 * "T T RELEASE 0 step -" is when the first bytes went to the step. Then "run BEGIN_US END_US
 * STATUS" of the command, whose own output goes to stderr.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/liar.h"

#define OBJECTS_MAX 16
#define ID_HEX      64

extern char **environ;

typedef struct object {
    char id[ID_HEX + 1];
    const char *role;
} object;

typedef struct record {
    pthread_mutex_t lock;
    object objects[OBJECTS_MAX];
    size_t count;
    bool released;
} record;

static int64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The time has more bits than a note. */
static void set_begin(liar_exchange *x, int64_t us)
{
    x->note[0] = (unsigned)(us >> 31);
    x->note[1] = (unsigned)(us & INT32_MAX);
}

static int64_t begin_of(const liar_exchange *x)
{
    return ((int64_t)x->note[0] << 31) | x->note[1];
}

static liar_word on_ask(void *context, liar_exchange *x)
{
    (void)context;
    set_begin(x, now_us());
    return LIAR_PASS;
}

/* A create says in its body, with Cordon's label, what it makes. */
static const char *role_of_body(liar_exchange *x)
{
    static const char *const roles[] = {"vendor-network", "egress-network", "proxy", "step"};
    const char *body = x->request.length > 0 ? cordon_buf_text(&x->request) : "";
    char text[64];
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        (void)snprintf(text, sizeof text, "role\":\"%s\"", roles[i]);
        if (strstr(body, text))
            return roles[i];
    }
    return NULL;
}

/* The first id of an answer; false if there is none. */
static bool find_id(const char *text, char ret_id[ID_HEX + 1])
{
    for (; *text; text++) {
        size_t length = strspn(text, "0123456789abcdef");
        if (length == ID_HEX) {
            (void)snprintf(ret_id, ID_HEX + 1, "%s", text);
            return true;
        }
        text += length > 0 ? length - 1 : 0;
    }
    return false;
}

static const char *role_of(record *all, liar_exchange *x)
{
    char id[ID_HEX + 1];
    const char *made = role_of_body(x);
    if (made && all->count < OBJECTS_MAX && x->answer.length > 0 &&
        find_id(cordon_buf_text(&x->answer), all->objects[all->count].id))
        all->objects[all->count++].role = made;
    if (made)
        return made;
    for (size_t i = 0; find_id(x->path, id) && i < all->count; i++) {
        if (strcmp(id, all->objects[i].id) == 0)
            return all->objects[i].role;
    }
    return "-";
}

static void shorten(const char *path, char *out, size_t size)
{
    size_t at = 0;
    while (*path && at + 3 < size) {
        size_t length = strspn(path, "0123456789abcdef");
        if (length == ID_HEX) {
            memcpy(out + at, "ID", 2);
            at += 2;
            path += length;
        } else {
            out[at++] = *path++;
        }
    }
    out[at] = '\0';
}

static liar_word on_answer(void *context, liar_exchange *x)
{
    record *all = context;
    char path[256];
    shorten(x->path, path, sizeof path);
    (void)pthread_mutex_lock(&all->lock);
    printf("%" PRId64 " %" PRId64 " %s %d %s %s\n", begin_of(x), now_us(), x->method, x->status,
           role_of(all, x), path);
    (void)pthread_mutex_unlock(&all->lock);
    return LIAR_PASS;
}

/* Cordon's first bytes to a gate are the release. */
static liar_word on_piece(void *context, const liar_exchange *x, bool to_engine, char *bytes,
                          size_t length)
{
    record *all = context;
    int64_t now = now_us();
    (void)bytes;
    (void)length;
    (void)pthread_mutex_lock(&all->lock);
    if (to_engine && !all->released && strstr(x->path, "/attach?")) {
        all->released = true;
        printf("%" PRId64 " %" PRId64 " RELEASE 0 step -\n", now, now);
    }
    (void)pthread_mutex_unlock(&all->lock);
    return LIAR_PASS;
}

/* The command's status; 125 when it could not be run. */
static int run(char **argv)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 125;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return status;
    if (posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) == 0 &&
        posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) == 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

int main(int argc, char **argv)
{
    record all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const liar_hooks hooks = {
        .context = &all, .ask = on_ask, .answer = on_answer, .piece = on_piece};
    if (argc < 5 || strcmp(argv[3], "--") != 0) {
        (void)fprintf(stderr, "usage: calls SOCKET LINK -- COMMAND [ARGUMENT...]\n");
        return 2;
    }
    liar *relay = liar_start(argv[1], &hooks);
    if (!relay || symlink(liar_endpoint(relay) + strlen("unix://"), argv[2]) != 0) {
        (void)fprintf(stderr, "calls: no relay: %s\n", strerror(errno));
        liar_stop(relay);
        return 1;
    }
    int64_t began = now_us();
    int status = run(argv + 4);
    printf("run %" PRId64 " %" PRId64 " %d\n", began, now_us(), status);
    (void)unlink(argv[2]);
    liar_stop(relay);
    return status;
}

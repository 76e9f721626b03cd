/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure [--mark TEXT] [--stop] -- COMMAND [ARGUMENT...]: runs one command and prints one line
 * "STATUS MARK_US WALL_US CPU_US RSS_KIB": its exit status (128 + number after a signal), when the
 * first line that holds TEXT came out of it (-1 for never), when it had ended, the user and system
 * time of itself and what it waited for, its largest resident size. The clock is read before the
 * command is made, so its start is in every figure. Its output goes no further.
 *
 * --stop  TERM it at the mark: for what would run on
 *
 * posix_spawn and not fork: what a child inherits of its parent's size would be in its maximum.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define FAILED         125

extern char **environ;

typedef struct measure {
    const char *mark;
    bool stop;
    int64_t began_us;
    int64_t mark_us;
    pid_t pid;
} measure;

/* One of the command's two outputs. */
typedef struct output {
    int fd;
    size_t length;
    char line[LINE_MAX_BYTES];
} output;

static int64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void see_line(measure *m, output *from, int64_t when_us)
{
    from->line[from->length] = '\0';
    from->length = 0;
    if (m->mark == NULL || m->mark_us >= 0 || strstr(from->line, m->mark) == NULL)
        return;
    m->mark_us = when_us - m->began_us;
    if (m->stop)
        (void)kill(m->pid, SIGTERM);
}

/* False at the end. */
static bool take(measure *m, output *from)
{
    char piece[16384];
    ssize_t length = read(from->fd, piece, sizeof piece);
    int64_t when_us = now_us();

    if (length <= 0)
        return false;
    for (ssize_t i = 0; i < length; i++) {
        if (piece[i] == '\n')
            see_line(m, from, when_us);
        else if (from->length < sizeof from->line - 1)
            from->line[from->length++] = piece[i];
    }
    return true;
}

static void follow(measure *m, output outputs[2])
{
    for (int open = 2; open > 0;) {
        struct pollfd fds[2] = {{outputs[0].fd, POLLIN, 0}, {outputs[1].fd, POLLIN, 0}};

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents == 0 || take(m, &outputs[i]))
                continue;
            (void)close(outputs[i].fd);
            outputs[i].fd = -1;
            open--;
        }
    }
}

static int spawn(measure *m, char **argv, output outputs[2])
{
    posix_spawn_file_actions_t actions;
    int pipes[2][2];
    int failure;

    if (pipe2(pipes[0], O_CLOEXEC) != 0 || pipe2(pipes[1], O_CLOEXEC) != 0)
        return errno;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, pipes[0][1], 1);
    (void)posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 2);
    m->began_us = now_us();
    failure = posix_spawnp(&m->pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++) {
        (void)close(pipes[i][1]);
        outputs[i].fd = pipes[i][0];
    }
    return failure;
}

static int64_t time_us(struct timeval value)
{
    return (int64_t)value.tv_sec * 1000000 + value.tv_usec;
}

static int report(const measure *m)
{
    struct rusage used;
    int status = 0;

    if (wait4(m->pid, &status, 0, &used) != m->pid)
        return FAILED;
    printf("%d %lld %lld %lld %ld\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), (long long)m->mark_us,
           (long long)(now_us() - m->began_us),
           (long long)(time_us(used.ru_utime) + time_us(used.ru_stime)), used.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    measure m = {.mark_us = -1};
    output outputs[2] = {{.fd = -1}, {.fd = -1}};
    int at = 1;
    int failure;

    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "--stop") == 0)
            m.stop = true;
        else if (strcmp(argv[at], "--mark") == 0 && at + 1 < argc)
            m.mark = argv[++at];
        else
            break;
    }
    if (at + 1 >= argc || strcmp(argv[at], "--") != 0) {
        (void)fputs("usage: measure [--mark TEXT] [--stop] -- COMMAND [ARGUMENT...]\n", stderr);
        return FAILED;
    }
    failure = spawn(&m, &argv[at + 1], outputs);
    if (failure != 0) {
        (void)fprintf(stderr, "measure: %s: %s\n", argv[at + 1], strerror(failure));
        return FAILED;
    }
    follow(&m, outputs);
    return report(&m);
}

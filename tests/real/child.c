/* SPDX-License-Identifier: Apache-2.0 */
/* fork, exec and poll; see child.h. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/deadline.h"
#include "support/test.h"

#define OUTPUT_MAX (64U << 20)
#define PIECE      65536
#define EXIT_POLL  2 /* ms between two looks for the exit of a child that is silent */

extern char **environ;

static void enter(const char *netns)
{
    int fd = open(netns, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        _exit(125);
}

static void become(uid_t uid)
{
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
        _exit(125);
}

static _Noreturn void child_exec(const child_spec *spec, int in, int out, int err)
{
    char *const *environment =
        spec->environment ? (char *const *)(uintptr_t)spec->environment : environ;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(err, 2) < 0)
        _exit(125);
    (void)signal(SIGPIPE, SIG_DFL);
    if (spec->netns)
        enter(spec->netns);
    if (spec->uid != 0)
        become(spec->uid);
    (void)execvpe(spec->argv[0], (char *const *)(uintptr_t)spec->argv, environment);
    (void)dprintf(2, "%s: %s\n", spec->argv[0], strerror(errno));
    _exit(127);
}

bool child_start(const child_spec *spec, child *ret_child)
{
    int out[2];
    int err[2];
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!CHECK(null >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0))
        return false;
    int given = spec->stdout_fd > 0 ? spec->stdout_fd : out[1];
    pid_t pid = fork();
    if (pid == 0)
        child_exec(spec, spec->stdin_fd > 0 ? spec->stdin_fd : null, given, err[1]);
    (void)close(null);
    (void)close(out[1]);
    (void)close(err[1]);
    *ret_child = (child){
        .pid = pid,
        .out_fd = out[0],
        .err_fd = err[0],
        .out = cordon_buf_make(OUTPUT_MAX),
        .err = cordon_buf_make(OUTPUT_MAX),
    };
    return CHECK(pid > 0);
}

static void take(int *fd, cordon_buf *into)
{
    char piece[PIECE];
    cordon_err ignored = CORDON_ERR_INIT;
    ssize_t got = read(*fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR)
        return;
    if (got > 0 && cordon_buf_append(into, piece, (size_t)got, &ignored) == 0)
        return;
    (void)close(*fd);
    *fd = -1;
}

/* One round; false when both streams have ended. */
static bool pump(child *c, int ms)
{
    struct pollfd items[] = {{c->out_fd, POLLIN, 0}, {c->err_fd, POLLIN, 0}};
    if (c->out_fd < 0 && c->err_fd < 0)
        return false;
    if (poll(items, 2, ms) > 0) {
        if (items[0].revents)
            take(&c->out_fd, &c->out);
        if (items[1].revents)
            take(&c->err_fd, &c->err);
    }
    return true;
}

static bool hear(child *c, const cordon_buf *where, const char *text, int ms)
{
    cordon_deadline until = cordon_deadline_in_ms(ms, -1);
    while (!memmem(cordon_buf_text(where), where->length, text, strlen(text))) {
        if (cordon_deadline_passed(until) || !pump(c, cordon_deadline_left_ms(until)))
            return false;
    }
    return true;
}

bool child_hear(child *c, const char *text, int ms)
{
    return hear(c, &c->out, text, ms);
}

bool child_hear_error(child *c, const char *text, int ms)
{
    return hear(c, &c->err, text, ms);
}

void child_collect(child *c, int ms)
{
    cordon_deadline until = cordon_deadline_in_ms(ms, -1);
    while (!cordon_deadline_passed(until) && pump(c, cordon_deadline_left_ms(until)))
        ;
}

static void note_end(child *c, int status)
{
    c->ended = true;
    c->by_signal = WIFSIGNALED(status);
    c->status = c->by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool reap(child *c, cordon_deadline until)
{
    int status = 0;
    if (c->ended)
        return true;
    while (waitpid(c->pid, &status, WNOHANG) == 0) {
        if (cordon_deadline_passed(until))
            return false;
        (void)usleep(EXIT_POLL * 1000);
    }
    note_end(c, status);
    return true;
}

static void end(child *c)
{
    int status = 0;
    if (c->ended || c->pid <= 0)
        return;
    (void)kill(c->pid, SIGKILL);
    (void)waitpid(c->pid, &status, 0);
    note_end(c, status);
}

bool child_finish(child *c, int ms)
{
    cordon_deadline until = cordon_deadline_in_ms(ms, -1);
    while (!cordon_deadline_passed(until) && pump(c, cordon_deadline_left_ms(until)))
        ;
    if (reap(c, until))
        return true;
    end(c);
    return false;
}

void child_clear(child *c)
{
    end(c);
    if (c->out_fd > 0)
        (void)close(c->out_fd);
    if (c->err_fd > 0)
        (void)close(c->err_fd);
    cordon_buf_clear(&c->out);
    cordon_buf_clear(&c->err);
    *c = (child){.out_fd = -1, .err_fd = -1};
}

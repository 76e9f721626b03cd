/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate as init of its container. libc-only.
 */
#include "gate/init.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/deadline.h"

static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

int cordon_init_block_signals(cordon_err *err)
{
    sigset_t all;
    (void)sigfillset(&all);
    /* A parent that ignores CHLD would have children reaped by the kernel, statuses lost. */
    if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || sigprocmask(SIG_SETMASK, &all, NULL) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "signals");
    return 0;
}

int cordon_init_open_signals(int *ret_signal_fd, cordon_err *err)
{
    sigset_t watched;
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        (void)sigaddset(&watched, forwarded[i]);
    int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "signalfd");
    *ret_signal_fd = fd;
    return 0;
}

typedef struct init_state {
    cordon_command *command;
    cordon_buf *input;
    int signal_fd;
    cordon_init_end end;
    bool ended;
} init_state;

/* Reaps whatever has ended; false when there is no child at all. */
static bool reap(init_state *state)
{
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0)
            return pid == 0;
        if (pid == state->command->pid) {
            state->end.status = status;
            state->ended = true;
        }
    }
}

/*
 * SECURITY: kill(2) says who sends it, and a sender outside of the namespace has no number in it.
 * A process inside that makes up a sender (rt_sigqueueinfo) cannot give it the code of kill(2). So
 * the command cannot make its own signal look like somebody else's.
 */
static void note_signal(init_state *state, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo != SIGCHLD && info->ssi_code == SI_USER && info->ssi_pid == 0 &&
        state->end.outside == 0)
        state->end.outside = (int)info->ssi_signo;
}

static void take_signals(init_state *state)
{
    struct signalfd_siginfo info;
    while (read(state->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        note_signal(state, &info);
        if (info.ssi_signo != SIGCHLD && !state->ended)
            (void)kill(-state->command->pid, (int)info.ssi_signo);
    }
    (void)reap(state);
}

static void finish_input(init_state *state)
{
    cordon_buf_clear(state->input);
    cordon_cleanup_close(&state->command->stdin_fd);
    state->command->stdin_fd = -1;
}

/* What the pipe takes now. A command that has closed its end has had enough. */
static void feed_input(init_state *state)
{
    ssize_t wrote =
        write(state->command->stdin_fd, cordon_buf_text(state->input), state->input->length);
    if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (wrote > 0)
        cordon_buf_consume(state->input, (size_t)wrote);
    if (wrote <= 0 || state->input->length == 0)
        finish_input(state);
}

static int step(init_state *state, cordon_err *err)
{
    struct pollfd items[] = {
        {.fd = state->signal_fd, .events = POLLIN},
        {.fd = state->command->stdin_fd, .events = POLLOUT}, /* -1 is passed over */
    };
    if (poll(items, 2, -1) < 0 && errno != EINTR)
        return CORDON_FAIL_ERRNO(err, errno, "poll");
    if (items[1].revents)
        feed_input(state);
    if (items[0].revents)
        take_signals(state);
    return 0;
}

/* Everybody else: as PID 1 the whole namespace, which kill(2) never takes to include oneself. */
static pid_t everybody(const init_state *state)
{
    return getpid() == 1 ? -1 : -state->command->pid;
}

/* Waits for CHLD and reaps until no child is left or the time is up. */
static bool reap_within(init_state *state, cordon_deadline dl)
{
    while (reap(state)) {
        short ready = 0;
        cordon_err ignored = CORDON_ERR_INIT;
        struct signalfd_siginfo info;
        if (cordon_deadline_poll(dl, state->signal_fd, POLLIN, "reap", &ready, &ignored) < 0)
            return false;
        if (read(state->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
            note_signal(state, &info);
    }
    return true;
}

/*
 * Ends and reaps what the command left. KILL comes also when nothing seems to be left: processes
 * that another process put into the namespace are nobody's children here.
 */
static void end_rest(init_state *state)
{
    bool init = getpid() == 1;
    if (kill(everybody(state), SIGTERM) == 0)
        (void)reap_within(state, cordon_deadline_in_ms(CORDON_INIT_GRACE_MS, -1));
    (void)kill(everybody(state), SIGKILL);
    if (!init) {
        (void)reap(state);
        return;
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        (void)kill(-1, SIGKILL);
}

int cordon_init_run(cordon_command *command, int signal_fd, cordon_buf *input,
                    cordon_init_end *ret_end, cordon_err *err)
{
    init_state state = {.command = command, .input = input, .signal_fd = signal_fd};
    while (!state.ended)
        if (step(&state, err) < 0)
            return -1;
    finish_input(&state);
    end_rest(&state);
    *ret_end = state.end;
    return 0;
}

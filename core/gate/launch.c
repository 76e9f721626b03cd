/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the released command. libc-only.
 */
#include "gate/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above the standard streams and the descriptors of all secrets. */
#define FIRST_OWN_FD (CORDON_GATE_SECRET_FD + CORDON_RELEASE_SECRETS_MAX)

/* 0 when the path is a file that may be executed, else an errno. */
static int check_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

static int copy_path(const char *path, char *ret_path)
{
    int length = snprintf(ret_path, PATH_MAX, "%s", path);
    return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : check_executable(ret_path);
}

/* SECURITY: an empty or relative folder would mean the worktree; it is passed over. */
static int try_folder(cordon_slice folder, const char *name, char *ret_path)
{
    if (folder.length == 0 || folder.text[0] != '/')
        return ENOENT;
    int length = snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)folder.length, folder.text, name);
    return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : check_executable(ret_path);
}

int cordon_launch_find(const cordon_release *release, char *ret_path)
{
    const char *name = release->argv.items[0];
    if (strchr(name, '/'))
        return copy_path(name, ret_path);
    const char *path = cordon_release_getenv(release, "PATH");
    cordon_slice rest = cordon_slice_make(path ? path : "", path ? strlen(path) : 0);
    cordon_slice folder;
    int result = ENOENT;
    while (cordon_slice_cut(&rest, ':', &folder)) {
        int errnum = try_folder(folder, name, ret_path);
        if (errnum == 0)
            return 0;
        if (errnum == EACCES)
            result = EACCES;
    }
    return result;
}

/* What the child has to say when it cannot execute, over a pipe that execve(2) closes. */
typedef struct child_failure {
    int executing; /* execve(2) itself failed */
    int errnum;
    char step[48];
} child_failure;

typedef struct child_plan {
    cordon_release *release;
    const char *path;
    const cordon_fence *fence;
    int stdin_fd;
    int failure_fd;
    const int *secret_fds;
    pid_t gate;
} child_plan;

static _Noreturn void child_fail(const child_plan *plan, bool executing, const char *step,
                                 int errnum)
{
    child_failure failure = {.executing = executing, .errnum = errnum};
    (void)snprintf(failure.step, sizeof failure.step, "%s", step);
    /* Below PIPE_BUF into an empty pipe: it is written whole or the gate is gone. */
    ssize_t ignored = write(plan->failure_fd, &failure, sizeof failure);
    (void)ignored;
    _exit(CORDON_GATE_STATUS_FAILED);
}

static void reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < _NSIG; number++)
        (void)sigaction(number, &standard, NULL); /* KILL, STOP and libc's own refuse */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Each secret to the number that its variable names; what was opened lies above all of them. */
static void give_secrets(const child_plan *plan)
{
    for (size_t i = 0; i < plan->release->secrets.count; i++)
        if (dup2(plan->secret_fds[i], CORDON_GATE_SECRET_FD + (int)i) < 0)
            child_fail(plan, false, "dup2", errno);
}

/* SECURITY: signals are at their defaults and the fence is up before anything foreign runs. */
static _Noreturn void child_run(const child_plan *plan)
{
    cordon_err err = CORDON_ERR_INIT;
    explicit_bzero(plan->release->exit_key, sizeof plan->release->exit_key);
    if (setsid() < 0)
        child_fail(plan, false, "setsid", errno);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        child_fail(plan, false, "PR_SET_PDEATHSIG", errno);
    if (getppid() != plan->gate)
        child_fail(plan, false, "the gate has gone", ESRCH);
    if (dup2(plan->stdin_fd, STDIN_FILENO) < 0)
        child_fail(plan, false, "dup2", errno);
    if (cordon_fence_enter(plan->fence, &err) < 0)
        child_fail(plan, false, err.message, err.errnum);
    give_secrets(plan);
    reset_signals();
    (void)execve(plan->path, plan->release->argv.items, plan->release->env.items);
    child_fail(plan, true, "execve", errno);
}

/*
 * The command's standard input: a pipe that is empty and closed when the release has no bytes,
 * so that no device of the image is needed.
 */
static int open_stdin(const cordon_release *release, int ret_pipe[2], cordon_err *err)
{
    if (pipe2(ret_pipe, O_CLOEXEC) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "pipe");
    /* Only the gate's end: a description of its own, so the command's end keeps blocking. */
    if (release->stdin_bytes.length > 0 && fcntl(ret_pipe[1], F_SETFL, O_NONBLOCK) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "fcntl");
    if (release->stdin_bytes.length == 0) {
        (void)close(ret_pipe[1]);
        ret_pipe[1] = -1;
    }
    return 0;
}

/* What is open in the gate lies above the numbers that the command gets. */
static int move_up(int *fd, cordon_err *err)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_OWN_FD);
    if (moved < 0)
        return CORDON_FAIL_ERRNO(err, errno, "fcntl");
    (void)close(*fd);
    *fd = moved;
    return 0;
}

/* A pipe that holds one secret whole, its writing end closed. */
static int open_secret(const char *value, int *ret_fd, cordon_err *err)
{
    cordon_autoclose int reader = -1;
    cordon_autoclose int writer = -1;
    int ends[2];
    size_t length = strlen(value);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "pipe");
    reader = ends[0];
    writer = ends[1];
    if (move_up(&reader, err) < 0)
        return -1;
    /* A user with many pipes gets small ones; a secret that does not fit must not block us. */
    if (fcntl(writer, F_SETFL, O_NONBLOCK) < 0 || write(writer, value, length) != (ssize_t)length)
        return CORDON_FAIL_ERRNO(err, errno, "a pipe for a secret");
    *ret_fd = cordon_take_fd(&reader);
    return 0;
}

/* The gate's ends of all secrets; -1 where there is none. */
typedef struct secret_pipes {
    int fds[CORDON_RELEASE_SECRETS_MAX];
} secret_pipes;

static void close_secrets(secret_pipes *pipes)
{
    for (size_t i = 0; i < CORDON_RELEASE_SECRETS_MAX; i++)
        cordon_cleanup_close(&pipes->fds[i]);
}

static int open_secrets(const cordon_release *release, secret_pipes *pipes, cordon_err *err)
{
    for (size_t i = 0; i < CORDON_RELEASE_SECRETS_MAX; i++)
        pipes->fds[i] = -1;
    for (size_t i = 0; i < release->secrets.count; i++)
        if (open_secret(release->secrets.items[i], &pipes->fds[i], err) < 0)
            return -1;
    return 0;
}

static ssize_t read_failure(int fd, child_failure *ret_failure)
{
    ssize_t got = read(fd, ret_failure, sizeof *ret_failure);
    while (got < 0 && errno == EINTR)
        got = read(fd, ret_failure, sizeof *ret_failure);
    return got;
}

/* Waits for the pipe to close, which execve(2) does; collects the child when it did not. */
static int await_exec(pid_t pid, int failure_fd, const char *path, int *ret_errnum, cordon_err *err)
{
    child_failure failure = {0};
    ssize_t got = read_failure(failure_fd, &failure);
    if (got == 0)
        return 0;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    if (got != (ssize_t)sizeof failure)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the child's failure cannot be read");
    failure.step[sizeof failure.step - 1] = '\0';
    *ret_errnum = failure.executing ? failure.errnum : 0;
    return CORDON_FAIL_ERRNO(err, failure.errnum, "%s: %s", CORDON_QUOTE(path), failure.step);
}

static void close_pair(int (*pair)[2])
{
    cordon_cleanup_close(&(*pair)[0]);
    cordon_cleanup_close(&(*pair)[1]);
}

int cordon_launch(cordon_release *release, const char *path, const cordon_fence *fence,
                  cordon_command *ret_command, int *ret_errnum, cordon_err *err)
{
    *ret_errnum = 0;
    cordon_cleanup(close_pair) int input[2] = {-1, -1};
    cordon_cleanup(close_pair) int failure[2] = {-1, -1};
    if (open_stdin(release, input, err) < 0)
        return -1;
    cordon_cleanup(close_secrets) secret_pipes secrets;
    if (open_secrets(release, &secrets, err) < 0)
        return -1;
    if (pipe2(failure, O_CLOEXEC) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "pipe");
    if (move_up(&failure[1], err) < 0)
        return -1;
    child_plan plan = {.release = release,
                       .path = path,
                       .fence = fence,
                       .stdin_fd = input[0],
                       .failure_fd = failure[1],
                       .secret_fds = secrets.fds,
                       .gate = getpid()};
    pid_t pid = fork();
    if (pid < 0)
        return CORDON_FAIL_ERRNO(err, errno, "fork");
    if (pid == 0)
        child_run(&plan);
    (void)close(cordon_take_fd(&failure[1]));
    if (await_exec(pid, failure[0], path, ret_errnum, err) < 0)
        return -1;
    *ret_command = (cordon_command){.pid = pid, .stdin_fd = cordon_take_fd(&input[1])};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: look, report, wait for the release, then run the command and be its init. The order
 * is the point: nothing of the command is known before the report has been judged, and no byte
 * that is not the whole release starts anything. libc-only.
 */
#include "gate/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/fence.h"
#include "gate/init.h"
#include "gate/kernel.h"
#include "gate/launch.h"
#include "gate/protocol.h"
#include "gate/release.h"
#include "gate/report.h"
#include "gate/surround.h"
#include "gate/wire.h"
#include "kit/cleanup.h"
#include "kit/deadline.h"
#include "kit/num.h"
#include "kit/random.h"

#define WAIT_MS_DEFAULT 120000
#define WAIT_MS_MAX     3600000

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

/* One line on stderr, and the status back. The message is printable by cordon_err's rule. */
static int fail(int status, const cordon_err *err)
{
    (void)dprintf(STDERR_FILENO, "cordon-guard: gate: %s\n", err->message);
    return status;
}

static int parse_options(int argc, char **argv, int64_t *ret_wait_ms, cordon_err *err)
{
    *ret_wait_ms = WAIT_MS_DEFAULT;
    if (argc == 1)
        return 0;
    if (argc != 3 || strcmp(argv[1], "--wait-ms") != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "usage: gate [--wait-ms N]");
    if (cordon_num_i64(argv[2], strlen(argv[2]), 1, WAIT_MS_MAX, ret_wait_ms, err) < 0) {
        cordon_err_wrap(err, "--wait-ms");
        return -1;
    }
    return 0;
}

/*
 * No privilege can be gained and no other process of this user may look inside. Both are asked
 * back: a sandbox that says yes and does nothing must not pass.
 */
static int harden(cordon_err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return CORDON_FAIL_ERRNO(err, errno, "PR_SET_NO_NEW_PRIVS");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "PR_SET_DUMPABLE");
    return 0;
}

/* Leaked descriptors have been reported, which refuses the run; nobody gets to use them anyway. */
static void close_inherited(void)
{
    struct rlimit limit = {.rlim_cur = 1024};
    if (syscall(SYS_close_range, 3U, UINT_MAX, 0U) == 0)
        return;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = 3; fd < end; fd++)
        (void)close(fd);
}

static int send_report(const cordon_start_state *start, uint8_t nonce[CORDON_GATE_NONCE_BYTES],
                       cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_report) report = {0};
    if (cordon_random_bytes(nonce, CORDON_GATE_NONCE_BYTES, err) < 0 ||
        cordon_report_init(&report, nonce, err) < 0 ||
        cordon_surround_facts(start, &report, err) < 0 || cordon_report_seal(&report, err) < 0)
        return -1;
    return cordon_wire_write(STDOUT_FILENO, report.frame.bytes.data, report.frame.bytes.length, dl,
                             err);
}

static int enter_folder(const char *path, cordon_err *err)
{
    if (chdir(path) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "working folder %s", CORDON_QUOTE(path));
    return 0;
}

static int not_executed(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR ? CORDON_GATE_STATUS_NOT_FOUND
                                                 : CORDON_GATE_STATUS_NOT_EXECUTABLE;
}

static int reply(const cordon_release *release, const char *magic, const cordon_wire_field *fields,
                 size_t count, cordon_err *err)
{
    return cordon_wire_reply(STDOUT_FILENO, magic, fields, count, release->exit_key, err);
}

static int send_started(const cordon_release *release, int errnum, cordon_err *err)
{
    cordon_wire_field field = {.tag = CORDON_GATE_STARTED_ERRNUM, .value = (uint64_t)errnum};
    return reply(release, CORDON_GATE_MAGIC_STARTED, &field, 1, err);
}

static int send_not_executed(const cordon_release *release, int errnum, cordon_err *err)
{
    cordon_wire_field field = {.tag = CORDON_GATE_EXIT_ERRNUM, .value = (uint64_t)errnum};
    return reply(release, CORDON_GATE_MAGIC_EXIT, &field, 1, err);
}

/* A new cgroup counts from 0; a count from before the command is not the command's. */
static int send_exit(const cordon_release *release, const cordon_init_end *end, uint64_t oom_kills,
                     cordon_err *err)
{
    int status = end->status;
    cordon_wire_field how = {.tag = CORDON_GATE_EXIT_SIGNAL, .value = (uint64_t)WTERMSIG(status)};
    cordon_wire_field oom = {.tag = oom_kills > 0 ? CORDON_GATE_EXIT_OOM : 0,
                             .value = oom_kills < 255 ? oom_kills : 255};
    if (WIFEXITED(status))
        how = (cordon_wire_field){.tag = CORDON_GATE_EXIT_CODE,
                                  .value = (uint64_t)WEXITSTATUS(status)};
    cordon_wire_field outside = {.tag = end->outside != 0 ? CORDON_GATE_EXIT_OUTSIDE : 0,
                                 .value = (uint64_t)end->outside};
    return reply(release, CORDON_GATE_MAGIC_EXIT, (cordon_wire_field[3]){how, oom, outside}, 3,
                 err);
}

/*
 * Waits until the reader has all of the output: a byte, or the end of stdin, which also comes when
 * core dies. A signal that asks the container to end is obeyed.
 */
static void await_taken(int signal_fd)
{
    struct signalfd_siginfo info = {.ssi_signo = SIGCHLD};
    struct pollfd items[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = signal_fd, .events = POLLIN}};
    do {
        if (poll(items, 2, -1) < 0 && errno != EINTR)
            return;
        if (items[1].revents && read(signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
            return;
    } while (!items[0].revents && info.ssi_signo == SIGCHLD);
}

/* From the running command to the gate's own exit status. */
static int be_init(cordon_release *release, cordon_command *command, int signal_fd,
                   uint64_t oom_before)
{
    cordon_init_end end = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_release_wipe_texts(release);
    if (cordon_init_run(command, signal_fd, &release->stdin_bytes, &end, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    /* A reader that has gone is no reason for another status; without the frame it is a loss. */
    if (send_exit(release, &end, cordon_kernel_oom_kills() - oom_before, &err) < 0)
        (void)fail(0, &err);
    else
        await_taken(signal_fd);
    return WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 128 + WTERMSIG(end.status);
}

/* The errno is told in a frame, so that core has one error to show and not two. */
static int launch_failed(const cordon_release *release, int signal_fd, int errnum,
                         cordon_err *failure)
{
    cordon_err err = CORDON_ERR_INIT;
    if (errnum == 0)
        return fail(CORDON_GATE_STATUS_FAILED, failure);
    if (send_not_executed(release, errnum, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    await_taken(signal_fd);
    return not_executed(errnum);
}

static int run_released(cordon_release *release, int signal_fd)
{
    char path[PATH_MAX];
    int errnum = 0;
    cordon_err err = CORDON_ERR_INIT;
    cordon_command command = {.stdin_fd = -1};
    cordon_auto(cordon_fence) fence = {.ruleset_fd = -1};
    if (cordon_release_place_files(release, &err) < 0 ||
        cordon_fence_prepare(release, &fence, &err) < 0 || enter_folder(release->cwd, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    errnum = cordon_launch_find(release, path);
    uint64_t oom_before = cordon_kernel_oom_kills();
    if (send_started(release, errnum, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    if (errnum != 0)
        return not_executed(errnum);
    if (cordon_launch(release, path, &fence, &command, &errnum, &err) < 0)
        return launch_failed(release, signal_fd, errnum, &err);
    return be_init(release, &command, signal_fd, oom_before);
}

int cordon_gate_main(int argc, char **argv)
{
    int64_t wait_ms = 0;
    uint8_t nonce[CORDON_GATE_NONCE_BYTES];
    cordon_err err = CORDON_ERR_INIT;
    cordon_autoclose int signal_fd = -1;
    cordon_auto_ptr(cordon_release) release = NULL;
    cordon_start_state start = {.env = environ,
                                .no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
                                .dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)};
    if (parse_options(argc, argv, &wait_ms, &err) < 0)
        return fail(CORDON_GUARD_EXIT_USAGE, &err);
    int64_t from_ns = cordon_now_ns();
    cordon_deadline dl = {.at_ns = from_ns + wait_ms * CORDON_NS_PER_MS, .cancel_fd = -1};
    /* No descriptor of the gate's own before the report has listed the inherited ones. */
    if (harden(&err) < 0 || cordon_init_block_signals(&err) < 0 ||
        send_report(&start, nonce, dl, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    close_inherited();
    if (cordon_init_open_signals(&signal_fd, &err) < 0)
        return fail(CORDON_GATE_STATUS_FAILED, &err);
    dl.cancel_fd = signal_fd;
    if (cordon_wire_receive(STDIN_FILENO, nonce, dl, &release, &err) < 0) {
        cordon_err_wrap(&err, "not released");
        return fail(CORDON_GATE_STATUS_NOT_RELEASED, &err);
    }
    return run_released(release, signal_fd);
}

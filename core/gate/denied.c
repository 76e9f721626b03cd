/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector that tells whether the engine's seccomp profile works: calls that the default
 * profiles of all supported engines refuse and that the kernel would answer otherwise are made, and
 * what comes back is reported. A mode and a number of filters (status.c) say only that there is
 * something. libc-only.
 *
 * Every call is made so that the kernel itself finds fault with its arguments before it looks at
 * privileges, and changes nothing. They are made in a child, because a profile may also kill, and
 * before the gate has a filter of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/surround.h"

/* Numbers and bits that no kernel has given a meaning. */
#define NO_SUCH_FLAGS   0x40000000L
#define NO_SUCH_COMMAND 0x7fL

/* include/uapi/linux/userfaultfd.h: what the kernel lets everybody do, so that flags are judged. */
#define USER_MODE_ONLY 1L
/* include/uapi/linux/personality.h: of the caller alone; every default profile lists what it allows
 */
#define ADDR_NO_RANDOMIZE 0x0040000L

/*
 * What a kernel without a filter answers: EINVAL to most, EFAULT to null pointers, EBADF to
 * open_by_handle_at, success to personality. ENOSYS if it was built without the call, which then is
 * as good as refused.
 */
static const struct {
    const char *name;
    long number;
    long arguments[5];
} calls[] = {
    {"add_key", SYS_add_key, {0, 0, 0, 0, 0}},
    {"bpf", SYS_bpf, {0x7fff, 0, 0}},
    {"kcmp", SYS_kcmp, {0, 0, NO_SUCH_COMMAND, 0, 0}}, /* process ids are put in */
    {"move_pages", SYS_move_pages, {0, 0, 0, 0, 0}},   /* flags are the sixth, put in */
    {"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0}},
    {"perf_event_open", SYS_perf_event_open, {0, 0, -1, -1, NO_SUCH_FLAGS}},
    {"personality", SYS_personality, {ADDR_NO_RANDOMIZE}},
    {"quotactl", SYS_quotactl, {0xff, 0, 0, 0}},
    {"request_key", SYS_request_key, {0, 0, 0, 0}},
    {"userfaultfd", SYS_userfaultfd, {USER_MODE_ONLY | NO_SUCH_FLAGS}},
};
#define CALLS (sizeof calls / sizeof calls[0])

typedef enum verdict {
    VERDICT_PENDING = 0,
    VERDICT_ASKED, /* if it stays so, the caller was killed for it */
    VERDICT_REFUSED,
    VERDICT_ALLOWED,
} verdict;

static bool is_refused(size_t i)
{
    const long *a = calls[i].arguments;
    long self = calls[i].number == SYS_kcmp ? (long)getpid() : 0;
    long last = calls[i].number == SYS_move_pages ? NO_SUCH_FLAGS : 0;
    long first = self != 0 ? self : a[0];
    long second = self != 0 ? self : a[1];
    if (syscall(calls[i].number, first, second, a[2], a[3], a[4], last) >= 0)
        return false;
    return errno == EPERM || errno == EACCES || errno == ENOSYS;
}

__attribute__((noreturn)) static void ask_all(volatile unsigned char *verdicts)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (verdicts[i] != VERDICT_PENDING)
            continue;
        verdicts[i] = VERDICT_ASKED;
        verdicts[i] = is_refused(i) ? VERDICT_REFUSED : VERDICT_ALLOWED;
    }
    _exit(0);
}

/*
 * One child; it may not come to the end of the list. Without an exit signal: a SIGCHLD would still
 * be pending when the gate waits for its release, and end it.
 */
static int ask_in_child(volatile unsigned char *verdicts, cordon_err *err)
{
    int status = 0;
    pid_t child = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0)
        ask_all(verdicts);
    if (child < 0)
        return CORDON_FAIL_ERRNO(err, errno, "clone");
    while (waitpid(child, &status, __WALL) < 0)
        if (errno != EINTR)
            return CORDON_FAIL_ERRNO(err, errno, "waitpid");
    return 0;
}

/* Each child answers for one call at least, so there are at most as many as calls. */
static int ask(volatile unsigned char *verdicts, cordon_err *err)
{
    for (size_t children = 0; children < CALLS && verdicts[CALLS - 1] == VERDICT_PENDING;
         children++)
        if (ask_in_child(verdicts, err) < 0)
            return -1;
    return 0;
}

static int report_all(const volatile unsigned char *verdicts, cordon_report *report,
                      cordon_err *err)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (verdicts[i] == VERDICT_PENDING)
            return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s: not asked", calls[i].name);
        if (cordon_report_addf(report, err, "denied", "%s %s", calls[i].name,
                               verdicts[i] == VERDICT_ALLOWED ? "allowed" : "refused") < 0)
            return -1;
    }
    return 0;
}

int cordon_denied_facts(cordon_report *report, cordon_err *err)
{
    void *shared = mmap(NULL, CALLS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return CORDON_FAIL_ERRNO(err, errno, "mmap");
    int rc = ask(shared, err);
    if (rc == 0)
        rc = report_all(shared, report, err);
    (void)munmap(shared, CALLS);
    return rc;
}

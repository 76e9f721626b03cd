/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the checks, each in a process of its own, many at a time, and printing what they found
 * in the order of the list. libc-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/probe.h"
#include "kit/cleanup.h"

/* At a time; with the probe, the gate and a few grandchildren well below a limit of 64 processes.
 */
#define SLOTS 32

typedef struct check_slot {
    const cordon_check *check; /* NULL while the slot is free */
    cordon_found *found;
    pid_t pid;
    int fd;
    cordon_deadline dl;
} check_slot;

typedef struct run_state {
    const cordon_probe *probe;
    const cordon_checks *checks;
    cordon_found *found; /* one per check */
    size_t next;
    size_t busy;
    check_slot slots[SLOTS];
} run_state;

static _Noreturn void run_child(const cordon_probe *probe, const cordon_check *check, int fd)
{
    cordon_found found = {.got = ""};
    cordon_found_set(&found, "not-carried-out", "the check gave no result");
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_IGN);
    check->run(probe, check, &found);
    ssize_t ignored = write(fd, &found, sizeof found);
    (void)ignored;
    _exit(0);
}

static void start(run_state *state, check_slot *slot)
{
    int ends[2];
    size_t index = state->next++;
    const cordon_check *check = &state->checks->items[index];
    cordon_found *found = &state->found[index];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        cordon_found_set(found, "not-carried-out", "pipe: %s", strerror(errno));
        return;
    }
    pid_t pid = fork();
    if (pid == 0)
        run_child(state->probe, check, ends[1]);
    (void)close(ends[1]);
    if (pid < 0) {
        cordon_found_set(found, "not-carried-out", "fork: %s", strerror(errno));
        (void)close(ends[0]);
        return;
    }
    *slot = (check_slot){.check = check,
                         .found = found,
                         .pid = pid,
                         .fd = ends[0],
                         .dl = cordon_deadline_in_ms(check->bound_ms, -1)};
    state->busy++;
}

static void fill_slots(run_state *state)
{
    for (size_t i = 0; i < SLOTS && state->next < state->checks->count; i++)
        while (!state->slots[i].check && state->next < state->checks->count)
            start(state, &state->slots[i]);
}

static void finish(run_state *state, check_slot *slot)
{
    int status = 0;
    (void)kill(-slot->pid, SIGKILL);
    (void)kill(slot->pid, SIGKILL);
    (void)waitpid(slot->pid, &status, 0);
    (void)close(slot->fd);
    if (slot->found->got[0] == '\0')
        cordon_found_set(slot->found, "not-carried-out", "the check ended with status 0x%x",
                         (unsigned)status);
    *slot = (check_slot){.fd = -1};
    state->busy--;
}

/* The result is below PIPE_BUF, so it comes whole or not at all. */
static void collect(run_state *state, check_slot *slot)
{
    cordon_found found;
    if (read(slot->fd, &found, sizeof found) == (ssize_t)sizeof found) {
        found.got[sizeof found.got - 1] = '\0';
        found.detail[sizeof found.detail - 1] = '\0';
        *slot->found = found;
    }
    finish(state, slot);
}

static void expire(run_state *state, check_slot *slot)
{
    cordon_found_set(slot->found, "hung", "no result within %d ms", slot->check->bound_ms);
    finish(state, slot);
}

static void wait_for_some(run_state *state)
{
    struct pollfd items[SLOTS];
    int left = INT_MAX;
    for (size_t i = 0; i < SLOTS; i++) {
        const check_slot *slot = &state->slots[i];
        items[i] = (struct pollfd){.fd = slot->check ? slot->fd : -1, .events = POLLIN};
        if (slot->check && cordon_deadline_left_ms(slot->dl) < left)
            left = cordon_deadline_left_ms(slot->dl);
    }
    (void)poll(items, SLOTS, left);
    for (size_t i = 0; i < SLOTS; i++) {
        if (items[i].fd >= 0 && items[i].revents)
            collect(state, &state->slots[i]);
        else if (state->slots[i].check && cordon_deadline_passed(state->slots[i].dl))
            expire(state, &state->slots[i]);
    }
}

/* Names, wants and gots are ours; details are printable and lose what JSON would escape. */
static int print_check(const cordon_check *check, const cordon_found *found, bool *ret_ok)
{
    char detail[sizeof found->detail];
    (void)snprintf(detail, sizeof detail, "%s", found->detail);
    for (char *c = detail; *c; c++)
        if (*c == '"' || *c == '\\')
            *c = '\'';
    *ret_ok = cordon_check_is_ok(check->want, found->got);
    return dprintf(STDOUT_FILENO,
                   "{\"name\":\"%s\",\"want\":\"%s\",\"got\":\"%s\",\"ok\":%s,\"detail\":\"%s\"}\n",
                   check->name, check->want, found->got, *ret_ok ? "true" : "false", detail);
}

static int print_all(const run_state *state, cordon_err *err)
{
    int bad = 0;
    for (size_t i = 0; i < state->checks->count; i++) {
        bool ok = false;
        if (print_check(&state->checks->items[i], &state->found[i], &ok) < 0)
            return CORDON_FAIL_ERRNO(err, errno, "stdout");
        bad += ok ? 0 : 1;
    }
    if (dprintf(STDOUT_FILENO, "{\"probe\":1,\"done\":true,\"checks\":%zu}\n",
                state->checks->count) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "stdout");
    return bad;
}

int cordon_probe_run(const cordon_probe *probe, const cordon_checks *checks, cordon_err *err)
{
    cordon_autofree cordon_found *found = calloc(checks->count, sizeof *found);
    if (!found)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    /* What a check that was ended leaves is told from a stranger's process by its parent. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "prctl PR_SET_CHILD_SUBREAPER");
    run_state state = {.probe = probe, .checks = checks, .found = found};
    while (state.next < checks->count || state.busy > 0) {
        fill_slots(&state);
        if (state.busy > 0)
            wait_for_some(&state);
    }
    return print_all(&state, err);
}

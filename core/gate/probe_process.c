/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of what the process is and what it sees of others: identity, descriptors, the gate, other
 * processes. libc-only.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "gate/probe.h"
#include "gate/text.h"
#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/num.h"

#define STATUS_MAX 8192

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

/* The value of one line of a /proc/.../status, with its blanks made single. */
static bool status_value(const char *path, const char *name, char *ret_value, size_t size)
{
    bool whole = false;
    cordon_slice line;
    cordon_slice key;
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) buf = cordon_buf_make(STATUS_MAX);
    if (cordon_text_read(path, &buf, &whole, &err) < 0)
        return false;
    cordon_slice rest = cordon_slice_make(cordon_buf_text(&buf), buf.length);
    while (cordon_slice_cut(&rest, '\n', &line))
        if (cordon_slice_cut(&line, ':', &key) && cordon_slice_is(key, name))
            return cordon_slice_squeeze(line, ret_value, size, &err) == 0;
    return false;
}

static void check_user(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char ids[64];
    (void)probe;
    (void)check;
    if (!status_value("/proc/self/status", "Uid", ids, sizeof ids))
        return;
    bool root = strncmp(ids, "0 ", 2) == 0 || strstr(ids, " 0") != NULL;
    cordon_found_set(found, root ? "root" : "not-root", "uids %s", ids);
}

/* text: the name of a capability set's line */
static void check_capabilities(const cordon_probe *probe, const cordon_check *check,
                               cordon_found *found)
{
    char mask[32];
    (void)probe;
    if (status_value("/proc/self/status", check->text, mask, sizeof mask))
        cordon_found_set(found, strcmp(mask, "0000000000000000") == 0 ? "none" : "some", "%s %s",
                         check->text, mask);
}

static void check_no_new_privs(const cordon_probe *probe, const cordon_check *check,
                               cordon_found *found)
{
    (void)probe;
    (void)check;
    int set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    cordon_found_set(found, set == 1 ? "set" : "unset", "no_new_privs %d", set);
}

static void check_seccomp(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char mode[16];
    (void)probe;
    (void)check;
    if (status_value("/proc/self/status", "Seccomp", mode, sizeof mode))
        cordon_found_set(found, strcmp(mode, "2") == 0 ? "filtered" : "unfiltered", "mode %s",
                         mode);
}

/* Pipes of the probe's own are close-on-exec like all of its files; any other beyond 2 leaked. */
static void check_descriptors(const cordon_probe *probe, const cordon_check *check,
                              cordon_found *found)
{
    cordon_cleanup(close_folder) DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry = NULL;
    (void)probe;
    (void)check;
    if (!folder)
        return;
    cordon_found_set(found, "none", "only standard streams were inherited");
    while ((entry = readdir(folder)) != NULL) {
        uint64_t fd = 0;
        cordon_err err = CORDON_ERR_INIT;
        if (cordon_num_u64(entry->d_name, strlen(entry->d_name), 0, 1U << 20, &fd, &err) == 0 &&
            fd > STDERR_FILENO && !(fcntl((int)fd, F_GETFD) & FD_CLOEXEC))
            cordon_found_set(found, "leaked", "descriptor %s was inherited", entry->d_name);
    }
}

/* number: open flags; text: a file under /proc/GATE */
static void check_gate_file(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)probe->gate, check->text);
    cordon_autoclose int fd = open(path, check->number | O_CLOEXEC);
    int errnum = errno;
    char byte;
    /* Some of these files let themselves be opened and refuse to be read. */
    if (fd >= 0 && check->number == O_RDONLY && read(fd, &byte, 1) < 0)
        cordon_found_attempt(found, false, errno, path);
    else
        cordon_found_attempt(found, fd >= 0, errnum, path);
}

static void check_gate_link(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    char path[64];
    char target[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)probe->gate, check->text);
    ssize_t length = readlink(path, target, sizeof target);
    cordon_found_attempt(found, length >= 0, errno, path);
}

/* SECURITY: only as PID 1 is the gate safe from KILL, so nothing is sent to another process. */
static void check_kill_gate(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    char state[64] = "";
    struct timespec pause = {.tv_nsec = 100000000};
    (void)check;
    if (probe->gate != 1) {
        cordon_found_set(found, "not-carried-out", "the gate is process %ld", (long)probe->gate);
        return;
    }
    int killed = kill(1, SIGKILL);
    int errnum = errno;
    (void)kill(1, SIGSTOP);
    (void)kill(1, SIGSEGV);
    (void)nanosleep(&pause, NULL);
    if (!status_value("/proc/1/status", "State", state, sizeof state))
        return;
    bool alive = state[0] != 'Z' && state[0] != 'T' && state[0] != 'X';
    cordon_found_set(found, alive ? "survives" : "stopped", "kill: %s; state %s",
                     killed == 0 ? "sent" : strerror(errnum), state);
}

/*
 * The parent of a process, also of one that has ended: 0 for one without a parent in this
 * namespace. False when there is no such process any more. One that ends while its status is read
 * shows the parent 0 too (proc(5) says nothing of it; the kernel asks pid_alive() there), so that
 * is believed only of one that can be looked up again.
 */
static bool parent_of(long pid, long *ret_parent)
{
    char path[64];
    char parent[32];
    uint64_t number = 0;
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", pid);
    for (int look = 0; look < 2; look++) {
        if (!status_value(path, "PPid", parent, sizeof parent))
            return false;
        if (cordon_num_u64(parent, strlen(parent), 0, INT32_MAX, &number, &err) < 0)
            number = 0;
        if (number != 0)
            break;
    }
    *ret_parent = (long)number;
    return true;
}

/* Does the process descend from the probe, which adopts what its checks leave behind. */
static bool is_ours(long pid, long probe_pid)
{
    for (int depth = 0; depth < 16 && pid > 1; depth++) {
        if (pid == probe_pid || !parent_of(pid, &pid))
            return true; /* or it has ended meanwhile, as our own checks do */
    }
    return false;
}

static void check_others(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    cordon_cleanup(close_folder) DIR *folder = opendir("/proc");
    const struct dirent *entry = NULL;
    (void)check;
    if (!folder)
        return;
    cordon_found_set(found, "none", "only the gate and the probe's own processes");
    while ((entry = readdir(folder)) != NULL) {
        uint64_t pid = 0;
        cordon_err err = CORDON_ERR_INIT;
        if (cordon_num_u64(entry->d_name, strlen(entry->d_name), 1, INT32_MAX, &pid, &err) == 0 &&
            pid != (uint64_t)probe->gate && !is_ours((long)pid, (long)getppid()))
            cordon_found_set(found, "visible", "process %s is not ours", entry->d_name);
    }
}

/* Lowering it would let the host's other processes be killed first. */
static void check_oom_score(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    (void)probe;
    (void)check;
    cordon_autoclose int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    bool wrote = fd >= 0 && write(fd, "-1000", 5) == 5;
    cordon_found_attempt(found, wrote, errno, "/proc/self/oom_score_adj");
}

static void check_abstract_sockets(const cordon_probe *probe, const cordon_check *check,
                                   cordon_found *found)
{
    bool whole = false;
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) buf = cordon_buf_make(65536);
    (void)probe;
    (void)check;
    if (cordon_text_read("/proc/net/unix", &buf, &whole, &err) < 0) {
        cordon_found_attempt(found, false, err.errnum, "/proc/net/unix");
        return;
    }
    bool some = strstr(cordon_buf_text(&buf), " @") != NULL;
    cordon_found_set(found, some ? "present" : "none", "abstract sockets in this namespace");
}

void cordon_probe_add_process(const cordon_probe *probe, cordon_checks *checks)
{
    (void)probe;
    cordon_check_add(checks, "not-root", check_user, NULL, 0, "identity.user");
    cordon_check_add(checks, "none", check_capabilities, "CapEff", 0, "identity.effective");
    cordon_check_add(checks, "none", check_capabilities, "CapPrm", 0, "identity.permitted");
    cordon_check_add(checks, "none", check_capabilities, "CapBnd", 0, "identity.bounding");
    cordon_check_add(checks, "set", check_no_new_privs, NULL, 0, "identity.no-new-privs");
    cordon_check_add(checks, "filtered", check_seccomp, NULL, 0, "identity.seccomp");
    cordon_check_add(checks, "none", check_descriptors, NULL, 0, "process.inherited-files");
    cordon_check_add(checks, "none", check_others, NULL, 0, "process.others");
    cordon_check_add(checks, "refused", check_oom_score, NULL, 0, "process.oom-score");
    cordon_check_add(checks, "none", check_abstract_sockets, NULL, 0, "process.abstract-sockets");
    cordon_check_add(checks, "refused", check_gate_file, "mem", O_RDWR, "gate.memory");
    cordon_check_add(checks, "refused", check_gate_file, "maps", O_RDONLY, "gate.maps");
    cordon_check_add(checks, "refused", check_gate_file, "environ", O_RDONLY, "gate.environment");
    cordon_check_add(checks, "refused", check_gate_file, "fd", O_RDONLY | O_DIRECTORY,
                     "gate.descriptors");
    cordon_check_add(checks, "refused", check_gate_file, "oom_score_adj", O_WRONLY,
                     "gate.oom-score");
    cordon_check_add(checks, "refused", check_gate_link, "root", 0, "gate.root");
    cordon_check_add(checks, "refused", check_gate_link, "ns/net", 0, "gate.namespace");
    cordon_check_add(checks, "survives", check_kill_gate, NULL, 0, "gate.kill");
}

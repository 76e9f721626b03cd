/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of executing anything else than what was released: programs of the image, files dropped
 * into writable folders, files that exist in memory alone. libc-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/probe.h"
#include "kit/cleanup.h"

extern char **environ;

/* A copy of this very program, which `version` makes end at once. */
static int copy_self(int to)
{
    struct stat st;
    cordon_autoclose int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (from < 0 || fstat(from, &st) < 0)
        return -1;
    off_t left = st.st_size;
    while (left > 0) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);
        if (sent <= 0)
            return -1;
        left -= sent;
    }
    return fchmod(to, 0755);
}

static _Noreturn void execute_child(const char *path, int fd, int report)
{
    char *arguments[] = {(char[]){"cordon-guard"}, (char[]){"version"}, NULL};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)(nowhere >= 0 ? dup2(nowhere, STDOUT_FILENO) : close(STDOUT_FILENO));
    (void)(nowhere >= 0 ? dup2(nowhere, STDERR_FILENO) : close(STDERR_FILENO));
    if (fd >= 0)
        (void)fexecve(fd, arguments, environ);
    else
        (void)execve(path, arguments, environ);
    int errnum = errno;
    ssize_t ignored = write(report, &errnum, sizeof errnum);
    (void)ignored;
    _exit(1);
}

/* 0 when it was executed, else the errno; the pipe closes silently on success. */
static int execute(const char *path, int fd)
{
    int ends[2];
    int errnum = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return EAGAIN;
    pid_t pid = fork();
    if (pid == 0)
        execute_child(path, fd, ends[1]);
    (void)close(ends[1]);
    if (pid < 0 || read(ends[0], &errnum, sizeof errnum) < 0)
        errnum = EAGAIN;
    (void)close(ends[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return errnum;
}

static void found_execution(const char *path, int fd, cordon_found *found)
{
    int errnum = execute(path, fd);
    cordon_found_attempt(found, errnum == 0, errnum, path);
}

/* text: a folder to drop the copy into */
static void check_dropped(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char path[PATH_MAX];
    (void)probe;
    (void)snprintf(path, sizeof path, "%s/.cordon-probe-run-%ld", check->text, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0) {
        cordon_found_attempt(found, false, errno, path);
        return;
    }
    int copied = copy_self(fd);
    (void)close(fd);
    if (copied == 0)
        found_execution(path, -1, found);
    (void)unlink(path);
}

static void check_memfd(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    (void)probe;
    (void)check;
    cordon_autoclose int fd = memfd_create("cordon-probe", MFD_CLOEXEC);
    if (fd < 0)
        cordon_found_attempt(found, false, errno, "memfd_create");
    else if (copy_self(fd) == 0)
        found_execution("a file in memory", fd, found);
}

/* An unnamed file in the scratch, executed through its descriptor. */
static void check_unnamed(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char link[32];
    (void)check;
    cordon_autoclose int writer = open(probe->scratch, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
    if (writer < 0) {
        cordon_found_attempt(found, false, errno, "O_TMPFILE");
        return;
    }
    if (copy_self(writer) < 0)
        return;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", writer);
    cordon_autoclose int reader = open(link, O_RDONLY | O_CLOEXEC);
    (void)close(cordon_take_fd(&writer)); /* a file open for writing cannot be executed */
    if (reader < 0)
        cordon_found_attempt(found, false, errno, link);
    else
        found_execution("an unnamed file", reader, found);
}

static const char *const others[] = {
    "/bin/sh",       "/bin/bash",    "/bin/busybox",     "/usr/bin/env",  "/bin/ls",
    "/usr/bin/curl", "/usr/bin/git", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/node",
};

/* The first program of the image that the fence lets through, or why none did. */
static void check_others(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    (void)probe;
    (void)check;
    cordon_found_set(found, "refused", "the image holds no other program");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (access(others[i], F_OK) == 0 && strcmp(found->got, "refused") == 0)
            found_execution(others[i], -1, found);
}

/* Code that is mapped from a file instead of executed: what a loader would do. */
static void check_mapped(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char path[PATH_MAX];
    (void)probe;
    (void)snprintf(path, sizeof path, "%s/.cordon-probe-map-%ld", check->text, (long)getpid());
    cordon_autoclose int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0) {
        cordon_found_attempt(found, false, errno, path);
        return;
    }
    (void)unlink(path);
    if (ftruncate(fd, 4096) < 0)
        return;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    cordon_found_attempt(found, code != MAP_FAILED, errno, "mmap of executable pages");
}

/* Without the fence a phase that may write may also execute what it wrote. */
static const char *want_in_worktree(const cordon_probe *probe)
{
    return probe->writable && !probe->fenced ? "allowed" : "refused";
}

void cordon_probe_add_execution(const cordon_probe *probe, cordon_checks *checks)
{
    const char *fenced = probe->fenced ? "refused" : "allowed";
    cordon_check_add(checks, "refused", check_dropped, probe->scratch, 0, "exec.scratch");
    cordon_check_add(checks, "refused", check_dropped, "/dev/shm", 0, "exec.shm");
    cordon_check_add(checks, want_in_worktree(probe), check_dropped, probe->worktree, 0,
                     "exec.worktree");
    cordon_check_add(checks, "refused", check_mapped, probe->scratch, 0, "exec.mapped-scratch");
    cordon_check_add(checks, "refused", check_unnamed, NULL, 0, "exec.unnamed");
    cordon_check_add(checks, fenced, check_memfd, NULL, 0, "exec.memory");
    if (probe->fenced)
        cordon_check_add(checks, "refused", check_others, NULL, 0, "exec.other-programs");
}

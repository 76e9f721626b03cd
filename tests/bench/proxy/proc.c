/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading /proc; see proc.h. The CPU clock of a process (clock_getcpuclockid) counts nanoseconds
 * and keeps the time of threads that ended, which a proxy with one thread a tunnel needs.
 */
#include "proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/parent_of.h"

static bool tree_holds(const proc_tree *t, pid_t pid)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->pids[i] == pid)
            return true;
    }
    return false;
}

/* One more generation; false when it was the last. */
static bool tree_grow(proc_tree *t)
{
    size_t before = t->count;
    DIR *proc = opendir("/proc");
    for (struct dirent *one = proc ? readdir(proc) : NULL; one; one = readdir(proc)) {
        pid_t pid = (pid_t)strtol(one->d_name, NULL, 10);
        if (pid > 0 && t->count < PROC_TREE_MAX && !tree_holds(t, pid) &&
            tree_holds(t, parent_of(one->d_name)))
            t->pids[t->count++] = pid;
    }
    if (proc)
        (void)closedir(proc);
    return t->count > before;
}

proc_tree proc_tree_of(pid_t root)
{
    proc_tree t = {.pids = {root}, .count = 1};
    while (tree_grow(&t))
        continue;
    return t;
}

int64_t proc_cpu_ns(const proc_tree *t)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < t->count; i++) {
        clockid_t clock;
        struct timespec used;
        if (clock_getcpuclockid(t->pids[i], &clock) == 0 && clock_gettime(clock, &used) == 0)
            sum_ns += (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
    }
    return sum_ns;
}

/* The numbers of "Key:   123 kB" lines. */
static void read_numbers(pid_t pid, const char *name, const char *const *keys, long **values)
{
    char path[64];
    char line[512];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        for (size_t i = 0; keys[i]; i++) {
            if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                *values[i] += strtol(line + strlen(keys[i]), NULL, 10);
        }
    }
    if (file)
        (void)fclose(file);
}

static long count_descriptors(pid_t pid)
{
    char path[64];
    long count = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *one = folder ? readdir(folder) : NULL; one; one = readdir(folder))
        count += one->d_name[0] != '.';
    if (folder)
        (void)closedir(folder);
    return count;
}

proc_cost proc_look(pid_t root)
{
    static const char *const memory[] = {"Pss:", "Rss:", NULL};
    static const char *const threads[] = {"Threads:", NULL};
    proc_tree t = proc_tree_of(root);
    proc_cost cost = {.cpu_ns = proc_cpu_ns(&t)};
    for (size_t i = 0; i < t.count; i++) {
        read_numbers(t.pids[i], "smaps_rollup", memory, (long *[]){&cost.pss_kib, &cost.rss_kib});
        read_numbers(t.pids[i], "status", threads, (long *[]){&cost.threads});
        cost.descriptors += count_descriptors(t.pids[i]);
    }
    return cost;
}

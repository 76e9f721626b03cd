/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process and its descendants cost, read from outside: CPU time of all their threads, the
 * ended ones included, memory, descriptors, threads.
 */
#ifndef CORDON_TESTS_BENCH_PROXY_PROC_H
#define CORDON_TESTS_BENCH_PROXY_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* memory in KiB; every number is a sum over the processes */
typedef struct proc_cost {
    int64_t cpu_ns;
    long pss_kib;
    long rss_kib;
    long descriptors;
    long threads;
} proc_cost;

#define PROC_TREE_MAX 64

typedef struct proc_tree {
    pid_t pids[PROC_TREE_MAX];
    size_t count;
} proc_tree;

/* The process and its descendants of this moment. */
proc_tree proc_tree_of(pid_t root);

/* CPU time alone, which is quick to ask for. */
int64_t proc_cpu_ns(const proc_tree *tree);

/* All of it. */
proc_cost proc_look(pid_t root);

#endif

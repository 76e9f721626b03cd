/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells one process from every other, also after its number was used again, the machine was
 * booted again, or a folder is looked at from another machine or container.
 */
#ifndef CORDON_PROCESS_MARK_H
#define CORDON_PROCESS_MARK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * host        digest of machine-id(5), which is told to nobody, else the node name of uname(2)
 * boot        random(4): boot_id
 * space       the pid namespace: namespaces(7), the text of /proc/self/ns/pid
 * pid, start  start: clock ticks since boot, field 22 of proc_pid_stat(5)
 */
typedef struct cordon_process_mark {
    char host[72];
    char boot[64];
    char space[32];
    int64_t pid;
    int64_t start;
} cordon_process_mark;

/* The caller. What cannot be told is "" or 0. */
void cordon_process_mark_self(cordon_process_mark *ret_mark);

typedef enum cordon_process_fate {
    CORDON_PROCESS_UNKNOWN = 0, /* cannot be told from here */
    CORDON_PROCESS_ALIVE,
    CORDON_PROCESS_DEAD, /* provably */
} cordon_process_fate;

/* @param ret_why  a few words, static; why it cannot be told, or how it can */
cordon_process_fate cordon_process_fate_of(const cordon_process_mark *mark, const char **ret_why);

#endif

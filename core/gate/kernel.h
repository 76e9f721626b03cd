/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel interfaces of a container that must be out of reach, and how to tell whether they
 * are. Shared by the gate's report and the probe. libc-only.
 */
#ifndef CORDON_GATE_KERNEL_H
#define CORDON_GATE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "gate/text.h"

/* How usable a file or folder of the kernel is for this process. */
typedef enum cordon_usability {
    CORDON_USABLE_UNKNOWN = 0,
    CORDON_USABLE_ABSENT,   /* no such path */
    CORDON_USABLE_DENIED,   /* it can be opened neither for reading nor for writing */
    CORDON_USABLE_EMPTY,    /* the null device or an empty folder was put over it */
    CORDON_USABLE_READONLY, /* it can be read but not written */
    CORDON_USABLE_OPEN,     /* it can be written */
} cordon_usability;

/* Opens and looks, reads at most one byte, writes nothing. Never blocks on a kernel file. */
cordon_usability cordon_kernel_usability(const char *path);

/* "absent", "denied", "empty", "readonly", "open"; "unknown" otherwise. */
const char *cordon_usability_name(cordon_usability usability);

/*
 * How many processes of this cgroup the kernel has killed for want of memory since the cgroup was
 * made (memory.events of cgroup v2, memory.oom_control of v1); 0 where neither can be seen.
 */
uint64_t cordon_kernel_oom_kills(void);

/* Pure: the number behind "oom_kill" in such a file; 0 when it is not there. */
uint64_t cordon_kernel_parse_oom_kills(cordon_slice text);

/* NULL-terminated lists: interfaces to be masked or read-only; where engine sockets live. */
extern const char *const cordon_kernel_masked_paths[];
extern const char *const cordon_kernel_engine_sockets[];

#endif

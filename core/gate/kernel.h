/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel interfaces of a container that must be out of reach, and how to tell whether they
 * are. Shared by the gate's report and the probe. libc-only.
 */
#ifndef CORDON_GATE_KERNEL_H
#define CORDON_GATE_KERNEL_H

#include <stddef.h>

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

/* NULL-terminated lists: interfaces to be masked or read-only; where engine sockets live. */
extern const char *const cordon_kernel_masked_paths[];
extern const char *const cordon_kernel_engine_sockets[];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate sees of its surroundings: the third witness. Every collector adds facts of
 * protocol.h or fails; a source that cannot be read fails the whole report, because a missing fact
 * must not look like a harmless one. libc-only.
 */
#ifndef CORDON_GATE_SURROUND_H
#define CORDON_GATE_SURROUND_H

#include "gate/report.h"
#include "kit/error.h"

/* How the process was when it was executed, before the gate changed itself. Borrowed. */
typedef struct cordon_start_state {
    char **env;
    int no_new_privs;
    int dumpable;
} cordon_start_state;

/* Adds all facts. @return 0, or -1 with the error of the first source that failed */
int cordon_surround_facts(const cordon_start_state *start, cordon_report *report, cordon_err *err)
    __attribute__((warn_unused_result));

/* The part about the kernel's interfaces: sysctl, masked, device, socket, landlock.abi. */
int cordon_kernel_facts(cordon_report *report, cordon_err *err) __attribute__((warn_unused_result));

/* The part about what the engine's seccomp profile refuses: denied. */
int cordon_denied_facts(cordon_report *report, cordon_err *err) __attribute__((warn_unused_result));

#endif

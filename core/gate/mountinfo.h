/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of /proc/self/mountinfo (proc(5)), taken apart strictly. Pure. libc-only.
 */
#ifndef CORDON_GATE_MOUNTINFO_H
#define CORDON_GATE_MOUNTINFO_H

#include "gate/report.h"
#include "gate/text.h"
#include "kit/error.h"

/* Slices of the line, with the kernel's octal escapes left as they are. */
typedef struct cordon_mountinfo {
    cordon_slice root;
    cordon_slice target;
    cordon_slice options;
    cordon_slice propagation; /* the optional fields, such as "master:5"; empty when private */
    cordon_slice type;
    cordon_slice source; /* may be empty */
    cordon_slice super_options;
} cordon_mountinfo;

/* @return 0, or -1 with PROTOCOL for a line that has not this form */
int cordon_mountinfo_parse(cordon_slice line, cordon_mountinfo *ret_mount, cordon_err *err)
    __attribute__((warn_unused_result));

/* A "mount" fact for every line. */
int cordon_mountinfo_facts(cordon_slice text, cordon_report *report, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

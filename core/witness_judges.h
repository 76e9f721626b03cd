/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judges behind the table of witness.c: each looks at one value of one key of the gate's
 * report and refuses or stays silent. Internal to the witness.
 */
#ifndef CORDON_WITNESS_JUDGES_H
#define CORDON_WITNESS_JUDGES_H

#include "witness.h"

/* What the judges share: the key at hand is part of the fact's path. */
typedef struct witness_context {
    const cordon_plan *plan;
    const cordon_gate_view *view;
    const char *key;
    cordon_refusal *refusal;
    cordon_err *err;
} witness_context;

typedef int witness_judge(const witness_context *context, const char *value);

/* -1, always, with CORDON_REFUSED_KERNEL and fact "kernel.<key>". */
int cordon_witness_refuse(const witness_context *context, const char *expected, const char *actual);

/* 0 if value is expected, else as above. */
int cordon_witness_equal(const witness_context *context, const char *expected, const char *value);

bool cordon_witness_one_of(const char *value, const char *const *allowed, size_t count);

#define WITNESS_ONE_OF(value, list)                                                                \
    cordon_witness_one_of((value), (list), sizeof(list) / sizeof((list)[0]))

/* The target of a mount value without its octal escapes, "" when it is too long. */
#define WITNESS_MOUNT_FIELD_SIZE 4096
void cordon_witness_mount_target(const char *value, char ret_target[WITNESS_MOUNT_FIELD_SIZE]);

/* True if the report tells what lies at a planned bind mount. */
bool cordon_witness_has_folder(const witness_context *context, const cordon_mount_spec *spec);

witness_judge cordon_judge_uid;
witness_judge cordon_judge_gid;
witness_judge cordon_judge_group;
witness_judge cordon_judge_no_caps;
witness_judge cordon_judge_one;
witness_judge cordon_judge_zero;
witness_judge cordon_judge_seccomp;
witness_judge cordon_judge_seccomp_filters;
witness_judge cordon_judge_interface;
witness_judge cordon_judge_address;
witness_judge cordon_judge_route;
witness_judge cordon_judge_resolv;
witness_judge cordon_judge_fd;
witness_judge cordon_judge_limit;
witness_judge cordon_judge_ns;
witness_judge cordon_judge_sysctl;
witness_judge cordon_judge_masked;
witness_judge cordon_judge_device;
witness_judge cordon_judge_denied;
witness_judge cordon_judge_never;
witness_judge cordon_judge_hostname;
witness_judge cordon_judge_working_dir;
witness_judge cordon_judge_argv;
witness_judge cordon_judge_landlock;
witness_judge cordon_judge_memory_max;
witness_judge cordon_judge_pids_max;
witness_judge cordon_judge_mount;
witness_judge cordon_judge_folder;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an invocation may do: vendor, phase and approved argv, frozen; and the commands that only
 * a policy can make. The table of phases is the only place that says what a phase allows.
 */
#ifndef CORDON_POLICY_H
#define CORDON_POLICY_H

#include "cordon/cordon.h"
#include "kit/buf.h"
#include "refusal.h"
#include "vendor.h"

typedef struct cordon_phase {
    const char *name;
    bool writes; /* the worktree is writable */
    bool runs;   /* approved runner commands may run */
} cordon_phase;

/* The phase of this name; CONFIG naming the five otherwise. */
int cordon_phase_find(const char *name, const cordon_phase **ret_phase, cordon_err *err)
    __attribute__((warn_unused_result));

/* One exact argument vector. */
typedef struct cordon_argv {
    char **items; /* NULL-terminated */
    size_t count;
} cordon_argv;

struct cordon_policy {
    const cordon_config *config; /* borrowed: outlives the policy */
    cordon_vendor *vendor;
    const cordon_phase *phase;
    cordon_argv *approved; /* beyond the configuration's */
    size_t approved_count;
    bool frozen; /* a command has been made */
};

typedef enum cordon_command_kind {
    CORDON_COMMAND_UNKNOWN = 0,
    CORDON_COMMAND_RUNNER,
    CORDON_COMMAND_PROBE,
    CORDON_COMMAND_AGENT,
} cordon_command_kind;

struct cordon_agent;

struct cordon_command {
    const cordon_policy *policy;
    cordon_command_kind kind;
    cordon_argv argv;
    char *upstream;             /* probe: maps all pinned hosts; else NULL */
    struct cordon_agent *agent; /* agent: adapter.h; else NULL */
    cordon_buf prompt;          /* agent: its whole standard input */
};

/* Largest argument or NAME=value, with its final NUL: MAX_ARG_STRLEN of execve(2). */
#define CORDON_ARGUMENT_MAX  131072
#define CORDON_ARGUMENTS_MAX 4096

#endif

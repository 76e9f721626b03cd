/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a run (cordon/cordon.h). The run fills the fields, receipt.c turns them into JSON
 * and into an exit status; nothing else decides either.
 */
#ifndef CORDON_RECEIPT_H
#define CORDON_RECEIPT_H

#include "cordon/cordon.h"
#include "egress.h"
#include "engine.h"
#include "owner.h"
#include "refusal.h"
#include "validate.h"
#include "worktree_guard.h"
#include "worktree_snapshot.h"

typedef struct cordon_timing {
    int64_t open_ms;
    int64_t create_ms;
    int64_t validate_ms;
    int64_t start_ms;
    int64_t run_ms;
    int64_t dispose_ms;
    int64_t total_ms;
} cordon_timing;

typedef struct cordon_left {
    const char *type; /* "container", "network", "volume" */
    char id[CORDON_NAME_SIZE + CORDON_ID_HEX];
    char reason[256];
} cordon_left;

/* Limits, the kernel's fence, three runtimes, events. */
#define CORDON_RECEIPT_UNASSURED_MAX 16

/* Each object of a run, and whoever stands in its place. */
#define CORDON_RECEIPT_LEFT_MAX ((size_t)2 * CORDON_ROLE_COUNT)

/* One step of the invocation. Its image is the pinned one that it was made from. */
typedef struct cordon_step_record {
    const char *command; /* "agent", "runner", "probe" */
    char program[128];
    char image_id[CORDON_ID_HEX + 1];
    bool reached; /* all further fields are of a step that was */
    cordon_result_kind kind;
    int exit_code; /* -1: none */
    int64_t run_ms;
} cordon_step_record;

struct cordon_receipt {
    char invocation[CORDON_OWNER_HEX + 1]; /* "" when there was none */
    char engine_name[64];
    char engine_kind[16];
    char engine_version[64];
    char engine_api[32];
    bool engine_rootless;
    char vendor[64];
    char phase[16];
    char image_pin[320];
    char image_id[CORDON_ID_HEX + 1];
    char *worktree; /* NULL: none */
    bool worktree_writable;
    char *worktree_label; /* SELinux; NULL: does not count here */
    char *worktree_git;   /* the common git directory that was mounted, too; NULL: none */
    cordon_guard_findings findings;
    bool diff_wanted;
    cordon_buf diff;
    cordon_snapshot_changes changes;
    cordon_err diff_failure; /* why there is none; unset otherwise */

    cordon_result_kind kind;
    int exit_code; /* -1: none */
    int status;    /* 0..255 */
    cordon_refusal refusal;
    cordon_err failure; /* message of everything that did not simply exit */

    cordon_step_record steps[CORDON_STEPS_MAX];
    size_t step_count;

    const char *unassured[CORDON_RECEIPT_UNASSURED_MAX]; /* facts; static texts */
    size_t unassured_count;

    cordon_tally tally;
    cordon_egress egress;
    int64_t stdout_bytes;
    int64_t stderr_bytes;
    bool truncated;
    cordon_timing timing;
    cordon_left left[CORDON_RECEIPT_LEFT_MAX];
    size_t left_count;
};

/* Frees a receipt, handed out or not. */
void cordon_receipt_destroy(cordon_receipt *receipt);

/* A zeroed receipt that says ERROR until it is told better. */
int cordon_receipt_new(cordon_receipt **ret_receipt, cordon_err *err)
    __attribute__((warn_unused_result));

/* How far a run had come when it failed; it decides what a failure without a verdict is called. */
typedef enum cordon_stage {
    CORDON_STAGE_NOTHING = 0, /* "error": nothing had been created */
    CORDON_STAGE_CREATED,     /* "not_started": the command never ran */
    CORDON_STAGE_RELEASED,    /* "error": the command may have run, to its end perhaps */
} cordon_stage;

/* As before a step ended: for the next one. */
void cordon_receipt_restart(cordon_receipt *receipt);

/* Sets kind, failure and status from an error. */
void cordon_receipt_fail(cordon_receipt *receipt, const cordon_err *failure, cordon_stage stage);

/* Sets kind EXITED (or OOM) and the status that follows. */
void cordon_receipt_exit(cordon_receipt *receipt, int exit_code, bool out_of_memory);

/*
 * Notes a fact that the operator accepted as not assured, by one of the allow_ keys.
 * @param fact  a static text, as a refusal would name it
 */
void cordon_receipt_accept(cordon_receipt *receipt, const char *fact);

/* Notes an object that could not be removed. */
void cordon_receipt_leave(cordon_receipt *receipt, cordon_role role, const char *id,
                          const char *reason);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One owned unit: identity, deadline, worktree, and the user that the step runs as. Decided
 * before anything is created.
 */
#ifndef CORDON_INVOCATION_H
#define CORDON_INVOCATION_H

#include "owner.h"
#include "policy.h"
#include "secrets.h"
#include "session.h"
#include "spec.h"
#include "worktree_guard.h"
#include "worktree_link.h"

struct cordon_invocation {
    cordon_engine *engine;
    const cordon_config *config;
    const cordon_policy *policy;
    cordon_owner owner;
    cordon_worktree worktree; /* path NULL: none */
    cordon_worktree_link link;
    cordon_guard guard;
    cordon_mount_spec kept[CORDON_GUARD_MOUNTS_MAX]; /* the guard's mounts; run_worktree.c */
    size_t kept_count;
    char *label; /* SELinux label of the worktree, where that counts; NULL otherwise */
    bool diff;   /* the worktree is kept before, and compared afterwards */
    char *pin;   /* --image; NULL: none given, the configured one counts */
    char *state_dir;
    int64_t deadline_ms;
    cordon_deadline dl; /* starts when the invocation is made */
    uid_t uid;
    gid_t gid;
    bool keep_id;
    cordon_secrets secrets;
    bool used; /* one run per invocation */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a run does with its worktree besides mounting it; see run.h and worktree_guard.h. */
#include "run.h"

#include <string.h>

#include "kit/random.h"

_Static_assert(CORDON_GUARD_MOUNTS_MAX <= CORDON_PLAN_KEPT_MAX, "a plan has room for all mounts");

/* A look through the tree takes longer than anything else of the end. */
#define SETTLE_MS 120000
/* Of the names that things get which should not be there. */
#define SETTLE_SUFFIX_DIGITS 12

static void keep_mounts(cordon_invocation *invocation)
{
    const cordon_guard *guard = &invocation->guard;

    invocation->kept_count = 0;
    for (size_t i = 0; i < guard->count; i++) {
        const cordon_guard_item *item = &guard->items[i];

        if (!cordon_guard_is_mount(item))
            continue;
        invocation->kept[invocation->kept_count++] = (cordon_mount_spec){
            .type = CORDON_MOUNT_BIND,
            .source = item->source,
            .target = item->target,
            .read_only = item->kind != CORDON_GUARD_ANCHOR,
            .dev = item->dev,
            .ino = item->ino,
        };
    }
}

int cordon_run_keep_worktree(cordon_run *run, bool make, cordon_err *err)
{
    cordon_invocation *invocation = run->invocation;
    cordon_err cause = CORDON_ERR_INIT;

    if (make && invocation->guard.writable && cordon_guard_make(&invocation->guard, &cause) != 0) {
        if (cause.code == CORDON_ERR_NOMEM) {
            *err = cause;
            return -1;
        }
        return cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_WORKTREE, "worktree.protected",
                             "as it was looked at", cause.message, err);
    }
    keep_mounts(invocation);
    return make ? cordon_run_keep_copy(run, err) : 0;
}

int cordon_run_check_worktree(const cordon_run *run, cordon_refusal *ret_refusal, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    cordon_err cause = CORDON_ERR_INIT;

    if (invocation->worktree.path == NULL)
        return 0;
    if (cordon_worktree_recheck(&invocation->worktree, NULL, &cause) != 0)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_WORKTREE, "worktree",
                             "the folder that was approved", cause.message, err);
    if (cordon_worktree_link_recheck(&invocation->worktree, &invocation->link, NULL, &cause) != 0)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_WORKTREE, "worktree.git",
                             "the git data that was approved", cause.message, err);
    if (cordon_guard_recheck(&invocation->guard, &cause) != 0)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_WORKTREE, "worktree.protected",
                             "as it was looked at", cause.message, err);
    return 0;
}

/* Whatever the run had become: it left something behind that acts on the host. */
static void settle_tampered(cordon_run *run, const char *actual)
{
    cordon_receipt *receipt = run->receipt;
    cordon_err failure = CORDON_ERR_INIT;

    receipt->refusal = (cordon_refusal){0};
    (void)cordon_refuse(&receipt->refusal, CORDON_REFUSED_WORKTREE, "worktree.protected",
                        "nothing that turns a write into code on the host", actual, &failure);
    failure.code = CORDON_ERR_TAMPERED;
    cordon_receipt_fail(receipt, &failure, CORDON_STAGE_RELEASED);
}

static int settle(cordon_run *run, cordon_err *err)
{
    char suffix[SETTLE_SUFFIX_DIGITS + 1];

    if (cordon_random_hex(suffix, SETTLE_SUFFIX_DIGITS, err) != 0)
        return -1;
    return cordon_guard_settle(&run->invocation->guard, suffix,
                               cordon_deadline_in_ms(SETTLE_MS, -1), &run->receipt->findings, err);
}

/* A step that would not go may still write. */
static bool step_has_gone(const cordon_run *run)
{
    return run->made[CORDON_ROLE_STEP].gone || !run->made[CORDON_ROLE_STEP].asked;
}

void cordon_run_settle_worktree(cordon_run *run)
{
    cordon_invocation *invocation = run->invocation;
    const cordon_guard_findings *findings = &run->receipt->findings;
    cordon_err failure = CORDON_ERR_INIT;

    if (!invocation->guard.writable || invocation->worktree.path == NULL)
        return;
    if (cordon_run_was_released(run)) {
        cordon_run_progress(run, "settle", "looking for what the step may have left in %s",
                            CORDON_QUOTE(invocation->worktree.path));
        if (settle(run, &failure) != 0)
            settle_tampered(run, failure.message);
        else if (findings->count > 0)
            settle_tampered(run, findings->items[0].path);
    }
    if (step_has_gone(run))
        cordon_guard_unmake(&invocation->guard);
}

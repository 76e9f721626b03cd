/* SPDX-License-Identifier: Apache-2.0 */
/* What a writing phase changed; see run.h and worktree_snapshot.h. */
#include "run.h"

#include <string.h>

#include "config.h"
#include "state_dir.h"

/* A look through the tree, and the reading of all that changed. */
#define COMPARE_MS 120000
/* A patch is held in memory until the caller has it. */
#define PATCH_MAX ((size_t)64 << 20)

int cordon_run_keep_copy(cordon_run *run, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    const cordon_limits_config *limits = &invocation->config->limits;

    run->receipt->diff_wanted = invocation->diff;
    if (!invocation->diff)
        return 0;
    cordon_run_progress(run, "copy", "keeping a copy of %s for the diff",
                        CORDON_QUOTE(invocation->worktree.path));
    cordon_autoclose int state = cordon_state_open(invocation->state_dir, err);
    if (state < 0)
        return -1;
    return cordon_snapshot_take(&invocation->worktree, state, limits->diff_bytes,
                                limits->worktree_entries, run->dl, &run->snapshot, err);
}

void cordon_run_compare_worktree(cordon_run *run)
{
    const cordon_invocation *invocation = run->invocation;
    cordon_receipt *receipt = run->receipt;

    if (!receipt->diff_wanted || run->link.state < CORDON_LINK_RELEASED)
        return;
    cordon_run_progress(run, "diff", "comparing %s with its copy",
                        CORDON_QUOTE(invocation->worktree.path));
    receipt->diff = cordon_buf_make(PATCH_MAX);
    if (cordon_snapshot_compare(&run->snapshot, &invocation->worktree,
                                cordon_deadline_in_ms(COMPARE_MS, -1), &receipt->diff,
                                &receipt->changes, &receipt->diff_failure) != 0)
        cordon_buf_clear(&receipt->diff);
}

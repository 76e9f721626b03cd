/* SPDX-License-Identifier: Apache-2.0 */
/* Before anything is created: what the engine can do, images, plan, first addresses; see run.h. */
#include "run.h"

#include <stdio.h>

#include "config.h"
#include "kit/random.h"

/* What the engine must be able to do; what it cannot, the operator must have accepted by name. */
static int prepare_engine(cordon_run *run, cordon_err *err)
{
    static const struct {
        unsigned bit;
        const char *fact;
    } needs[] = {
        {CORDON_CAN_LIMIT_MEMORY, "engine.limits.memory"},
        {CORDON_CAN_LIMIT_CPU, "engine.limits.cpu"},
        {CORDON_CAN_LIMIT_PIDS, "engine.limits.pids"},
    };
    const cordon_engine_facts *engine = &run->invocation->engine->facts;

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        if ((engine->can & needs[i].bit) != 0)
            continue;
        if (!run->invocation->config->allow_unenforced_limits)
            return cordon_refuse(
                &run->receipt->refusal, CORDON_REFUSED_ENGINE, needs[i].fact, "enforced",
                "not enforced by this engine here; allow_unenforced_limits = true accepts that",
                err);
        cordon_receipt_accept(run->receipt, needs[i].fact);
    }
    return 0;
}

static int prepare_images(cordon_run *run, bool load, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    const char *pin = cordon_run_pin(run);

    if (cordon_run_check_lock(run, err) != 0)
        return -1;
    if (pin == NULL && run->command->kind != CORDON_COMMAND_PROBE)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "no image is pinned for %s; `docker` (or `podman`) `image inspect -f "
                           "'{{.Id}}' NAME` prints the id: give it by --image, or as images.%s in "
                           "the configuration, or make and pin one by `cordon image`",
                           cordon_run_pin_name(run), cordon_run_pin_name(run));
    cordon_run_progress(run, "images", "checking the guard's and the pinned image");
    if (cordon_images_prepare(run->ops, run->impl, &invocation->engine->facts,
                              &(cordon_guard_program){cordon_guard_bytes, cordon_guard_size}, pin,
                              load, run->dl, &run->images, &run->receipt->refusal, err) != 0 ||
        cordon_run_check_locked_id(run, err) != 0)
        return -1;
    return 0;
}

int cordon_run_prepare_images(cordon_run *run, cordon_err *err)
{
    cordon_images_clear(&run->images);
    run->images = (cordon_images){0};
    return prepare_images(run, true, err);
}

/* Those of all steps, the first one's last: nothing is made when a later one's is missing. */
static int prepare_all_images(cordon_run *run, bool load, cordon_err *err)
{
    for (size_t left = run->command_count; left > 0; left--) {
        run->command = run->commands[left - 1];
        cordon_images_clear(&run->images);
        run->images = (cordon_images){0};
        if (prepare_images(run, load, err) != 0)
            return -1;
    }
    (void)snprintf(run->receipt->image_id, sizeof(run->receipt->image_id), "%s",
                   run->images.base_id[0] != '\0' ? run->images.base_id : run->images.guard_id);
    return 0;
}

/*
 * A first choice, so that a plan can be shown; the engine may have no room there. A plan that is
 * only shown begins with the range's first block, so that two of the same are the same.
 */
static int prepare_first_blocks(cordon_run *run, bool shown, cordon_err *err)
{
    const cordon_network_config *config = &run->invocation->config->network;
    cordon_range range;

    if (cordon_range_parse(config->range, config->prefix, &range, err) != 0)
        return -1;
    run->first_block = 0;
    if (!shown && cordon_random_bytes(&run->first_block, sizeof(run->first_block), err) != 0)
        return -1;
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        char subnet[CORDON_SUBNET_SIZE];

        cordon_range_block(&range, (run->first_block & ~UINT32_C(1)) + (uint32_t)role, subnet);
        if (cordon_plan_place(&run->plan, (cordon_role)role, subnet, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_run_prepare(cordon_run *run, bool load, cordon_err *err)
{
    if (prepare_engine(run, err) != 0 || prepare_all_images(run, load, err) != 0 ||
        cordon_run_keep_worktree(run, load, err) != 0)
        return -1;
    cordon_run_plan(run);
    return prepare_first_blocks(run, !load, err);
}

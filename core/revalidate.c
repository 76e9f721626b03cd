/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The final revalidation, see run.h: networks, proxy, step, events, worktree and the gate's
 * report against the plan, right before the release. The permit's structure is known to this file
 * alone.
 */
#include "run.h"

#include <string.h>

#include "changes.h"
#include "kit/httpc.h"
#include "parallel.h"
#include "witness.h"

/* REST has no compare-and-start: what was seen grows old, so a permit does not live long. */
#define PERMIT_LIFE_MS 5000

struct cordon_permit {
    char invocation[CORDON_OWNER_HEX + 1];
    char step[CORDON_ID_HEX + 1];
    uint8_t nonce[CORDON_GATE_NONCE_BYTES];
    cordon_deadline dl;
};

void cordon_permit_drop(cordon_permit **permit)
{
    if (*permit != NULL)
        explicit_bzero(*permit, sizeof(**permit));
    free(*permit);
    *permit = NULL;
}

static int permit_make(const cordon_run *run, cordon_permit **ret_permit, cordon_err *err)
{
    cordon_permit *permit = calloc(1, sizeof(*permit));

    if (permit == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    memcpy(permit->invocation, run->invocation->owner.invocation, sizeof(permit->invocation));
    memcpy(permit->step, run->made[CORDON_ROLE_STEP].id, sizeof(permit->step));
    memcpy(permit->nonce, run->view.nonce, sizeof(permit->nonce));
    permit->dl = cordon_deadline_clamp_ms(run->dl, PERMIT_LIFE_MS);
    *ret_permit = permit;
    return 0;
}

int cordon_permit_spend(cordon_permit **permit, const cordon_run *run, cordon_refusal *ret_refusal,
                        cordon_err *err)
{
    const cordon_permit *held = *permit;
    bool ours = held != NULL && strcmp(held->invocation, run->invocation->owner.invocation) == 0 &&
                strcmp(held->step, run->made[CORDON_ROLE_STEP].id) == 0 &&
                memcmp(held->nonce, run->view.nonce, sizeof(held->nonce)) == 0;
    bool late = held == NULL || cordon_deadline_passed(held->dl);

    cordon_permit_drop(permit);
    if (!ours)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_FOREIGN, "permit", "made for this release",
                             "another one's, or none", err);
    if (late)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_EXPIRED, "permit", "fresh", "expired",
                             err);
    return 0;
}

/* One branch of readings; each has its own refusal and tally. */
typedef struct check_branch {
    cordon_run *run;
    unsigned slot;
    cordon_role network;
    cordon_role container;
} check_branch;

static int check_network(check_branch *branch, const cordon_run_ids *ids, cordon_err *err)
{
    cordon_run *run = branch->run;
    cordon_auto(cordon_network_facts) expected = {0};
    cordon_auto(cordon_network_facts) actual = {0};

    if (cordon_expect_network(&run->plan, branch->network, ids, CORDON_ROUND_RUNNING, &expected,
                              err) != 0 ||
        run->ops->network_inspect(run->impl, run->made[branch->network].id, run->dl, &actual,
                                  err) != 0)
        return -1;
    return cordon_validate_network(cordon_role_name(branch->network), &expected, &actual,
                                   CORDON_ROUND_RUNNING, &run->tallies[branch->slot],
                                   &run->refusals[branch->slot], err);
}

static int check_container(check_branch *branch, const cordon_run_ids *ids, cordon_err *err)
{
    cordon_run *run = branch->run;
    const char *object = cordon_role_name(branch->container);
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_auto(cordon_container_facts) actual = {0};

    if (cordon_expect_container(&run->plan, branch->container, ids, CORDON_ROUND_RUNNING, &expected,
                                err) != 0 ||
        run->ops->container_inspect(run->impl, run->made[branch->container].id, run->dl, &actual,
                                    err) != 0 ||
        cordon_validate_container(object, &expected, &actual, CORDON_ROUND_RUNNING,
                                  &run->tallies[branch->slot], &run->refusals[branch->slot],
                                  err) != 0)
        return -1;
    return cordon_validate_unchanged(object, &run->created[branch->container], &actual,
                                     &run->tallies[branch->slot], &run->refusals[branch->slot],
                                     err);
}

/* An object that is gone under its id has been replaced or removed by somebody. */
static int check_missing(check_branch *branch, cordon_err *err)
{
    cordon_err cause = *err;

    if (cause.code != CORDON_ERR_NOTFOUND)
        return -1;
    cordon_err_clear(err);
    return cordon_refuse(&branch->run->refusals[branch->slot], CORDON_REFUSED_FOREIGN,
                         "engine.objects", "each object under the id it was made with",
                         cause.message, err);
}

static int check_place(check_branch *branch, const cordon_run_ids *ids, cordon_err *err)
{
    if (branch->network == CORDON_ROLE_SCRATCH)
        return cordon_run_look_scratch(branch->run, branch->slot, err);
    return cordon_run_has_networks(branch->run) ? check_network(branch, ids, err) : 0;
}

static int check_pair(void *context, cordon_err *err)
{
    check_branch *branch = context;
    cordon_run_ids ids = cordon_run_container_ids(branch->run);

    if (check_place(branch, &ids, err) != 0 || check_container(branch, &ids, err) != 0)
        return check_missing(branch, err);
    return 0;
}

int cordon_run_check_changes(cordon_run *run, cordon_role role, cordon_deadline dl,
                             cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_auto(cordon_changes) changes = {0};

    if (run->ops->container_changes(run->impl, run->made[role].id, dl, &changes, err) != 0)
        return -1;
    return cordon_changes_check(&run->plan, role, &changes, tally, ret_refusal, err);
}

/*
 * Where an event tells of an upload, the watch has judged it; elsewhere the files are asked for. An
 * engine may need longer for that than for all the rest, so it is not in line with it.
 */
static int check_changes(void *context, cordon_err *err)
{
    check_branch *branch = context;
    cordon_run *run = branch->run;

    if ((run->invocation->engine->facts.can & CORDON_CAN_TELL_UPLOADS) != 0)
        return 0;
    if (cordon_run_check_changes(run, branch->container, run->dl, &run->tallies[branch->slot],
                                 &run->refusals[branch->slot], err) != 0)
        return check_missing(branch, err);
    return 0;
}

int cordon_run_look(cordon_run *run, cordon_err *err)
{
    static const struct {
        cordon_role network;
        cordon_role container;
    } pairs[] = {
        {CORDON_ROLE_VENDOR_NETWORK, CORDON_ROLE_STEP},
        {CORDON_ROLE_EGRESS_NETWORK, CORDON_ROLE_PROXY},
        {CORDON_ROLE_SCRATCH, CORDON_ROLE_KEEPER},
    };
    /* Without a network there is no proxy, either; a keeper is there for several steps. */
    const bool there[] = {true, cordon_run_has_networks(run), cordon_run_is_shared(run)};
    check_branch parts[CORDON_RUN_BRANCHES];
    cordon_branch all[CORDON_RUN_BRANCHES];
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!there[i])
            continue;
        for (unsigned half = 0; half < 2; half++, count++) {
            parts[count] = (check_branch){run, count, pairs[i].network, pairs[i].container};
            all[count] = (cordon_branch){.run = half == 0 ? check_pair : check_changes,
                                         .context = &parts[count]};
        }
    }
    return cordon_parallel(all, count, err);
}

/*
 * SECURITY: between its report and the release the gate says nothing. Bytes that are there are not
 * the gate's, and a stream that has ended has no gate behind it.
 */
static int check_silence(cordon_run *run, cordon_err *err)
{
    char piece[64];
    size_t length = 0;
    cordon_stream_state state;

    if (cordon_stream_read(run->step_stream, piece, sizeof(piece), &length, &state, err) != 0)
        return -1;
    if (state == CORDON_STREAM_AGAIN)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate %s before it was released",
                       state == CORDON_STREAM_END ? "ended" : "spoke");
}

/*
 * A difference that somebody made is told by its event, too: that is its name then, the same on
 * every engine, whichever fact shows it first.
 */
static int check_looks(cordon_run *run, cordon_err *err)
{
    cordon_refusal change = {0};
    cordon_err told = CORDON_ERR_INIT;

    if (cordon_run_look(run, err) == 0)
        return 0;
    if (err->code == CORDON_ERR_REFUSED && cordon_watch_drain(&run->watch, &change, &told) != 0 &&
        told.code == CORDON_ERR_TAMPERED) {
        for (size_t i = 0; i < CORDON_RUN_BRANCHES; i++)
            run->refusals[i] = change;
        *err = told;
    }
    return -1;
}

/*
 * What the engine has told until now. Where its stream ended and was opened again - Podman cuts its
 * log - it must have told all of it once more, and everything is looked at again after that.
 */
static int check_events(cordon_run *run, cordon_err *err)
{
    for (;;) {
        run->watch.gap = false;
        if (cordon_watch_drain(&run->watch, &run->refusals[0], err) != 0)
            return -1;
        if (!run->watch.gap)
            return 0;
        if (cordon_watch_catch_up(&run->watch, &run->refusals[0], err) != 0 ||
            check_looks(run, err) != 0)
            return -1;
    }
}

int cordon_run_revalidate(cordon_run *run, cordon_permit **ret_permit, cordon_err *err)
{
    cordon_run_progress(run, "validate", "comparing plan, engine and kernel");
    /* The worktree before the gate's view of it: a folder that has changed is told by its path. */
    if (check_looks(run, err) != 0 || cordon_run_check_worktree(run, &run->refusals[0], err) != 0 ||
        cordon_run_check_identity(run, err) != 0 ||
        cordon_witness_check(&run->plan, &run->view, &run->tallies[0], &run->refusals[0], err) !=
            0 ||
        check_events(run, err) != 0 || check_silence(run, err) != 0 ||
        cordon_deadline_check(run->dl, "the final revalidation", err) != 0)
        return -1;
    return permit_make(run, ret_permit, err);
}

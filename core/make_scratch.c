/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scratch that the steps of one invocation share, and the keeper that holds it between them:
 * made before the first step, looked at with everything else. See run.h.
 */
#include "make.h"

#include <stdio.h>
#include <string.h>

static int scratch_create(cordon_run *run, cordon_err *err)
{
    const cordon_volume_spec *spec = &run->plan.scratch;
    int result;

    if (cordon_make_planned(run, CORDON_ROLE_SCRATCH, err) != 0)
        return -1;
    result = run->ops->volume_create(run->impl, spec, run->dl, err);
    /* Its name is its id, but only one that the engine has confirmed is ours. */
    return cordon_make_created(run, CORDON_ROLE_SCRATCH, result == 0 ? spec->name : NULL, result,
                               err);
}

static int scratch_check(cordon_run *run, cordon_err *err)
{
    cordon_auto(cordon_volume_facts) expected = {0};
    const cordon_run_ids none = {0};

    if (cordon_expect_volume(&run->plan, &none, NULL, &expected, err) != 0 ||
        run->ops->volume_inspect(run->impl, run->made[CORDON_ROLE_SCRATCH].id, run->dl,
                                 &run->scratch, err) != 0)
        return -1;
    return cordon_validate_volume(cordon_role_name(CORDON_ROLE_SCRATCH), &expected, &run->scratch,
                                  CORDON_ROUND_CREATED, &run->tallies[0], &run->refusals[0], err);
}

int cordon_run_make_scratch(cordon_run *run, cordon_err *err)
{
    if (!cordon_run_is_shared(run))
        return 0;
    cordon_run_progress(run, "create", "making what the steps share");
    if (scratch_create(run, err) != 0 || scratch_check(run, err) != 0 ||
        cordon_run_place_scratch(run, err) != 0)
        return -1;
    return cordon_make_start(run, CORDON_ROLE_KEEPER, 0, 0, &run->keeper_stream, err);
}

int cordon_run_place_scratch(cordon_run *run, cordon_err *err)
{
    if (run->scratch.place == NULL)
        return 0;
    return cordon_fact_text_set(&run->plan.scratch_place, run->scratch.place, err);
}

int cordon_run_look_scratch(cordon_run *run, unsigned slot, cordon_err *err)
{
    cordon_auto(cordon_volume_facts) expected = {0};
    cordon_auto(cordon_volume_facts) actual = {0};
    cordon_run_ids ids = cordon_run_container_ids(run);

    if (cordon_expect_volume(&run->plan, &ids, &run->scratch, &expected, err) != 0 ||
        run->ops->volume_inspect(run->impl, run->made[CORDON_ROLE_SCRATCH].id, run->dl, &actual,
                                 err) != 0)
        return -1;
    return cordon_validate_volume(cordon_role_name(CORDON_ROLE_SCRATCH), &expected, &actual,
                                  CORDON_ROUND_RUNNING, &run->tallies[slot], &run->refusals[slot],
                                  err);
}

/* The "folder" value of home and temp: "/tmp 0:126 1"; NULL when the gate told none. */
static const char *scratch_identity(const cordon_run *run)
{
    static const char place[] = CORDON_PLAN_TMP " ";
    const char *value;
    size_t at = 0;

    while ((value = cordon_gate_view_next(&run->view, "folder", &at)) != NULL) {
        if (strncmp(value, place, sizeof(place) - 1) == 0)
            return value;
    }
    return NULL;
}

int cordon_run_check_identity(cordon_run *run, cordon_err *err)
{
    const char *seen = cordon_run_is_shared(run) ? scratch_identity(run) : NULL;

    if (!cordon_run_is_shared(run))
        return 0;
    run->tallies[0].facts++;
    if (seen == NULL)
        return cordon_refuse(&run->refusals[0], CORDON_REFUSED_REPORT, "kernel.folder",
                             "what lies at " CORDON_PLAN_TMP, "not told", err);
    if (run->scratch_seen[0] == '\0') {
        (void)snprintf(run->scratch_seen, sizeof(run->scratch_seen), "%s", seen);
        return 0;
    }
    if (strcmp(run->scratch_seen, seen) == 0)
        return 0;
    return cordon_refuse(&run->refusals[0], CORDON_REFUSED_CHANGED, "kernel.folder",
                         run->scratch_seen, seen, err);
}

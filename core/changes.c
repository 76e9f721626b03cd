/* SPDX-License-Identifier: Apache-2.0 */
/* The changes that a plan brings about; see changes.h. */
#include "changes.h"

#include <stdio.h>
#include <string.h>

/*
 * What an engine mounts by itself where an image may have nothing, beside the plan's own mounts.
 * Seen alike on Docker 20.10 and 26.1, Podman 4.3 and 5.4, rootful and rootless. Docker makes its
 * mount points in a layer of their own, below the one that is compared, so it has no row. libpod
 * leaves /dev, /proc, /sys, /run, /run/.containerenv, /run/secrets and the three network files out
 * of its answer, each by its exact path; their folder is in it.
 * SECURITY: whatever lies at a mount point itself cannot be reached while the mount is there, and
 * the gate's report has every mount of the step by its real path.
 */
static const struct {
    cordon_engine_kind kind;
    const char *path;
    const char *why;
} engine_points[] = {
    {CORDON_ENGINE_PODMAN, "/etc/passwd", "its own, with a line for a user the image lacks"},
    {CORDON_ENGINE_PODMAN, "/etc/group", "the same for the group"},
    {CORDON_ENGINE_PODMAN, "/etc/hosts", "the container's own names"},
    {CORDON_ENGINE_PODMAN, "/etc/hostname", "the container's own name"},
    {CORDON_ENGINE_PODMAN, "/etc/resolv.conf", "name servers as planned"},
};

/* True if `path` is a folder above `point`. */
static bool is_above(const char *path, const char *point)
{
    size_t length = strlen(path);

    if (strcmp(path, "/") == 0)
        return true;
    return strncmp(path, point, length) == 0 && point[length] == '/';
}

static bool follows_from(const cordon_change *change, const char *point)
{
    bool above = is_above(change->path, point);

    switch (change->kind) {
    case CORDON_CHANGE_ADDED:
        return above || strcmp(change->path, point) == 0;
    case CORDON_CHANGE_MODIFIED:
        return above;
    case CORDON_CHANGE_DELETED:
    case CORDON_CHANGE_UNKNOWN:
    default:
        return false;
    }
}

static bool is_planned(const cordon_plan *plan, cordon_role role, const cordon_change *change)
{
    const cordon_container_spec *spec = cordon_plan_container(plan, role);

    for (size_t i = 0; i < spec->mount_count; i++) {
        if (follows_from(change, spec->mounts[i].target))
            return true;
    }
    for (size_t i = 0; i < sizeof(engine_points) / sizeof(engine_points[0]); i++) {
        if (engine_points[i].kind == plan->input.engine->kind &&
            follows_from(change, engine_points[i].path))
            return true;
    }
    return false;
}

static int refuse_change(cordon_role role, const char *path, const char *found,
                         cordon_refusal *ret_refusal, cordon_err *err)
{
    char fact[sizeof(ret_refusal->fact)];

    (void)snprintf(fact, sizeof(fact), "%s.changes[%s]", cordon_role_name(role), path);
    return cordon_refuse(ret_refusal, CORDON_REFUSED_CHANGED, fact,
                         "the image as it is, and mount points of the plan", found, err);
}

int cordon_changes_check(const cordon_plan *plan, cordon_role role, const cordon_changes *changes,
                         cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
{
    for (size_t i = 0; i < changes->count; i++) {
        const cordon_change *change = &changes->items[i];

        tally->facts++;
        if (!is_planned(plan, role, change))
            return refuse_change(role, change->path, cordon_change_kind_name(change->kind),
                                 ret_refusal, err);
    }
    if (changes->more)
        return refuse_change(role, "*", "more changes than any plan makes", ret_refusal, err);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What another client can do to the scratch of several steps; see changes.h. */
#include "changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Podman 4 hangs for good when it is told to remove with force what a run's end removes, too. */
bool remove_scratch(stage *s)
{
    char path[160];
    int status = 0;
    (void)snprintf(path, sizeof path, "/volumes/%s", s->p->ids[CORDON_ROLE_SCRATCH]);
    if (!rest_call("DELETE", path, NULL, &status, NULL))
        return false;
    s->refused = status / 100 != 2;
    return true;
}

bool replace_scratch(stage *s)
{
    return remove_scratch(s) && CHECK(!s->refused) &&
           rest_ok("POST", "/volumes/create", s->p->bodies[CORDON_ROLE_SCRATCH]);
}

bool join_scratch(stage *s)
{
    static const char *const words[] = {"/bin/sleep", "60"};
    char name[64];
    cordon_autofree char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const cordon_mount_spec mount = {.type = CORDON_MOUNT_VOLUME,
                                     .source = s->p->ids[CORDON_ROLE_SCRATCH],
                                     .target = "/stolen",
                                     .no_exec = true};
    stage_own_name(s, STAGE_FOREIGNER, name);
    const cordon_container_spec thief = {.name = name,
                                         .image_id = strchr(real.image, ':') + 1,
                                         .entrypoint = {words, 2},
                                         .user = "0:0",
                                         .working_dir = "/",
                                         .hostname = "thief",
                                         .userns = CORDON_USERNS_HOST,
                                         .mounts = &mount,
                                         .mount_count = 1,
                                         .limits = {.open_files = 64, .user_processes = 64}};
    s->refused = false;
    bool made =
        CHECK_OK(real.ops->container_create(real.impl, &thief, real_soon(), &id, &err), err);
    if (id)
        (void)snprintf(s->foreign_container, sizeof s->foreign_container, "%s", id);
    return made && CHECK_OK(real.ops->container_start(real.impl, id, real_soon(), &err), err);
}

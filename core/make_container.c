/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The create of one container, see make.h: asked for again where the engine does not know the
 * network yet that it has just made.
 */
#include "make.h"

#include <string.h>
#include <unistd.h>

/* How long an engine may take to know a network that it has made, and how often it is asked. */
#define MAKE_NETWORK_MS       3000
#define MAKE_NETWORK_RETRY_MS 100

static int make_container_once(cordon_run *run, cordon_role role, const cordon_container_spec *spec,
                               cordon_err *err)
{
    cordon_deadline dl = cordon_deadline_clamp_ms(run->dl, CORDON_MAKE_CREATE_MS);
    cordon_autofree char *id = NULL;
    int result;

    if (cordon_make_planned(run, role, err) != 0)
        return -1;
    result = run->ops->container_create(run->impl, spec, dl, &id, err);
    return cordon_make_created(run, role, id, result, err);
}

/* The engine says of a network that it has made, by the id that it gave it, that it is not there.
 */
static bool make_lacks_network(const cordon_container_spec *spec, const cordon_err *err)
{
    if (err->code != CORDON_ERR_NOTFOUND && err->code != CORDON_ERR_ENGINE)
        return false;
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        if (strstr(err->message, spec->endpoints[i].network_id) != NULL &&
            strstr(err->message, "not found") != NULL)
            return true;
    }
    return false;
}

/* Such an answer may be an engine's haste (case CS2): asked again for a while, by the same ids. */
int cordon_make_container(cordon_run *run, cordon_role role, cordon_err *err)
{
    const cordon_container_spec *spec = cordon_plan_container(&run->plan, role);
    cordon_deadline until = cordon_deadline_clamp_ms(run->dl, MAKE_NETWORK_MS);

    for (;;) {
        cordon_err failure = CORDON_ERR_INIT;

        if (make_container_once(run, role, spec, &failure) == 0)
            return 0;
        if (!make_lacks_network(spec, &failure) || cordon_deadline_passed(until)) {
            *err = failure;
            return -1;
        }
        (void)usleep(MAKE_NETWORK_RETRY_MS * 1000);
    }
}

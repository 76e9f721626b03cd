/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine does not show in its inspect, read from the configuration that its OCI runtime
 * got, between set-up and start; see run.h. Where that cannot be read the run is refused, unless
 * the operator accepted it by name (DESIGN.md, "What an engine does not show").
 */
#include "run.h"

#include <stdio.h>

#include "config.h"

/* An attach has set the container up on every libpod so far; where it has not, that is asked for.
 */
static int runtime_read(cordon_run *run, cordon_role role, cordon_runtime_facts *ret_facts,
                        cordon_err *err)
{
    const char *id = run->made[role].id;
    const char *place = run->created[role].runtime_config;

    if (place == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "the engine does not say where it is");
    if (run->ops->container_runtime(run->impl, id, place, run->dl, ret_facts, err) == 0)
        return 0;
    if (err->code != CORDON_ERR_NOTFOUND)
        return -1;
    cordon_err_clear(err);
    if (run->ops->container_prepare(run->impl, id, run->dl, err) != 0)
        return -1;
    return run->ops->container_runtime(run->impl, id, place, run->dl, ret_facts, err);
}

/*
 * Nobody can vouch then for a shared IPC namespace, further sysctls, hooks, rules for devices and,
 * of the proxy, for seccomp: the operator must have accepted that by name.
 */
static int runtime_unread(cordon_run *run, cordon_role role, unsigned slot, cordon_err *cause,
                          cordon_err *err)
{
    char fact[64];
    bool unreadable = cause->code == CORDON_ERR_UNSUPPORTED || cause->code == CORDON_ERR_NOTFOUND;

    if (!unreadable) {
        *err = *cause;
        return -1;
    }
    if (run->invocation->config->allow_unread_runtime) {
        run->unread[role] = *cause;
        return 0;
    }
    (void)snprintf(fact, sizeof(fact), "%s.runtime", cordon_role_name(role));
    return cordon_refuse(&run->refusals[slot], CORDON_REFUSED_UNKNOWN, fact,
                         "the configuration of the engine's runtime, to be read here "
                         "(allow_unread_runtime = true does without)",
                         cause->message, err);
}

int cordon_run_check_runtime(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
{
    char object[64];
    cordon_auto(cordon_runtime_facts) expected = {0};
    cordon_auto(cordon_runtime_facts) actual = {0};
    cordon_run_ids ids = {0}; /* no id stands in the configuration */
    cordon_err cause = CORDON_ERR_INIT;

    if ((run->invocation->engine->facts.can & CORDON_CAN_SHOW_RUNTIME) == 0)
        return 0;
    if (runtime_read(run, role, &actual, &cause) != 0)
        return runtime_unread(run, role, slot, &cause, err);
    if (cordon_expect_runtime(&run->plan, role, &ids, &expected, err) != 0)
        return -1;
    (void)snprintf(object, sizeof(object), "%s.runtime", cordon_role_name(role));
    return cordon_validate_runtime(object, &expected, &actual, &run->tallies[slot],
                                   &run->refusals[slot], err);
}

void cordon_run_tell_unread(const cordon_run *run)
{
    static const char *const facts[CORDON_ROLE_COUNT] = {
        [CORDON_ROLE_KEEPER] = "keeper.runtime",
        [CORDON_ROLE_PROXY] = "proxy.runtime",
        [CORDON_ROLE_STEP] = "step.runtime",
    };

    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        if (run->unread[role].code == CORDON_OK || facts[role] == NULL)
            continue;
        cordon_receipt_accept(run->receipt, facts[role]);
        cordon_run_progress(run, "runtime", "%s: not read, as allow_unread_runtime accepts: %s",
                            cordon_role_name((cordon_role)role), run->unread[role].message);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's own word, see run.h: its `ready` line names the policy that is in force and the locks
 * that it has put on itself, of which the engine knows nothing.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

static int check_text(cordon_refusal *refusal, const char *fact, const char *expected,
                      const char *actual, cordon_err *err)
{
    if (strcmp(expected, actual) == 0)
        return 0;
    return cordon_refuse(refusal, CORDON_REFUSED_PROXY, fact, expected, actual, err);
}

static int check_number(cordon_refusal *refusal, const char *fact, int64_t expected, int64_t actual,
                        cordon_err *err)
{
    char want[24];
    char got[24];

    (void)snprintf(want, sizeof(want), "%lld", (long long)expected);
    (void)snprintf(got, sizeof(got), "%lld", (long long)actual);
    return check_text(refusal, fact, want, got, err);
}

/* As for a step: a kernel that cannot hold it whole is refused, unless the operator accepts it. */
static int check_landlock(cordon_run *run, cordon_refusal *refusal, cordon_err *err)
{
    char want[80];
    char got[24];
    int64_t abi = run->receipt->egress.landlock;

    if (abi >= CORDON_PLAN_PROXY_LANDLOCK)
        return 0;
    if (run->plan.input.landlock_least == 0)
        return 0;
    (void)snprintf(want, sizeof(want), "Landlock ABI %d or later (allow_weak_landlock = true)",
                   CORDON_PLAN_PROXY_LANDLOCK);
    (void)snprintf(got, sizeof(got), "%lld", (long long)abi);
    return cordon_refuse(refusal, CORDON_REFUSED_PROXY, "proxy.landlock", want, got, err);
}

int cordon_run_check_proxy(cordon_run *run, cordon_refusal *ret_refusal, cordon_err *err)
{
    const cordon_egress *said = &run->receipt->egress;
    const struct {
        const char *fact;
        int64_t expected;
        int64_t actual;
    } locks[] = {
        {"proxy.seccomp", 1, said->seccomp},
        {"proxy.no_new_privs", 1, said->no_new_privs},
        {"proxy.dumpable", 0, said->dumpable},
        {"proxy.capabilities", 0, said->capabilities},
    };

    if (check_text(ret_refusal, "proxy.listen", run->plan.proxy_listen, said->listen, err) != 0 ||
        check_text(ret_refusal, "proxy.policy", run->plan.proxy_code, said->policy, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        if (check_number(ret_refusal, locks[i].fact, locks[i].expected, locks[i].actual, err) != 0)
            return -1;
    }
    return check_landlock(run, ret_refusal, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pinned hosts; see policy.h.
 */
#include <string.h>

#include "policy.h"

size_t cordon_policy_find(const cordon_policy *policy, const char *host, size_t length)
{
    for (size_t i = 0; i < policy->count; i++) {
        const cordon_policy_host *pinned = &policy->hosts[i];
        if (cordon_host_equal(pinned->name, pinned->name_length, host, length))
            return i;
    }
    return CORDON_POLICY_NONE;
}

static const char *entry_fault(const cordon_policy *policy, const char *entry, size_t length)
{
    cordon_reason reason = cordon_host_check(entry, length);
    if (reason == CORDON_REASON_IP_LITERAL)
        return "is an address; only host names can be pinned";
    if (reason == CORDON_REASON_FINAL_DOT)
        return "ends in a dot; write the name without it";
    if (reason != CORDON_REASON_NONE)
        return "is not a whole host name (no wildcard, blank or port)";
    if (cordon_policy_find(policy, entry, length) != CORDON_POLICY_NONE)
        return "is pinned already";
    return policy->count == CORDON_POLICY_HOSTS_MAX ? "is one host too many" : NULL;
}

int cordon_policy_allow(cordon_policy *policy, const char *entry, cordon_err *err)
{
    size_t length = strlen(entry);
    const char *fault = entry_fault(policy, entry, length);
    if (fault)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "host %zu, \"%s\": %s", policy->count + 1,
                           CORDON_QUOTE(entry), fault);
    cordon_policy_host *pinned = &policy->hosts[policy->count++];
    for (size_t i = 0; i < length; i++)
        pinned->name[i] = cordon_host_fold(entry[i]);
    pinned->name[length] = '\0';
    pinned->name_length = (uint8_t)length;
    return 0;
}

int cordon_policy_map(cordon_policy *policy, const char *entry, cordon_err *err)
{
    const char *equals = strchr(entry, '=');
    cordon_address address;
    if (!equals || !cordon_address_parse(equals + 1, 1, &address))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not HOST=ADDRESS:PORT",
                           CORDON_QUOTE(entry));
    if (!cordon_address_is_unicast(&address))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\": nothing can be dialled at that address",
                           CORDON_QUOTE(entry));
    size_t index = cordon_policy_find(policy, entry, (size_t)(equals - entry));
    if (index == CORDON_POLICY_NONE)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\": the host is not pinned",
                           CORDON_QUOTE(entry));
    if (policy->hosts[index].upstream.family != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\": the host is mapped already",
                           CORDON_QUOTE(entry));
    policy->hosts[index].upstream = address;
    return 0;
}

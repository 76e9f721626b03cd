/* SPDX-License-Identifier: Apache-2.0 */
/* The HostConfig of a container inspect, but its mounts and ports. */
#include "docker_decode_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FIELD DOCKER_CONTAINER_FIELD

static const cordon_factread_field host_fields[] = {
    FIELD("Privileged", BOOL, privileged, UNKNOWN),
    FIELD("ReadonlyRootfs", BOOL, read_only_root, UNKNOWN),
    FIELD("PublishAllPorts", BOOL, publish_all, UNKNOWN),
    FIELD("AutoRemove", BOOL, auto_remove, UNKNOWN),
    /* null is the daemon's default, which may be an init: unknown */
    FIELD("Init", BOOL, init, UNKNOWN),
    /* a pointer; nil is "not disabled", and what cgroup v2 makes of a false */
    FIELD("OomKillDisable", BOOL, oom_kill_disable, EMPTY),
    FIELD("Memory", INT, memory_bytes, UNKNOWN),
    FIELD("MemorySwap", INT, memory_swap_bytes, UNKNOWN),
    FIELD("NanoCpus", INT, nano_cpus, UNKNOWN),
    /* a pointer; nil is "no limit was asked for" */
    FIELD("PidsLimit", INT, pids, EMPTY),
    FIELD("ShmSize", INT, shm_bytes, UNKNOWN),
    FIELD("OomScoreAdj", INT, oom_score_adj, UNKNOWN),
    FIELD("Runtime", TEXT, runtime, UNKNOWN),
    FIELD("CgroupParent", TEXT, cgroup_parent, UNKNOWN),
    FIELD("Dns", LIST, dns_servers, EMPTY),
    FIELD("DnsSearch", LIST, dns_search, EMPTY),
    FIELD("DnsOptions", LIST, dns_options, EMPTY),
    FIELD("ExtraHosts", SET, extra_hosts, EMPTY),
    FIELD("Links", SET, links, EMPTY),
    FIELD("VolumesFrom", SET, volumes_from, EMPTY),
    FIELD("GroupAdd", SET, extra_groups, EMPTY),
    FIELD("Sysctls", MAP, sysctls, EMPTY),
    /*
     * SECURITY: on the way out null is not "the default list" but no protection at all (a
     * privileged container shows it), so it is the known empty list.
     */
    FIELD("MaskedPaths", SET, masked_paths, EMPTY),
    FIELD("ReadonlyPaths", SET, readonly_paths, EMPTY),
};

/* "CAP_NET_RAW" and "NET_RAW" are "net_raw". */
static int add_capability(cordon_fact_list *list, const char *name, cordon_err *err)
{
    char lower[64];
    const char *bare = strncasecmp(name, "cap_", 4) == 0 ? name + 4 : name;
    (void)snprintf(lower, sizeof lower, "%s", bare);
    for (char *c = lower; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return cordon_fact_list_add(list, lower, err);
}

static bool list_has(const cordon_fact_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0)
            return true;
    }
    return false;
}

/*
 * What the process may hold: Docker's default set (moby, oci/caps/defaults.go) unless all of it
 * was dropped, without what was dropped, and what was added. "all" stands for the kernel's set.
 */
static int resolve_capabilities(const cordon_fact_list *added, const cordon_fact_list *dropped,
                                cordon_fact_list *ret_list, cordon_err *err)
{
    static const char *const defaults[] = {
        "audit_write",      "chown",   "dac_override", "fowner", "fsetid",  "kill",   "mknod",
        "net_bind_service", "net_raw", "setfcap",      "setgid", "setpcap", "setuid", "sys_chroot",
    };
    size_t count = list_has(dropped, "all") ? 0 : DOCKER_COUNT(defaults);
    cordon_fact_list_known(ret_list);
    for (size_t i = 0; i < count; i++) {
        if (!list_has(dropped, defaults[i]) &&
            cordon_fact_list_add(ret_list, defaults[i], err) != 0)
            return -1;
    }
    for (size_t i = 0; i < added->count; i++) {
        if (!list_has(ret_list, added->items[i]) &&
            cordon_fact_list_add(ret_list, added->items[i], err) != 0)
            return -1;
    }
    cordon_fact_list_sort(ret_list);
    return 0;
}

static int read_capability_list(cordon_json host, const char *key, cordon_fact_list *ret_list,
                                cordon_err *err)
{
    cordon_auto(cordon_fact_list) names = {0};
    const cordon_factread_field field = {key, CORDON_READ_LIST, 0, CORDON_NULL_EMPTY};
    if (cordon_factread_fields(host, &field, 1, &names, err) != 0)
        return -1;
    if (names.known)
        cordon_fact_list_known(ret_list);
    for (size_t i = 0; i < names.count; i++) {
        if (add_capability(ret_list, names.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_capabilities(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_fact_list) added = {0};
    cordon_auto(cordon_fact_list) dropped = {0};
    if (read_capability_list(host, "CapAdd", &added, err) != 0 ||
        read_capability_list(host, "CapDrop", &dropped, err) != 0)
        return -1;
    if (!added.known || !dropped.known)
        return 0;
    if (facts->privileged == CORDON_FACT_YES)
        return cordon_fact_list_add(&facts->capabilities, "all", err);
    return resolve_capabilities(&added, &dropped, &facts->capabilities, err);
}

/* "no-new-privileges", with ":true" or "=true" or bare, is one fact, everything else the other. */
static int read_security_options(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    static const char *const on[] = {"no-new-privileges:true", "no-new-privileges=true",
                                     "no-new-privileges"};
    static const cordon_factread_field field = {"SecurityOpt", CORDON_READ_SET, 0,
                                                CORDON_NULL_EMPTY};
    cordon_auto(cordon_fact_list) options = {0};
    if (cordon_factread_fields(host, &field, 1, &options, err) != 0)
        return -1;
    if (!options.known)
        return 0;
    facts->no_new_privileges = CORDON_FACT_NO;
    cordon_fact_list_known(&facts->security_options);
    for (size_t i = 0; i < options.count; i++) {
        const char *option = options.items[i];
        bool is_nnp =
            strcmp(option, on[0]) == 0 || strcmp(option, on[1]) == 0 || strcmp(option, on[2]) == 0;
        if (is_nnp)
            facts->no_new_privileges = CORDON_FACT_YES;
        else if (cordon_fact_list_add(&facts->security_options, option, err) != 0)
            return -1;
    }
    return 0;
}

/*
 * A namespace mode. `empty` is what "" means; the modes of facts.h stay, anything else is
 * "other:...".
 */
typedef struct docker_mode {
    const char *key;
    size_t offset;
    const char *empty;
    const char *plain[4];
} docker_mode;

#define MODE(key, fact, empty, ...)                                                                \
    {                                                                                              \
        key, offsetof(cordon_container_facts, fact), empty,                                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const docker_mode modes[] = {
    MODE("PidMode", pid_mode, "private", "host"),
    MODE("IpcMode", ipc_mode, NULL, "private", "none", "shareable", "host"),
    MODE("UTSMode", uts_mode, "private", "host"),
    /*
     * "" is the daemon's own namespace, or the one of its userns-remap: "host" in the normal form.
     * The word "host" itself takes a container out of the remapping, which is never asked for.
     */
    MODE("UsernsMode", user_mode, "host", NULL),
    MODE("CgroupnsMode", cgroup_mode, NULL, "private", "host"),
    MODE("NetworkMode", network_mode, NULL, "none", "host"),
};

static const char *plain_mode(const docker_mode *mode, const char *text)
{
    if (text[0] == '\0')
        return mode->empty;
    for (size_t i = 0; i < DOCKER_COUNT(mode->plain) && mode->plain[i]; i++) {
        if (strcmp(text, mode->plain[i]) == 0)
            return mode->plain[i];
    }
    /* a user network is always asked for by its id */
    bool is_network = strcmp(mode->key, "NetworkMode") == 0 && docker_bare_id(text) == text;
    return is_network ? "network" : NULL;
}

static int read_mode(cordon_json host, const docker_mode *mode, void *facts, cordon_err *err)
{
    cordon_json_string text = {0};
    if (cordon_json_get_string(host, mode->key, &text, err) != 0)
        return -1;
    if (text.has != CORDON_JSON_PRESENT)
        return 0;
    cordon_fact_text *slot = (void *)((char *)facts + mode->offset);
    const char *normal = plain_mode(mode, text.text);
    char other[CORDON_QUOTE_MAX + 8];
    (void)snprintf(other, sizeof other, "other:%s", CORDON_QUOTE(text.text));
    return cordon_fact_text_set(slot, normal ? normal : other, err);
}

static int read_restart_policy(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    static const cordon_factread_field fields[] = {FIELD("Name", TEXT, restart_policy, UNKNOWN)};
    cordon_json_place policy = {0};
    if (cordon_json_get_object(host, "RestartPolicy", &policy, err) != 0)
        return -1;
    if (policy.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_fields(policy.value, fields, DOCKER_COUNT(fields), facts, err) != 0)
        return -1;
    /* "" is the default "no" in Docker's API documentation */
    if (facts->restart_policy && facts->restart_policy[0] == '\0')
        return cordon_fact_text_set(&facts->restart_policy, "no", err);
    return 0;
}

/*
 * SECURITY: there is no log, or it is bounded by exactly what the encoder asks for; a log driver
 * with other or no bounds has no normal form, so the host's disk is not the limit of what an agent
 * prints.
 */
static int read_log_config(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    static const cordon_factread_field fields[] = {FIELD("Type", TEXT, log_driver, UNKNOWN)};
    static const cordon_factread_field bounds_field = {"Config", CORDON_READ_MAP, 0,
                                                       CORDON_NULL_EMPTY};
    cordon_auto(cordon_fact_list) bounds = {0};
    cordon_json_place log = {0};
    if (cordon_json_get_object(host, "LogConfig", &log, err) != 0)
        return -1;
    if (log.has != CORDON_JSON_PRESENT)
        return cordon_factread_odd(host, "LogConfig", &facts->unmodelled, err);
    if (cordon_factread_fields(log.value, fields, DOCKER_COUNT(fields), facts, err) != 0 ||
        cordon_factread_fields(log.value, &bounds_field, 1, &bounds, err) != 0)
        return -1;
    if (facts->log_driver != NULL && strcmp(facts->log_driver, "none") == 0 && bounds.count == 0)
        return 0;
    if (bounds.count == 2 && strcmp(bounds.items[0], "max-file=1") == 0 &&
        strcmp(bounds.items[1], "max-size=1m") == 0)
        return 0;
    return cordon_factread_odd(log.value, "not bounded as asked", &facts->unmodelled, err);
}

/* [{"Name", "Soft", "Hard"}] as "name=soft:hard". */
static int read_ulimits(cordon_json host, cordon_fact_list *ulimits, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(host, "Ulimits", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return 0;
    cordon_fact_list_known(ulimits);
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        const char *name = NULL;
        int64_t soft = 0;
        int64_t hard = 0;
        if (cordon_json_need_string(it.value, "Name", &name, err) != 0 ||
            cordon_json_need_i64(it.value, "Soft", &soft, err) != 0 ||
            cordon_json_need_i64(it.value, "Hard", &hard, err) != 0 ||
            cordon_fact_list_addf(ulimits, err, "%s=%lld:%lld", name, (long long)soft,
                                  (long long)hard) != 0)
            return -1;
    }
    cordon_fact_list_sort(ulimits);
    return 0;
}

/*
 * DnsSearch ["."] is Docker's way to ask for none. SECURITY: nothing asked for is the host's own
 * list, which the daemon does not tell.
 */
static void settle_search(cordon_fact_list *search)
{
    bool asked = search->count > 0;
    if (search->count > 1 || (asked && strcmp(search->items[0], ".") != 0))
        return;
    cordon_fact_list_clear(search);
    if (asked)
        cordon_fact_list_known(search);
}

/*
 * SECURITY: every Docker tells these, and of a proxy nobody else could vouch for them: an answer
 * without one is not Docker's whole answer.
 */
static int check_told(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    static const char *const always[] = {"IpcMode", "Init", "MaskedPaths", "ReadonlyPaths"};
    for (size_t i = 0; i < DOCKER_COUNT(always); i++) {
        bool list = i >= 2; /* for those null is the empty list */
        cordon_json_place place = {0};
        char what[64];
        if (cordon_json_get_any(host, always[i], &place, err) != 0)
            return -1;
        if (place.has == CORDON_JSON_PRESENT || (list && place.has == CORDON_JSON_NULL))
            continue;
        (void)snprintf(what, sizeof what, "no %s", always[i]);
        if (cordon_factread_odd(host, what, &facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

int docker_read_host(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    if (cordon_factread_fields(host, host_fields, DOCKER_COUNT(host_fields), facts, err) != 0)
        return -1;
    /*
     * Go's omitempty: none asked for leaves the key out. A set that was asked for and is absent
     * is not the set that was asked for, so this hides nothing.
     */
    cordon_fact_list_known(&facts->sysctls);
    settle_search(&facts->dns_search);
    if (check_told(host, facts, err) != 0)
        return -1;
    if (facts->pids.known && facts->pids.value == -1)
        facts->pids.value = 0; /* both are "no limit" in Docker's API documentation */
    for (size_t i = 0; i < DOCKER_COUNT(modes); i++) {
        if (read_mode(host, &modes[i], facts, err) != 0)
            return -1;
    }
    if (read_capabilities(host, facts, err) != 0 || read_security_options(host, facts, err) != 0 ||
        read_restart_policy(host, facts, err) != 0 || read_log_config(host, facts, err) != 0)
        return -1;
    return read_ulimits(host, &facts->ulimits, err);
}

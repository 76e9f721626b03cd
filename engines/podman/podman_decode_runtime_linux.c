/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part "linux" of an OCI configuration -> facts: seccomp, namespaces, paths, resources. Source:
 * OCI runtime specification, config-linux.md.
 */
#include <stdio.h>
#include <string.h>

#include "podman_decode_internal.h"
#include "podman_internal.h"

#define AT(member)    offsetof(cordon_runtime_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

#define NS_PER_S INT64_C(1000000000)

/* --- seccomp --- */

static const struct {
    const char *action;
    const char *normal;
    bool denies;
} actions[] = {
    {"SCMP_ACT_ERRNO", "errno", true},      {"SCMP_ACT_KILL", "kill", true},
    {"SCMP_ACT_KILL_THREAD", "kill", true}, {"SCMP_ACT_KILL_PROCESS", "kill", true},
    {"SCMP_ACT_TRAP", "trap", true},        {"SCMP_ACT_ALLOW", "allow", false},
};

static bool is_action(const char *action)
{
    for (size_t i = 0; i < COUNT(actions); i++) {
        if (strcmp(actions[i].action, action) == 0)
            return true;
    }
    return false;
}

static bool denies(const char *action)
{
    for (size_t i = 0; i < COUNT(actions); i++) {
        if (strcmp(actions[i].action, action) == 0)
            return actions[i].denies;
    }
    return false;
}

static int set_default(podman_spec *spec, const char *action, cordon_err *err)
{
    char other[128];
    for (size_t i = 0; i < COUNT(actions); i++) {
        if (strcmp(actions[i].action, action) == 0)
            return cordon_fact_text_set(&spec->facts->seccomp_default, actions[i].normal, err);
    }
    (void)snprintf(other, sizeof other, "other:%s", CORDON_QUOTE(action));
    return cordon_fact_text_set(&spec->facts->seccomp_default, other, err);
}

/* Whatever does not stop a call lets it through: to the kernel, a log, or somebody else. */
static int read_rule(podman_spec *spec, cordon_json rule, cordon_err *err)
{
    cordon_auto(cordon_fact_list) names = {0};
    const char *action = NULL;
    cordon_json list = {0};
    if (cordon_json_need_string(rule, "action", &action, err) != 0 ||
        cordon_json_need_array(rule, "names", &list, err) != 0)
        return -1;
    if (!is_action(action) && cordon_factread_odd(rule, action, &spec->facts->unmodelled, err) != 0)
        return -1;
    cordon_json_consume_key(rule, "args");
    cordon_json_consume_key(rule, "errnoRet");
    return cordon_factread_texts(list, denies(action) ? &names : &spec->facts->seccomp_allowed,
                                 err);
}

static int read_rules(podman_spec *spec, cordon_json filter, cordon_err *err)
{
    cordon_json_place rules = {0};
    if (cordon_json_get_array(filter, "syscalls", &rules, err) != 0)
        return -1;
    cordon_fact_list_known(&spec->facts->seccomp_allowed);
    if (rules.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(rules.value); cordon_json_next(&it);) {
        if (read_rule(spec, it.value, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(&spec->facts->seccomp_allowed);
    podman_drop_repeats(&spec->facts->seccomp_allowed);
    return 0;
}

/* SECURITY: no filter is how "unconfined" is written. */
static int read_seccomp(podman_spec *spec, cordon_err *err)
{
    cordon_json_place filter = {0};
    const char *action = NULL;
    if (cordon_json_get_object(spec->os, "seccomp", &filter, err) != 0)
        return -1;
    if (filter.has != CORDON_JSON_PRESENT) {
        cordon_fact_list_known(&spec->facts->seccomp_allowed);
        return cordon_fact_text_set(&spec->facts->seccomp_default, "none", err);
    }
    if (cordon_json_need_string(filter.value, "defaultAction", &action, err) != 0 ||
        set_default(spec, action, err) != 0)
        return -1;
    /* which error, and for which tables of calls: both only say how a call is refused */
    cordon_json_consume_key(filter.value, "defaultErrnoRet");
    cordon_json_consume_key(filter.value, "architectures");
    return read_rules(spec, filter.value, err);
}

/* --- namespaces --- */

/* "/run/netns/netns-<hex and dashes>": made by Podman for the one container. */
static bool is_own_network(const char *type, const char *path)
{
    static const char head[] = "/netns/netns-";
    const char *found = strstr(path, head);
    return strcmp(type, "network") == 0 && path[0] == '/' && found != NULL &&
           strstr(path, "/../") == NULL &&
           strspn(found + sizeof head - 1, "0123456789abcdef-") == strlen(found + sizeof head - 1);
}

static int read_namespaces(podman_spec *spec, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_fact_list *spaces = &spec->facts->namespaces;
    if (cordon_json_get_array(spec->os, "namespaces", &place, err) != 0)
        return -1;
    cordon_fact_list_known(spaces);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *type = NULL;
        cordon_json_string path = {0};
        if (cordon_json_need_string(it.value, "type", &type, err) != 0 ||
            cordon_json_get_string(it.value, "path", &path, err) != 0)
            return -1;
        bool joined =
            path.has == CORDON_JSON_PRESENT && *path.text && !is_own_network(type, path.text);
        if (cordon_fact_list_addf(spaces, err, "%s%s%s", type, joined ? "=" : "",
                                  joined ? path.text : "") != 0)
            return -1;
    }
    cordon_fact_list_sort(spaces);
    return 0;
}

static int read_map(podman_spec *spec, const char *key, cordon_fact_list *map, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(spec->os, key, &place, err) != 0)
        return -1;
    cordon_fact_list_known(map);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        int64_t inside = 0;
        int64_t outside = 0;
        int64_t size = 0;
        if (cordon_json_need_i64(it.value, "containerID", &inside, err) != 0 ||
            cordon_json_need_i64(it.value, "hostID", &outside, err) != 0 ||
            cordon_json_need_i64(it.value, "size", &size, err) != 0 ||
            cordon_fact_list_addf(map, err, "%lld %lld %lld", (long long)inside, (long long)outside,
                                  (long long)size) != 0)
            return -1;
    }
    return 0;
}

/* --- devices --- */

/* "c 1:3", with * for what is not named. */
static int rule_text(cordon_json rule, char *ret_text, size_t size, cordon_err *err)
{
    cordon_json_string type = {0};
    cordon_json_i64 major = {0};
    cordon_json_i64 minor = {0};
    char numbers[2][24] = {"*", "*"};
    if (cordon_json_get_string(rule, "type", &type, err) != 0 ||
        cordon_json_get_i64(rule, "major", &major, err) != 0 ||
        cordon_json_get_i64(rule, "minor", &minor, err) != 0)
        return -1;
    if (major.has == CORDON_JSON_PRESENT && major.value >= 0)
        (void)snprintf(numbers[0], sizeof numbers[0], "%lld", (long long)major.value);
    if (minor.has == CORDON_JSON_PRESENT && minor.value >= 0)
        (void)snprintf(numbers[1], sizeof numbers[1], "%lld", (long long)minor.value);
    (void)snprintf(ret_text, size, "%s %s:%s",
                   type.has == CORDON_JSON_PRESENT && *type.text ? CORDON_QUOTE(type.text) : "a",
                   numbers[0], numbers[1]);
    return 0;
}

static int read_device_rules(podman_spec *spec, cordon_json resources, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_fact_list *rules = &spec->facts->device_rules;
    if (cordon_json_get_array(resources, "devices", &place, err) != 0)
        return -1;
    cordon_fact_list_known(rules);
    spec->facts->devices_denied = CORDON_FACT_NO;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        char which[192];
        bool allow = false;
        cordon_json_string access = {0};
        if (cordon_json_need_bool(it.value, "allow", &allow, err) != 0 ||
            cordon_json_get_string(it.value, "access", &access, err) != 0 ||
            rule_text(it.value, which, sizeof which, err) != 0 ||
            cordon_fact_list_addf(rules, err, "%s %s %s", allow ? "allow" : "deny", which,
                                  access.has == CORDON_JSON_PRESENT ? access.text : "") != 0)
            return -1;
    }
    if (rules->count > 0 && strcmp(rules->items[0], "deny a *:* rwm") == 0)
        spec->facts->devices_denied = CORDON_FACT_YES;
    return 0;
}

static int read_devices(podman_spec *spec, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(spec->os, "devices", &place, err) != 0)
        return -1;
    cordon_fact_list_known(&spec->facts->devices);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *path = NULL;
        if (cordon_json_need_string(it.value, "path", &path, err) != 0 ||
            cordon_fact_list_add(&spec->facts->devices, path, err) != 0)
            return -1;
        cordon_json_consume(it.value);
    }
    return 0;
}

/* --- limits: absent is none --- */

static int read_part(cordon_json resources, const char *key, const cordon_factread_field *fields,
                     size_t count, void *facts, cordon_err *err)
{
    cordon_json_place part = {0};
    if (cordon_json_get_object(resources, key, &part, err) != 0)
        return -1;
    return part.has == CORDON_JSON_PRESENT
               ? cordon_factread_fields(part.value, fields, count, facts, err)
               : 0;
}

typedef struct cpu_share {
    cordon_fact_int quota;
    cordon_fact_int period;
} cpu_share;

static int read_cpus(podman_spec *spec, cordon_json resources, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"quota", CORDON_READ_INT, offsetof(cpu_share, quota), CORDON_NULL_EMPTY},
        {"period", CORDON_READ_INT, offsetof(cpu_share, period), CORDON_NULL_EMPTY},
    };
    cpu_share cpu = {0};
    cordon_fact_int *fact = &spec->facts->nano_cpus;
    if (read_part(resources, "cpu", FIELDS(fields), &cpu, err) != 0)
        return -1;
    fact->known = true;
    fact->value = 0;
    if (cpu.quota.value == 0 && cpu.period.value == 0)
        return 0;
    if (cpu.quota.value > 0 && cpu.quota.value <= INT64_MAX / NS_PER_S && cpu.period.value > 0)
        fact->value = cpu.quota.value * NS_PER_S / cpu.period.value;
    else
        return cordon_factread_odd(resources, "cpu: no share", &spec->facts->unmodelled, err);
    return 0;
}

static int read_limits(podman_spec *spec, cordon_json resources, cordon_err *err)
{
    static const cordon_factread_field memory[] = {
        {"limit", CORDON_READ_INT, AT(memory_bytes), CORDON_NULL_EMPTY},
        {"swap", CORDON_READ_INT, AT(memory_swap_bytes), CORDON_NULL_EMPTY},
    };
    static const cordon_factread_field pids[] = {
        {"limit", CORDON_READ_INT, AT(pids), CORDON_NULL_EMPTY},
    };
    cordon_runtime_facts *facts = spec->facts;
    if (read_part(resources, "memory", FIELDS(memory), facts, err) != 0 ||
        read_part(resources, "pids", FIELDS(pids), facts, err) != 0)
        return -1;
    facts->memory_bytes.known = true;
    facts->memory_swap_bytes.known = true;
    facts->pids.known = true;
    return read_cpus(spec, resources, err);
}

static int read_resources(podman_spec *spec, cordon_err *err)
{
    cordon_json resources = {0};
    if (cordon_json_need_object(spec->os, "resources", &resources, err) != 0 ||
        read_device_rules(spec, resources, err) != 0)
        return -1;
    return read_limits(spec, resources, err);
}

/* --- the whole --- */

static const cordon_factread_field fields_of_linux[] = {
    {"sysctl", CORDON_READ_MAP, AT(sysctls), CORDON_NULL_EMPTY},
    {"maskedPaths", CORDON_READ_SET, AT(masked_paths), CORDON_NULL_EMPTY},
    {"readonlyPaths", CORDON_READ_SET, AT(readonly_paths), CORDON_NULL_EMPTY},
    {"rootfsPropagation", CORDON_READ_TEXT, AT(root_propagation), CORDON_NULL_EMPTY},
};

int podman_spec_read_linux(podman_spec *spec, cordon_err *err)
{
    cordon_runtime_facts *facts = spec->facts;
    if (cordon_factread_fields(spec->os, FIELDS(fields_of_linux), facts, err) != 0 ||
        read_seccomp(spec, err) != 0 || read_namespaces(spec, err) != 0 ||
        read_map(spec, "uidMappings", &facts->uid_map, err) != 0 ||
        read_map(spec, "gidMappings", &facts->gid_map, err) != 0 || read_devices(spec, err) != 0 ||
        read_resources(spec, err) != 0)
        return -1;
    cordon_fact_list_known(&facts->sysctls);
    cordon_fact_list_known(&facts->masked_paths);
    cordon_fact_list_known(&facts->readonly_paths);
    return facts->root_propagation ? 0 : cordon_fact_text_set(&facts->root_propagation, "", err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of libpod's container inspect that says how a container is confined: privileges,
 * namespaces, limits, devices, life cycle.
 */
#include "podman_decode_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kit/num.h"
#include "podman_internal.h"

#define AT(member)    offsetof(cordon_container_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

#define NS_PER_S INT64_C(1000000000)

/* --- privileges --- */

/* "CAP_NET_RAW" and "RLIMIT_NOFILE" as "net_raw" and "nofile". */
int podman_add_lower(cordon_fact_list *list, const char *prefix, const char *name, const char *rest,
                     cordon_err *err)
{
    size_t length = strlen(prefix);
    cordon_autofree char *lower = strdup(strncmp(name, prefix, length) == 0 ? name + length : name);
    if (!lower)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return cordon_fact_list_addf(list, err, "%s%s", lower, rest);
}

/* null is "none": both sets are written so when everything was dropped. */
static int add_capabilities(podman_decoding *d, const char *key, bool *ret_told, cordon_err *err)
{
    cordon_json_place set = {0};
    cordon_auto(cordon_fact_list) names = {0};
    if (cordon_json_get_array(d->section[PODMAN_ROOT], key, &set, err) != 0)
        return -1;
    *ret_told = *ret_told && set.has != CORDON_JSON_ABSENT;
    if (set.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_texts(set.value, &names, err) != 0)
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        if (podman_add_lower(&d->facts->capabilities, "CAP_", names.items[i], "", err) != 0)
            return -1;
    }
    return 0;
}

void podman_drop_repeats(cordon_fact_list *sorted)
{
    size_t kept = 0;
    for (size_t i = 0; i < sorted->count; i++) {
        if (kept > 0 && strcmp(sorted->items[kept - 1], sorted->items[i]) == 0)
            free(sorted->items[i]);
        else
            sorted->items[kept++] = sorted->items[i];
    }
    sorted->count = kept;
}

static int decode_capabilities(podman_decoding *d, cordon_err *err)
{
    bool told = true;
    cordon_fact_list *all = &d->facts->capabilities;
    if (add_capabilities(d, "EffectiveCaps", &told, err) != 0 ||
        add_capabilities(d, "BoundingCaps", &told, err) != 0)
        return -1;
    cordon_fact_list_sort(all);
    podman_drop_repeats(all);
    all->known = told;
    return 0;
}

static int decode_security_options(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_auto(cordon_fact_list) options = {0};
    cordon_container_facts *facts = d->facts;
    if (cordon_json_get_array(d->section[PODMAN_HOST], "SecurityOpt", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return 0;
    if (place.has == CORDON_JSON_PRESENT && cordon_factread_texts(place.value, &options, err) != 0)
        return -1;
    facts->no_new_privileges = CORDON_FACT_NO;
    cordon_fact_list_known(&facts->security_options);
    for (size_t i = 0; i < options.count; i++) {
        if (strcmp(options.items[i], "no-new-privileges") == 0)
            facts->no_new_privileges = CORDON_FACT_YES;
        else if (cordon_fact_list_add(&facts->security_options, options.items[i], err) != 0)
            return -1;
    }
    return 0;
}

/* The part of an SELinux context after "user:role:type:". */
static const char *level_of(const char *context)
{
    for (int colons = 0; colons < 3; colons++) {
        const char *colon = strchr(context, ':');
        if (!colon)
            return "";
        context = colon + 1;
    }
    return context;
}

static int decode_selinux(podman_decoding *d, cordon_err *err)
{
    cordon_json_string process = {0};
    cordon_json_string mount = {0};
    cordon_auto(cordon_buf) both = cordon_buf_make(PODMAN_ANSWER_MAX);
    cordon_json root = d->section[PODMAN_ROOT];
    if (cordon_json_get_string(root, "ProcessLabel", &process, err) != 0 ||
        cordon_json_get_string(root, "MountLabel", &mount, err) != 0)
        return -1;
    if (process.has != CORDON_JSON_PRESENT || mount.has != CORDON_JSON_PRESENT)
        return 0;
    if (strcmp(level_of(process.text), level_of(mount.text)) == 0)
        return cordon_fact_text_set(&d->facts->selinux_label, process.text, err);
    if (cordon_buf_printf(&both, err, "%s %s", process.text, mount.text) != 0)
        return -1;
    return cordon_fact_text_set(&d->facts->selinux_label, cordon_buf_text(&both), err);
}

/* --- namespaces --- */

static int set_other(cordon_fact_text *slot, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(PODMAN_ANSWER_MAX);
    if (cordon_buf_printf(&text, err, "other:%s", *slot) != 0)
        return -1;
    return cordon_fact_text_set(slot, cordon_buf_text(&text), err);
}

static int normal_mode(cordon_fact_text *slot, cordon_err *err)
{
    static const char *const words[] = {"private", "host", "none", "shareable"};
    for (size_t i = 0; *slot && i < COUNT(words); i++) {
        if (strcmp(*slot, words[i]) == 0)
            return 0;
    }
    return *slot ? set_other(slot, err) : 0;
}

static int decode_modes(podman_decoding *d, cordon_err *err)
{
    cordon_container_facts *facts = d->facts;
    /* Podman 4 says "shareable" for a private namespace and for the host's alike */
    if (d->major < 5 && facts->ipc_mode && strcmp(facts->ipc_mode, "shareable") == 0) {
        free(facts->ipc_mode);
        facts->ipc_mode = NULL;
    }
    if (facts->network_mode && strcmp(facts->network_mode, "bridge") == 0)
        return cordon_fact_text_set(&facts->network_mode, "network", err);
    return normal_mode(&facts->network_mode, err);
}

static int decode_simple_modes(podman_decoding *d, cordon_err *err)
{
    cordon_container_facts *facts = d->facts;
    if (normal_mode(&facts->pid_mode, err) != 0 || normal_mode(&facts->ipc_mode, err) != 0 ||
        normal_mode(&facts->uts_mode, err) != 0)
        return -1;
    return normal_mode(&facts->cgroup_mode, err);
}

/* True for "<from>:<to>:<some count>". */
static bool maps(const char *item, int64_t from, int64_t to)
{
    char head[64];
    int64_t size = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    int length = snprintf(head, sizeof head, "%lld:%lld:", (long long)from, (long long)to);
    return strncmp(item, head, (size_t)length) == 0 &&
           cordon_num_i64(item + length, strlen(item + length), 1, INT64_MAX, &size, &scratch) == 0;
}

/*
 * keep-id maps the caller's own id (0 inside the user's namespace) to itself, and the others
 * around it: "0:1:N", "N:0:1" and, if there are more, "N+1:N+1:rest".
 */
static bool keeps_id(const cordon_fact_list *map, int64_t id)
{
    if (map->count < 2 || map->count > 3 || !maps(map->items[0], 0, 1) ||
        !maps(map->items[1], id, 0))
        return false;
    const char *size = strrchr(map->items[1], ':');
    return strcmp(size, ":1") == 0 && (map->count == 2 || maps(map->items[2], id + 1, id + 1));
}

/* "1000:1000" as numbers. */
static bool user_ids(const char *user, int64_t *ret_uid, int64_t *ret_gid)
{
    cordon_err scratch = CORDON_ERR_INIT;
    const char *colon = user ? strchr(user, ':') : NULL;
    return colon &&
           cordon_num_i64(user, (size_t)(colon - user), 1, UINT32_MAX, ret_uid, &scratch) == 0 &&
           cordon_num_i64(colon + 1, strlen(colon + 1), 1, UINT32_MAX, ret_gid, &scratch) == 0;
}

typedef struct id_maps {
    cordon_fact_list uids;
    cordon_fact_list gids;
} id_maps;

static void id_maps_clear(id_maps *m)
{
    cordon_fact_list_clear(&m->uids);
    cordon_fact_list_clear(&m->gids);
}

static int decode_user_mode(podman_decoding *d, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"UidMap", CORDON_READ_LIST, offsetof(id_maps, uids), CORDON_NULL_EMPTY},
        {"GidMap", CORDON_READ_LIST, offsetof(id_maps, gids), CORDON_NULL_EMPTY},
    };
    cordon_cleanup(id_maps_clear) id_maps found = {0};
    cordon_json_place place = {0};
    cordon_fact_text *mode = &d->facts->user_mode;
    int64_t uid = 0;
    int64_t gid = 0;
    if (cordon_json_get_object(d->section[PODMAN_HOST], "IDMappings", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_PRESENT &&
        cordon_factread_fields(place.value, FIELDS(fields), &found, err) != 0)
        return -1;
    if (!*mode)
        return 0;
    /* "" is none of its own: the host's for rootful, the user's for rootless Podman */
    if (**mode == '\0' && found.uids.count + found.gids.count == 0)
        return cordon_fact_text_set(mode, "host", err);
    if (strcmp(*mode, "private") == 0 && user_ids(d->facts->user, &uid, &gid) &&
        keeps_id(&found.uids, uid) && keeps_id(&found.gids, gid))
        return cordon_fact_text_set(mode, "keep-id", err);
    return set_other(mode, err);
}

/* --- limits --- */

static int decode_ulimits(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_fact_list *ulimits = &d->facts->ulimits;
    if (cordon_json_get_array(d->section[PODMAN_HOST], "Ulimits", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_ABSENT)
        cordon_fact_list_known(ulimits);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *name = NULL;
        char values[64];
        int64_t soft = 0;
        int64_t hard = 0;
        if (cordon_json_need_string(it.value, "Name", &name, err) != 0 ||
            cordon_json_need_i64(it.value, "Soft", &soft, err) != 0 ||
            cordon_json_need_i64(it.value, "Hard", &hard, err) != 0)
            return -1;
        (void)snprintf(values, sizeof values, "=%lld:%lld", (long long)soft, (long long)hard);
        if (podman_add_lower(ulimits, "RLIMIT_", name, values, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(ulimits);
    return 0;
}

/*
 * CPUs by quota and period; NanoCpus is Podman's rounding of the same.
 * @return false when the three do not say one thing
 */
static bool cpus_of(int64_t quota, int64_t period, int64_t rounded, int64_t *ret_nano)
{
    if (quota == 0 && rounded == 0) {
        *ret_nano = 0;
        return true;
    }
    if (quota <= 0 || period <= 0 || quota > INT64_MAX / NS_PER_S)
        return false;
    *ret_nano = quota * NS_PER_S / period;
    return rounded >= *ret_nano - 1 && rounded <= *ret_nano + 1;
}

static int decode_cpus(podman_decoding *d, cordon_err *err)
{
    cordon_json_i64 quota = {0};
    cordon_json_i64 period = {0};
    cordon_json_i64 rounded = {0};
    cordon_json host = d->section[PODMAN_HOST];
    cordon_fact_int *fact = &d->facts->nano_cpus;
    if (cordon_json_get_i64(host, "CpuQuota", &quota, err) != 0 ||
        cordon_json_get_i64(host, "CpuPeriod", &period, err) != 0 ||
        cordon_json_get_i64(host, "NanoCpus", &rounded, err) != 0)
        return -1;
    if (quota.has != CORDON_JSON_PRESENT || period.has != CORDON_JSON_PRESENT ||
        rounded.has != CORDON_JSON_PRESENT)
        return 0;
    fact->known = cpus_of(quota.value, period.value, rounded.value, &fact->value);
    return fact->known
               ? 0
               : podman_odd(d, "$.HostConfig.NanoCpus", "not what quota and period say", err);
}

/* -1 is the kernel's default; 0 is what is written when there is no memory limit. */
static int decode_swappiness(podman_decoding *d, cordon_err *err)
{
    cordon_json_i64 value = {0};
    if (cordon_json_get_i64(d->section[PODMAN_HOST], "MemorySwappiness", &value, err) != 0)
        return -1;
    if (value.has != CORDON_JSON_PRESENT || value.value == -1 || value.value == 0)
        return 0;
    return podman_odd(d, "$.HostConfig.MemorySwappiness", "not the kernel's default", err);
}

/* --- life cycle and devices --- */

static int decode_restart(podman_decoding *d, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Name", CORDON_READ_TEXT, AT(restart_policy), CORDON_NULL_UNKNOWN},
    };
    cordon_json_place place = {0};
    cordon_fact_text *policy = &d->facts->restart_policy;
    if (cordon_json_get_object(d->section[PODMAN_HOST], "RestartPolicy", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_fields(place.value, FIELDS(fields), d->facts, err) != 0)
        return -1;
    /* libpod/define/container.go: RestartPolicyNone "" and RestartPolicyNo "no" are the same */
    return *policy && **policy == '\0' ? cordon_fact_text_set(policy, "no", err) : 0;
}

/* SECURITY: with a path of somebody's choosing, output would be written to any file of the host. */
static int check_log_path(podman_decoding *d, const char *path, cordon_err *err)
{
    size_t length = strlen(d->static_dir);
    if (length > 0 && strncmp(path, d->static_dir, length) == 0 &&
        strcmp(path + length, "/ctr.log") == 0)
        return 0;
    return podman_odd(d, "$.HostConfig.LogConfig.Path", path, err);
}

static int decode_log(podman_decoding *d, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Type", CORDON_READ_TEXT, AT(log_driver), CORDON_NULL_UNKNOWN},
    };
    cordon_json_place place = {0};
    cordon_json_string path = {0};
    cordon_json_string size = {0};
    if (cordon_json_get_object(d->section[PODMAN_HOST], "LogConfig", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_fields(place.value, FIELDS(fields), d->facts, err) != 0 ||
        cordon_json_get_string(place.value, "Path", &path, err) != 0 ||
        cordon_json_get_string(place.value, "Size", &size, err) != 0)
        return -1;
    if (path.has == CORDON_JSON_PRESENT && *path.text && check_log_path(d, path.text, err) != 0)
        return -1;
    if (d->facts->log_driver != NULL && strcmp(d->facts->log_driver, "none") == 0 &&
        (path.has != CORDON_JSON_PRESENT || *path.text == '\0'))
        return 0;
    /* 1 MiB, as Podman writes it; "0B" is a log without a bound */
    if (size.has == CORDON_JSON_PRESENT && strcmp(size.text, "1.049MB") == 0)
        return 0;
    return podman_odd(d, "$.HostConfig.LogConfig.Size",
                      size.has == CORDON_JSON_PRESENT ? size.text : "(not told)", err);
}

/* Rootless Podman lists none, whatever is there: those are bind mounts. */
static int decode_devices(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(d->section[PODMAN_HOST], "Devices", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_ABSENT)
        cordon_fact_list_known(&d->facts->devices);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *host = NULL;
        const char *inside = NULL;
        const char *rights = NULL;
        if (cordon_json_need_string(it.value, "PathOnHost", &host, err) != 0 ||
            cordon_json_need_string(it.value, "PathInContainer", &inside, err) != 0 ||
            cordon_json_need_string(it.value, "CgroupPermissions", &rights, err) != 0 ||
            cordon_fact_list_addf(&d->facts->devices, err, "%s:%s:%s", host, inside, rights) != 0)
            return -1;
    }
    return 0;
}

int podman_read_host(podman_decoding *d, cordon_err *err)
{
    static int (*const steps[])(podman_decoding *, cordon_err *) = {
        decode_capabilities, decode_security_options, decode_selinux, decode_modes,
        decode_simple_modes, decode_user_mode,        decode_ulimits, decode_cpus,
        decode_swappiness,   decode_restart,          decode_log,     decode_devices,
    };
    for (size_t i = 0; i < COUNT(steps); i++) {
        if (steps[i](d, err) != 0)
            return -1;
    }
    return 0;
}

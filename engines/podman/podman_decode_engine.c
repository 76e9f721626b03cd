/* SPDX-License-Identifier: Apache-2.0 */
/* What Podman says of itself and its host, and its lists of containers and networks. */
#include "podman_decode_internal.h"

#include <stdio.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/num.h"
#include "podman_internal.h"

#define AT(member)    offsetof(cordon_engine_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

int podman_read_id(cordon_json at, const char *key, const char **ret_id, cordon_err *err)
{
    const char *text = NULL;
    if (cordon_json_need_string(at, key, &text, err) != 0)
        return -1;
    *ret_id = podman_bare_id(text);
    if (strlen(*ret_id) == CORDON_ID_HEX && cordon_hex_is_lower(*ret_id, CORDON_ID_HEX))
        return 0;
    return cordon_json_fail(at, err, "\"%s\" is no id: \"%s\"", key, CORDON_QUOTE(text));
}

/* --- info --- */

/* Where containers/common finds the profile that it ships; "" is the one compiled in. */
#define SECCOMP_PROFILE "/usr/share/containers/seccomp.json"

static const cordon_factread_field host_fields[] = {
    {"os", CORDON_READ_TEXT, AT(os), CORDON_NULL_UNKNOWN},
    {"arch", CORDON_READ_TEXT, AT(architecture), CORDON_NULL_UNKNOWN},
};

typedef struct info {
    cordon_json host;
    cordon_json security;
    cordon_engine_facts *facts;
} info;

static int read_cgroups(info *in, cordon_err *err)
{
    static const struct {
        const char *word;
        unsigned bit;
    } controllers[] = {
        {"memory", CORDON_CAN_LIMIT_MEMORY},
        {"cpu", CORDON_CAN_LIMIT_CPU},
        {"pids", CORDON_CAN_LIMIT_PIDS},
    };
    const char *version = NULL;
    cordon_json_place place = {0};
    cordon_auto(cordon_fact_list) words = {0};
    if (cordon_json_need_string(in->host, "cgroupVersion", &version, err) != 0 ||
        cordon_json_get_array(in->host, "cgroupControllers", &place, err) != 0)
        return -1;
    if (strcmp(version, "v1") == 0 || strcmp(version, "v2") == 0)
        in->facts->cgroup_version = (cordon_fact_int){.known = true, .value = version[1] - '0'};
    if (place.has == CORDON_JSON_PRESENT && cordon_factread_texts(place.value, &words, err) != 0)
        return -1;
    /* Podman puts a rootless container into no cgroup of its own on v1, whatever is listed */
    if (in->facts->rootless != CORDON_FACT_NO && strcmp(version, "v2") != 0)
        return 0;
    for (size_t i = 0; i < words.count; i++) {
        for (size_t k = 0; k < COUNT(controllers); k++) {
            if (strcmp(words.items[i], controllers[k].word) == 0)
                in->facts->can |= controllers[k].bit;
        }
    }
    return 0;
}

/* SECURITY: absent is "not enabled", and no seccomp is refused. */
static int read_seccomp(info *in, cordon_err *err)
{
    cordon_json_bool enabled = {0};
    cordon_json_string profile = {0};
    if (cordon_json_get_bool(in->security, "seccompEnabled", &enabled, err) != 0 ||
        cordon_json_get_string(in->security, "seccompProfilePath", &profile, err) != 0)
        return -1;
    if (enabled.has != CORDON_JSON_PRESENT || !enabled.value)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Podman runs without seccomp: use a kernel and a build that have "
                           "it");
    if (profile.has != CORDON_JSON_PRESENT)
        return 0;
    if (*profile.text == '\0' || strcmp(profile.text, SECCOMP_PROFILE) == 0)
        in->facts->can |= CORDON_CAN_DEFAULT_SECCOMP;
    return cordon_fact_list_addf(&in->facts->security, err, "seccomp=%s",
                                 CORDON_QUOTE(profile.text));
}

static int read_security(info *in, cordon_err *err)
{
    static const struct {
        const char *key;
        const char *word;
    } modules[] = {
        {"apparmorEnabled", "apparmor"},
        {"selinuxEnabled", "selinux"},
        {"rootless", "rootless"},
    };
    cordon_fact_list_known(&in->facts->security);
    for (size_t i = 0; i < COUNT(modules); i++) {
        cordon_json_bool on = {0};
        if (cordon_json_get_bool(in->security, modules[i].key, &on, err) != 0)
            return -1;
        if (on.has == CORDON_JSON_PRESENT && on.value &&
            cordon_fact_list_add(&in->facts->security, modules[i].word, err) != 0)
            return -1;
    }
    return read_seccomp(in, err);
}

static int read_rootless(info *in, cordon_err *err)
{
    bool rootless = false;
    if (cordon_json_need_bool(in->security, "rootless", &rootless, err) != 0)
        return -1;
    in->facts->rootless = rootless ? CORDON_FACT_YES : CORDON_FACT_NO;
    if (rootless)
        in->facts->can |= CORDON_CAN_KEEP_ID;
    return 0;
}

/* CNI keeps no network ids of its own and knows no isolation. */
static int check_backend(const info *in, cordon_err *err)
{
    const char *backend = NULL;
    if (cordon_json_need_string(in->host, "networkBackend", &backend, err) != 0)
        return -1;
    if (strcmp(backend, "netavark") == 0)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                       "Podman's network backend is \"%s\": Cordon needs netavark "
                       "(network_backend in containers.conf)",
                       CORDON_QUOTE(backend));
}

static int read_names(info *in, cordon_json root, cordon_err *err)
{
    const char *runtime = NULL;
    const char *driver = NULL;
    cordon_json_string folder = {0};
    cordon_json object;
    if (cordon_factread_fields(in->host, FIELDS(host_fields), in->facts, err) != 0 ||
        cordon_json_need_object(in->host, "ociRuntime", &object, err) != 0 ||
        cordon_json_need_string(object, "name", &runtime, err) != 0 ||
        cordon_json_need_object(root, "store", &object, err) != 0 ||
        cordon_json_need_string(object, "graphDriverName", &driver, err) != 0 ||
        cordon_json_get_string(object, "graphRoot", &folder, err) != 0 ||
        cordon_fact_text_set(&in->facts->storage_root,
                             folder.has == CORDON_JSON_PRESENT ? folder.text : "", err) != 0 ||
        cordon_fact_text_set(&in->facts->runtime, CORDON_QUOTE(runtime), err) != 0)
        return -1;
    return cordon_fact_text_set(&in->facts->storage_driver, CORDON_QUOTE(driver), err);
}

static int read_info(info *in, cordon_json root, cordon_err *err)
{
    if (cordon_json_need_object(root, "host", &in->host, err) != 0 ||
        cordon_json_need_object(in->host, "security", &in->security, err) != 0 ||
        read_names(in, root, err) != 0)
        return -1;
    if (!in->facts->os || strcmp(in->facts->os, "linux") != 0)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Podman runs \"%s\" containers: Cordon needs linux ones",
                           CORDON_QUOTE(in->facts->os ? in->facts->os : "unknown"));
    if (check_backend(in, err) != 0 || read_rootless(in, err) != 0 || read_cgroups(in, err) != 0)
        return -1;
    return read_security(in, err);
}

/* Podman 4 shows "shareable" for a private and for the host's ipc namespace alike. */
static unsigned fixed_abilities(int major)
{
    unsigned can =
        CORDON_CAN_MOUNT_IMAGES | CORDON_CAN_SHOW_CREATED_ENDPOINTS | CORDON_CAN_SHOW_RUNTIME;
    return major >= 5 ? can | CORDON_CAN_SHOW_NAMESPACES : can;
}

int podman_decode_info(const void *bytes, size_t length, int major, cordon_engine_facts *ret_facts,
                       cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_engine_facts)
        facts = {.kind = CORDON_ENGINE_PODMAN, .can = fixed_abilities(major)};
    info in = {.facts = &facts};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        read_info(&in, cordon_json_root(doc), err) != 0)
        return -1;
    cordon_fact_list_known(&facts.warnings); /* libpod has no list of warnings */
    *ret_facts = facts;
    facts = (cordon_engine_facts){0};
    return 0;
}

/* --- lists --- */

/* A list answer; null, of no items, is how Go writes a list that nothing was added to. */
static int parse_list(const void *bytes, size_t length, cordon_json_doc **ret_doc,
                      cordon_json *ret_list, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place list = {0};
    if (cordon_json_parse(bytes, length, PODMAN_LIST_MAX, 0, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &list, err) != 0)
        return -1;
    *ret_list = cordon_json_root(doc);
    *ret_doc = CORDON_TAKE(doc);
    return 0;
}

int podman_decode_members(const void *bytes, size_t length, cordon_fact_list *ret_ids,
                          cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_fact_list) ids = {0};
    cordon_json list = {0};
    if (parse_list(bytes, length, &doc, &list, err) != 0)
        return -1;
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        const char *id = NULL;
        if (podman_read_id(it.value, "Id", &id, err) != 0 ||
            cordon_fact_list_add(&ids, id, err) != 0)
            return -1;
    }
    cordon_fact_list_known(&ids);
    cordon_fact_list_sort(&ids);
    *ret_ids = ids;
    ids = (cordon_fact_list){0};
    return 0;
}

/* Where the three kinds of objects keep what a list tells; a volume's name is its id. */
typedef struct list_keys {
    const char *id;
    const char *name; /* NULL: a list of names */
    const char *labels;
} list_keys;

static list_keys keys_of(cordon_object_type type)
{
    if (type == CORDON_OBJECT_NETWORK)
        return (list_keys){"id", "name", "labels"};
    if (type == CORDON_OBJECT_VOLUME)
        return (list_keys){NULL, "Name", "Labels"};
    return (list_keys){"Id", NULL, "Labels"};
}

static int read_name(cordon_json item, const list_keys *keys, const char **ret_name,
                     cordon_err *err)
{
    cordon_json names = {0};
    cordon_json_string first = {0};
    if (keys->name)
        return cordon_json_need_string(item, keys->name, ret_name, err);
    if (cordon_json_need_array(item, "Names", &names, err) != 0)
        return -1;
    cordon_json_iter it = cordon_json_iterate(names);
    if (!cordon_json_next(&it))
        return cordon_json_fail(names, err, "a container without a name");
    if (cordon_json_as_string(it.value, &first, err) != 0)
        return -1;
    *ret_name = first.has == CORDON_JSON_PRESENT ? first.text : "";
    return 0;
}

static int read_listed(cordon_json item, const list_keys *keys, cordon_listed *listed,
                       cordon_err *err)
{
    const cordon_factread_field labels = {keys->labels, CORDON_READ_MAP,
                                          offsetof(cordon_listed, labels), CORDON_NULL_EMPTY};
    const char *id = NULL;
    const char *name = NULL;
    if (read_name(item, keys, &name, err) != 0 ||
        (keys->id && podman_read_id(item, keys->id, &id, err) != 0) ||
        cordon_fact_text_set(&listed->id, keys->id ? id : name, err) != 0 ||
        cordon_fact_text_set(&listed->name, name, err) != 0 ||
        cordon_factread_fields(item, &labels, 1, listed, err) != 0)
        return -1;
    cordon_fact_list_known(&listed->labels); /* left out when there are none */
    return 0;
}

static int read_list(cordon_json array, const list_keys *keys, cordon_list *list, cordon_err *err)
{
    size_t count = cordon_json_count(array);
    if (count == 0)
        return 0;
    list->items = calloc(count, sizeof *list->items);
    if (!list->items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    list->count = count;
    size_t i = 0;
    for (cordon_json_iter it = cordon_json_iterate(array); cordon_json_next(&it);) {
        if (read_listed(it.value, keys, &list->items[i++], err) != 0)
            return -1;
    }
    return 0;
}

int podman_decode_list(const void *bytes, size_t length, cordon_object_type type,
                       cordon_list *ret_list, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_list) list = {0};
    cordon_json array = {0};
    list_keys keys = keys_of(type);
    if (parse_list(bytes, length, &doc, &array, err) != 0 ||
        read_list(array, &keys, &list, err) != 0)
        return -1;
    *ret_list = list;
    list = (cordon_list){0};
    return 0;
}

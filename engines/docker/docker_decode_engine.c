/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon says of itself, its refusals, its create answers and its lists. */
#include "docker_decode_internal.h"

#include <stdio.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/num.h"

/* The answer's size was bounded when it was read. */
int docker_parse_object(const void *json, size_t length, cordon_json_doc **ret_doc,
                        cordon_json *ret_root, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (cordon_json_parse(json, length, length, DOCKER_JSON_DEPTH, &doc, err) != 0)
        return -1;
    cordon_json root = cordon_json_root(doc);
    if (cordon_json_type_of(root) != CORDON_JSON_TYPE_OBJECT)
        return cordon_json_fail(root, err, "%s, expected object",
                                cordon_json_type_name(cordon_json_type_of(root)));
    *ret_root = root;
    *ret_doc = CORDON_TAKE(doc);
    return 0;
}

const char *docker_bare_id(const char *text)
{
    static const char prefix[] = "sha256:";
    const char *hex = text;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        hex += sizeof prefix - 1;
    return strlen(hex) == CORDON_ID_HEX && cordon_hex_is_lower(hex, CORDON_ID_HEX) ? hex : NULL;
}

int docker_read_id(cordon_json object, const char *key, cordon_fact_text *ret_id, cordon_err *err)
{
    const char *text = NULL;
    if (cordon_json_need_string(object, key, &text, err) != 0)
        return -1;
    const char *hex = docker_bare_id(text);
    if (!hex)
        return cordon_json_fail(object, err, "\"%s\" is no id: \"%s\"", key, CORDON_QUOTE(text));
    return cordon_fact_text_set(ret_id, hex, err);
}

int docker_decode_api(const char *text, unsigned *ret_minor, cordon_err *err)
{
    uint64_t minor = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (strncmp(text, "1.", 2) != 0 ||
        cordon_num_u64(text + 2, strlen(text + 2), 0, 9999, &minor, &scratch) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "\"%s\" is not an API version of Docker",
                           CORDON_QUOTE(text));
    *ret_minor = (unsigned)minor;
    return 0;
}

void docker_version_clear(docker_version *version)
{
    free(version->version);
    free(version->os);
    free(version->architecture);
    *version = (docker_version){0};
}

static int read_components(cordon_json root, bool *ret_podman, cordon_err *err)
{
    cordon_json_place components = {0};
    if (cordon_json_get_array(root, "Components", &components, err) != 0)
        return -1;
    cordon_json_iter it = docker_items(components);
    while (cordon_json_next(&it)) {
        cordon_json_string name = {0};
        if (cordon_json_get_string(it.value, "Name", &name, err) != 0)
            return -1;
        if (name.has == CORDON_JSON_PRESENT && strcmp(name.text, "Podman Engine") == 0)
            *ret_podman = true;
    }
    return 0;
}

static int need_printable(cordon_json object, const char *key, char **ret_text, cordon_err *err)
{
    const char *text = NULL;
    if (cordon_json_need_string(object, key, &text, err) != 0)
        return -1;
    return cordon_fact_text_set(ret_text, CORDON_QUOTE(text), err);
}

int docker_decode_version(const void *json, size_t length, docker_version *ret_version,
                          cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(docker_version) version = {0};
    cordon_json root = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        need_printable(root, "Version", &version.version, err) != 0 ||
        need_printable(root, "Os", &version.os, err) != 0 ||
        need_printable(root, "Arch", &version.architecture, err) != 0 ||
        read_components(root, &version.is_podman, err) != 0)
        return -1;
    *ret_version = version;
    version = (docker_version){0};
    return 0;
}

/*
 * Limits the daemon can enforce. A memory limit is only good with one for swap beside it, a quota
 * only with its period. SECURITY: an absent key is "cannot".
 */
typedef struct docker_ability {
    unsigned bit;
    const char *keys[2];
} docker_ability;

static const docker_ability abilities[] = {
    {CORDON_CAN_LIMIT_MEMORY, {"MemoryLimit", "SwapLimit"}},
    {CORDON_CAN_LIMIT_CPU, {"CpuCfsQuota", "CpuCfsPeriod"}},
    {CORDON_CAN_LIMIT_PIDS, {"PidsLimit", NULL}},
};

static int read_ability(cordon_json root, const docker_ability *ability, unsigned *can,
                        cordon_err *err)
{
    for (size_t i = 0; i < DOCKER_COUNT(ability->keys) && ability->keys[i]; i++) {
        cordon_json_bool value = {0};
        if (cordon_json_get_bool(root, ability->keys[i], &value, err) != 0)
            return -1;
        if (value.has != CORDON_JSON_PRESENT || !value.value)
            return 0;
    }
    *can |= ability->bit;
    return 0;
}

/*
 * DriverStatus is a list of pairs. With containerd's image store one of them says so; there a
 * load takes whole archives only, so CORDON_CAN_LOAD_ON_BASE is for graph drivers alone.
 */
static int read_image_store(cordon_json root, unsigned *can, cordon_err *err)
{
    cordon_json_place status = {0};
    if (cordon_json_get_array(root, "DriverStatus", &status, err) != 0)
        return -1;
    if (status.has != CORDON_JSON_PRESENT)
        return 0;
    cordon_json_iter it = cordon_json_iterate(status.value);
    while (cordon_json_next(&it)) {
        cordon_auto(cordon_fact_list) pair = {0};
        if (cordon_factread_texts(it.value, &pair, err) != 0)
            return -1;
        if (pair.count == 2 && strstr(pair.items[1], "io.containerd.snapshotter"))
            return 0;
    }
    *can |= CORDON_CAN_LOAD_ON_BASE;
    return 0;
}

/* Reads "name=seccomp,profile=default", "name=rootless", ... */
static int judge_security(cordon_engine_facts *facts, cordon_err *err)
{
    bool seccomp = false;
    facts->rootless = CORDON_FACT_NO;
    for (size_t i = 0; i < facts->security.count; i++) {
        const char *option = facts->security.items[i];
        if (strcmp(option, "name=rootless") == 0)
            facts->rootless = CORDON_FACT_YES;
        if (strncmp(option, "name=seccomp", strlen("name=seccomp")) == 0)
            seccomp = true;
        /* "default" up to 22, "builtin" from 23 on: the profile compiled into the daemon */
        if (strcmp(option, "name=seccomp,profile=default") == 0 ||
            strcmp(option, "name=seccomp,profile=builtin") == 0)
            facts->can |= CORDON_CAN_DEFAULT_SECCOMP;
    }
    if (!seccomp)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Docker runs without seccomp: start it on a kernel that has it");
    return 0;
}

static int read_cgroup_version(cordon_json root, cordon_fact_int *ret_version, cordon_err *err)
{
    cordon_json_string text = {0};
    if (cordon_json_get_string(root, "CgroupVersion", &text, err) != 0)
        return -1;
    if (text.has != CORDON_JSON_PRESENT)
        return 0;
    uint64_t version = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (cordon_num_u64(text.text, text.length, 1, 2, &version, &scratch) != 0)
        return cordon_json_fail(root, err, "\"CgroupVersion\" is \"%s\", expected 1 or 2",
                                CORDON_QUOTE(text.text));
    *ret_version = (cordon_fact_int){.known = true, .value = (int64_t)version};
    return 0;
}

static int read_info(cordon_json root, cordon_engine_facts *facts, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"OSType", CORDON_READ_TEXT, offsetof(cordon_engine_facts, os), CORDON_NULL_UNKNOWN},
        {"Driver", CORDON_READ_TEXT, offsetof(cordon_engine_facts, storage_driver),
         CORDON_NULL_UNKNOWN},
        {"DefaultRuntime", CORDON_READ_TEXT, offsetof(cordon_engine_facts, runtime),
         CORDON_NULL_UNKNOWN},
        {"SecurityOptions", CORDON_READ_LIST, offsetof(cordon_engine_facts, security),
         CORDON_NULL_EMPTY},
        {"Warnings", CORDON_READ_LIST, offsetof(cordon_engine_facts, warnings), CORDON_NULL_EMPTY},
    };
    if (cordon_factread_fields(root, fields, DOCKER_COUNT(fields), facts, err) != 0)
        return -1;
    if (!facts->os || strcmp(facts->os, "linux") != 0)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Docker runs \"%s\" containers: Cordon needs linux ones",
                           facts->os ? CORDON_QUOTE(facts->os) : "");
    for (size_t i = 0; i < DOCKER_COUNT(abilities); i++) {
        if (read_ability(root, &abilities[i], &facts->can, err) != 0)
            return -1;
    }
    if (read_cgroup_version(root, &facts->cgroup_version, err) != 0 ||
        read_image_store(root, &facts->can, err) != 0)
        return -1;
    return judge_security(facts, err);
}

int docker_decode_info(const void *json, size_t length, cordon_engine_facts *ret_facts,
                       cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_engine_facts) facts = {0};
    cordon_json root = {0};
    /* Everything that a container was made with comes back verbatim in its inspect, and every
     * archive that goes into one is an event. */
    facts.can = CORDON_CAN_SHOW_SYSCTLS | CORDON_CAN_SHOW_NAMESPACES | CORDON_CAN_TELL_UPLOADS;
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        read_info(root, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_engine_facts){0};
    return 0;
}

/* The message of a JSON error body; false when the body is something else. */
static bool message_of(const char *body, size_t length, char *ret_text, size_t size)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json root = {0};
    cordon_err scratch = CORDON_ERR_INIT;
    const char *message = NULL;
    if (docker_parse_object(body, length, &doc, &root, &scratch) != 0 ||
        cordon_json_need_string(root, "message", &message, &scratch) != 0)
        return false;
    (void)cordon_err_printable(ret_text, size, message, strlen(message));
    return true;
}

/* Any error may be text/plain (too old a client on 20.10; a proxy in between). */
void docker_decode_error(const char *body, size_t length, char *ret_text, size_t size)
{
    if (length > 0 && message_of(body, length, ret_text, size))
        return;
    while (length > 0 && body[length - 1] == '\n')
        length--;
    (void)cordon_err_printable(ret_text, size, body ? body : "", length);
}

static int refuse_warning(const char *warning, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_WARNED, "docker made it with a warning: %s",
                       CORDON_QUOTE(warning));
}

/* SECURITY: a warning says that something asked for was not done; none is ever waved through. */
static int refuse_warnings(cordon_json root, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Warnings", CORDON_READ_LIST, 0, CORDON_NULL_EMPTY},
    };
    cordon_auto(cordon_fact_list) warnings = {0};
    cordon_json_string warning = {0};
    if (cordon_factread_fields(root, fields, DOCKER_COUNT(fields), &warnings, err) != 0 ||
        cordon_json_get_string(root, "Warning", &warning, err) != 0)
        return -1;
    if (warnings.count > 0)
        return refuse_warning(warnings.items[0], err);
    if (warning.has == CORDON_JSON_PRESENT && warning.length > 0)
        return refuse_warning(warning.text, err);
    return 0;
}

int docker_decode_created(const void *json, size_t length, char **ret_id, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_autofree char *id = NULL;
    cordon_json root = {0};
    cordon_err cause = CORDON_ERR_INIT;
    if (docker_parse_object(json, length, &doc, &root, &cause) != 0 ||
        docker_read_id(root, "Id", &id, &cause) != 0)
        return CORDON_FAIL(err, CORDON_ERR_INDETERMINATE,
                           "it was made and the answer cannot be read: %s", cause.message);
    *ret_id = CORDON_TAKE(id);
    return refuse_warnings(root, err);
}

/* Docker's container list has all names, "/own" and, with links, "/other/alias". */
static int read_listed_name(cordon_json item, cordon_listed *listed, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Names", CORDON_READ_LIST, 0, CORDON_NULL_EMPTY},
    };
    cordon_auto(cordon_fact_list) names = {0};
    if (cordon_factread_fields(item, fields, DOCKER_COUNT(fields), &names, err) != 0)
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        if (name[0] == '/' && !strchr(name + 1, '/'))
            return cordon_fact_text_set(&listed->name, name + 1, err);
    }
    return cordon_fact_text_set(&listed->name, "", err);
}

static int read_listed(cordon_object_type type, cordon_json item, cordon_listed *listed,
                       cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Labels", CORDON_READ_MAP, offsetof(cordon_listed, labels), CORDON_NULL_EMPTY},
        {"Name", CORDON_READ_TEXT, offsetof(cordon_listed, name), CORDON_NULL_UNKNOWN},
    };
    if (docker_read_id(item, "Id", &listed->id, err) != 0)
        return -1;
    if (type == CORDON_OBJECT_NETWORK)
        return cordon_factread_fields(item, fields, 2, listed, err);
    return cordon_factread_fields(item, fields, 1, listed, err) != 0
               ? -1
               : read_listed_name(item, listed, err);
}

static int read_list(cordon_object_type type, cordon_json root, cordon_list *list, cordon_err *err)
{
    size_t count = cordon_json_count(root);
    if (count == 0)
        return 0;
    list->items = calloc(count, sizeof *list->items);
    if (!list->items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    list->count = count;
    size_t i = 0;
    cordon_json_iter it = cordon_json_iterate(root);
    while (cordon_json_next(&it)) {
        if (read_listed(type, it.value, &list->items[i++], err) != 0)
            return -1;
    }
    return 0;
}

int docker_decode_list(cordon_object_type type, const void *json, size_t length,
                       cordon_list *ret_list, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_list) list = {0};
    cordon_json_place root = {0};
    if (cordon_json_parse(json, length, length, DOCKER_JSON_DEPTH, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &root, err) != 0)
        return -1;
    /* an empty list is "[]" on every version; a null would be no list */
    if (root.has != CORDON_JSON_PRESENT)
        return cordon_json_fail(cordon_json_root(doc), err, "null, expected array");
    if (read_list(type, root.value, &list, err) != 0)
        return -1;
    *ret_list = list;
    list = (cordon_list){0};
    return 0;
}

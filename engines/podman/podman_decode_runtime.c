/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OCI configuration that Podman writes for its runtime -> facts. Here: the process, its
 * privileges, hooks and annotations, and the whole.
 *
 * Source: OCI runtime specification 1.0 to 1.2, config.md and config-linux.md. Unlike in an inspect
 * answer, an absent key says something: what the specification gives for it, which is what the
 * runtime does.
 */
#include <stdio.h>
#include <string.h>

#include "kit/hash.h"
#include "podman_decode_internal.h"
#include "podman_internal.h"

#define AT(member)    offsetof(cordon_runtime_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

static const cordon_factread_field root_fields[] = {
    {"hostname", CORDON_READ_TEXT, AT(hostname), CORDON_NULL_UNKNOWN},
};

static const cordon_factread_field process_fields[] = {
    {"args", CORDON_READ_LIST, AT(argv), CORDON_NULL_UNKNOWN},
    {"env", CORDON_READ_LIST, AT(environment), CORDON_NULL_EMPTY},
    {"cwd", CORDON_READ_TEXT, AT(working_dir), CORDON_NULL_UNKNOWN},
    {"terminal", CORDON_READ_BOOL, AT(tty), CORDON_NULL_EMPTY},
    {"noNewPrivileges", CORDON_READ_BOOL, AT(no_new_privileges), CORDON_NULL_EMPTY},
    {"oomScoreAdj", CORDON_READ_INT, AT(oom_score_adj), CORDON_NULL_UNKNOWN},
    {"apparmorProfile", CORDON_READ_TEXT, AT(apparmor_profile), CORDON_NULL_EMPTY},
    {"selinuxLabel", CORDON_READ_TEXT, AT(selinux_label), CORDON_NULL_EMPTY},
};

static const cordon_factread_harmless harmless[] = {
    {"$.ociVersion", "of the specification; what it adds is reported here"},
    {"$.linux.mountLabel", "labels the container's files; the process label says what it may do"},
};

/* --- the process --- */

static int read_extra_groups(podman_spec *spec, cordon_json user, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(user, "additionalGids", &place, err) != 0)
        return -1;
    cordon_fact_list_known(&spec->facts->extra_groups);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        cordon_json_i64 gid = {0};
        if (cordon_json_as_i64(it.value, &gid, err) != 0)
            return -1;
        if (cordon_fact_list_addf(&spec->facts->extra_groups, err, "%lld", (long long)gid.value) !=
            0)
            return -1;
    }
    return 0;
}

static int read_user(podman_spec *spec, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"umask", CORDON_READ_INT, AT(umask), CORDON_NULL_UNKNOWN},
    };
    char text[64];
    int64_t uid = 0;
    int64_t gid = 0;
    cordon_json user = {0};
    if (cordon_json_need_object(spec->process, "user", &user, err) != 0 ||
        cordon_json_need_i64(user, "uid", &uid, err) != 0 ||
        cordon_json_need_i64(user, "gid", &gid, err) != 0 ||
        cordon_factread_fields(user, FIELDS(fields), spec->facts, err) != 0)
        return -1;
    (void)snprintf(text, sizeof text, "%lld:%lld", (long long)uid, (long long)gid);
    if (cordon_fact_text_set(&spec->facts->user, text, err) != 0)
        return -1;
    return read_extra_groups(spec, user, err);
}

/* SECURITY: without the object the runtime decides; that stays unknown. */
static int read_capabilities(podman_spec *spec, cordon_err *err)
{
    static const char *const sets[] = {"bounding", "effective", "inheritable", "permitted",
                                       "ambient"};
    cordon_fact_list *all = &spec->facts->capabilities;
    cordon_auto(cordon_fact_list) names = {0};
    cordon_json_place object = {0};
    if (cordon_json_get_object(spec->process, "capabilities", &object, err) != 0)
        return -1;
    if (object.has != CORDON_JSON_PRESENT)
        return 0;
    for (size_t i = 0; i < COUNT(sets); i++) {
        cordon_json_place set = {0};
        if (cordon_json_get_array(object.value, sets[i], &set, err) != 0 ||
            (set.has == CORDON_JSON_PRESENT && cordon_factread_texts(set.value, &names, err) != 0))
            return -1;
    }
    for (size_t i = 0; i < names.count; i++) {
        if (podman_add_lower(all, "CAP_", names.items[i], "", err) != 0)
            return -1;
    }
    cordon_fact_list_known(all);
    cordon_fact_list_sort(all);
    podman_drop_repeats(all);
    return 0;
}

static int read_ulimits(podman_spec *spec, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_fact_list *ulimits = &spec->facts->ulimits;
    if (cordon_json_get_array(spec->process, "rlimits", &place, err) != 0)
        return -1;
    cordon_fact_list_known(ulimits);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *name = NULL;
        char values[64];
        cordon_json_u64 soft = {0};
        cordon_json_u64 hard = {0};
        if (cordon_json_need_string(it.value, "type", &name, err) != 0 ||
            cordon_json_get_u64(it.value, "soft", &soft, err) != 0 ||
            cordon_json_get_u64(it.value, "hard", &hard, err) != 0)
            return -1;
        if (soft.has != CORDON_JSON_PRESENT || hard.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "a limit without its values");
        (void)snprintf(values, sizeof values, "=%llu:%llu", (unsigned long long)soft.value,
                       (unsigned long long)hard.value);
        if (podman_add_lower(ulimits, "RLIMIT_", name, values, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(ulimits);
    return 0;
}

static void absent_is_no(cordon_fact_bool *fact)
{
    if (*fact == CORDON_FACT_UNKNOWN)
        *fact = CORDON_FACT_NO;
}

static int absent_is_empty(cordon_fact_text *fact, cordon_err *err)
{
    return *fact ? 0 : cordon_fact_text_set(fact, "", err);
}

/* config.md, "Process": what holds when these are not set. */
static int read_process(podman_spec *spec, cordon_err *err)
{
    cordon_runtime_facts *facts = spec->facts;
    if (cordon_factread_fields(spec->process, FIELDS(process_fields), facts, err) != 0 ||
        read_user(spec, err) != 0 || read_capabilities(spec, err) != 0 ||
        read_ulimits(spec, err) != 0 || absent_is_empty(&facts->apparmor_profile, err) != 0 ||
        absent_is_empty(&facts->selinux_label, err) != 0)
        return -1;
    absent_is_no(&facts->tty);
    absent_is_no(&facts->no_new_privileges);
    cordon_fact_list_known(&facts->environment);
    return 0;
}

/* --- the rest of the top level --- */

/*
 * Where the storage drivers put a container's layers, with an id in the place of "*": the last
 * steps of the path. SECURITY: any other folder of the host would be the root otherwise.
 */
static const char *const layer_shapes[] = {
    "/overlay/*/merged",
    "/vfs/dir/*",
    "/btrfs/subvolumes/*",
    "/zfs/graph/*",
};

static bool has_shape(const char *path, size_t length, const char *shape)
{
    size_t before = strcspn(shape, "*");
    const char *after = shape + before + 1;
    size_t after_length = strlen(after);
    size_t tail = before + CORDON_ID_HEX + after_length;
    if (length <= tail || path[0] != '/')
        return false;
    const char *at = path + length - tail;
    return strncmp(at, shape, before) == 0 && cordon_hex_is_lower(at + before, CORDON_ID_HEX) &&
           strncmp(at + before + CORDON_ID_HEX, after, after_length) == 0;
}

bool podman_is_layer(const char *path, size_t length)
{
    for (size_t i = 0; i < COUNT(layer_shapes); i++) {
        if (has_shape(path, length, layer_shapes[i]))
            return memmem(path, length, "/../", 4) == NULL;
    }
    return false;
}

static int read_root_path(podman_spec *spec, cordon_json root, cordon_err *err)
{
    const char *path = NULL;
    if (cordon_json_need_string(root, "path", &path, err) != 0)
        return -1;
    if (podman_is_layer(path, strlen(path)))
        return 0;
    return cordon_factread_odd(root, path, &spec->facts->unmodelled, err);
}

/* The container's own; its parent is in the inspect. None: a rootless one on cgroup v1. */
static int read_cgroup_path(podman_spec *spec, cordon_err *err)
{
    cordon_json_string path = {0};
    if (cordon_json_get_string(spec->os, "cgroupsPath", &path, err) != 0)
        return -1;
    if (path.has != CORDON_JSON_PRESENT || *path.text == '\0')
        return 0;
    size_t length = strlen(path.text);
    if (length > CORDON_ID_HEX && strstr(path.text, "..") == NULL &&
        strcmp(path.text + length - CORDON_ID_HEX, spec->id) == 0)
        return 0;
    return cordon_factread_odd(spec->os, path.text, &spec->facts->unmodelled, err);
}

static int read_root(podman_spec *spec, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"readonly", CORDON_READ_BOOL, AT(read_only_root), CORDON_NULL_EMPTY},
    };
    cordon_json object = {0};
    if (cordon_json_need_object(spec->root, "root", &object, err) != 0 ||
        cordon_factread_fields(object, FIELDS(fields), spec->facts, err) != 0 ||
        read_root_path(spec, object, err) != 0 || read_cgroup_path(spec, err) != 0 ||
        cordon_factread_fields(spec->root, FIELDS(root_fields), spec->facts, err) != 0)
        return -1;
    absent_is_no(&spec->facts->read_only_root);
    return absent_is_empty(&spec->facts->hostname, err);
}

/* "prestart /path" for every hook of one moment. */
static int read_hooks_at(podman_spec *spec, const char *moment, cordon_json list, cordon_err *err)
{
    cordon_json_place hooks = {0};
    if (cordon_json_as_array(list, &hooks, err) != 0)
        return -1;
    if (hooks.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(hooks.value); cordon_json_next(&it);) {
        const char *path = NULL;
        if (cordon_json_need_string(it.value, "path", &path, err) != 0 ||
            cordon_fact_list_addf(&spec->facts->hooks, err, "%s %s", moment, path) != 0)
            return -1;
        cordon_json_consume(it.value);
    }
    return 0;
}

static int read_hooks(podman_spec *spec, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(spec->root, "hooks", &place, err) != 0)
        return -1;
    cordon_fact_list_known(&spec->facts->hooks);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        if (read_hooks_at(spec, it.key, it.value, err) != 0)
            return -1;
    }
    return 0;
}

/* SECURITY: annotations steer runtimes ("run.oci.keep_original_groups" of crun, and more). */
static int read_annotations(podman_spec *spec, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(spec->root, "annotations", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        cordon_json_string text = {0};
        if (cordon_json_as_string(it.value, &text, err) != 0)
            return -1;
        if (text.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "null, expected string");
        if (!podman_own_annotation(it.key, text.text) &&
            cordon_factread_odd(it.value, text.text, &spec->facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

static int decode(podman_spec *spec, cordon_err *err)
{
    static int (*const steps[])(podman_spec *, cordon_err *) = {
        read_process,           read_root, read_hooks, podman_spec_read_mounts, read_annotations,
        podman_spec_read_linux,
    };
    for (size_t i = 0; i < COUNT(steps); i++) {
        if (steps[i](spec, err) != 0)
            return -1;
    }
    return 0;
}

int podman_decode_runtime(const void *bytes, size_t length, const char *id,
                          cordon_runtime_facts *ret_facts, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_runtime_facts) facts = {0};
    podman_spec spec = {.id = id, .facts = &facts};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0)
        return -1;
    spec.root = cordon_json_root(doc);
    if (cordon_json_need_object(spec.root, "process", &spec.process, err) != 0 ||
        cordon_json_need_object(spec.root, "linux", &spec.os, err) != 0 ||
        decode(&spec, err) != 0 ||
        cordon_factread_leftovers(spec.root, FIELDS(harmless), &facts.unmodelled, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_runtime_facts){0};
    return 0;
}

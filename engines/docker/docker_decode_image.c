/* SPDX-License-Identifier: Apache-2.0 */
/* GET /images/{id}/json to facts, and the answer to a load. */
#include "docker_decode_internal.h"

#include <string.h>

#define FIELD(key, kind, fact, null)                                                               \
    {                                                                                              \
        key, CORDON_READ_##kind, offsetof(cordon_image_facts, fact), CORDON_NULL_##null            \
    }

static const cordon_factread_field image_fields[] = {
    FIELD("RepoDigests", SET, digests, EMPTY),
    FIELD("Os", TEXT, os, UNKNOWN),
    FIELD("Architecture", TEXT, architecture, UNKNOWN),
};

/* Go writes a nil slice or map as null, and Docker treats it as the empty one. */
static const cordon_factread_field config_fields[] = {
    FIELD("User", TEXT, user, UNKNOWN),      FIELD("Entrypoint", LIST, entrypoint, EMPTY),
    FIELD("Cmd", LIST, command, EMPTY),      FIELD("Env", SET, environment, EMPTY),
    FIELD("Volumes", KEYS, volumes, EMPTY),  FIELD("ExposedPorts", KEYS, exposed_ports, EMPTY),
    FIELD("OnBuild", LIST, on_build, EMPTY), FIELD("Labels", MAP, labels, EMPTY),
};

static const cordon_factread_harmless harmless[] = {
    {"$.RepoTags[*]", "names; an image is used by its id"},
    {"$.Parent", "how it was built"},
    {"$.Comment", "how it was built"},
    {"$.Created", "how it was built"},
    {"$.Container", "how it was built"},
    {"$.ContainerConfig**", "the build container's configuration, never a run's"},
    {"$.DockerVersion", "how it was built"},
    {"$.Author", "how it was built"},
    {"$.Variant", "refines the architecture"},
    {"$.Size", "bytes on the daemon's host"},
    {"$.VirtualSize", "bytes on the daemon's host"},
    {"$.GraphDriver**", "where the layers lie on the daemon's host"},
    {"$.Metadata**", "times of tagging"},
    {"$.Descriptor**", "containerd's store: the index it came from; the id is a fact"},
    {"$.Config.Hostname", "of the build container"},
    {"$.Config.Domainname", "of the build container"},
    {"$.Config.Image", "of the build container"},
    {"$.Config.AttachStdin", "of the build container"},
    {"$.Config.AttachStdout", "of the build container"},
    {"$.Config.AttachStderr", "of the build container"},
    {"$.Config.Tty", "of the build container"},
    {"$.Config.OpenStdin", "of the build container"},
    {"$.Config.StdinOnce", "of the build container"},
    {"$.Config.ArgsEscaped", "Windows only; old Linux images carry it"},
    {"$.Config.WorkingDir", "every container is made with its own"},
    {"$.Config.StopSignal", "every container is made with its own"},
    {"$.Config.StopTimeout", "every container is made with its own"},
    {"$.Config.Healthcheck**", "every container is made without one, and shows it"},
    {"$.Config.Shell[*]", "for builds"},
};

static int read_layers(cordon_json root, cordon_image_facts *facts, cordon_err *err)
{
    static const cordon_factread_field fields[] = {FIELD("Layers", LIST, layers, EMPTY)};
    cordon_json layers = {0};
    cordon_json_string type = {0};
    if (cordon_json_need_object(root, "RootFS", &layers, err) != 0 ||
        cordon_json_get_string(layers, "Type", &type, err) != 0)
        return -1;
    if (type.has == CORDON_JSON_PRESENT && strcmp(type.text, "layers") != 0 &&
        cordon_factread_odd(layers, type.text, &facts->unmodelled, err) != 0)
        return -1;
    return cordon_factread_fields(layers, fields, DOCKER_COUNT(fields), facts, err);
}

/*
 * Newer daemons leave empty members of Config out (the OCI image format does), and no other key
 * tells that they are empty. They describe an image; what a container is made of is compared in
 * its own facts.
 */
static void absent_is_empty(cordon_image_facts *facts)
{
    cordon_fact_list *const lists[] = {
        &facts->digests, &facts->entrypoint,    &facts->command,  &facts->environment,
        &facts->volumes, &facts->exposed_ports, &facts->on_build, &facts->labels};
    for (size_t i = 0; i < DOCKER_COUNT(lists); i++)
        cordon_fact_list_known(lists[i]);
}

static int read_image(cordon_json root, cordon_image_facts *facts, cordon_err *err)
{
    cordon_json config = {0};
    if (docker_read_id(root, "Id", &facts->id, err) != 0 ||
        cordon_factread_fields(root, image_fields, DOCKER_COUNT(image_fields), facts, err) != 0 ||
        cordon_json_need_object(root, "Config", &config, err) != 0 ||
        cordon_factread_fields(config, config_fields, DOCKER_COUNT(config_fields), facts, err) !=
            0 ||
        read_layers(root, facts, err) != 0)
        return -1;
    absent_is_empty(facts);
    if (!facts->user && cordon_fact_text_set(&facts->user, "", err) != 0)
        return -1;
    return cordon_factread_leftovers(root, harmless, DOCKER_COUNT(harmless), &facts->unmodelled,
                                     err);
}

int docker_decode_image(const void *json, size_t length, cordon_image_facts *ret_facts,
                        cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_json root = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        read_image(root, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_image_facts){0};
    return 0;
}

/* "<none>:<none>" is how API 1.42 and older spell an image without a name. */
static int read_names(cordon_json item, cordon_fact_list *ret_names, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"RepoTags", CORDON_READ_SET, 0, CORDON_NULL_EMPTY},
    };
    cordon_auto(cordon_fact_list) tags = {0};
    if (cordon_factread_fields(item, fields, DOCKER_COUNT(fields), &tags, err) != 0)
        return -1;
    cordon_fact_list_known(ret_names);
    for (size_t i = 0; i < tags.count; i++) {
        if (strcmp(tags.items[i], "<none>:<none>") != 0 &&
            cordon_fact_list_add(ret_names, tags.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_listed(cordon_json item, cordon_listed_image *listed, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Labels", CORDON_READ_MAP, offsetof(cordon_listed_image, labels), CORDON_NULL_EMPTY},
        {"Size", CORDON_READ_INT, offsetof(cordon_listed_image, size_bytes), CORDON_NULL_UNKNOWN},
    };
    if (docker_read_id(item, "Id", &listed->id, err) != 0 ||
        cordon_factread_fields(item, fields, DOCKER_COUNT(fields), listed, err) != 0)
        return -1;
    cordon_fact_list_known(&listed->labels);
    return read_names(item, &listed->names, err);
}

static int read_images(cordon_json root, cordon_image_list *list, cordon_err *err)
{
    size_t count = cordon_json_count(root);
    size_t i = 0;
    list->items = calloc(count > 0 ? count : 1, sizeof *list->items);
    if (!list->items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    list->count = count;
    for (cordon_json_iter it = cordon_json_iterate(root); cordon_json_next(&it);) {
        if (read_listed(it.value, &list->items[i++], err) != 0)
            return -1;
    }
    return 0;
}

int docker_decode_images(const void *json, size_t length, cordon_image_list *ret_list,
                         cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_image_list) list = {0};
    cordon_json_place root = {0};
    if (cordon_json_parse(json, length, length, DOCKER_JSON_DEPTH, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &root, err) != 0)
        return -1;
    if (root.has != CORDON_JSON_PRESENT)
        return cordon_json_fail(cordon_json_root(doc), err, "null, expected array");
    if (read_images(root.value, &list, err) != 0)
        return -1;
    *ret_list = list;
    list = (cordon_image_list){0};
    return 0;
}

/* One object of a load's answer. SECURITY: HTTP says 200 also when the load failed. */
static int judge_progress(const char *line, size_t length, bool *ret_loaded, cordon_err *err)
{
    static const char done[] = "Loaded image";
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json root = {0};
    cordon_json_string error = {0};
    cordon_json_place detail = {0};
    cordon_json_string stream = {0};
    if (docker_parse_object(line, length, &doc, &root, err) != 0 ||
        cordon_json_get_string(root, "error", &error, err) != 0 ||
        cordon_json_get_any(root, "errorDetail", &detail, err) != 0 ||
        cordon_json_get_string(root, "stream", &stream, err) != 0)
        return -1;
    if (error.has != CORDON_JSON_ABSENT || detail.has != CORDON_JSON_ABSENT)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "docker, load an image: %s",
                           error.has == CORDON_JSON_PRESENT ? CORDON_QUOTE(error.text)
                                                            : "no reason given");
    if (stream.has == CORDON_JSON_PRESENT && strncmp(stream.text, done, sizeof done - 1) == 0)
        *ret_loaded = true;
    return 0;
}

int docker_decode_load(const char *bytes, size_t length, cordon_err *err)
{
    bool loaded = false;
    size_t at = 0;
    while (at < length) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t line = end ? (size_t)(end - bytes) - at : length - at;
        /* lines end with \r\n; a blank one between objects says nothing */
        size_t text = line > 0 && bytes[at + line - 1] == '\r' ? line - 1 : line;
        if (text > 0 && judge_progress(bytes + at, text, &loaded, err) != 0)
            return -1;
        at += line + 1;
    }
    if (!loaded)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, load an image: the answer does not say that it was loaded");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* libpod's image inspect (containers/common libimage.ImageData) -> facts. */
#include "podman_decode_internal.h"

#include "podman_internal.h"

#define AT(member)    offsetof(cordon_image_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])

static const cordon_factread_field root_fields[] = {
    {"RepoDigests", CORDON_READ_SET, AT(digests), CORDON_NULL_EMPTY},
    {"Os", CORDON_READ_TEXT, AT(os), CORDON_NULL_UNKNOWN},
    {"Architecture", CORDON_READ_TEXT, AT(architecture), CORDON_NULL_UNKNOWN},
};

/* An OCI image configuration (image-spec, config.md): every member is optional, absent is none. */
static const cordon_factread_field config_fields[] = {
    {"User", CORDON_READ_TEXT, AT(user), CORDON_NULL_EMPTY},
    {"Entrypoint", CORDON_READ_LIST, AT(entrypoint), CORDON_NULL_EMPTY},
    {"Cmd", CORDON_READ_LIST, AT(command), CORDON_NULL_EMPTY},
    {"Env", CORDON_READ_LIST, AT(environment), CORDON_NULL_EMPTY},
    {"Volumes", CORDON_READ_KEYS, AT(volumes), CORDON_NULL_EMPTY},
    {"ExposedPorts", CORDON_READ_KEYS, AT(exposed_ports), CORDON_NULL_EMPTY},
    {"OnBuild", CORDON_READ_LIST, AT(on_build), CORDON_NULL_EMPTY},
    {"Labels", CORDON_READ_MAP, AT(labels), CORDON_NULL_EMPTY},
};

static const size_t config_lists[] = {
    AT(entrypoint), AT(command), AT(environment), AT(volumes), AT(exposed_ports), AT(labels),
};

static const cordon_factread_harmless harmless[] = {
    {"$.Digest", "of the manifest; the id is the fact"},
    {"$.RepoTags[*]", "names; the id is the fact"},
    {"$.NamesHistory[*]", "names; the id is the fact"},
    {"$.Parent", "how it was built"},
    {"$.Comment", "free text"},
    {"$.Created", "when it was made"},
    {"$.Version", "of the tool that built it"},
    {"$.Author", "free text"},
    {"$.Size", "bytes on the disk"},
    {"$.VirtualSize", "bytes on the disk"},
    {"$.GraphDriver**", "where layers lie on the host"},
    {"$.RootFS.Type", "always layers"},
    {"$.Labels**", "repeats Config.Labels"},
    {"$.Annotations**", "metadata of the manifest"},
    {"$.ManifestType", "how it is packed"},
    {"$.User", "repeats Config.User"},
    {"$.History**", "how it was built"},
    {"$.HealthCheck**", "a container is made with health checks off"},
    {"$.Config.WorkingDir", "a container is made with one of its own"},
    {"$.Config.StopSignal", "a container is made with one of its own"},
    {"$.Config.ArgsEscaped", "of Windows images"},
};

/* Diff ids, base first. */
static int decode_layers(cordon_json root, cordon_image_facts *facts, cordon_err *err)
{
    static const cordon_factread_field layers[] = {
        {"Layers", CORDON_READ_LIST, AT(layers), CORDON_NULL_EMPTY},
    };
    cordon_json_place place = {0};
    if (cordon_json_get_object(root, "RootFS", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    return cordon_factread_fields(place.value, FIELDS(layers), facts, err);
}

static int decode_config(cordon_json root, cordon_image_facts *facts, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(root, "Config", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_fields(place.value, FIELDS(config_fields), facts, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof config_lists / sizeof config_lists[0]; i++)
        cordon_fact_list_known((cordon_fact_list *)((char *)facts + config_lists[i]));
    return facts->user ? 0 : cordon_fact_text_set(&facts->user, "", err);
}

static int decode_image(cordon_json root, cordon_image_facts *facts, cordon_err *err)
{
    const char *id = NULL;
    if (podman_read_id(root, "Id", &id, err) != 0 ||
        cordon_fact_text_set(&facts->id, id, err) != 0 ||
        cordon_factread_fields(root, FIELDS(root_fields), facts, err) != 0 ||
        decode_config(root, facts, err) != 0 || decode_layers(root, facts, err) != 0)
        return -1;
    return cordon_factread_leftovers(root, FIELDS(harmless), &facts->unmodelled, err);
}

int podman_decode_image(const void *bytes, size_t length, cordon_image_facts *ret_facts,
                        cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_image_facts) facts = {0};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        decode_image(cordon_json_root(doc), &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_image_facts){0};
    return 0;
}

/* Left out or null: none. */
static int read_listed(cordon_json item, cordon_listed_image *listed, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"RepoTags", CORDON_READ_SET, offsetof(cordon_listed_image, names), CORDON_NULL_EMPTY},
        {"Labels", CORDON_READ_MAP, offsetof(cordon_listed_image, labels), CORDON_NULL_EMPTY},
        {"Size", CORDON_READ_INT, offsetof(cordon_listed_image, size_bytes), CORDON_NULL_UNKNOWN},
    };
    const char *id = NULL;
    if (podman_read_id(item, "Id", &id, err) != 0 ||
        cordon_fact_text_set(&listed->id, id, err) != 0 ||
        cordon_factread_fields(item, FIELDS(fields), listed, err) != 0)
        return -1;
    cordon_fact_list_known(&listed->names);
    cordon_fact_list_known(&listed->labels);
    return 0;
}

static int read_images(cordon_json array, cordon_image_list *list, cordon_err *err)
{
    size_t count = cordon_json_count(array);
    size_t i = 0;
    list->items = calloc(count > 0 ? count : 1, sizeof *list->items);
    if (!list->items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    list->count = count;
    for (cordon_json_iter it = cordon_json_iterate(array); cordon_json_next(&it);) {
        if (read_listed(it.value, &list->items[i++], err) != 0)
            return -1;
    }
    return 0;
}

/* Podman 4 answers "null" where there are none. */
int podman_decode_images(const void *bytes, size_t length, cordon_image_list *ret_list,
                         cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_image_list) list = {0};
    cordon_json_place root = {0};
    if (cordon_json_parse(bytes, length, PODMAN_LIST_MAX, 0, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &root, err) != 0)
        return -1;
    if (root.has == CORDON_JSON_PRESENT && read_images(root.value, &list, err) != 0)
        return -1;
    *ret_list = list;
    list = (cordon_image_list){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GET /volumes/{name}, who uses it, and the list of volumes to facts. */
#include "docker_decode_internal.h"

#include <string.h>

#define FIELD(key, kind, fact, null)                                                               \
    {                                                                                              \
        key, CORDON_READ_##kind, offsetof(cordon_volume_facts, fact), CORDON_NULL_##null           \
    }

static const cordon_factread_field volume_fields[] = {
    FIELD("Driver", TEXT, driver, UNKNOWN),        FIELD("Scope", TEXT, scope, UNKNOWN),
    FIELD("CreatedAt", TEXT, created_at, UNKNOWN), FIELD("Options", MAP, options, EMPTY),
    FIELD("Labels", MAP, labels, EMPTY),
};

/* SECURITY: each mount of it must lie there, so it is told, and of the driver's own form. */
static int read_place(cordon_json root, cordon_volume_facts *facts, cordon_err *err)
{
    cordon_json_place at = {0};
    const char *place = NULL;
    if (cordon_json_need_string(root, "Mountpoint", &place, err) != 0 ||
        cordon_json_get_any(root, "Mountpoint", &at, err) != 0)
        return -1;
    if (cordon_volume_is_place(facts->name, place))
        return cordon_fact_text_set(&facts->place, place, err);
    return cordon_factread_odd(at.value, place, &facts->unmodelled, err);
}

/* Nothing is passed over: what Docker shows beyond the fields is unmodelled. */
static int read_volume(cordon_json root, cordon_volume_facts *facts, cordon_err *err)
{
    const char *name = NULL;
    if (cordon_json_need_string(root, "Name", &name, err) != 0 ||
        cordon_fact_text_set(&facts->name, name, err) != 0 || read_place(root, facts, err) != 0 ||
        cordon_factread_fields(root, volume_fields, DOCKER_COUNT(volume_fields), facts, err) != 0)
        return -1;
    return cordon_factread_leftovers(root, NULL, 0, &facts->unmodelled, err);
}

int docker_decode_volume(const void *json, size_t length, cordon_volume_facts *ret_facts,
                         cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_volume_facts) facts = {0};
    cordon_json root = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        read_volume(root, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

int docker_decode_volume_created(const void *json, size_t length, const char *name, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json root = {0};
    const char *told = NULL;
    cordon_err cause = CORDON_ERR_INIT;
    if (docker_parse_object(json, length, &doc, &root, &cause) != 0 ||
        cordon_json_need_string(root, "Name", &told, &cause) != 0)
        return CORDON_FAIL(err, CORDON_ERR_INDETERMINATE,
                           "docker made it and its answer cannot be read: %s", cause.message);
    if (strcmp(told, name) != 0)
        return CORDON_FAIL(err, CORDON_ERR_INDETERMINATE,
                           "docker, create a volume: the answer is about %s", CORDON_QUOTE(told));
    return 0;
}

int docker_decode_users(const void *json, size_t length, cordon_fact_list *ret_users,
                        cordon_err *err)
{
    cordon_auto(cordon_list) list = {0};
    cordon_auto(cordon_fact_list) users = {0};
    if (docker_decode_list(CORDON_OBJECT_CONTAINER, json, length, &list, err) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        if (cordon_fact_list_add(&users, list.items[i].id, err) != 0)
            return -1;
    }
    cordon_fact_list_known(&users);
    cordon_fact_list_sort(&users);
    *ret_users = users;
    users = (cordon_fact_list){0};
    return 0;
}

/* SECURITY: of a list that is not whole, what is missing in it is not gone. */
static int refuse_partial_list(cordon_json root, cordon_err *err)
{
    cordon_auto(cordon_fact_list) warnings = {0};
    cordon_json_place place = {0};
    if (cordon_json_get_array(root, "Warnings", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT || cordon_json_count(place.value) == 0)
        return 0;
    if (cordon_factread_texts(place.value, &warnings, err) != 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_ENGINE, "the list of volumes may not be whole: %s",
                       CORDON_QUOTE(warnings.items[0]));
}

/* {"Volumes": [...] or null, "Warnings": null}; a volume's name is its id. */
int docker_decode_volumes(const void *json, size_t length, cordon_list *ret_list, cordon_err *err)
{
    static const cordon_factread_field fields[] = {
        {"Labels", CORDON_READ_MAP, offsetof(cordon_listed, labels), CORDON_NULL_EMPTY},
        {"Name", CORDON_READ_TEXT, offsetof(cordon_listed, name), CORDON_NULL_UNKNOWN},
    };
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_list) list = {0};
    cordon_json root = {0};
    cordon_json_place place = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        refuse_partial_list(root, err) != 0 ||
        cordon_json_get_array(root, "Volumes", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return cordon_json_fail(root, err, "no list of volumes");
    cordon_json_iter it = docker_items(place);
    size_t count = place.has == CORDON_JSON_PRESENT ? cordon_json_count(place.value) : 0;
    list.items = calloc(count > 0 ? count : 1, sizeof *list.items);
    if (!list.items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    while (cordon_json_next(&it)) {
        cordon_listed *listed = &list.items[list.count++];
        const char *name = NULL;
        if (cordon_json_need_string(it.value, "Name", &name, err) != 0 ||
            cordon_fact_text_set(&listed->id, name, err) != 0 ||
            cordon_factread_fields(it.value, fields, 2, listed, err) != 0)
            return -1;
    }
    *ret_list = list;
    list = (cordon_list){0};
    return 0;
}

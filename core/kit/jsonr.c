/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed getters over a JSON document. Each one marks what it looked at as read.
 */
#include "kit/jsonr.h"

#include <string.h>

#include "kit/json_doc.h"

const char *cordon_json_type_name(cordon_json_type type)
{
    static const char *const names[] = {"unknown", "null",   "boolean", "integer",
                                        "number",  "string", "array",   "object"};
    unsigned index = (unsigned)type;
    return names[index < sizeof names / sizeof names[0] ? index : 0];
}

cordon_json_type cordon_json_type_of(cordon_json at)
{
    return (cordon_json_type)cordon_json_node_of(at)->type;
}

size_t cordon_json_count(cordon_json at)
{
    return cordon_json_node_of(at)->count;
}

static int fail_type(cordon_json at, cordon_json_type want, cordon_err *err)
{
    return cordon_json_fail(at, err, "expected %s, found %s", cordon_json_type_name(want),
                            cordon_json_type_name(cordon_json_type_of(at)));
}

/* --- the value at a place --- */

/* NULL or the wanted type; anything else is an error. */
static int look(cordon_json at, cordon_json_type want, cordon_json_has *ret_has, cordon_err *err)
{
    cordon_json_type type = cordon_json_type_of(at);
    if (type != want && type != CORDON_JSON_TYPE_NULL)
        return fail_type(at, want, err);
    cordon_json_node_of(at)->read = true;
    *ret_has = type == CORDON_JSON_TYPE_NULL ? CORDON_JSON_NULL : CORDON_JSON_PRESENT;
    return 0;
}

static struct json_object *value_of(cordon_json at)
{
    return cordon_json_node_of(at)->value;
}

int cordon_json_as_bool(cordon_json at, cordon_json_bool *ret, cordon_err *err)
{
    cordon_json_bool found = {0};
    if (look(at, CORDON_JSON_TYPE_BOOL, &found.has, err) < 0)
        return -1;
    found.value = found.has == CORDON_JSON_PRESENT && json_object_get_boolean(value_of(at));
    *ret = found;
    return 0;
}

int cordon_json_as_i64(cordon_json at, cordon_json_i64 *ret, cordon_err *err)
{
    cordon_json_i64 found = {0};
    if (look(at, CORDON_JSON_TYPE_INT, &found.has, err) < 0)
        return -1;
    if (found.has == CORDON_JSON_PRESENT) {
        /* json-c clamps to the type that is asked for; the unsigned reading tells. */
        if (json_object_get_uint64(value_of(at)) > INT64_MAX)
            return cordon_json_fail(at, err, "an integer beyond the signed 64-bit range");
        found.value = json_object_get_int64(value_of(at));
    }
    *ret = found;
    return 0;
}

int cordon_json_as_u64(cordon_json at, cordon_json_u64 *ret, cordon_err *err)
{
    cordon_json_u64 found = {0};
    if (look(at, CORDON_JSON_TYPE_INT, &found.has, err) < 0)
        return -1;
    if (found.has == CORDON_JSON_PRESENT) {
        if (json_object_get_int64(value_of(at)) < 0)
            return cordon_json_fail(at, err, "a negative integer");
        found.value = json_object_get_uint64(value_of(at));
    }
    *ret = found;
    return 0;
}

int cordon_json_as_double(cordon_json at, cordon_json_double *ret, cordon_err *err)
{
    cordon_json_double found = {0};
    bool is_int = cordon_json_type_of(at) == CORDON_JSON_TYPE_INT;
    if (look(at, is_int ? CORDON_JSON_TYPE_INT : CORDON_JSON_TYPE_DOUBLE, &found.has, err) < 0)
        return -1;
    if (found.has == CORDON_JSON_PRESENT)
        found.value = json_object_get_double(value_of(at));
    *ret = found;
    return 0;
}

int cordon_json_as_string(cordon_json at, cordon_json_string *ret, cordon_err *err)
{
    cordon_json_string found = {0};
    if (look(at, CORDON_JSON_TYPE_STRING, &found.has, err) < 0)
        return -1;
    if (found.has == CORDON_JSON_PRESENT) {
        found.text = json_object_get_string(value_of(at));
        found.length = (size_t)json_object_get_string_len(value_of(at));
        /* SECURITY: what comes after a NUL would be invisible to every comparison. */
        if (memchr(found.text, 0, found.length))
            return cordon_json_fail(at, err, "a string with a NUL");
    }
    *ret = found;
    return 0;
}

static int as_place(cordon_json at, cordon_json_type want, cordon_json_place *ret, cordon_err *err)
{
    cordon_json_place found = {.value = at};
    if (look(at, want, &found.has, err) < 0)
        return -1;
    *ret = found;
    return 0;
}

int cordon_json_as_object(cordon_json at, cordon_json_place *ret, cordon_err *err)
{
    return as_place(at, CORDON_JSON_TYPE_OBJECT, ret, err);
}

int cordon_json_as_array(cordon_json at, cordon_json_place *ret, cordon_err *err)
{
    return as_place(at, CORDON_JSON_TYPE_ARRAY, ret, err);
}

static int as_any(cordon_json at, cordon_json_place *ret, cordon_err *err)
{
    return as_place(at, cordon_json_type_of(at), ret, err);
}

/* --- members --- */

static bool find_child(cordon_json object, const char *key, cordon_json *ret_at)
{
    const cordon_json_node *nodes = object.doc->nodes;
    for (uint32_t i = nodes[object.node].first_child; i != 0; i = nodes[i].next_sibling) {
        if (strcmp(nodes[i].key, key) == 0) {
            *ret_at = (cordon_json){.doc = object.doc, .node = i};
            return true;
        }
    }
    return false;
}

/* -1 when `object` is none; else whether it has the member. */
static int find_member(cordon_json object, const char *key, bool *ret_found, cordon_json *ret_at,
                       cordon_err *err)
{
    if (cordon_json_type_of(object) != CORDON_JSON_TYPE_OBJECT)
        return fail_type(object, CORDON_JSON_TYPE_OBJECT, err);
    cordon_json_node_of(object)->read = true;
    *ret_found = find_child(object, key, ret_at);
    return 0;
}

/* One getter: the member, and then the value at its place. */
#define DEFINE_GET(name, as, type)                                                                 \
    int cordon_json_get_##name(cordon_json object, const char *key, type *ret, cordon_err *err)    \
    {                                                                                              \
        bool found = false;                                                                        \
        cordon_json at = {0};                                                                      \
        if (find_member(object, key, &found, &at, err) < 0)                                        \
            return -1;                                                                             \
        if (found)                                                                                 \
            return as(at, ret, err);                                                               \
        *ret = (type){.has = CORDON_JSON_ABSENT};                                                  \
        return 0;                                                                                  \
    }

DEFINE_GET(bool, cordon_json_as_bool, cordon_json_bool)
DEFINE_GET(i64, cordon_json_as_i64, cordon_json_i64)
DEFINE_GET(u64, cordon_json_as_u64, cordon_json_u64)
DEFINE_GET(double, cordon_json_as_double, cordon_json_double)
DEFINE_GET(string, cordon_json_as_string, cordon_json_string)
DEFINE_GET(object, cordon_json_as_object, cordon_json_place)
DEFINE_GET(array, cordon_json_as_array, cordon_json_place)
DEFINE_GET(any, as_any, cordon_json_place)

static int require(cordon_json object, const char *key, cordon_json_has has, cordon_json_type want,
                   cordon_err *err)
{
    char path[CORDON_JSON_PATH_MAX];
    if (has == CORDON_JSON_PRESENT)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: %s, expected %s",
                       cordon_json_member_path(object, key, path, sizeof path),
                       has == CORDON_JSON_NULL ? "null" : "missing", cordon_json_type_name(want));
}

/* The mandatory form of a getter; `field` is what of its result is handed out. */
#define DEFINE_NEED(name, type, want, out, field)                                                  \
    int cordon_json_need_##name(cordon_json object, const char *key, out *ret, cordon_err *err)    \
    {                                                                                              \
        type found = {.has = CORDON_JSON_ABSENT};                                                  \
        if (cordon_json_get_##name(object, key, &found, err) < 0 ||                                \
            require(object, key, found.has, want, err) < 0)                                        \
            return -1;                                                                             \
        *ret = found.field;                                                                        \
        return 0;                                                                                  \
    }

DEFINE_NEED(bool, cordon_json_bool, CORDON_JSON_TYPE_BOOL, bool, value)
DEFINE_NEED(i64, cordon_json_i64, CORDON_JSON_TYPE_INT, int64_t, value)
DEFINE_NEED(string, cordon_json_string, CORDON_JSON_TYPE_STRING, const char *, text)
DEFINE_NEED(object, cordon_json_place, CORDON_JSON_TYPE_OBJECT, cordon_json, value)
DEFINE_NEED(array, cordon_json_place, CORDON_JSON_TYPE_ARRAY, cordon_json, value)

/* --- iteration --- */

cordon_json_iter cordon_json_iterate(cordon_json container)
{
    return (cordon_json_iter){.value = {.doc = container.doc, .node = container.node},
                              .following = cordon_json_node_of(container)->first_child};
}

bool cordon_json_next(cordon_json_iter *iter)
{
    if (iter->following == 0)
        return false;
    iter->value.node = iter->following;
    const cordon_json_node *node = cordon_json_node_of(iter->value);
    iter->key = node->key;
    iter->index = node->index;
    iter->following = node->next_sibling;
    return true;
}

void cordon_json_consume(cordon_json at)
{
    cordon_json_node_of(at)->consumed = true;
}

void cordon_json_consume_key(cordon_json object, const char *key)
{
    cordon_json at = {0};
    if (cordon_json_type_of(object) == CORDON_JSON_TYPE_OBJECT && find_child(object, key, &at))
        cordon_json_consume(at);
}

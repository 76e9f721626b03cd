/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a document nobody read: the closed-world half of the JSON reader.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kit/json_doc.h"

#define VALUE_MAX 96

static bool is_empty(const cordon_json_node *node)
{
    switch ((cordon_json_type)node->type) {
    case CORDON_JSON_TYPE_NULL:
        return true;
    case CORDON_JSON_TYPE_BOOL:
        return !json_object_get_boolean(node->value);
    case CORDON_JSON_TYPE_INT:
        /* Both readings, because each clamps on its own side. */
        return json_object_get_int64(node->value) == 0 && json_object_get_uint64(node->value) == 0;
    case CORDON_JSON_TYPE_DOUBLE:
        return json_object_get_double(node->value) == 0.0;
    case CORDON_JSON_TYPE_STRING:
        return json_object_get_string_len(node->value) == 0;
    case CORDON_JSON_TYPE_ARRAY:
    case CORDON_JSON_TYPE_OBJECT:
        return node->count == 0;
    case CORDON_JSON_TYPE_UNKNOWN:
        break;
    }
    return false;
}

static void render_string(struct json_object *value, char *ret_text, size_t size)
{
    char plain[VALUE_MAX - 4];
    (void)cordon_err_printable(plain, sizeof plain, json_object_get_string(value),
                               (size_t)json_object_get_string_len(value));
    (void)snprintf(ret_text, size, "\"%s\"", plain);
}

static void render_int(struct json_object *value, char *ret_text, size_t size)
{
    if (json_object_get_uint64(value) > INT64_MAX)
        (void)snprintf(ret_text, size, "%" PRIu64, json_object_get_uint64(value));
    else
        (void)snprintf(ret_text, size, "%" PRId64, json_object_get_int64(value));
}

static void render(const cordon_json_node *node, char *ret_text, size_t size)
{
    const char *word = "?";
    switch ((cordon_json_type)node->type) {
    case CORDON_JSON_TYPE_STRING:
        render_string(node->value, ret_text, size);
        return;
    case CORDON_JSON_TYPE_INT:
        render_int(node->value, ret_text, size);
        return;
    case CORDON_JSON_TYPE_DOUBLE:
        (void)snprintf(ret_text, size, "%g", json_object_get_double(node->value));
        return;
    case CORDON_JSON_TYPE_NULL:
        word = "null";
        break;
    case CORDON_JSON_TYPE_BOOL:
        word = json_object_get_boolean(node->value) ? "true" : "false";
        break;
    case CORDON_JSON_TYPE_ARRAY:
        word = "[]";
        break;
    case CORDON_JSON_TYPE_OBJECT:
        word = "{}";
        break;
    case CORDON_JSON_TYPE_UNKNOWN:
        break;
    }
    (void)snprintf(ret_text, size, "%s", word);
}

static int report(cordon_json at, cordon_json_leftover_fn *fn, void *context, cordon_err *err)
{
    const cordon_json_node *node = cordon_json_node_of(at);
    char value[VALUE_MAX];
    render(node, value, sizeof value);
    cordon_json_leftover leftover = {
        .path = CORDON_JSON_PATH(at),
        .at = at,
        .type = (cordon_json_type)node->type,
        .empty = is_empty(node),
        .value = value,
    };
    return fn(context, &leftover, err);
}

int cordon_json_leftovers(cordon_json at, cordon_json_leftover_fn *fn, void *context,
                          cordon_err *err)
{
    const cordon_json_node *node = cordon_json_node_of(at);
    if (node->consumed)
        return 0;
    if (node->count == 0)
        return node->read ? 0 : report(at, fn, context, err);
    for (cordon_json_iter it = cordon_json_iterate(at); cordon_json_next(&it);)
        if (cordon_json_leftovers(it.value, fn, context, err) < 0)
            return -1;
    return 0;
}

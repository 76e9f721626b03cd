/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to document: the strict scan, json-c's decoding, and the table that joins them. A
 * disagreement between the two readers refuses the text.
 */
#include "kit/json_doc.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

#include "kit/json_scan.h"

static void free_tokener(struct json_tokener **tokener)
{
    if (*tokener)
        json_tokener_free(*tokener);
}

static void free_counts(cordon_json_counts *counts)
{
    free(counts->at);
}

/* json-c reads the text once more, strictly; it may not find anything else than the scan. */
static int decode(const char *text, size_t length, unsigned max_depth,
                  struct json_object **ret_root, cordon_err *err)
{
    /* json-c counts the scalar inside the innermost container as a level. */
    cordon_cleanup(free_tokener) struct json_tokener *tokener =
        json_tokener_new_ex((int)max_depth + 2);
    if (!tokener)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for the JSON reader");
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)length);
    /* A bare number has no end of its own. */
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        root = json_tokener_parse_ex(tokener, " ", 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    if (error != json_tokener_success)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not JSON: %s",
                           json_tokener_error_desc(error));
    *ret_root = root;
    return 0;
}

static cordon_json_type type_of_value(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return CORDON_JSON_TYPE_NULL;
    case json_type_boolean:
        return CORDON_JSON_TYPE_BOOL;
    case json_type_double:
        return CORDON_JSON_TYPE_DOUBLE;
    case json_type_int:
        return CORDON_JSON_TYPE_INT;
    case json_type_object:
        return CORDON_JSON_TYPE_OBJECT;
    case json_type_array:
        return CORDON_JSON_TYPE_ARRAY;
    case json_type_string:
        return CORDON_JSON_TYPE_STRING;
    default:
        return CORDON_JSON_TYPE_UNKNOWN;
    }
}

static uint32_t count_of_value(struct json_object *value, cordon_json_type type)
{
    if (type == CORDON_JSON_TYPE_OBJECT)
        return (uint32_t)json_object_object_length(value);
    if (type == CORDON_JSON_TYPE_ARRAY)
        return (uint32_t)json_object_array_length(value);
    return 0;
}

/* The table being filled. `last` is the child before, or 0. */
typedef struct filler {
    cordon_json_doc *doc;
    const cordon_json_counts *counts;
    cordon_err *err;
} filler;

static int fill(filler *f, struct json_object *value, uint32_t *ret_node);

static int fill_child(filler *f, uint32_t parent, uint32_t *last, const char *key, uint32_t index,
                      struct json_object *value)
{
    uint32_t child = f->doc->length;
    /* Never past the scan's count; a tree that wants more is a disagreement. */
    if (child == f->counts->length)
        return CORDON_FAIL(f->err, CORDON_ERR_PROTOCOL, "not JSON: two readings differ");
    cordon_json_node *nodes = f->doc->nodes;
    nodes[child] = (cordon_json_node){.parent = parent, .key = key, .index = index};
    *(*last ? &nodes[*last].next_sibling : &nodes[parent].first_child) = child;
    *last = child;
    return fill(f, value, &child);
}

static int fill_object(filler *f, uint32_t node, struct json_object *value)
{
    uint32_t last = 0;
    uint32_t index = 0;
    struct json_object_iterator it = json_object_iter_begin(value);
    struct json_object_iterator end = json_object_iter_end(value);
    for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it))
        if (fill_child(f, node, &last, json_object_iter_peek_name(&it), index++,
                       json_object_iter_peek_value(&it)) < 0)
            return -1;
    return 0;
}

static int fill_array(filler *f, uint32_t node, struct json_object *value)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < f->doc->nodes[node].count; i++)
        if (fill_child(f, node, &last, NULL, i, json_object_array_get_idx(value, i)) < 0)
            return -1;
    return 0;
}

/* Completes the node that was begun at the table's end, and everything below it. */
static int fill(filler *f, struct json_object *value, uint32_t *ret_node)
{
    uint32_t at = f->doc->length++;
    cordon_json_node *node = &f->doc->nodes[at];
    cordon_json place = {.doc = f->doc, .node = at};
    cordon_json_type type = type_of_value(value);
    node->value = value;
    node->type = (unsigned char)type;
    node->count = count_of_value(value, type);
    *ret_node = at;
    if (type == CORDON_JSON_TYPE_DOUBLE && !isfinite(json_object_get_double(value)))
        return cordon_json_fail(place, f->err, "a number beyond 64 bits");
    if (node->count != f->counts->at[at])
        return cordon_json_fail(place, f->err, "a key appears twice (%u members, %u names)",
                                f->counts->at[at], node->count);
    if (type == CORDON_JSON_TYPE_OBJECT)
        return fill_object(f, at, value);
    return type == CORDON_JSON_TYPE_ARRAY ? fill_array(f, at, value) : 0;
}

static int build(cordon_json_doc *doc, const cordon_json_counts *counts, cordon_err *err)
{
    uint32_t root = 0;
    doc->nodes = calloc(counts->length, sizeof doc->nodes[0]);
    if (!doc->nodes)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for %u JSON values", counts->length);
    filler f = {.doc = doc, .counts = counts, .err = err};
    if (fill(&f, doc->root, &root) < 0)
        return -1;
    if (doc->length != counts->length)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not JSON: two readings differ");
    return 0;
}

int cordon_json_parse(const void *bytes, size_t length, size_t max_bytes, unsigned max_depth,
                      cordon_json_doc **ret_doc, cordon_err *err)
{
    cordon_cleanup(free_counts) cordon_json_counts counts = {0};
    unsigned depth = max_depth ? max_depth : CORDON_JSON_DEPTH_DEFAULT;
    assert(depth <= CORDON_JSON_DEPTH_MAX && max_bytes <= INT_MAX);
    if (length > max_bytes)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%zu bytes of JSON are over the limit of %zu",
                           length, max_bytes);
    if (length == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "an empty text where JSON belongs");
    if (cordon_json_scan(bytes, length, depth, &counts, err) < 0)
        return -1;
    cordon_auto_ptr(cordon_json_doc) doc = calloc(1, sizeof *doc);
    if (!doc)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for a JSON document");
    if (decode(bytes, length, depth, &doc->root, err) < 0 || build(doc, &counts, err) < 0)
        return -1;
    *ret_doc = CORDON_TAKE(doc);
    return 0;
}

void cordon_json_free(cordon_json_doc *doc)
{
    if (!doc)
        return;
    (void)json_object_put(doc->root);
    free(doc->nodes);
    free(doc);
}

cordon_json cordon_json_root(cordon_json_doc *doc)
{
    return (cordon_json){.doc = doc, .node = 0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document behind jsonr.h, private to kit: a flat table of places in the order in which they
 * begin in the text. A table of our own, because json-c has no object for null and nowhere to
 * remember what was read.
 */
#ifndef CORDON_KIT_JSON_DOC_H
#define CORDON_KIT_JSON_DOC_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/jsonr.h"

/* 0 is the root, which is nobody's child, so 0 also means "none". */
typedef struct cordon_json_node {
    struct json_object *value; /* borrowed from the root's tree; NULL is null */
    const char *key;           /* borrowed from the tree; NULL outside an object */
    uint32_t parent;
    uint32_t first_child;
    uint32_t next_sibling;
    uint32_t index; /* position in the parent */
    uint32_t count;
    unsigned char type; /* cordon_json_type */
    bool read;
    bool consumed;
} cordon_json_node;

struct cordon_json_doc {
    struct json_object *root;
    cordon_json_node *nodes;
    uint32_t length;
};

/* Limits the recursion of the walks. */
#define CORDON_JSON_DEPTH_MAX 256

/* The path that a member would have; it need not exist. */
const char *cordon_json_member_path(cordon_json object, const char *key, char *ret_text,
                                    size_t size);

static inline cordon_json_node *cordon_json_node_of(cordon_json at)
{
    return &at.doc->nodes[at.node];
}

#endif

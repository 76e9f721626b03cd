/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing one place of a JSON text and leaving every other byte as it is. For tests that alter
 * recorded or passing answers; the text must be valid JSON.
 */
#ifndef CORDON_TESTS_SUPPORT_JSON_TEXT_H
#define CORDON_TESTS_SUPPORT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/cleanup.h"

#define JSON_TEXT_NONE SIZE_MAX

typedef enum json_text_type {
    JSON_TEXT_NULL = 0,
    JSON_TEXT_BOOL,
    JSON_TEXT_NUMBER,
    JSON_TEXT_STRING,
    JSON_TEXT_ARRAY,
    JSON_TEXT_OBJECT,
} json_text_type;

/*
 * One value: where it stands, where its member or element begins (at the key), what it is in,
 * how many it holds, and its path in the form of cordon_json_path.
 */
typedef struct json_text_place {
    size_t begin;
    size_t end;
    size_t member;
    size_t parent; /* index; JSON_TEXT_NONE for the root */
    size_t count;
    json_text_type type;
    char path[320];
} json_text_place;

/* All values of a text, containers before what they hold. */
typedef struct json_text {
    const char *text; /* borrowed */
    size_t count;
    json_text_place *places;
} json_text;

/* False when the text is not JSON. */
bool json_text_read(const char *text, json_text *ret_json);
void json_text_clear(json_text *json);
CORDON_DEFINE_AUTO(json_text, json_text_clear)

/* Index of the place with this path, or JSON_TEXT_NONE. */
size_t json_text_find(const json_text *json, const char *path);

/* Scalar, or an empty container. */
bool json_text_is_leaf(const json_text_place *place);

/* Each makes a new text, which the caller frees. */
char *json_text_replace(const json_text *json, size_t at, const char *value);
/* Without the member or element; not for the root. */
char *json_text_drop(const json_text *json, size_t at);
/* With one more: "\"key\": value" in an object, "value" in an array. */
char *json_text_extend(const json_text *json, size_t container, const char *more);

#endif

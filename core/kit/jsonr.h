/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON reading (RFC 8259) for text that decides about safety; the only reader that touches
 * json-c. Refused as a whole, before any value can be seen: duplicate keys (compared unescaped),
 * trailing text, NaN and Infinity, comments, single quotes, raw control characters, lone
 * surrogates, invalid UTF-8, numbers beyond 64 bits, too much depth or size.
 *
 * Absent, null and present are three things. Every error names the JSON path. The document
 * remembers what was read, so that a caller can ask for the leftovers and refuse what it does not
 * know: nothing of an answer is ever ignored by accident.
 *
 * One document is used by one thread.
 */
#ifndef CORDON_KIT_JSONR_H
#define CORDON_KIT_JSONR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/cleanup.h"
#include "kit/error.h"

#define CORDON_JSON_DEPTH_DEFAULT 64
#define CORDON_JSON_PATH_MAX      320

typedef enum cordon_json_has {
    CORDON_JSON_ABSENT = 0,
    CORDON_JSON_NULL,
    CORDON_JSON_PRESENT,
} cordon_json_has;

typedef enum cordon_json_type {
    CORDON_JSON_TYPE_UNKNOWN = 0,
    CORDON_JSON_TYPE_NULL,
    CORDON_JSON_TYPE_BOOL,
    CORDON_JSON_TYPE_INT,
    CORDON_JSON_TYPE_DOUBLE,
    CORDON_JSON_TYPE_STRING,
    CORDON_JSON_TYPE_ARRAY,
    CORDON_JSON_TYPE_OBJECT,
} cordon_json_type;

/* "boolean", "string", ... for messages. */
const char *cordon_json_type_name(cordon_json_type type);

typedef struct cordon_json_doc cordon_json_doc;

/* A place in a document: two words, passed by value, valid as long as the document. */
typedef struct cordon_json {
    cordon_json_doc *doc;
    uint32_t node;
} cordon_json;

/*
 * Parses one whole text. The bytes may be freed afterwards.
 * @param max_bytes  refused when longer
 * @param max_depth  containers inside each other; 0 means CORDON_JSON_DEPTH_DEFAULT
 * @return 0, or -1 with PROTOCOL (byte offset and reason) or NOMEM
 */
int cordon_json_parse(const void *bytes, size_t length, size_t max_bytes, unsigned max_depth,
                      cordon_json_doc **ret_doc, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_json_free(cordon_json_doc *doc);
CORDON_DEFINE_AUTO_PTR(cordon_json_doc, cordon_json_free)

cordon_json cordon_json_root(cordon_json_doc *doc);

cordon_json_type cordon_json_type_of(cordon_json at);

/* Members or elements of a container, 0 for anything else. */
size_t cordon_json_count(cordon_json at);

/* "$.HostConfig.Binds[0]" or "$.Labels[\"a.b\"]"; always fits, cut with "..." if it must. */
const char *cordon_json_path(cordon_json at, char *ret_text, size_t size);

/* Scratch for a path until the end of the block. */
#define CORDON_JSON_PATH(at)                                                                       \
    cordon_json_path((at), (char[CORDON_JSON_PATH_MAX]){0}, CORDON_JSON_PATH_MAX)

/* -1 with PROTOCOL "<path>: <text>", for a caller that does not like a value. */
int cordon_json_fail(cordon_json at, cordon_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a getter found; the value is meaningful only when has is CORDON_JSON_PRESENT. */
typedef struct cordon_json_bool {
    cordon_json_has has;
    bool value;
} cordon_json_bool;
typedef struct cordon_json_i64 {
    cordon_json_has has;
    int64_t value;
} cordon_json_i64;
typedef struct cordon_json_u64 {
    cordon_json_has has;
    uint64_t value;
} cordon_json_u64;
typedef struct cordon_json_double {
    cordon_json_has has;
    double value;
} cordon_json_double;
/* text is NUL-terminated, holds no other NUL, and lives as long as the document. */
typedef struct cordon_json_string {
    cordon_json_has has;
    const char *text;
    size_t length;
} cordon_json_string;
typedef struct cordon_json_place {
    cordon_json_has has;
    cordon_json value;
} cordon_json_place;

/*
 * Member `key` of an object, tri-state. Success with ABSENT or NULL is success: the caller decides.
 * -1 with PROTOCOL and the path when `object` is no object or the value has another type (also: an
 * integer that does not fit exactly, a string with a NUL). What was looked at counts as read.
 */
int cordon_json_get_bool(cordon_json object, const char *key, cordon_json_bool *ret,
                         cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_get_i64(cordon_json object, const char *key, cordon_json_i64 *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_get_u64(cordon_json object, const char *key, cordon_json_u64 *ret, cordon_err *err)
    __attribute__((warn_unused_result));
/* An integer is a double, too. */
int cordon_json_get_double(cordon_json object, const char *key, cordon_json_double *ret,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_get_string(cordon_json object, const char *key, cordon_json_string *ret,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_get_object(cordon_json object, const char *key, cordon_json_place *ret,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_get_array(cordon_json object, const char *key, cordon_json_place *ret,
                          cordon_err *err) __attribute__((warn_unused_result));
/* Any type. */
int cordon_json_get_any(cordon_json object, const char *key, cordon_json_place *ret,
                        cordon_err *err) __attribute__((warn_unused_result));

/* The value at a place itself: array elements, members found by iteration, the root. */
int cordon_json_as_bool(cordon_json at, cordon_json_bool *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_i64(cordon_json at, cordon_json_i64 *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_u64(cordon_json at, cordon_json_u64 *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_double(cordon_json at, cordon_json_double *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_string(cordon_json at, cordon_json_string *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_object(cordon_json at, cordon_json_place *ret, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_as_array(cordon_json at, cordon_json_place *ret, cordon_err *err)
    __attribute__((warn_unused_result));

/* The mandatory forms: absent and null are PROTOCOL, too ("$.Id: missing, expected string"). */
int cordon_json_need_bool(cordon_json object, const char *key, bool *ret_value, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_need_i64(cordon_json object, const char *key, int64_t *ret_value, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_json_need_string(cordon_json object, const char *key, const char **ret_text,
                            cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_need_object(cordon_json object, const char *key, cordon_json *ret_value,
                            cordon_err *err) __attribute__((warn_unused_result));
int cordon_json_need_array(cordon_json object, const char *key, cordon_json *ret_value,
                           cordon_err *err) __attribute__((warn_unused_result));

/*
 * Members or elements in document order:
 *   for (cordon_json_iter it = cordon_json_iterate(at); cordon_json_next(&it);) ...
 * key is NULL in an array; it may hold no NUL (parse refuses such keys). Seeing a value by
 * iteration does not count as reading it. Something that is no container has no members.
 */
typedef struct cordon_json_iter {
    cordon_json value;
    const char *key;
    size_t index;
    uint32_t following;
} cordon_json_iter;
cordon_json_iter cordon_json_iterate(cordon_json container);
bool cordon_json_next(cordon_json_iter *iter);

/* Counts the whole subtree as read: known and harmless, or judged by other means. */
void cordon_json_consume(cordon_json at);
/* The same for one member; nothing happens when it is absent. */
void cordon_json_consume_key(cordon_json object, const char *key);

/*
 * One leaf that nobody read. A leaf is a scalar or an empty container.
 * path   exact unless it had to be cut ("..." at its end); keys that are not plain words stand in
 *        ["..."] with escapes, so no foreign key can look like another path
 * empty  null, false, 0, "", [] or {}: a default, not a setting
 * value  short printable rendering
 */
typedef struct cordon_json_leftover {
    const char *path;
    cordon_json at;
    cordon_json_type type;
    bool empty;
    const char *value;
} cordon_json_leftover;

/* 0 goes on; -1 with err stops the walk. */
typedef int cordon_json_leftover_fn(void *context, const cordon_json_leftover *leftover,
                                    cordon_err *err);

/* Walks everything at and below `at` that was neither read nor consumed, in document order. */
int cordon_json_leftovers(cordon_json at, cordon_json_leftover_fn *fn, void *context,
                          cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table-driven reading of an engine's JSON into facts, for both engines' decoders: which key goes
 * into which fact, and which keys may be ignored and why, are two tables; everything else that
 * holds something ends in the facts' `unmodelled` list. Pure: JSON in, facts out, no verdict.
 */
#ifndef CORDON_FACTREAD_H
#define CORDON_FACTREAD_H

#include "facts.h"
#include "kit/jsonr.h"

/* What the JSON value must be, and what the fact is. Any other type is PROTOCOL with the path. */
typedef enum cordon_factread_kind {
    CORDON_READ_NOTHING = 0,
    CORDON_READ_TEXT, /* string -> cordon_fact_text */
    CORDON_READ_BOOL, /* boolean -> cordon_fact_bool */
    CORDON_READ_INT,  /* integer -> cordon_fact_int */
    CORDON_READ_LIST, /* array of strings -> cordon_fact_list, order kept */
    CORDON_READ_SET,  /* array of strings -> cordon_fact_list, sorted */
    CORDON_READ_MAP,  /* object of strings -> cordon_fact_list of "key=value", sorted */
    CORDON_READ_KEYS, /* object -> cordon_fact_list of its keys, sorted; values are not read */
} cordon_factread_kind;

/*
 * key     member of the object at hand
 * offset  of the fact in the facts structure
 * null    what a JSON null says; see below
 */
typedef enum cordon_factread_null {
    CORDON_NULL_UNKNOWN = 0, /* nothing: the fact stays unknown */
    CORDON_NULL_EMPTY,       /* documented as the empty list, "" , 0 or false */
} cordon_factread_null;

typedef struct cordon_factread_field {
    const char *key;
    cordon_factread_kind kind;
    size_t offset;
    cordon_factread_null null;
} cordon_factread_field;

/*
 * Reads the fields that the object has. An absent key leaves its fact unknown: absent is not off.
 * @return 0, or -1 with PROTOCOL (mistyped; names the path) or NOMEM
 */
int cordon_factread_fields(cordon_json object, const cordon_factread_field *fields, size_t count,
                           void *facts, cordon_err *err) __attribute__((warn_unused_result));

/* One value by the same rules, for places that no table reaches. */
int cordon_factread_texts(cordon_json array, cordon_fact_list *list, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_factread_map(cordon_json object, cordon_fact_list *list, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * A key that may hold anything, and why. Steps of a path: ".Key" is that member, ".*" any member,
 * "[*]" any element; a final "**" is the whole subtree below.
 *   { "$.NetworkSettings.Networks.*.EndpointID", "an id of libnetwork's own" }
 *   { "$.GraphDriver**", "where the layers lie on the host" }
 */
typedef struct cordon_factread_harmless {
    const char *path;
    const char *reason;
} cordon_factread_harmless;

/*
 * Adds "$.path = value" to `unmodelled` for everything at and below `root` that nobody read, that
 * is not empty (null, false, 0, "", [] or {}) and that `table` does not excuse; and marks the list
 * known. Call it last. SECURITY: this is what makes a decoder closed-world.
 */
int cordon_factread_leftovers(cordon_json root, const cordon_factread_harmless *table, size_t count,
                              cordon_fact_list *unmodelled, cordon_err *err)
    __attribute__((warn_unused_result));

/* Reports a value that was read and has no normal form, as "$.path = "text"". */
int cordon_factread_odd(cordon_json at, const char *text, cordon_fact_list *unmodelled,
                        cordon_err *err) __attribute__((warn_unused_result));

/* True when the path of a leftover is one that the pattern names; exposed for tests. */
bool cordon_factread_path_matches(const char *pattern, const char *path);

#endif

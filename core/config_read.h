/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a configuration text into a struct by a closed table: every key is named in the table
 * with its type, range and place, and everything else is an error that names file, line and key.
 * The tables live with their owners (config_schema.c, vendor.c); config_read.c is the only file
 * that includes libconfig.
 */
#ifndef CORDON_CONFIG_READ_H
#define CORDON_CONFIG_READ_H

#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

/* The type in the target struct stands behind each. */
typedef enum cordon_key_type {
    CORDON_KEY_TEXT = 1, /* char * */
    CORDON_KEY_CHOICE,   /* int: one of the table's values */
    CORDON_KEY_FLAG,     /* bool */
    CORDON_KEY_COUNT,    /* int64_t */
    CORDON_KEY_SIZE,     /* int64_t bytes: "512MiB", or a plain number of bytes */
    CORDON_KEY_DURATION, /* int64_t milliseconds: "10m"; a unit is always needed */
    CORDON_KEY_CPUS,     /* int64_t 1e-9 processors: 2 or 1.5; min and max in the same unit */
    CORDON_KEY_TEXTS,    /* cordon_text_list */
    CORDON_KEY_ARGVS,    /* struct { size_t count; cordon_text_list *items; } */
    CORDON_KEY_GROUP,    /* the nested struct itself */
    CORDON_KEY_ITEMS,    /* struct { size_t count; T *items; } of nested structs */
} cordon_key_type;

enum {
    CORDON_KEY_REQUIRED = 1U << 0,
    CORDON_KEY_LOWER = 1U << 1, /* text is held in lower case */
    CORDON_KEY_PATH = 1U << 2,  /* text is a path; a relative one starts at the file's folder */
};

/* A name that a CHOICE may have; a table ends with NULL. */
typedef struct cordon_choice {
    const char *name;
    int value;
} cordon_choice;

typedef int cordon_text_check_fn(const char *text, cordon_err *err);

/*
 * min, max   numbers: the range; TEXT, TEXTS: length of a text in bytes
 * max_items  lists
 * check      TEXT, TEXTS: further rule with its reason; may be NULL
 * form       TEXT, TEXTS: what to write, for messages: "a name such as \"ci\""
 */
typedef struct cordon_key {
    const char *name;
    cordon_key_type type;
    unsigned flags;
    size_t offset;
    int64_t min;
    int64_t max;
    size_t max_items;
    cordon_text_check_fn *check;
    const char *form;
    const cordon_choice *choices;
    const struct cordon_schema *sub; /* GROUP, ITEMS */
} cordon_key;

typedef struct cordon_schema {
    const cordon_key *keys;
    size_t count;
    size_t size; /* of the struct, for ITEMS */
} cordon_schema;

/* Where a rule over several keys found the fault: a path for config_lookup, "engines.[1].name". */
#define CORDON_FAULT_MAX 64

/* Checks the whole struct after one text. On -1 fault names the key and err the reason. */
typedef int cordon_finish_fn(void *target, void *context, char fault[CORDON_FAULT_MAX],
                             cordon_err *err);

/*
 * Applies a text to a struct that holds earlier values (zeroed, or defaults, or another file's).
 * @param file    absolute path, for messages and relative paths
 * @param finish  may be NULL
 * @return 0, or -1 with CONFIG "FILE:LINE: KEY: reason; form", or NOMEM; then the struct is
 *         partly changed and only fit for clearing
 */
int cordon_config_read(const char *file, const char *text, size_t length,
                       const cordon_schema *schema, void *target, cordon_finish_fn *finish,
                       void *context, cordon_err *err) __attribute__((warn_unused_result));

/* Frees everything that the schema's keys own in the struct and zeroes it. */
void cordon_schema_clear(const cordon_schema *schema, void *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to config_*.c: single values of a configuration against their key - type, range, form -
 * without libconfig, and the words that tell what a key takes.
 */
#ifndef CORDON_CONFIG_VALUE_H
#define CORDON_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "config_read.h"

/* Room for "what it takes". */
#define CORDON_FORM_MAX 320

typedef enum cordon_value_type {
    CORDON_VALUE_OTHER = 0, /* a list, a group, nothing */
    CORDON_VALUE_NUMBER,
    CORDON_VALUE_FRACTION,
    CORDON_VALUE_TEXT,
    CORDON_VALUE_FLAG,
} cordon_value_type;

typedef struct cordon_value {
    cordon_value_type type;
    int64_t number;
    double fraction;
    const char *text;
    bool flag;
} cordon_value;

/* "a size from 16MiB to 16TiB, such as "512MiB"". @return form */
const char *cordon_value_form(const cordon_key *key, char form[CORDON_FORM_MAX]);

/* Whether the value's type is one that the number key can be written as. */
bool cordon_value_fits(const cordon_key *key, const cordon_value *value);

/* The exact number in the key's unit and range. @return 0, or -1 with CONFIG: the reason alone */
int cordon_value_number(const cordon_key *key, const cordon_value *value, int64_t *ret_number,
                        cordon_err *err) __attribute__((warn_unused_result));

/* "unknown key; known here: a, b", with the nearest one. name may be NULL. */
void cordon_value_unknown(const cordon_schema *schema, const char *name,
                          char ret_reason[CORDON_FORM_MAX]);

int cordon_value_choice(const cordon_key *key, const char *text, int *ret_value, cordon_err *err)
    __attribute__((warn_unused_result));

/* A checked copy, lower-cased or made absolute as the key's flags say. */
int cordon_value_text(const cordon_key *key, const char *text, const char *file, char **ret_text,
                      cordon_err *err) __attribute__((warn_unused_result));

#endif

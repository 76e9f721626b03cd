/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts behind cordon/explain.h: one table per family of facts. A new fact needs a row here;
 * tests/unit/test_explain.c and tests/lint/explained name the one that has none. Refusal codes have
 * theirs in refusal.h.
 */
#ifndef CORDON_EXPLAIN_INTERNAL_H
#define CORDON_EXPLAIN_INTERNAL_H

#include <stddef.h>

/*
 * name   with its family's; what follows it behind a '.' or '[' is the same fact
 * next   NULL: what the family says
 */
typedef struct cordon_explain_row {
    const char *name;
    const char *means;
    const char *stops;
    const char *next;
} cordon_explain_row;

#define CORDON_EXPLAIN_OBJECTS 3

/*
 * name      what the names of all its rows begin with
 * kind      as in cordon_explanation
 * objects   what stands in refusals in place of name ("step."); NULL for none
 * next      what to do where a row does not say
 */
typedef struct cordon_explain_family {
    const char *name;
    const char *kind;
    const char *objects[CORDON_EXPLAIN_OBJECTS];
    const cordon_explain_row *rows;
    size_t count;
    const char *next;
} cordon_explain_family;

#define CORDON_EXPLAIN_ENGINE 4
#define CORDON_EXPLAIN_OTHERS 4
extern const cordon_explain_family cordon_explain_engine[CORDON_EXPLAIN_ENGINE];
extern const cordon_explain_family cordon_explain_others[CORDON_EXPLAIN_OTHERS];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to an object of a run by its id, whatever its type is: disposal and collection ask
 * here, so that no type can be looked at by one operation and removed by another's.
 */
#ifndef CORDON_OBJECT_OPS_H
#define CORDON_OBJECT_OPS_H

#include "engine.h"

/*
 * What a removal has to know of an object. Unknown where the type does not have it.
 * users     containers on a network, or that have a volume
 * exec_ids  of a container
 */
typedef struct cordon_object_facts {
    cordon_fact_list labels;
    cordon_fact_list users;
    cordon_fact_list exec_ids;
} cordon_object_facts;

void cordon_object_facts_clear(cordon_object_facts *facts);
CORDON_DEFINE_AUTO(cordon_object_facts, cordon_object_facts_clear)

/* As the type's own inspect of engine.h; INVALID for a type that a run has no objects of. */
int cordon_object_inspect(const cordon_engine_ops *ops, void *impl, cordon_object_type type,
                          const char *id, cordon_deadline dl, cordon_object_facts *ret_facts,
                          cordon_err *err) __attribute__((warn_unused_result));

/* As the type's own removal of engine.h; INVALID likewise. */
int cordon_object_remove(const cordon_engine_ops *ops, void *impl, cordon_object_type type,
                         const char *id, cordon_deadline dl, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

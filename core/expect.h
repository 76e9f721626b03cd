/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan, seen as the facts that an engine must show. Pure; the same for every engine, because
 * decoders bring facts into one normal form (facts.h).
 */
#ifndef CORDON_EXPECT_H
#define CORDON_EXPECT_H

#include "plan.h"

/* When an object is looked at. The bits are used in validation's tables. */
typedef enum cordon_round {
    CORDON_ROUND_CREATED = 1, /* made, not started */
    CORDON_ROUND_RUNNING = 2, /* proxy serving, step at its gate */
} cordon_round;

/* Ids of the run's containers, as far as they are known: "" while not. */
typedef struct cordon_run_ids {
    char proxy[CORDON_ID_HEX + 1];
    char step[CORDON_ID_HEX + 1];
    char keeper[CORDON_ID_HEX + 1];
} cordon_run_ids;

int cordon_expect_container(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                            cordon_round round, cordon_container_facts *ret_facts, cordon_err *err)
    __attribute__((warn_unused_result));

/* What the engine's OCI runtime must have got (expect_runtime.c). */
int cordon_expect_runtime(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                          cordon_runtime_facts *ret_facts, cordon_err *err)
    __attribute__((warn_unused_result));

/* first: what was seen of the volume when it was made; NULL for that look itself. */
int cordon_expect_volume(const cordon_plan *plan, const cordon_run_ids *ids,
                         const cordon_volume_facts *first, cordon_volume_facts *ret_facts,
                         cordon_err *err) __attribute__((warn_unused_result));

int cordon_expect_network(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                          cordon_round round, cordon_network_facts *ret_facts, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

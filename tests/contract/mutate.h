/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mutation suite: every leaf of a recorded inspection is flipped, dropped, retyped, nulled,
 * emptied and extended, one at a time, and unknown and repeated keys are put in at every level.
 * Each mutant must be refused with a code and a fact, or be unreadable with a path; or its leaf
 * stands on a list with the reason why it may say anything. What survives without one fails the
 * suite.
 */
#ifndef CORDON_TESTS_CONTRACT_MUTATE_H
#define CORDON_TESTS_CONTRACT_MUTATE_H

#include "factread.h"
#include "owner.h"
#include "support/test.h"
#include "validate.h"

/*
 * A leaf, in the pattern form of cordon_factread_harmless, that tells nothing by itself.
 * kinds   letters of the mutants that may pass: "f"lip, "d"rop, "r"etype, "n"ull, "e"mpty,
 *         e"x"tend; "*" is all of them
 */
typedef struct mutate_excuse {
    const char *path;
    const char *kinds;
    const char *reason;
} mutate_excuse;

typedef int mutate_decode_container(const char *json, cordon_container_facts *ret_facts,
                                    cordon_err *err);
/* members: libpod's list of containers, NULL where it was not recorded. */
typedef int mutate_decode_network(const char *json, const char *members,
                                  cordon_network_facts *ret_facts, cordon_err *err);

/*
 * An engine's decoders and what is on which list.
 * runtime_told  what the inspection leaves out of a proxy, which has no gate, is read from the
 *               configuration of the engine's runtime
 */
typedef struct mutate_engine {
    const char *samples; /* "docker/20.10-run" */
    mutate_decode_container *container;
    mutate_decode_network *network;
    const cordon_factread_harmless *container_harmless;
    size_t container_harmless_count;
    const cordon_factread_harmless *network_harmless;
    size_t network_harmless_count;
    const mutate_excuse *excuses;
    size_t excuse_count;
    bool has_members;
    bool runtime_told;
} mutate_engine;

/* All objects of one recorded run, in both rounds; prints the counts. */
void mutate_run(const mutate_engine *engine);

#endif

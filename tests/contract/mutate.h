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

/* As above, of a volume; members are the containers that have it. */
typedef int mutate_decode_volume(const char *json, const char *members,
                                 cordon_volume_facts *ret_facts, cordon_err *err);

typedef struct mutate_excuses {
    const mutate_excuse *items;
    size_t count;
} mutate_excuses;

/* Paths that a decoder passes over. */
typedef struct mutate_harmless {
    const cordon_factread_harmless *items;
    size_t count;
} mutate_harmless;

/*
 * An engine's decoders and what is on which list.
 * harmless      by object type
 * placed        excuses that go by where something stands in these recordings
 * has_members   of a network; a volume's were always recorded
 * runtime_told  what the inspection leaves out of a proxy or keeper, which has no gate, is read
 *               from the configuration of the engine's runtime
 */
typedef struct mutate_engine {
    const char *samples; /* "docker/20.10-run" */
    mutate_decode_container *container;
    mutate_decode_network *network;
    mutate_decode_volume *volume;
    mutate_harmless harmless[CORDON_OBJECT_VOLUME + 1];
    mutate_excuses excuses;
    mutate_excuses placed;
    bool has_members;
    bool runtime_told;
} mutate_engine;

/*
 * All recorded objects of one run, in both rounds; prints the counts. Of a run of several steps
 * those are scratch, keeper and step, which differ from another run's.
 */
void mutate_run(const mutate_engine *engine);

#endif

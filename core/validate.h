/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of an engine's facts with the plan: one table per object, one row per fact, and
 * every member of the facts structures has its row (tests/unit/test_validate.c measures that).
 * Pure: no engine is asked here.
 *
 * Each row says how a fact is judged, or why it need not be. A fact that is expected and that
 * the engine did not tell refuses, unless its row names the fact of the gate's report that
 * vouches for the same thing (kernel.h): such a row is still compared when the engine does tell.
 */
#ifndef CORDON_VALIDATE_H
#define CORDON_VALIDATE_H

#include "expect.h"
#include "refusal.h"

/* Counts what was compared; zero-initialised by the caller. */
typedef struct cordon_tally {
    unsigned facts;
    unsigned rounds;
} cordon_tally;

/*
 * @param object  the object's name in fact paths: "step", "proxy", "vendor-network", ...
 * @return 0, or -1 with REFUSED and *ret_refusal filled from the first row that differs
 */
int cordon_validate_container(const char *object, const cordon_container_facts *expected,
                              const cordon_container_facts *actual, cordon_round round,
                              cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

int cordon_validate_network(const char *object, const cordon_network_facts *expected,
                            const cordon_network_facts *actual, cordon_round round,
                            cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

int cordon_validate_volume(const char *object, const cordon_volume_facts *expected,
                           const cordon_volume_facts *actual, cordon_round round,
                           cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* What the engine's OCI runtime got; the table has no rounds, because it is read once. */
int cordon_validate_runtime(const char *object, const cordon_runtime_facts *expected,
                            const cordon_runtime_facts *actual, cordon_tally *tally,
                            cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Two readings of one container: everything but the run state must be what it was, and told by
 * both unless the gate's report vouches for it. CORDON_REFUSED_CHANGED otherwise.
 */
int cordon_validate_unchanged(const char *object, const cordon_container_facts *first,
                              const cordon_container_facts *second, cordon_tally *tally,
                              cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* How a fact is judged. */
typedef enum cordon_rule_kind {
    CORDON_RULE_NONE = 0,
    CORDON_RULE_TEXT,      /* equal */
    CORDON_RULE_BOOL,      /* equal */
    CORDON_RULE_INT,       /* equal */
    CORDON_RULE_STATE,     /* equal */
    CORDON_RULE_SEQUENCE,  /* equal in items, count and order */
    CORDON_RULE_SET,       /* equal as sets */
    CORDON_RULE_SUPERSET,  /* holds at least what is expected */
    CORDON_RULE_WITHIN,    /* holds nothing but what is expected, maybe not all of it */
    CORDON_RULE_FREE_OF,   /* holds nothing of what is expected */
    CORDON_RULE_SYSCTLS,   /* equal as sets, but for what an engine sets by itself */
    CORDON_RULE_CONFINED,  /* a label that is not known to confine nothing; none at all only where
                              none is expected */
    CORDON_RULE_OFF,       /* a health check: empty or NONE */
    CORDON_RULE_MOUNTS,    /* equal as sets of mounts */
    CORDON_RULE_ENDPOINTS, /* equal as sets of endpoints */
    CORDON_RULE_HARMLESS,  /* not judged; `why` says why that is safe */
} cordon_rule_kind;

typedef struct cordon_rule {
    const char *name; /* last part of the fact's path */
    size_t offset;
    size_t size;
    cordon_rule_kind kind;
    cordon_refusal_code code; /* of a difference */
    unsigned rounds;          /* CORDON_ROUND_ bits in which it is compared */
    bool run_state;           /* may differ between two readings */
    const char *witness;      /* the report's fact that vouches when the engine is silent */
    const char *why;
} cordon_rule;

/* The tables, for the tests that measure them. */
extern const cordon_rule cordon_container_rules[];
extern const size_t cordon_container_rule_count;
extern const cordon_rule cordon_runtime_rules[];
extern const size_t cordon_runtime_rule_count;
extern const cordon_rule cordon_network_rules[];
extern const size_t cordon_network_rule_count;
extern const cordon_rule cordon_volume_rules[];
extern const size_t cordon_volume_rule_count;

#endif

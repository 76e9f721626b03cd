/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the words of receipts and refusals mean: codes, facts, kinds of results, codes of errors.
 * Conventions as in cordon/cordon.h; needs no configuration and no engine.
 */
#ifndef CORDON_EXPLAIN_H
#define CORDON_EXPLAIN_H

#include "cordon/cordon.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * kind     "code" (of a refusal), "fact", "result" (result.kind of a receipt), "error" (code of an
 *          error object)
 * name     "CORDON_REFUSED_MISMATCH"; a fact's is that of its family: "container.restart_policy" is
 *          what a refusal calls "step.restart_policy", "proxy.restart_policy" or
 *          "keeper.restart_policy"
 * means    what it says
 * stops    which attack or mishap is stopped by it
 * next     what to do
 * All are one sentence or a few, without line ends, and live as long as the program.
 */
typedef struct cordon_explanation {
    const char *kind;
    const char *name;
    const char *means;
    const char *stops;
    const char *next;
} cordon_explanation;

/* The explanations in a fixed order, codes first; false past the last. */
CORDON_PUBLIC bool cordon_explanation_at(size_t index, cordon_explanation *ret_explanation);

/*
 * Those that are about a word as it stands in a refusal, from *index on: a code with or without
 * "CORDON_REFUSED_" and in any case, a fact with or without its object ("step.restart_policy",
 * "restart_policy") and with what stands behind it in brackets, a kind of result, an error's code.
 * *index begins as 0 and is moved behind what was found.
 * @return false when there is no further one
 */
CORDON_PUBLIC bool cordon_explain(const char *word, size_t *index,
                                  cordon_explanation *ret_explanation);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The third witness: what the kernel showed the gate, held against the plan. One table over the
 * keys of the report (gate/protocol.h); a key that the table does not know refuses, and so does
 * a key that must be there and is not. Pure.
 */
#ifndef CORDON_WITNESS_H
#define CORDON_WITNESS_H

#include "gate_view.h"
#include "plan.h"
#include "validate.h"

/*
 * @return 0, or -1 with REFUSED: CORDON_REFUSED_KERNEL for a value that differs, _UNKNOWN for a
 *         missing one, _UNMODELLED for a key that nobody judges; fact "kernel.<key>"
 */
int cordon_witness_check(const cordon_plan *plan, const cordon_gate_view *view, cordon_tally *tally,
                         cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's report, as core reads it (gate/protocol.h says what is in it). Hostile input: the
 * gate is ours, but the image, the engine and the stream that carried it may not be.
 */
#ifndef CORDON_GATE_VIEW_H
#define CORDON_GATE_VIEW_H

#include <stdint.h>

#include "facts.h"
#include "gate/protocol.h"

#define CORDON_GATE_VIEW_FACTS_MAX 2048

typedef struct cordon_gate_view {
    uint8_t nonce[CORDON_GATE_NONCE_BYTES];
    cordon_fact_list facts; /* "key=value", in the order of the report; keys may repeat */
} cordon_gate_view;

void cordon_gate_view_clear(cordon_gate_view *view);
CORDON_DEFINE_AUTO(cordon_gate_view, cordon_gate_view_clear)

/*
 * Reads one whole REPORT frame. PROTOCOL: broken frame, another version, a missing nonce, a
 * repeated or unknown field, a fact without '=', too many facts.
 */
int cordon_gate_view_read(const void *bytes, size_t length, cordon_gate_view *ret_view,
                          cordon_err *err) __attribute__((warn_unused_result));

/*
 * The next value of a key, borrowed; NULL when there is no further one.
 *   size_t at = 0;
 *   while ((value = cordon_gate_view_next(view, "mount", &at)) != NULL) ...
 */
const char *cordon_gate_view_next(const cordon_gate_view *view, const char *key, size_t *at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a refusal says: a stable code, the path of the fact, what was expected and what was there.
 * The codes stand in one list here; README names the same.
 */
#ifndef CORDON_REFUSAL_H
#define CORDON_REFUSAL_H

#include "kit/error.h"

/* X(name, fact of refusals that concern a thing as a whole, meaning) */
/* clang-format off */
#define CORDON_REFUSAL_CODES(X) \
    X(CONFIG, "configuration", "a file of trusted input may not be trusted") \
    X(POLICY, "policy", "vendor, phase and command do not belong together") \
    X(NOT_APPROVED, "command.argv", "the command is not one that was approved") \
    X(IMAGE, "image", "the image is not the pinned one, or asks for what a step must not have") \
    X(WORKTREE, "worktree", "the worktree may not be given to an agent, or is another one") \
    X(ENGINE, "engine", "the engine lacks something that the plan needs") \
    X(WARNING, "engine.warnings", "the engine warned when it made an object") \
    X(MISMATCH, "facts", "a fact differs from the plan") \
    X(UNKNOWN, "facts", "a fact that the plan needs was not told by any witness") \
    X(UNMODELLED, "facts", "the engine shows a setting that Cordon does not know") \
    X(FOREIGN, "facts", "an object is not ours: id, token or membership differs") \
    X(CHANGED, "facts", "a fact changed between two readings") \
    X(KERNEL, "kernel", "the kernel shows something else inside than was planned") \
    X(REPORT, "kernel.report", "the gate's report is missing, broken or of another version") \
    X(AGENT, "agent", "the vendor's CLI is another version, or says of itself what the policy forbids") \
    X(PROXY, "proxy", "the proxy did not come up as planned") \
    X(EXPIRED, "deadline", "the deadline passed before the release")
/* clang-format on */

typedef enum cordon_refusal_code {
    CORDON_REFUSED_NONE = 0,
#define CORDON_REFUSAL_ENUM(name, fact, text) CORDON_REFUSED_##name,
    CORDON_REFUSAL_CODES(CORDON_REFUSAL_ENUM)
#undef CORDON_REFUSAL_ENUM
} cordon_refusal_code;

/* All texts are printable and cut. A zeroed object is "no refusal". */
typedef struct cordon_refusal {
    cordon_refusal_code code;
    char fact[160];
    char expected[384];
    char actual[384];
} cordon_refusal;

/* "CORDON_REFUSED_MISMATCH"; "" for NONE. */
const char *cordon_refusal_name(cordon_refusal_code code);

/*
 * Fills refusal (NULL is allowed) and sets err to REFUSED with one line that has all of it.
 * @return -1, always
 */
int cordon_refuse(cordon_refusal *refusal, cordon_refusal_code code, const char *fact,
                  const char *expected, const char *actual, cordon_err *err);

/*
 * Says which refusal a REFUSED error is, where the code below knows only that it refuses; an error
 * of another code, or one that already says it, stays as it is.
 */
void cordon_refuse_as(cordon_err *err, cordon_refusal_code code);

/* The refusal behind a REFUSED error that has no facts of its own: its message tells what was. */
void cordon_refusal_from_error(const cordon_err *err, cordon_refusal *ret_refusal);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a refusal says: a stable code, the path of the fact, what was expected and what was there.
 * The codes stand in one list here; README names the same.
 */
#ifndef CORDON_REFUSAL_H
#define CORDON_REFUSAL_H

#include "kit/error.h"

#define CORDON_REFUSAL_CODES(X)                                                                    \
    X(POLICY, "vendor, phase and command do not belong together")                                  \
    X(NOT_APPROVED, "the command is not one that was approved")                                    \
    X(IMAGE, "the image is not the pinned one, or asks for what a step must not have")             \
    X(WORKTREE, "the worktree may not be given to an agent, or is not the one that was approved")  \
    X(ENGINE, "the engine lacks something that the plan needs")                                    \
    X(WARNING, "the engine warned when it made an object")                                         \
    X(MISMATCH, "a fact differs from the plan")                                                    \
    X(UNKNOWN, "a fact that the plan needs was not told by any witness")                           \
    X(UNMODELLED, "the engine shows a setting that Cordon does not know")                          \
    X(FOREIGN, "an object is not ours: id, token or membership differs")                           \
    X(CHANGED, "a fact changed between two readings")                                              \
    X(KERNEL, "the kernel shows something else inside the container than was planned")             \
    X(REPORT, "the gate's report is missing, late, broken or of another version")                  \
    X(PROXY, "the proxy did not come up as planned")                                               \
    X(EXPIRED, "the deadline passed before the release")

typedef enum cordon_refusal_code {
    CORDON_REFUSED_NONE = 0,
#define CORDON_REFUSAL_ENUM(name, text) CORDON_REFUSED_##name,
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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a refusal says: a stable code, the path of the fact, what was expected and what was there.
 * The codes stand in one list here; README names the same.
 */
#ifndef CORDON_REFUSAL_H
#define CORDON_REFUSAL_H

#include "kit/error.h"

/*
 * X(name, fact of refusals that concern a thing as a whole, what it says, what is stopped by it,
 * what to do): cordon/explain.h tells the last three, in sentences.
 */
/* clang-format off */
#define CORDON_REFUSAL_CODES(X) \
    X(CONFIG, "configuration", "A file of trusted input may not be trusted.", \
      "An agent, or another user of the machine, who rewrites what holds the agent.", \
      "The message names the file: chmod go-w and chown it and the folders above it, and keep it out of the worktree.") \
    X(POLICY, "policy", "Vendor, phase and command do not belong together.", \
      "A phase that is given more than it may have.", \
      "Choose another phase or vendor; the message says which would do.") \
    X(NOT_APPROVED, "command.argv", "The command is not one that was approved.", \
      "A command that an agent or a worktree suggested and nobody read.", \
      "Read it, then approve it for this once with --approve, or put it into runner.approved, word for word.") \
    X(IMAGE, "image", "The image is not the pinned one, or asks for what a step must not have.", \
      "Another program under a trusted name: a moved tag, a replaced image.", \
      "cordon image ls shows what is pinned and what is there; pin what you mean.") \
    X(WORKTREE, "worktree", "The worktree may not be given to an agent, or is another one than was looked at.", \
      "A home with keys, a system folder, a socket or another repository in the hands of an agent; code that acts on your machine by itself.", \
      "The message says what is wrong with the folder and what to do about it.") \
    X(ENGINE, "engine", "The engine lacks something that the plan needs.", \
      "A run with less than the promised boundary.", \
      "cordon doctor names what is missing and the mend; an allow_ key of the configuration accepts some of it, and the receipt says so.") \
    X(WARNING, "engine.warnings", "The engine warned when it made an object.", \
      "A limit or an option that the engine has left out.", \
      "Read the text: mend what it names, or choose another engine.") \
    X(MISMATCH, "facts", "A fact differs from the plan.", \
      "An engine, a plugin, a configuration or another client that makes containers otherwise than asked.", \
      "cordon explain on the fact says what it is and where such a setting comes from.") \
    X(UNKNOWN, "facts", "A fact that the plan needs was not told by any witness.", \
      "A setting that is widened where nobody looks: absent is not false.", \
      "Use a version of the engine that the README names; cordon explain on the fact says more.") \
    X(UNMODELLED, "facts", "The engine shows a setting that Cordon does not know.", \
      "A newer engine's setting that widens the boundary.", \
      "Unset what the path names, or use an engine and a Cordon that know each other.") \
    X(FOREIGN, "facts", "An object is not ours: id, token or membership differs.", \
      "A stand-in under the run's name, or a neighbour on its network.", \
      "Somebody who holds the engine's socket did this: find out who before you run again.") \
    X(CHANGED, "facts", "A fact changed between two readings, or after the release.", \
      "Changes by another client of the engine: exec, copy, update, connect, restart, rename.", \
      "Somebody who holds the engine's socket did this: find out who before you run again.") \
    X(KERNEL, "kernel", "The kernel shows something else inside than was planned.", \
      "An engine or an OCI runtime that says one thing and does another.", \
      "cordon explain on the fact; cordon doctor looks at the engine. If both are as the distribution made them, report it.") \
    X(REPORT, "kernel.report", "The gate's report is missing, broken or of another version.", \
      "A gate that was replaced, or a container that never reached it.", \
      "Read what was found; cordon doctor tells whether a step works at all here.") \
    X(AGENT, "agent", "The vendor's CLI is another version, or says of itself what the policy forbids.", \
      "Tools, servers, hooks or commands that the phase does not have.", \
      "Rebuild the image with a version that Cordon knows; if it is one, report it.") \
    X(PROXY, "proxy", "The proxy did not come up as planned.", \
      "A proxy with other hosts, or one that has not locked itself.", \
      "Read what was found; cordon doctor looks at the engine and the kernel.") \
    X(EXPIRED, "deadline", "The deadline passed before the release.", \
      "A release after a look that is too old to count.", \
      "Give more with --deadline, or see what is slow: the receipt's timing_ms tells.")
/* clang-format on */

typedef enum cordon_refusal_code {
    CORDON_REFUSED_NONE = 0,
#define CORDON_REFUSAL_ENUM(name, fact, text, attack, step) CORDON_REFUSED_##name,
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

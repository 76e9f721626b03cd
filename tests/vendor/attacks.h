/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hostile model and a hostile vendor try with an agent's CLI, as tables. Texts are scenarios
 * of `standin`, with ' for ".
 *
 * Everything that would be executed prints and writes what no text of ours holds: EXECUTED-42.
 */
#ifndef CORDON_TESTS_VENDOR_ATTACKS_H
#define CORDON_TESTS_VENDOR_ATTACKS_H

#include <stddef.h>

#define CANARY_OUTPUT "EXECUTED-42"
#define CANARY        "echo EXECUTED-$((6*7)) | tee /worktree/pwned /tmp/pwned"
/* In a file beside the worktree, on the host. */
#define MARKED_SECRET "marked-secret-5b1e"
/* A witness; a name that is nobody's. */
#define ELSEWHERE "192.175.48.10"

/*
 * One call that the model asks for.
 * block    of a turn
 */
typedef struct attack_call {
    const char *name;
    const char *block;
} attack_call;

/*
 * One that is more than a call.
 * scenario  whole
 * limits    of the configuration; NULL is the usual
 * kind      of the result; NULL: whichever it is, as long as nothing happened
 */
typedef struct attack_run {
    const char *name;
    const char *scenario;
    const char *limits;
    const char *kind;
} attack_run;

extern const attack_call attack_claude_calls[];
extern const size_t attack_claude_call_count;
extern const attack_run attack_claude_runs[];
extern const size_t attack_claude_run_count;
extern const attack_call attack_codex_calls[];
extern const size_t attack_codex_call_count;
extern const attack_run attack_codex_runs[];
extern const size_t attack_codex_run_count;

/* What a writing phase allows, and a reading one must not: every way to change the worktree. */
extern const attack_call attack_claude_writes[];
extern const size_t attack_claude_write_count;
extern const attack_call attack_codex_writes[];
extern const size_t attack_codex_write_count;

#endif

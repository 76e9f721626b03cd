/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run over the fake engine as a case of a table: scripted, carried through, and what it came
 * to kept as plain values, so that cases can run on threads (support/at_once.h) and be judged
 * afterwards.
 */
#ifndef CORDON_TESTS_SUPPORT_RUN_CASE_H
#define CORDON_TESTS_SUPPORT_RUN_CASE_H

#include "support/at_once.h"
#include "support/fake_run.h"
#include "support/test.h"

#define RUN_CASE_LEFT_MAX 4

/* What a run came to. */
typedef struct run_outcome {
    bool ran; /* there was a receipt; else failure tells */
    cordon_err failure;
    char kind[16];
    int exit_code;
    int status;
    char refusal[48];
    char fact[160];
    char message[CORDON_ERR_MESSAGE_MAX];
    bool released;
    size_t left_there; /* objects that the fake still has */
    size_t left_told;  /* leftovers in the receipt */
    struct {
        char type[16];
        char id[160];
        char reason[256];
    } left[RUN_CASE_LEFT_MAX];
    size_t journals;
    unsigned creates; /* calls of create, of all kinds */
    char complaint[256];
} run_outcome;

static inline void run_outcome_text(char *slot, size_t size, const char *text)
{
    (void)snprintf(slot, size, "%s", text ? text : "");
}

static inline void run_outcome_leftovers(run_outcome *outcome, const fake_run *run)
{
    cordon_leftover left;
    for (size_t i = 0; cordon_receipt_leftover(run->receipt, i, &left); i++) {
        outcome->left_told++;
        if (i >= RUN_CASE_LEFT_MAX)
            continue;
        run_outcome_text(outcome->left[i].type, sizeof outcome->left[i].type, left.type);
        run_outcome_text(outcome->left[i].id, sizeof outcome->left[i].id, left.id);
        run_outcome_text(outcome->left[i].reason, sizeof outcome->left[i].reason, left.reason);
    }
}

static inline void run_outcome_take(run_outcome *outcome, fake_run *run)
{
    fake_release release;
    outcome->failure = run->err;
    outcome->released = fake_engine_released(run->fake, &release);
    outcome->left_there = fake_engine_left(run->fake);
    outcome->journals = fake_run_journals(run);
    outcome->creates = fake_engine_count(run->fake, FAKE_NETWORK_CREATE, NULL) +
                       fake_engine_count(run->fake, FAKE_CONTAINER_CREATE, NULL);
    run_outcome_text(outcome->complaint, sizeof outcome->complaint,
                     fake_engine_complaint(run->fake));
    if (!outcome->ran)
        return;
    outcome->exit_code = run->result.exit_code;
    outcome->status = run->result.status;
    run_outcome_text(outcome->kind, sizeof outcome->kind, run->result.kind_name);
    run_outcome_text(outcome->refusal, sizeof outcome->refusal, run->result.refusal_code);
    run_outcome_text(outcome->fact, sizeof outcome->fact, run->result.refusal_fact);
    run_outcome_text(outcome->message, sizeof outcome->message, run->result.message);
    run_outcome_leftovers(outcome, run);
}

/* Sets the fake up before the run, and may put descriptors into it. */
typedef void run_case_script(void *context, fake_run *run);

static inline run_outcome run_case(const fake_run_options *options, run_case_script *script,
                                   void *context)
{
    cordon_auto(fake_run) run = {0};
    run_outcome outcome = {0};
    if (fake_run_open(&run, options)) {
        if (script)
            script(context, &run);
        outcome.ran = fake_run_go(&run);
        run_outcome_take(&outcome, &run);
    } else {
        outcome.failure = run.err;
    }
    return outcome;
}

/* Nothing is left, the receipt says so, and core kept the contract. */
#define RUN_CHECK_CLEAN(outcome, name)                                                             \
    TEST_RECORDF((outcome).left_there == 0 && (outcome).left_told == 0 &&                          \
                     (outcome).journals == 0 && (outcome).complaint[0] == '\0',                    \
                 "%s: left %zu, told %zu (%s %s: %s), journals %zu, complaint \"%s\"", (name),     \
                 (outcome).left_there, (outcome).left_told, (outcome).left[0].type,                \
                 (outcome).left[0].id, (outcome).left[0].reason, (outcome).journals,               \
                 (outcome).complaint)

#define RUN_CHECK_KIND(outcome, name, want)                                                        \
    TEST_RECORDF((outcome).ran &&strcmp((outcome).kind, (want)) == 0,                              \
                 "%s: \"%s\" (%s %s), want \"%s\": %.300s", (name), (outcome).kind,                \
                 (outcome).refusal, (outcome).fact, (want),                                        \
                 (outcome).ran ? (outcome).message : (outcome).failure.message)

#endif

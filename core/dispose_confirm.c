/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine shows of a run once it is over; see dispose.h. */
#include "dispose.h"

#include <stdio.h>
#include <unistd.h>

/* How long an engine may take to know that a step has ended, or to list what changed. */
#define CONFIRM_WAIT_MS 10000
/* The longest pause between two questions whether the step has ended, before it is waited for. */
#define CONFIRM_ASK_MS 32

bool cordon_dispose_is_released(const cordon_run *run)
{
    return cordon_run_was_released(run);
}

static void note(cordon_finding *finding, const cordon_err *err, const cordon_refusal *refusal)
{
    if (finding->err.code != CORDON_OK)
        return;
    finding->err = *err;
    finding->refusal = *refusal;
}

/* One fact that is not as the run left it: "step.state: ...". */
static void note_change(cordon_finding *finding, const char *fact, const char *expected,
                        const char *actual)
{
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;

    (void)cordon_refuse(&refusal, CORDON_REFUSED_CHANGED, fact, expected, actual, NULL);
    cordon_err_set(&err, CORDON_ERR_TAMPERED, 0, "%s: expected %s, found %s", refusal.fact,
                   refusal.expected, refusal.actual);
    note(finding, &err, &refusal);
}

void cordon_dispose_note_gone(const cordon_run *run, cordon_role role, cordon_finding *finding)
{
    char fact[64];

    if (!cordon_dispose_is_released(run))
        return;
    (void)snprintf(fact, sizeof(fact), "%s.state", cordon_role_name(role));
    note_change(finding, fact, "there until the run removes it", "removed by somebody else");
}

/* The engine cannot say: this is not the run's own deadline, and never ours. */
static void note_unconfirmed(cordon_finding *finding, cordon_err *failure, const char *what)
{
    const cordon_refusal none = {0};

    cordon_err_wrap(failure, "%s", what);
    failure->code = CORDON_ERR_ENGINE;
    note(finding, failure, &none);
}

/* --- The end of the step --- */

/*
 * The status in the engine's own record, once that shows the end. Asked for before it is waited
 * for: libpod answers a wait only when its clean-up process has come and gone, 0.1 s and more after
 * the record has the end, and a removal in between saves that process its work.
 */
static int recorded_exit(cordon_run *run, int *ret_code, cordon_err *err)
{
    const char *id = run->made[CORDON_ROLE_STEP].id;
    cordon_deadline dl = cordon_deadline_in_ms(CONFIRM_WAIT_MS, -1);

    for (useconds_t ms = 1; ms <= CONFIRM_ASK_MS; ms *= 2) {
        cordon_auto(cordon_container_facts) facts = {0};

        if (run->ops->container_inspect(run->impl, id, dl, &facts, err) != 0)
            return -1;
        if (facts.state == CORDON_STATE_EXITED && facts.exit_code.known &&
            facts.exit_code.value >= 0 && facts.exit_code.value <= UINT8_MAX) {
            *ret_code = (int)facts.exit_code.value;
            return 0;
        }
        (void)usleep(ms * 1000);
    }
    return run->ops->container_wait(run->impl, id, dl, ret_code, err);
}

static void note_other_exit(cordon_finding *finding, int told, int seen)
{
    char expected[64];
    char actual[64];

    (void)snprintf(expected, sizeof(expected), "%d, as the gate told", told);
    (void)snprintf(actual, sizeof(actual), "%d: the step was ended from outside", seen);
    note_change(finding, "step.exit_code", expected, actual);
}

void cordon_dispose_confirm_exit(cordon_run *run, cordon_finding *finding)
{
    const cordon_receipt *receipt = run->receipt;
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;

    if (receipt->kind != CORDON_RESULT_EXITED || run->made[CORDON_ROLE_STEP].id[0] == '\0')
        return;
    if (recorded_exit(run, &code, &err) == 0) {
        if (code != receipt->exit_code)
            note_other_exit(finding, receipt->exit_code, code);
        return;
    }
    if (err.code == CORDON_ERR_NOTFOUND)
        cordon_dispose_note_gone(run, CORDON_ROLE_STEP, finding);
    else
        note_unconfirmed(finding, &err, "confirming how the command ended");
}

/* --- Executions --- */

void cordon_dispose_note_executions(const cordon_run *run, cordon_role role,
                                    const cordon_fact_list *exec_ids, cordon_finding *finding)
{
    char fact[64];

    /* A record that does not tell is judged before the release; here it may be half-removed. */
    if (!cordon_dispose_is_released(run) || !exec_ids->known || exec_ids->count == 0)
        return;
    (void)snprintf(fact, sizeof(fact), "%s.exec_ids", cordon_role_name(role));
    note_change(finding, fact, "none", exec_ids->items[0]);
}

/* --- Files --- */

void cordon_dispose_confirm_files(cordon_run *run, cordon_role role, cordon_finding *finding)
{
    cordon_refusal refusal = {0};
    cordon_tally ignored = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_deadline dl = cordon_deadline_in_ms(CONFIRM_WAIT_MS, -1);

    if (!cordon_dispose_is_released(run) || run->made[role].id[0] == '\0' ||
        cordon_run_check_changes(run, role, dl, &ignored, &refusal, &err) == 0)
        return;
    if (err.code == CORDON_ERR_REFUSED) {
        err.code = CORDON_ERR_TAMPERED;
        note(finding, &err, &refusal);
    } else if (err.code == CORDON_ERR_NOTFOUND) {
        cordon_dispose_note_gone(run, role, finding);
    } else {
        note_unconfirmed(finding, &err, "confirming that nobody has changed files of a container");
    }
}

/* --- The result --- */

void cordon_dispose_settle(cordon_run *run, const cordon_finding *finding)
{
    cordon_receipt *receipt = run->receipt;
    bool tampered = finding->err.code == CORDON_ERR_TAMPERED;
    bool good = receipt->kind == CORDON_RESULT_EXITED || receipt->kind == CORDON_RESULT_OOM;

    if (finding->err.code == CORDON_OK || receipt->kind == CORDON_RESULT_TAMPERED ||
        receipt->kind == CORDON_RESULT_REFUSED)
        return;
    /* What cannot be confirmed leaves a deadline a deadline. */
    if (!tampered && !good)
        return;
    receipt->refusal = finding->refusal;
    cordon_receipt_fail(receipt, &finding->err, CORDON_STAGE_RELEASED);
}

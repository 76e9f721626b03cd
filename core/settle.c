/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command that was not ended by us came to, see run.h: from the gate's exit note, and where
 * there is none from what the engine says of the container's end.
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "kit/httpc.h"

/* Longest time for one question about the step's end. */
#define SETTLE_ASK_MS 10000

static bool settle_saw_oom(const cordon_run *run)
{
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err ignored = CORDON_ERR_INIT;

    return run->ops->container_inspect(run->impl, run->made[CORDON_ROLE_STEP].id,
                                       cordon_deadline_in_ms(SETTLE_ASK_MS, -1), &facts,
                                       &ignored) == 0 &&
           facts.oom_killed == CORDON_FACT_YES;
}

/* The gate told how the command ended. */
static int settle_exit(cordon_run *run, cordon_err *err)
{
    const cordon_gate_link *link = &run->link;
    int code = link->exit_signal > 0 ? 128 + link->exit_signal : link->exit_code;

    if (code < 0 || code > 255)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate's exit note has no status");
    if (cordon_agent_watch_finish(&run->agent_watch, code, &run->receipt->refusal, err) != 0)
        return -1;
    /* Only a killed command can have been killed for memory; one that exits 137 has exited. */
    cordon_receipt_exit(run->receipt, code,
                        link->exit_signal == SIGKILL &&
                            (link->out_of_memory || settle_saw_oom(run)));
    return 0;
}

/*
 * A signal that the run did not send: libpod tells of no stop. The same as Docker's kill event,
 * whatever the command made of it.
 */
static int settle_signalled(cordon_run *run, cordon_err *err)
{
    char found[64];

    (void)snprintf(found, sizeof(found), "signal %d", run->link.outside_signal);
    (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, "step.signals",
                        "only what the run itself sends", found, NULL);
    return CORDON_FAIL(err, CORDON_ERR_TAMPERED,
                       "somebody else sent %s to the step; how it ended is not to be believed",
                       found);
}

/* The gate told that the command's file is not there or cannot be executed. */
static int settle_not_executed(cordon_run *run)
{
    int errnum = run->link.start_errnum;
    cordon_err failure = CORDON_ERR_INIT;

    (void)CORDON_FAIL_ERRNO(&failure, errnum, "the image has no command %s to execute",
                            CORDON_QUOTE(run->command->argv.items[0]));
    failure.code = CORDON_ERR_ENGINE;
    cordon_receipt_fail(run->receipt, &failure, CORDON_STAGE_CREATED);
    /* As shells have it: what is not there is another status than what cannot be executed. */
    run->receipt->status = errnum == ENOENT || errnum == ENOTDIR
                               ? CORDON_GATE_STATUS_NOT_FOUND
                               : CORDON_GATE_STATUS_NOT_EXECUTABLE;
    return 0;
}

/* The gate's line, without its end. */
static const char *gate_words(cordon_run *run)
{
    cordon_buf *held = &run->err_out.waiting;

    if (held->length > 0 && held->data[held->length - 1] == '\n')
        held->data[--held->length] = '\0';
    return cordon_buf_text(held);
}

/* The container ended without a word of its gate: from outside, or for lack of memory. */
static int settle_silent(cordon_run *run, cordon_err *err)
{
    int code = -1;

    /* Who ended it may have been told by now. */
    if (cordon_watch_drain(&run->watch, &run->receipt->refusal, err) != 0) {
        if (err->code == CORDON_ERR_TAMPERED)
            return -1;
        cordon_err_clear(err);
    }
    if (run->ops->container_wait(run->impl, run->made[CORDON_ROLE_STEP].id,
                                 cordon_deadline_in_ms(SETTLE_ASK_MS, -1), &code, err) != 0) {
        if (err->code == CORDON_ERR_NOTFOUND) {
            err->code = CORDON_ERR_TAMPERED; /* whoever removed it, it was not the run */
            (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, "step.state",
                                "ended by its gate", "removed", NULL);
        }
        return -1;
    }
    if (run->link.start_errnum != 0 &&
        (code == CORDON_GATE_STATUS_NOT_FOUND || code == CORDON_GATE_STATUS_NOT_EXECUTABLE))
        return settle_not_executed(run);
    if (settle_saw_oom(run)) {
        cordon_receipt_exit(run->receipt, code, true);
        return 0;
    }
    if (code == CORDON_GATE_STATUS_NOT_RELEASED || code == CORDON_GATE_STATUS_FAILED)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "the gate gave up with status %d: %s", code,
                           CORDON_QUOTE(gate_words(run)));
    (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, "step.state",
                        "ended by its gate", "ended from outside", NULL);
    return CORDON_FAIL(err, CORDON_ERR_TAMPERED, "the step was ended from outside, with status %d",
                       code);
}

/*
 * What was told by now, or is told again by a stream that was opened again, before the end is
 * believed. Where the engine has cut that off its log as well, the receipt says so.
 */
static int settle_events(cordon_run *run, cordon_err *err)
{
    cordon_watch *watch = &run->watch;
    int result = cordon_watch_drain(watch, &run->receipt->refusal, err);

    if (result == 0 && (watch->gap || watch->behind))
        result = cordon_watch_catch_up(watch, &run->receipt->refusal, err);
    if (result == 0)
        return 0;
    if (err->code == CORDON_ERR_TAMPERED || err->code == CORDON_ERR_NOMEM)
        return -1;
    cordon_err_clear(err);
    cordon_receipt_accept(run->receipt, "step.events");
    return 0;
}

int cordon_run_settle(cordon_run *run, cordon_err *err)
{
    if (run->link.state != CORDON_LINK_ENDED)
        return settle_silent(run, err);
    if (settle_events(run, err) != 0)
        return -1;
    if (run->link.outside_signal != 0 && !run->watch.signalled)
        return settle_signalled(run, err);
    return run->link.start_errnum != 0 ? settle_not_executed(run) : settle_exit(run, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one step of an invocation to the next, see run.h: the ended one is removed, and everything
 * of the run that was its own is as before the first one; networks, proxy, scratch, keeper, events
 * and journal stay.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

bool cordon_run_is_shared(const cordon_run *run)
{
    return run->command_count > 1;
}

static bool command_is_networked(const cordon_run *run, const cordon_command *command)
{
    return command->kind != CORDON_COMMAND_RUNNER ||
           run->invocation->config->runner.network == CORDON_RUNNER_NETWORK_VENDOR;
}

bool cordon_run_is_networked(const cordon_run *run)
{
    return command_is_networked(run, run->command);
}

bool cordon_run_has_networks(const cordon_run *run)
{
    for (size_t i = 0; i < run->command_count; i++) {
        if (command_is_networked(run, run->commands[i]))
            return true;
    }
    return false;
}

bool cordon_run_is_resumed(const cordon_run *run)
{
    for (size_t i = run->step + 1; i < run->command_count; i++) {
        const cordon_agent *agent = run->commands[i]->agent;

        if (agent != NULL)
            return agent->session[0] != '\0';
    }
    return false;
}

bool cordon_run_was_released(const cordon_run *run)
{
    return run->step > 0 || run->link.state >= CORDON_LINK_RELEASED;
}

/* --- The receipt's line of a step --- */

static const char *command_name(const cordon_command *command)
{
    if (command->kind == CORDON_COMMAND_AGENT)
        return "agent";
    return command->kind == CORDON_COMMAND_PROBE ? "probe" : "runner";
}

void cordon_run_describe_steps(cordon_run *run)
{
    cordon_receipt *receipt = run->receipt;

    receipt->step_count = run->command_count;
    for (size_t i = 0; i < run->command_count; i++) {
        const cordon_command *command = run->commands[i];
        cordon_step_record *record = &receipt->steps[i];

        record->command = command_name(command);
        record->exit_code = -1;
        (void)snprintf(record->program, sizeof(record->program), "%s",
                       command->argv.count > 0 ? command->argv.items[0] : "");
    }
}

void cordon_run_record_step(cordon_run *run, int64_t run_ms)
{
    const cordon_receipt *receipt = run->receipt;
    cordon_step_record *record = &run->receipt->steps[run->step];

    record->reached = true;
    record->kind = receipt->kind;
    record->exit_code = receipt->exit_code;
    record->run_ms = run_ms;
    (void)snprintf(record->image_id, sizeof(record->image_id), "%s",
                   run->images.base_id[0] != '\0' ? run->images.base_id : run->images.guard_id);
}

/* --- The next one --- */

/* Everything that a step has of its own. */
static void steps_forget(cordon_run *run)
{
    cordon_gate_link_clear(&run->link);
    run->link = (cordon_gate_link){0};
    cordon_gate_view_clear(&run->view);
    cordon_container_facts_clear(&run->created[CORDON_ROLE_STEP]);
    run->unread[CORDON_ROLE_STEP] = (cordon_err)CORDON_ERR_INIT;
    run->made[CORDON_ROLE_STEP] = (cordon_made){0};
    run->step_ended = run->step_more = false;
    cordon_output_clear(&run->out);
    cordon_output_clear(&run->err_out);
    cordon_agent_watch_clear(&run->agent_watch);
    memset(run->refusals, 0, sizeof(run->refusals));
    memset(run->tallies, 0, sizeof(run->tallies));
}

/* Addresses and ids of what stays, into the plan of another step. */
static int steps_replan(cordon_run *run, cordon_err *err)
{
    char subnets[2][CORDON_SUBNET_SIZE];

    memcpy(subnets, run->plan.subnets, sizeof(subnets));
    cordon_plan_clear(&run->plan);
    cordon_run_plan(run);
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        if (cordon_plan_place(&run->plan, (cordon_role)role, subnets[role], err) != 0)
            return -1;
        if (run->made[role].id[0] != '\0')
            cordon_plan_network_made(&run->plan, (cordon_role)role, run->made[role].id);
    }
    return cordon_run_place_scratch(run, err);
}

/*
 * SECURITY: whatever was told of the ended step until now is judged before its events are expected
 * to be those of its removal.
 */
static int steps_retire(cordon_run *run, cordon_err *err)
{
    if (cordon_watch_drain(&run->watch, &run->receipt->refusal, err) != 0)
        return -1;
    cordon_watch_retire(&run->watch, !command_is_networked(run, run->commands[run->step + 1]));
    cordon_run_dispose_step(run);
    if (run->receipt->kind != CORDON_RESULT_EXITED)
        return 0;
    if (!run->made[CORDON_ROLE_STEP].gone)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE,
                           "step %zu has ended and cannot be removed; the next one was not started",
                           run->step + 1);
    return 0;
}

bool cordon_run_has_next(const cordon_run *run)
{
    return run->receipt->kind == CORDON_RESULT_EXITED && run->receipt->exit_code == 0 &&
           run->step + 1 < run->command_count;
}

int cordon_run_next(cordon_run *run, cordon_err *err)
{
    if (steps_retire(run, err) != 0)
        return -1;
    if (run->receipt->kind != CORDON_RESULT_EXITED)
        return 0;
    steps_forget(run);
    run->step++;
    run->command = run->commands[run->step];
    cordon_run_begin_step(run);
    cordon_receipt_restart(run->receipt);
    cordon_run_progress(run, "step", "step %zu of %zu", run->step + 1, run->command_count);
    if (cordon_deadline_check(run->dl, "the next step", err) != 0 ||
        cordon_owner_rename(&run->invocation->owner, CORDON_ROLE_STEP, err) != 0 ||
        cordon_run_prepare_images(run, err) != 0)
        return -1;
    return steps_replan(run, err);
}

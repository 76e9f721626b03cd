/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a run, and nothing else; see run.h and cordon/cordon.h. */
#include "run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "handle.h"
#include "kit/httpc.h"

void cordon_run_progress(const cordon_run *run, const char *word, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (run->io->progress == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    run->io->progress(run->io->progress_context, word, text);
}

cordon_run_ids cordon_run_container_ids(const cordon_run *run)
{
    cordon_run_ids ids = {0};

    memcpy(ids.proxy, run->made[CORDON_ROLE_PROXY].id, sizeof(ids.proxy));
    memcpy(ids.step, run->made[CORDON_ROLE_STEP].id, sizeof(ids.step));
    memcpy(ids.keeper, run->made[CORDON_ROLE_KEEPER].id, sizeof(ids.keeper));
    return ids;
}

const char *cordon_run_pin(const cordon_run *run)
{
    const cordon_image_pins *images = &run->invocation->config->images;
    const char *configured;

    if (run->command->kind == CORDON_COMMAND_PROBE)
        return NULL;
    if (run->invocation->pin != NULL)
        return run->invocation->pin;
    if (run->command->kind == CORDON_COMMAND_RUNNER)
        configured = images->runner;
    else
        configured = run->invocation->policy->vendor->adapter == CORDON_ADAPTER_CLAUDE
                         ? images->claude
                         : images->codex;
    return configured != NULL ? configured : cordon_run_locked_id(run);
}

const char *cordon_run_pin_name(const cordon_run *run)
{
    return run->command->agent != NULL ? run->command->agent->table->program : "runner";
}

/* The vendor's hosts, each with the address that its definition or --upstream maps it to. */
static size_t run_hosts(cordon_run *run)
{
    const cordon_vendor *vendor = run->invocation->policy->vendor;
    size_t count = 0;

    for (; count < vendor->hosts.count && count < CORDON_VENDOR_HOSTS_MAX; count++)
        run->hosts[count] = (cordon_plan_host){
            .host = vendor->hosts.items[count],
            .upstream = run->command->upstream != NULL
                            ? run->command->upstream
                            : cordon_vendor_upstream(vendor, vendor->hosts.items[count]),
        };
    return count;
}

void cordon_run_plan(cordon_run *run)
{
    const cordon_invocation *invocation = run->invocation;
    const cordon_limits_config *limits = &invocation->config->limits;
    const cordon_plan_input input = {
        .owner = &invocation->owner,
        .engine = &invocation->engine->facts,
        .hosts = run->hosts,
        .host_count = run_hosts(run),
        .networked = cordon_run_is_networked(run),
        .limits =
            {
                .memory_bytes = limits->memory_bytes,
                .nano_cpus = limits->nano_cpus,
                .pids = limits->pids,
                .open_files = limits->open_files,
                .scratch_bytes = limits->scratch_bytes,
            },
        .guard_image_id = run->images.guard_id,
        .step_image_id = run->images.step_id,
        .step_image_labels = &run->images.labels,
        .delivery = run->images.delivery,
        .worktree = invocation->worktree.path,
        .worktree_dev = invocation->worktree.dev,
        .worktree_ino = invocation->worktree.ino,
        .mount = invocation->config->tree.mount,
        .kept = invocation->kept,
        .kept_count = invocation->kept_count,
        .worktree_writable = invocation->policy->phase->writes && invocation->worktree.path != NULL,
        .uid = invocation->uid,
        .gid = invocation->gid,
        .keep_id = invocation->keep_id,
        .shared = cordon_run_is_shared(run),
        .landlock_least = invocation->config->allow_weak_landlock ? 0 : CORDON_PLAN_LANDLOCK,
        .deadline_ms = invocation->deadline_ms,
        .egress =
            {
                .tunnels = limits->tunnels,
                .tunnel_bytes = limits->tunnel_bytes,
                .all_bytes = limits->egress_bytes,
                .refusals = limits->refusals,
            },
        .connect_ms = run->command->kind == CORDON_COMMAND_PROBE ? CORDON_RUN_PROBE_CONNECT_MS : 0,
    };

    cordon_plan_init(&run->plan, &input);
}

void cordon_run_free(cordon_run *run)
{
    if (run == NULL)
        return;
    cordon_receipt_destroy(run->receipt);
    cordon_watch_close(&run->watch);
    cordon_stream_close(run->proxy_stream);
    cordon_stream_close(run->keeper_stream);
    cordon_stream_close(run->step_stream);
    cordon_volume_facts_clear(&run->scratch);
    cordon_gate_link_clear(&run->link);
    cordon_gate_view_clear(&run->view);
    cordon_output_clear(&run->out);
    cordon_output_clear(&run->err_out);
    cordon_agent_watch_clear(&run->agent_watch);
    cordon_talk_clear(&run->talk);
    cordon_buf_clear(&run->proxy_error);
    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        cordon_container_facts_clear(&run->created[role]);
    cordon_plan_clear(&run->plan);
    cordon_images_clear(&run->images);
    cordon_snapshot_clear(&run->snapshot);
    free(run);
}

void cordon_run_begin_step(cordon_run *run)
{
    const cordon_invocation *invocation = run->invocation;
    const cordon_secrets *hidden = invocation->config->mask_secrets ? &invocation->secrets : NULL;

    cordon_output_init(&run->out, run->io->stdout_fd, &run->quota, hidden);
    cordon_output_init(&run->err_out, run->io->stderr_fd, &run->quota, hidden);
    cordon_agent_watch_init(&run->agent_watch, run->command->agent,
                            cordon_run_is_resumed(run) ? &run->talk : NULL);
}

/* What must hold from the first moment on; nothing here can fail. */
static void run_init(cordon_run *run, cordon_invocation *invocation,
                     const cordon_command *const *commands, size_t count, const cordon_io *io)
{
    run->invocation = invocation;
    run->commands = commands;
    run->command_count = count;
    run->command = commands[0];
    run->io = io;
    run->ops = invocation->engine->ops;
    run->impl = invocation->engine->impl;
    run->dl = invocation->dl;
    run->dl.cancel_fd = io->cancel_fd;
    run->journal = (cordon_journal)CORDON_JOURNAL_INIT;
    run->egress_file = (cordon_egress_file)CORDON_EGRESS_FILE_INIT;
    run->snapshot = (cordon_snapshot)CORDON_SNAPSHOT_INIT;
    run->proxy_error = cordon_buf_make(CORDON_RUN_PROXY_ERROR_MAX);
    run->quota.left_bytes = invocation->config->limits.output_bytes;
    cordon_run_begin_step(run);
    run->watch.networks[CORDON_ROLE_VENDOR_NETWORK] = run->made[CORDON_ROLE_VENDOR_NETWORK].id;
    run->watch.networks[CORDON_ROLE_EGRESS_NETWORK] = run->made[CORDON_ROLE_EGRESS_NETWORK].id;
    run->watch.proxy = run->made[CORDON_ROLE_PROXY].id;
    run->watch.step = run->made[CORDON_ROLE_STEP].id;
    run->watch.keeper = run->made[CORDON_ROLE_KEEPER].id;
    run->watch.scratch = count > 1 ? invocation->owner.badges[CORDON_ROLE_SCRATCH].name : NULL;
    run->watch.alone = !cordon_run_is_networked(run);
}

static int run_check_secrets(const cordon_secrets *secrets, const cordon_command *command,
                             cordon_err *err)
{
    for (size_t i = 0; command->agent != NULL && i < secrets->count; i++) {
        if (cordon_agent_check_secret(command->agent, secrets->items[i].name, err) != 0)
            return -1;
    }
    return 0;
}

static int run_check_resume(const cordon_command *const *commands, size_t index, cordon_err *err)
{
    if (commands[index]->agent == NULL || commands[index]->agent->session[0] == '\0')
        return 0;
    for (size_t i = 0; i < index; i++) {
        if (commands[i]->agent != NULL)
            return 0;
    }
    return CORDON_FAIL(err, CORDON_ERR_INVALID,
                       "step %zu resumes a session, and no agent's step comes before it; leave "
                       "resume out of the first one",
                       index + 1);
}

/* The probe judges a step as it is alone; its own image and hosts go with nobody else's. */
static int run_check_commands(const cordon_invocation *invocation,
                              const cordon_command *const *commands, size_t count, cordon_err *err)
{
    if (count < 1 || count > CORDON_STEPS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "an invocation has 1 to %d steps, not %zu",
                           CORDON_STEPS_MAX, count);
    for (size_t i = 0; i < count; i++) {
        if (cordon_handle_check(CORDON_HANDLE_COMMAND, commands[i], err) != 0)
            return -1;
        if (commands[i]->policy != invocation->policy)
            return CORDON_FAIL(err, CORDON_ERR_INVALID,
                               "the command was made by another policy than the invocation's");
        if (count > 1 && commands[i]->kind == CORDON_COMMAND_PROBE)
            return CORDON_FAIL(err, CORDON_ERR_INVALID, "the probe runs alone, not among steps");
        if (run_check_secrets(&invocation->secrets, commands[i], err) != 0 ||
            run_check_resume(commands, i, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_run_new(cordon_invocation *invocation, const cordon_command *const *commands,
                   size_t count, const cordon_io *io, cordon_run **ret_run, cordon_err *err)
{
    cordon_auto_ptr(cordon_run) run = NULL;

    if (cordon_handle_check(CORDON_HANDLE_INVOCATION, invocation, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_ENGINE, invocation->engine, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_CONFIG, invocation->config, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_POLICY, invocation->policy, err) != 0)
        return -1;
    if (run_check_commands(invocation, commands, count, err) != 0)
        return -1;
    run = calloc(1, sizeof(*run));
    if (run == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    run_init(run, invocation, commands, count, io);
    if (cordon_receipt_new(&run->receipt, err) != 0)
        return -1;
    *ret_run = CORDON_TAKE(run);
    return 0;
}

/* What is known before anything happens. */
static int run_describe(cordon_run *run, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    cordon_receipt *receipt = run->receipt;
    cordon_engine_info engine;

    cordon_engine_describe(invocation->engine, &engine);
    (void)snprintf(receipt->invocation, sizeof(receipt->invocation), "%s",
                   invocation->owner.invocation);
    (void)snprintf(receipt->engine_name, sizeof(receipt->engine_name), "%s", engine.name);
    (void)snprintf(receipt->engine_kind, sizeof(receipt->engine_kind), "%s", engine.kind);
    (void)snprintf(receipt->engine_version, sizeof(receipt->engine_version), "%s", engine.version);
    (void)snprintf(receipt->engine_api, sizeof(receipt->engine_api), "%s", engine.api);
    receipt->engine_rootless = engine.rootless;
    (void)snprintf(receipt->vendor, sizeof(receipt->vendor), "%s",
                   invocation->policy->vendor->name);
    (void)snprintf(receipt->phase, sizeof(receipt->phase), "%s", invocation->policy->phase->name);
    if (cordon_run_pin(run) != NULL)
        (void)snprintf(receipt->image_pin, sizeof(receipt->image_pin), "%s", cordon_run_pin(run));
    receipt->worktree_writable =
        invocation->policy->phase->writes && invocation->worktree.path != NULL;
    receipt->timing.open_ms = invocation->engine->open_ms;
    cordon_run_describe_steps(run);
    if (invocation->worktree.path == NULL)
        return 0;
    if (invocation->link.kind == CORDON_GIT_LINKED &&
        cordon_fact_text_set(&receipt->worktree_git, invocation->link.common.path, err) != 0)
        return -1;
    if (invocation->label != NULL &&
        cordon_fact_text_set(&receipt->worktree_label, invocation->label, err) != 0)
        return -1;
    return cordon_fact_text_set(&receipt->worktree, invocation->worktree.path, err);
}

static int64_t elapsed_ms(int64_t *since_ns)
{
    int64_t now = cordon_now_ns();
    int64_t ms = (now - *since_ns) / CORDON_NS_PER_MS;

    *since_ns = now;
    return ms;
}

static int run_make_first(cordon_run *run, cordon_err *err)
{
    return cordon_run_prepare(run, true, err) != 0 ? -1 : cordon_run_make(run, err);
}

/* Create to release, timed; a sum over the steps. */
static int run_until_released(cordon_run *run, int64_t *since_ns, cordon_err *err)
{
    cordon_timing *timing = &run->receipt->timing;
    cordon_permit *permit = NULL;
    int result = run->step > 0 ? cordon_run_make_step(run, err) : run_make_first(run, err);

    timing->create_ms += elapsed_ms(since_ns);
    if (result == 0)
        result = cordon_run_revalidate(run, &permit, err);
    timing->validate_ms += elapsed_ms(since_ns);
    if (result == 0)
        result = cordon_run_release(run, &permit, err);
    cordon_permit_drop(&permit);
    timing->start_ms += elapsed_ms(since_ns);
    return result;
}

/* The first refusal of any branch, and all counts. */
static void run_merge(cordon_run *run)
{
    cordon_receipt *receipt = run->receipt;

    for (size_t i = 0; i < sizeof(run->refusals) / sizeof(run->refusals[0]); i++) {
        if (receipt->refusal.code == CORDON_REFUSED_NONE)
            receipt->refusal = run->refusals[i];
        receipt->tally.facts += run->tallies[i].facts;
    }
    receipt->stdout_bytes += run->out.total_bytes;
    receipt->stderr_bytes += run->err_out.total_bytes;
    receipt->truncated = run->quota.truncated;
}

static cordon_stage run_stage(const cordon_run *run)
{
    if (cordon_run_was_released(run))
        return CORDON_STAGE_RELEASED;
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        if (run->made[role].asked)
            return CORDON_STAGE_CREATED;
    }
    return CORDON_STAGE_NOTHING;
}

/*
 * A create that was cut short by cancel or deadline is told as "outcome unknown"; for the caller
 * the cause counts, and the outcome is cleanup's business. What took longer than its own bound is
 * the engine's failure while the run has time left.
 */
static void run_explain(const cordon_run *run, cordon_err *failure)
{
    cordon_err cause = CORDON_ERR_INIT;

    if (cordon_deadline_check(run->dl, "the run", &cause) == 0) {
        if (failure->code == CORDON_ERR_TIMEOUT)
            failure->code = CORDON_ERR_ENGINE;
    } else if (failure->code == CORDON_ERR_INDETERMINATE) {
        failure->code = cause.code;
    }
}

/* What quotes the command - a refused event, a denied target - may quote a secret of it. */
static void run_hide_secrets(cordon_run *run)
{
    const cordon_secrets *secrets = &run->invocation->secrets;
    cordon_receipt *receipt = run->receipt;

    if (!run->invocation->config->mask_secrets)
        return;
    cordon_secrets_hide(secrets, receipt->refusal.fact);
    cordon_secrets_hide(secrets, receipt->refusal.actual);
    cordon_secrets_hide(secrets, receipt->failure.message);
    for (size_t i = 0; i < receipt->egress.denied_count; i++)
        cordon_secrets_hide(secrets, receipt->egress.denied[i].target);
}

/* One step, from its create to its end. */
static void run_one(cordon_run *run, int64_t *since_ns)
{
    cordon_receipt *receipt = run->receipt;
    cordon_err failure = CORDON_ERR_INIT;
    int64_t run_ms = 0;
    int result = run_until_released(run, since_ns, &failure);

    if (result == 0) {
        receipt->tally.rounds += 2;
        result = cordon_run_stream(run, &failure);
        run_ms = elapsed_ms(since_ns);
        receipt->timing.run_ms += run_ms;
    }
    run_merge(run);
    if (result != 0) {
        run_explain(run, &failure);
        cordon_receipt_fail(receipt, &failure, run_stage(run));
    }
    cordon_run_record_step(run, run_ms);
}

/* All of them, until one ends otherwise than well. */
static void run_all(cordon_run *run, int64_t *since_ns)
{
    cordon_err failure = CORDON_ERR_INIT;

    run_one(run, since_ns);
    while (cordon_run_has_next(run)) {
        size_t ended = run->step;

        if (cordon_run_next(run, &failure) != 0) {
            run_explain(run, &failure);
            cordon_receipt_fail(run->receipt, &failure, CORDON_STAGE_RELEASED);
            return;
        }
        run->receipt->timing.dispose_ms += elapsed_ms(since_ns);
        if (run->step == ended)
            return;
        run_one(run, since_ns);
    }
}

static void run_carry(cordon_run *run)
{
    cordon_receipt *receipt = run->receipt;
    int64_t began_ns = cordon_now_ns();
    int64_t since_ns = began_ns;

    run_all(run, &since_ns);
    cordon_run_dispose(run);
    /* What the end finds out is of the step that ran last. */
    receipt->steps[run->step].reached = true;
    receipt->steps[run->step].kind = receipt->kind;
    receipt->steps[run->step].exit_code = receipt->exit_code;
    cordon_run_settle_worktree(run);
    cordon_run_compare_worktree(run);
    run_hide_secrets(run);
    receipt->timing.dispose_ms += elapsed_ms(&since_ns);
    receipt->timing.total_ms =
        receipt->timing.open_ms + (cordon_now_ns() - began_ns) / CORDON_NS_PER_MS;
    receipt->egress.tell = NULL; /* it outlives the run */
    cordon_egress_file_close(&run->egress_file);
    cordon_journal_close(&run->journal, receipt->left_count == 0);
}

int cordon_invocation_run(cordon_invocation *invocation, const cordon_command *command,
                          const cordon_io *io, cordon_receipt **ret_receipt, cordon_err *err)
{
    return cordon_invocation_run_steps(invocation, &command, 1, io, ret_receipt, err);
}

int cordon_invocation_run_steps(cordon_invocation *invocation,
                                const cordon_command *const *commands, size_t count,
                                const cordon_io *io, cordon_receipt **ret_receipt, cordon_err *err)
{
    cordon_auto_ptr(cordon_run) run = NULL;

    if (cordon_run_new(invocation, commands, count, io, &run, err) != 0)
        return -1;
    if (invocation->used)
        return CORDON_FAIL(err, CORDON_ERR_INVALID,
                           "this invocation has run already; make a new one");
    if (run_describe(run, err) != 0 ||
        cordon_handle_add(CORDON_HANDLE_RECEIPT, run->receipt, err) != 0)
        return -1;
    invocation->used = true;
    run_carry(run);
    *ret_receipt = CORDON_TAKE(run->receipt);
    return 0;
}

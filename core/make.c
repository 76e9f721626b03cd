/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creating and starting, see run.h. The engine's own work takes most of a run's time, so there are
 * two branches that overlap: the vendor network and then the step, the egress network and then the
 * proxy, each container created, inspected and started. The proxy needs the vendor network, too;
 * the step needs nothing of the other branch, because the gate keeps its command from running.
 */
#include "make.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "egress_tell.h"
#include "kit/random.h"
#include "parallel.h"

/* How many blocks are tried before a run gives up to find a free one. */
#define MAKE_SUBNET_TRIES 24
#define MAKE_READY_MS     30000
#define MAKE_REPORT_MS    30000
#define MAKE_READ_SIZE    16384

/* The step's branch tells the proxy's that the vendor network is there, or will never be. */
typedef struct make_meeting {
    sem_t told;
    bool made;
} make_meeting;

/* One branch of work: the run, and which of its two refusal and tally slots is ours. */
typedef struct make_branch {
    cordon_run *run;
    unsigned slot;
    make_meeting *vendor;
} make_branch;

int cordon_make_planned(cordon_run *run, cordon_role role, cordon_err *err)
{
    /* What the journal would not take is not asked for, and disposal need not look for it. */
    if (cordon_journal_planned(&run->journal, role, run->invocation->owner.badges[role].name,
                               err) != 0)
        return -1;
    run->made[role].asked = true;
    return 0;
}

/* The engine answered that it made nothing, or was not asked: else a failure is INDETERMINATE. */
static bool make_was_declined(cordon_code code)
{
    return code == CORDON_ERR_NOTFOUND || code == CORDON_ERR_CONFLICT ||
           code == CORDON_ERR_OVERLAP || code == CORDON_ERR_ENGINE ||
           code == CORDON_ERR_UNSUPPORTED || code == CORDON_ERR_INVALID ||
           code == CORDON_ERR_UNREACHABLE || code == CORDON_ERR_TIMEOUT ||
           code == CORDON_ERR_CANCELLED || code == CORDON_ERR_SYSTEM;
}

/* Notes an id the moment it is known, whether the create succeeded or not. */
int cordon_make_created(cordon_run *run, cordon_role role, const char *id, int result,
                        cordon_err *err)
{
    cordon_err unwritten = CORDON_ERR_INIT;
    int written;

    if (id == NULL) {
        if (result != 0) {
            run->made[role].asked = !make_was_declined(err->code);
            run->made[role].doubted |= err->code == CORDON_ERR_ENGINE;
        }
        return result;
    }
    (void)snprintf(run->made[role].id, sizeof(run->made[role].id), "%s", id);
    /* After a failed create its own error counts; the id is known here all the same. */
    written = cordon_journal_created(&run->journal, role, id, result != 0 ? &unwritten : err);
    return result != 0 ? result : written;
}

/*
 * SECURITY: a warning says that something asked for was not done. What an engine cannot enforce and
 * the operator accepted is not asked for (plan.c), so there is no warning that is expected.
 */
static int make_refuse_warning(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
{
    cordon_err cause = *err;
    char fact[64];

    if (cause.code != CORDON_ERR_WARNED)
        return -1;
    cordon_err_clear(err);
    (void)snprintf(fact, sizeof(fact), "%s.warnings", cordon_role_name(role));
    return cordon_refuse(&run->refusals[slot], CORDON_REFUSED_WARNING, fact,
                         "made without a warning", cause.message, err);
}

/* --- Networks --- */

static int make_network_once(cordon_run *run, cordon_role role, cordon_network_facts *ret_told,
                             cordon_err *err)
{
    cordon_autofree char *id = NULL;
    cordon_deadline dl = cordon_deadline_clamp_ms(run->dl, CORDON_MAKE_CREATE_MS);
    int result;

    if (cordon_make_planned(run, role, err) != 0)
        return -1;
    result = run->ops->network_create(run->impl, &run->plan.networks[role], dl, &id, ret_told, err);
    return cordon_make_created(run, role, id, result, err);
}

/* What the create did not tell is looked up. Who is on it is asked by the final revalidation. */
static int make_check_network(cordon_run *run, cordon_role role, unsigned slot,
                              cordon_network_facts *told, cordon_err *err)
{
    cordon_auto(cordon_network_facts) expected = {0};
    const cordon_run_ids none = {0};

    if (cordon_expect_network(&run->plan, role, &none, CORDON_ROUND_CREATED, &expected, err) != 0 ||
        (told->id == NULL &&
         run->ops->network_inspect(run->impl, run->made[role].id, run->dl, told, err) != 0))
        return -1;
    return cordon_validate_network(cordon_role_name(role), &expected, told, CORDON_ROUND_CREATED,
                                   &run->tallies[slot], &run->refusals[slot], err);
}

static int make_network(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
{
    const cordon_network_config *config = &run->invocation->config->network;
    /* Even blocks for one, odd ones for the other: the two searches never meet. */
    uint32_t first = (run->first_block & ~UINT32_C(1)) + (uint32_t)role;
    cordon_range range;

    if (cordon_range_parse(config->range, config->prefix, &range, err) != 0)
        return -1;
    for (unsigned try = 0; try < MAKE_SUBNET_TRIES; try++) {
        cordon_auto(cordon_network_facts) told = {0};
        char subnet[CORDON_SUBNET_SIZE];
        cordon_err failure = CORDON_ERR_INIT;

        cordon_range_block(&range, first + 2 * try, subnet);
        if (cordon_plan_place(&run->plan, role, subnet, err) != 0)
            return -1;
        if (make_network_once(run, role, &told, &failure) == 0) {
            cordon_plan_network_made(&run->plan, role, run->made[role].id);
            return make_check_network(run, role, slot, &told, err);
        }
        if (failure.code != CORDON_ERR_OVERLAP) {
            *err = failure;
            return make_refuse_warning(run, role, slot, err);
        }
    }
    return CORDON_FAIL(err, CORDON_ERR_OVERLAP,
                       "no free /%d block in %s after %d tries; end other runs or widen "
                       "network.range",
                       (int)config->prefix, CORDON_QUOTE(config->range), MAKE_SUBNET_TRIES);
}

/* --- Containers --- */

static char *make_own_id(cordon_run_ids *ids, cordon_role role)
{
    if (role == CORDON_ROLE_STEP)
        return ids->step;
    return role == CORDON_ROLE_KEEPER ? ids->keeper : ids->proxy;
}

static int make_check_container(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
{
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_run_ids ids = {0};

    /* Its own alone: the other one's may be written just now by the other branch. */
    memcpy(make_own_id(&ids, role), run->made[role].id, sizeof(ids.step));
    if (cordon_expect_container(&run->plan, role, &ids, CORDON_ROUND_CREATED, &expected, err) !=
            0 ||
        run->ops->container_inspect(run->impl, run->made[role].id, run->dl, &run->created[role],
                                    err) != 0)
        return -1;
    return cordon_validate_container(cordon_role_name(role), &expected, &run->created[role],
                                     CORDON_ROUND_CREATED, &run->tallies[slot],
                                     &run->refusals[slot], err);
}

/*
 * A container that has gone since it was looked at, or lost its network, or that somebody else has
 * started, is refused as what it is.
 */
static int make_refuse_change(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
{
    cordon_err cause = *err;
    char fact[64];

    if (cause.code != CORDON_ERR_NOTFOUND && cause.code != CORDON_ERR_CONFLICT)
        return -1;
    cordon_err_clear(err);
    if (cause.code == CORDON_ERR_NOTFOUND)
        return cordon_refuse(&run->refusals[slot], CORDON_REFUSED_FOREIGN, "engine.objects",
                             "each object under the id it was made with", cause.message, err);
    (void)snprintf(fact, sizeof(fact), "%s.state", cordon_role_name(role));
    return cordon_refuse(&run->refusals[slot], CORDON_REFUSED_CHANGED, fact, "created",
                         cause.message, err);
}

/* Created, as planned, attached; then started: nothing is started that was not looked at. */
int cordon_make_start(cordon_run *run, cordon_role role, unsigned slot, unsigned attach_flags,
                      cordon_stream **ret_stream, cordon_err *err)
{
    const char *id;

    if (cordon_make_container(run, role, err) != 0)
        return make_refuse_warning(run, role, slot, err);
    if (make_check_container(run, role, slot, err) != 0)
        return -1;
    /* Podman mounts the worktree with the attach already, so the path is looked at before. */
    if (role == CORDON_ROLE_STEP && cordon_run_check_worktree(run, &run->refusals[slot], err) != 0)
        return -1;
    id = run->made[role].id;
    /* A conflict here is libpod's word for a set-up that failed, not for somebody else's start. */
    if (run->ops->container_attach(run->impl, id, attach_flags, run->dl, ret_stream, err) != 0)
        return err->code == CORDON_ERR_CONFLICT ? -1 : make_refuse_change(run, role, slot, err);
    if (cordon_run_check_runtime(run, role, slot, err) != 0)
        return -1;
    if (run->ops->container_start(run->impl, id, run->dl, err) != 0)
        return make_refuse_change(run, role, slot, err);
    return 0;
}

/* --- Proxy --- */

static int proxy_sink(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    cordon_run *run = context;
    size_t room = CORDON_RUN_PROXY_ERROR_MAX - run->proxy_error.length;

    if (stream == CORDON_STDCOPY_STDOUT)
        return cordon_egress_feed(&run->receipt->egress, bytes, length, err);
    return cordon_buf_append(&run->proxy_error, bytes, length < room ? length : room, err);
}

int cordon_run_read_proxy(cordon_run *run, cordon_err *err)
{
    for (;;) {
        char piece[MAKE_READ_SIZE];
        size_t length = 0;
        cordon_stream_state state;

        if (cordon_stream_read(run->proxy_stream, piece, sizeof(piece), &length, &state, err) != 0)
            return -1;
        if (state == CORDON_STREAM_AGAIN)
            return 0;
        if (state == CORDON_STREAM_END) {
            run->proxy_ended = true;
            return 0;
        }
        if (cordon_stdcopy_feed(&run->proxy_demux, piece, length, err) != 0)
            return -1;
    }
}

static int proxy_not_ready(cordon_run *run, const cordon_err *cause, cordon_err *err)
{
    const char *said = cordon_buf_text(&run->proxy_error);

    bool late = cause->code == CORDON_ERR_TIMEOUT && cordon_deadline_passed(run->dl);

    if (late || cause->code == CORDON_ERR_CANCELLED || cause->code == CORDON_ERR_NOMEM) {
        *err = *cause;
        return -1;
    }
    return CORDON_FAIL(err, CORDON_ERR_ENGINE, "the proxy did not come up: %s; its log ends: %s",
                       cause->code != CORDON_OK ? cause->message : "it ended",
                       said[0] != '\0' ? CORDON_QUOTE(said) : "(empty)");
}

static int proxy_await_ready(cordon_run *run, cordon_err *err)
{
    cordon_deadline dl = cordon_deadline_clamp_ms(run->dl, MAKE_READY_MS);
    cordon_err cause = CORDON_ERR_INIT;

    while (!run->receipt->egress.ready) {
        char piece[MAKE_READ_SIZE];
        size_t length = 0;

        if (cordon_stream_read_wait(run->proxy_stream, piece, sizeof(piece), dl, &length, &cause) !=
                0 ||
            length == 0 || cordon_stdcopy_feed(&run->proxy_demux, piece, length, &cause) != 0)
            return proxy_not_ready(run, &cause, err);
    }
    return 0;
}

/* It starts with nothing but its role, and serves nobody before it has this. */
static int proxy_send_policy(cordon_run *run, cordon_err *err)
{
    const cordon_buf *policy = &run->plan.proxy_policy.bytes;

    return cordon_stream_write(run->proxy_stream, policy->data, policy->length,
                               cordon_deadline_clamp_ms(run->dl, MAKE_READY_MS), err);
}

static int proxy_await_vendor_network(make_meeting *vendor, cordon_err *err)
{
    while (sem_wait(&vendor->told) != 0) /* a signal; the other branch has a deadline */
        continue;
    return vendor->made ? 0 : CORDON_FAIL(err, CORDON_ERR_CANCELLED, "there is no vendor network");
}

static int make_proxy(void *context, cordon_err *err)
{
    make_branch *branch = context;
    cordon_run *run = branch->run;

    cordon_stdcopy_init(&run->proxy_demux, proxy_sink, run);
    if (make_network(run, CORDON_ROLE_EGRESS_NETWORK, branch->slot, err) != 0 ||
        proxy_await_vendor_network(branch->vendor, err) != 0 ||
        cordon_make_start(run, CORDON_ROLE_PROXY, branch->slot, CORDON_ATTACH_STDIN,
                          &run->proxy_stream, err) != 0 ||
        proxy_send_policy(run, err) != 0 || proxy_await_ready(run, err) != 0)
        return -1;
    return cordon_run_check_proxy(run, &run->refusals[branch->slot], err);
}

/* --- Step --- */

static int step_output(void *context, const void *bytes, size_t length, cordon_err *err)
{
    cordon_run *run = context;

    if (cordon_output_put(&run->out, bytes, length, err) != 0)
        return -1;
    return cordon_agent_watch_feed(&run->agent_watch, bytes, length, &run->receipt->refusal, err);
}

static int step_sink(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    cordon_run *run = context;

    if (stream == CORDON_STDCOPY_STDOUT)
        return cordon_gate_link_feed(&run->link, bytes, length, err);
    return cordon_output_put(&run->err_out, bytes, length, err);
}

static int step_await_report(cordon_run *run, cordon_err *err)
{
    cordon_deadline dl = cordon_deadline_clamp_ms(run->dl, MAKE_REPORT_MS);

    while (run->link.state == CORDON_LINK_REPORT) {
        char piece[MAKE_READ_SIZE];
        size_t length = 0;

        if (cordon_stream_read_wait(run->step_stream, piece, sizeof(piece), dl, &length, err) != 0)
            return -1;
        if (length == 0)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                               "the step ended before its gate had reported: %s",
                               CORDON_QUOTE(cordon_buf_text(&run->err_out.waiting)));
        if (cordon_stdcopy_feed(&run->step_demux, piece, length, err) != 0)
            return -1;
    }
    return 0;
}

/* A report that cannot be read is none; its reader knows why, the refusal knows what that means. */
static int step_read_report(cordon_run *run, unsigned slot, cordon_err *err)
{
    cordon_err cause = CORDON_ERR_INIT;

    if (cordon_gate_view_read(run->link.held.data, run->link.held.length, &run->view, &cause) == 0)
        return 0;
    if (cause.code == CORDON_ERR_NOMEM) {
        *err = cause;
        return -1;
    }
    return cordon_refuse(&run->refusals[slot], CORDON_REFUSED_REPORT, "kernel.report",
                         "a report of this version", cause.message, err);
}

static int make_step_network(make_branch *branch, cordon_err *err)
{
    int result;

    if (!cordon_run_has_networks(branch->run))
        return 0;
    result = make_network(branch->run, CORDON_ROLE_VENDOR_NETWORK, branch->slot, err);

    branch->vendor->made = result == 0;
    (void)sem_post(&branch->vendor->told);
    return result;
}

static int make_step(void *context, cordon_err *err)
{
    make_branch *branch = context;
    cordon_run *run = branch->run;

    if (branch->vendor != NULL && make_step_network(branch, err) != 0)
        return -1;
    cordon_stdcopy_init(&run->step_demux, step_sink, run);
    if (cordon_gate_link_init(&run->link, step_output, run, err) != 0 ||
        cordon_make_start(run, CORDON_ROLE_STEP, branch->slot, CORDON_ATTACH_STDIN,
                          &run->step_stream, err) != 0 ||
        step_await_report(run, err) != 0)
        return -1;
    return step_read_report(run, branch->slot, err);
}

int cordon_run_make_step(cordon_run *run, cordon_err *err)
{
    make_branch step = {run, 0, NULL};
    int result = make_step(&step, err);

    cordon_run_tell_unread(run);
    return result;
}

static int make_objects(cordon_run *run, cordon_err *err)
{
    make_meeting vendor = {.made = false};
    make_branch step = {run, 0, &vendor};
    make_branch proxy = {run, 1, &vendor};
    /* The step first: without threads they run in this order, and the proxy waits for the step's
     * network. */
    cordon_branch branches[] = {
        {.run = make_step, .context = &step},
        {.run = make_proxy, .context = &proxy},
    };
    int result;

    cordon_run_progress(run, "create", "creating the objects of the run, starting its containers");
    (void)sem_init(&vendor.told, 0, 0);
    /* Without a network there is nothing to relay: the step's branch is all there is. */
    result = cordon_parallel(branches, cordon_run_has_networks(run) ? 2 : 1, err);
    (void)sem_destroy(&vendor.told);
    cordon_run_tell_unread(run);
    return result;
}

int cordon_run_make(cordon_run *run, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    const cordon_journal_head head = {
        .owner = &invocation->owner,
        .kind = run->ops->name,
        .endpoint = invocation->engine->endpoint,
        .service = invocation->engine->service.program,
        .worktree = invocation->policy->phase->writes ? invocation->worktree.path : NULL,
    };

    if (invocation->state_dir != NULL &&
        cordon_journal_open(invocation->state_dir, &head, &run->journal, err) != 0)
        return -1;
    if (cordon_run_has_networks(run))
        cordon_run_tell_egress(run);
    if (cordon_watch_open(&run->watch, run->ops, run->impl, run->dl, err) != 0 ||
        cordon_run_make_scratch(run, err) != 0)
        return -1;
    return make_objects(run, err);
}

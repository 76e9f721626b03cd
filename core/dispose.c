/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removal, see run.h: by id, only what carries our labels and token, containers before networks,
 * each verified to be gone. Has a time of its own, so that an expired run is cleaned up, too.
 */
#include "dispose.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit/httpc.h"
#include "object_ops.h"
#include "parallel.h"

#define DISPOSE_MS         30000
#define DISPOSE_NETWORK_MS 15000
#define DISPOSE_RETRY_MS   50
/* Longest time for one call: an answer that is lost costs that much, not the whole removal. */
#define DISPOSE_CALL_MS 10000
/* How long an object whose create was never answered is looked for. */
#define DISPOSE_SEARCH_MS 10000
/* How long the proxy may take to tell of its open tunnels. */
#define DISPOSE_PROXY_MS 3000
/* How long a network waits for a container to leave it that is not of the run. */
#define DISPOSE_STRANGER_MS 2000

typedef struct dispose_branch {
    cordon_run *run;
    cordon_role role;
    cordon_deadline dl;
    bool suspicious;                  /* somebody meddled with the run: look who has our names */
    bool removed;                     /* by us */
    char stranger[CORDON_ID_HEX + 1]; /* a container on the network that is not of the run */
    char stand_in[CORDON_ID_HEX + 1]; /* our labels or our name, but another id */
    const char *stand_in_why;
    char reason[256]; /* why it is left; "" when it is gone */
    cordon_finding finding;
} dispose_branch;

#define STAND_IN_LABELS                                                                            \
    "it carries this run's labels, but the run did not make it, and it was left alone"
#define STAND_IN_NAME "it has the name of what the run made, but not its id, and it was left alone"

static void dispose_pause(cordon_deadline dl)
{
    int left = cordon_deadline_left_ms(dl);

    (void)usleep((useconds_t)(left < DISPOSE_RETRY_MS ? left : DISPOSE_RETRY_MS) * 1000);
}

static cordon_deadline dispose_call_dl(const dispose_branch *branch)
{
    return cordon_deadline_clamp_ms(branch->dl, DISPOSE_CALL_MS);
}

/* --- Finding what has no id --- */

static void note_stand_in(dispose_branch *branch, const char *id, const char *why)
{
    (void)snprintf(branch->stand_in, sizeof(branch->stand_in), "%s", id);
    branch->stand_in_why = why;
}

typedef enum dispose_sight {
    DISPOSE_UNTOLD = 0, /* the engine did not answer */
    DISPOSE_SEEN,       /* there, and its id is known */
    DISPOSE_UNSEEN,     /* nothing carries this run's token in this role */
} dispose_sight;

/*
 * SECURITY: the token is the proof, not the name; a list filter is a hint only. And where the id is
 * known, whoever carries the token under another id has copied it: a stand-in, which is left alone.
 */
static dispose_sight dispose_look(dispose_branch *branch)
{
    cordon_run *run = branch->run;
    cordon_made *made = &run->made[branch->role];
    const cordon_owner *owner = &run->invocation->owner;
    cordon_auto(cordon_list) list = {0};
    cordon_err ignored = CORDON_ERR_INIT;

    if (run->ops->list_by_label(run->impl, cordon_role_type(branch->role), owner->token_label,
                                dispose_call_dl(branch), &list, &ignored) != 0)
        return DISPOSE_UNTOLD;
    for (size_t i = 0; i < list.count; i++) {
        if (!cordon_owner_matches(owner, branch->role, &list.items[i].labels))
            continue;
        if (made->id[0] != '\0' && strcmp(made->id, list.items[i].id) != 0) {
            note_stand_in(branch, list.items[i].id, STAND_IN_LABELS);
            continue;
        }
        (void)snprintf(made->id, sizeof(made->id), "%s", list.items[i].id);
        return DISPOSE_SEEN;
    }
    return DISPOSE_UNSEEN;
}

/*
 * Whoever has the place of what was removed from under the run. A name is no proof of anything, so
 * it serves to report, never to remove.
 */
static void dispose_look_for_stand_in(dispose_branch *branch)
{
    cordon_run *run = branch->run;
    const char *name = run->invocation->owner.badges[branch->role].name;
    const char *id = run->made[branch->role].id;
    cordon_auto(cordon_list) list = {0};
    cordon_err ignored = CORDON_ERR_INIT;

    if (!branch->suspicious || branch->stand_in[0] != '\0' ||
        run->ops->list_by_label(run->impl, cordon_role_type(branch->role), NULL,
                                dispose_call_dl(branch), &list, &ignored) != 0)
        return;
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].name, name) == 0 && strcmp(list.items[i].id, id) != 0)
            note_stand_in(branch, list.items[i].id, STAND_IN_NAME);
    }
}

/*
 * A create whose answer was lost may still be at work inside the daemon: look for a while. One that
 * the engine says has failed is over, but may have left what it had made: one look tells.
 */
static bool dispose_search(dispose_branch *branch)
{
    cordon_made *made = &branch->run->made[branch->role];
    cordon_deadline until = cordon_deadline_clamp_ms(branch->dl, DISPOSE_SEARCH_MS);
    dispose_sight sight;

    while ((sight = dispose_look(branch)) != DISPOSE_SEEN) {
        if ((!made->asked && sight == DISPOSE_UNSEEN) || cordon_deadline_passed(until))
            return false;
        dispose_pause(until);
    }
    made->asked = true;
    return true;
}

/* --- Removing one object --- */

static void note_stranger(dispose_branch *branch, const cordon_fact_list *members)
{
    const cordon_made *made = branch->run->made;

    branch->stranger[0] = '\0';
    for (size_t i = 0; i < members->count; i++) {
        const char *id = members->items[i];

        if (strcmp(id, made[CORDON_ROLE_STEP].id) != 0 &&
            strcmp(id, made[CORDON_ROLE_KEEPER].id) != 0 &&
            strcmp(id, made[CORDON_ROLE_PROXY].id) != 0)
            (void)snprintf(branch->stranger, sizeof(branch->stranger), "%s", id);
    }
}

/*
 * SECURITY: it is never thrown off, and the network stays with it; only so long is waited that one
 * that is just leaving may go.
 */
static bool dispose_gives_up(dispose_branch *branch, cordon_deadline *stranger_until)
{
    if (branch->stranger[0] == '\0')
        return false;
    if (stranger_until->at_ns == 0)
        *stranger_until = cordon_deadline_in_ms(DISPOSE_STRANGER_MS, -1);
    if (!cordon_deadline_passed(*stranger_until))
        return false;
    (void)snprintf(branch->reason, sizeof(branch->reason),
                   "container %s, which is not of this run, %s", branch->stranger,
                   cordon_role_type(branch->role) == CORDON_OBJECT_VOLUME ? "has it" : "is on it");
    return true;
}

static int object_labels(dispose_branch *branch, cordon_fact_list *ret_labels, cordon_err *err)
{
    cordon_run *run = branch->run;
    cordon_auto(cordon_object_facts) facts = {0};

    if (cordon_object_inspect(run->ops, run->impl, cordon_role_type(branch->role),
                              run->made[branch->role].id, dispose_call_dl(branch), &facts,
                              err) != 0)
        return -1;
    note_stranger(branch, &facts.users);
    cordon_dispose_note_executions(run, branch->role, &facts.exec_ids, &branch->finding);
    *ret_labels = facts.labels;
    facts.labels = (cordon_fact_list){0};
    return 0;
}

static int object_remove(dispose_branch *branch, cordon_err *err)
{
    cordon_run *run = branch->run;

    return cordon_object_remove(run->ops, run->impl, cordon_role_type(branch->role),
                                run->made[branch->role].id, dispose_call_dl(branch), err);
}

static void dispose_gone(dispose_branch *branch)
{
    cordon_made *made = &branch->run->made[branch->role];

    made->gone = true;
    branch->reason[0] = '\0';
    cordon_journal_gone(&branch->run->journal, branch->role, made->id);
}

static void dispose_left(dispose_branch *branch, const char *reason)
{
    (void)snprintf(branch->reason, sizeof(branch->reason), "%s", reason);
}

/* That time ran out in the end says nothing beside why it was needed. */
static void dispose_failed(dispose_branch *branch, const cordon_err *failure)
{
    if (failure->code != CORDON_ERR_TIMEOUT || branch->reason[0] == '\0')
        dispose_left(branch, failure->message);
}

/*
 * "Not found" by id is no proof before we have removed it: Docker lists a container a little before
 * it knows it by its id, in the middle of a create. Then the list must not show it either.
 */
static bool dispose_is_gone(dispose_branch *branch)
{
    return branch->removed || dispose_look(branch) == DISPOSE_UNSEEN;
}

/* Gone, and if no removal of ours can have done it, by somebody else. */
static void dispose_found_gone(dispose_branch *branch)
{
    if (!branch->run->made[branch->role].tried) {
        branch->suspicious = true;
        cordon_dispose_note_gone(branch->run, branch->role, &branch->finding);
    }
    dispose_gone(branch);
}

/*
 * A network or volume that is in use is not removed, later either. A container's conflict may be
 * the removal that is under way, and that may be ours.
 */
static bool dispose_was_declined(const dispose_branch *branch, int result, const cordon_err *err)
{
    return result != 0 && err->code == CORDON_ERR_CONFLICT &&
           cordon_role_type(branch->role) != CORDON_OBJECT_CONTAINER;
}

/* One try. True when it is settled: gone, or not ours to remove. */
static bool dispose_try(dispose_branch *branch)
{
    cordon_auto(cordon_fact_list) labels = {0};
    cordon_err err = CORDON_ERR_INIT;
    int result;

    if (object_labels(branch, &labels, &err) != 0) {
        if (err.code == CORDON_ERR_NOTFOUND && dispose_is_gone(branch)) {
            dispose_found_gone(branch);
            return true;
        }
        dispose_failed(branch, &err);
        return false;
    }
    if (!cordon_owner_matches(&branch->run->invocation->owner, branch->role, &labels)) {
        dispose_left(branch, "it no longer carries this run's labels and was left alone");
        return true;
    }
    result = object_remove(branch, &err);
    /* The next look settles whether it is gone; then it was not our doing. */
    if (result != 0 && err.code == CORDON_ERR_NOTFOUND) {
        dispose_left(branch, "the engine shows it and says that it is not there");
        return false;
    }
    if (!dispose_was_declined(branch, result, &err))
        branch->run->made[branch->role].tried = true;
    if (result != 0) {
        dispose_failed(branch, &err);
        return false;
    }
    branch->removed = true;
    dispose_left(branch, "it was removed but is still there");
    return false;
}

static bool dispose_may_exist(const cordon_made *made)
{
    return made->asked || made->doubted;
}

static void dispose_object(dispose_branch *branch)
{
    cordon_made *made = &branch->run->made[branch->role];
    cordon_deadline stranger_until = {.at_ns = 0, .cancel_fd = -1};

    if (!dispose_may_exist(made))
        return;
    if (made->id[0] == '\0' && !dispose_search(branch)) {
        if (made->asked)
            dispose_left(branch, "its creation was never answered and it has not shown up so far");
        return;
    }
    for (unsigned tries = 0;; tries++) {
        if (dispose_try(branch) || dispose_gives_up(branch, &stranger_until))
            return;
        if (cordon_deadline_passed(branch->dl))
            return;
        /* The first repetition only verifies that it is gone; no need to wait for that. */
        if (tries > 0)
            dispose_pause(branch->dl);
    }
}

/* --- The order of it --- */

static int dispose_container(void *context, cordon_err *err)
{
    dispose_branch *branch = context;

    (void)err;
    cordon_dispose_confirm_files(branch->run, branch->role, &branch->finding);
    dispose_object(branch);
    dispose_look_for_stand_in(branch);
    return 0;
}

static int dispose_step(void *context, cordon_err *err)
{
    dispose_branch *branch = context;

    cordon_dispose_confirm_exit(branch->run, &branch->finding);
    return dispose_container(context, err);
}

/* Lets the proxy tell of the tunnels that are still open. */
static void proxy_say_goodbye(cordon_run *run)
{
    cordon_deadline dl = cordon_deadline_in_ms(DISPOSE_PROXY_MS, -1);
    cordon_err ignored = CORDON_ERR_INIT;

    if (run->proxy_stream == NULL || run->proxy_ended ||
        run->ops->container_signal(run->impl, run->made[CORDON_ROLE_PROXY].id, "SIGTERM", dl,
                                   &ignored) != 0)
        return;
    while (!run->proxy_ended && !cordon_deadline_passed(dl)) {
        short ready = 0;

        if (cordon_run_read_proxy(run, &ignored) != 0)
            return;
        if (!run->proxy_ended && cordon_deadline_poll(dl, cordon_stream_fd(run->proxy_stream),
                                                      POLLIN, "the proxy", &ready, &ignored) != 0)
            return;
    }
}

static int dispose_proxy(void *context, cordon_err *err)
{
    dispose_branch *branch = context;

    proxy_say_goodbye(branch->run);
    return dispose_container(context, err);
}

/* Networks and the scratch. */
static int dispose_place(void *context, cordon_err *err)
{
    (void)err;
    dispose_object(context);
    dispose_look_for_stand_in(context);
    return 0;
}

/* What does not wait for each other; a role that was not asked for costs nothing. */
typedef struct dispose_part {
    cordon_role role;
    cordon_branch_fn *run;
} dispose_part;

#define DISPOSE_PARTS 3

static void dispose_together(dispose_branch branches[CORDON_ROLE_COUNT],
                             const dispose_part parts[DISPOSE_PARTS])
{
    cordon_branch all[DISPOSE_PARTS];
    size_t count = 0;
    int result;

    for (size_t i = 0; i < DISPOSE_PARTS; i++) {
        dispose_branch *branch = &branches[parts[i].role];

        if (dispose_may_exist(&branch->run->made[parts[i].role]))
            all[count++] = (cordon_branch){.run = parts[i].run, .context = branch};
    }
    result = count > 0 ? cordon_parallel(all, count, NULL) : 0;
    (void)result; /* each branch says in its reason what it could not do */
}

static void dispose_report(const dispose_branch *branch)
{
    cordon_run *run = branch->run;
    const cordon_made *made = &run->made[branch->role];

    if (branch->stand_in[0] != '\0')
        cordon_receipt_leave(run->receipt, branch->role, branch->stand_in, branch->stand_in_why);
    if (made->gone || branch->reason[0] == '\0')
        return;
    cordon_receipt_leave(run->receipt, branch->role,
                         made->id[0] != '\0' ? made->id
                                             : run->invocation->owner.badges[branch->role].name,
                         branch->reason);
}

/*
 * Nobody reads these any more, and where descriptors are short, a removal needs theirs: what could
 * be made with them can be removed again.
 */
static void dispose_streams(cordon_run *run)
{
    cordon_watch_close(&run->watch);
    cordon_stream_close(run->step_stream);
    run->step_stream = NULL;
}

static dispose_branch dispose_begin(cordon_run *run, cordon_role role)
{
    return (dispose_branch){
        .run = run,
        .role = role,
        .suspicious = run->receipt->kind == CORDON_RESULT_TAMPERED,
        .dl = cordon_deadline_in_ms(DISPOSE_MS, -1),
    };
}

void cordon_run_dispose_step(cordon_run *run)
{
    dispose_branch branch = dispose_begin(run, CORDON_ROLE_STEP);

    (void)dispose_step(&branch, NULL);
    /* Not before: Docker tells of a reader that leaves a container which has not ended yet. */
    cordon_stream_close(run->step_stream);
    run->step_stream = NULL;
    cordon_dispose_settle(run, &branch.finding);
    /* What is left is told by the end of the run, which tries once more. */
}

void cordon_run_dispose(cordon_run *run)
{
    static const dispose_part containers[DISPOSE_PARTS] = {
        {CORDON_ROLE_STEP, dispose_step},
        {CORDON_ROLE_PROXY, dispose_proxy},
        {CORDON_ROLE_KEEPER, dispose_container},
    };
    static const dispose_part places[DISPOSE_PARTS] = {
        {CORDON_ROLE_VENDOR_NETWORK, dispose_place},
        {CORDON_ROLE_EGRESS_NETWORK, dispose_place},
        {CORDON_ROLE_SCRATCH, dispose_place},
    };
    dispose_branch branches[CORDON_ROLE_COUNT];

    dispose_streams(run);
    cordon_run_progress(run, "dispose", "removing what was made");
    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        branches[role] = dispose_begin(run, (cordon_role)role);
    dispose_together(branches, containers);
    /* A container that would not go has used up its time, not that of the networks. */
    for (size_t i = 0; i < DISPOSE_PARTS; i++)
        branches[places[i].role].dl = cordon_deadline_in_ms(DISPOSE_NETWORK_MS, -1);
    dispose_together(branches, places);
    for (int role = CORDON_ROLE_COUNT - 1; role >= 0; role--) {
        cordon_dispose_settle(run, &branches[role].finding);
        dispose_report(&branches[role]);
    }
}

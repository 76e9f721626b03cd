/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run in progress: what the steps of a run share. run.c holds the order of the steps and
 * nothing else; each step has a file of its own:
 *   prepare.c     what must be known and there before the first create
 *   make.c        create and start, concurrently where ids allow
 *   revalidate.c  the final revalidation and the permit that only it can make
 *   stream.c      release, streaming, deadline and cancel
 *   settle.c      what a command that ended came to
 *   dispose.c     removal by id, verified
 */
#ifndef CORDON_RUN_H
#define CORDON_RUN_H

#include "adapter.h"
#include "egress_file.h"
#include "expect.h"
#include "gate/blob.h"
#include "gate_link.h"
#include "gate_view.h"
#include "images.h"
#include "invocation.h"
#include "journal.h"
#include "kit/stdcopy.h"
#include "output.h"
#include "receipt.h"
#include "watch.h"

/* One object of the run. */
typedef struct cordon_made {
    char id[CORDON_ID_HEX + 1]; /* "" while unknown */
    bool asked;                 /* it may exist, even without an id */
    bool doubted; /* its create failed inside the engine: it may be there, half made */
    bool tried;   /* its removal was asked for, whatever came of it */
    bool gone;
} cordon_made;

/*
 * The probe's patience with the pinned host: the proxy gives its own answer first, and the probe
 * waits for that.
 */
#define CORDON_RUN_PROBE_CONNECT_MS 2500
#define CORDON_RUN_PROBE_PINNED_MS  4000

/* The end of what the proxy wrote to stderr, for the error when it does not come up. */
#define CORDON_RUN_PROXY_ERROR_MAX 512

/* As many as work at once: a look asks for the pairs of objects - step, proxy, keeper, each
 * with its network or volume - and for what changed in these containers. */
#define CORDON_RUN_BRANCHES 6

typedef struct cordon_run {
    cordon_invocation *invocation;
    const cordon_command *const *commands; /* of all steps */
    size_t command_count;
    size_t step; /* which one is at work, from 0 on */
    const cordon_command *command;
    const cordon_io *io;
    const cordon_engine_ops *ops;
    void *impl;
    cordon_deadline dl; /* the invocation's, with the caller's cancel descriptor */
    cordon_receipt *receipt;

    cordon_images images;
    cordon_snapshot snapshot;
    cordon_plan_host hosts[CORDON_VENDOR_HOSTS_MAX];
    cordon_plan plan;
    uint32_t first_block; /* where the search for free blocks begins */
    cordon_journal journal;
    cordon_egress_file egress_file;
    cordon_watch watch;
    cordon_made made[CORDON_ROLE_COUNT];
    cordon_container_facts created[CORDON_ROLE_COUNT]; /* first reading of each container */
    cordon_err unread[CORDON_ROLE_COUNT]; /* why a runtime's configuration was not read, which the
                                             operator accepted; unset where it was */

    cordon_stream *proxy_stream;
    cordon_stdcopy proxy_demux;
    cordon_buf proxy_error;
    bool proxy_ended;

    /* What several steps share: the volume as it was made, and what lies in their place. */
    cordon_volume_facts scratch;
    char scratch_seen[128]; /* the gate's word for it in the first step */
    cordon_stream *keeper_stream;

    cordon_stream *step_stream;
    cordon_stdcopy step_demux;
    cordon_gate_link link;
    cordon_gate_view view;
    cordon_output_quota quota;
    cordon_output out;
    cordon_output err_out;
    cordon_agent_watch agent_watch;
    cordon_talk talk; /* of the agent's session, for a later step that resumes it */
    bool step_ended;  /* end of its stream */
    bool step_more;   /* a turn has left bytes of it unread: nothing is waited for */

    /* Branches of make.c and of a look fill their own; merged when they have joined. */
    cordon_refusal refusals[CORDON_RUN_BRANCHES];
    cordon_tally tallies[CORDON_RUN_BRANCHES];
} cordon_run;

/* Tells the caller where the run is. */
void cordon_run_progress(const cordon_run *run, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A run of this invocation that has not begun; INVALID for another policy's command. */
int cordon_run_new(cordon_invocation *invocation, const cordon_command *const *commands,
                   size_t count, const cordon_io *io, cordon_run **ret_run, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_run_free(cordon_run *run);
CORDON_DEFINE_AUTO_PTR(cordon_run, cordon_run_free)

/*
 * Everything before the first create: what the engine must be able to do, images, plan, first
 * choice of addresses.
 * @param load  false: change nothing on the engine (cordon plan)
 */
int cordon_run_prepare(cordon_run *run, bool load, cordon_err *err)
    __attribute__((warn_unused_result));

/* The image of the step that is at work; changes nothing but run->images. */
int cordon_run_prepare_images(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Fills run->plan from what was decided; needs run->images. */
void cordon_run_plan(cordon_run *run);

/* Which image the step is made from: the option, else the configured one; NULL for the probe. */
const char *cordon_run_pin(const cordon_run *run);
/* What the lock of images has for this run's image on this engine: "sha256:..."; NULL for none. */
const char *cordon_run_locked_id(const cordon_run *run);
/*
 * Holds the run to the lock of images, where there is one: before anything is asked of the engine
 * (does it have the name, is the pin what it says, does the CLI's version agree), and once the
 * image's id is known.
 */
int cordon_run_check_lock(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));
int cordon_run_check_locked_id(cordon_run *run, cordon_err *err)
    __attribute__((warn_unused_result));
/* The key of images that holds it: "claude", "codex" or "runner". */
const char *cordon_run_pin_name(const cordon_run *run);

/* The step gets the vendor network; a runner only if the configuration grants it. */
bool cordon_run_is_networked(const cordon_run *run);

/* Any step does: the networks and the proxy are there for all of them. */
bool cordon_run_has_networks(const cordon_run *run);

/* There are several steps, so there is a scratch that they share, and its keeper. */
bool cordon_run_is_shared(const cordon_run *run);

/* A step that is still to come resumes the agent's session. */
bool cordon_run_is_resumed(const cordon_run *run);

/* A command may have run. */
bool cordon_run_was_released(const cordon_run *run);

/* --- From step to step (run_steps.c) --- */

/* Output and the reader of the agent's words, for the step that is at work (run.c). */
void cordon_run_begin_step(cordon_run *run);

void cordon_run_describe_steps(cordon_run *run);
void cordon_run_record_step(cordon_run *run, int64_t run_ms);

/* The step has ended well, and there is another one. */
bool cordon_run_has_next(const cordon_run *run);

/*
 * Removes the step that has ended and plans the next one. 0 also when its removal has made the
 * result another one, which is then the run's.
 */
int cordon_run_next(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* --- What they share (make_scratch.c) --- */

/* Scratch and keeper, where there are several steps. */
int cordon_run_make_scratch(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Tells the plan where the engine has put the scratch. */
int cordon_run_place_scratch(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* The scratch as the engine shows it now: unchanged, with keeper and step as its users. */
int cordon_run_look_scratch(cordon_run *run, unsigned slot, cordon_err *err)
    __attribute__((warn_unused_result));

/* The gate of this step sees the very file system that the first step's gate saw. */
int cordon_run_check_identity(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Ids of the run's containers, as validation wants them. */
cordon_run_ids cordon_run_container_ids(const cordon_run *run);

/* A step that is not the first one: its container, started, its report read. */
int cordon_run_make_step(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Journal, event stream, networks, both containers started, report read. */
int cordon_run_make(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/*
 * What the engine told its OCI runtime of a container that is set up and not started, against the
 * plan. Nothing on an engine whose inspect hides nothing. REFUSED with fact "<role>.runtime...";
 * also when it cannot be read, unless the operator accepted that, which run->unread then says.
 */
int cordon_run_check_runtime(cordon_run *run, cordon_role role, unsigned slot, cordon_err *err)
    __attribute__((warn_unused_result));

/* Says what was accepted unread; nothing otherwise. */
void cordon_run_tell_unread(const cordon_run *run);

/* What the proxy says of itself is what it was told, and it has locked itself. proxy_check.c */
int cordon_run_check_proxy(cordon_run *run, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* Takes bytes that have arrived from the proxy; sets proxy_ended at the end of its stream. */
int cordon_run_read_proxy(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/*
 * Networks and containers as the engine shows them now, against the plan: running, unchanged, and
 * nothing in the containers' own file systems but mount points.
 */
int cordon_run_look(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* The last of these for one container, in any state. REFUSED as of cordon_changes_check. */
int cordon_run_check_changes(cordon_run *run, cordon_role role, cordon_deadline dl,
                             cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* --- The worktree (run_worktree.c) --- */

/* Makes the placeholders that its guard needs (unless make is false) and says what is mounted. */
int cordon_run_keep_worktree(cordon_run *run, bool make, cordon_err *err)
    __attribute__((warn_unused_result));

/* Keeps a copy of the worktree for the diff, where one is wanted. */
int cordon_run_keep_copy(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Once the step has gone: what changed, into the receipt, or why it cannot be told. */
void cordon_run_compare_worktree(cordon_run *run);

/*
 * Once the step has gone: placeholders go; what appeared in a writing phase and should not be
 * there is renamed, and makes the run's result TAMPERED.
 */
void cordon_run_settle_worktree(cordon_run *run);

/*
 * The worktree is still the folder that was approved: same path, device and inode; so is what
 * comes with it.
 */
int cordon_run_check_worktree(const cordon_run *run, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The right to release one step, once. Bound to the invocation, the step's id, the nonce of the
 * gate's report and a short time. Only cordon_run_revalidate makes one; cordon_permit_spend
 * checks it and takes it away.
 */
typedef struct cordon_permit cordon_permit;

int cordon_run_revalidate(cordon_run *run, cordon_permit **ret_permit, cordon_err *err)
    __attribute__((warn_unused_result));

/* Consumes *permit, good or not. REFUSED when it is not for this release, or too old. */
int cordon_permit_spend(cordon_permit **permit, const cordon_run *run, cordon_refusal *ret_refusal,
                        cordon_err *err) __attribute__((warn_unused_result));

/* For the one error path between making and spending. */
void cordon_permit_drop(cordon_permit **permit);

/* Sends the release. The permit is consumed. */
int cordon_run_release(cordon_run *run, cordon_permit **permit, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Streams until the command has ended, by itself or because deadline, cancel or tampering made
 * us end it, and fills the receipt's result. -1 only for what is no result of the command.
 */
int cordon_run_stream(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Its last part: what a command that ended by itself, or by somebody else, came to. */
int cordon_run_settle(cordon_run *run, cordon_err *err) __attribute__((warn_unused_result));

/* Removes a step that is followed by another; what it finds goes into the receipt's result. */
void cordon_run_dispose_step(cordon_run *run);

/* Removes everything that was asked for and verifies it; leftovers go into the receipt. */
void cordon_run_dispose(cordon_run *run);

#endif

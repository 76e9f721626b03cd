/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What disposal finds out about a run that was released: that the engine saw another end than the
 * gate, that somebody else removed an object, that files were put into a container. Found on the
 * branches that remove, each into a finding of its own; settled into the receipt afterwards.
 * Private to disposal.
 */
#ifndef CORDON_DISPOSE_H
#define CORDON_DISPOSE_H

#include "run.h"

/* The first thing that was found; err is unset while nothing was. */
typedef struct cordon_finding {
    cordon_err err;
    cordon_refusal refusal;
} cordon_finding;

/* The command may have run: what is found belongs to the result. */
bool cordon_dispose_is_released(const cordon_run *run);

/* The engine must have seen the same end of the step as the gate told. */
void cordon_dispose_confirm_exit(cordon_run *run, cordon_finding *finding);

/*
 * Nobody has executed anything in the container: libpod's record tells for some minutes, also where
 * the event got lost, as Podman 4 loses one now and then when it cuts its log.
 */
void cordon_dispose_note_executions(const cordon_run *run, cordon_role role,
                                    const cordon_fact_list *exec_ids, cordon_finding *finding);

/* Nobody has put files into the container, or taken some away. Before it is removed. */
void cordon_dispose_confirm_files(cordon_run *run, cordon_role role, cordon_finding *finding);

/* An object was gone before the run removed it. */
void cordon_dispose_note_gone(const cordon_run *run, cordon_role role, cordon_finding *finding);

/* Into the receipt, unless that tells of something as bad. */
void cordon_dispose_settle(cordon_run *run, const cordon_finding *finding);

#endif

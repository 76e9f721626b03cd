/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which changes of a container's own file system follow from the plan, and that there are no
 * others. An engine that lets an archive be uploaded into a read-only root tells nobody of it; its
 * list of changes shows it all the same.
 */
#ifndef CORDON_CHANGES_H
#define CORDON_CHANGES_H

#include "change_facts.h"
#include "plan.h"
#include "refusal.h"
#include "validate.h"

/*
 * Compares a container's changes with what mounting for this plan brings about: a mount point that
 * the image lacks is added, and so is, or is modified, every folder above it. Nothing is deleted.
 * @param tally  counts one fact per change
 * @return 0, or -1 with REFUSED: code CHANGED, fact "step.changes[/bin/sh]"
 */
int cordon_changes_check(const cordon_plan *plan, cordon_role role, const cordon_changes *changes,
                         cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

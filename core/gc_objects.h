/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run that has ended left on an engine: found by its token and by the ids of its journal,
 * removed by id after its labels were read once more, verified to be gone. Private to the
 * collection.
 */
#ifndef CORDON_GC_OBJECTS_H
#define CORDON_GC_OBJECTS_H

#include "gc_report.h"
#include "journal_read.h"
#include "session.h"

/*
 * @param remove  false: only says what there is
 * @return 0 when everything was looked at: what is left stands in the report; -1 when the engine
 *         did not answer, time ran out, or the caller cancelled
 */
int cordon_gc_objects(const cordon_engine *engine, const cordon_journal_entry *entry, bool remove,
                      cordon_deadline dl, cordon_gc_entry *report, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

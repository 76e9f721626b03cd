/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what runs have left that were killed, or could not clean up. Conventions as in
 * cordon/cordon.h.
 */
#ifndef CORDON_GC_H
#define CORDON_GC_H

#include "cordon/cordon.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cordon_gc_mode {
    CORDON_GC_LIST = 1, /* what the journals tell; no engine is asked */
    CORDON_GC_LOOK,     /* what is there, and would be removed; nothing is changed */
    CORDON_GC_REMOVE,
} cordon_gc_mode;

/*
 * mode       what to do with what a run left that has provably ended
 * automatic  nobody asked for it: nothing is done where the configuration has sweep = false
 * engine     only what was made on this one, through this handle; NULL: whatever the journals name
 * budget_ms  how long all of it may take
 * cancel_fd  readable = stop; -1 for none
 * progress   as in cordon_io
 */
typedef struct cordon_gc_options {
    cordon_gc_mode mode;
    bool automatic;
    cordon_engine *engine;
    int64_t budget_ms;
    int cancel_fd;
    void (*progress)(void *context, const char *word, const char *text);
    void *progress_context;
} cordon_gc_options;

typedef struct cordon_gc_report cordon_gc_report;

/*
 * Removes what runs have left that were killed, or that could not clean up: containers and networks
 * with the run's labels and token, by id; placeholders in its worktree; its journal. A run is over
 * only if that is proven: nobody holds its journal, and on this host and in this pid namespace its
 * process (number and start) is gone, or the host was booted since. Objects without a journal of
 * the caller's are never touched.
 * @return 0 with a report - what could not be removed stands in it - or -1 when nothing was looked
 *         at: CONFIG (no state folder, or others may write to it), SYSTEM, NOMEM
 */
CORDON_PUBLIC int cordon_gc(const cordon_config *config, const cordon_host *host,
                            const cordon_gc_options *options, cordon_gc_report **ret_report,
                            cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_gc_report_free(cordon_gc_report *report);

/*
 * One run with a journal. Strings live as long as the report.
 * state  "alive", "unknown" (its end cannot be proven from here), "dead" (something of it may be
 *        left), "cleared" (it was dead, nothing is left and its journal is gone), "unreadable"
 * why    how its state is known, or why something is left
 */
typedef struct cordon_gc_run {
    const char *invocation;
    const char *engine;
    const char *kind;
    const char *state;
    const char *why;
    int64_t pid;
    size_t objects;
} cordon_gc_run;

/*
 * One thing of a run.
 * type   "container", "network", "worktree"
 * state  "noted" (LIST: the journal tells of it), "found" (LOOK), "removed", "gone" (it was not
 *        there), "left"
 * why    of one that is left, or ""
 */
typedef struct cordon_gc_object {
    const char *type;
    const char *role;
    const char *id;
    const char *state;
    const char *why;
} cordon_gc_object;

/* False past the last. */
CORDON_PUBLIC bool cordon_gc_report_run(const cordon_gc_report *report, size_t index,
                                        cordon_gc_run *ret_run);
CORDON_PUBLIC bool cordon_gc_report_object(const cordon_gc_report *report, size_t run, size_t index,
                                           cordon_gc_object *ret_object);

/*
 * {"gc":1,"mode":"list|look|remove","runs":[{"invocation","engine","kind","state","why","pid",
 *   "objects":[{"type","role","id","state","why"}]}],"complete":true|false}
 * complete: nothing of a run that has ended is left, as far as that can be known from here.
 */
CORDON_PUBLIC int cordon_gc_report_json(const cordon_gc_report *report, char **ret_json,
                                        cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC bool cordon_gc_report_complete(const cordon_gc_report *report);

#ifdef __cplusplus
}
#endif
#endif

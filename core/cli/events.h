/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon run --json`: one JSON object per line on standard output.
 *
 *   {"event":"progress","step":"create","text":"..."}
 *   {"event":"output","stream":"stdout","data":"..."}            valid UTF-8
 *   {"event":"output","stream":"stderr","data_base64":"..."}     anything else
 *   {"event":"receipt","receipt":{...}}                          always the last line
 *
 * A thread turns what the run writes into pipes into lines. A reader that stalls never holds the
 * run up: the pipes fill, the library copes with that, and at the end the thread waits a bounded
 * time more. When the reader goes away the pipes are closed, and the library ends the run.
 */
#ifndef CORDON_CLI_EVENTS_H
#define CORDON_CLI_EVENTS_H

#include "kit/cleanup.h"
#include "kit/error.h"

typedef struct cordon_cli_events cordon_cli_events;

/* Makes the pipes and starts the thread; lines go to out_fd, which is borrowed. */
int cordon_cli_events_start(int out_fd, cordon_cli_events **ret_events, cordon_err *err)
    __attribute__((warn_unused_result));

/* Where the command's output goes; borrowed, closed by finish. */
int cordon_cli_events_stdout(const cordon_cli_events *events);
int cordon_cli_events_stderr(const cordon_cli_events *events);

/* cordon_io.progress with the events as context. Never blocks: a line may be lost. */
void cordon_cli_events_progress(void *events, const char *word, const char *text);

/*
 * cordon_io.egress with the events as context: the event is a line as it is. Never blocks; events
 * that found no room are counted, and an event with "what": "dropped" tells how many.
 */
void cordon_cli_events_egress(void *events, const char *json);

/*
 * Ends the output: what is in the pipes is still written, if the reader takes it within
 * drain_ms. @return 0, or -1 when lines were lost
 */
int cordon_cli_events_finish(cordon_cli_events *events, int drain_ms, cordon_err *err)
    __attribute__((warn_unused_result));

/* Finishes, if that was not done, without waiting for the reader. */
void cordon_cli_events_free(cordon_cli_events *events);
CORDON_DEFINE_AUTO_PTR(cordon_cli_events, cordon_cli_events_free)

/* The last line. receipt_json is one JSON object, in one line or more. */
int cordon_cli_events_receipt(int out_fd, const char *receipt_json, int budget_ms, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

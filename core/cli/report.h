/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that turns an error or a receipt into a line for a person and an exit status.
 * The statuses themselves are the library's (cordon_result.status); the command adds the one
 * thing it alone knows, which signal it was.
 */
#ifndef CORDON_CLI_REPORT_H
#define CORDON_CLI_REPORT_H

#include "cli.h"

/*
 * Prints "cordon VERB: MESSAGE", with "refused: " before what policy or validation said no to, and
 * returns the exit status that belongs to the error.
 */
int cordon_cli_report_error(const cordon_cli_context *context, const cordon_cli_options *options,
                            const cordon_err *failure);

/*
 * The same for a verb that prints nothing else: with --json standard output gets
 * {"error":{"code":"CONFIG","message":"..."}}, too. (run and probe have a format of their own.)
 */
int cordon_cli_report_failure(const cordon_cli_context *context, const cordon_cli_options *options,
                              const cordon_err *failure);

/*
 * Says what a receipt has beyond a command that ran to its end: why not, and what was left
 * behind. Returns the exit status.
 */
int cordon_cli_report_receipt(const cordon_cli_context *context, const cordon_cli_options *options,
                              const cordon_receipt *receipt);

/*
 * cordon_io.progress for a person: lines on standard error, if that is a terminal and --quiet is
 * not given, or with --debug. Lines that cannot be written at once are dropped: a stalled
 * terminal does not stop a run.
 */
typedef struct cordon_cli_progress {
    bool wanted;
    bool times;
    int64_t start_ns;
} cordon_cli_progress;

cordon_cli_progress cordon_cli_progress_make(const cordon_cli_options *options);
void cordon_cli_progress_line(void *progress, const char *word, const char *text);

#endif

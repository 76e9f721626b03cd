/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon run`: carry one approved command through, and say what became of it. */
#include <unistd.h>

#include "cli.h"
#include "events.h"
#include "hints.h"
#include "kit/deadline.h"
#include "prompt.h"
#include "receipt_file.h"
#include "report.h"
#include "session.h"

/* How long, after the run, a reader of --json may take for what is still on its way. */
#define DRAIN_MS 5000

static const cordon_cli_option run_options[] = {
    CORDON_CLI_ROW_VENDOR,
    CORDON_CLI_ROW_PHASE,
    CORDON_CLI_ROW_WORKTREE,
    CORDON_CLI_ROW_PROMPT,
    CORDON_CLI_ROW_PROMPT_FILE,
    CORDON_CLI_ROW_STEPS,
    CORDON_CLI_ROW_MODEL,
    CORDON_CLI_ROW_APPROVE,
    CORDON_CLI_ROW_IMAGE,
    CORDON_CLI_ROW_SECRET,
    CORDON_CLI_ROW_DEADLINE,
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_RECEIPT,
    CORDON_CLI_ROW_DIFF,
    CORDON_CLI_ROW_JSON("output, progress and receipt as lines of JSON on standard output"),
    CORDON_CLI_ROW_QUIET,
    CORDON_CLI_ROW_DEBUG,
};

/* What a run is told about and writes to, beside the library's handles. */
typedef struct run {
    const cordon_cli_context *context;
    const cordon_cli_options *options;
    cordon_cli_receipt_file *file;
    cordon_cli_receipt_file *diff;
    cordon_cli_events *events;
    bool lines_lost;
} run;

/* The receipt to its file and, as the last event, to standard output. */
static int emit(run *r, const cordon_receipt *receipt, cordon_err *err)
{
    cordon_autofree char *json = NULL;
    if (!r->file && !r->options->json)
        return 0;
    if (cordon_receipt_json(receipt, &json, err) != 0)
        return -1;
    if (r->file && cordon_cli_receipt_file_write(r->file, json, err) != 0)
        return -1;
    if (r->options->json && !r->lines_lost)
        return cordon_cli_events_receipt(STDOUT_FILENO, json, DRAIN_MS, err);
    return 0;
}

/* Nothing where none was asked for. */
static int emit_diff(const run *r, const cordon_receipt *receipt, cordon_err *err)
{
    const char *patch = NULL;
    size_t length = 0;
    if (!r->diff)
        return 0;
    if (cordon_receipt_diff(receipt, &patch, &length, err) != 0) {
        cordon_err_wrap(err, "--diff");
        return -1;
    }
    return patch ? cordon_cli_out_file_write(r->diff, patch, length, err) : 0;
}

/* A receipt that could not be delivered turns a success into an error, never an error into one. */
static int deliver(run *r, const cordon_receipt *receipt)
{
    cordon_err err = CORDON_ERR_INIT;
    int emitted = emit(r, receipt, &err);
    if (emitted == 0)
        emitted = emit_diff(r, receipt, &err);
    int status = cordon_cli_report_receipt(r->context, r->options, receipt);
    if (emitted == 0 && !r->lines_lost)
        return status;
    if (emitted != 0)
        (void)cordon_cli_report_error(r->context, r->options, &err);
    return status ? status : CORDON_CLI_ERROR;
}

/* The receipt of a run that never had an invocation. */
static int deliver_failure(run *r, const cordon_err *failure)
{
    cordon_receipt *receipt = NULL;
    cordon_err err = CORDON_ERR_INIT;
    int status = cordon_cli_report_error(r->context, r->options, failure);
    if (cordon_receipt_new_failed(failure, cordon_cli_vendor(r->options),
                                  cordon_cli_phase(r->options), &receipt, &err) != 0 ||
        emit(r, receipt, &err) != 0)
        (void)cordon_cli_report_error(r->context, r->options, &err);
    cordon_receipt_free(receipt);
    return status;
}

static int carry_through(run *r, const cordon_cli_session *session, cordon_receipt **ret_receipt,
                         cordon_err *err)
{
    cordon_cli_progress progress = cordon_cli_progress_make(r->options);
    cordon_io io = {
        .stdout_fd = STDOUT_FILENO,
        .stderr_fd = STDERR_FILENO,
        .cancel_fd = r->context->signal_fd,
        .progress = cordon_cli_progress_line,
        .progress_context = &progress,
    };
    if (r->events) {
        io.stdout_fd = cordon_cli_events_stdout(r->events);
        io.stderr_fd = cordon_cli_events_stderr(r->events);
        io.progress = cordon_cli_events_progress;
        io.progress_context = r->events;
        io.egress = cordon_cli_events_egress;
        io.egress_context = r->events;
    }
    return cordon_invocation_run_steps(session->invocation,
                                       (const cordon_command *const *)session->commands,
                                       session->command_count, &io, ret_receipt, err);
}

static void finish_events(run *r)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!r->events || cordon_cli_events_finish(r->events, DRAIN_MS, &err) == 0)
        return;
    r->lines_lost = true;
    (void)cordon_cli_report_error(r->context, r->options, &err);
}

static int run_session(run *r)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_cli_session) session = {0};
    if (r->options->receipt &&
        cordon_cli_receipt_file_open(r->options->receipt, &r->file, &err) != 0)
        return deliver_failure(r, &err);
    if (r->options->diff &&
        cordon_cli_out_file_open(r->options->diff, "--diff", &r->diff, &err) != 0)
        return deliver_failure(r, &err);
    if (cordon_cli_session_open(r->context, r->options, &session, &err) != 0)
        return deliver_failure(r, &err);
    if (r->options->json && cordon_cli_events_start(STDOUT_FILENO, &r->events, &err) != 0)
        return deliver_failure(r, &err);
    cordon_receipt *receipt = NULL;
    int rc = carry_through(r, &session, &receipt, &err);
    finish_events(r);
    if (rc != 0)
        return deliver_failure(r, &err);
    int status = deliver(r, receipt);
    cordon_cli_hints("run", session.config, receipt);
    cordon_receipt_free(receipt);
    return status;
}

static void run_clear(run *r)
{
    cordon_cli_events_free(r->events);
    cordon_cli_receipt_file_free(r->file);
    cordon_cli_receipt_file_free(r->diff);
}

/* A command line that cannot be followed still gets its receipt, where it asked for one. */
static int run_refused(const cordon_cli_context *context, const cordon_cli_options *options,
                       const cordon_err *failure)
{
    run r = {.context = context, .options = options};
    cordon_err err = CORDON_ERR_INIT;
    if (options->receipt && cordon_cli_receipt_file_open(options->receipt, &r.file, &err) != 0)
        (void)cordon_cli_report_error(context, options, &err);
    int status = deliver_failure(&r, failure);
    run_clear(&r);
    return status;
}

static int run_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!options->argv && !options->steps && !cordon_cli_has_prompt(options))
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0,
                       "no command: give the agent a prompt with --prompt, --prompt-file or -, or "
                       "an approved runner command after \"--\"");
    else if (options->model && !options->steps && !cordon_cli_has_prompt(options))
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0,
                       "--model: only an agent has a model; give --prompt, or leave it out");
    else if (options->argv && options->argc == 0)
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0, "--: no command follows; write it after \"--\"");
    if (err.code != CORDON_OK)
        return run_refused(context, options, &err);
    run r = {.context = context, .options = options};
    int status = run_session(&r);
    run_clear(&r);
    return status;
}

const cordon_cli_verb cordon_cli_verb_run = {
    .name = "run",
    .operands = "(--prompt TEXT | - | --steps FILE | -- COMMAND [ARGUMENT...])",
    .summary = "run the vendor's agent, or an approved command, and let it reach nothing else",
    .about =
        "Runs one command in a fresh container: no network but a proxy to the vendor's pinned\n"
        "hosts, the worktree as the phase allows, nothing else. With a prompt it is the vendor's\n"
        "agent, with the tools of the phase; its events are printed as they come. Else it is the\n"
        "command after \"--\", which reaches the container byte for byte, and must equal one of\n"
        "runner.approved in the configuration or be approved here by --approve. Its output is\n"
        "this command's output, its exit status this command's exit status; 124 to 126 are\n"
        "Cordon's own.\n"
        "\n"
        "--steps takes several, as a JSON array of {\"prompt\": TEXT} and {\"run\": [WORD, ...]}.\n"
        "A prompt with \"resume\": true goes on with the session of the prompt before it. Each has "
        "a\n"
        "container of its own; /tmp is the same for all and lives as long as this command. The\n"
        "first step that does not exit with 0 is the last one.\n",
    .takes = CORDON_CLI_TAKES_ARGV,
    .options = run_options,
    .option_count = CORDON_CLI_COUNT(run_options),
    .run = run_verb,
    .refused = run_refused,
};

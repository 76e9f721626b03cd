/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon probe`: run the built-in boundary probe as the agent and show what it could do. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "hints.h"
#include "kit/jsonw.h"
#include "output.h"
#include "probe_report.h"
#include "receipt_file.h"
#include "report.h"
#include "session.h"

#define TEXT_MAX_BYTES (2U << 20)

/* How much of what the probe says on standard error is shown when there is no report. */
#define STDERR_SHOWN 300

static const cordon_cli_option probe_options[] = {
    CORDON_CLI_OPTION("--upstream", "ADDR:PORT", CORDON_CLI_NAME, upstream,
                      "where the pinned hosts answer, such as a test server"),
    CORDON_CLI_ROW_VENDOR,
    CORDON_CLI_ROW_PHASE,
    CORDON_CLI_ROW_WORKTREE,
    CORDON_CLI_ROW_DEADLINE,
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_RECEIPT,
    CORDON_CLI_ROW_JSON("one JSON object instead of the table"),
    CORDON_CLI_ROW_QUIET,
    CORDON_CLI_ROW_DEBUG,
};

/*
 * Standard output and standard error of the probe go to anonymous files: they never fill up, so
 * no second thread has to read along, and the library bounds them by limits.output.
 */
typedef struct probe {
    const cordon_cli_context *context;
    const cordon_cli_options *options;
    cordon_cli_receipt_file *file;
    cordon_cli_session session;
    cordon_receipt *receipt;
    cordon_cli_probe_report report;
    const cordon_err *failure; /* why no run came about, NULL when one did */
    int stdout_fd;
    int stderr_fd;
} probe;

static void probe_clear(probe *p)
{
    cordon_receipt_free(p->receipt);
    cordon_cli_session_clear(&p->session);
    cordon_cli_receipt_file_free(p->file);
    cordon_cli_probe_report_clear(&p->report);
    if (p->stdout_fd >= 0)
        (void)close(p->stdout_fd);
    if (p->stderr_fd >= 0)
        (void)close(p->stderr_fd);
}

static int open_memory(int *ret_fd, cordon_err *err)
{
    int fd = memfd_create("cordon-probe", MFD_CLOEXEC);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "memfd for the probe's output");
    *ret_fd = fd;
    return 0;
}

static int read_memory(int fd, cordon_buf *out, cordon_err *err)
{
    off_t at = 0;
    for (;;) {
        char piece[8192];
        ssize_t got = pread(fd, piece, sizeof piece, at);
        if (got < 0)
            return CORDON_FAIL_ERRNO(err, errno, "the probe's output");
        if (got == 0)
            return 0;
        if (cordon_buf_append(out, piece, (size_t)got, err) != 0)
            return -1;
        at += got;
    }
}

static int run_it(probe *p, cordon_err *err)
{
    cordon_cli_progress progress = cordon_cli_progress_make(p->options);
    cordon_io io = {
        .stdout_fd = p->stdout_fd,
        .stderr_fd = p->stderr_fd,
        .cancel_fd = p->context->signal_fd,
        .progress = cordon_cli_progress_line,
        .progress_context = &progress,
    };
    return cordon_invocation_run(p->session.invocation, p->session.commands[0], &io, &p->receipt,
                                 err);
}

/* Its complaints, made printable, as a hint why there is no report. */
static void show_stderr(const probe *p)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(TEXT_MAX_BYTES);
    char shown[STDERR_SHOWN];
    if (read_memory(p->stderr_fd, &text, NULL) != 0)
        return;
    while (text.length > 0 && text.data[text.length - 1] == '\n')
        text.length--;
    if (text.length > 0)
        cordon_cli_complain("cordon probe: it said: %s",
                            cordon_err_printable(shown, sizeof shown, text.data, text.length));
}

static int read_report(probe *p, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(CORDON_CLI_PROBE_BYTES_MAX);
    if (read_memory(p->stdout_fd, &text, err) != 0)
        return -1;
    return cordon_cli_probe_report_parse(cordon_buf_text(&text), text.length, &p->report, err);
}

static const char *const header[] = {"ok", "what was tried", "what must happen", "what happened"};

static int print_row(const cordon_cli_table *table, const cordon_cli_check *check, cordon_buf *out,
                     cordon_err *err)
{
    const char *const cells[] = {check->ok ? "ok" : "NO", check->name, check->want, check->got};
    if (cordon_cli_table_row(table, cells, out, err) != 0)
        return -1;
    if (!check->ok && check->detail[0])
        return cordon_buf_printf(out, err, "    %s\n", check->detail);
    return 0;
}

static int print_table(const probe *p, cordon_buf *out, cordon_err *err)
{
    cordon_cli_table table = {.columns = CORDON_CLI_COUNT(header)};
    cordon_cli_table_measure(&table, header);
    for (size_t i = 0; i < p->report.count; i++) {
        const cordon_cli_check *check = &p->report.checks[i];
        const char *const cells[] = {"NO", check->name, check->want, check->got};
        cordon_cli_table_measure(&table, cells);
    }
    if (cordon_cli_table_row(&table, header, out, err) != 0)
        return -1;
    for (size_t i = 0; i < p->report.count; i++) {
        if (print_row(&table, &p->report.checks[i], out, err) != 0)
            return -1;
    }
    return 0;
}

static int print_summary(const probe *p, bool ok, cordon_buf *out, cordon_err *err)
{
    cordon_engine_info info = {0};
    cordon_engine_describe(p->session.engine, &info);
    return cordon_buf_printf(
        out, err, "\n%zu checks, %zu failed, on %s %s (%s%s): %s\n", p->report.count,
        cordon_cli_probe_report_bad(&p->report), info.kind, info.version,
        info.rootless ? "rootless, " : "rootful, ", info.endpoint,
        ok ? "the boundary holds, everything is cleaned up" : "NOT as it must be");
}

static void write_checks(cordon_jsonw *json, const cordon_cli_probe_report *report)
{
    cordon_jsonw_begin_array(json, "checks");
    for (size_t i = 0; i < report->count; i++) {
        const cordon_cli_check *check = &report->checks[i];
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "name", check->name);
        cordon_jsonw_string(json, "want", check->want);
        cordon_jsonw_string(json, "got", check->got);
        cordon_jsonw_bool(json, "ok", check->ok);
        cordon_jsonw_string(json, "detail", check->detail);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

static void write_engine(cordon_jsonw *json, const probe *p)
{
    cordon_engine_info info = {0};
    if (p->session.engine)
        cordon_engine_describe(p->session.engine, &info);
    cordon_jsonw_begin_object(json, "engine");
    cordon_jsonw_string_or_null(json, "name", info.name);
    cordon_jsonw_string_or_null(json, "kind", info.kind);
    cordon_jsonw_string_or_null(json, "version", info.version);
    cordon_jsonw_string_or_null(json, "api", info.api);
    cordon_jsonw_bool(json, "rootless", info.rootless);
    cordon_jsonw_end_object(json);
}

/* {"code","message"} of what kept the probe from ending by itself; nothing when it did. */
static void write_error(cordon_jsonw *json, const probe *p)
{
    cordon_result result = {0};
    const char *code = p->failure ? cordon_code_name(p->failure->code) : NULL;
    if (p->receipt)
        cordon_receipt_result(p->receipt, &result);
    if (!code && result.kind == CORDON_RESULT_EXITED)
        return;
    if (!code)
        code = result.refusal_code ? result.refusal_code : result.kind_name;
    cordon_jsonw_begin_object(json, "error");
    cordon_jsonw_string_or_null(json, "code", code);
    cordon_jsonw_string_or_null(json, "message", p->failure ? p->failure->message : result.message);
    cordon_jsonw_end_object(json);
}

static int print_json(const probe *p, bool ok, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw json;
    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "probe", 1);
    write_engine(&json, p);
    write_error(&json, p);
    write_checks(&json, &p->report);
    cordon_jsonw_bool(&json, "ok", ok);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

static int print(const probe *p, bool ok, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    if (p->options->json) {
        if (print_json(p, ok, &out, err) != 0)
            return -1;
    } else if (p->report.count > 0) {
        if (print_table(p, &out, err) != 0 || print_summary(p, ok, &out, err) != 0)
            return -1;
    }
    return cordon_cli_print(p->context->signal_fd, &out, err);
}

static int write_receipt(const probe *p, cordon_err *err)
{
    cordon_autofree char *json = NULL;
    if (!p->file)
        return 0;
    if (cordon_receipt_json(p->receipt, &json, err) != 0)
        return -1;
    return cordon_cli_receipt_file_write(p->file, json, err);
}

/* Reports the receipt and the table; the status is 0 only if nothing at all is wrong. */
static int conclude(probe *p)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_result result = {0};
    cordon_receipt_result(p->receipt, &result);
    int status = cordon_cli_report_receipt(p->context, p->options, p->receipt);
    cordon_cli_hints("probe", p->session.config, p->receipt);
    bool exited = result.kind == CORDON_RESULT_EXITED;
    if (exited && read_report(p, &err) != 0) {
        (void)cordon_cli_report_error(p->context, p->options, &err);
        show_stderr(p);
        cordon_err_clear(&err);
        status = CORDON_CLI_ERROR;
    }
    bool ok = exited && status == 0 && result.exit_code == 0 && result.cleanup_complete &&
              p->report.count > 0 && cordon_cli_probe_report_bad(&p->report) == 0;
    if (write_receipt(p, &err) != 0 || print(p, ok, &err) != 0) {
        (void)cordon_cli_report_error(p->context, p->options, &err);
        return status ? status : CORDON_CLI_ERROR;
    }
    return ok ? CORDON_CLI_OK : status ? status : CORDON_CLI_CHECK_FAILED;
}

/* No run came about: the error, the receipt and, for --json, a report without checks. */
static int fail(probe *p, const cordon_err *failure)
{
    cordon_err err = CORDON_ERR_INIT;
    int status = cordon_cli_report_error(p->context, p->options, failure);
    cordon_receipt_free(p->receipt);
    p->receipt = NULL;
    p->failure = failure;
    if (cordon_receipt_new_failed(failure, cordon_cli_vendor(p->options),
                                  cordon_cli_phase(p->options), &p->receipt, &err) != 0 ||
        write_receipt(p, &err) != 0 || (p->options->json && print(p, false, &err) != 0))
        (void)cordon_cli_report_error(p->context, p->options, &err);
    return status;
}

static int probe_steps(probe *p)
{
    cordon_err err = CORDON_ERR_INIT;
    const char *receipt = p->options->receipt;
    if ((receipt && cordon_cli_receipt_file_open(receipt, &p->file, &err) != 0) ||
        open_memory(&p->stdout_fd, &err) != 0 || open_memory(&p->stderr_fd, &err) != 0 ||
        cordon_cli_session_open(p->context, p->options, &p->session, &err) != 0 ||
        run_it(p, &err) != 0)
        return fail(p, &err);
    return conclude(p);
}

static int probe_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    probe p = {.context = context, .options = options, .stdout_fd = -1, .stderr_fd = -1};
    int status = probe_steps(&p);
    probe_clear(&p);
    return status;
}

static int probe_refused(const cordon_cli_context *context, const cordon_cli_options *options,
                         const cordon_err *failure)
{
    probe p = {.context = context, .options = options, .stdout_fd = -1, .stderr_fd = -1};
    cordon_err err = CORDON_ERR_INIT;
    if (options->receipt && cordon_cli_receipt_file_open(options->receipt, &p.file, &err) != 0)
        (void)cordon_cli_report_error(context, options, &err);
    int status = fail(&p, failure);
    probe_clear(&p);
    return status;
}

const cordon_cli_verb cordon_cli_verb_probe = {
    .name = "probe",
    .operands = "",
    .summary = "try the boundary from inside and show what was possible",
    .about =
        "Runs the built-in boundary probe in the place of the agent: the same network, proxy,\n"
        "gate and limits, and no image but Cordon's own. Prints what was tried, what must\n"
        "happen and what happened. Exit status 0 means that every check came out as it must\n"
        "and everything was removed afterwards; 1 that a check did not.\n",
    .takes = CORDON_CLI_TAKES_NOTHING,
    .options = probe_options,
    .option_count = CORDON_CLI_COUNT(probe_options),
    .run = probe_verb,
    .refused = probe_refused,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon egress`: what runs reached and were refused, from receipts, or while a run goes on. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cordon/egress.h"
#include "egress_report.h"
#include "input.h"
#include "kit/cleanup.h"
#include "output.h"
#include "report.h"

#define TEXT_MAX_BYTES (16U << 20)
#define LINE_MAX_BYTES 16384

static const cordon_cli_option egress_options[] = {
    CORDON_CLI_OPTION("--follow", NULL, CORDON_CLI_FLAG, follow,
                      "of a run of yours that goes on: print what it does, until it ends"),
    CORDON_CLI_ROW_JSON("one JSON object; with --follow one for each event"),
    CORDON_CLI_ROW_DEBUG,
};

CORDON_DEFINE_AUTO_PTR(cordon_egress_live, cordon_egress_close)

/* --- Receipts --- */

static int read_file(const cordon_cli_context *context, const char *name, cordon_buf *text,
                     cordon_err *err)
{
    bool is_stdin = strcmp(name, "-") == 0;
    cordon_autoclose int fd = is_stdin ? -1 : cordon_cli_input_open(name);
    if (!is_stdin && fd < 0) {
        (void)CORDON_FAIL_ERRNO(err, errno, "%s: cannot be opened", CORDON_QUOTE(name));
        err->code = CORDON_ERR_CONFIG;
        return -1;
    }
    if (cordon_cli_input_read(is_stdin ? STDIN_FILENO : fd,
                              cordon_cli_input_deadline(0, context->signal_fd), CORDON_QUOTE(name),
                              CORDON_CLI_RECEIPT_MAX + 1, text, err) != 0)
        return -1;
    if (text->length > CORDON_CLI_RECEIPT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is no receipt: over %u bytes",
                           CORDON_QUOTE(name), CORDON_CLI_RECEIPT_MAX);
    return 0;
}

static int add_file(const cordon_cli_context *context, const char *name,
                    cordon_cli_egress_report *report, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(CORDON_CLI_RECEIPT_MAX + 1);
    if (read_file(context, name, &text, err) != 0)
        return -1;
    return cordon_cli_egress_report_add(report, name, &text, err);
}

static int show_receipts(const cordon_cli_context *context, const cordon_cli_options *options,
                         cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    cordon_auto_ptr(cordon_cli_egress_report) report = NULL;
    if (options->files.count == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "no receipt is named; name files that --receipt wrote, or give --follow "
                           "for a run that goes on");
    if (cordon_cli_egress_report_new(&report, err) != 0)
        return -1;
    for (size_t i = 0; i < options->files.count; i++) {
        if (add_file(context, options->files.items[i], report, err) != 0)
            return -1;
    }
    int rc = options->json ? cordon_cli_egress_report_json(report, &out, err)
                           : cordon_cli_egress_report_table(report, &out, err);
    return rc == 0 ? cordon_cli_print(context->signal_fd, &out, err) : -1;
}

/* --- A run that goes on --- */

static int print_event(const cordon_cli_context *context, const cordon_cli_options *options,
                       const char *json, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(LINE_MAX_BYTES);
    int rc = options->json ? cordon_buf_printf(&line, err, "%s\n", json)
                           : cordon_cli_egress_line(json, &line, err);
    return rc == 0 ? cordon_cli_print(context->signal_fd, &line, err) : -1;
}

static int follow(const cordon_cli_context *context, const cordon_cli_options *options,
                  cordon_err *err)
{
    cordon_auto_ptr(cordon_egress_live) live = NULL;
    const char *json = NULL;
    if (options->files.count > 1)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "--follow: one run at a time; leave %s out",
                           CORDON_QUOTE(options->files.items[1]));
    const char *wanted = options->files.count == 1 ? options->files.items[0] : NULL;
    if (cordon_egress_open(&context->host, wanted, &live, err) != 0 ||
        cordon_egress_next(live, context->signal_fd, &json, err) != 0)
        return -1;
    while (json) {
        if (print_event(context, options, json, err) != 0 ||
            cordon_egress_next(live, context->signal_fd, &json, err) != 0)
            return -1;
    }
    return 0;
}

static int egress_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    int rc =
        options->follow ? follow(context, options, &err) : show_receipts(context, options, &err);
    return rc == 0 ? CORDON_CLI_OK : cordon_cli_report_failure(context, options, &err);
}

const cordon_cli_verb cordon_cli_verb_egress = {
    .name = "egress",
    .operands = "RECEIPT... | --follow [RUN]",
    .summary = "what runs reached and were refused, and by which rule",
    .about =
        "Reads receipts (- is standard input) and prints a row for each host that was reached\n"
        "and each target that was refused, with the rule that decided, and the sums. With\n"
        "--follow the decisions of the run of yours that goes on, from its first, as they\n"
        "come; RUN is its id or the first digits of it, where there are several.\n",
    .takes = CORDON_CLI_TAKES_FILES,
    .options = egress_options,
    .option_count = CORDON_CLI_COUNT(egress_options),
    .run = egress_verb,
};

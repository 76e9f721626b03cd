/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon gc`: remove what runs have left that were killed or could not clean up. */
#include <stdio.h>

#include "cli.h"
#include "cordon/gc.h"
#include "kit/cleanup.h"
#include "output.h"
#include "report.h"
#include "session.h"

#define TEXT_MAX_BYTES (16U << 20)

/* Digits that are shown of a run's id and of an object's, as engines do; --json has all. */
#define RUN_DIGITS 8
#define ID_DIGITS  12

static const cordon_cli_option gc_options[] = {
    CORDON_CLI_OPTION("--dry-run", NULL, CORDON_CLI_FLAG, dry_run,
                      "say what would be removed; change nothing"),
    CORDON_CLI_OPTION("--deadline", "TIME", CORDON_CLI_DURATION, deadline_ms,
                      "how long all of it may take; default 5m"),
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_QUIET,
    CORDON_CLI_ROW_DEBUG,
};

typedef struct collection {
    cordon_config *config;
    cordon_engine *engine;
    cordon_gc_report *report;
} collection;

static void collection_clear(collection *c)
{
    cordon_gc_report_free(c->report);
    cordon_engine_free(c->engine);
    cordon_config_free(c->config);
}
CORDON_DEFINE_AUTO(collection, collection_clear)

/* Without --engine, every engine that a journal names. */
static int collect(const cordon_cli_context *context, const cordon_cli_options *options,
                   collection *c, cordon_err *err)
{
    cordon_cli_progress progress = cordon_cli_progress_make(options);
    if (cordon_configure(&context->host, options->config, NULL, &c->config, err) != 0)
        return -1;
    if (options->engine &&
        cordon_engine_open(c->config, &context->host, options->engine, CORDON_CLI_OPEN_MS,
                           context->signal_fd, &c->engine, err) != 0)
        return -1;
    const cordon_gc_options wanted = {
        .mode = options->dry_run ? CORDON_GC_LOOK : CORDON_GC_REMOVE,
        .engine = c->engine,
        .budget_ms = options->deadline_ms > 0 ? options->deadline_ms : CORDON_CLI_GC_MS,
        .cancel_fd = context->signal_fd,
        .progress = cordon_cli_progress_line,
        .progress_context = &progress,
    };
    return cordon_gc(c->config, &context->host, &wanted, &c->report, err);
}

static const char *const columns[] = {"RUN", "STATE", "OBJECT", "ID", "DETAIL"};

typedef struct table {
    cordon_cli_table widths;
    cordon_buf *out; /* NULL: widths are measured */
    cordon_err *err;
} table;

static int put_row(table *t, const char *const cells[CORDON_CLI_COUNT(columns)])
{
    if (t->out)
        return cordon_cli_table_row(&t->widths, cells, t->out, t->err);
    cordon_cli_table_measure(&t->widths, cells);
    return 0;
}

static int put_run(table *t, const cordon_gc_report *report, size_t index, const cordon_gc_run *run)
{
    cordon_gc_object object = {0};
    char number[RUN_DIGITS + 1];
    char id[ID_DIGITS + 1];
    (void)snprintf(number, sizeof number, "%s", run->invocation);
    const char *const cells[] = {number, run->state, "", "", CORDON_QUOTE(run->why)};
    if (put_row(t, cells) != 0)
        return -1;
    for (size_t i = 0; cordon_gc_report_object(report, index, i, &object); i++) {
        (void)snprintf(id, sizeof id, "%s", object.id);
        const char *shown = id;
        const char *const row[] = {"", object.state, object.role, CORDON_QUOTE(shown),
                                   CORDON_QUOTE(object.why)};
        if (put_row(t, row) != 0)
            return -1;
    }
    return 0;
}

static int put_all(table *t, const cordon_gc_report *report)
{
    cordon_gc_run run = {0};
    if (put_row(t, columns) != 0)
        return -1;
    for (size_t i = 0; cordon_gc_report_run(report, i, &run); i++) {
        if (put_run(t, report, i, &run) != 0)
            return -1;
    }
    return 0;
}

static int print_table(const cordon_gc_report *report, cordon_buf *out, cordon_err *err)
{
    cordon_gc_run run = {0};
    table t = {.widths = {.columns = CORDON_CLI_COUNT(columns)}, .err = err};
    if (!cordon_gc_report_run(report, 0, &run))
        return cordon_buf_append_text(out, "no run has left anything\n", err);
    if (put_all(&t, report) != 0)
        return -1;
    t.out = out;
    return put_all(&t, report);
}

static int print_report(const cordon_cli_context *context, const cordon_cli_options *options,
                        const cordon_gc_report *report, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    cordon_autofree char *json = NULL;
    int rc;
    if (options->json)
        rc = cordon_gc_report_json(report, &json, err) != 0 ||
                     cordon_buf_printf(&out, err, "%s\n", json) != 0
                 ? -1
                 : 0;
    else
        rc = print_table(report, &out, err);
    return rc == 0 ? cordon_cli_print(context->signal_fd, &out, err) : -1;
}

static int gc_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_auto(collection) c = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (collect(context, options, &c, &err) != 0 ||
        print_report(context, options, c.report, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return cordon_gc_report_complete(c.report) ? CORDON_CLI_OK : CORDON_CLI_CHECK_FAILED;
}

const cordon_cli_verb cordon_cli_verb_gc = {
    .name = "gc",
    .operands = "",
    .summary = "remove what killed runs have left on the engines",
    .about =
        "Every run keeps a journal of what it makes. Where a run has provably ended and its\n"
        "journal is still there, its containers and networks are removed, by id and only with\n"
        "its labels and token, then the journal. What belongs to a live run, another user or\n"
        "another host, or has no journal of yours, is never touched. Exit status 1 when\n"
        "something is left that a run which has ended, or may have, has made.\n",
    .takes = CORDON_CLI_TAKES_NOTHING,
    .options = gc_options,
    .option_count = CORDON_CLI_COUNT(gc_options),
    .run = gc_verb,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The strict reader of the probe's lines. */
#include "probe_report.h"

#include <string.h>

#include "kit/jsonr.h"

#define DEPTH_MAX 2
#define TEXT_MAX  1024

typedef struct reading {
    cordon_cli_probe_report report;
    bool done;
} reading;

static void check_clear(cordon_cli_check *check)
{
    free(check->name);
    free(check->want);
    free(check->got);
    free(check->detail);
    *check = (cordon_cli_check){0};
}

void cordon_cli_probe_report_clear(cordon_cli_probe_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        check_clear(&report->checks[i]);
    free(report->checks);
    *report = (cordon_cli_probe_report){0};
}

size_t cordon_cli_probe_report_bad(const cordon_cli_probe_report *report)
{
    size_t bad = 0;
    for (size_t i = 0; i < report->count; i++)
        bad += !report->checks[i].ok;
    return bad;
}

static int copy_text(cordon_json object, const char *key, char **ret_text, cordon_err *err)
{
    const char *text = NULL;
    if (cordon_json_need_string(object, key, &text, err) != 0)
        return -1;
    char printable[TEXT_MAX];
    char *copy = strdup(cordon_err_printable(printable, sizeof printable, text, strlen(text)));
    if (!copy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "probe report: out of memory");
    *ret_text = copy;
    return 0;
}

static int refuse_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)context;
    return cordon_json_fail(leftover->at, err, "not a part of a probe report");
}

static int read_check(cordon_json line, cordon_cli_check *check, cordon_err *err)
{
    if (copy_text(line, "name", &check->name, err) != 0 ||
        copy_text(line, "want", &check->want, err) != 0 ||
        copy_text(line, "got", &check->got, err) != 0 ||
        copy_text(line, "detail", &check->detail, err) != 0)
        return -1;
    return cordon_json_need_bool(line, "ok", &check->ok, err);
}

static int make_room(cordon_cli_probe_report *report, cordon_err *err)
{
    if (report->count == CORDON_CLI_PROBE_CHECKS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "more than %d checks",
                           CORDON_CLI_PROBE_CHECKS_MAX);
    cordon_cli_check *grown =
        reallocarray(report->checks, report->count + 1, sizeof *report->checks);
    if (!grown)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "probe report: out of memory");
    report->checks = grown;
    return 0;
}

static int refuse_twin(const cordon_cli_probe_report *report, const char *name, cordon_err *err)
{
    for (size_t i = 0; i < report->count; i++) {
        if (strcmp(report->checks[i].name, name) == 0)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "check %s is there twice", name);
    }
    return 0;
}

static int add_check(reading *r, cordon_json line, cordon_err *err)
{
    cordon_cleanup(check_clear) cordon_cli_check check = {0};
    if (read_check(line, &check, err) != 0 || refuse_twin(&r->report, check.name, err) != 0 ||
        make_room(&r->report, err) != 0)
        return -1;
    r->report.checks[r->report.count++] = check;
    check = (cordon_cli_check){0};
    return 0;
}

static int read_done(reading *r, cordon_json line, cordon_err *err)
{
    int64_t version = 0;
    int64_t checks = 0;
    bool done = false;
    if (cordon_json_need_i64(line, "probe", &version, err) != 0 ||
        cordon_json_need_bool(line, "done", &done, err) != 0 ||
        cordon_json_need_i64(line, "checks", &checks, err) != 0)
        return -1;
    if (version != 1 || !done || checks < 1 || (uint64_t)checks != r->report.count)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "its end does not match its %zu checks",
                           r->report.count);
    r->done = true;
    return 0;
}

static int read_line(reading *r, const char *bytes, size_t length, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (r->done)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "something follows its end");
    if (cordon_json_parse(bytes, length, CORDON_CLI_PROBE_LINE_MAX, DEPTH_MAX, &doc, err) != 0)
        return -1;
    cordon_json root = cordon_json_root(doc);
    cordon_json_place probe;
    if (cordon_json_get_any(root, "probe", &probe, err) != 0)
        return -1;
    int rc = probe.has == CORDON_JSON_ABSENT ? add_check(r, root, err) : read_done(r, root, err);
    return rc == 0 ? cordon_json_leftovers(root, refuse_leftover, NULL, err) : -1;
}

static int read_lines(reading *r, const char *bytes, size_t length, cordon_err *err)
{
    for (size_t number = 1; length > 0; number++) {
        const char *newline = memchr(bytes, '\n', length);
        if (!newline)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "line %zu is cut", number);
        size_t line = (size_t)(newline - bytes);
        if (read_line(r, bytes, line, err) != 0) {
            cordon_err_wrap(err, "line %zu", number);
            return -1;
        }
        bytes += line + 1;
        length -= line + 1;
    }
    return r->done ? 0 : CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "it has no end");
}

int cordon_cli_probe_report_parse(const char *bytes, size_t length,
                                  cordon_cli_probe_report *ret_report, cordon_err *err)
{
    reading r = {0};
    int rc = length > CORDON_CLI_PROBE_BYTES_MAX
                 ? CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "longer than %u bytes",
                               CORDON_CLI_PROBE_BYTES_MAX)
                 : read_lines(&r, bytes, length, err);
    if (rc != 0) {
        cordon_cli_probe_report_clear(&r.report);
        cordon_err_wrap(err, "probe report");
        return -1;
    }
    *ret_report = r.report;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts' egress as text; see egress_report.h. */
#include "egress_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/jsonr.h"
#include "kit/jsonw.h"
#include "output.h"

#define DEPTH_MAX 16
/* Entries of one list; a receipt has fewer than a hundred. */
#define ENTRIES_MAX 4096
#define TEXT_SIZE   288
#define SIZE_SIZE   24
#define RUN_DIGITS  8

typedef struct one_receipt {
    const char *file;
    cordon_json_doc *doc;
    const char *invocation; /* NULL: it got none */
    cordon_json allowed;
    cordon_json denied;
    int64_t dropped;
} one_receipt;

struct cordon_cli_egress_report {
    one_receipt *items;
    size_t count;
};

int cordon_cli_egress_report_new(cordon_cli_egress_report **ret_report, cordon_err *err)
{
    cordon_cli_egress_report *report = calloc(1, sizeof *report);
    if (!report)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ret_report = report;
    return 0;
}

void cordon_cli_egress_report_free(cordon_cli_egress_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->count; i++)
        cordon_json_free(report->items[i].doc);
    free(report->items);
    free(report);
}

/* --- Entries --- */

/* One of either list. Texts of the document; NULL: it has none. */
typedef struct entry {
    bool allowed;
    const char *target;
    int64_t port; /* of an allowed one */
    const char *rule;
    const char *reason; /* of a denied one */
    int64_t count;      /* tunnels, or refusals */
    int64_t up;
    int64_t down;
    cordon_json_place addresses;
} entry;

/* A receipt from before rules were told has none. */
static int read_common(cordon_json at, entry *e, cordon_err *err)
{
    cordon_json_string rule;
    if (cordon_json_get_string(at, "rule", &rule, err) != 0 ||
        cordon_json_get_array(at, "addresses", &e->addresses, err) != 0)
        return -1;
    e->rule = rule.has == CORDON_JSON_PRESENT ? rule.text : NULL;
    if (e->addresses.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(e->addresses.value); cordon_json_next(&it);) {
        if (cordon_json_type_of(it.value) != CORDON_JSON_TYPE_STRING)
            return cordon_json_fail(it.value, err, "no address");
    }
    return 0;
}

static int read_count(cordon_json at, const char *key, int64_t *ret, cordon_err *err)
{
    if (cordon_json_need_i64(at, key, ret, err) != 0)
        return -1;
    return *ret >= 0 ? 0 : CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s is negative", key);
}

static int read_entry(cordon_json at, bool allowed, entry *ret_entry, cordon_err *err)
{
    entry e = {.allowed = allowed};
    int rc = allowed ? cordon_json_need_string(at, "host", &e.target, err) != 0 ||
                           read_count(at, "port", &e.port, err) != 0 ||
                           read_count(at, "tunnels", &e.count, err) != 0 ||
                           read_count(at, "bytes_up", &e.up, err) != 0 ||
                           read_count(at, "bytes_down", &e.down, err) != 0
                     : cordon_json_need_string(at, "target", &e.target, err) != 0 ||
                           cordon_json_need_string(at, "reason", &e.reason, err) != 0 ||
                           read_count(at, "count", &e.count, err) != 0;
    if (rc != 0 || read_common(at, &e, err) != 0)
        return -1;
    *ret_entry = e;
    return 0;
}

typedef int entry_fn(void *context, const one_receipt *receipt, const entry *e, cordon_err *err);

static int each_of(const one_receipt *receipt, bool allowed, entry_fn *fn, void *context,
                   cordon_err *err)
{
    cordon_json list = allowed ? receipt->allowed : receipt->denied;
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        entry e;
        if (read_entry(it.value, allowed, &e, err) != 0 || fn(context, receipt, &e, err) != 0)
            return -1;
    }
    return 0;
}

static int each(const cordon_cli_egress_report *report, entry_fn *fn, void *context,
                cordon_err *err)
{
    for (size_t i = 0; i < report->count; i++) {
        if (each_of(&report->items[i], true, fn, context, err) != 0 ||
            each_of(&report->items[i], false, fn, context, err) != 0)
            return -1;
    }
    return 0;
}

/* --- Receipts --- */

static int nothing(void *context, const one_receipt *receipt, const entry *e, cordon_err *err)
{
    (void)context;
    (void)receipt;
    (void)e;
    (void)err;
    return 0;
}

static int read_list(cordon_json egress, const char *key, cordon_json *ret, cordon_err *err)
{
    if (cordon_json_need_array(egress, key, ret, err) != 0)
        return -1;
    return cordon_json_count(*ret) <= ENTRIES_MAX
               ? 0
               : CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s has too many entries", key);
}

static int read_receipt(one_receipt *r, const cordon_buf *text, cordon_err *err)
{
    int64_t version = 0;
    cordon_json egress;
    cordon_json_string invocation;
    cordon_json_i64 dropped;
    if (cordon_json_parse(text->data, text->length, CORDON_CLI_RECEIPT_MAX, DEPTH_MAX, &r->doc,
                          err) != 0 ||
        cordon_json_need_i64(cordon_json_root(r->doc), "receipt", &version, err) != 0)
        return -1;
    if (version != 1)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "it is of version %lld, not 1",
                           (long long)version);
    if (cordon_json_get_string(cordon_json_root(r->doc), "invocation", &invocation, err) != 0 ||
        cordon_json_need_object(cordon_json_root(r->doc), "egress", &egress, err) != 0 ||
        read_list(egress, "allowed", &r->allowed, err) != 0 ||
        read_list(egress, "denied", &r->denied, err) != 0 ||
        cordon_json_get_i64(egress, "dropped", &dropped, err) != 0)
        return -1;
    r->invocation = invocation.has == CORDON_JSON_PRESENT ? invocation.text : NULL;
    r->dropped = dropped.has == CORDON_JSON_PRESENT && dropped.value > 0 ? dropped.value : 0;
    return each_of(r, true, nothing, NULL, err) != 0 ? -1 : each_of(r, false, nothing, NULL, err);
}

int cordon_cli_egress_report_add(cordon_cli_egress_report *report, const char *name,
                                 const cordon_buf *text, cordon_err *err)
{
    one_receipt r = {.file = name};
    one_receipt *grown = reallocarray(report->items, report->count + 1, sizeof *grown);
    if (!grown)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    report->items = grown;
    if (read_receipt(&r, text, err) != 0) {
        cordon_json_free(r.doc);
        if (err->code == CORDON_ERR_PROTOCOL)
            err->code = CORDON_ERR_CONFIG;
        cordon_err_wrap(err, "%s is no receipt", CORDON_QUOTE(name));
        return -1;
    }
    report->items[report->count++] = r;
    return 0;
}

/* --- The table --- */

static const char *const columns[] = {"RUN", "VERDICT", "TARGET", "RULE", "COUNT", "DETAIL"};
#define COLUMNS (sizeof columns / sizeof columns[0])

static const char *size_text(int64_t bytes, char ret_text[SIZE_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    (void)snprintf(ret_text, SIZE_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return ret_text;
}

static const char *first_address(const entry *e, char *ret_text, size_t size)
{
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_json_string text = {0};
    char shown[80];
    ret_text[0] = '\0';
    if (e->addresses.has != CORDON_JSON_PRESENT)
        return ret_text;
    size_t count = cordon_json_count(e->addresses.value);
    cordon_json_iter it = cordon_json_iterate(e->addresses.value);
    if (count == 0 || !cordon_json_next(&it) ||
        cordon_json_as_string(it.value, &text, &ignored) != 0)
        return ret_text;
    (void)cordon_err_printable(shown, sizeof shown, text.text, text.length);
    if (count > 1)
        (void)snprintf(ret_text, size, ", %s and %zu more", shown, count - 1);
    else
        (void)snprintf(ret_text, size, ", %s", shown);
    return ret_text;
}

static void detail_text(const entry *e, char *ret_text, size_t size)
{
    char up[SIZE_SIZE];
    char down[SIZE_SIZE];
    char address[128];
    char reason[96];
    (void)first_address(e, address, sizeof address);
    if (e->allowed) {
        (void)snprintf(ret_text, size, "%s up, %s down%s", size_text(e->up, up),
                       size_text(e->down, down), address);
        return;
    }
    (void)snprintf(ret_text, size, "%s%s",
                   cordon_err_printable(reason, sizeof reason, e->reason, strlen(e->reason)),
                   address);
}

typedef struct table {
    cordon_cli_table widths;
    cordon_buf *out; /* NULL: widths are measured */
} table;

static int put_cells(table *t, const char *const *cells, cordon_err *err)
{
    if (t->out)
        return cordon_cli_table_row(&t->widths, cells, t->out, err);
    cordon_cli_table_measure(&t->widths, cells);
    return 0;
}

static int put_entry(void *context, const one_receipt *receipt, const entry *e, cordon_err *err)
{
    char run[RUN_DIGITS + 4];
    char target[TEXT_SIZE];
    char port[24] = "";
    char rule[40];
    char count[24];
    char detail[TEXT_SIZE];
    char whole[TEXT_SIZE + sizeof port];
    const char *invocation = receipt->invocation ? receipt->invocation : "-";
    (void)cordon_err_printable(run, sizeof run, invocation, strnlen(invocation, RUN_DIGITS));
    (void)cordon_err_printable(target, sizeof target, e->target, strlen(e->target));
    if (e->allowed)
        (void)snprintf(port, sizeof port, ":%" PRId64, e->port);
    (void)snprintf(whole, sizeof whole, "%s%s", target, port);
    (void)cordon_err_printable(rule, sizeof rule, e->rule ? e->rule : "-",
                               e->rule ? strlen(e->rule) : 1);
    (void)snprintf(count, sizeof count, "%" PRId64, e->count);
    detail_text(e, detail, sizeof detail);
    const char *const cells[] = {run,   e->allowed ? "allowed" : "denied", whole, rule, count,
                                 detail};
    return put_cells(context, cells, err);
}

typedef struct sums {
    int64_t tunnels;
    int64_t up;
    int64_t down;
    int64_t denied;
    int64_t dropped;
} sums;

static void add(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

static int add_entry(void *context, const one_receipt *receipt, const entry *e, cordon_err *err)
{
    sums *s = context;
    (void)receipt;
    (void)err;
    add(e->allowed ? &s->tunnels : &s->denied, e->count);
    add(&s->up, e->up);
    add(&s->down, e->down);
    return 0;
}

static int sum_up(const cordon_cli_egress_report *report, sums *ret_sums, cordon_err *err)
{
    *ret_sums = (sums){0};
    for (size_t i = 0; i < report->count; i++)
        add(&ret_sums->dropped, report->items[i].dropped);
    return each(report, add_entry, ret_sums, err);
}

static int put_sums(const cordon_cli_egress_report *report, cordon_buf *out, cordon_err *err)
{
    sums s;
    char up[SIZE_SIZE];
    char down[SIZE_SIZE];
    if (sum_up(report, &s, err) != 0 ||
        cordon_buf_printf(
            out, err, "%zu receipt%s: %" PRId64 " tunnel%s, %s up, %s down; %" PRId64 " denied",
            report->count, report->count == 1 ? "" : "s", s.tunnels, s.tunnels == 1 ? "" : "s",
            size_text(s.up, up), size_text(s.down, down), s.denied) != 0)
        return -1;
    if (s.dropped > 0 &&
        cordon_buf_printf(out, err, "; %" PRId64 " events were not told", s.dropped) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

int cordon_cli_egress_report_table(const cordon_cli_egress_report *report, cordon_buf *out,
                                   cordon_err *err)
{
    table t = {.widths = {.columns = COLUMNS}};
    sums s;
    if (sum_up(report, &s, err) != 0)
        return -1;
    bool any = s.tunnels > 0 || s.denied > 0;
    for (int pass = 0; any && pass < 2; pass++) {
        if (put_cells(&t, columns, err) != 0 || each(report, put_entry, &t, err) != 0)
            return -1;
        t.out = out;
    }
    return put_sums(report, out, err);
}

/* --- JSON --- */

static void write_addresses(const entry *e, cordon_jsonw *json)
{
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_jsonw_begin_array(json, "addresses");
    if (e->addresses.has == CORDON_JSON_PRESENT) {
        for (cordon_json_iter it = cordon_json_iterate(e->addresses.value);
             cordon_json_next(&it);) {
            cordon_json_string text;
            if (cordon_json_as_string(it.value, &text, &ignored) == 0)
                cordon_jsonw_string(json, NULL, text.text);
        }
    }
    cordon_jsonw_end_array(json);
}

static int write_entry(void *context, const one_receipt *receipt, const entry *e, cordon_err *err)
{
    cordon_jsonw *json = context;
    (void)receipt;
    (void)err;
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, e->allowed ? "host" : "target", e->target);
    if (e->allowed)
        cordon_jsonw_i64(json, "port", e->port);
    else
        cordon_jsonw_string(json, "reason", e->reason);
    cordon_jsonw_string_or_null(json, "rule", e->rule);
    write_addresses(e, json);
    cordon_jsonw_i64(json, e->allowed ? "tunnels" : "count", e->count);
    if (e->allowed) {
        cordon_jsonw_i64(json, "bytes_up", e->up);
        cordon_jsonw_i64(json, "bytes_down", e->down);
    }
    cordon_jsonw_end_object(json);
    return 0;
}

static int write_receipt(const one_receipt *receipt, cordon_jsonw *json, cordon_err *err)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "file", CORDON_QUOTE(receipt->file));
    cordon_jsonw_string_or_null(json, "invocation", receipt->invocation);
    cordon_jsonw_begin_array(json, "allowed");
    if (each_of(receipt, true, write_entry, json, err) != 0)
        return -1;
    cordon_jsonw_end_array(json);
    cordon_jsonw_begin_array(json, "denied");
    if (each_of(receipt, false, write_entry, json, err) != 0)
        return -1;
    cordon_jsonw_end_array(json);
    cordon_jsonw_i64(json, "dropped", receipt->dropped);
    cordon_jsonw_end_object(json);
    return 0;
}

int cordon_cli_egress_report_json(const cordon_cli_egress_report *report, cordon_buf *out,
                                  cordon_err *err)
{
    cordon_jsonw json;
    sums s;
    if (sum_up(report, &s, err) != 0)
        return -1;
    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "egress", 1);
    cordon_jsonw_begin_array(&json, "receipts");
    for (size_t i = 0; i < report->count; i++) {
        if (write_receipt(&report->items[i], &json, err) != 0)
            return -1;
    }
    cordon_jsonw_end_array(&json);
    cordon_jsonw_i64(&json, "tunnels", s.tunnels);
    cordon_jsonw_i64(&json, "bytes_up", s.up);
    cordon_jsonw_i64(&json, "bytes_down", s.down);
    cordon_jsonw_i64(&json, "denied", s.denied);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

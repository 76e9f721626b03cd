/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as an indented outline. */
#include "outline.h"

#include <string.h>

#include "kit/jsonr.h"

#define JSON_MAX_BYTES (4U << 20)
#define VALUE_MAX      512
#define INDENT         2

static int append_scalar(cordon_json at, cordon_buf *out, cordon_err *err)
{
    cordon_json_bool truth;
    cordon_json_i64 number;
    cordon_json_double real;
    cordon_json_string text;
    char printable[VALUE_MAX];
    switch (cordon_json_type_of(at)) {
    case CORDON_JSON_TYPE_BOOL:
        return cordon_json_as_bool(at, &truth, err) != 0
                   ? -1
                   : cordon_buf_append_text(out, truth.value ? "yes" : "no", err);
    case CORDON_JSON_TYPE_INT:
        return cordon_json_as_i64(at, &number, err) != 0
                   ? -1
                   : cordon_buf_printf(out, err, "%lld", (long long)number.value);
    case CORDON_JSON_TYPE_DOUBLE:
        return cordon_json_as_double(at, &real, err) != 0
                   ? -1
                   : cordon_buf_printf(out, err, "%.15g", real.value);
    case CORDON_JSON_TYPE_STRING:
        if (cordon_json_as_string(at, &text, err) != 0)
            return -1;
        return cordon_buf_append_text(
            out, cordon_err_printable(printable, sizeof printable, text.text, text.length), err);
    case CORDON_JSON_TYPE_NULL:
    case CORDON_JSON_TYPE_UNKNOWN:
    case CORDON_JSON_TYPE_ARRAY:
    case CORDON_JSON_TYPE_OBJECT:
        break;
    }
    return cordon_buf_append_text(out, "-", err);
}

static int append_container(cordon_json at, int indent, cordon_buf *out, cordon_err *err);

/* "key: value" or "- value"; a container's members follow on lines of their own. */
static int append_member(const cordon_json_iter *item, int indent, cordon_buf *out, cordon_err *err)
{
    int rc = item->key ? cordon_buf_printf(out, err, "%*s%s:", indent, "", item->key)
                       : cordon_buf_printf(out, err, "%*s-", indent, "");
    if (rc != 0)
        return -1;
    if (cordon_json_count(item->value) > 0) {
        if (cordon_buf_append_char(out, '\n', err) != 0)
            return -1;
        return append_container(item->value, indent + INDENT, out, err);
    }
    if (cordon_buf_append_char(out, ' ', err) != 0 || append_scalar(item->value, out, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

/* Recursion is bounded by the reader's depth limit. */
static int append_container(cordon_json at, int indent, cordon_buf *out, cordon_err *err)
{
    for (cordon_json_iter item = cordon_json_iterate(at); cordon_json_next(&item);) {
        if (append_member(&item, indent, out, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_cli_outline(const char *json, cordon_buf *out, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (cordon_json_parse(json, strlen(json), JSON_MAX_BYTES, 0, &doc, err) != 0)
        return -1;
    return append_container(cordon_json_root(doc), 0, out, err);
}

static int append_counts(const cordon_json_iter *lists, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_printf(out, err, "%s:\n", lists->key) != 0)
        return -1;
    for (cordon_json_iter item = cordon_json_iterate(lists->value); cordon_json_next(&item);) {
        if (cordon_buf_printf(out, err, "%*s%s: %zu (--json lists them)\n", INDENT, "",
                              item.key ? item.key : "-", cordon_json_count(item.value)) != 0)
            return -1;
    }
    return 0;
}

int cordon_cli_outline_folded(const char *json, const char *folded, cordon_buf *out,
                              cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (cordon_json_parse(json, strlen(json), JSON_MAX_BYTES, 0, &doc, err) != 0)
        return -1;
    for (cordon_json_iter item = cordon_json_iterate(cordon_json_root(doc));
         cordon_json_next(&item);) {
        bool fold = item.key && strcmp(item.key, folded) == 0;
        if ((fold ? append_counts(&item, out, err) : append_member(&item, 0, out, err)) != 0)
            return -1;
    }
    return 0;
}

int cordon_cli_outline_or_json(const char *json, bool as_json, cordon_buf *out, cordon_err *err)
{
    if (!as_json)
        return cordon_cli_outline(json, out, err);
    if (cordon_buf_append_text(out, json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

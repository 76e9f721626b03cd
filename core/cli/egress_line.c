/* SPDX-License-Identifier: Apache-2.0 */
/* One egress event as a line for a person; see egress_report.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "egress_report.h"
#include "kit/jsonr.h"

#define EVENT_MAX  8192
#define DEPTH_MAX  4
#define VALUE_SIZE 288

/* The members that a line shows, in its order, each with what stands before it. */
static const struct {
    const char *what; /* of this kind of event alone; NULL: of all */
    const char *key;
    const char *before;
} shown[] = {
    {NULL, "target", "  "},
    {NULL, "rule", "  "},
    {NULL, "reason", " "},
    {NULL, "address", "  "},
    {NULL, "end", "  "},
    {NULL, "by", " by "},
    {NULL, "bytes_up", "  up "},
    {NULL, "bytes_down", " down "},
    {NULL, "ms", "  ms "},
    {"denied", "server_name", "  server name "},
    {NULL, "refused", "  not public: "},
    {NULL, "detail", "  "},
    {NULL, "error", "  "},
    {"dropped", "count", "  "},
};

/* Local time of the day, as a person looks at it; "" where the event has none. */
static void time_text(cordon_json event, char *ret_text, size_t size)
{
    cordon_json_i64 ms;
    struct tm when;
    cordon_err ignored = CORDON_ERR_INIT;
    ret_text[0] = '\0';
    if (cordon_json_get_i64(event, "time_ms", &ms, &ignored) != 0 ||
        ms.has != CORDON_JSON_PRESENT || ms.value < 0)
        return;
    time_t seconds = (time_t)(ms.value / 1000);
    if (localtime_r(&seconds, &when) && strftime(ret_text, size, "%H:%M:%S ", &when) == 0)
        ret_text[0] = '\0';
}

static int put_value(cordon_json event, const char *key, const char *before, cordon_buf *out,
                     cordon_err *err)
{
    char text[VALUE_SIZE];
    cordon_json_place value;
    cordon_json_string string;
    cordon_json_i64 number;
    if (cordon_json_get_any(event, key, &value, err) != 0)
        return -1;
    if (value.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_type_of(value.value) == CORDON_JSON_TYPE_INT) {
        if (cordon_json_as_i64(value.value, &number, err) != 0)
            return -1;
        return cordon_buf_printf(out, err, "%s%" PRId64, before, number.value);
    }
    if (cordon_json_as_string(value.value, &string, err) != 0)
        return -1;
    return cordon_buf_printf(out, err, "%s%s", before,
                             cordon_err_printable(text, sizeof text, string.text, string.length));
}

int cordon_cli_egress_line(const char *json, cordon_buf *out, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *what = NULL;
    char when[16];
    char word[24];
    if (cordon_json_parse(json, strlen(json), EVENT_MAX, DEPTH_MAX, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "what", &what, err) != 0)
        return -1;
    time_text(cordon_json_root(doc), when, sizeof when);
    (void)cordon_err_printable(word, sizeof word, what, strlen(what));
    if (cordon_buf_printf(out, err, "%s%-7s", when, word) != 0)
        return -1;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (shown[i].what && strcmp(shown[i].what, what) != 0)
            continue;
        if (put_value(cordon_json_root(doc), shown[i].key, shown[i].before, out, err) != 0)
            return -1;
    }
    return cordon_buf_append_char(out, '\n', err);
}

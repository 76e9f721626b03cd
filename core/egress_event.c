/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's decisions and tunnels, one by one; see egress_event.h. */
#include "egress_event.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kit/jsonw.h"

/* --- Reading --- */

enum {
    IN_DECISION = 1,
    IN_TUNNEL = 2,
    IN_DROPPED = 4,
    IN_ALL = 7,
};

typedef enum field_kind { FIELD_TEXT, FIELD_COUNT } field_kind;

/* in: the kinds of line that may have it; need: those that must. */
typedef struct event_field {
    const char *key;
    field_kind kind;
    size_t offset;
    size_t size;
    unsigned in;
    unsigned need;
} event_field;

#define MEMBER(name) offsetof(cordon_egress_event, name), sizeof(((cordon_egress_event *)0)->name)

static const event_field event_fields[] = {
    {"time_ms", FIELD_COUNT, MEMBER(time_ms), IN_ALL, IN_ALL},
    {"id", FIELD_COUNT, MEMBER(id), IN_DECISION | IN_TUNNEL, IN_DECISION | IN_TUNNEL},
    {"target", FIELD_TEXT, MEMBER(target), IN_DECISION, IN_DECISION},
    {"status", FIELD_COUNT, MEMBER(status), IN_DECISION, IN_DECISION},
    {"reason", FIELD_TEXT, MEMBER(reason), IN_DECISION, IN_DECISION},
    {"rule", FIELD_TEXT, MEMBER(rule), IN_DECISION | IN_TUNNEL, IN_DECISION | IN_TUNNEL},
    {"address", FIELD_TEXT, MEMBER(address), IN_DECISION | IN_TUNNEL, IN_TUNNEL},
    {"refused", FIELD_COUNT, MEMBER(refused), IN_DECISION, 0},
    {"detail", FIELD_TEXT, MEMBER(detail), IN_DECISION, 0},
    {"server_name", FIELD_TEXT, MEMBER(server_name), IN_DECISION | IN_TUNNEL, 0},
    {"error", FIELD_TEXT, MEMBER(error), IN_DECISION | IN_TUNNEL, 0},
    {"host", FIELD_TEXT, MEMBER(host), IN_TUNNEL, IN_TUNNEL},
    {"port", FIELD_COUNT, MEMBER(port), IN_TUNNEL, IN_TUNNEL},
    {"up", FIELD_COUNT, MEMBER(bytes_up), IN_TUNNEL, IN_TUNNEL},
    {"down", FIELD_COUNT, MEMBER(bytes_down), IN_TUNNEL, IN_TUNNEL},
    {"ms", FIELD_COUNT, MEMBER(ms), IN_TUNNEL, IN_TUNNEL},
    {"end", FIELD_TEXT, MEMBER(reason), IN_TUNNEL, IN_TUNNEL},
    {"by", FIELD_TEXT, MEMBER(by), IN_TUNNEL, IN_TUNNEL},
    {"count", FIELD_COUNT, MEMBER(count), IN_DROPPED, IN_DROPPED},
};

static int missing(const char *key, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "$.%s: missing", key);
}

static int read_text(cordon_json line, const event_field *field, bool needed, char *slot,
                     cordon_err *err)
{
    cordon_json_string text;

    if (cordon_json_get_string(line, field->key, &text, err) != 0)
        return -1;
    if (text.has != CORDON_JSON_PRESENT)
        return needed || text.has == CORDON_JSON_NULL ? missing(field->key, err) : 0;
    (void)cordon_err_printable(slot, field->size, text.text, text.length);
    return 0;
}

/* The proxy has no negative numbers. */
static int read_count(cordon_json line, const event_field *field, bool needed, int64_t *slot,
                      cordon_err *err)
{
    cordon_json_i64 number;

    if (cordon_json_get_i64(line, field->key, &number, err) != 0)
        return -1;
    if (number.has != CORDON_JSON_PRESENT)
        return needed || number.has == CORDON_JSON_NULL ? missing(field->key, err) : 0;
    if (number.value < 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "$.%s: %lld is no count", field->key,
                           (long long)number.value);
    *slot = number.value;
    return 0;
}

static unsigned mask_of(cordon_egress_what what)
{
    if (what == CORDON_EGRESS_DECISION)
        return IN_DECISION;
    return what == CORDON_EGRESS_TUNNEL ? IN_TUNNEL : IN_DROPPED;
}

static int read_fields(cordon_json line, cordon_egress_event *event, cordon_err *err)
{
    unsigned mask = mask_of(event->what);

    for (size_t i = 0; i < sizeof(event_fields) / sizeof(event_fields[0]); i++) {
        const event_field *field = &event_fields[i];
        void *slot = (char *)event + field->offset;
        bool needed = (field->need & mask) != 0;

        if ((field->in & mask) == 0)
            continue;
        if (field->kind == FIELD_TEXT ? read_text(line, field, needed, slot, err) != 0
                                      : read_count(line, field, needed, slot, err) != 0)
            return -1;
    }
    return 0;
}

static int read_answer(cordon_json line, cordon_egress_event *event, cordon_err *err)
{
    cordon_json_place answer;

    if (cordon_json_get_array(line, "addresses", &answer, err) != 0)
        return -1;
    if (answer.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_count(answer.value) > CORDON_EGRESS_ANSWER_MAX)
        return cordon_json_fail(answer.value, err, "too many addresses");
    for (cordon_json_iter it = cordon_json_iterate(answer.value); cordon_json_next(&it);) {
        cordon_json_string text;

        if (cordon_json_as_string(it.value, &text, err) != 0)
            return -1;
        if (text.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "no address");
        (void)cordon_err_printable(event->answer[event->answer_count++], CORDON_EGRESS_ADDRESS_SIZE,
                                   text.text, text.length);
    }
    return 0;
}

/* What only a decision has. Anything but "allow" is a denial. */
static int read_decision(cordon_json line, cordon_egress_event *event, cordon_err *err)
{
    const char *verdict;
    cordon_json_bool mixed;

    if (cordon_json_need_string(line, "verdict", &verdict, err) != 0 ||
        cordon_json_get_bool(line, "mixed", &mixed, err) != 0 || read_answer(line, event, err) != 0)
        return -1;
    event->allowed = strcmp(verdict, "allow") == 0;
    event->mixed = mixed.has == CORDON_JSON_PRESENT && mixed.value;
    return 0;
}

static int tell_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)context;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: unknown", leftover->path);
}

int cordon_egress_no_more(cordon_json line, cordon_err *err)
{
    return cordon_json_leftovers(line, tell_leftover, NULL, err);
}

int cordon_egress_event_read(cordon_json line, cordon_egress_what what,
                             cordon_egress_event *ret_event, cordon_err *err)
{
    cordon_egress_event event = {.what = what};

    if (read_fields(line, &event, err) != 0 ||
        (what == CORDON_EGRESS_DECISION && read_decision(line, &event, err) != 0) ||
        cordon_egress_no_more(line, err) != 0)
        return -1;
    if (what == CORDON_EGRESS_TUNNEL)
        (void)snprintf(event.target, sizeof(event.target), "%.260s:%lld", event.host,
                       (long long)event.port);
    *ret_event = event;
    return 0;
}

/* --- Writing --- */

static const char *what_name(const cordon_egress_event *event)
{
    if (event->what == CORDON_EGRESS_TUNNEL)
        return "closed";
    if (event->what == CORDON_EGRESS_DROPPED)
        return "dropped";
    return event->allowed ? "allowed" : "denied";
}

static void write_text(cordon_jsonw *json, const char *key, const char *text)
{
    if (text[0] != '\0')
        cordon_jsonw_string(json, key, text);
}

static void write_decision(const cordon_egress_event *event, bool addresses, cordon_jsonw *json)
{
    cordon_jsonw_i64(json, "status", event->status);
    cordon_jsonw_string(json, "reason", event->reason);
    if (addresses && event->answer_count > 0) {
        cordon_jsonw_begin_array(json, "addresses");
        for (size_t i = 0; i < event->answer_count; i++)
            cordon_jsonw_string(json, NULL, event->answer[i]);
        cordon_jsonw_end_array(json);
    }
    if (event->mixed)
        cordon_jsonw_bool(json, "mixed", true);
    if (event->refused > 0)
        cordon_jsonw_i64(json, "refused", event->refused);
    write_text(json, "detail", event->detail);
}

static void write_tunnel(const cordon_egress_event *event, cordon_jsonw *json)
{
    cordon_jsonw_i64(json, "bytes_up", event->bytes_up);
    cordon_jsonw_i64(json, "bytes_down", event->bytes_down);
    cordon_jsonw_i64(json, "ms", event->ms);
    cordon_jsonw_string(json, "end", event->reason);
    cordon_jsonw_string(json, "by", event->by);
}

static void write_members(const cordon_egress_event *event, bool addresses, cordon_jsonw *json)
{
    if (event->what == CORDON_EGRESS_DROPPED) {
        cordon_jsonw_i64(json, "count", event->count);
        return;
    }
    cordon_jsonw_i64(json, "id", event->id);
    cordon_jsonw_string(json, "target", event->target);
    cordon_jsonw_string(json, "rule", event->rule);
    write_text(json, "address", event->address);
    write_text(json, "server_name", event->server_name);
    if (event->what == CORDON_EGRESS_TUNNEL)
        write_tunnel(event, json);
    else
        write_decision(event, addresses, json);
    write_text(json, "error", event->error);
}

static int write_event(const cordon_egress_event *event, bool addresses, cordon_buf *out,
                       cordon_err *err)
{
    cordon_jsonw json;

    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "event", "egress");
    cordon_jsonw_i64(&json, "time_ms", event->time_ms);
    cordon_jsonw_string(&json, "what", what_name(event));
    write_members(event, addresses, &json);
    cordon_jsonw_end_object(&json);
    return cordon_jsonw_finish(&json, err);
}

int cordon_egress_event_json(const cordon_egress_event *event, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make((size_t)2 * CORDON_EGRESS_EVENT_MAX);

    if (write_event(event, true, &text, err) != 0)
        return -1;
    if (text.length >= CORDON_EGRESS_EVENT_MAX) {
        cordon_buf_reset(&text);
        if (write_event(event, false, &text, err) != 0)
            return -1;
    }
    return cordon_buf_append(out, text.data, text.length, err);
}

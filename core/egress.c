/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up the proxy's lines; see egress.h. */
#include "egress.h"

#include <stdio.h>
#include <string.h>

#include "kit/jsonr.h"

/* A line is one flat object. */
#define EGRESS_DEPTH_MAX 4

void cordon_egress_init(cordon_egress *ret_egress)
{
    memset(ret_egress, 0, sizeof(*ret_egress));
    ret_egress->line = cordon_buf_make(CORDON_EGRESS_LINE_MAX);
}

void cordon_egress_clear(cordon_egress *egress)
{
    cordon_buf_clear(&egress->line);
}

static void egress_copy(char *slot, size_t size, const char *text)
{
    (void)cordon_err_printable(slot, size, text, strlen(text));
}

/* Once: what the proxy is does not change, so a second word on it is somebody else's. */
static int egress_ready(cordon_egress *egress, cordon_json line, cordon_err *err)
{
    const char *listen;
    const char *policy;

    if (egress->ready)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "it is ready twice");
    if (cordon_json_need_string(line, "listen", &listen, err) != 0 ||
        cordon_json_need_string(line, "policy", &policy, err) != 0 ||
        cordon_json_need_i64(line, "seccomp", &egress->seccomp, err) != 0 ||
        cordon_json_need_i64(line, "landlock", &egress->landlock, err) != 0 ||
        cordon_json_need_i64(line, "no_new_privs", &egress->no_new_privs, err) != 0 ||
        cordon_json_need_i64(line, "dumpable", &egress->dumpable, err) != 0 ||
        cordon_json_need_i64(line, "capabilities", &egress->capabilities, err) != 0)
        return -1;
    /* For the reader of its log alone. */
    cordon_json_consume_key(line, "time_ms");
    cordon_json_consume_key(line, "hosts");
    cordon_json_consume_key(line, "max_tunnels");
    if (cordon_egress_no_more(line, err) != 0)
        return -1;
    egress_copy(egress->listen, sizeof(egress->listen), listen);
    egress_copy(egress->policy, sizeof(egress->policy), policy);
    egress->ready = true;
    return 0;
}

static void egress_note(cordon_egress_addresses *addresses, const char *text)
{
    for (size_t i = 0; i < addresses->count; i++) {
        if (strcmp(addresses->items[i], text) == 0)
            return;
    }
    if (addresses->count == CORDON_EGRESS_ADDRESSES_MAX)
        addresses->more = true;
    else
        egress_copy(addresses->items[addresses->count++], CORDON_EGRESS_ADDRESS_SIZE, text);
}

static cordon_egress_host *egress_host(cordon_egress *egress, const cordon_egress_event *event)
{
    cordon_egress_host *entry;

    for (size_t i = 0; i < egress->host_count; i++) {
        if (egress->hosts[i].port == event->port && strcmp(egress->hosts[i].host, event->host) == 0)
            return &egress->hosts[i];
    }
    if (egress->host_count == CORDON_EGRESS_HOSTS_MAX)
        return &egress->hosts[CORDON_EGRESS_HOSTS_MAX - 1];
    entry = &egress->hosts[egress->host_count++];
    egress_copy(entry->host, sizeof(entry->host), event->host);
    egress_copy(entry->rule, sizeof(entry->rule), event->rule);
    entry->port = event->port;
    return entry;
}

/* The entry for this target and reason; the last one stands for all that have none. */
static cordon_egress_denied *egress_denied(cordon_egress *egress, const cordon_egress_event *event)
{
    cordon_egress_denied *entry;
    bool last = egress->denied_count >= CORDON_EGRESS_DENIED_MAX - 1;

    for (size_t i = 0; i < egress->denied_count; i++) {
        if (strcmp(egress->denied[i].target, event->target) == 0 &&
            strcmp(egress->denied[i].reason, event->reason) == 0)
            return &egress->denied[i];
    }
    if (egress->denied_count == CORDON_EGRESS_DENIED_MAX)
        return &egress->denied[CORDON_EGRESS_DENIED_MAX - 1];
    entry = &egress->denied[egress->denied_count++];
    egress_copy(entry->target, sizeof(entry->target), last ? "(others)" : event->target);
    egress_copy(entry->reason, sizeof(entry->reason), last ? "too many to list" : event->reason);
    egress_copy(entry->rule, sizeof(entry->rule), last ? "" : event->rule);
    return entry;
}

static int64_t saturating_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void egress_add_decision(cordon_egress *egress, const cordon_egress_event *event)
{
    cordon_egress_denied *entry;

    if (event->allowed) {
        egress->mixed += event->mixed ? 1 : 0;
        return;
    }
    entry = egress_denied(egress, event);
    entry->count++;
    for (size_t i = 0; entry->rule[0] != '\0' && i < event->answer_count; i++)
        egress_note(&entry->addresses, event->answer[i]);
}

static void egress_add_tunnel(cordon_egress *egress, const cordon_egress_event *event)
{
    cordon_egress_host *entry = egress_host(egress, event);

    entry->tunnels++;
    entry->bytes_up = saturating_add(entry->bytes_up, event->bytes_up);
    entry->bytes_down = saturating_add(entry->bytes_down, event->bytes_down);
    egress_note(&entry->addresses, event->address);
}

static int egress_event(cordon_egress *egress, cordon_json line, cordon_egress_what what,
                        cordon_err *err)
{
    cordon_egress_event event;

    if (cordon_egress_event_read(line, what, &event, err) != 0)
        return -1;
    if (egress->tell != NULL)
        egress->tell(egress->tell_context, &event);
    if (what == CORDON_EGRESS_DECISION)
        egress_add_decision(egress, &event);
    else if (what == CORDON_EGRESS_TUNNEL)
        egress_add_tunnel(egress, &event);
    else
        egress->dropped = saturating_add(egress->dropped, event.count);
    return 0;
}

static const struct {
    const char *name;
    cordon_egress_what what; /* UNKNOWN: the proxy's word of itself */
} egress_events[] = {
    {"ready", CORDON_EGRESS_UNKNOWN},
    {"decision", CORDON_EGRESS_DECISION},
    {"tunnel", CORDON_EGRESS_TUNNEL},
    {"dropped", CORDON_EGRESS_DROPPED},
};

static int egress_take(cordon_egress *egress, cordon_json line, const char *name, cordon_err *err)
{
    for (size_t i = 0; i < sizeof(egress_events) / sizeof(egress_events[0]); i++) {
        if (strcmp(egress_events[i].name, name) != 0)
            continue;
        return egress_events[i].what == CORDON_EGRESS_UNKNOWN
                   ? egress_ready(egress, line, err)
                   : egress_event(egress, line, egress_events[i].what, err);
    }
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "unknown event '%s'", CORDON_QUOTE(name));
}

static int egress_line(cordon_egress *egress, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *name;

    if (cordon_json_parse(egress->line.data, egress->line.length, CORDON_EGRESS_LINE_MAX,
                          EGRESS_DEPTH_MAX, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "event", &name, err) != 0)
        return -1;
    return egress_take(egress, cordon_json_root(doc), name, err);
}

int cordon_egress_feed(cordon_egress *egress, const void *bytes, size_t length, cordon_err *err)
{
    const char *next = bytes;
    const char *end = next + length;

    while (next < end) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));
        const char *stop = newline != NULL ? newline : end;

        if (cordon_buf_append(&egress->line, next, (size_t)(stop - next), err) != 0 ||
            (newline != NULL && egress_line(egress, err) != 0)) {
            egress->broken = true;
            cordon_err_wrap(err, "the proxy's output");
            return -1;
        }
        if (newline == NULL)
            return 0;
        cordon_buf_reset(&egress->line);
        next = newline + 1;
    }
    return 0;
}

static void egress_write_addresses(const cordon_egress_addresses *addresses, cordon_jsonw *json)
{
    cordon_jsonw_begin_array(json, "addresses");
    for (size_t i = 0; i < addresses->count; i++)
        cordon_jsonw_string(json, NULL, addresses->items[i]);
    cordon_jsonw_end_array(json);
    if (addresses->more)
        cordon_jsonw_bool(json, "more_addresses", true);
}

static void egress_write_allowed(const cordon_egress_host *host, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "host", host->host);
    cordon_jsonw_i64(json, "port", host->port);
    cordon_jsonw_string(json, "rule", host->rule);
    egress_write_addresses(&host->addresses, json);
    cordon_jsonw_i64(json, "tunnels", host->tunnels);
    cordon_jsonw_i64(json, "bytes_up", host->bytes_up);
    cordon_jsonw_i64(json, "bytes_down", host->bytes_down);
    cordon_jsonw_end_object(json);
}

static void egress_write_denied(const cordon_egress_denied *denied, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "target", denied->target);
    cordon_jsonw_string(json, "reason", denied->reason);
    cordon_jsonw_string_or_null(json, "rule", denied->rule[0] != '\0' ? denied->rule : NULL);
    egress_write_addresses(&denied->addresses, json);
    cordon_jsonw_i64(json, "count", denied->count);
    cordon_jsonw_end_object(json);
}

void cordon_egress_write(const cordon_egress *egress, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, "egress");
    cordon_jsonw_begin_array(json, "allowed");
    for (size_t i = 0; i < egress->host_count; i++)
        egress_write_allowed(&egress->hosts[i], json);
    cordon_jsonw_end_array(json);
    cordon_jsonw_begin_array(json, "denied");
    for (size_t i = 0; i < egress->denied_count; i++)
        egress_write_denied(&egress->denied[i], json);
    cordon_jsonw_end_array(json);
    cordon_jsonw_i64(json, "mixed_answers", egress->mixed);
    cordon_jsonw_i64(json, "dropped", egress->dropped);
    cordon_jsonw_end_object(json);
}

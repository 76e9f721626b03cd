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
static int egress_ready(cordon_egress *egress, cordon_json event, cordon_err *err)
{
    const char *listen;
    const char *policy;

    if (egress->ready)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "it is ready twice");
    if (cordon_json_need_string(event, "listen", &listen, err) != 0 ||
        cordon_json_need_string(event, "policy", &policy, err) != 0 ||
        cordon_json_need_i64(event, "seccomp", &egress->seccomp, err) != 0 ||
        cordon_json_need_i64(event, "landlock", &egress->landlock, err) != 0 ||
        cordon_json_need_i64(event, "no_new_privs", &egress->no_new_privs, err) != 0 ||
        cordon_json_need_i64(event, "dumpable", &egress->dumpable, err) != 0 ||
        cordon_json_need_i64(event, "capabilities", &egress->capabilities, err) != 0)
        return -1;
    egress_copy(egress->listen, sizeof(egress->listen), listen);
    egress_copy(egress->policy, sizeof(egress->policy), policy);
    egress->ready = true;
    return 0;
}

static cordon_egress_host *egress_host(cordon_egress *egress, const char *host, int64_t port)
{
    cordon_egress_host *entry;

    for (size_t i = 0; i < egress->host_count; i++) {
        if (egress->hosts[i].port == port && strcmp(egress->hosts[i].host, host) == 0)
            return &egress->hosts[i];
    }
    if (egress->host_count == CORDON_EGRESS_HOSTS_MAX)
        return &egress->hosts[CORDON_EGRESS_HOSTS_MAX - 1];
    entry = &egress->hosts[egress->host_count++];
    egress_copy(entry->host, sizeof(entry->host), host);
    entry->port = port;
    return entry;
}

static void egress_deny(cordon_egress *egress, const char *target, const char *reason)
{
    cordon_egress_denied *entry;

    for (size_t i = 0; i < egress->denied_count; i++) {
        if (strcmp(egress->denied[i].target, target) == 0 &&
            strcmp(egress->denied[i].reason, reason) == 0) {
            egress->denied[i].count++;
            return;
        }
    }
    if (egress->denied_count == CORDON_EGRESS_DENIED_MAX) {
        egress->denied[CORDON_EGRESS_DENIED_MAX - 1].count++;
        return;
    }
    entry = &egress->denied[egress->denied_count++];
    if (egress->denied_count == CORDON_EGRESS_DENIED_MAX) {
        target = "(others)";
        reason = "too many to list";
    }
    egress_copy(entry->target, sizeof(entry->target), target);
    egress_copy(entry->reason, sizeof(entry->reason), reason);
    entry->count = 1;
}

static int egress_decision(cordon_egress *egress, cordon_json event, cordon_err *err)
{
    const char *target;
    const char *verdict;
    const char *reason;

    if (cordon_json_need_string(event, "target", &target, err) != 0 ||
        cordon_json_need_string(event, "verdict", &verdict, err) != 0 ||
        cordon_json_need_string(event, "reason", &reason, err) != 0)
        return -1;
    if (strcmp(verdict, "allow") != 0)
        egress_deny(egress, target, reason);
    return 0;
}

static int64_t saturating_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* A count; the proxy has no negative ones. */
static int egress_count(cordon_json event, const char *key, int64_t *ret_value, cordon_err *err)
{
    int64_t value;

    if (cordon_json_need_i64(event, key, &value, err) != 0)
        return -1;
    if (value < 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "$.%s: %lld is no count", key,
                           (long long)value);
    *ret_value = value;
    return 0;
}

static int egress_tunnel(cordon_egress *egress, cordon_json event, cordon_err *err)
{
    const char *host;
    int64_t port;
    int64_t up;
    int64_t down;
    cordon_egress_host *entry;

    if (cordon_json_need_string(event, "host", &host, err) != 0 ||
        egress_count(event, "port", &port, err) != 0 || egress_count(event, "up", &up, err) != 0 ||
        egress_count(event, "down", &down, err) != 0)
        return -1;
    entry = egress_host(egress, host, port);
    entry->tunnels++;
    entry->bytes_up = saturating_add(entry->bytes_up, up);
    entry->bytes_down = saturating_add(entry->bytes_down, down);
    return 0;
}

static int egress_dropped(cordon_egress *egress, cordon_json event, cordon_err *err)
{
    int64_t count;

    if (egress_count(event, "count", &count, err) != 0)
        return -1;
    egress->dropped = saturating_add(egress->dropped, count);
    return 0;
}

static const struct {
    const char *name;
    int (*take)(cordon_egress *egress, cordon_json event, cordon_err *err);
} egress_events[] = {
    {"ready", egress_ready},
    {"decision", egress_decision},
    {"tunnel", egress_tunnel},
    {"dropped", egress_dropped},
};

static int egress_line(cordon_egress *egress, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *name;

    if (cordon_json_parse(egress->line.data, egress->line.length, CORDON_EGRESS_LINE_MAX,
                          EGRESS_DEPTH_MAX, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "event", &name, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(egress_events) / sizeof(egress_events[0]); i++) {
        if (strcmp(egress_events[i].name, name) == 0)
            return egress_events[i].take(egress, cordon_json_root(doc), err);
    }
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "unknown event '%s'", CORDON_QUOTE(name));
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

static void egress_write_allowed(const cordon_egress *egress, cordon_jsonw *json)
{
    cordon_jsonw_begin_array(json, "allowed");
    for (size_t i = 0; i < egress->host_count; i++) {
        const cordon_egress_host *host = &egress->hosts[i];

        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "host", host->host);
        cordon_jsonw_i64(json, "port", host->port);
        cordon_jsonw_i64(json, "tunnels", host->tunnels);
        cordon_jsonw_i64(json, "bytes_up", host->bytes_up);
        cordon_jsonw_i64(json, "bytes_down", host->bytes_down);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

void cordon_egress_write(const cordon_egress *egress, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, "egress");
    egress_write_allowed(egress, json);
    cordon_jsonw_begin_array(json, "denied");
    for (size_t i = 0; i < egress->denied_count; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "target", egress->denied[i].target);
        cordon_jsonw_string(json, "reason", egress->denied[i].reason);
        cordon_jsonw_i64(json, "count", egress->denied[i].count);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
    cordon_jsonw_end_object(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a collection found and did; see gc_report.h and cordon/gc.h. */
#include "gc_report.h"

#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "kit/cleanup.h"
#include "kit/jsonw.h"

#define REPORT_JSON_MAX (16U << 20)

static const char *const mode_names[] = {
    [CORDON_GC_LIST] = "list",
    [CORDON_GC_LOOK] = "look",
    [CORDON_GC_REMOVE] = "remove",
};

static const char *const object_states[] = {
    [CORDON_GC_NOTED] = "noted", [CORDON_GC_FOUND] = "found", [CORDON_GC_REMOVED] = "removed",
    [CORDON_GC_GONE] = "gone",   [CORDON_GC_LEFT] = "left",
};

static const char *const run_states[] = {
    [CORDON_GC_ALIVE] = "alive",
    [CORDON_GC_UNKNOWN] = "unknown",
    [CORDON_GC_DEAD] = "dead",
    [CORDON_GC_CLEARED] = "cleared",
    [CORDON_GC_UNREADABLE] = "unreadable",
};

static void entry_clear(cordon_gc_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        free(entry->things[i].id);
    free(entry->things);
    free(entry->engine);
    free(entry->kind);
}

void cordon_gc_report_destroy(cordon_gc_report *report)
{
    if (report == NULL)
        return;
    for (size_t i = 0; i < report->count; i++)
        entry_clear(&report->entries[i]);
    free(report->entries);
    free(report);
}

void cordon_gc_report_free(cordon_gc_report *report)
{
    if (cordon_handle_remove(CORDON_HANDLE_GC_REPORT, report))
        cordon_gc_report_destroy(report);
}

int cordon_gc_report_new(cordon_gc_mode mode, cordon_gc_report **ret_report, cordon_err *err)
{
    cordon_gc_report *report = calloc(1, sizeof(*report));

    if (report == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    report->mode = mode;
    *ret_report = report;
    return 0;
}

int cordon_gc_report_add(cordon_gc_report *report, const char *invocation,
                         cordon_gc_entry **ret_entry, cordon_err *err)
{
    cordon_gc_entry *entries =
        reallocarray(report->entries, report->count + 1, sizeof(*report->entries));

    if (entries == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    report->entries = entries;
    *ret_entry = &entries[report->count++];
    **ret_entry = (cordon_gc_entry){.state = CORDON_GC_UNKNOWN};
    (void)snprintf((*ret_entry)->invocation, sizeof((*ret_entry)->invocation), "%.*s",
                   CORDON_OWNER_HEX, invocation);
    return 0;
}

void cordon_gc_entry_say(cordon_gc_entry *entry, cordon_gc_run_state state, const char *why)
{
    entry->state = state;
    (void)snprintf(entry->why, sizeof(entry->why), "%s", why);
}

int cordon_gc_entry_note(cordon_gc_entry *entry, const char *type, const char *role, const char *id,
                         cordon_gc_object_state state, cordon_gc_thing **ret_thing, cordon_err *err)
{
    cordon_gc_thing *things;
    char *copy;

    for (size_t i = 0; i < entry->count; i++) {
        if (strcmp(entry->things[i].type, type) == 0 && strcmp(entry->things[i].id, id) == 0) {
            entry->things[i].state = state;
            *ret_thing = &entry->things[i];
            return 0;
        }
    }
    copy = strdup(id);
    things = copy != NULL ? reallocarray(entry->things, entry->count + 1, sizeof(*things)) : NULL;
    if (things == NULL) {
        free(copy);
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    entry->things = things;
    *ret_thing = &things[entry->count++];
    **ret_thing = (cordon_gc_thing){.type = type, .role = role, .id = copy, .state = state};
    return 0;
}

bool cordon_gc_entry_is_open(const cordon_gc_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (entry->things[i].state != CORDON_GC_REMOVED && entry->things[i].state != CORDON_GC_GONE)
            return true;
    }
    return false;
}

/* --- To the outside --- */

bool cordon_gc_report_run(const cordon_gc_report *report, size_t index, cordon_gc_run *ret_run)
{
    const cordon_gc_entry *entry;

    if (!cordon_handle_is_live(CORDON_HANDLE_GC_REPORT, report) || index >= report->count)
        return false;
    entry = &report->entries[index];
    *ret_run = (cordon_gc_run){
        .invocation = entry->invocation,
        .engine = entry->engine != NULL ? entry->engine : "",
        .kind = entry->kind != NULL ? entry->kind : "",
        .state = run_states[entry->state],
        .why = entry->why,
        .pid = entry->pid,
        .objects = entry->count,
    };
    return true;
}

bool cordon_gc_report_object(const cordon_gc_report *report, size_t run, size_t index,
                             cordon_gc_object *ret_object)
{
    const cordon_gc_thing *thing;

    if (!cordon_handle_is_live(CORDON_HANDLE_GC_REPORT, report) || run >= report->count ||
        index >= report->entries[run].count)
        return false;
    thing = &report->entries[run].things[index];
    *ret_object = (cordon_gc_object){
        .type = thing->type,
        .role = thing->role,
        .id = thing->id,
        .state = object_states[thing->state],
        .why = thing->why,
    };
    return true;
}

bool cordon_gc_report_complete(const cordon_gc_report *report)
{
    if (!cordon_handle_is_live(CORDON_HANDLE_GC_REPORT, report))
        return false;
    for (size_t i = 0; i < report->count; i++) {
        if (report->entries[i].state != CORDON_GC_ALIVE &&
            report->entries[i].state != CORDON_GC_CLEARED)
            return false;
    }
    return true;
}

static void json_thing(cordon_jsonw *json, const cordon_gc_thing *thing)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "type", thing->type);
    cordon_jsonw_string(json, "role", thing->role);
    cordon_jsonw_string(json, "id", thing->id);
    cordon_jsonw_string(json, "state", object_states[thing->state]);
    cordon_jsonw_string(json, "why", thing->why);
    cordon_jsonw_end_object(json);
}

static void json_entry(cordon_jsonw *json, const cordon_gc_entry *entry)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "invocation", entry->invocation);
    cordon_jsonw_string_or_null(json, "engine", entry->engine);
    cordon_jsonw_string_or_null(json, "kind", entry->kind);
    cordon_jsonw_string(json, "state", run_states[entry->state]);
    cordon_jsonw_string(json, "why", entry->why);
    cordon_jsonw_i64(json, "pid", entry->pid);
    cordon_jsonw_begin_array(json, "objects");
    for (size_t i = 0; i < entry->count; i++)
        json_thing(json, &entry->things[i]);
    cordon_jsonw_end_array(json);
    cordon_jsonw_end_object(json);
}

int cordon_gc_report_json(const cordon_gc_report *report, char **ret_json, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(REPORT_JSON_MAX);
    cordon_jsonw json;

    if (cordon_handle_check(CORDON_HANDLE_GC_REPORT, report, err) != 0)
        return -1;
    cordon_jsonw_init(&json, &out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "gc", 1);
    cordon_jsonw_string(&json, "mode", mode_names[report->mode]);
    cordon_jsonw_begin_array(&json, "runs");
    for (size_t i = 0; i < report->count; i++)
        json_entry(&json, &report->entries[i]);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_bool(&json, "complete", cordon_gc_report_complete(report));
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_take(&out, ret_json, NULL, err);
}

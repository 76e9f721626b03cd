/* SPDX-License-Identifier: Apache-2.0 */
/* One object of the event stream. */
#include "docker_decode_internal.h"

#include <string.h>

#include "kit/num.h"

/* Docker's words (moby, api/types/events). "exec_create: sh" and the like begin with a prefix. */
static const struct {
    const char *word;
    cordon_event_action action;
} actions[] = {
    {"create", CORDON_EVENT_CREATE},
    {"attach", CORDON_EVENT_ATTACH},
    {"detach", CORDON_EVENT_DETACH},
    {"start", CORDON_EVENT_START},
    {"die", CORDON_EVENT_DIE},
    {"kill", CORDON_EVENT_KILL},
    {"stop", CORDON_EVENT_STOP},
    {"oom", CORDON_EVENT_OOM},
    {"destroy", CORDON_EVENT_REMOVE},
    {"remove", CORDON_EVENT_REMOVE},
    {"connect", CORDON_EVENT_CONNECT},
    {"disconnect", CORDON_EVENT_DISCONNECT},
    {"mount", CORDON_EVENT_MOUNT},
    {"unmount", CORDON_EVENT_UNMOUNT},
    {"update", CORDON_EVENT_UPDATE},
    {"rename", CORDON_EVENT_RENAME},
    {"copy", CORDON_EVENT_COPY},
    {"archive-path", CORDON_EVENT_COPY},
    {"extract-to-dir", CORDON_EVENT_COPY},
    {"export", CORDON_EVENT_COPY},
    {"pause", CORDON_EVENT_PAUSE},
    {"unpause", CORDON_EVENT_UNPAUSE},
    {"restart", CORDON_EVENT_RESTART},
};

static cordon_event_action action_of(const char *word)
{
    if (strncmp(word, "exec_", strlen("exec_")) == 0)
        return CORDON_EVENT_EXEC;
    for (size_t i = 0; i < DOCKER_COUNT(actions); i++) {
        if (strcmp(word, actions[i].word) == 0)
            return actions[i].action;
    }
    return CORDON_EVENT_OTHER;
}

static cordon_object_type type_of(const char *word)
{
    static const struct {
        const char *word;
        cordon_object_type type;
    } types[] = {
        {"container", CORDON_OBJECT_CONTAINER},
        {"network", CORDON_OBJECT_NETWORK},
        {"volume", CORDON_OBJECT_VOLUME},
        {"image", CORDON_OBJECT_IMAGE},
    };
    for (size_t i = 0; i < DOCKER_COUNT(types); i++) {
        if (strcmp(word, types[i].word) == 0)
            return types[i].type;
    }
    return CORDON_OBJECT_UNKNOWN;
}

static int read_exit_code(const cordon_fact_list *attributes, cordon_event *event, cordon_err *err)
{
    const char *text = cordon_fact_map_get(attributes, "exitCode");
    if (event->action != CORDON_EVENT_DIE || !text)
        return 0;
    int64_t code = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (cordon_num_i64(text, strlen(text), 0, 255, &code, &scratch) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, an event: exit status \"%s\" is not 0 to 255",
                           CORDON_QUOTE(text));
    event->exit_code = (cordon_fact_int){.known = true, .value = code};
    return 0;
}

/* What Docker itself adds to an event; everything else in the map is a label of the object. */
static bool is_own_attribute(const char *item)
{
    static const char *const own[] = {
        "container=", "execDuration=", "execID=", "exitCode=", "image=",
        "name=",      "oldName=",      "signal=", "type=",
    };
    for (size_t i = 0; i < DOCKER_COUNT(own); i++) {
        if (strncmp(item, own[i], strlen(own[i])) == 0)
            return true;
    }
    return false;
}

static int read_labels(const cordon_fact_list *attributes, cordon_event *event, cordon_err *err)
{
    if (event->type != CORDON_OBJECT_CONTAINER)
        return 0;
    cordon_fact_list_known(&event->labels);
    for (size_t i = 0; i < attributes->count; i++) {
        if (!is_own_attribute(attributes->items[i]) &&
            cordon_fact_list_add(&event->labels, attributes->items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_actor(cordon_json root, cordon_event *event, cordon_err *err)
{
    static const cordon_factread_field field = {"Attributes", CORDON_READ_MAP, 0,
                                                CORDON_NULL_EMPTY};
    cordon_auto(cordon_fact_list) attributes = {0};
    cordon_json actor = {0};
    const char *id = NULL;
    if (cordon_json_need_object(root, "Actor", &actor, err) != 0 ||
        cordon_json_need_string(actor, "ID", &id, err) != 0 ||
        cordon_factread_fields(actor, &field, 1, &attributes, err) != 0 ||
        cordon_fact_text_set(&event->id, id, err) != 0)
        return -1;
    const char *container = cordon_fact_map_get(&attributes, "container");
    bool told = event->type == CORDON_OBJECT_NETWORK || event->type == CORDON_OBJECT_VOLUME;
    if (told && container && cordon_fact_text_set(&event->container_id, container, err) != 0)
        return -1;
    if (read_exit_code(&attributes, event, err) != 0)
        return -1;
    return read_labels(&attributes, event, err);
}

int docker_decode_event(const char *json, size_t length, cordon_event *ret_event, cordon_err *err)
{
    static const cordon_factread_field time_field = {
        "timeNano", CORDON_READ_INT, offsetof(cordon_event, time_ns), CORDON_NULL_UNKNOWN};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_event) event = {0};
    cordon_json root = {0};
    const char *type = NULL;
    const char *action = NULL;
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        cordon_json_need_string(root, "Type", &type, err) != 0 ||
        cordon_json_need_string(root, "Action", &action, err) != 0 ||
        cordon_factread_fields(root, &time_field, 1, &event, err) != 0)
        return -1;
    event.type = type_of(type);
    event.action = action_of(action);
    if (cordon_fact_text_set(&event.raw_action, CORDON_QUOTE(action), err) != 0 ||
        read_actor(root, &event, err) != 0)
        return -1;
    *ret_event = event;
    event = (cordon_event){0};
    return 0;
}

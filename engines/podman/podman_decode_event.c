/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One object of the event stream (libpod/events, in the envelope of Docker's). What libpod does not
 * report at all: archive copies; and of networks, which one a container joined or left.
 */
#include "podman_decode_internal.h"

#include <string.h>

#include "kit/num.h"
#include "podman_internal.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    const char *word;
    cordon_event_action action;
} actions[] = {
    {"create", CORDON_EVENT_CREATE},   {"init", CORDON_EVENT_INIT},
    {"attach", CORDON_EVENT_ATTACH},   {"start", CORDON_EVENT_START},
    {"died", CORDON_EVENT_DIE},        {"cleanup", CORDON_EVENT_CLEANUP},
    {"kill", CORDON_EVENT_KILL},       {"stop", CORDON_EVENT_STOP},
    {"oom", CORDON_EVENT_OOM},         {"remove", CORDON_EVENT_REMOVE},
    {"connect", CORDON_EVENT_CONNECT}, {"disconnect", CORDON_EVENT_DISCONNECT},
    {"mount", CORDON_EVENT_MOUNT},     {"unmount", CORDON_EVENT_UNMOUNT},
    {"update", CORDON_EVENT_UPDATE},   {"rename", CORDON_EVENT_RENAME},
    {"exec", CORDON_EVENT_EXEC},       {"exec_died", CORDON_EVENT_EXEC},
    {"pause", CORDON_EVENT_PAUSE},     {"unpause", CORDON_EVENT_UNPAUSE},
    {"restart", CORDON_EVENT_RESTART},
};

static cordon_event_action action_of(const char *word)
{
    for (size_t i = 0; i < COUNT(actions); i++) {
        if (strcmp(actions[i].word, word) == 0)
            return actions[i].action;
    }
    return CORDON_EVENT_OTHER;
}

static cordon_object_type type_of(const char *word)
{
    static const char *const words[] = {
        [CORDON_OBJECT_CONTAINER] = "container",
        [CORDON_OBJECT_NETWORK] = "network",
        [CORDON_OBJECT_VOLUME] = "volume",
        [CORDON_OBJECT_IMAGE] = "image",
    };
    for (size_t i = CORDON_OBJECT_CONTAINER; i < COUNT(words); i++) {
        if (strcmp(words[i], word) == 0)
            return (cordon_object_type)i;
    }
    return CORDON_OBJECT_UNKNOWN;
}

/* Text that a daemon calls a number; SECURITY: only 0..255 is an exit status. */
static int read_exit_code(const cordon_fact_list *attributes, cordon_event *event, cordon_err *err)
{
    const char *text = cordon_fact_map_get(attributes, "containerExitCode");
    int64_t code = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (event->action != CORDON_EVENT_DIE || text == NULL)
        return 0;
    if (cordon_num_i64(text, strlen(text), 0, 255, &code, &scratch) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "exit status \"%s\" is not 0 to 255",
                           CORDON_QUOTE(text));
    event->exit_code = (cordon_fact_int){.known = true, .value = code};
    return 0;
}

/* What Podman itself adds to an event; everything else in the map is a label of the container. */
static bool is_own_attribute(const char *item)
{
    static const char *const own[] = {
        "containerExitCode=", "image=", "name=", "podId=", "network=", "healthStatus=", "error=",
    };
    for (size_t i = 0; i < COUNT(own); i++) {
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

/*
 * Who joins or leaves a network is the actor; the network's own id is not told then. A volume has
 * no id: its name stands among the attributes.
 */
static int set_ids(cordon_event *event, const char *actor, const cordon_fact_list *attributes,
                   cordon_err *err)
{
    const char *name = cordon_fact_map_get(attributes, "name");
    if (event->type == CORDON_OBJECT_VOLUME)
        return cordon_fact_text_set(&event->id, name ? name : actor, err);
    bool about_member =
        event->type == CORDON_OBJECT_NETWORK &&
        (event->action == CORDON_EVENT_CONNECT || event->action == CORDON_EVENT_DISCONNECT);
    if (cordon_fact_text_set(&event->id, about_member ? "" : actor, err) != 0)
        return -1;
    return about_member ? cordon_fact_text_set(&event->container_id, actor, err) : 0;
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
        set_ids(event, id, &attributes, err) != 0 || read_exit_code(&attributes, event, err) != 0)
        return -1;
    return read_labels(&attributes, event, err);
}

static int decode_event(cordon_json root, cordon_event *event, cordon_err *err)
{
    static const cordon_factread_field time_field = {
        "timeNano", CORDON_READ_INT, offsetof(cordon_event, time_ns), CORDON_NULL_UNKNOWN};
    const char *type = NULL;
    const char *action = NULL;
    if (cordon_json_need_string(root, "Type", &type, err) != 0 ||
        cordon_json_need_string(root, "Action", &action, err) != 0 ||
        cordon_fact_text_set(&event->raw_action, CORDON_QUOTE(action), err) != 0)
        return -1;
    event->type = type_of(type);
    event->action = action_of(action);
    if (cordon_factread_fields(root, &time_field, 1, event, err) != 0)
        return -1;
    return read_actor(root, event, err);
}

int podman_decode_event(const char *line, size_t length, cordon_event *ret_event, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_event) event = {0};
    if (cordon_json_parse(line, length, PODMAN_EVENT_MAX, 0, &doc, err) != 0 ||
        decode_event(cordon_json_root(doc), &event, err) != 0) {
        cordon_err_wrap(err, "event");
        return -1;
    }
    *ret_event = event;
    event = (cordon_event){0};
    return 0;
}

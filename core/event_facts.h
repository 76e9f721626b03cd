/* SPDX-License-Identifier: Apache-2.0 */
/* Events as engines tell them, in one normal form for all of them; see engine.h's events_parse. */
#ifndef CORDON_EVENT_FACTS_H
#define CORDON_EVENT_FACTS_H

#include "facts.h"

typedef enum cordon_object_type {
    CORDON_OBJECT_UNKNOWN = 0,
    CORDON_OBJECT_CONTAINER,
    CORDON_OBJECT_NETWORK,
    CORDON_OBJECT_VOLUME,
    CORDON_OBJECT_IMAGE,
} cordon_object_type;

/* What happened to an object. Everything that core does not expect counts as OTHER. */
typedef enum cordon_event_action {
    CORDON_EVENT_OTHER = 0,
    CORDON_EVENT_CREATE,
    CORDON_EVENT_INIT,
    CORDON_EVENT_ATTACH,
    CORDON_EVENT_DETACH, /* of a client that had attached */
    CORDON_EVENT_START,
    CORDON_EVENT_DIE, /* exit_code is known */
    CORDON_EVENT_CLEANUP,
    CORDON_EVENT_KILL, /* a signal was sent */
    CORDON_EVENT_STOP,
    CORDON_EVENT_OOM,
    CORDON_EVENT_REMOVE,
    CORDON_EVENT_CONNECT, /* network: container_id was attached */
    CORDON_EVENT_DISCONNECT,
    CORDON_EVENT_MOUNT,
    CORDON_EVENT_UNMOUNT,
    CORDON_EVENT_UPDATE,
    CORDON_EVENT_RENAME,
    CORDON_EVENT_EXEC,
    CORDON_EVENT_COPY, /* archive up- or download */
    CORDON_EVENT_PAUSE,
    CORDON_EVENT_UNPAUSE,
    CORDON_EVENT_RESTART,
} cordon_event_action;

typedef struct cordon_event {
    cordon_object_type type;
    cordon_event_action action;
    char *id;           /* of the object; of a volume its name */
    char *container_id; /* network and volume events: the container; else NULL */
    char *raw_action;   /* the daemon's word, printable */
    cordon_fact_int exit_code;
    cordon_fact_int time_ns; /* when it happened by the daemon's clock; tells a replay */
    cordon_fact_list labels; /* the object's labels where the event carries them */
} cordon_event;

void cordon_event_clear(cordon_event *event);
CORDON_DEFINE_AUTO(cordon_event, cordon_event_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Judging events; see watch.h. */
#include "watch.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How long a step may be off its network before its end must have been seen. */
#define WATCH_LEFT_MS 2000
/* How long a stream that was opened again may take to tell what was told before. */
#define WATCH_CATCH_UP_MS 5000
/* The daemon's clock and ours may differ by a little. */
#define WATCH_MARGIN_S 2

#define WATCH_OBJECTS 64 /* more than there are numbers of objects, see watch_object */
enum {
    WATCH_NOBODY = -1,
    WATCH_PROXY = 0,
    WATCH_STEP = 1,
    WATCH_KEEPER = 2,
};

/*
 * What may happen to a container of the run, and how often. Docker may tell of our own attachment's
 * end, if it sees that before the container's; another's end is the end of an attachment that has
 * been counted.
 */
typedef enum watch_rule {
    WATCH_NEVER = 0,
    WATCH_ALWAYS,       /* a part of what we do, or of a natural end */
    WATCH_ONE_ATTACH,   /* we attach once to each container */
    WATCH_ONE_START,    /* and start it once */
    WATCH_STEP_DIES,    /* the step may end by itself; proxy and keeper only by us */
    WATCH_IF_SIGNALLED, /* only after we sent a signal */
} watch_rule;

static const watch_rule container_rules[] = {
    [CORDON_EVENT_OTHER] = WATCH_NEVER,       [CORDON_EVENT_CREATE] = WATCH_ALWAYS,
    [CORDON_EVENT_INIT] = WATCH_ALWAYS,       [CORDON_EVENT_ATTACH] = WATCH_ONE_ATTACH,
    [CORDON_EVENT_START] = WATCH_ONE_START,   [CORDON_EVENT_DIE] = WATCH_STEP_DIES,
    [CORDON_EVENT_CLEANUP] = WATCH_STEP_DIES, [CORDON_EVENT_KILL] = WATCH_IF_SIGNALLED,
    [CORDON_EVENT_STOP] = WATCH_STEP_DIES,    [CORDON_EVENT_OOM] = WATCH_ALWAYS,
    [CORDON_EVENT_REMOVE] = WATCH_NEVER,      [CORDON_EVENT_CONNECT] = WATCH_NEVER,
    [CORDON_EVENT_DISCONNECT] = WATCH_NEVER,  [CORDON_EVENT_MOUNT] = WATCH_ALWAYS,
    [CORDON_EVENT_UNMOUNT] = WATCH_ALWAYS,    [CORDON_EVENT_UPDATE] = WATCH_NEVER,
    [CORDON_EVENT_RENAME] = WATCH_NEVER,      [CORDON_EVENT_EXEC] = WATCH_NEVER,
    [CORDON_EVENT_COPY] = WATCH_NEVER,        [CORDON_EVENT_PAUSE] = WATCH_NEVER,
    [CORDON_EVENT_UNPAUSE] = WATCH_NEVER,     [CORDON_EVENT_RESTART] = WATCH_NEVER,
    [CORDON_EVENT_DETACH] = WATCH_ALWAYS,
};

int cordon_watch_open(cordon_watch *watch, const cordon_engine_ops *ops, void *impl,
                      cordon_deadline dl, cordon_err *err)
{
    watch->ops = ops;
    watch->impl = impl;
    watch->dl = dl;
    watch->bytes = cordon_buf_make(CORDON_WATCH_BYTES_MAX);
    watch->step_exit_code = -1;
    watch->opened_s = (int64_t)time(NULL) - WATCH_MARGIN_S;
    return ops->events_open(impl, 0, dl, &watch->stream, err);
}

void cordon_watch_close(cordon_watch *watch)
{
    cordon_stream_close(watch->stream);
    watch->stream = NULL;
    cordon_buf_clear(&watch->bytes);
}

/* An id that is not known yet is "" or NULL, and the same as none. */
static bool same_id(const char *a, const char *b)
{
    return a != NULL && b != NULL && a[0] != '\0' && strcmp(a, b) == 0;
}

/* Which container of the run an id is of; WATCH_NOBODY for any other. */
static int watch_member(const cordon_watch *watch, const char *id)
{
    if (same_id(id, watch->step))
        return WATCH_STEP;
    if (same_id(id, watch->keeper))
        return WATCH_KEEPER;
    return same_id(id, watch->proxy) ? WATCH_PROXY : WATCH_NOBODY;
}

static cordon_role watch_role(int which)
{
    if (which == WATCH_STEP)
        return CORDON_ROLE_STEP;
    return which == WATCH_KEEPER ? CORDON_ROLE_KEEPER : CORDON_ROLE_PROXY;
}

static const char *watch_name(int which)
{
    return cordon_role_name(watch_role(which));
}

static int watch_tampered(const char *action, const char *object, cordon_refusal *ret_refusal,
                          cordon_err *err)
{
    char fact[96];

    (void)snprintf(fact, sizeof(fact), "%s.events", object);
    (void)cordon_refuse(ret_refusal, CORDON_REFUSED_CHANGED, fact, "only what the run itself does",
                        action, NULL);
    return CORDON_FAIL(err, CORDON_ERR_TAMPERED,
                       "%s: somebody else changed an object of the run (%s); it was ended", fact,
                       CORDON_QUOTE(action));
}

/* True if a container's event is one that the run itself brings about. */
static bool watch_container_allows(cordon_watch *watch, int which, const cordon_event *event)
{
    size_t index = (size_t)event->action;
    watch_rule rule = index < sizeof(container_rules) / sizeof(container_rules[0])
                          ? container_rules[index]
                          : WATCH_NEVER;

    switch (rule) {
    case WATCH_ALWAYS:
        return true;
    case WATCH_ONE_ATTACH:
        return ++watch->attaches[which] <= 1;
    case WATCH_ONE_START:
        return ++watch->starts[which] <= 1;
    case WATCH_STEP_DIES:
        return which == WATCH_STEP || watch->signalled;
    case WATCH_IF_SIGNALLED:
        return watch->signalled;
    case WATCH_NEVER:
    default:
        return false;
    }
}

static int watch_container(cordon_watch *watch, int which, const cordon_event *event,
                           cordon_refusal *ret_refusal, cordon_err *err)
{
    if (!watch_container_allows(watch, which, event))
        return watch_tampered(event->raw_action, watch_name(which), ret_refusal, err);
    if (which == WATCH_STEP && event->action == CORDON_EVENT_DIE) {
        watch->step_died = true;
        watch->step_exit_code = event->exit_code.known ? (int)event->exit_code.value : -1;
    }
    return 0;
}

static int watch_network(cordon_watch *watch, int role, const cordon_event *event,
                         cordon_refusal *ret_refusal, cordon_err *err)
{
    int which = watch_member(watch, event->container_id);

    if (event->action == CORDON_EVENT_CREATE)
        return 0;
    /* Each is attached once, where the plan wants it; a second time would come after somebody
     * else's disconnect. */
    if (event->action == CORDON_EVENT_CONNECT && which != WATCH_NOBODY &&
        cordon_plan_joins(watch_role(which), (cordon_role)role) &&
        ++watch->connects[role][which] <= 1)
        return 0;
    /* Docker tells of the step's end on the network before it tells of the step. */
    if (event->action == CORDON_EVENT_DISCONNECT && which == WATCH_STEP && !watch->step_died &&
        !watch->signalled && watch->step_left_ns == 0)
        watch->step_left_ns = cordon_now_ns();
    if (event->action == CORDON_EVENT_DISCONNECT && which != WATCH_NOBODY &&
        (which == WATCH_STEP || watch->step_died || watch->signalled))
        return 0;
    return watch_tampered(event->raw_action, cordon_role_name((cordon_role)role), ret_refusal, err);
}

/*
 * SECURITY: what joins step or proxy to any other network is an event of that other network - or
 * of one that is not told: libpod names the container alone, and tells only of what comes after
 * the create, where the run itself attaches everything.
 */
static int watch_foreign_network(cordon_watch *watch, const cordon_event *event,
                                 cordon_refusal *ret_refusal, cordon_err *err)
{
    int which = watch_member(watch, event->container_id);

    /*
     * Docker tells of joining and leaving its network "none" as of any other. A step that is
     * there can join no second one, and the final inspection sees which it was.
     */
    if (((watch->alone && which == WATCH_STEP) || which == WATCH_KEEPER) &&
        ((event->action == CORDON_EVENT_CONNECT && ++watch->nowhere[which] <= 1) ||
         event->action == CORDON_EVENT_DISCONNECT))
        return 0;
    if (which != WATCH_NOBODY)
        return watch_tampered(event->raw_action, watch_name(which), ret_refusal, err);
    watch->others_moved = watch->others_moved || event->action == CORDON_EVENT_CONNECT;
    return 0;
}

/*
 * The scratch: mounted by keeper and step, and left by those who are gone. libpod tells of its
 * creation and its end alone; there the list of its users tells the rest.
 */
static int watch_volume(cordon_watch *watch, const cordon_event *event, cordon_refusal *ret_refusal,
                        cordon_err *err)
{
    int which = watch_member(watch, event->container_id);

    if (event->action == CORDON_EVENT_CREATE || event->action == CORDON_EVENT_UNMOUNT ||
        (event->action == CORDON_EVENT_MOUNT &&
         (which == WATCH_STEP || which == WATCH_KEEPER || event->container_id == NULL)))
        return 0;
    return watch_tampered(event->raw_action, cordon_role_name(CORDON_ROLE_SCRATCH), ret_refusal,
                          err);
}

/* The container that an event is about, or that joined what it is about. */
static const char *watch_whom(const cordon_event *event)
{
    return event->type == CORDON_OBJECT_CONTAINER ? event->id : event->container_id;
}

/* The number of the step of before that an event is about; past_count for none. */
static unsigned watch_past_index(const cordon_watch *watch, const cordon_event *event)
{
    unsigned i = 0;

    while (i < watch->past_count && !same_id(watch_whom(event), watch->past[i].id))
        i++;
    return i;
}

static cordon_watch_past *watch_past(cordon_watch *watch, const cordon_event *event)
{
    unsigned index = watch_past_index(watch, event);

    return index < watch->past_count ? &watch->past[index] : NULL;
}

/* It joined its network once, or Docker's "none", as any step. */
static bool watch_past_joined(const cordon_watch *watch, cordon_watch_past *past,
                              const cordon_event *event)
{
    for (int role = 0; role < 2; role++) {
        if (same_id(event->id, watch->networks[role]))
            return cordon_plan_joins(CORDON_ROLE_STEP, (cordon_role)role) &&
                   ++past->connects[role] <= 1;
    }
    return past->alone && ++past->nowhere <= 1;
}

/* What there is to tell of a step that the run has removed: its life, its end, and what went. */
static bool watch_past_allows(const cordon_watch *watch, cordon_watch_past *past,
                              const cordon_event *event)
{
    switch (event->action) {
    case CORDON_EVENT_CREATE:
    case CORDON_EVENT_INIT:
    case CORDON_EVENT_OOM:
    case CORDON_EVENT_MOUNT:
    case CORDON_EVENT_UNMOUNT:
    case CORDON_EVENT_DIE:
    case CORDON_EVENT_CLEANUP:
    case CORDON_EVENT_STOP:
    case CORDON_EVENT_DETACH:
    case CORDON_EVENT_REMOVE:
    case CORDON_EVENT_DISCONNECT:
        return true;
    case CORDON_EVENT_ATTACH:
        return ++past->attaches <= 1;
    case CORDON_EVENT_START:
        return ++past->starts <= 1;
    case CORDON_EVENT_CONNECT:
        return watch_past_joined(watch, past, event);
    case CORDON_EVENT_OTHER:
    case CORDON_EVENT_KILL:
    case CORDON_EVENT_UPDATE:
    case CORDON_EVENT_RENAME:
    case CORDON_EVENT_EXEC:
    case CORDON_EVENT_COPY:
    case CORDON_EVENT_PAUSE:
    case CORDON_EVENT_UNPAUSE:
    case CORDON_EVENT_RESTART:
    default:
        return false;
    }
}

void cordon_watch_retire(cordon_watch *watch, bool next_is_alone)
{
    cordon_watch_past *past = &watch->past[watch->past_count++];

    (void)snprintf(past->id, sizeof(past->id), "%s", watch->step);
    past->attaches = watch->attaches[WATCH_STEP];
    past->starts = watch->starts[WATCH_STEP];
    past->connects[0] = watch->connects[0][WATCH_STEP];
    past->connects[1] = watch->connects[1][WATCH_STEP];
    past->nowhere = watch->nowhere[WATCH_STEP];
    past->alone = watch->alone;
    watch->attaches[WATCH_STEP] = watch->starts[WATCH_STEP] = watch->nowhere[WATCH_STEP] = 0;
    watch->connects[0][WATCH_STEP] = watch->connects[1][WATCH_STEP] = 0;
    watch->alone = next_is_alone;
    watch->step_died = false;
    watch->step_exit_code = -1;
    watch->step_left_ns = 0;
}

int cordon_watch_check_left(const cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
{
    if (watch->step_left_ns == 0 || watch->step_died || watch->signalled ||
        cordon_now_ns() - watch->step_left_ns < WATCH_LEFT_MS * CORDON_NS_PER_MS)
        return 0;
    return watch_tampered("disconnect", watch_name(WATCH_STEP), ret_refusal, err);
}

static int watch_judge_new(cordon_watch *watch, const cordon_event *event,
                           cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_watch_past *past = watch_past(watch, event);

    if (past != NULL)
        return watch_past_allows(watch, past, event)
                   ? 0
                   : watch_tampered(event->raw_action, watch_name(WATCH_STEP), ret_refusal, err);
    if (event->type == CORDON_OBJECT_CONTAINER) {
        int which = watch_member(watch, event->id);

        if (which != WATCH_NOBODY)
            return watch_container(watch, which, event, ret_refusal, err);
        watch->others_moved = watch->others_moved || event->action == CORDON_EVENT_INIT ||
                              event->action == CORDON_EVENT_START;
        return 0;
    }
    if (event->type == CORDON_OBJECT_VOLUME)
        return same_id(event->id, watch->scratch) ? watch_volume(watch, event, ret_refusal, err)
                                                  : 0;
    if (event->type != CORDON_OBJECT_NETWORK)
        return 0;
    for (int role = 0; role < 2; role++) {
        if (same_id(event->id, watch->networks[role]))
            return watch_network(watch, role, event, ret_refusal, err);
    }
    return watch_foreign_network(watch, event, ret_refusal, err);
}

/*
 * A number for the object of the run that an event is about: containers, networks, scratch; -1. Of
 * several steps each has its own, the same while it runs and when it has gone.
 */
static int watch_object_of(const cordon_watch *watch, const cordon_event *event, int which)
{
    if (event->type == CORDON_OBJECT_CONTAINER)
        return which;
    for (int role = 0; role < 2; role++) {
        if (same_id(event->id, watch->networks[role]))
            return 3 + 3 * role + (which > 0 ? which : 0);
    }
    if (event->type == CORDON_OBJECT_VOLUME)
        return same_id(event->id, watch->scratch) ? 32 + which : WATCH_NOBODY;
    return which == WATCH_NOBODY ? WATCH_NOBODY : 16 + which;
}

static int watch_object(const cordon_watch *watch, const cordon_event *event)
{
    unsigned past = watch_past_index(watch, event);
    int which = past < watch->past_count ? WATCH_STEP : watch_member(watch, watch_whom(event));
    int object = watch_object_of(watch, event, which);

    if (which == WATCH_STEP && object != WATCH_NOBODY)
        object += WATCH_OBJECTS * (int)past;
    return object;
}

/*
 * True if this very event was judged before. Podman's log file is cut when it has grown, and its
 * readers are then told the rest of it again; Docker's stream begins a little before it is opened.
 */
static bool watch_is_replay(cordon_watch *watch, const cordon_event *event)
{
    int object = watch_object(watch, event);
    unsigned kept = watch->seen_count < CORDON_WATCH_SEEN ? watch->seen_count : CORDON_WATCH_SEEN;

    if (!event->time_ns.known || object == WATCH_NOBODY)
        return false;
    if (event->time_ns.value >= watch->newest_ns) {
        watch->newest_ns = event->time_ns.value;
        watch->behind = false;
    }
    for (unsigned i = 0; i < kept; i++) {
        if (watch->seen[i].time_ns == event->time_ns.value &&
            watch->seen[i].action == event->action && watch->seen[i].object == object)
            return true;
    }
    watch->seen[watch->seen_count % CORDON_WATCH_SEEN].time_ns = event->time_ns.value;
    watch->seen[watch->seen_count % CORDON_WATCH_SEEN].action = event->action;
    watch->seen[watch->seen_count % CORDON_WATCH_SEEN].object = object;
    watch->seen_count++;
    return false;
}

int cordon_watch_judge(cordon_watch *watch, const cordon_event *event, cordon_refusal *ret_refusal,
                       cordon_err *err)
{
    if (watch_is_replay(watch, event))
        return 0;
    return watch_judge_new(watch, event, ret_refusal, err);
}

/* Judges the whole events that have been read so far. */
static int watch_parse(cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
{
    while (watch->bytes.length > 0) {
        cordon_auto(cordon_event) event = {0};
        size_t used = 0;

        if (watch->ops->events_parse(watch->bytes.data, watch->bytes.length, &used, &event, err) !=
            0)
            return -1;
        if (used == 0)
            return 0;
        cordon_buf_consume(&watch->bytes, used);
        if (cordon_watch_judge(watch, &event, ret_refusal, err) != 0)
            return -1;
    }
    return 0;
}

/* Opens a stream that has ended or broken once more; what was missed the caller must look for. */
static int watch_reopen(cordon_watch *watch, cordon_err *err)
{
    cordon_err why = *err;
    cordon_stream *fresh = NULL;

    if (++watch->reopened > CORDON_WATCH_REOPEN_MAX)
        return -1;
    cordon_err_clear(err);
    /* The broken one stays until there is another: the run's loop polls it while it ends the step.
     */
    if (watch->ops->events_open(watch->impl, watch->opened_s, watch->dl, &fresh, err) != 0) {
        cordon_err_wrap(err, "%s; opening it again", why.message);
        return -1;
    }
    cordon_stream_close(watch->stream);
    watch->stream = fresh;
    cordon_buf_reset(&watch->bytes);
    watch->gap = true;
    watch->behind = watch->newest_ns != 0;
    return 0;
}

/* One reading. *ret_more is false when there is nothing more for now. */
static int watch_read(cordon_watch *watch, bool *ret_more, cordon_err *err)
{
    char piece[8192];
    size_t length = 0;
    cordon_stream_state state;

    *ret_more = false;
    if (cordon_stream_read(watch->stream, piece, sizeof(piece), &length, &state, err) != 0) {
        cordon_err_wrap(err, "the engine's event stream broke");
        return watch_reopen(watch, err);
    }
    if (state == CORDON_STREAM_AGAIN)
        return 0;
    if (state == CORDON_STREAM_END) {
        cordon_err_set(err, CORDON_ERR_PROTOCOL, 0, "the engine ended its event stream");
        return watch_reopen(watch, err);
    }
    *ret_more = true;
    return cordon_buf_append(&watch->bytes, piece, length, err);
}

int cordon_watch_drain(cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
{
    bool more = true;

    while (more) {
        if (watch_read(watch, &more, err) != 0 || watch_parse(watch, ret_refusal, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_watch_catch_up(cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_deadline dl = cordon_deadline_clamp_ms(watch->dl, WATCH_CATCH_UP_MS);

    while (watch->behind || watch->starts[WATCH_STEP] == 0) {
        short ready = 0;
        cordon_err late = CORDON_ERR_INIT;

        if (cordon_deadline_poll(dl, cordon_stream_fd(watch->stream), POLLIN, "events", &ready,
                                 &late) != 0)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                               "the engine ended its event stream, and the one that was opened "
                               "again does not tell what happened before");
        if (cordon_watch_drain(watch, ret_refusal, err) != 0)
            return -1;
    }
    return 0;
}

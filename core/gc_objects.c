/* SPDX-License-Identifier: Apache-2.0 */
/* What a run that has ended left on an engine; see gc_objects.h. */
#include "gc_objects.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "object_ops.h"

/* How long after the journal's last line a create may still be at work inside the daemon. */
#define OBJECTS_SETTLE_S 15
#define OBJECTS_PAUSE_MS 100
/* For one run. */
#define OBJECTS_MS 45000
/* For one look at an object or its removal: an answer that is lost costs no more than this. */
#define OBJECTS_CALL_MS 10000

typedef struct collection {
    const cordon_engine *engine;
    const cordon_journal_entry *entry;
    bool remove;
    cordon_deadline dl;
    cordon_gc_entry *report;
    bool seen[CORDON_ROLE_COUNT]; /* something carried the labels of this role */
    size_t left;                  /* in this round: was there, or could not be asked for */
} collection;

static cordon_deadline call_dl(const collection *c)
{
    return cordon_deadline_clamp_ms(c->dl, OBJECTS_CALL_MS);
}

/* What ends the collection rather than this one removal. */
static bool is_over(const collection *c, const cordon_err *failure)
{
    return failure->code == CORDON_ERR_UNREACHABLE || failure->code == CORDON_ERR_NOMEM ||
           cordon_deadline_passed(c->dl);
}

/* A removal that was asked for counts as ours. */
static void note_gone(cordon_gc_thing *thing)
{
    thing->state = thing->asked ? CORDON_GC_REMOVED : CORDON_GC_GONE;
    thing->why[0] = '\0';
}

/*
 * SECURITY: the labels are read again by id, right before the removal; a list filter and what a
 * list says are hints only.
 * @return 0: it is gone, is not ours, or is to be asked for again; -1: no sense in going on
 */
static int collect_one(collection *c, cordon_role role, const char *id, cordon_err *err)
{
    cordon_object_type type = cordon_role_type(role);
    const cordon_engine *engine = c->engine;
    cordon_auto(cordon_object_facts) facts = {0};
    cordon_gc_thing *thing = NULL;
    cordon_err failure = CORDON_ERR_INIT;

    if (cordon_gc_entry_note(c->report, cordon_role_type_name(role), cordon_role_name(role), id,
                             CORDON_GC_FOUND, &thing, err) != 0)
        return -1;
    if (cordon_object_inspect(engine->ops, engine->impl, type, id, call_dl(c), &facts, &failure) ==
        0) {
        if (!cordon_owner_matches(&c->entry->owner, role, &facts.labels)) {
            thing->state = CORDON_GC_LEFT;
            (void)snprintf(thing->why, sizeof(thing->why),
                           "it does not carry that run's labels, and was left alone");
            return 0;
        }
        thing->asked = thing->asked || c->remove;
        if (!c->remove ||
            cordon_object_remove(engine->ops, engine->impl, type, id, call_dl(c), &failure) == 0) {
            c->left++;
            return 0;
        }
    }
    if (failure.code == CORDON_ERR_NOTFOUND) {
        note_gone(thing);
        return 0;
    }
    c->left++;
    (void)snprintf(thing->why, sizeof(thing->why), "%.250s", failure.message);
    if (!is_over(c, &failure))
        return 0;
    *err = failure;
    return -1;
}

/* By the token, which nothing else carries. */
static int collect_listed(collection *c, cordon_object_type type, cordon_err *err)
{
    cordon_auto(cordon_list) list = {0};

    if (c->engine->ops->list_by_label(c->engine->impl, type, c->entry->owner.token_label, c->dl,
                                      &list, err) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
            if (cordon_role_type((cordon_role)role) != type ||
                !cordon_owner_matches(&c->entry->owner, (cordon_role)role, &list.items[i].labels))
                continue;
            c->seen[role] = true;
            if (collect_one(c, (cordon_role)role, list.items[i].id, err) != 0)
                return -1;
        }
    }
    return 0;
}

/* What the list did not show any more is told as gone; by id, which the daemon may know better. */
static int collect_noted(collection *c, cordon_object_type type, cordon_err *err)
{
    for (size_t i = 0; i < c->report->count; i++) {
        cordon_gc_thing *thing = &c->report->things[i];
        cordon_role role;

        if ((thing->state != CORDON_GC_NOTED && thing->state != CORDON_GC_FOUND) ||
            !cordon_role_by_name(thing->role, &role) || cordon_role_type(role) != type)
            continue;
        if (collect_one(c, role, thing->id, err) != 0)
            return -1;
    }
    return 0;
}

/* The journal's own ids are where it begins. */
static int note_journal(collection *c, cordon_err *err)
{
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        const cordon_journal_object *object = &c->entry->objects[role];
        cordon_gc_thing *thing = NULL;

        if (object->id[0] == '\0' || object->gone)
            continue;
        c->seen[role] = true;
        if (cordon_gc_entry_note(c->report, cordon_role_type_name((cordon_role)role),
                                 cordon_role_name((cordon_role)role), object->id, CORDON_GC_NOTED,
                                 &thing, err) != 0)
            return -1;
    }
    return 0;
}

/* A create that was asked for and not answered may still be at work inside the daemon. */
static bool may_still_come(const collection *c)
{
    bool unanswered = false;
    time_t age = time(NULL) - c->entry->changed;

    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        unanswered = unanswered || (c->entry->objects[role].asked && !c->seen[role]);
    /* A clock that was set back makes no entry younger than one that was just written. */
    return unanswered && age < OBJECTS_SETTLE_S && age > -OBJECTS_SETTLE_S;
}

/* Containers first: a network or volume goes only when nothing is on it. */
static int collect_round(collection *c, cordon_err *err)
{
    static const cordon_object_type order[] = {CORDON_OBJECT_CONTAINER, CORDON_OBJECT_NETWORK,
                                               CORDON_OBJECT_VOLUME};

    c->left = 0;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (collect_listed(c, order[i], err) != 0 || collect_noted(c, order[i], err) != 0)
            return -1;
    }
    return 0;
}

/* What would not go in all that time: named, with the engine's last word on it. */
static void note_left(collection *c)
{
    for (size_t i = 0; i < c->report->count; i++) {
        cordon_gc_thing *thing = &c->report->things[i];

        if (thing->state != CORDON_GC_FOUND && thing->state != CORDON_GC_NOTED)
            continue;
        thing->state = CORDON_GC_LEFT;
        if (thing->why[0] == '\0')
            (void)snprintf(thing->why, sizeof(thing->why), "it was removed but is still there");
    }
}

int cordon_gc_objects(const cordon_engine *engine, const cordon_journal_entry *entry, bool remove,
                      cordon_deadline dl, cordon_gc_entry *report, cordon_err *err)
{
    collection c = {.engine = engine, .entry = entry, .remove = remove, .report = report};

    c.dl = cordon_deadline_clamp_ms(dl, OBJECTS_MS);

    if (note_journal(&c, err) != 0)
        return -1;
    for (;;) {
        if (collect_round(&c, err) != 0)
            return -1;
        /* A removal is verified by the next round, which finds nothing more. */
        if (!remove || (c.left == 0 && !may_still_come(&c)))
            return 0;
        if (cordon_deadline_check(c.dl, "removing what the run left", err) != 0) {
            note_left(&c);
            return -1;
        }
        (void)usleep(OBJECTS_PAUSE_MS * 1000);
    }
}

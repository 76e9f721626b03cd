/* SPDX-License-Identifier: Apache-2.0 */
/* What a collection found and did; the public face of it is in cordon/gc.h. */
#ifndef CORDON_GC_REPORT_H
#define CORDON_GC_REPORT_H

#include "cordon/gc.h"
#include "owner.h"

typedef enum cordon_gc_object_state {
    CORDON_GC_NOTED = 1,
    CORDON_GC_FOUND,
    CORDON_GC_REMOVED,
    CORDON_GC_GONE, /* it was not there */
    CORDON_GC_LEFT,
} cordon_gc_object_state;

typedef struct cordon_gc_thing {
    const char *type;
    const char *role;
    char *id;
    cordon_gc_object_state state;
    bool asked; /* its removal was asked for */
    char why[256];
} cordon_gc_thing;

typedef enum cordon_gc_run_state {
    CORDON_GC_ALIVE = 1,
    CORDON_GC_UNKNOWN,
    CORDON_GC_DEAD,
    CORDON_GC_CLEARED,
    CORDON_GC_UNREADABLE,
} cordon_gc_run_state;

typedef struct cordon_gc_entry {
    char invocation[CORDON_OWNER_HEX + 1];
    char *engine;
    char *kind;
    cordon_gc_run_state state;
    char why[CORDON_ERR_MESSAGE_MAX];
    int64_t pid;
    size_t count;
    cordon_gc_thing *things;
} cordon_gc_entry;

struct cordon_gc_report {
    cordon_gc_mode mode;
    size_t count;
    cordon_gc_entry *entries;
};

int cordon_gc_report_new(cordon_gc_mode mode, cordon_gc_report **ret_report, cordon_err *err)
    __attribute__((warn_unused_result));
/* Also of one that is no handle yet. */
void cordon_gc_report_destroy(cordon_gc_report *report);
CORDON_DEFINE_AUTO_PTR(cordon_gc_report, cordon_gc_report_destroy)

/* One run more; the entry is good until the next one is added. */
int cordon_gc_report_add(cordon_gc_report *report, const char *invocation,
                         cordon_gc_entry **ret_entry, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_gc_entry_say(cordon_gc_entry *entry, cordon_gc_run_state state, const char *why);

/* The thing with this type and id, which is added when it is new. The texts but id are static. */
int cordon_gc_entry_note(cordon_gc_entry *entry, const char *type, const char *role, const char *id,
                         cordon_gc_object_state state, cordon_gc_thing **ret_thing, cordon_err *err)
    __attribute__((warn_unused_result));

/* Something of it is left, or would be removed. */
bool cordon_gc_entry_is_open(const cordon_gc_entry *entry);

#endif

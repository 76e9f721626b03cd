/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between a container's own file system and the image it was made from: the facts of
 * engine.h's container_changes, and how both engines' answer is read. Nothing here is a verdict.
 */
#ifndef CORDON_CHANGE_FACTS_H
#define CORDON_CHANGE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/cleanup.h"
#include "kit/error.h"

typedef enum cordon_change_kind {
    CORDON_CHANGE_UNKNOWN = 0,
    CORDON_CHANGE_MODIFIED,
    CORDON_CHANGE_ADDED,
    CORDON_CHANGE_DELETED,
} cordon_change_kind;

/* path is absolute, as the engine writes it; hostile bytes are possible. */
typedef struct cordon_change {
    cordon_change_kind kind;
    char *path;
} cordon_change;

/* How many are kept: more than the mounts of any plan make. */
#define CORDON_CHANGES_MAX 64

/* Zeroed is "none". more: there were further ones, which were read and are not kept. */
typedef struct cordon_changes {
    cordon_change *items;
    size_t count;
    bool more;
} cordon_changes;

void cordon_changes_clear(cordon_changes *changes);
CORDON_DEFINE_AUTO(cordon_changes, cordon_changes_clear)

/* "modified", "added", "deleted"; "unknown" for anything else. */
const char *cordon_change_kind_name(cordon_change_kind kind);

/* Appends a copy, or sets `more` when there is no room. @return 0, or -1 with NOMEM */
int cordon_changes_add(cordon_changes *changes, cordon_change_kind kind, const char *path,
                       cordon_err *err) __attribute__((warn_unused_result));

/*
 * Reads a whole answer: [{"Path": "/etc", "Kind": 0}, ...], Kind 0 modified, 1 added, 2 deleted;
 * Docker writes null for none (Docker Engine API 1.41, ContainerChanges; libpod's is the same).
 * SECURITY: every element is read, also those that are not kept. PROTOCOL with the path for another
 * kind, a path that is not absolute, a key that is not known and holds something.
 */
int cordon_changes_read(const void *json, size_t length, cordon_changes *ret_changes,
                        cordon_err *err) __attribute__((warn_unused_result));

#endif

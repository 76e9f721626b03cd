/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine tells of itself and of what it holds: its kind, its mechanisms, and the items of
 * its lists. The facts of single objects are in facts.h, the operations that tell them in engine.h.
 */
#ifndef CORDON_ENGINE_FACTS_H
#define CORDON_ENGINE_FACTS_H

#include "facts.h"

/*
 * X(KIND, "name as in configuration"): all that core has of an engine (engines/ADDING.md). New ones
 * at the end.
 */
#define CORDON_ENGINE_KINDS(X) X(DOCKER, "docker") X(PODMAN, "podman")

typedef enum cordon_engine_kind {
    CORDON_ENGINE_UNKNOWN = 0,
#define CORDON_ENGINE_KIND(kind, name) CORDON_ENGINE_##kind,
    CORDON_ENGINE_KINDS(CORDON_ENGINE_KIND)
#undef CORDON_ENGINE_KIND
} cordon_engine_kind;

/* Mechanisms that a plan may depend on. They describe, they never waive a check. */
enum {
    CORDON_CAN_MOUNT_IMAGES = 1U << 0, /* a read-only image mount in a container */
    CORDON_CAN_LOAD_ON_BASE = 1U << 1, /* image_load may omit layers that are present */
    CORDON_CAN_KEEP_ID = 1U << 2,      /* CORDON_USERNS_KEEP_ID */
    CORDON_CAN_LIMIT_MEMORY = 1U << 3,
    CORDON_CAN_LIMIT_CPU = 1U << 4,
    CORDON_CAN_LIMIT_PIDS = 1U << 5,
    CORDON_CAN_DEFAULT_SECCOMP = 1U << 6, /* the daemon confirms its built-in seccomp profile */
    CORDON_CAN_SHOW_SYSCTLS = 1U << 7,    /* container facts show sysctls */
    CORDON_CAN_SHOW_NAMESPACES = 1U << 8, /* ... all namespace modes, ipc included */
    CORDON_CAN_SHOW_CREATED_ENDPOINTS = 1U << 9, /* network facts list created containers */
    CORDON_CAN_SHOW_RUNTIME = 1U << 10, /* inspect leaves facts out that container_runtime tells */
    CORDON_CAN_TELL_UPLOADS = 1U << 11, /* an event tells of files put into a container */
};

/* What describe learned. Texts are printable; version is as the daemon writes it. */
typedef struct cordon_engine_facts {
    cordon_engine_kind kind;
    char *version;
    char *api;
    char *os;
    char *architecture; /* as in image facts: "amd64", "arm64" */
    char *storage_driver;
    char *storage_root; /* the daemon's own files, as it tells; NULL or "" where it does not */
    char *runtime;
    cordon_fact_bool rootless;
    cordon_fact_int cgroup_version;
    unsigned can;              /* CORDON_CAN_ bits */
    cordon_fact_list security; /* the daemon's own list, for doctor and the receipt */
    cordon_fact_list warnings; /* the daemon's own, for doctor */
} cordon_engine_facts;

void cordon_engine_facts_clear(cordon_engine_facts *facts);
CORDON_DEFINE_AUTO(cordon_engine_facts, cordon_engine_facts_clear)

/*
 * One image that is there. names are its tags ("localhost/x:1"), none for a dangling one. A hint
 * only: what decides is what image_resolve tells of the id.
 */
typedef struct cordon_listed_image {
    char *id;
    cordon_fact_list names;
    cordon_fact_list labels;
    cordon_fact_int size_bytes; /* as the daemon counts, with the layers it shares */
} cordon_listed_image;

typedef struct cordon_image_list {
    size_t count;
    cordon_listed_image *items;
} cordon_image_list;

void cordon_image_list_clear(cordon_image_list *list);
CORDON_DEFINE_AUTO(cordon_image_list, cordon_image_list_clear)

/* One object that carries a label; a volume's id is its name. labels is the object's whole set,
 * from the list answer. */
typedef struct cordon_listed {
    char *id;
    char *name;
    cordon_fact_list labels;
} cordon_listed;

typedef struct cordon_list {
    size_t count;
    cordon_listed *items;
} cordon_list;

void cordon_list_clear(cordon_list *list);
CORDON_DEFINE_AUTO(cordon_list, cordon_list_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake engine share; private to them. */
#ifndef CORDON_TESTS_SUPPORT_FAKE_IMPL_H
#define CORDON_TESTS_SUPPORT_FAKE_IMPL_H

#include <pthread.h>

#include "kit/hash.h"
#include "support/fake_engine.h"
#include "support/stream_pair.h"

#define FAKE_OBJECTS_MAX 64
#define FAKE_CALLS_MAX   4096
#define FAKE_FAULTS_MAX  16
#define FAKE_STREAMS_MAX 8
#define FAKE_ROLE_SIZE   32

/* Where the fake Podman keeps what its runtime gets. */
#define FAKE_RUNTIME_CONFIG "/fake/userdata/config.json"

/* Everything that was copied for one object; freed together. */
typedef struct fake_arena {
    void **items;
    size_t count;
} fake_arena;

/* Copies into the arena; NULL stays NULL. Aborts without memory: this is a test. */
const char *fake_keep(fake_arena *arena, const char *text);
void *fake_keep_bytes(fake_arena *arena, const void *bytes, size_t length);
void fake_arena_clear(fake_arena *arena);

/* Whole copies of what core handed over for the time of a call. */
cordon_container_spec fake_keep_container(fake_arena *arena, const cordon_container_spec *spec);
cordon_volume_spec fake_keep_volume(fake_arena *arena, const cordon_volume_spec *spec);
cordon_network_spec fake_keep_network(fake_arena *arena, const cordon_network_spec *spec);

/* config and name are what an archive had; "" for the image that a fresh fake holds. */
typedef struct fake_image {
    char id[CORDON_ID_HEX + 1];
    char config[4096];
    char name[160];
} fake_image;

typedef struct fake_network {
    bool there;
    char id[CORDON_ID_HEX + 1];
    char role[FAKE_ROLE_SIZE];
    fake_arena arena;
    cordon_network_spec spec;
    unsigned inspects;
    bool intruder;
} fake_network;

#define FAKE_INTRUDER     "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
#define FAKE_VOLUME_PLACE "/fake/volumes/scratch/_data"

typedef struct fake_volume {
    bool there;
    char role[FAKE_ROLE_SIZE];
    fake_arena arena;
    cordon_volume_spec spec;
    const char *created_at; /* NULL: as ever */
    unsigned inspects;
    bool intruder;
} fake_volume;

/* peer is the daemon's end of the attached streams, -1 without. */
typedef struct fake_container {
    bool there;
    char id[CORDON_ID_HEX + 1];
    char role[FAKE_ROLE_SIZE];
    fake_arena arena;
    cordon_container_spec spec;
    unsigned inspects;
    cordon_run_state state;
    int exit_code;
    bool oom_killed;
    const char *uploaded; /* a path that somebody else added; borrowed */
    bool prepared;        /* set up by a call of its own, not by an attach */
    bool term;
    bool kill;
    int peer;
    bool threaded;
    pthread_t thread;
    struct fake_engine *fake;
} fake_container;

struct fake_engine {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    stream_pairs *pairs;
    char endpoint[128];
    bool podman; /* which model is open */
    bool open;
    struct fake_engine *next; /* of the list that open searches */

    fake_image images[FAKE_OBJECTS_MAX];
    size_t image_count;
    fake_network *networks[FAKE_OBJECTS_MAX];
    size_t network_count;
    fake_volume *volumes[FAKE_OBJECTS_MAX];
    size_t volume_count;
    unsigned remounts;
    fake_container *containers[FAKE_OBJECTS_MAX];
    size_t container_count;
    int event_peers[FAKE_STREAMS_MAX];
    size_t event_peer_count;
    fake_arena event_log; /* every line that was told */
    unsigned ids;
    unsigned overlaps;

    fake_fault faults[FAKE_FAULTS_MAX];
    unsigned fault_seen[FAKE_FAULTS_MAX];
    size_t fault_count;
    fake_hook *hook;
    void *hook_context;
    fake_lies lies;
    fake_step step;
    fake_proxy proxy;

    fake_arena log_texts;
    fake_call calls[FAKE_CALLS_MAX];
    size_t call_count;
    char complaint[256];

    bool released;
    cordon_fact_list argv;
    cordon_fact_list environment;
    cordon_fact_list files;
    cordon_fact_list rules;
    char *working_dir;
    bool stdin_given;
};

/*
 * The fake is the world outside: where a test makes memory run out (support/allocfail.h, linked or
 * not), that is core's memory alone. Nests, per thread.
 */
void fake_outside(bool begin);

void fake_lock(fake_engine *fake);
void fake_unlock(fake_engine *fake);

/* Notes the first breach. */
void fake_complain(fake_engine *fake, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* With the lock held: by id or role, only what is there; NULL else. */
fake_container *fake_find_container(fake_engine *fake, const char *id);
fake_network *fake_find_network(fake_engine *fake, const char *id);
fake_container *fake_container_of_role(fake_engine *fake, const char *role);
fake_volume *fake_find_volume(fake_engine *fake, const char *name);
fake_volume *fake_volume_of_role(fake_engine *fake, const char *role);
fake_network *fake_network_of_role(fake_engine *fake, const char *role);

/* With the lock held: one event to whoever listens. */
void fake_event(fake_engine *fake, cordon_object_type type, cordon_event_action action,
                const char *id, const char *container_id, const char *raw, int exit_code);

/* With the lock held: connects or disconnects of all of a container's networks. */
void fake_network_events(fake_engine *fake, const fake_container *container,
                         cordon_event_action action, const char *raw);

/* With the lock held: how the objects look from outside. */
int fake_container_facts(const fake_container *container, cordon_container_facts *ret_facts,
                         cordon_err *err);
int fake_network_facts(const fake_network *network, const fake_engine *fake,
                       cordon_network_facts *ret_facts, cordon_err *err);
int fake_image_facts(const fake_engine *fake, const char *id, cordon_image_facts *ret_facts,
                     cordon_err *err);
int fake_engine_facts_of(const fake_engine *fake, cordon_engine_facts *ret_facts, cordon_err *err);

/* The report that a good gate makes in this container. */
int fake_report(const fake_container *container, cordon_fact_list *ret_facts, cordon_err *err);

/*
 * The image in a docker-archive: its id is the hash of its configuration. False: there is none, or
 * one that is larger than tests need.
 */
bool fake_tar_image(const void *tar, size_t length, fake_image *ret_image);

/* Start with the lock held; stop (and join) without it. */
int fake_process_start(fake_container *container, cordon_err *err);
void fake_process_stop(fake_container *container);

/* --- The frame around every operation ------------------------------------------------------ */

typedef struct fake_scope {
    fake_engine *fake;
    size_t logged;
    cordon_deadline dl;
    const fake_fault *fault; /* that strikes this call, or NULL */
} fake_scope;

/* 0: go on and carry it out. -1: it ends here, logged. Without the lock, as all of these. */
int fake_enter(fake_scope *s, void *impl, fake_op op, const char *role, cordon_deadline dl,
               cordon_err *err) __attribute__((warn_unused_result));
/* The same for an operation on an object, by an id that must look like one. */
int fake_enter_id(fake_scope *s, void *impl, fake_op op, const char *id, cordon_deadline dl,
                  cordon_err *err) __attribute__((warn_unused_result));
/* What was done has the result rc; the answer may still be lost. */
int fake_leave(fake_scope *s, int rc, cordon_err *err) __attribute__((warn_unused_result));

/* Always -1. */
int fake_not_found(const char *what, cordon_err *err);

/* With the lock held: 64 hex digits that no other object has. */
void fake_new_id(fake_engine *fake, char ret_id[CORDON_ID_HEX + 1]);

/* The role among ownership labels; "" for none. */
const char *fake_role_of_labels(cordon_texts labels);

/* The operations that stand in files of their own. */
cordon_image_resolve_fn fake_image_resolve;
cordon_image_load_fn fake_image_load;
cordon_image_remove_fn fake_image_remove;
cordon_image_list_fn fake_image_list;
cordon_network_create_fn fake_network_create;
cordon_network_inspect_fn fake_network_inspect;
cordon_network_connect_fn fake_network_connect;
cordon_network_remove_fn fake_network_remove;
cordon_volume_create_fn fake_volume_create;
cordon_volume_inspect_fn fake_volume_inspect;
cordon_volume_remove_fn fake_volume_remove;
cordon_container_create_fn fake_container_create;
cordon_container_inspect_fn fake_container_inspect;
cordon_container_attach_fn fake_container_attach;
cordon_container_prepare_fn fake_container_prepare;
cordon_container_runtime_fn fake_container_runtime;
cordon_container_start_fn fake_container_start;
cordon_container_signal_fn fake_container_signal;
cordon_container_wait_fn fake_container_wait;
cordon_container_remove_fn fake_container_remove;
cordon_container_log_fn fake_container_log;
cordon_container_changes_fn fake_container_changes;
cordon_list_by_label_fn fake_list_by_label;
cordon_events_open_fn fake_events_open;
cordon_events_parse_fn fake_events_parse;

#endif

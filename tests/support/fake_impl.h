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
cordon_network_spec fake_keep_network(fake_arena *arena, const cordon_network_spec *spec);

typedef struct fake_image {
    char id[CORDON_ID_HEX + 1];
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
    fake_container *containers[FAKE_OBJECTS_MAX];
    size_t container_count;
    int event_peers[FAKE_STREAMS_MAX];
    size_t event_peer_count;
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
    cordon_fact_list rules;
    char *working_dir;
    bool stdin_given;
};

void fake_lock(fake_engine *fake);
void fake_unlock(fake_engine *fake);

/* Notes the first breach. */
void fake_complain(fake_engine *fake, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* With the lock held: by id or role, only what is there; NULL else. */
fake_container *fake_find_container(fake_engine *fake, const char *id);
fake_network *fake_find_network(fake_engine *fake, const char *id);
fake_container *fake_container_of_role(fake_engine *fake, const char *role);
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

/* The id of the image in a docker-archive: the hash of its configuration. False: there is none. */
bool fake_tar_image_id(const void *tar, size_t length, char ret_id[CORDON_ID_HEX + 1]);

/* Start with the lock held; stop (and join) without it. */
int fake_process_start(fake_container *container, cordon_err *err);
void fake_process_stop(fake_container *container);

#endif

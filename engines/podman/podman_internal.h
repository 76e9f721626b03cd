/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the podman engine share: the connection, one request helper, the encoders.
 * Nothing of this is visible outside; the one exported symbol is cordon_podman_ops (podman.c).
 *
 * Source of paths, fields and answers: the libpod API 4.0 (docs.podman.io, "_static/api.html"),
 * and what Podman 4.3.1 and 5.4.2 were seen to do; where the two differ, the code says so.
 */
#ifndef CORDON_PODMAN_INTERNAL_H
#define CORDON_PODMAN_INTERNAL_H

#include <stdatomic.h>
#include <sys/types.h>

#include "engine.h"
#include "kit/buf.h"
#include "kit/httpc.h"

/* libpod does not check the version in a path, so ours is fixed and the header decides. */
#define PODMAN_API    "4.0.0"
#define PODMAN_PREFIX "/v" PODMAN_API "/libpod"

/* Answers are small; an inspect of a container with thousands of labels is not believable. */
#define PODMAN_ANSWER_MAX ((size_t)1 << 20)
/* Lists hold other users' objects, too. */
#define PODMAN_LIST_MAX ((size_t)32 << 20)
/* An event carries all labels of its container. */
#define PODMAN_EVENT_MAX ((size_t)1 << 20)
#define PODMAN_PATH_MAX  ((size_t)8192)
#define PODMAN_BODY_MAX  ((size_t)4 << 20)

/* What Podman writes for "never" (Go's zero time). */
#define PODMAN_NEVER "0001-01-01T00:00:00Z"

/*
 * The cookie of engine.h. Threads share it: immutable after open, but for what describe learned.
 * rootful  set once Podman has said that it runs as root
 */
typedef struct podman {
    cordon_httpc *http;
    int major;        /* of Podman itself: 4, 5 */
    char version[32]; /* "4.3.1", as the header says */
    atomic_bool rootful;
    bool local;  /* its socket is a file here, so its other files may be, too */
    uid_t owner; /* of that socket: whom the daemon's own files belong to */
} podman;

/*
 * What a request is about. SECURITY: "no such network" must not read as "the container is gone":
 * an answer's reason counts only for the kind of object that the request named.
 */
typedef enum podman_subject {
    PODMAN_ON_NOTHING = 0,
    PODMAN_ON_CONTAINER = 1 << 0,
    PODMAN_ON_NETWORK = 1 << 1,
    PODMAN_ON_IMAGE = 1 << 2,
    PODMAN_ON_BINDS = 1 << 3,   /* host paths, at create and start */
    PODMAN_ON_REMOVAL = 1 << 4, /* the end of a container */
    PODMAN_ON_FILES = 1 << 5,   /* what has changed of a container's files */
    PODMAN_ON_VOLUME = 1 << 6,
} podman_subject;

/*
 * One request.
 * what           "create container x", for messages
 * path           below PODMAN_PREFIX, with query, escaped
 * body, type     bytes of a body and their content type; NULL and 0 for none
 * subjects       PODMAN_ON_ bits
 * want           the status that is success
 * max_bytes      ceiling of the answer; 0 is PODMAN_ANSWER_MAX
 */
typedef struct podman_request {
    const char *what;
    const char *method;
    const char *path;
    const void *body;
    size_t body_length;
    const char *type;
    unsigned subjects;
    int want;
    size_t max_bytes;
    bool mutating;
} podman_request;

/*
 * Sends a request; success is the wanted status and nothing else.
 * @return 0 and *ret_response, or -1 with what kit/httpc.h lists, or
 *   NOTFOUND, CONFLICT, OVERLAP, ENGINE  what libpod means; its text is quoted
 *   PROTOCOL       not an answer of libpod to this request
 *   INDETERMINATE  the same after a change
 */
int podman_call(podman *engine, const podman_request *request, cordon_deadline dl,
                cordon_httpc_response *ret_response, cordon_err *err)
    __attribute__((warn_unused_result));

/* The same for an answer that is a stream: want, or 200 where a proxy between us ate the 101. */
int podman_stream(podman *engine, const podman_request *request, cordon_deadline dl,
                  cordon_stream **ret_stream, cordon_err *err) __attribute__((warn_unused_result));

/* INVALID unless id is 64 lower-case hex digits. */
int podman_need_id(const char *id, cordon_err *err) __attribute__((warn_unused_result));

/* INVALID unless name is one that a volume may have (podman_volume.c). */
int podman_need_volume(const char *name, cordon_err *err) __attribute__((warn_unused_result));

/*
 * After a change that libpod confirmed in words we cannot read: INDETERMINATE instead of
 * PROTOCOL, so that core looks the object up. The message begins with what was done. Always -1.
 */
int podman_unread_change(const char *what, cordon_err *err);
/* An answer that cannot be read: the message begins with what was asked for. Always -1. */
int podman_unread(const podman_request *request, cordon_err *err);

/* Appends "filters=" and the escaped JSON {"key":["value",...]}. */
int podman_add_filter(cordon_buf *path, const char *key, const char *const *values, size_t count,
                      cordon_err *err) __attribute__((warn_unused_result));

/* The text's bytes after its "sha256:", or the text: libpod writes ids bare. */
const char *podman_bare_id(const char *text);

/* Specifications as libpod wants them; pure. INVALID for what cannot be said exactly. */
int podman_encode_network(const cordon_network_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int podman_encode_volume(const cordon_volume_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int podman_encode_connect(const char *container_id, const cordon_endpoint_spec *endpoint,
                          cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));
int podman_encode_container(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* The operations, in the order of engine.h. */
cordon_image_resolve_fn podman_image_resolve;
cordon_image_load_fn podman_image_load;
cordon_image_remove_fn podman_image_remove;
cordon_image_list_fn podman_image_list;
cordon_network_create_fn podman_network_create;
cordon_network_inspect_fn podman_network_inspect;
cordon_network_connect_fn podman_network_connect;
cordon_network_remove_fn podman_network_remove;
cordon_volume_create_fn podman_volume_create;
cordon_volume_inspect_fn podman_volume_inspect;
cordon_volume_remove_fn podman_volume_remove;
cordon_container_create_fn podman_container_create;
cordon_container_inspect_fn podman_container_inspect;
cordon_container_attach_fn podman_container_attach;
cordon_container_prepare_fn podman_container_prepare;
cordon_container_runtime_fn podman_container_runtime;
cordon_container_start_fn podman_container_start;
cordon_container_signal_fn podman_container_signal;
cordon_container_wait_fn podman_container_wait;
cordon_container_remove_fn podman_container_remove;
cordon_container_log_fn podman_container_log;
cordon_container_changes_fn podman_container_changes;
cordon_list_by_label_fn podman_list_by_label;
cordon_events_open_fn podman_events_open;
cordon_events_parse_fn podman_events_parse;

#endif

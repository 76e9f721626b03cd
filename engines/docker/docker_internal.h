/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the Docker engine share: the cookie, the request helper and the encoders. The
 * decoders are in docker_decode.h, because tests and fuzzers include them alone. Only engine.h and
 * kit are included here, never core policy, never the sibling engine.
 */
#ifndef CORDON_DOCKER_INTERNAL_H
#define CORDON_DOCKER_INTERNAL_H

#include "engine.h"
#include "kit/buf.h"
#include "kit/httpc.h"

/* API versions 1.X that these files were written for and checked against. */
#define DOCKER_API_MINOR_MIN 41U
#define DOCKER_API_MINOR_MAX 45U

/*
 * SECURITY: ceilings for what a daemon may send. An inspect answer holds labels, environment and
 * mounts of one container; lists and logs hold more.
 */
#define DOCKER_ANSWER_MAX_BYTES  (4U << 20)
#define DOCKER_LIST_MAX_BYTES    (16U << 20)
#define DOCKER_SMALL_MAX_BYTES   (256U << 10)
#define DOCKER_REQUEST_MAX_BYTES (4U << 20)
#define DOCKER_PATH_MAX_BYTES    4096U

/* The cookie. Immutable after open, so operations need no lock. */
typedef struct docker_engine {
    cordon_httpc *http;
    unsigned api_minor;
    char *version; /* as the daemon writes it */
    char *os;
    char *architecture;
} docker_engine;

/*
 * An answer that means something else than its status number says.
 * status  HTTP status, 0 for any that is not the expected one
 * text    must occur in the daemon's message, NULL for any
 */
typedef struct docker_quirk {
    int status;
    const char *text;
    cordon_code code;
} docker_quirk;

/*
 * One kind of request.
 * what      for messages: "create a container"
 * expected  the one status that is success; every other one is an error
 * quirks    tried in order before the general rule (404 NOTFOUND, 409 CONFLICT, other 4xx and 5xx
 *           ENGINE, everything else PROTOCOL)
 */
typedef struct docker_op {
    const char *what;
    const char *method;
    const char *content_type;
    int expected;
    bool mutating;
    size_t answer_max_bytes;
    const docker_quirk *quirks;
    size_t quirk_count;
} docker_op;

/* body may be NULL. Neither is copied. */
typedef struct docker_body {
    const void *bytes;
    size_t length;
} docker_body;

/* "/v1.41" and the formatted rest. */
int docker_path(const docker_engine *engine, cordon_buf *path, cordon_err *err, const char *format,
                ...) __attribute__((warn_unused_result, format(printf, 4, 5)));

/* Appends "NAME=" and the escaped value. */
int docker_path_query(cordon_buf *path, const char *name, const char *value, cordon_err *err)
    __attribute__((warn_unused_result));

/* -1 with INVALID unless id is a full lower-case hex id. */
int docker_check_id(const char *id, cordon_err *err) __attribute__((warn_unused_result));

/* The same for what is no volume's name (docker_volume.c). */
int docker_check_volume(const char *name, cordon_err *err) __attribute__((warn_unused_result));

/*
 * Sends one request and takes its whole answer. Success means op->expected; ret_response (cleared
 * by the caller) is filled then.
 */
int docker_call(const docker_engine *engine, const docker_op *op, const cordon_buf *path,
                docker_body body, cordon_deadline dl, cordon_httpc_response *ret_response,
                cordon_err *err) __attribute__((warn_unused_result));

/* The same for an answer that goes on: status 101 or 200 is success. */
int docker_call_stream(const docker_engine *engine, const docker_op *op, const cordon_buf *path,
                       const char *const *headers, cordon_deadline dl, cordon_stream **ret_stream,
                       cordon_err *err) __attribute__((warn_unused_result));

/* "/containers/<id>/start?x=y": kind "containers", rest "/start?x=y". */
typedef struct docker_place {
    const char *kind;
    const char *id;
    const char *rest;
} docker_place;

/* docker_call for requests whose path is all; refuses what is no full id. */
int docker_call_id(const docker_engine *engine, const docker_op *op, docker_place place,
                   cordon_deadline dl, cordon_httpc_response *ret_response, cordon_err *err)
    __attribute__((warn_unused_result));

/* Encoders: pure, a whole specification to the JSON of one request. */
int docker_encode_container(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int docker_encode_network(const cordon_network_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int docker_encode_volume(const cordon_volume_spec *spec, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int docker_encode_connect(const char *container_id, const cordon_endpoint_spec *endpoint,
                          cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));

cordon_image_resolve_fn docker_image_resolve;
cordon_image_load_fn docker_image_load;
cordon_image_remove_fn docker_image_remove;
cordon_image_list_fn docker_image_list;
cordon_network_create_fn docker_network_create;
cordon_network_inspect_fn docker_network_inspect;
cordon_network_connect_fn docker_network_connect;
cordon_network_remove_fn docker_network_remove;
cordon_volume_create_fn docker_volume_create;
cordon_volume_inspect_fn docker_volume_inspect;
cordon_volume_remove_fn docker_volume_remove;
cordon_container_create_fn docker_container_create;
cordon_container_inspect_fn docker_container_inspect;
cordon_container_attach_fn docker_container_attach;
cordon_container_prepare_fn docker_container_prepare;
cordon_container_runtime_fn docker_container_runtime;
cordon_container_start_fn docker_container_start;
cordon_container_signal_fn docker_container_signal;
cordon_container_wait_fn docker_container_wait;
cordon_container_remove_fn docker_container_remove;
cordon_container_log_fn docker_container_log;
cordon_container_changes_fn docker_container_changes;
cordon_list_by_label_fn docker_list_by_label;
cordon_events_open_fn docker_events_open;
cordon_events_parse_fn docker_events_parse;

#endif

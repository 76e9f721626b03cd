/* SPDX-License-Identifier: Apache-2.0 */
/* Containers: create, inspect, attach, start, signal, wait, remove, log. */
#include "podman_internal.h"

#include <string.h>

#include "kit/jsonr.h"
#include "kit/stdcopy.h"
#include "podman_decode.h"

/* The log is bounded to 1 MiB (podman_encode.c); frames of short lines make more of it. */
#define LOG_ANSWER_MAX ((size_t)16 << 20)
#define LOG_LINES      "512"
/* A whole image's worth of paths; what is too much for this was changed by no plan. */
#define CHANGES_ANSWER_MAX ((size_t)16 << 20)

/* Checks the id and writes "/containers/<id><rest>". */
static int path_of(cordon_buf *path, const char *id, const char *rest, cordon_err *err)
{
    if (podman_need_id(id, err) != 0)
        return -1;
    return cordon_buf_printf(path, err, "/containers/%s%s", id, rest);
}

static podman_request on_container(const char *what, const char *method, const cordon_buf *path,
                                   int want, bool mutating)
{
    return (podman_request){
        .what = what,
        .method = method,
        .path = cordon_buf_text(path),
        .subjects = PODMAN_ON_CONTAINER,
        .want = want,
        .mutating = mutating,
    };
}

/* --- create --- */

/* Any warning refuses: it is how libpod says that it left something out. */
static int check_warnings(cordon_json root, const char *id, cordon_err *err)
{
    cordon_json_place warnings = {0};
    cordon_json_string first = {0};
    /* null is none (Podman 5) */
    if (cordon_json_get_array(root, "Warnings", &warnings, err) != 0)
        return -1;
    if (warnings.has != CORDON_JSON_PRESENT || cordon_json_count(warnings.value) == 0)
        return 0;
    cordon_json_iter it = cordon_json_iterate(warnings.value);
    if (!cordon_json_next(&it) || cordon_json_as_string(it.value, &first, err) != 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_WARNED, "create container %.12s: Podman warns: %s", id,
                       CORDON_QUOTE(first.text));
}

/* The id goes out as soon as it is known, whatever comes next. */
static int read_created(const cordon_buf *body, char **ret_id, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_autofree char *copy = NULL;
    const char *id = NULL;
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "Id", &id, err) != 0)
        return podman_unread_change("create container", err);
    cordon_err scratch = CORDON_ERR_INIT;
    if (podman_need_id(id, &scratch) != 0)
        return CORDON_FAIL(err, CORDON_ERR_INDETERMINATE, "create container: %s", scratch.message);
    if (cordon_fact_text_set(&copy, id, err) != 0)
        return -1;
    *ret_id = CORDON_TAKE(copy);
    return check_warnings(cordon_json_root(doc), id, err);
}

/* One request attaches to all networks. */
int podman_container_create(void *impl, const cordon_container_spec *spec, cordon_deadline dl,
                            char **ret_id, cordon_err *err)
{
    podman *engine = impl;
    cordon_auto(cordon_buf) body = cordon_buf_make(PODMAN_BODY_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    /* SECURITY: Podman 5 takes keep-id as root, and then maps everything to itself */
    if (spec->userns == CORDON_USERNS_KEEP_ID && atomic_load(&engine->rootful))
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "keep-id is for rootless Podman");
    if (podman_encode_container(spec, &body, err) != 0)
        return -1;
    podman_request request = {
        .what = "create container",
        .method = "POST",
        .path = "/containers/create",
        .body = body.data,
        .body_length = body.length,
        .type = "application/json",
        .subjects = PODMAN_ON_CONTAINER | PODMAN_ON_NETWORK | PODMAN_ON_IMAGE | PODMAN_ON_BINDS,
        .want = 201,
        .mutating = true,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    return read_created(&answer.body, ret_id, err);
}

/* --- inspect --- */

int podman_container_inspect(void *impl, const char *id, cordon_deadline dl,
                             cordon_container_facts *ret_facts, cordon_err *err)
{
    podman *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_container_facts) facts = {0};
    if (path_of(&path, id, "/json", err) != 0)
        return -1;
    podman_request request = on_container("inspect container", "GET", &path, 200, false);
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_container(answer.body.data, answer.body.length, engine->major, &facts, err) !=
        0)
        return podman_unread(&request, err);
    /* SECURITY: a container that is named like our id is not ours */
    if (strcmp(facts.id, id) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no container has the id %s", id);
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

/* --- attach, start, signal --- */

int podman_container_attach(void *impl, const char *id, unsigned flags, cordon_deadline dl,
                            cordon_stream **ret_stream, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    bool input = (flags & CORDON_ATTACH_STDIN) != 0;
    if (path_of(&path, id, "/attach?logs=false&stream=true&stdout=true&stderr=true&stdin=", err) !=
            0 ||
        cordon_buf_append_text(&path, input ? "true" : "false", err) != 0)
        return -1;
    /* mutating: attaching may set the container up (state initialized) */
    podman_request request = on_container("attach to container", "POST", &path, 101, true);
    return podman_stream(impl, &request, dl, ret_stream, err);
}

/* 304: it is set up already, by an attach. That is all that is asked for here. */
int podman_container_prepare(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err failure = CORDON_ERR_INIT;
    if (path_of(&path, id, "/init", err) != 0)
        return -1;
    podman_request request = on_container("set up container", "POST", &path, 204, true);
    request.subjects |= PODMAN_ON_NETWORK | PODMAN_ON_BINDS;
    if (podman_call(impl, &request, dl, &answer, &failure) == 0 || failure.http == 304)
        return 0;
    if (err)
        *err = failure;
    return -1;
}

int podman_container_start(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, id, "/start", err) != 0)
        return -1;
    podman_request request = on_container("start container", "POST", &path, 204, true);
    request.subjects |= PODMAN_ON_NETWORK | PODMAN_ON_BINDS;
    return podman_call(impl, &request, dl, &answer, err);
}

int podman_container_signal(void *impl, const char *id, const char *signal_name, cordon_deadline dl,
                            cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, id, "/kill?signal=", err) != 0 ||
        cordon_httpc_escape(&path, signal_name, err) != 0)
        return -1;
    podman_request request = on_container("signal container", "POST", &path, 204, true);
    return podman_call(impl, &request, dl, &answer, err);
}

/* --- wait --- */

/* SECURITY: exactly one integer of 0..255; whatever else stands there is no exit status. */
static int read_exit_code(const cordon_buf *body, int *ret_exit_code, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_i64 code = {0};
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_as_i64(cordon_json_root(doc), &code, err) != 0) {
        cordon_err_wrap(err, "wait for container: exit status");
        return -1;
    }
    if (code.has != CORDON_JSON_PRESENT || code.value < 0 || code.value > 255)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "wait for container: exit status %lld is not in 0..255",
                           (long long)code.value);
    *ret_exit_code = (int)code.value;
    return 0;
}

/* SECURITY: a container that never started would be answered with status 0 at once. */
static int need_started(podman *engine, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_container_facts) facts = {0};
    if (podman_container_inspect(engine, id, dl, &facts, err) != 0)
        return -1;
    if (facts.started_at && *facts.started_at)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "wait for container %.12s: it never started", id);
}

int podman_container_wait(void *impl, const char *id, cordon_deadline dl, int *ret_exit_code,
                          cordon_err *err)
{
    static const char rest[] = "/wait?condition=stopped&condition=exited&interval=5ms";
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, id, rest, err) != 0 || need_started(impl, id, dl, err) != 0)
        return -1;
    podman_request request = on_container("wait for container", "POST", &path, 200, false);
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_exit_code(&answer.body, ret_exit_code, err);
}

/* --- remove --- */

/* [{"Id", "Err": absent, null or text}]: a failure inside of a success. */
static int read_removed(const cordon_buf *body, const char *id, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place list = {0};
    cordon_json_place failure = {0};
    const char *removed = NULL;
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &list, err) != 0)
        return podman_unread_change("remove container", err);
    for (cordon_json_iter it = cordon_json_iterate(list.value); cordon_json_next(&it);) {
        if (cordon_json_need_string(it.value, "Id", &removed, err) != 0 ||
            cordon_json_get_any(it.value, "Err", &failure, err) != 0)
            return podman_unread_change("remove container", err);
        if (failure.has == CORDON_JSON_PRESENT)
            return CORDON_FAIL(err, CORDON_ERR_CONFLICT,
                               "remove container %s: Podman reports a "
                               "failure",
                               id);
        if (strcmp(removed, id) == 0)
            return 0;
    }
    return CORDON_FAIL(err, CORDON_ERR_ENGINE, "remove container %s: it was not removed", id);
}

/*
 * timeout=0: else force waits for the stop timeout. volumes=true takes the anonymous ones along
 * (Docker's "v" is ignored). Removing what ends at the same moment may fail with 500 and leave
 * the container; that is a CONFLICT (podman_http.c).
 */
int podman_container_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, id, "?force=true&volumes=true&timeout=0", err) != 0)
        return -1;
    podman_request request = on_container("remove container", "DELETE", &path, 200, true);
    request.subjects |= PODMAN_ON_REMOVAL;
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_removed(&answer.body, id, err);
}

/* --- log --- */

typedef struct tail {
    cordon_buf text;
    size_t limit;
} tail;

/* Keeps the last limit bytes. */
static int keep_tail(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    tail *t = context;
    (void)stream;
    if (length > t->limit) {
        bytes = (const char *)bytes + (length - t->limit);
        length = t->limit;
    }
    if (t->text.length + length > t->limit)
        cordon_buf_consume(&t->text, t->text.length + length - t->limit);
    return cordon_buf_append(&t->text, bytes, length, err);
}

static int read_log(const cordon_buf *body, size_t limit, char **ret_text, cordon_err *err)
{
    cordon_cleanup(cordon_cleanup_free) char *text = NULL;
    tail kept = {.text = cordon_buf_make(limit), .limit = limit};
    cordon_stdcopy demux;
    cordon_stdcopy_init(&demux, keep_tail, &kept);
    int rc = cordon_stdcopy_feed(&demux, body->data, body->length, err);
    if (rc == 0)
        rc = cordon_stdcopy_finish(&demux, err);
    if (rc == 0)
        rc = cordon_buf_take(&kept.text, &text, NULL, err);
    cordon_buf_clear(&kept.text);
    if (rc == 0)
        *ret_text = CORDON_TAKE(text);
    return rc;
}

int podman_container_log(void *impl, const char *id, size_t limit, cordon_deadline dl,
                         char **ret_text, cordon_err *err)
{
    static const char rest[] = "/logs?stdout=true&stderr=true&follow=false&tail=" LOG_LINES;
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (limit == 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a log of no bytes");
    if (path_of(&path, id, rest, err) != 0)
        return -1;
    podman_request request = on_container("read the log of container", "GET", &path, 200, false);
    request.max_bytes = LOG_ANSWER_MAX;
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_log(&answer.body, limit, ret_text, err);
}

/* --- changes --- */

int podman_container_changes(void *impl, const char *id, cordon_deadline dl,
                             cordon_changes *ret_changes, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, id, "/changes", err) != 0)
        return -1;
    podman_request request = on_container("list changes of container", "GET", &path, 200, false);
    request.max_bytes = CHANGES_ANSWER_MAX;
    request.subjects |= PODMAN_ON_FILES;
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    if (cordon_changes_read(answer.body.data, answer.body.length, ret_changes, err) == 0)
        return 0;
    cordon_err_wrap(err, "list changes of container");
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The container operations of engine.h over Docker's REST API. */
#include "docker_internal.h"

#include <string.h>

#include "docker_decode.h"
#include "kit/stdcopy.h"

#define JSON_TYPE "Content-Type: application/json"

/* A log holds at most what its driver keeps: 1 MiB of JSON lines. */
#define LOG_MAX_BYTES (4U << 20)

/* What the daemon says when the host path of a bind is missing (400 on every version). */
static const docker_quirk create_quirks[] = {
    {0, "bind source path does not exist", CORDON_ERR_NOTFOUND},
};

/*
 * 304 is "it runs already". A path or network that has gone since the create is the third and the
 * fourth: 20.10 reports the former from the OCI runtime, too.
 */
static const docker_quirk start_quirks[] = {
    {304, NULL, CORDON_ERR_CONFLICT},
    {0, "bind source path does not exist", CORDON_ERR_NOTFOUND},
    {0, "could not find a network matching", CORDON_ERR_NOTFOUND},
};

/* 409 since API 1.29, 500 with this text before and in races. */
static const docker_quirk kill_quirks[] = {
    {0, "is not running", CORDON_ERR_CONFLICT},
};

/* 409 while a removal is under way; with force there is no other conflict. */
static const docker_op create_op = {
    .what = "create a container",
    .method = "POST",
    .content_type = JSON_TYPE,
    .expected = 201,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = create_quirks,
    .quirk_count = 1,
};
static const docker_op inspect_op = {
    .what = "inspect a container",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_ANSWER_MAX_BYTES,
};
static const docker_op attach_op = {
    .what = "attach to a container",
    .method = "POST",
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op start_op = {
    .what = "start a container",
    .method = "POST",
    .expected = 204,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = start_quirks,
    .quirk_count = 3,
};
static const docker_op kill_op = {
    .what = "signal a container",
    .method = "POST",
    .expected = 204,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = kill_quirks,
    .quirk_count = 1,
};
static const docker_op wait_op = {
    .what = "wait for a container",
    .method = "POST",
    .expected = 200,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op remove_op = {
    .what = "remove a container",
    .method = "DELETE",
    .expected = 204,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op log_op = {
    .what = "read a container's log",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = LOG_MAX_BYTES,
};
static const docker_op changes_op = {
    .what = "list a container's changes",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_LIST_MAX_BYTES,
};

static docker_place container_at(const char *id, const char *rest)
{
    return (docker_place){.kind = "containers", .id = id, .rest = rest};
}

static int create_one(const docker_engine *engine, const cordon_container_spec *spec,
                      cordon_deadline dl, char **ret_id, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) body = cordon_buf_make(DOCKER_REQUEST_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_path(engine, &path, err, "/containers/create?") != 0 ||
        docker_path_query(&path, "name", spec->name, err) != 0 ||
        docker_encode_container(spec, &body, err) != 0 ||
        docker_call(engine, &create_op, &path, (docker_body){body.data, body.length}, dl, &response,
                    err) != 0)
        return -1;
    if (docker_decode_created(response.body.data, response.body.length, ret_id, err) == 0)
        return 0;
    cordon_err_wrap(err, "docker, %s", create_op.what);
    return -1;
}

/* A create takes one endpoint (see docker_encode.c); others follow before anybody sees the id. */
static int connect_others(docker_engine *engine, const cordon_container_spec *spec, const char *id,
                          cordon_deadline dl, cordon_err *err)
{
    for (size_t i = 1; i < spec->endpoint_count; i++) {
        const cordon_endpoint_spec *endpoint = &spec->endpoints[i];
        if (docker_network_connect(engine, endpoint->network_id, id, endpoint, dl, err) != 0)
            return -1;
    }
    return 0;
}

/* Docker 20.10 takes a first network that does not exist, and fails at the start. */
int docker_container_create(void *impl, const cordon_container_spec *spec, cordon_deadline dl,
                            char **ret_id, cordon_err *err)
{
    docker_engine *engine = impl;
    if (create_one(engine, spec, dl, ret_id, err) != 0)
        return -1;
    return connect_others(engine, spec, *ret_id, dl, err);
}

int docker_container_inspect(void *impl, const char *id, cordon_deadline dl,
                             cordon_container_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_container_facts) facts = {0};
    if (docker_call_id(impl, &inspect_op, container_at(id, "/json"), dl, &response, err) != 0)
        return -1;
    if (docker_decode_container(response.body.data, response.body.length, &facts, err) != 0) {
        cordon_err_wrap(err, "docker, inspect a container");
        return -1;
    }
    if (strcmp(facts.id, id) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, inspect a container: it answered for another one (%s)",
                           facts.id);
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

int docker_container_attach(void *impl, const char *id, unsigned flags, cordon_deadline dl,
                            cordon_stream **ret_stream, cordon_err *err)
{
    static const char *const headers[] = {"Connection: Upgrade", "Upgrade: tcp", NULL};
    const docker_engine *engine = impl;
    const char *with_stdin = (flags & CORDON_ATTACH_STDIN) != 0 ? "&stdin=1" : "";
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (docker_check_id(id, err) != 0 ||
        docker_path(engine, &path, err, "/containers/%s/attach?stream=1&stdout=1&stderr=1%s", id,
                    with_stdin) != 0)
        return -1;
    return docker_call_stream(engine, &attach_op, &path, headers, dl, ret_stream, err);
}

/* Docker sets a container up when it starts it, and its inspect tells what was asked for. */
int docker_container_prepare(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    (void)impl;
    (void)dl;
    if (docker_check_id(id, err) != 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                       "docker sets containers up when they are started");
}

int docker_container_runtime(void *impl, const char *id, const char *place, cordon_deadline dl,
                             cordon_runtime_facts *ret_facts, cordon_err *err)
{
    (void)impl;
    (void)place;
    (void)dl;
    (void)ret_facts;
    if (docker_check_id(id, err) != 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                       "docker keeps no configuration of its runtime before the start");
}

int docker_container_start(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    return docker_call_id(impl, &start_op, container_at(id, "/start"), dl, &response, err);
}

int docker_container_signal(void *impl, const char *id, const char *signal_name, cordon_deadline dl,
                            cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_check_id(id, err) != 0 ||
        docker_path(engine, &path, err, "/containers/%s/kill?", id) != 0 ||
        docker_path_query(&path, "signal", signal_name, err) != 0)
        return -1;
    return docker_call(engine, &kill_op, &path, (docker_body){0}, dl, &response, err);
}

/*
 * SECURITY: the word "not-running" answers 0 at once for a container that was never started, and
 * some other client may have started it again. The status counts only if the container's own
 * record shows a start, a later end, and the same number.
 */
static int confirm_exit(void *impl, const char *id, cordon_deadline dl, int code, cordon_err *err)
{
    cordon_auto(cordon_container_facts) facts = {0};
    if (docker_container_inspect(impl, id, dl, &facts, err) != 0)
        return -1;
    bool started = facts.started_at && facts.started_at[0] != '\0';
    bool finished = facts.finished_at && facts.finished_at[0] != '\0';
    if (!started || !finished || facts.state != CORDON_STATE_EXITED)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, wait for a container: it says that it ended, but its state is "
                           "%s%s",
                           cordon_run_state_name(facts.state), started ? "" : ", never started");
    if (!facts.exit_code.known || facts.exit_code.value != code)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, wait for a container: exit status %d, but its record has "
                           "another one",
                           code);
    return 0;
}

int docker_container_wait(void *impl, const char *id, cordon_deadline dl, int *ret_exit_code,
                          cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    int code = 0;
    if (docker_call_id(impl, &wait_op, container_at(id, "/wait?condition=not-running"), dl,
                       &response, err) != 0)
        return -1;
    if (docker_decode_exit(response.body.data, response.body.length, &code, err) != 0) {
        cordon_err_wrap(err, "docker, wait for a container");
        return -1;
    }
    if (confirm_exit(impl, id, dl, code, err) != 0)
        return -1;
    *ret_exit_code = code;
    return 0;
}

int docker_container_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    return docker_call_id(impl, &remove_op, container_at(id, "?force=1&v=1"), dl, &response, err);
}

/* Keeps the last `limit` bytes of what a log demultiplexes to. */
typedef struct docker_tail {
    cordon_buf text;
    size_t limit;
} docker_tail;

static int keep_tail(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    docker_tail *tail = context;
    (void)stream; /* both, in the order of the log */
    if (cordon_buf_append(&tail->text, bytes, length, err) != 0)
        return -1;
    if (tail->text.length > tail->limit)
        cordon_buf_consume(&tail->text, tail->text.length - tail->limit);
    return 0;
}

static int demultiplex(const cordon_buf *body, docker_tail *tail, cordon_err *err)
{
    cordon_stdcopy demux;
    cordon_stdcopy_init(&demux, keep_tail, tail);
    if (cordon_stdcopy_feed(&demux, body->data, body->length, err) != 0)
        return -1;
    return cordon_stdcopy_finish(&demux, err);
}

int docker_container_log(void *impl, const char *id, size_t limit, cordon_deadline dl,
                         char **ret_text, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_call_id(impl, &log_op,
                       container_at(id, "/logs?stdout=1&stderr=1&follow=0&tail=1000"), dl,
                       &response, err) != 0)
        return -1;
    docker_tail tail = {.text = cordon_buf_make(LOG_MAX_BYTES), .limit = limit};
    int rc = demultiplex(&response.body, &tail, err);
    if (rc == 0)
        rc = cordon_buf_take(&tail.text, ret_text, NULL, err);
    else
        cordon_err_wrap(err, "docker, read a container's log");
    cordon_buf_clear(&tail.text);
    return rc;
}

int docker_container_changes(void *impl, const char *id, cordon_deadline dl,
                             cordon_changes *ret_changes, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_call_id(impl, &changes_op, container_at(id, "/changes"), dl, &response, err) != 0)
        return -1;
    if (cordon_changes_read(response.body.data, response.body.length, ret_changes, err) == 0)
        return 0;
    cordon_err_wrap(err, "docker, list a container's changes");
    return -1;
}

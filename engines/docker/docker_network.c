/* SPDX-License-Identifier: Apache-2.0 */
/* The network operations of engine.h over Docker's REST API, and the lists of all kinds. */
#include "docker_internal.h"

#include <string.h>

#include "docker_decode.h"
#include "kit/jsonw.h"

#define JSON_TYPE "Content-Type: application/json"

/* 403 up to 20.10, 400 and 403 later: the text is the constant. */
static const docker_quirk create_quirks[] = {
    {0, "overlap", CORDON_ERR_OVERLAP},
};

/* "endpoint with name ... already exists", "is already attached to network". */
static const docker_quirk connect_quirks[] = {
    {403, "already", CORDON_ERR_CONFLICT},
    {500, "already", CORDON_ERR_CONFLICT},
};

static const docker_quirk remove_quirks[] = {
    {0, "has active endpoints", CORDON_ERR_CONFLICT},
};

static const docker_op create_op = {
    .what = "create a network",
    .method = "POST",
    .content_type = JSON_TYPE,
    .expected = 201,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = create_quirks,
    .quirk_count = 1,
};
static const docker_op inspect_op = {
    .what = "inspect a network",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_ANSWER_MAX_BYTES,
};
static const docker_op connect_op = {
    .what = "connect a container to a network",
    .method = "POST",
    .content_type = JSON_TYPE,
    .expected = 200,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = connect_quirks,
    .quirk_count = 2,
};
static const docker_op remove_op = {
    .what = "remove a network",
    .method = "DELETE",
    .expected = 204,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = remove_quirks,
    .quirk_count = 1,
};
static const docker_op list_op = {
    .what = "list objects",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_LIST_MAX_BYTES,
};

static docker_place network_at(const char *id, const char *rest)
{
    return (docker_place){.kind = "networks", .id = id, .rest = rest};
}

/* Docker answers with the id alone. */
int docker_network_create(void *impl, const cordon_network_spec *spec, cordon_deadline dl,
                          char **ret_id, cordon_network_facts *ret_facts, cordon_err *err)
{
    (void)ret_facts;
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) body = cordon_buf_make(DOCKER_REQUEST_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_path(engine, &path, err, "/networks/create") != 0 ||
        docker_encode_network(spec, &body, err) != 0 ||
        docker_call(engine, &create_op, &path, (docker_body){body.data, body.length}, dl, &response,
                    err) != 0)
        return -1;
    if (docker_decode_created(response.body.data, response.body.length, ret_id, err) == 0)
        return 0;
    cordon_err_wrap(err, "docker, %s", create_op.what);
    return -1;
}

int docker_network_inspect(void *impl, const char *id, cordon_deadline dl,
                           cordon_network_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_network_facts) facts = {0};
    if (docker_call_id(impl, &inspect_op, network_at(id, ""), dl, &response, err) != 0)
        return -1;
    if (docker_decode_network(response.body.data, response.body.length, &facts, err) != 0) {
        cordon_err_wrap(err, "docker, inspect a network");
        return -1;
    }
    /* SECURITY: Docker looks names up, too; a network that is named like our id is another one */
    if (strcmp(facts.id, id) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                           "docker, inspect a network: none has this id (%s is named so)",
                           facts.id);
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

int docker_network_connect(void *impl, const char *network_id, const char *container_id,
                           const cordon_endpoint_spec *endpoint, cordon_deadline dl,
                           cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) body = cordon_buf_make(DOCKER_REQUEST_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_check_id(network_id, err) != 0 || docker_check_id(container_id, err) != 0 ||
        docker_path(engine, &path, err, "/networks/%s/connect", network_id) != 0 ||
        docker_encode_connect(container_id, endpoint, &body, err) != 0)
        return -1;
    return docker_call(engine, &connect_op, &path, (docker_body){body.data, body.length}, dl,
                       &response, err);
}

int docker_network_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    return docker_call_id(impl, &remove_op, network_at(id, ""), dl, &response, err);
}

/* {"label":["key=value"]}; {} filters nothing. */
static int write_filter(const char *label, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    if (label != NULL) {
        cordon_jsonw_begin_array(&w, "label");
        cordon_jsonw_string(&w, NULL, label);
        cordon_jsonw_end_array(&w);
    }
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

static const char *list_start(cordon_object_type type)
{
    switch (type) {
    case CORDON_OBJECT_CONTAINER:
        return "/containers/json?all=1&";
    case CORDON_OBJECT_NETWORK:
        return "/networks?";
    case CORDON_OBJECT_VOLUME:
        return "/volumes?";
    case CORDON_OBJECT_IMAGE:
    case CORDON_OBJECT_UNKNOWN:
    default:
        return NULL;
    }
}

int docker_list_by_label(void *impl, cordon_object_type type, const char *label, cordon_deadline dl,
                         cordon_list *ret_list, cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) filter = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    const char *start = list_start(type);
    if (!start)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "no such objects are listed");
    if (write_filter(label, &filter, err) != 0 ||
        docker_path(engine, &path, err, "%s", start) != 0 ||
        docker_path_query(&path, "filters", cordon_buf_text(&filter), err) != 0 ||
        docker_call(engine, &list_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    int result =
        type == CORDON_OBJECT_VOLUME
            ? docker_decode_volumes(response.body.data, response.body.length, ret_list, err)
            : docker_decode_list(type, response.body.data, response.body.length, ret_list, err);
    if (result != 0) {
        cordon_err_wrap(err, "docker, list objects");
        return -1;
    }
    return 0;
}

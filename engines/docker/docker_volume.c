/* SPDX-License-Identifier: Apache-2.0 */
/* The volume operations of engine.h over Docker's REST API. */
#include "docker_internal.h"

#include <string.h>

#include "docker_decode.h"
#include "kit/jsonw.h"

static const docker_op create_op = {
    .what = "create a volume",
    .method = "POST",
    .content_type = "Content-Type: application/json",
    .expected = 201,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op inspect_op = {
    .what = "inspect a volume",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_ANSWER_MAX_BYTES,
};
/* SECURITY: what is not found here is no volume. */
static const docker_quirk users_quirks[] = {
    {404, NULL, CORDON_ERR_PROTOCOL},
};
static const docker_op users_op = {
    .what = "list the containers of a volume",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_LIST_MAX_BYTES,
    .quirks = users_quirks,
    .quirk_count = 1,
};
static const docker_op remove_op = {
    .what = "remove a volume",
    .method = "DELETE",
    .expected = 204,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};

int docker_check_volume(const char *name, cordon_err *err)
{
    if (cordon_volume_is_name(name))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "\"%s\" is not a volume's name",
                       CORDON_QUOTE(name));
}

int docker_volume_create(void *impl, const cordon_volume_spec *spec, cordon_deadline dl,
                         cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) body = cordon_buf_make(DOCKER_REQUEST_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_path(engine, &path, err, "/volumes/create") != 0 ||
        docker_encode_volume(spec, &body, err) != 0)
        return -1;
    if (docker_call(engine, &create_op, &path, (docker_body){body.data, body.length}, dl, &response,
                    err) != 0)
        return -1;
    return docker_decode_volume_created(response.body.data, response.body.length, spec->name, err);
}

static int call_name(const docker_engine *engine, const docker_op *op, const char *name,
                     cordon_deadline dl, cordon_httpc_response *ret_response, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (docker_check_volume(name, err) != 0 ||
        docker_path(engine, &path, err, "/volumes/%s", name) != 0)
        return -1;
    return docker_call(engine, op, &path, (docker_body){0}, dl, ret_response, err);
}

/* {"volume":["NAME"]} */
static int write_filter(const char *name, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_begin_array(&w, "volume");
    cordon_jsonw_string(&w, NULL, name);
    cordon_jsonw_end_array(&w);
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

/* Containers in any state that name the volume; Docker counts one that has only been created. */
static int list_users(const docker_engine *engine, const char *name, cordon_deadline dl,
                      cordon_fact_list *ret_users, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_buf) filter = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (write_filter(name, &filter, err) != 0 ||
        docker_path(engine, &path, err, "/containers/json?all=1&") != 0 ||
        docker_path_query(&path, "filters", cordon_buf_text(&filter), err) != 0 ||
        docker_call(engine, &users_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    return docker_decode_users(response.body.data, response.body.length, ret_users, err);
}

int docker_volume_inspect(void *impl, const char *name, cordon_deadline dl,
                          cordon_volume_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_volume_facts) facts = {0};
    if (call_name(impl, &inspect_op, name, dl, &response, err) != 0)
        return -1;
    if (docker_decode_volume(response.body.data, response.body.length, &facts, err) != 0) {
        cordon_err_wrap(err, "docker, inspect a volume");
        return -1;
    }
    if (strcmp(facts.name, name) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                           "docker, inspect a volume: the answer is about %s",
                           CORDON_QUOTE(facts.name));
    if (list_users(impl, name, dl, &facts.users, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

int docker_volume_remove(void *impl, const char *name, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    return call_name(impl, &remove_op, name, dl, &response, err);
}

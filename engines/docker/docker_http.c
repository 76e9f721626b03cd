/* SPDX-License-Identifier: Apache-2.0 */
/* One request to the daemon, and what its refusals mean. */
#include "docker_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "docker_decode.h"
#include "kit/hash.h"

int docker_check_id(const char *id, cordon_err *err)
{
    if (strlen(id) == CORDON_ID_HEX && cordon_hex_is_lower(id, CORDON_ID_HEX))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "\"%s\" is not a full object id", CORDON_QUOTE(id));
}

int docker_path(const docker_engine *engine, cordon_buf *path, cordon_err *err, const char *format,
                ...)
{
    char *rest = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&rest, format, args);
    va_end(args);
    if (length < 0)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    cordon_autofree char *owned = rest;
    return cordon_buf_printf(path, err, "/v1.%u%s", engine->api_minor, owned);
}

int docker_path_query(cordon_buf *path, const char *name, const char *value, cordon_err *err)
{
    if (cordon_buf_append_text(path, name, err) != 0 || cordon_buf_append_char(path, '=', err) != 0)
        return -1;
    return cordon_httpc_escape(path, value, err);
}

static bool quirk_applies(const docker_quirk *quirk, int status, const char *message)
{
    bool status_fits = quirk->status == 0 || quirk->status == status;
    return status_fits && (!quirk->text || strstr(message, quirk->text));
}

static cordon_code code_of(const docker_op *op, int status, const char *message)
{
    for (size_t i = 0; i < op->quirk_count; i++) {
        if (quirk_applies(&op->quirks[i], status, message))
            return op->quirks[i].code;
    }
    /* SECURITY: an unknown path must not read as "the object is gone" */
    if (status == 404 && strcmp(message, "page not found") != 0)
        return CORDON_ERR_NOTFOUND;
    if (status == 409)
        return CORDON_ERR_CONFLICT;
    if (status != 404 && status >= 400 && status <= 599)
        return CORDON_ERR_ENGINE;
    return op->mutating ? CORDON_ERR_INDETERMINATE : CORDON_ERR_PROTOCOL;
}

/* Turns an answer that is not the expected one into an error that quotes the daemon. */
static int refuse(const docker_op *op, const cordon_httpc_response *response, cordon_err *err)
{
    char message[CORDON_ERR_MESSAGE_MAX - 160]; /* room for what stands before it */
    docker_decode_error(response->body.data, response->body.length, message, sizeof message);
    cordon_code code = code_of(op, response->status, message);
    cordon_err_set(err, code, response->status, "docker, %s: HTTP %d: %s", op->what,
                   response->status, message[0] != '\0' ? message : "no reason given");
    return -1;
}

static cordon_httpc_request request_of(const docker_op *op, const cordon_buf *path,
                                       docker_body body, const char *const *headers)
{
    return (cordon_httpc_request){
        .method = op->method,
        .path = cordon_buf_text(path),
        .headers = headers,
        .body = body.bytes,
        .body_length = body.length,
        .response_max_bytes = op->answer_max_bytes,
        .mutating = op->mutating,
    };
}

int docker_call(const docker_engine *engine, const docker_op *op, const cordon_buf *path,
                docker_body body, cordon_deadline dl, cordon_httpc_response *ret_response,
                cordon_err *err)
{
    const char *const headers[] = {op->content_type, NULL};
    cordon_httpc_request request = request_of(op, path, body, op->content_type ? headers : NULL);
    cordon_auto(cordon_httpc_response) response = {0};
    if (cordon_httpc_call(engine->http, &request, dl, &response, err) != 0) {
        cordon_err_wrap(err, "docker, %s", op->what);
        return -1;
    }
    if (response.status != op->expected)
        return refuse(op, &response, err);
    *ret_response = response;
    response = (cordon_httpc_response){0};
    return 0;
}

int docker_call_stream(const docker_engine *engine, const docker_op *op, const cordon_buf *path,
                       const char *const *headers, cordon_deadline dl, cordon_stream **ret_stream,
                       cordon_err *err)
{
    cordon_httpc_request request = request_of(op, path, (docker_body){0}, headers);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    if (cordon_httpc_stream(engine->http, &request, dl, &response, &stream, err) != 0) {
        cordon_err_wrap(err, "docker, %s", op->what);
        return -1;
    }
    if (!stream)
        return refuse(op, &response, err);
    *ret_stream = CORDON_TAKE(stream);
    return 0;
}

int docker_call_id(const docker_engine *engine, const docker_op *op, docker_place place,
                   cordon_deadline dl, cordon_httpc_response *ret_response, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (docker_check_id(place.id, err) != 0 ||
        docker_path(engine, &path, err, "/%s/%s%s", place.kind, place.id, place.rest) != 0)
        return -1;
    return docker_call(engine, op, &path, (docker_body){0}, dl, ret_response, err);
}

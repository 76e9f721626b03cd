/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to libpod, and what its answers mean: the table from error texts to codes. libpod
 * says 500 where others say 400, 404 or 409, so the reason decides; a reason that is not in the
 * table is an ENGINE error, never "gone" and never "done".
 */
#include "podman_internal.h"

#include <stdio.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/jsonr.h"
#include "kit/jsonw.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define ERROR_BODY_MAX ((size_t)65536)

/* libpod's 304: somebody else was there before us */
#define STATE_UNCHANGED "it is in that state already"

#define ON_ANYTHING                                                                                \
    (PODMAN_ON_CONTAINER | PODMAN_ON_NETWORK | PODMAN_ON_IMAGE | PODMAN_ON_BINDS | PODMAN_ON_VOLUME)

/*
 * cause     libpod's own error value (libpod/define/errors.go and its libraries), or
 * part      words that stand in the message
 * subjects  the requests that may read it so
 */
typedef struct meaning {
    const char *cause;
    const char *part;
    unsigned subjects;
    cordon_code code;
} meaning;

static const meaning meanings[] = {
    {"no such container", NULL, PODMAN_ON_CONTAINER, CORDON_ERR_NOTFOUND},
    /* of a container that is not there: libpod takes the id to its storage library as it is */
    {"layer not known", NULL, PODMAN_ON_FILES, CORDON_ERR_NOTFOUND},
    {"network not found", NULL, PODMAN_ON_NETWORK, CORDON_ERR_NOTFOUND},
    {"no such volume", NULL, PODMAN_ON_VOLUME, CORDON_ERR_NOTFOUND},
    {"volume is being used", NULL, PODMAN_ON_VOLUME, CORDON_ERR_CONFLICT},
    {"volume already exists", NULL, PODMAN_ON_VOLUME, CORDON_ERR_CONFLICT},
    {"image not known", NULL, PODMAN_ON_IMAGE, CORDON_ERR_NOTFOUND},
    {"that name is already in use", NULL, PODMAN_ON_CONTAINER, CORDON_ERR_CONFLICT},
    {"network already exists", NULL, PODMAN_ON_NETWORK, CORDON_ERR_CONFLICT},
    {"network is being used", NULL, PODMAN_ON_NETWORK, CORDON_ERR_CONFLICT},
    {"container state improper", NULL, PODMAN_ON_CONTAINER, CORDON_ERR_CONFLICT},
    {"container is stopped", NULL, PODMAN_ON_CONTAINER, CORDON_ERR_CONFLICT},
    /* a forced removal that raced the container's own end (it stays), or that failed half-way (it
       may be gone): asked again, libpod removes it or knows nothing of it */
    {NULL, "could not be stopped", PODMAN_ON_REMOVAL, CORDON_ERR_CONFLICT},
    {NULL, "cleaning up container", PODMAN_ON_REMOVAL, CORDON_ERR_CONFLICT},
    {NULL, "keep-id is only supported in rootless mode", PODMAN_ON_CONTAINER,
     CORDON_ERR_UNSUPPORTED},
    {NULL, "is already used on the host or by another config", PODMAN_ON_NETWORK,
     CORDON_ERR_OVERLAP},
    /* another container's interface went away while libpod looked whether the block is free: it
       made nothing, and the next block is as good */
    {NULL, "route ip+net: no such network interface", PODMAN_ON_NETWORK, CORDON_ERR_OVERLAP},
    /* bind sources: at create ("statfs /x: ..."), and by runc and crun at start */
    {"no such file or directory", "statfs ", PODMAN_ON_BINDS, CORDON_ERR_NOTFOUND},
    {NULL, "error mounting ", PODMAN_ON_BINDS, CORDON_ERR_NOTFOUND},
    {NULL, "cannot stat `", PODMAN_ON_BINDS, CORDON_ERR_NOTFOUND},
};

/* libpod's error body; texts point into doc or are "". */
typedef struct error_body {
    cordon_json_doc *doc;
    const char *cause;
    const char *message;
} error_body;

static void error_body_clear(error_body *body)
{
    cordon_json_free(body->doc);
    body->doc = NULL;
}
CORDON_DEFINE_AUTO(error_body, error_body_clear)

/* False for anything but {"cause": text, "message": text, ...}: some answers are plain text. */
static bool read_error_body(const cordon_buf *body, error_body *ret)
{
    cordon_err scratch = CORDON_ERR_INIT;
    cordon_json_string cause = {0};
    cordon_json_string message = {0};
    if (cordon_json_parse(body->data, body->length, ERROR_BODY_MAX, 0, &ret->doc, &scratch) != 0)
        return false;
    cordon_json root = cordon_json_root(ret->doc);
    if (cordon_json_get_string(root, "cause", &cause, &scratch) != 0 ||
        cordon_json_get_string(root, "message", &message, &scratch) != 0 ||
        message.has != CORDON_JSON_PRESENT)
        return false;
    ret->cause = cause.has == CORDON_JSON_PRESENT ? cause.text : "";
    ret->message = message.text;
    return true;
}

static bool means(const meaning *m, const error_body *body)
{
    if (m->cause && strcmp(m->cause, body->cause) != 0)
        return false;
    if (m->part == NULL)
        return true;
    if (strstr(body->message, m->part) == NULL)
        return false;
    /* what a runtime says of a bind source counts only when it says that nothing is there */
    return m->code != CORDON_ERR_NOTFOUND || strcasestr(body->message, "no such file") != NULL;
}

static const meaning *find_meaning(const error_body *body, unsigned subjects)
{
    for (size_t i = 0; i < COUNT(meanings); i++) {
        if ((meanings[i].subjects & subjects) != 0 && means(&meanings[i], body))
            return &meanings[i];
    }
    return NULL;
}

static cordon_code code_of(const podman_request *request, int status, const error_body *body)
{
    const meaning *m = find_meaning(body, request->subjects);
    if (m)
        return m->code;
    /* SECURITY: a 404 about another kind of object says nothing of the one that was named */
    if (status == 404 && find_meaning(body, ON_ANYTHING) == NULL)
        return CORDON_ERR_NOTFOUND;
    return status == 409 ? CORDON_ERR_CONFLICT : CORDON_ERR_ENGINE;
}

static int fail(podman *engine, const podman_request *request, int status, cordon_code code,
                const char *text, size_t length, cordon_err *err)
{
    char printable[320];
    cordon_err_set(err, code, status, "%s: %s: HTTP %d: %s", cordon_httpc_name(engine->http),
                   request->what, status,
                   cordon_err_printable(printable, sizeof printable, text, length));
    return -1;
}

/* An answer that is no answer to this request. After a change its effect is unknown. */
static int fail_unbelievable(podman *engine, const podman_request *request,
                             const cordon_httpc_response *response, const char *reason,
                             cordon_err *err)
{
    bool may_have_changed = request->mutating && response->status < 400;
    (void)fail(engine, request, response->status,
               may_have_changed ? CORDON_ERR_INDETERMINATE : CORDON_ERR_PROTOCOL, reason,
               strlen(reason), err);
    return -1;
}

static int fail_by_answer(podman *engine, const podman_request *request,
                          const cordon_httpc_response *response, cordon_err *err)
{
    cordon_auto(error_body) body = {.cause = "", .message = ""};
    int status = response->status;
    if (status == 304 && (request->subjects & PODMAN_ON_CONTAINER) != 0 && request->mutating)
        return fail(engine, request, status, CORDON_ERR_CONFLICT, STATE_UNCHANGED,
                    sizeof STATE_UNCHANGED - 1, err);
    if (status < 400 || status > 599)
        return fail_unbelievable(engine, request, response, "an unexpected status", err);
    if (read_error_body(&response->body, &body))
        return fail(engine, request, status, code_of(request, status, &body), body.message,
                    strlen(body.message), err);
    /* SECURITY: libpod's "no such object" is JSON; a bare 404 is another server's or path's */
    cordon_code code = status == 404 ? CORDON_ERR_PROTOCOL : CORDON_ERR_ENGINE;
    return fail(engine, request, status, code, cordon_buf_text(&response->body),
                response->body.length, err);
}

static void fill(const podman_request *request, const char *path, const char *const *headers,
                 cordon_httpc_request *ret)
{
    *ret = (cordon_httpc_request){
        .method = request->method,
        .path = path,
        .headers = headers,
        .body = request->body,
        .body_length = request->body_length,
        .response_max_bytes = request->max_bytes > 0 ? request->max_bytes : PODMAN_ANSWER_MAX,
        .mutating = request->mutating,
    };
}

int podman_call(podman *engine, const podman_request *request, cordon_deadline dl,
                cordon_httpc_response *ret_response, cordon_err *err)
{
    char type[64] = "";
    const char *headers[] = {NULL, NULL};
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_httpc_request http;
    if (request->type) {
        (void)snprintf(type, sizeof type, "Content-Type: %s", request->type);
        headers[0] = type;
    }
    if (cordon_buf_printf(&path, err, "%s%s", PODMAN_PREFIX, request->path) != 0)
        return -1;
    fill(request, cordon_buf_text(&path), headers, &http);
    if (cordon_httpc_call(engine->http, &http, dl, &response, err) != 0) {
        cordon_err_wrap(err, "%s", request->what);
        return -1;
    }
    if (response.status != request->want)
        return fail_by_answer(engine, request, &response, err);
    *ret_response = response;
    response = (cordon_httpc_response){0};
    return 0;
}

int podman_stream(podman *engine, const podman_request *request, cordon_deadline dl,
                  cordon_stream **ret_stream, cordon_err *err)
{
    static const char *const upgrade[] = {"Connection: Upgrade", "Upgrade: tcp", NULL};
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_httpc_request http;
    if (cordon_buf_printf(&path, err, "%s%s", PODMAN_PREFIX, request->path) != 0)
        return -1;
    fill(request, cordon_buf_text(&path), request->want == 101 ? upgrade : NULL, &http);
    if (cordon_httpc_stream(engine->http, &http, dl, &response, &stream, err) != 0) {
        cordon_err_wrap(err, "%s", request->what);
        return -1;
    }
    if (stream == NULL || (response.status != request->want && response.status != 200))
        return fail_by_answer(engine, request, &response, err);
    *ret_stream = CORDON_TAKE(stream);
    return 0;
}

int podman_need_id(const char *id, cordon_err *err)
{
    if (id && strlen(id) == CORDON_ID_HEX && cordon_hex_is_lower(id, CORDON_ID_HEX))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "\"%s\" is not a full id", CORDON_QUOTE(id));
}

int podman_unread_change(const char *what, cordon_err *err)
{
    if (err && err->code == CORDON_ERR_PROTOCOL)
        err->code = CORDON_ERR_INDETERMINATE;
    cordon_err_wrap(err, "%s: it was done and the answer cannot be read", what);
    return -1;
}

int podman_unread(const podman_request *request, cordon_err *err)
{
    cordon_err_wrap(err, "%s", request->what);
    return -1;
}

const char *podman_bare_id(const char *text)
{
    static const char scheme[] = "sha256:";
    size_t length = sizeof scheme - 1;
    return strncmp(text, scheme, length) == 0 ? text + length : text;
}

int podman_add_filter(cordon_buf *path, const char *key, const char *const *values, size_t count,
                      cordon_err *err)
{
    cordon_auto(cordon_buf) json = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_jsonw w;
    cordon_jsonw_init(&w, &json);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_begin_array(&w, key);
    for (size_t i = 0; i < count; i++)
        cordon_jsonw_string(&w, NULL, values[i]);
    cordon_jsonw_end_array(&w);
    cordon_jsonw_end_object(&w);
    if (cordon_jsonw_finish(&w, err) != 0 || cordon_buf_append_text(path, "filters=", err) != 0)
        return -1;
    return cordon_httpc_escape(path, cordon_buf_text(&json), err);
}

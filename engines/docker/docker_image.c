/* SPDX-License-Identifier: Apache-2.0 */
/* The image operations of engine.h over Docker's REST API. Nothing is ever pulled. */
#include "docker_internal.h"

#include <stdio.h>
#include <string.h>

#include "docker_decode.h"
#include "kit/hash.h"

#define REFERENCE_MAX 512U

static const docker_op resolve_op = {
    .what = "look an image up",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_ANSWER_MAX_BYTES,
};
static const docker_op load_op = {
    .what = "load an image",
    .method = "POST",
    .content_type = "Content-Type: application/x-tar",
    .expected = 200,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op remove_op = {
    .what = "remove an image",
    .method = "DELETE",
    .expected = 200,
    .mutating = true,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
static const docker_op list_op = {
    .what = "list images",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_LIST_MAX_BYTES,
};

/* SECURITY: a path is made of it; "..", "//" and everything a name cannot have are refused. */
static int check_reference(const char *reference, cordon_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-/:@";
    size_t length = strlen(reference);
    bool sound = length > 0 && length <= REFERENCE_MAX && strspn(reference, allowed) == length &&
                 !strchr("./-:@", reference[0]) && !strstr(reference, "..") &&
                 !strstr(reference, "//");
    if (sound)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "\"%s\" is not an image reference",
                       CORDON_QUOTE(reference));
}

/* The hex of "sha256:<hex>" or bare "<hex>", or NULL for a name. */
static const char *id_of(const char *reference)
{
    const char *hex = strncmp(reference, "sha256:", 7) == 0 ? reference + 7 : reference;
    bool is_id = strlen(hex) == CORDON_ID_HEX && cordon_hex_is_lower(hex, CORDON_ID_HEX);
    return is_id ? hex : NULL;
}

static int image_path(const docker_engine *engine, const char *reference, cordon_buf *path,
                      cordon_err *err)
{
    const char *hex = id_of(reference);
    if (docker_path(engine, path, err, "/images/") != 0)
        return -1;
    /* bare hex would be tried as a name, too */
    if (hex && cordon_buf_append_text(path, "sha256%3A", err) != 0)
        return -1;
    return cordon_httpc_escape(path, hex ? hex : reference, err) != 0
               ? -1
               : cordon_buf_append_text(path, "/json", err);
}

int docker_image_resolve(void *impl, const char *reference, cordon_deadline dl,
                         cordon_image_facts *ret_facts, cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_image_facts) facts = {0};
    if (check_reference(reference, err) != 0 || image_path(engine, reference, &path, err) != 0 ||
        docker_call(engine, &resolve_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    if (docker_decode_image(response.body.data, response.body.length, &facts, err) != 0) {
        cordon_err_wrap(err, "docker, look an image up");
        return -1;
    }
    const char *hex = id_of(reference);
    if (hex && strcmp(facts.id, hex) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "docker, look an image up: it answered for another one (%s)", facts.id);
    *ret_facts = facts;
    facts = (cordon_image_facts){0};
    return 0;
}

int docker_image_load(void *impl, const void *tar, size_t length, cordon_deadline dl,
                      cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (docker_path(engine, &path, err, "/images/load?quiet=1") != 0 ||
        docker_call(engine, &load_op, &path, (docker_body){tar, length}, dl, &response, err) != 0)
        return -1;
    return docker_decode_load(response.body.data, response.body.length, err);
}

int docker_image_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (docker_check_id(id, err) != 0 ||
        docker_path(impl, &path, err, "/images/sha256:%s?force=0&noprune=1", id) != 0)
        return -1;
    return docker_call(impl, &remove_op, &path, (docker_body){0}, dl, &response, err);
}

int docker_image_list(void *impl, cordon_deadline dl, cordon_image_list *ret_list, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (docker_path(impl, &path, err, "/images/json") != 0 ||
        docker_call(impl, &list_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    if (docker_decode_images(response.body.data, response.body.length, ret_list, err) == 0)
        return 0;
    cordon_err_wrap(err, "docker, list images");
    return -1;
}

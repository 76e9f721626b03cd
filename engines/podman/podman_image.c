/* SPDX-License-Identifier: Apache-2.0 */
/* Images: look up, load, remove. Nothing is ever pulled. */
#include "podman_internal.h"

#include <string.h>

#include "kit/hash.h"
#include "kit/jsonr.h"
#include "podman_decode.h"

static bool is_id(const char *text)
{
    return strlen(text) == CORDON_ID_HEX && cordon_hex_is_lower(text, CORDON_ID_HEX);
}

static int inspect(podman *engine, const char *reference, cordon_deadline dl,
                   cordon_image_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (cordon_buf_append_text(&path, "/images/", err) != 0 ||
        cordon_httpc_escape(&path, reference, err) != 0 ||
        cordon_buf_append_text(&path, "/json", err) != 0)
        return -1;
    podman_request request = {
        .what = "inspect image",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_IMAGE,
        .want = 200,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_image(answer.body.data, answer.body.length, ret_facts, err) != 0)
        return podman_unread(&request, err);
    return 0;
}

/* True when one of the image's digests ends in the reference's "@sha256:...". */
static bool has_digest(const cordon_image_facts *facts, const char *digest)
{
    for (size_t i = 0; i < facts->digests.count; i++) {
        const char *at = strrchr(facts->digests.items[i], '@');
        if (at && strcmp(at, digest) == 0)
            return true;
    }
    return false;
}

/* SECURITY: libpod also takes names and unique prefixes; what it found must be what was asked. */
static int check_found(const char *reference, const cordon_image_facts *facts, cordon_err *err)
{
    const char *bare = podman_bare_id(reference);
    const char *digest = strrchr(reference, '@');
    if (is_id(bare) && strcmp(bare, facts->id) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no image has the id %s", bare);
    if (digest && !has_digest(facts, digest))
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no image here has the digest of %s",
                           CORDON_QUOTE(reference));
    return 0;
}

int podman_image_resolve(void *impl, const char *reference, cordon_deadline dl,
                         cordon_image_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    const char *bare = podman_bare_id(reference);
    if (*reference == '\0')
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "an image reference without text");
    if (inspect(impl, is_id(bare) ? bare : reference, dl, &facts, err) != 0 ||
        check_found(reference, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_image_facts){0};
    return 0;
}

/* {"Names": [...]}: at least one image came out of it. */
static int read_loaded(const cordon_buf *body, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json names;
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_need_array(cordon_json_root(doc), "Names", &names, err) != 0)
        return podman_unread_change("load image", err);
    if (cordon_json_count(names) == 0)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "load image: nothing was loaded");
    return 0;
}

int podman_image_load(void *impl, const void *tar, size_t length, cordon_deadline dl,
                      cordon_err *err)
{
    cordon_auto(cordon_httpc_response) answer = {0};
    podman_request request = {
        .what = "load image",
        .method = "POST",
        .path = "/images/load",
        .body = tar,
        .body_length = length,
        .type = "application/x-tar",
        .subjects = PODMAN_ON_IMAGE,
        .want = 200,
        .mutating = true,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_loaded(&answer.body, err);
}

/* {"Deleted": [...], "Errors": [...]}: a failure may stand inside of a success. */
static int read_removed(const cordon_buf *body, const char *id, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place errors = {0};
    cordon_json_string text = {0};
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_get_array(cordon_json_root(doc), "Errors", &errors, err) != 0)
        return podman_unread_change("remove image", err);
    if (errors.has != CORDON_JSON_PRESENT || cordon_json_count(errors.value) == 0)
        return 0;
    cordon_json_iter it = cordon_json_iterate(errors.value);
    if (!cordon_json_next(&it) || cordon_json_as_string(it.value, &text, err) != 0)
        return podman_unread_change("remove image", err);
    return CORDON_FAIL(err, CORDON_ERR_ENGINE, "remove image %s: %s", id,
                       CORDON_QUOTE(text.has == CORDON_JSON_PRESENT ? text.text : ""));
}

/*
 * SECURITY: libpod removes untagged parents along with an image and has no way to leave them
 * (Docker's noprune is ignored). An image of one layer has no parent; what has more is not ours.
 */
static int check_orphan(podman *engine, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    if (inspect(engine, id, dl, &facts, err) != 0 || check_found(id, &facts, err) != 0)
        return -1;
    if (facts.layers.known && facts.layers.count <= 1)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                       "remove image %s: Podman would remove the images that it is built on, too",
                       id);
}

int podman_image_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (podman_need_id(id, err) != 0 ||
        cordon_buf_printf(&path, err, "/images/%s?force=false", id) != 0 ||
        check_orphan(impl, id, dl, err) != 0)
        return -1;
    podman_request request = {
        .what = "remove image",
        .method = "DELETE",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_IMAGE,
        .want = 200,
        .mutating = true,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_removed(&answer.body, id, err);
}

int podman_image_list(void *impl, cordon_deadline dl, cordon_image_list *ret_list, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) answer = {0};
    podman_request request = {
        .what = "list images",
        .method = "GET",
        .path = "/images/json",
        .want = 200,
        .max_bytes = PODMAN_LIST_MAX,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_images(answer.body.data, answer.body.length, ret_list, err) != 0)
        return podman_unread(&request, err);
    return 0;
}

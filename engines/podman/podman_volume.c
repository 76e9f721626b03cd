/* SPDX-License-Identifier: Apache-2.0 */
/* The volume operations of engine.h over libpod. */
#include "podman_internal.h"

#include <string.h>

#include "podman_decode.h"

int podman_need_volume(const char *name, cordon_err *err)
{
    if (cordon_volume_is_name(name))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "\"%s\" is not a volume's name",
                       CORDON_QUOTE(name));
}

static int path_of(cordon_buf *path, const char *name, const char *rest, cordon_err *err)
{
    if (podman_need_volume(name, err) != 0)
        return -1;
    return cordon_buf_printf(path, err, "/volumes/%s%s", name, rest);
}

int podman_volume_create(void *impl, const cordon_volume_spec *spec, cordon_deadline dl,
                         cordon_err *err)
{
    cordon_auto(cordon_buf) body = cordon_buf_make(PODMAN_BODY_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (podman_encode_volume(spec, &body, err) != 0)
        return -1;
    podman_request request = {
        .what = "create volume",
        .method = "POST",
        .path = "/volumes/create",
        .body = body.data,
        .body_length = body.length,
        .type = "application/json",
        .subjects = PODMAN_ON_VOLUME,
        .want = 201,
        .mutating = true,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_volume_created(answer.body.data, answer.body.length, spec->name, err) != 0)
        return podman_unread_change("create volume", err);
    return 0;
}

/* Containers in any state that name the volume. */
static int list_users(podman *engine, const char *name, cordon_deadline dl,
                      cordon_fact_list *ret_users, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (cordon_buf_append_text(&path, "/containers/json?all=true&", err) != 0 ||
        podman_add_filter(&path, "volume", &name, 1, err) != 0)
        return -1;
    podman_request request = {
        .what = "list the containers of a volume",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_VOLUME,
        .want = 200,
        .max_bytes = PODMAN_LIST_MAX,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0) {
        /* SECURITY: what is not found here is no volume. */
        if (err->code == CORDON_ERR_NOTFOUND)
            err->code = CORDON_ERR_PROTOCOL;
        return -1;
    }
    if (podman_decode_members(answer.body.data, answer.body.length, ret_users, err) != 0)
        return podman_unread(&request, err);
    return 0;
}

/* SECURITY: libpod takes unique prefixes, too; an answer about another name is no answer. */
static int inspect(podman *engine, const char *name, cordon_deadline dl,
                   cordon_volume_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_volume_facts) facts = {0};
    if (path_of(&path, name, "/json", err) != 0)
        return -1;
    podman_request request = {
        .what = "inspect volume",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_VOLUME,
        .want = 200,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_volume(answer.body.data, answer.body.length, &facts, err) != 0)
        return podman_unread(&request, err);
    if (strcmp(facts.name, name) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no volume has the name %s", name);
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

int podman_volume_inspect(void *impl, const char *name, cordon_deadline dl,
                          cordon_volume_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    if (inspect(impl, name, dl, &facts, err) != 0 ||
        list_users(impl, name, dl, &facts.users, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

/* SECURITY: so it is looked at before: where ours is gone, its name may be the start of another's.
 */
int podman_volume_remove(void *impl, const char *name, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_volume_facts) facts = {0};
    if (inspect(impl, name, dl, &facts, err) != 0 || path_of(&path, name, "", err) != 0)
        return -1;
    podman_request request = {
        .what = "remove volume",
        .method = "DELETE",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_VOLUME,
        .want = 204,
        .mutating = true,
    };
    return podman_call(impl, &request, dl, &answer, err);
}

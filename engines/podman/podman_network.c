/* SPDX-License-Identifier: Apache-2.0 */
/* Networks, and the list of what carries a label. */
#include "podman_internal.h"

#include <string.h>

#include "kit/jsonr.h"
#include "podman_decode.h"

static int path_of(cordon_buf *path, const char *format, const char *id, cordon_err *err)
{
    if (podman_need_id(id, err) != 0)
        return -1;
    return cordon_buf_printf(path, err, "/networks/%s%s", id, format);
}

/* A create answers with the network as an inspect does. */
static int read_created(const cordon_buf *body, char **ret_id, cordon_network_facts *ret_facts,
                        cordon_err *err)
{
    cordon_auto(cordon_network_facts) facts = {0};
    if (podman_decode_network(body->data, body->length, &facts, err) != 0)
        return podman_unread_change("create network", err);
    if (!ret_facts) {
        *ret_id = CORDON_TAKE(facts.id);
        return 0;
    }
    *ret_id = strdup(facts.id);
    if (!*ret_id)
        return podman_unread_change("create network", err);
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

int podman_network_create(void *impl, const cordon_network_spec *spec, cordon_deadline dl,
                          char **ret_id, cordon_network_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_buf) body = cordon_buf_make(PODMAN_BODY_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (podman_encode_network(spec, &body, err) != 0)
        return -1;
    podman_request request = {
        .what = "create network",
        .method = "POST",
        .path = "/networks/create",
        .body = body.data,
        .body_length = body.length,
        .type = "application/json",
        .subjects = PODMAN_ON_NETWORK,
        .want = 200,
        .mutating = true,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_created(&answer.body, ret_id, ret_facts, err);
}

/*
 * Containers in any state that are attached to a network. libpod keeps attachments by the
 * network's name: what hangs on a removed network of the same name counts, too.
 */
static int list_members(podman *engine, const char *id, cordon_deadline dl,
                        cordon_fact_list *ret_ids, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (cordon_buf_append_text(&path, "/containers/json?all=true&", err) != 0 ||
        podman_add_filter(&path, "network", &id, 1, err) != 0)
        return -1;
    podman_request request = {
        .what = "list the containers of a network",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_NETWORK,
        .want = 200,
        .max_bytes = PODMAN_LIST_MAX,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_members(answer.body.data, answer.body.length, ret_ids, err) != 0)
        return podman_unread(&request, err);
    return 0;
}

/* SECURITY: libpod takes names and unique prefixes, too; an answer about another id is no answer.
 */
static int inspect(podman *engine, const char *id, cordon_deadline dl,
                   cordon_network_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_network_facts) facts = {0};
    if (path_of(&path, "/json", id, err) != 0)
        return -1;
    podman_request request = {
        .what = "inspect network",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_NETWORK,
        .want = 200,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_network(answer.body.data, answer.body.length, &facts, err) != 0)
        return podman_unread(&request, err);
    if (strcmp(facts.id, id) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no network has the id %s", id);
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

static bool holds(const cordon_fact_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0)
            return true;
    }
    return false;
}

/*
 * SECURITY: Podman 5 answers the question twice, from what is configured and from what runs; who
 * is in either answer is on the network. Podman 4 has the former alone.
 */
static int add_members(cordon_fact_list *members, const cordon_fact_list *others, cordon_err *err)
{
    for (size_t i = 0; i < others->count; i++) {
        if (!holds(members, others->items[i]) &&
            cordon_fact_list_add(members, others->items[i], err) != 0)
            return -1;
    }
    cordon_fact_list_known(members);
    cordon_fact_list_sort(members);
    return 0;
}

int podman_network_inspect(void *impl, const char *id, cordon_deadline dl,
                           cordon_network_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_network_facts) facts = {0};
    cordon_auto(cordon_fact_list) configured = {0};
    if (inspect(impl, id, dl, &facts, err) != 0 ||
        list_members(impl, id, dl, &configured, err) != 0 ||
        add_members(&facts.endpoints, &configured, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

int podman_network_connect(void *impl, const char *network_id, const char *container_id,
                           const cordon_endpoint_spec *endpoint, cordon_deadline dl,
                           cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_buf) body = cordon_buf_make(PODMAN_BODY_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    if (path_of(&path, "/connect", network_id, err) != 0 ||
        podman_need_id(container_id, err) != 0 ||
        podman_encode_connect(container_id, endpoint, &body, err) != 0)
        return -1;
    podman_request request = {
        .what = "connect a container to a network",
        .method = "POST",
        .path = cordon_buf_text(&path),
        .body = body.data,
        .body_length = body.length,
        .type = "application/json",
        .subjects = PODMAN_ON_NETWORK | PODMAN_ON_CONTAINER,
        .want = 200,
        .mutating = true,
    };
    return podman_call(impl, &request, dl, &answer, err);
}

/* [{"Name": as given, "Err": null or text}]: a failure inside of a success. */
static int read_removed(const cordon_buf *body, const char *id, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place list = {0};
    cordon_json_place failure = {0};
    const char *name = NULL;
    if (cordon_json_parse(body->data, body->length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &list, err) != 0)
        return podman_unread_change("remove network", err);
    cordon_json_iter it = cordon_json_iterate(list.value);
    if (!cordon_json_next(&it))
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "remove network %s: nothing was removed", id);
    if (cordon_json_need_string(it.value, "Name", &name, err) != 0 ||
        cordon_json_get_any(it.value, "Err", &failure, err) != 0)
        return podman_unread_change("remove network", err);
    if (strcmp(name, id) == 0 && failure.has != CORDON_JSON_PRESENT)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_ENGINE, "remove network %s: Podman reports a failure", id);
}

/*
 * SECURITY: a delete by id does not ask whether the network is in use and takes it away under
 * running containers, so its users are asked for first. Between the two somebody may still
 * attach; libpod has no way to exclude that.
 */
int podman_network_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_network_facts) facts = {0};
    if (path_of(&path, "", id, err) != 0 || podman_network_inspect(impl, id, dl, &facts, err) != 0)
        return -1;
    if (facts.endpoints.count > 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT,
                           "remove network %s: %zu containers are attached, %s is one", id,
                           facts.endpoints.count, facts.endpoints.items[0]);
    podman_request request = {
        .what = "remove network",
        .method = "DELETE",
        .path = cordon_buf_text(&path),
        .subjects = PODMAN_ON_NETWORK,
        .want = 200,
        .mutating = true,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    return read_removed(&answer.body, id, err);
}

static const char *list_start(cordon_object_type type)
{
    switch (type) {
    case CORDON_OBJECT_CONTAINER:
        return "/containers/json?all=true&";
    case CORDON_OBJECT_NETWORK:
        return "/networks/json?";
    case CORDON_OBJECT_VOLUME:
        return "/volumes/json?";
    case CORDON_OBJECT_IMAGE:
    case CORDON_OBJECT_UNKNOWN:
    default:
        return NULL;
    }
}

int podman_list_by_label(void *impl, cordon_object_type type, const char *label, cordon_deadline dl,
                         cordon_list *ret_list, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    cordon_auto(cordon_httpc_response) answer = {0};
    const char *start = list_start(type);
    if (!start)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "no such objects can be listed");
    if (cordon_buf_append_text(&path, start, err) != 0 ||
        (label != NULL && podman_add_filter(&path, "label", &label, 1, err) != 0))
        return -1;
    podman_request request = {
        .what = "list by label",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .want = 200,
        .max_bytes = PODMAN_LIST_MAX,
    };
    if (podman_call(impl, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_list(answer.body.data, answer.body.length, type, ret_list, err) != 0)
        return podman_unread(&request, err);
    return 0;
}

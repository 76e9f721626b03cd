/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test's own conversation with the engine, beside the engine code under test: what is there,
 * and changes that somebody else might make.
 */
#include "real.h"

#include <stdlib.h>
#include <unistd.h>

#include "owner.h"

#define ANSWER_MAX (16U << 20)
#define PATH_ROOM  4096

static const char *prefix(void)
{
    return real_is_docker() ? "/v1.41" : "/v4.0.0/libpod";
}

static bool rest_send(const char *method, const char *path, const char *body,
                      cordon_httpc_response *ret_answer)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    char whole[PATH_ROOM];
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(whole, sizeof whole, "%s%s", prefix(), path);
    const cordon_httpc_request request = {
        .method = method,
        .path = whole,
        .headers = body ? headers : NULL,
        .body = body,
        .body_length = body ? strlen(body) : 0,
        .response_max_bytes = ANSWER_MAX,
    };
    return CHECK_OK(cordon_httpc_call(real.rest, &request, real_soon(), ret_answer, &err), err);
}

bool rest_text(const char *path, int *ret_status, cordon_buf *ret_text)
{
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err err = CORDON_ERR_INIT;
    *ret_status = 0;
    if (!rest_send("GET", path, NULL, &answer))
        return false;
    *ret_status = answer.status;
    return CHECK_OK(cordon_buf_append(ret_text, answer.body.data, answer.body.length, &err), err);
}

bool rest_call(const char *method, const char *path, const char *body, int *ret_status,
               cordon_json_doc **ret_answer)
{
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err err = CORDON_ERR_INIT;
    *ret_status = 0;
    if (!rest_send(method, path, body, &answer))
        return false;
    *ret_status = answer.status;
    if (answer.status / 100 != 2)
        printf("    %s %s: %d %.300s\n", method, path, answer.status,
               cordon_buf_text(&answer.body));
    if (!ret_answer)
        return true;
    return CHECK_OK(
        cordon_json_parse(answer.body.data, answer.body.length, ANSWER_MAX, 0, ret_answer, &err),
        err);
}

bool rest_ok(const char *method, const char *path, const char *body)
{
    int status = 0;
    return rest_call(method, path, body, &status, NULL) &&
           TEST_RECORDF(status / 100 == 2, "%s %s: %d", method, path, status);
}

/* --- What is there ---------------------------------------------------------------------------- */

/* A list: of what, where, below which member of the answer, and by which key it is told apart. */
typedef struct real_listing {
    const char *type;
    const char *path;
    const char *member;
    const char *key;
} real_listing;

static const real_listing docker_listings[] = {
    {"container", "/containers/json?all=true", NULL, "Id"},
    {"network", "/networks", NULL, "Id"},
    {"volume", "/volumes", "Volumes", "Name"},
};
static const real_listing podman_listings[] = {
    {"container", "/containers/json?all=true", NULL, "Id"},
    {"network", "/networks/json", NULL, "id"},
    {"volume", "/volumes/json", NULL, "Name"},
};

static bool add_listing(const real_listing *listing, cordon_fact_list *lines)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    int status = 0;
    if (!rest_call("GET", listing->path, NULL, &status, &doc) || !CHECK(status == 200))
        return false;
    cordon_json at = cordon_json_root(doc);
    if (listing->member && !json_find(doc, listing->member, &at))
        return true;
    for (cordon_json_iter it = cordon_json_iterate(at); cordon_json_next(&it);) {
        const char *name = NULL;
        if (!CHECK_OK(cordon_json_need_string(it.value, listing->key, &name, &err), err) ||
            !CHECK_OK(cordon_fact_list_addf(lines, &err, "%s %s", listing->type, name), err))
            return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

bool real_objects(cordon_fact_list *ret_lines)
{
    const real_listing *listings = real_is_docker() ? docker_listings : podman_listings;
    cordon_fact_list_known(ret_lines);
    for (size_t i = 0; i < 3; i++) {
        if (!add_listing(&listings[i], ret_lines))
            return false;
    }
    if (ret_lines->count > 0)
        qsort(ret_lines->items, ret_lines->count, sizeof ret_lines->items[0], by_text);
    return true;
}

/* --- A run's objects -------------------------------------------------------------------------- */

static void note_object(const cordon_listed *item, real_ids *ids, char invocation[40],
                        const real_ids *known, size_t known_count)
{
    const char *role = cordon_fact_map_get(&item->labels, CORDON_LABEL_ROLE);
    const char *owner = cordon_fact_map_get(&item->labels, CORDON_LABEL_INVOCATION);
    const struct {
        const char *role;
        char *id;
    } slots[] = {{"step", ids->step},
                 {"proxy", ids->proxy},
                 {"vendor-network", ids->vendor_network},
                 {"egress-network", ids->egress_network}};
    for (size_t i = 0; i < known_count; i++) {
        if (strcmp(known[i].step, item->id) == 0)
            return;
    }
    if (!role || !owner)
        return;
    if (invocation[0] == '\0' && strcmp(role, "step") == 0)
        (void)snprintf(invocation, 40, "%s", owner);
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(slots[i].role, role) == 0 && strcmp(owner, invocation) == 0)
            (void)snprintf(slots[i].id, CORDON_ID_HEX + 1, "%s", item->id);
    }
}

bool real_find_run(const real_ids *known, size_t known_count, real_ids *ret_ids)
{
    static const cordon_object_type order[] = {CORDON_OBJECT_CONTAINER, CORDON_OBJECT_CONTAINER,
                                               CORDON_OBJECT_NETWORK};
    char invocation[40] = "";
    *ret_ids = (real_ids){0};
    /* Containers twice: the step tells the invocation, and may come after its proxy. */
    for (size_t pass = 0; pass < 3; pass++) {
        cordon_auto(cordon_list) list = {0};
        cordon_err err = CORDON_ERR_INIT;
        if (!CHECK_OK(real.ops->list_by_label(real.impl, order[pass], CORDON_LABEL_OWNER "=uid-0",
                                              real_soon(), &list, &err),
                      err))
            return false;
        for (size_t i = 0; i < list.count; i++)
            note_object(&list.items[i], ret_ids, invocation, known, known_count);
    }
    return CHECK(ret_ids->step[0] && ret_ids->proxy[0] && ret_ids->vendor_network[0] &&
                 ret_ids->egress_network[0]);
}

/* --- Objects of the test's own ---------------------------------------------------------------- */

static bool make_foreign(const char *path, const char *body, const char *key, char ret_id[65])
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *id = NULL;
    int status = 0;
    ret_id[0] = '\0';
    if (!rest_call("POST", path, body, &status, &doc) || !CHECK(status / 100 == 2) ||
        !CHECK_OK(cordon_json_need_string(cordon_json_root(doc), key, &id, &err), err))
        return false;
    (void)snprintf(ret_id, 65, "%s", id);
    return true;
}

bool real_foreign_container(const char *name, const char *command, const char *labels,
                            char ret_id[65])
{
    char path[256];
    char body[1024];
    command = command ? command : "[\"sleep\",\"600\"]";
    labels = labels ? labels : "{}";
    if (real_is_docker())
        (void)snprintf(body, sizeof body, "{\"Image\":\"%s\",\"Cmd\":%s,\"Labels\":%s}", real.image,
                       command, labels);
    else
        (void)snprintf(body, sizeof body,
                       "{\"name\":\"%s\",\"image\":\"%s\",\"command\":%s,"
                       "\"netns\":{\"nsmode\":\"bridge\"},\"labels\":%s}",
                       name, real.image + strlen("sha256:"), command, labels);
    (void)snprintf(path, sizeof path, "/containers/create%s%s", real_is_docker() ? "?name=" : "",
                   real_is_docker() ? name : "");
    if (!make_foreign(path, body, "Id", ret_id))
        return false;
    (void)snprintf(path, sizeof path, "/containers/%s/start", ret_id);
    return rest_ok("POST", path, NULL);
}

bool real_foreign_network(const char *name, const char *subnet, char ret_id[65])
{
    char body[512];
    if (real_is_docker()) {
        (void)snprintf(body, sizeof body,
                       "{\"Name\":\"%s\",\"Driver\":\"bridge\","
                       "\"IPAM\":{\"Config\":[{\"Subnet\":\"%s\"}]}}",
                       name, subnet);
        return make_foreign("/networks/create", body, "Id", ret_id);
    }
    (void)snprintf(body, sizeof body,
                   "{\"name\":\"%s\",\"driver\":\"bridge\",\"subnets\":[{\"subnet\":\"%s\"}]}",
                   name, subnet);
    return make_foreign("/networks/create", body, "id", ret_id);
}

/* libpod may be busy with the end of a container that has just exited, and says 500 then. */
void real_remove_container(const char *id)
{
    char path[160];
    cordon_deadline until = real_soon();
    int status = 0;
    if (id[0] == '\0')
        return;
    (void)snprintf(path, sizeof path, "/containers/%s?force=true%s", id,
                   real_is_docker() ? "&v=true" : "&timeout=0&volumes=true");
    while (rest_call("DELETE", path, NULL, &status, NULL) && status == 500 &&
           !cordon_deadline_passed(until))
        (void)usleep(100000);
    TEST_RECORDF(status / 100 == 2, "%s is not removed: %d", id, status);
}

void real_remove_network(const char *id)
{
    char path[160];
    if (id[0] == '\0')
        return;
    (void)snprintf(path, sizeof path, "/networks/%s", id);
    CHECK(rest_ok("DELETE", path, NULL));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's operations: engine.h in memory. */
#include "support/fake_engine.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "owner.h"
#include "support/fake_impl.h"

#define ROLE_LABEL CORDON_LABEL_ROLE "="

/* --- Making and finding -------------------------------------------------------------------- */

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static fake_engine *all;

fake_engine *fake_engine_new(void)
{
    fake_engine *fake = calloc(1, sizeof *fake);
    if (!fake)
        return NULL;
    fake->pairs = stream_pairs_new();
    if (!fake->pairs) {
        free(fake);
        return NULL;
    }
    (void)pthread_mutex_init(&fake->lock, NULL);
    (void)pthread_cond_init(&fake->changed, NULL);
    (void)snprintf(fake->endpoint, sizeof fake->endpoint, "unix://%s",
                   stream_pairs_path(fake->pairs));
    (void)snprintf(fake->images[fake->image_count++].id, CORDON_ID_HEX + 1, "%s", FAKE_IMAGE_ID);
    (void)pthread_mutex_lock(&all_lock);
    fake->next = all;
    all = fake;
    (void)pthread_mutex_unlock(&all_lock);
    return fake;
}

static void forget(const fake_engine *fake)
{
    (void)pthread_mutex_lock(&all_lock);
    for (fake_engine **at = &all; *at; at = &(*at)->next) {
        if (*at == fake) {
            *at = fake->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&all_lock);
}

void fake_engine_free(fake_engine *fake)
{
    if (!fake)
        return;
    forget(fake);
    fake_engine_end_events(fake);
    for (size_t i = 0; i < fake->container_count; i++) {
        fake_container *c = fake->containers[i];
        fake_process_stop(c);
        if (c->peer >= 0)
            (void)close(c->peer);
        fake_arena_clear(&c->arena);
        free(c);
    }
    for (size_t i = 0; i < fake->network_count; i++) {
        fake_arena_clear(&fake->networks[i]->arena);
        free(fake->networks[i]);
    }
    for (size_t i = 0; i < fake->volume_count; i++) {
        fake_arena_clear(&fake->volumes[i]->arena);
        free(fake->volumes[i]);
    }
    stream_pairs_free(fake->pairs);
    fake_arena_clear(&fake->log_texts);
    fake_arena_clear(&fake->event_log);
    cordon_fact_list_clear(&fake->argv);
    cordon_fact_list_clear(&fake->environment);
    cordon_fact_list_clear(&fake->files);
    cordon_fact_list_clear(&fake->rules);
    free(fake->working_dir);
    (void)pthread_cond_destroy(&fake->changed);
    (void)pthread_mutex_destroy(&fake->lock);
    free(fake);
}

const char *fake_engine_endpoint(const fake_engine *fake)
{
    return fake->endpoint;
}

const char *fake_engine_socket(const fake_engine *fake)
{
    return stream_pairs_path(fake->pairs);
}

static fake_engine *find_fake(const char *endpoint)
{
    (void)pthread_mutex_lock(&all_lock);
    fake_engine *found = all;
    while (found && strcmp(found->endpoint, endpoint) != 0)
        found = found->next;
    (void)pthread_mutex_unlock(&all_lock);
    return found;
}

/* --- The frame around every operation ------------------------------------------------------ */

/* With the lock held. */
static const fake_fault *strike(fake_engine *fake, fake_op op, const char *role)
{
    for (size_t i = 0; i < fake->fault_count; i++) {
        const fake_fault *fault = &fake->faults[i];
        if (fault->op != op || (fault->object && strcmp(fault->object, role) != 0))
            continue;
        fake->fault_seen[i]++;
        if (fault->nth == 0 || fake->fault_seen[i] == fault->nth)
            return fault;
    }
    return NULL;
}

/* With the lock held: notes the call; its count for this operation and role. */
static unsigned note(fake_scope *s, fake_op op, const char *role)
{
    fake_engine *fake = s->fake;
    unsigned nth = 1;
    for (size_t i = 0; i < fake->call_count; i++)
        nth += fake->calls[i].op == op && strcmp(fake->calls[i].object, role) == 0;
    s->logged = fake->call_count;
    if (fake->call_count == FAKE_CALLS_MAX) {
        fake_complain(fake, "more than %d calls", FAKE_CALLS_MAX);
        s->logged--;
        return nth;
    }
    fake->calls[fake->call_count++] = (fake_call){
        .op = op,
        .object = fake_keep(&fake->log_texts, role),
        .left_ms = cordon_deadline_left_ms(s->dl),
    };
    return nth;
}

static int leave_with(fake_scope *s, int rc, const cordon_err *err)
{
    fake_lock(s->fake);
    s->fake->calls[s->logged].result = rc == 0 ? CORDON_OK : err->code;
    fake_unlock(s->fake);
    fake_outside(false);
    return rc;
}

static int scripted(const fake_scope *s, cordon_err *err)
{
    cordon_code code = s->fault->code != CORDON_OK ? s->fault->code : CORDON_ERR_ENGINE;
    return CORDON_FAIL(err, code, "fake %s: scripted failure", fake_op_name(s->fault->op));
}

/* Waits for the deadline or cancel; always -1. */
static int hang(const fake_scope *s, cordon_err *err)
{
    short ignored = 0;
    return cordon_deadline_poll(s->dl, -1, POLLIN, fake_op_name(s->fault->op), &ignored, err) == 0
               ? CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "fake: woken without a reason")
               : -1;
}

/* 0: go on and carry it out. -1: it ends here, logged. */
int fake_enter(fake_scope *s, void *impl, fake_op op, const char *role, cordon_deadline dl,
               cordon_err *err)
{
    *s = (fake_scope){.fake = impl, .dl = dl};
    fake_outside(true);
    fake_lock(s->fake);
    unsigned nth = note(s, op, role);
    s->fault = strike(s->fake, op, role);
    if (!s->fake->open && op != FAKE_OPEN)
        fake_complain(s->fake, "%s on an engine that is closed", fake_op_name(op));
    fake_unlock(s->fake);
    if (s->fake->hook)
        s->fake->hook(s->fake->hook_context, s->fake, op, role, nth);
    int rc = cordon_deadline_check(dl, fake_op_name(op), err);
    if (rc == 0 && s->fault && s->fault->kind == FAKE_FAULT_BEFORE)
        rc = scripted(s, err);
    if (rc == 0 && s->fault && s->fault->kind == FAKE_FAULT_HANG)
        rc = hang(s, err);
    return rc == 0 ? 0 : leave_with(s, rc, err);
}

/* What was done has the result rc; the answer may still be lost. */
int fake_leave(fake_scope *s, int rc, cordon_err *err)
{
    cordon_err ignored = CORDON_ERR_INIT;
    if (rc == 0 && s->fault && s->fault->kind == FAKE_FAULT_AFTER)
        rc = scripted(s, err);
    if (rc == 0 && s->fault && s->fault->kind == FAKE_FAULT_HANG_AFTER) {
        (void)!hang(s, &ignored);
        rc = CORDON_FAIL(err, CORDON_ERR_INDETERMINATE, "fake: sent, and no answer came");
    }
    return leave_with(s, rc, err);
}

static int check_id(fake_engine *fake, const char *id, cordon_err *err)
{
    if (id && strlen(id) == CORDON_ID_HEX && cordon_hex_is_lower(id, CORDON_ID_HEX))
        return 0;
    fake_complain(fake, "\"%s\" is no id", id ? id : "(null)");
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "fake: no id");
}

const char *fake_role_of_labels(cordon_texts labels)
{
    for (size_t i = 0; i < labels.count; i++) {
        if (strncmp(labels.items[i], ROLE_LABEL, strlen(ROLE_LABEL)) == 0)
            return labels.items[i] + strlen(ROLE_LABEL);
    }
    return "";
}

/* The role of an object that is or was there; "" for none. Roles never change, so no copy. */
static const char *role_of_id(fake_engine *fake, const char *id)
{
    const char *role = "";
    fake_lock(fake);
    for (size_t i = 0; id && i < fake->container_count; i++) {
        if (strcmp(fake->containers[i]->id, id) == 0)
            role = fake->containers[i]->role;
    }
    for (size_t i = 0; id && i < fake->network_count; i++) {
        if (strcmp(fake->networks[i]->id, id) == 0)
            role = fake->networks[i]->role;
    }
    fake_unlock(fake);
    return role;
}

int fake_enter_id(fake_scope *s, void *impl, fake_op op, const char *id, cordon_deadline dl,
                  cordon_err *err)
{
    if (fake_enter(s, impl, op, role_of_id(impl, id), dl, err) != 0)
        return -1;
    return check_id(s->fake, id, err) == 0 ? 0 : leave_with(s, -1, err);
}

int fake_not_found(const char *what, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "fake: no such %s", what);
}

/* With the lock held: 64 hex digits that no other object has. */
void fake_new_id(fake_engine *fake, char ret_id[CORDON_ID_HEX + 1])
{
    uint8_t digest[CORDON_SHA256_BYTES];
    char seed[32];
    int length = snprintf(seed, sizeof seed, "fake object %u", ++fake->ids);
    cordon_sha256_digest(seed, (size_t)length, digest);
    cordon_hex_encode(digest, sizeof digest, ret_id);
}

/* --- Session ------------------------------------------------------------------------------- */

static int open_as(bool podman, const cordon_engine_address *address, cordon_deadline dl,
                   void **ret_impl, cordon_err *err)
{
    fake_scope s;
    fake_engine *fake = find_fake(address->endpoint);
    if (!fake)
        return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE, "%s: no fake listens there",
                           address->endpoint);
    if (fake_enter(&s, fake, FAKE_OPEN, "", dl, err) != 0)
        return -1;
    fake->podman = podman;
    fake->open = true;
    if (fake_leave(&s, 0, err) != 0)
        return -1;
    *ret_impl = fake;
    return 0;
}

static cordon_engine_open_fn docker_open;
static int docker_open(const cordon_engine_address *address, cordon_deadline dl, void **ret_impl,
                       cordon_err *err)
{
    return open_as(false, address, dl, ret_impl, err);
}

static cordon_engine_open_fn podman_open;
static int podman_open(const cordon_engine_address *address, cordon_deadline dl, void **ret_impl,
                       cordon_err *err)
{
    return open_as(true, address, dl, ret_impl, err);
}

static cordon_engine_close_fn fake_close;
static void fake_close(void *impl)
{
    fake_engine *fake = impl;
    if (fake)
        fake->open = false;
}

static cordon_engine_describe_fn fake_describe;
static int fake_describe(void *impl, cordon_deadline dl, cordon_engine_facts *ret_facts,
                         cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_engine_facts) facts = {0};
    if (fake_enter(&s, impl, FAKE_DESCRIBE, "", dl, err) != 0 ||
        fake_leave(&s, fake_engine_facts_of(s.fake, &facts, err), err) != 0)
        return -1;
    if (s.fake->lies.engine)
        s.fake->lies.engine(s.fake->lies.context, &facts);
    *ret_facts = facts;
    return facts = (cordon_engine_facts){0}, 0;
}

static cordon_engine_identity_fn fake_identity;
static const char *fake_identity(void *impl)
{
    const fake_engine *fake = impl;
    return fake->podman ? "fake podman 4.3.1" : "fake docker 20.10.24, API 1.41";
}

static cordon_engine_serve_fn fake_serve;
static int fake_serve(const char *program, const char *socket_path, char ***ret_argv,
                      cordon_err *err)
{
    (void)program, (void)socket_path, (void)ret_argv;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "a fake is not served");
}

/* --- The tables ---------------------------------------------------------------------------- */

#define FAKE_OPS_TABLE(the_kind, the_name, the_open)                                               \
    {                                                                                              \
        .kind = (the_kind), .name = (the_name), .open = (the_open), .close = fake_close,           \
        .identity = fake_identity, .describe = fake_describe, .serve = fake_serve,                 \
        .image_resolve = fake_image_resolve, .image_load = fake_image_load,                        \
        .image_remove = fake_image_remove, .image_list = fake_image_list,                          \
        .network_create = fake_network_create, .network_inspect = fake_network_inspect,            \
        .network_connect = fake_network_connect, .network_remove = fake_network_remove,            \
        .volume_create = fake_volume_create, .volume_inspect = fake_volume_inspect,                \
        .volume_remove = fake_volume_remove, .container_create = fake_container_create,            \
        .container_inspect = fake_container_inspect, .container_attach = fake_container_attach,    \
        .container_prepare = fake_container_prepare, .container_runtime = fake_container_runtime,  \
        .container_start = fake_container_start, .container_signal = fake_container_signal,        \
        .container_wait = fake_container_wait, .container_remove = fake_container_remove,          \
        .container_log = fake_container_log, .container_changes = fake_container_changes,          \
        .list_by_label = fake_list_by_label, .events_open = fake_events_open,                      \
        .events_parse = fake_events_parse,                                                         \
    }

const cordon_engine_ops fake_engine_docker =
    FAKE_OPS_TABLE(CORDON_ENGINE_DOCKER, "docker", docker_open);
const cordon_engine_ops fake_engine_podman =
    FAKE_OPS_TABLE(CORDON_ENGINE_PODMAN, "podman", podman_open);

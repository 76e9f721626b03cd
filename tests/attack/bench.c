/* SPDX-License-Identifier: Apache-2.0 */
/* See bench.h. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/blob.h"

#define VENDOR_SUBNET "10.219.77.0/29"
#define EGRESS_SUBNET "10.219.78.0/29"
/* Where a network of a test stands that is made beside the others. */
#define SPARE_SUBNET "10.219.79.0/29"
/* A scratch of a test that is made beside the one of the keeper. */
#define SPARE_VOLUME "cordon-spare-scratch"

/* --- The lie ---------------------------------------------------------------------------------- */

static char *changed_body(const bench *b, const json_text *json)
{
    const bench_change *change = b->change;
    size_t at = json_text_find(json, change->path);
    if (at == JSON_TEXT_NONE)
        return NULL;
    if (change->insert)
        return json_text_extend(json, at, change->insert);
    return change->value ? json_text_replace(json, at, change->value) : json_text_drop(json, at);
}

static liar_word on_ask(void *context, liar_exchange *x)
{
    bench *b = context;
    cordon_auto(json_text) json = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (strcmp(x->method, "POST") != 0 || !strstr(x->path, b->call))
        return LIAR_PASS;
    free(b->body);
    b->body = strdup(cordon_buf_text(&x->request));
    if (!b->change || !b->body || !json_text_read(b->body, &json))
        return LIAR_PASS;
    cordon_autofree char *text = changed_body(b, &json);
    if (text) {
        cordon_buf_reset(&x->request);
        b->changed = cordon_buf_append_text(&x->request, text, &err) == 0;
    }
    return LIAR_PASS;
}

/* --- Setup ------------------------------------------------------------------------------------ */

static bool fill_input(bench *b, const char *worktree)
{
    b->host = (cordon_plan_host){.host = "api.anthropic.com"};
    b->input = (cordon_plan_input){
        .networked = true,
        .owner = &b->owner,
        .engine = &real.facts,
        .hosts = &b->host,
        .host_count = 1,
        .limits =
            {
                .memory_bytes = INT64_C(256) << 20,
                .nano_cpus = INT64_C(1500000000),
                .pids = 100,
                .open_files = 1000,
                .scratch_bytes = INT64_C(16) << 20,
            },
        .guard_image_id = b->images.guard_id,
        .step_image_id = b->images.step_id,
        .step_image_labels = &b->images.labels,
        .delivery = b->images.delivery,
        .worktree = worktree,
        .uid = real.uid,
        .gid = real.uid,
        .keep_id = strcmp(real.word, "rootless") == 0,
    };
    cordon_plan_init(&b->plan, &b->input);
    b->input.shared = true;
    cordon_plan_init(&b->shared, &b->input);
    return true;
}

static bool of_several_steps(cordon_role role)
{
    return role == CORDON_ROLE_SCRATCH || role == CORDON_ROLE_KEEPER;
}

static cordon_plan *plan_of(bench *b, cordon_role role)
{
    return of_several_steps(role) ? &b->shared : &b->plan;
}

/* What the keeper has mounted. */
static bool make_scratch(bench *b)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    const cordon_volume_spec *spec = &b->shared.scratch;
    return CHECK_OK(real.ops->volume_create(real.impl, spec, real_soon(), &err), err) &&
           CHECK_OK(real.ops->volume_inspect(real.impl, spec->name, real_soon(), &facts, &err),
                    err) &&
           CHECK_OK(cordon_fact_text_set(&b->shared.scratch_place, facts.place, &err), err);
}

static bool make_network(bench *b, cordon_role role, const char *subnet)
{
    cordon_autofree char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    if (!CHECK_OK(cordon_plan_place(&b->plan, role, subnet, &err), err) ||
        !CHECK_OK(real.ops->network_create(real.impl, &b->plan.networks[role], real_soon(), &id,
                                           NULL, &err),
                  err))
        return false;
    cordon_plan_network_made(&b->plan, role, id);
    return true;
}

static bool open_liar(bench *b)
{
    const liar_hooks hooks = {.context = b, .ask = on_ask};
    cordon_err err = CORDON_ERR_INIT;
    b->liar = liar_start(real.endpoint + strlen("unix://"), &hooks);
    if (!CHECK(b->liar != NULL))
        return false;
    const cordon_engine_address address = {.endpoint = liar_endpoint(b->liar)};
    return CHECK_OK(real.ops->open(&address, real_soon(), &b->impl, &err), err);
}

bool bench_open(bench *b, const char *worktree)
{
    const cordon_guard_program guard = {cordon_guard_bytes, cordon_guard_size};
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    *b = (bench){.call = "/create"};
    return CHECK_OK(cordon_owner_init(&b->owner, 0, &err), err) &&
           CHECK_OK(cordon_images_prepare(real.ops, real.impl, &real.facts, &guard, real.image,
                                          true, real_soon(), &b->images, &refusal, &err),
                    err) &&
           fill_input(b, worktree) && make_network(b, CORDON_ROLE_VENDOR_NETWORK, VENDOR_SUBNET) &&
           make_network(b, CORDON_ROLE_EGRESS_NETWORK, EGRESS_SUBNET) && make_scratch(b) &&
           open_liar(b);
}

/* Gone already is as good. */
static void remove_volume(const char *name)
{
    cordon_err err = CORDON_ERR_INIT;
    if (real.ops->volume_remove(real.impl, name, real_soon(), &err) != 0)
        CHECK_INT(err.code, CORDON_ERR_NOTFOUND);
}

void bench_close(bench *b)
{
    if (b->impl)
        real.ops->close(b->impl);
    liar_stop(b->liar);
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++)
        real_remove_network(b->plan.network_ids[role]);
    if (b->shared.scratch_place)
        remove_volume(b->shared.scratch.name);
    cordon_plan_clear(&b->plan);
    cordon_plan_clear(&b->shared);
    cordon_images_clear(&b->images);
    free(b->body);
    b->body = NULL;
}

/* --- One create ------------------------------------------------------------------------------- */

static bench_verdict verdict_of(const cordon_err *err, char message[256])
{
    (void)snprintf(message, 256, "%.255s", err->message);
    if (err->code == CORDON_OK)
        return BENCH_SILENT;
    if (err->code == CORDON_ERR_REFUSED)
        return BENCH_REFUSED;
    return err->code == CORDON_ERR_PROTOCOL ? BENCH_UNREAD : BENCH_DECLINED;
}

/* What the inspection leaves out, as core reads it between attach and start. */
static void judge_runtime(bench *b, cordon_role role, const cordon_container_facts *seen,
                          cordon_refusal *refusal, cordon_err *err)
{
    cordon_auto(cordon_runtime_facts) expected = {0};
    cordon_auto(cordon_runtime_facts) actual = {0};
    cordon_run_ids ids = {0};
    cordon_tally tally = {0};
    char object[64];
    (void)snprintf(object, sizeof object, "%s.runtime", cordon_role_name(role));
    if (cordon_expect_runtime(plan_of(b, role), role, &ids, &expected, err) == 0 &&
        real.ops->container_prepare(real.impl, seen->id, real_soon(), err) == 0 &&
        real.ops->container_runtime(real.impl, seen->id, seen->runtime_config, real_soon(), &actual,
                                    err) == 0)
        (void)!cordon_validate_runtime(object, &expected, &actual, &tally, refusal, err);
}

static void judge_container(bench *b, cordon_role role, const char *id, cordon_refusal *refusal,
                            cordon_err *err)
{
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_auto(cordon_container_facts) actual = {0};
    cordon_run_ids ids = {0};
    cordon_tally tally = {0};
    char *own = role == CORDON_ROLE_STEP     ? ids.step
                : role == CORDON_ROLE_KEEPER ? ids.keeper
                                             : ids.proxy;
    (void)snprintf(own, sizeof ids.step, "%s", id);
    if (cordon_expect_container(plan_of(b, role), role, &ids, CORDON_ROUND_CREATED, &expected,
                                err) != 0 ||
        real.ops->container_inspect(real.impl, id, real_soon(), &actual, err) != 0 ||
        cordon_validate_container(cordon_role_name(role), &expected, &actual, CORDON_ROUND_CREATED,
                                  &tally, refusal, err) != 0)
        return;
    if ((real.facts.can & CORDON_CAN_SHOW_RUNTIME) != 0)
        judge_runtime(b, role, &actual, refusal, err);
}

/*
 * One that was told to remove itself may have gone already, and libpod stumbles over what it was
 * asked for. That nothing stays is looked at in the end.
 */
static void remove_container(const char *id)
{
    cordon_err err = CORDON_ERR_INIT;
    (void)!real.ops->container_remove(real.impl, id, real_soon(), &err);
}

static bench_verdict try_container(bench *b, cordon_role role, cordon_refusal *refusal,
                                   char message[256])
{
    const cordon_container_spec *spec = cordon_plan_container(plan_of(b, role), role);
    cordon_autofree char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    int made = real.ops->container_create(b->impl, spec, real_soon(), &id, &err);
    if (made == 0)
        judge_container(b, role, id, refusal, &err);
    if (id)
        remove_container(id);
    return verdict_of(&err, message);
}

static void judge_network(bench *b, cordon_role role, const char *id, cordon_refusal *refusal,
                          cordon_err *err)
{
    cordon_auto(cordon_network_facts) expected = {0};
    cordon_auto(cordon_network_facts) actual = {0};
    cordon_run_ids ids = {0};
    cordon_tally tally = {0};
    cordon_plan_network_made(&b->plan, role, id);
    if (cordon_expect_network(&b->plan, role, &ids, CORDON_ROUND_CREATED, &expected, err) == 0 &&
        real.ops->network_inspect(real.impl, id, real_soon(), &actual, err) == 0)
        (void)!cordon_validate_network(cordon_role_name(role), &expected, &actual,
                                       CORDON_ROUND_CREATED, &tally, refusal, err);
}

/* A second network of that role, with a name and a subnet of its own. */
static bench_verdict try_network(bench *b, cordon_role role, cordon_refusal *refusal,
                                 char message[256])
{
    cordon_network_spec *spec = &b->plan.networks[role];
    const cordon_network_spec kept = *spec;
    char kept_id[CORDON_ID_HEX + 1];
    cordon_autofree char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    memcpy(kept_id, b->plan.network_ids[role], sizeof kept_id);
    spec->name = "cordon-spare-network";
    spec->subnet = SPARE_SUBNET;
    int made = real.ops->network_create(b->impl, spec, real_soon(), &id, NULL, &err);
    if (made == 0)
        judge_network(b, role, id, refusal, &err);
    if (id)
        real_remove_network(id);
    cordon_plan_network_made(&b->plan, role, kept_id);
    *spec = kept;
    return verdict_of(&err, message);
}

static void judge_volume(bench *b, cordon_refusal *refusal, cordon_err *err)
{
    static const cordon_run_ids none;
    cordon_auto(cordon_volume_facts) expected = {0};
    cordon_auto(cordon_volume_facts) actual = {0};
    cordon_tally tally = {0};
    if (cordon_expect_volume(&b->shared, &none, NULL, &expected, err) == 0 &&
        real.ops->volume_inspect(real.impl, SPARE_VOLUME, real_soon(), &actual, err) == 0)
        (void)!cordon_validate_volume(cordon_role_name(CORDON_ROLE_SCRATCH), &expected, &actual,
                                      CORDON_ROUND_CREATED, &tally, refusal, err);
}

/* The spare one, and what was made under a name of the engine's choice. */
static void sweep_volumes(const bench *b)
{
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    remove_volume(SPARE_VOLUME);
    if (!CHECK_OK(real.ops->list_by_label(real.impl, CORDON_OBJECT_VOLUME, b->owner.token_label,
                                          real_soon(), &list, &err),
                  err))
        return;
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].id, b->shared.scratch.name) != 0)
            remove_volume(list.items[i].id);
    }
}

/* A second scratch, with a name of its own. */
static bench_verdict try_volume(bench *b, cordon_refusal *refusal, char message[256])
{
    cordon_volume_spec *spec = &b->shared.scratch;
    const char *kept = spec->name;
    cordon_err err = CORDON_ERR_INIT;
    spec->name = SPARE_VOLUME;
    if (real.ops->volume_create(b->impl, spec, real_soon(), &err) == 0)
        judge_volume(b, refusal, &err);
    spec->name = kept;
    sweep_volumes(b);
    return verdict_of(&err, message);
}

bench_verdict bench_try(bench *b, cordon_role role, const bench_change *change,
                        cordon_refusal *ret_refusal, char ret_message[256])
{
    cordon_object_type type = cordon_role_type(role);
    bench_verdict verdict;
    b->change = change;
    b->changed = false;
    if (type == CORDON_OBJECT_NETWORK)
        verdict = try_network(b, role, ret_refusal, ret_message);
    else if (type == CORDON_OBJECT_VOLUME)
        verdict = try_volume(b, ret_refusal, ret_message);
    else
        verdict = try_container(b, role, ret_refusal, ret_message);
    return change && !b->changed ? BENCH_BROKEN : verdict;
}

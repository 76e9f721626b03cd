/* SPDX-License-Identifier: Apache-2.0 */
/* Getting the guard into an engine and into a step; see images.h. */
#include "images.h"

#include <stdio.h>
#include <string.h>

#include "archive.h"
#include "image_config.h"

#define IMAGE_DIGEST_PREFIX "sha256:"
#define IMAGE_DEFAULT_PATH  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What the work on images needs throughout. */
typedef struct image_context {
    const cordon_engine_ops *ops;
    void *impl;
    const cordon_engine_facts *engine;
    const cordon_guard_program *guard;
    bool load;
    cordon_deadline dl;
    cordon_refusal *refusal;
} image_context;

void cordon_images_clear(cordon_images *images)
{
    cordon_fact_list_clear(&images->labels);
}

static const char *bare_hex(const char *id)
{
    size_t prefix = strlen(IMAGE_DIGEST_PREFIX);

    return strncmp(id, IMAGE_DIGEST_PREFIX, prefix) == 0 ? id + prefix : id;
}

/* Loads the archive for input; the engine's word is not taken for what it made of it. */
static int image_load(const image_context *context, const cordon_archive_input *input,
                      cordon_err *err)
{
    cordon_auto(cordon_buf) tar = cordon_buf_make(CORDON_ARCHIVE_MAX);

    if (cordon_archive_build(input, &tar, err) != 0)
        return -1;
    return context->ops->image_load(context->impl, tar.data, tar.length, context->dl, err);
}

/*
 * The image with this id, made from input when it is not there. The id is the hash of what is
 * in it, so an image that answers to it is ours byte for byte.
 */
static int image_ensure(const image_context *context, const cordon_archive_input *input,
                        const char *id, cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_err missing = CORDON_ERR_INIT;

    if (context->ops->image_resolve(context->impl, id, context->dl, &facts, &missing) != 0) {
        if (missing.code != CORDON_ERR_NOTFOUND) {
            *err = missing;
            return -1;
        }
        if (!context->load)
            return 0;
        if (image_load(context, input, err) != 0 ||
            context->ops->image_resolve(context->impl, id, context->dl, &facts, err) != 0) {
            cordon_err_wrap(err, "putting the guard's image into the engine");
            return -1;
        }
    }
    if (facts.id == NULL || strcmp(facts.id, id) != 0)
        return cordon_refuse(context->refusal, CORDON_REFUSED_IMAGE, "image.guard.id", id, facts.id,
                             err);
    return 0;
}

/* What makes the guard's image, and - on layers of a base - a step's. name is filled in by both. */
static cordon_archive_input guard_input(const cordon_guard_program *guard, const char *architecture)
{
    return (cordon_archive_input){
        .program = guard->bytes,
        .program_length = guard->length,
        .folder = "",
        .architecture = architecture,
    };
}

static cordon_archive_input step_input(const cordon_guard_program *guard,
                                       const cordon_image_facts *base)
{
    return (cordon_archive_input){
        .program = guard->bytes,
        .program_length = guard->length,
        .folder = &CORDON_PLAN_GUARD_FOLDER[1],
        .architecture = base->architecture,
        .base_layers = {(const char *const *)base->layers.items, base->layers.count},
    };
}

int cordon_images_own_id(const cordon_guard_program *guard, const char *architecture,
                         const cordon_image_facts *base, char ret_id[CORDON_ID_HEX + 1],
                         cordon_err *err)
{
    cordon_archive_input input =
        base != NULL ? step_input(guard, base) : guard_input(guard, architecture);

    return cordon_archive_image_id(&input, ret_id, err);
}

static int images_guard(const image_context *context, cordon_images *images, cordon_err *err)
{
    char name[96];
    char digest[CORDON_SHA256_HEX_SIZE];
    uint8_t raw[CORDON_SHA256_BYTES];
    cordon_archive_input input = guard_input(context->guard, context->engine->architecture);

    input.name = name;
    cordon_sha256_digest(context->guard->bytes, context->guard->length, raw);
    cordon_hex_encode(raw, sizeof(raw), digest);
    (void)snprintf(name, sizeof(name), CORDON_IMAGE_NAME_GUARD ":%s", digest);
    if (cordon_archive_image_id(&input, images->guard_id, err) != 0)
        return -1;
    return image_ensure(context, &input, images->guard_id, err);
}

/* An id pin must be the id itself; a digest pin must stand among the image's digests. */
static int image_check_pin(const image_context *context, const char *pin,
                           const cordon_image_facts *facts, cordon_err *err)
{
    const char *digest = strchr(pin, '@');

    if (facts->id == NULL)
        return cordon_refuse(context->refusal, CORDON_REFUSED_UNKNOWN, "image.id", pin, NULL, err);
    if (digest == NULL) {
        if (strcmp(bare_hex(pin), facts->id) == 0)
            return 0;
        return cordon_refuse(context->refusal, CORDON_REFUSED_IMAGE, "image.id", pin, facts->id,
                             err);
    }
    for (size_t i = 0; i < facts->digests.count; i++) {
        const char *has = strchr(facts->digests.items[i], '@');

        if (has != NULL && strcmp(has, digest) == 0)
            return 0;
    }
    return cordon_refuse(context->refusal, CORDON_REFUSED_IMAGE, "image.digests", pin,
                         facts->digests.count > 0 ? facts->digests.items[0] : NULL, err);
}

/* SECURITY: an image may not carry our labels: its containers would look like somebody's run. */
static int image_check_labels(const cordon_image_facts *facts, cordon_refusal *refusal,
                              cordon_err *err)
{
    if (!facts->labels.known)
        return cordon_refuse(refusal, CORDON_REFUSED_UNKNOWN, "image.labels", "labels or none",
                             NULL, err);
    for (size_t i = 0; i < facts->labels.count; i++) {
        if (strncmp(facts->labels.items[i], CORDON_LABEL_PREFIX, strlen(CORDON_LABEL_PREFIX)) == 0)
            return cordon_refuse(refusal, CORDON_REFUSED_IMAGE, "image.labels",
                                 "no label of " CORDON_LABEL_PREFIX "*", facts->labels.items[i],
                                 err);
    }
    return 0;
}

static int image_check_platform(const cordon_engine_facts *engine, const cordon_image_facts *facts,
                                cordon_refusal *refusal, cordon_err *err)
{
    if (facts->os == NULL || strcmp(facts->os, "linux") != 0)
        return cordon_refuse(refusal, CORDON_REFUSED_IMAGE, "image.os", "linux", facts->os, err);
    if (facts->architecture == NULL || strcmp(facts->architecture, engine->architecture) != 0)
        return cordon_refuse(refusal, CORDON_REFUSED_IMAGE, "image.architecture",
                             engine->architecture, facts->architecture, err);
    return 0;
}

int cordon_images_check_usable(const cordon_engine_facts *engine, const cordon_image_facts *facts,
                               cordon_refusal *ret_refusal, cordon_err *err)
{
    if (image_check_platform(engine, facts, ret_refusal, err) != 0)
        return -1;
    return image_check_labels(facts, ret_refusal, err);
}

static int image_resolve_pinned(const image_context *context, const char *pin,
                                cordon_image_facts *ret_facts, cordon_err *err)
{
    if (context->ops->image_resolve(context->impl, pin, context->dl, ret_facts, err) != 0) {
        cordon_err_wrap(err,
                        "the pinned image %s (Cordon never pulls: pull or build it, then pin it)",
                        CORDON_QUOTE(pin));
        return -1;
    }
    if (image_check_pin(context, pin, ret_facts, err) != 0)
        return -1;
    return cordon_images_check_usable(context->engine, ret_facts, context->refusal, err);
}

/* One layer on top of the pinned image's own, with a configuration that asks for nothing. */
static int images_derive(const image_context *context, const cordon_image_facts *base,
                         cordon_images *images, cordon_err *err)
{
    char name[96];
    cordon_archive_input input = step_input(context->guard, base);

    input.name = name;
    if (!base->layers.known || base->layers.count == 0)
        return cordon_refuse(context->refusal, CORDON_REFUSED_UNKNOWN, "image.layers",
                             "at least one layer", NULL, err);
    (void)snprintf(name, sizeof(name), CORDON_IMAGE_NAME_STEP ":%.16s-%.16s", base->id,
                   images->guard_id);
    if (cordon_archive_image_id(&input, images->step_id, err) != 0 ||
        image_ensure(context, &input, images->step_id, err) != 0)
        return -1;
    images->delivery = CORDON_GATE_LAYER;
    cordon_fact_list_known(&images->labels);
    return 0;
}

static int images_mount(const cordon_image_facts *base, cordon_images *images, cordon_err *err)
{
    images->delivery = CORDON_GATE_MOUNT;
    (void)snprintf(images->step_id, sizeof(images->step_id), "%s", base->id);
    cordon_fact_list_known(&images->labels);
    for (size_t i = 0; i < base->labels.count; i++) {
        if (cordon_fact_list_add(&images->labels, base->labels.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int images_step(const image_context *context, const char *pin, cordon_images *images,
                       cordon_err *err)
{
    cordon_auto(cordon_image_facts) base = {0};
    const char *path;

    if (image_resolve_pinned(context, pin, &base, err) != 0)
        return -1;
    (void)snprintf(images->base_id, sizeof(images->base_id), "%s", base.id);
    path = cordon_fact_map_get(&base.environment, "PATH");
    (void)snprintf(images->path, sizeof(images->path), "%s",
                   path != NULL ? path : IMAGE_DEFAULT_PATH);
    if ((context->engine->can & CORDON_CAN_MOUNT_IMAGES) != 0)
        return images_mount(&base, images, err);
    if ((context->engine->can & CORDON_CAN_LOAD_ON_BASE) != 0)
        return images_derive(context, &base, images, err);
    return cordon_refuse(context->refusal, CORDON_REFUSED_ENGINE, "engine.gate_delivery",
                         "image mounts, or layers on a present base", "neither", err);
}

static int images_alone(cordon_images *images)
{
    images->delivery = CORDON_GATE_ALONE;
    (void)snprintf(images->step_id, sizeof(images->step_id), "%s", images->guard_id);
    (void)snprintf(images->path, sizeof(images->path), "/");
    cordon_fact_list_known(&images->labels);
    return 0;
}

int cordon_images_prepare(const cordon_engine_ops *ops, void *impl,
                          const cordon_engine_facts *engine, const cordon_guard_program *guard,
                          const char *pin, bool load, cordon_deadline dl, cordon_images *ret_images,
                          cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_auto(cordon_images) images = {0};
    const image_context context = {
        .ops = ops,
        .impl = impl,
        .engine = engine,
        .guard = guard,
        .load = load,
        .dl = dl,
        .refusal = ret_refusal,
    };

    if (images_guard(&context, &images, err) != 0 ||
        (pin != NULL ? images_step(&context, pin, &images, err) : images_alone(&images)) != 0)
        return -1;
    *ret_images = images;
    images = (cordon_images){0};
    return 0;
}

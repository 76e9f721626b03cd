/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of a run: the guard's own, and the pinned one with the gate in it. Both the guard's
 * image and a derived image have ids that Cordon computes itself (archive.h), so that "is it
 * what we made" is one look-up by id before every use: no registry, no name, no trust in a tag.
 */
#ifndef CORDON_IMAGES_H
#define CORDON_IMAGES_H

#include "plan.h"
#include "refusal.h"

/* The guard as it stands in this build. Borrowed. */
typedef struct cordon_guard_program {
    const void *bytes;
    size_t length;
} cordon_guard_program;

typedef struct cordon_images {
    char guard_id[CORDON_ID_HEX + 1];
    char base_id[CORDON_ID_HEX + 1]; /* the pinned image; "" for the probe */
    char step_id[CORDON_ID_HEX + 1]; /* what the step is created from */
    cordon_gate_delivery delivery;
    char path[512];          /* PATH of the pinned image, or the default */
    cordon_fact_list labels; /* of the image that the step is created from */
} cordon_images;

void cordon_images_clear(cordon_images *images);
CORDON_DEFINE_AUTO(cordon_images, cordon_images_clear)

/*
 * Makes sure that the guard's image is there, resolves the pin, and decides how the gate gets
 * into the step.
 * @param pin   "sha256:..." or "name@sha256:...", or NULL for the guard's image alone (probe)
 * @param load  false: change nothing, so an image that is not there yet is no error (for plan)
 * REFUSED   image is not what was pinned, for another architecture, or labelled as ours
 * NOTFOUND  the pinned image is not on this engine
 */
int cordon_images_prepare(const cordon_engine_ops *ops, void *impl,
                          const cordon_engine_facts *engine, const cordon_guard_program *guard,
                          const char *pin, bool load, cordon_deadline dl, cordon_images *ret_images,
                          cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* What every image of a step must be: for this engine's platform, and without our labels. */
int cordon_images_check_usable(const cordon_engine_facts *engine, const cordon_image_facts *facts,
                               cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/* The id that the guard's image has (base NULL), or the one with this guard on top of base. */
int cordon_images_own_id(const cordon_guard_program *guard, const char *architecture,
                         const cordon_image_facts *base, char ret_id[CORDON_ID_HEX + 1],
                         cordon_err *err) __attribute__((warn_unused_result));

#endif

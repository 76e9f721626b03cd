/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configurations of all images that Cordon makes - the guard's, those with the guard on top,
 * and those of an agent's CLI - each in exactly one form. An image's id is the hash of its
 * configuration, so whether Cordon made an image can be told from what the engine shows of it: the
 * same text, made once more, must have that id. No label and no name could say that.
 */
#ifndef CORDON_IMAGE_CONFIG_H
#define CORDON_IMAGE_CONFIG_H

#include "engine.h"
#include "kit/buf.h"

/*
 * Labels of an image of an agent's CLI. Not of the prefix of owner.h: a container inherits the
 * labels of its image, and that prefix says whose a container is.
 */
#define CORDON_IMAGE_LABEL_CLI     "cordon.image.cli"
#define CORDON_IMAGE_LABEL_VERSION "cordon.image.version"
#define CORDON_IMAGE_LABEL_RECIPE  "cordon.image.recipe"

/* Names of images, for people: what stands before the tag. */
#define CORDON_IMAGE_NAME_GUARD "localhost/cordon-guard"
#define CORDON_IMAGE_NAME_STEP  "localhost/cordon-step"
#define CORDON_IMAGE_NAME_AGENT "localhost/cordon-" /* and the CLI */

/* What an image of an agent's CLI says of itself. Borrowed. recipe is "" when it is not known. */
typedef struct cordon_image_badge {
    const char *cli;
    const char *version;
    const char *recipe;
} cordon_image_badge;

typedef enum cordon_image_kind {
    CORDON_IMAGE_FOREIGN = 0,
    CORDON_IMAGE_GUARD, /* the guard alone */
    CORDON_IMAGE_STEP,  /* another image and the guard on top */
    CORDON_IMAGE_AGENT, /* made of a recipe's tar */
} cordon_image_kind;

/* "guard", "step", "agent", "foreign". */
const char *cordon_image_kind_name(cordon_image_kind kind);

/*
 * Appends the configuration.
 * @param layers  all diff ids, base first
 * @param badge   NULL for the guard's: no environment, no labels, no user, whatever a base has
 */
int cordon_image_config_write(const char *architecture, const cordon_fact_list *layers,
                              const cordon_image_badge *badge, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * What Cordon made this image as; FOREIGN unless its configuration is one of ours in every byte.
 * @param ret_badge  of an AGENT, borrowed from facts
 */
int cordon_image_recognize(const cordon_image_facts *facts, cordon_image_kind *ret_kind,
                           cordon_image_badge *ret_badge, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

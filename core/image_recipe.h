/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipes of images: a folder with a program "build", which makes the root of a CLI's image as
 * a tar, and what it is made of. SECURITY: the program is executed as it is, so it and everything
 * beside it must be trusted as the configuration is (trust.h); no shell of ours is in between.
 */
#ifndef CORDON_IMAGE_RECIPE_H
#define CORDON_IMAGE_RECIPE_H

#include "cordon/image.h"
#include "image_lock.h"
#include "kit/deadline.h"
#include "trust.h"

typedef struct cordon_recipe {
    char *program;                     /* absolute */
    char version[33];                  /* the one that is made */
    char digest[CORDON_IMAGE_ID_SIZE]; /* "sha256:...", of all files of the recipes */
} cordon_recipe;

void cordon_recipe_clear(cordon_recipe *recipe);
CORDON_DEFINE_AUTO(cordon_recipe, cordon_recipe_clear)

/*
 * Reads the recipes of a folder.
 * @param version  NULL: the last one that their list has for the CLI and architecture
 * @return 0, or -1 with NOTFOUND (no recipes there), CONFIG (none for that version: the known ones
 *         are named), REFUSED (trust.h), SYSTEM, NOMEM
 */
int cordon_recipe_find(const cordon_trust *trust, const char *folder, const char *cli,
                       const char *version, const char *architecture, cordon_recipe *ret_recipe,
                       cordon_err *err) __attribute__((warn_unused_result));

/*
 * Executes it: PROGRAM CLI VERSION FILE, with a clean environment, until it ends or the deadline
 * passes or is cancelled; then it and all that it started are killed.
 * @param file  a new file's path, in a folder of ours alone
 * @return 0, or -1 with ENGINE (it failed; it said why on log_fd), TIMEOUT, CANCELLED, SYSTEM
 */
int cordon_recipe_run(const cordon_recipe *recipe, const cordon_host *host,
                      const cordon_image_build_options *options, const char *file,
                      cordon_deadline dl, cordon_err *err) __attribute__((warn_unused_result));

#endif

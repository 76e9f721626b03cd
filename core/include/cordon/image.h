/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of steps: making those of the agents' CLIs, pinning, listing and removing. Handles and
 * rules are those of cordon/cordon.h. In every call budget_ms is how long all of it may take, and
 * cancel_fd, when readable, ends it (-1 for none).
 */
#ifndef CORDON_IMAGE_H
#define CORDON_IMAGE_H

#include "cordon/cordon.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An image that Cordon made, or that a pin names. Texts are "" where there is nothing to say.
 * id          "sha256:..."; "" for a pin whose image is not there and whose id is not known
 * kind        "agent" (made of a recipe), "guard", "step" (an image with the guard on top),
 *             "foreign" (not Cordon's), or "" for one that is not there
 * name        what it is pinned as: "claude", "codex", "runner"
 * pinned_by   "lock" or "configuration"
 * recipe      digest of the recipe that made it
 * size_bytes  -1: not told
 * made        Cordon made it: its configuration is one of Cordon's in every byte
 * current     guard and step: what runs with this Cordon and the present pins use
 */
typedef struct cordon_image {
    char id[72];
    char kind[8];
    char name[16];
    char pinned_by[16];
    char pin[416];
    char cli[16];
    char version[40];
    char recipe[72];
    char tag[256];
    int64_t size_bytes;
    bool present;
    bool made;
    bool current;
} cordon_image;

/*
 * The lock file of images as the configuration was read with it.
 * path      borrowed from the configuration; "" where there is no place for one
 * required  the configuration names it, so that a run without it is refused
 * entries   for engines of all kinds
 */
typedef struct cordon_image_lock_info {
    const char *path;
    bool present;
    bool required;
    size_t entries;
} cordon_image_lock_info;

CORDON_PUBLIC void cordon_image_lock_describe(const cordon_config *config,
                                              cordon_image_lock_info *ret_info);

/* What Cordon made on this engine, and what is pinned for it. cordon_images_free frees the list. */
CORDON_PUBLIC int cordon_images_list(cordon_engine *engine, const cordon_config *config,
                                     int64_t budget_ms, int cancel_fd, cordon_image **ret_images,
                                     size_t *ret_count, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_images_free(cordon_image *images);

/*
 * cli          "claude" or "codex"
 * version      NULL: the newest of the recipes; with `from` it must be given
 * from         a tar of the image's root; NULL: the recipe makes it
 * environment  "NAME=value" for the recipe beside HOME and PATH, NULL-terminated; may be NULL
 * log_fd       where the recipe's words go; -1 for nowhere
 */
typedef struct cordon_image_build_options {
    const char *cli;
    const char *version;
    const char *from;
    const char *const *environment;
    int log_fd;
    int cancel_fd;
    int64_t budget_ms;
    void (*progress)(void *context, const char *word, const char *text);
    void *progress_context;
} cordon_image_build_options;

/*
 * Makes the image of an agent's CLI and puts it into the engine. The recipe is the program "build"
 * in the configuration's recipes_dir, executed as it is, if nobody else can have changed it. The
 * image's id is computed before the engine has seen it and asked for afterwards.
 */
CORDON_PUBLIC int cordon_image_build(cordon_engine *engine, const cordon_config *config,
                                     const cordon_host *host,
                                     const cordon_image_build_options *options,
                                     cordon_image *ret_image, cordon_err *err) CORDON_CHECK;

/*
 * Writes into the lock file which image `name` ("claude", "codex", "runner") means on this engine.
 * @param image  an id, NAME@sha256:DIGEST, or a name, resolved once and never again; NULL: the one
 *               that Cordon made for it, if there is exactly one, else the configured one
 */
CORDON_PUBLIC int cordon_image_pin(cordon_engine *engine, cordon_config *config, const char *name,
                                   const char *image, int64_t budget_ms, int cancel_fd,
                                   cordon_image *ret_image, cordon_err *err) CORDON_CHECK;

/*
 * Takes a name out of the lock file, and with it the image if Cordon made it (ret_image->present
 * is true for a foreign one, which is left); or removes the image with this id, if Cordon made it
 * and nothing pins it. REFUSED: it is not Cordon's, or pinned. CONFLICT: it is in use.
 */
CORDON_PUBLIC int cordon_image_remove(cordon_engine *engine, cordon_config *config,
                                      const char *name_or_id, int64_t budget_ms, int cancel_fd,
                                      cordon_image *ret_image, cordon_err *err) CORDON_CHECK;

/*
 * Removes the guards and step images of other versions and of images that are pinned no more. The
 * list has all of them; those that are in use are still `present`.
 */
CORDON_PUBLIC int cordon_images_remove_unused(cordon_engine *engine, const cordon_config *config,
                                              int64_t budget_ms, int cancel_fd,
                                              cordon_image **ret_images, size_t *ret_count,
                                              cordon_err *err) CORDON_CHECK;

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock file of images: which image a name means, on which kind of engine, and what is in it.
 * `cordon image pin` writes it, every run is held to it. JSON, one entry per name, kind of engine
 * and architecture (engines may give the same content different ids):
 *
 *   {"cordon_images":1,"images":[{"name":"claude","engine":"docker","architecture":"amd64",
 *     "id":"sha256:...","cli":"claude","version":"2.1.332","recipe":"sha256:...",
 *     "pinned":"2026-11-30T06:40:00Z"}]}
 *
 * cli, version and recipe stand only where Cordon made the image itself and so knows them.
 *
 * SECURITY: trusted input like the configuration: read by the same rules (trust.h), closed, and
 * replaced as a whole.
 */
#ifndef CORDON_IMAGE_LOCK_H
#define CORDON_IMAGE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/cleanup.h"
#include "trust.h"

/* Entries of a lock; more are refused. */
#define CORDON_IMAGE_LOCK_MAX 64

/* "sha256:" and 64 digits and a NUL. */
#define CORDON_IMAGE_ID_SIZE 72

/* One image. "" where a member is not told. */
typedef struct cordon_image_entry {
    char name[16];   /* "claude", "codex", "runner": as in images of the configuration */
    char engine[16]; /* "docker", "podman" */
    char architecture[16];
    char id[CORDON_IMAGE_ID_SIZE]; /* "sha256:<64 hex>" */
    char cli[16];                  /* "claude", "codex" */
    char version[33];              /* of that CLI */
    char recipe[CORDON_IMAGE_ID_SIZE];
    char pinned[24]; /* when, RFC 3339 in UTC */
} cordon_image_entry;

/*
 * path      absolute; NULL: there is no place for one
 * present   there is one; then a name without an entry has no image
 * required  the configuration names it, so that a run without it is refused
 */
typedef struct cordon_image_lock {
    char *path;
    bool present;
    bool required;
    size_t count;
    cordon_image_entry entries[CORDON_IMAGE_LOCK_MAX];
} cordon_image_lock;

void cordon_image_lock_clear(cordon_image_lock *lock);

/* The names that an image may be pinned under, ended by NULL. */
extern const char *const cordon_image_names[];
bool cordon_image_name_is_known(const char *name);

/*
 * Reads the file at path. One that is not there leaves present false.
 * @return 0, or -1 with CONFIG (what is wrong, and where), REFUSED (trust.h), SYSTEM, NOMEM
 */
int cordon_image_lock_read(const cordon_trust *trust, const char *path, cordon_image_lock *lock,
                           cordon_err *err) __attribute__((warn_unused_result));

/* A text's entries; pure. `file` is for messages. On failure the entries are those of before. */
int cordon_image_lock_parse(const char *file, const char *text, size_t length,
                            cordon_image_lock *lock, cordon_err *err)
    __attribute__((warn_unused_result));

/* The entry, borrowed, or NULL. */
const cordon_image_entry *cordon_image_lock_find(const cordon_image_lock *lock, const char *name,
                                                 const char *engine, const char *architecture);

/*
 * The version of the CLI in the images of this name, where all entries of it say the same: known
 * before an engine is open. NULL: none says one. REFUSED: they differ.
 */
int cordon_image_lock_version(const cordon_image_lock *lock, const char *name,
                              const char **ret_version, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Puts an entry into the file (in the place of the one that has its name, engine and architecture),
 * or takes it out, and brings lock up to date. The file is made, with its folder, if it is missing;
 * what others have changed in it meanwhile is kept. NOTFOUND: there is no such entry to take out.
 */
int cordon_image_lock_put(const cordon_trust *trust, cordon_image_lock *lock,
                          const cordon_image_entry *entry, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_image_lock_drop(const cordon_trust *trust, cordon_image_lock *lock,
                           const cordon_image_entry *entry, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

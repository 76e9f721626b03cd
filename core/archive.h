/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images that Cordon makes itself, as docker-archive tars (the format of "docker save", see the
 * Docker Image Specification v1.2), byte for byte the same for the same input. The image id is
 * the SHA-256 of the configuration inside, so it is known - and can be demanded of the engine -
 * before the engine has seen the archive.
 */
#ifndef CORDON_ARCHIVE_H
#define CORDON_ARCHIVE_H

#include "engine.h"
#include "kit/buf.h"
#include "kit/hash.h"

/* Ceiling of an archive: the guard is far below 1 MiB. */
#define CORDON_ARCHIVE_MAX (8u << 20)

/*
 * program         the bytes of cordon-guard
 * folder          "" puts it at /cordon-guard; ".cordon" at /.cordon/cordon-guard
 * architecture    as the engine calls its own ("amd64")
 * base_layers     diff ids ("sha256:...") that the new layer goes on top of; empty for none. Their
 *                 contents are not part of the archive: the engine has them.
 * name            repository and tag, for people only
 */
typedef struct cordon_archive_input {
    const void *program;
    size_t program_length;
    const char *folder;
    const char *architecture;
    cordon_texts base_layers;
    const char *name;
} cordon_archive_input;

/* The image id (bare hex) that the archive for this input will have; without building it all. */
int cordon_archive_image_id(const cordon_archive_input *input, char ret_id[CORDON_SHA256_HEX_SIZE],
                            cordon_err *err) __attribute__((warn_unused_result));

/* The archive. ret_tar must have been made with CORDON_ARCHIVE_MAX. */
int cordon_archive_build(const cordon_archive_input *input, cordon_buf *ret_tar, cordon_err *err)
    __attribute__((warn_unused_result));

/* A tar's unit. */
#define CORDON_ARCHIVE_BLOCK 512

/* The header of one plain file of an archive, the same for everybody; size is below 8 GiB. */
void cordon_archive_header(const char *name, uint64_t size, char ret_block[CORDON_ARCHIVE_BLOCK]);

#endif

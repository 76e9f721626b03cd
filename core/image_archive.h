/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image of an agent's CLI, made of a tar of its root: a docker-archive with that tar as its one
 * layer and a configuration of ours, so that the id is known before an engine has seen it, and is
 * the same on each of them.
 */
#ifndef CORDON_IMAGE_ARCHIVE_H
#define CORDON_IMAGE_ARCHIVE_H

#include "image_config.h"
#include "kit/deadline.h"

/* The largest tar that becomes an image. */
#define CORDON_IMAGE_TAR_MAX (INT64_C(4) << 30)

/* bytes are those of a file without a name, which nobody else can change. */
typedef struct cordon_image_archive {
    void *bytes;
    size_t length;
    char id[CORDON_ID_HEX + 1];
    char name[96]; /* "localhost/cordon-claude:2.1.332" */
} cordon_image_archive;

void cordon_image_archive_clear(cordon_image_archive *archive);
CORDON_DEFINE_AUTO(cordon_image_archive, cordon_image_archive_clear)

/*
 * @param tar_fd   a regular file, read from its beginning; what it holds is copied first
 * @param folder   where the copy is kept: needs the tar's size in space
 * @return 0, or -1 with CONFIG (no tar, or too large), SYSTEM, NOMEM, TIMEOUT, CANCELLED
 */
int cordon_image_archive_make(int tar_fd, const char *folder, const char *architecture,
                              const cordon_image_badge *badge, cordon_deadline dl,
                              cordon_image_archive *ret_archive, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

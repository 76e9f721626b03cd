/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs on images share: the images that Cordon made or a pin names, on one engine. */
#ifndef CORDON_IMAGE_ROWS_H
#define CORDON_IMAGE_ROWS_H

#include "config.h"
#include "cordon/image.h"
#include "image_config.h"
#include "images.h"
#include "session.h"

typedef struct cordon_image_rows {
    size_t count;
    cordon_image *items; /* public: cordon/image.h */
} cordon_image_rows;

void cordon_image_rows_clear(cordon_image_rows *rows);
CORDON_DEFINE_AUTO(cordon_image_rows, cordon_image_rows_clear)

/* One engine, one configuration, one deadline. */
typedef struct cordon_image_scope {
    cordon_engine *engine;
    const cordon_config *config;
    cordon_deadline dl;
} cordon_image_scope;

/* Checks the handles. INVALID. */
int cordon_image_scope_open(cordon_engine *engine, const cordon_config *config, int64_t budget_ms,
                            int cancel_fd, cordon_image_scope *ret_scope, cordon_err *err)
    __attribute__((warn_unused_result));

/* The lock's entry for this name on this engine, borrowed; NULL for none. */
const cordon_image_entry *cordon_image_scope_entry(const cordon_image_scope *scope,
                                                   const char *name);

/* What the configuration pins under this name, borrowed; NULL for nothing. */
const char *cordon_image_scope_pin(const cordon_image_scope *scope, const char *name);

/* Fills a row from an image's facts. */
int cordon_image_row_fill(const cordon_image_facts *facts, cordon_image *row, cordon_err *err)
    __attribute__((warn_unused_result));

/* All rows: what Cordon made, and what is pinned; marked current or not. */
int cordon_image_rows_read(const cordon_image_scope *scope, cordon_image_rows *ret_rows,
                           cordon_err *err) __attribute__((warn_unused_result));

#endif

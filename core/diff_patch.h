/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file's part of a patch that git-apply(1) takes: header, modes, quoted names, hunks. Pure.
 * Format: git-diff(1), "Generating patch text with -p".
 */
#ifndef CORDON_DIFF_PATCH_H
#define CORDON_DIFF_PATCH_H

#include "diff_text.h"

/*
 * One side of a change. mode 0: it is not there.
 * mode     0100644, 0100755, or 0120000 for a symlink, whose text is its target
 * text     what the other side is compared with; borrowed
 */
typedef struct cordon_diff_side {
    unsigned mode;
    const char *text;
    size_t length;
} cordon_diff_side;

/*
 * Appends one file's change; a change of type is a deletion and an addition.
 * @return 0, or -1 with PROTOCOL over the ceiling, and then the buffer may hold a part: cut it
 *         back. TIMEOUT, CANCELLED, NOMEM
 */
int cordon_diff_patch(const char *path, const cordon_diff_side *old, const cordon_diff_side *new,
                      cordon_deadline dl, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* Appends "a/path", in C's quotes where it holds anything but plain characters, as git does. */
int cordon_diff_name(const char *side, const char *path, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

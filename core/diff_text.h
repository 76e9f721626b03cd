/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two texts as hunks of a unified diff (POSIX diff -u, as git-apply(1) reads
 * it). Pure. Lines end with a newline; everything else in them is bytes.
 */
#ifndef CORDON_DIFF_TEXT_H
#define CORDON_DIFF_TEXT_H

#include <stdbool.h>

#include "kit/buf.h"
#include "kit/deadline.h"

/* Lines that stand around a change. */
#define CORDON_DIFF_CONTEXT 3

/*
 * Appends the hunks; nothing for equal texts. Shortest (Myers 1986, "An O(ND) Difference Algorithm
 * and Its Variations") while the texts are not too different; then everything between the common
 * begin and end is one change, which is right, too, and longer.
 * @return 0, or -1 with PROTOCOL (over the buffer's ceiling), TIMEOUT, CANCELLED, NOMEM
 */
int cordon_diff_text(const char *old, size_t old_length, const char *new, size_t new_length,
                     cordon_deadline dl, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* git's own test: a NUL in the first 8000 bytes. */
bool cordon_diff_is_binary(const char *text, size_t length);

#endif

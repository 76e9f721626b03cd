/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the small texts that the kernel shows (/proc, /sys, /etc) and cutting them into lines
 * and words. Bounded: nothing is read past a ceiling, and the caller learns when there was more.
 * libc-only.
 */
#ifndef CORDON_GATE_TEXT_H
#define CORDON_GATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/buf.h"
#include "kit/error.h"

/* A borrowed piece of text, not NUL-terminated. */
typedef struct cordon_slice {
    const char *text;
    size_t length;
} cordon_slice;

cordon_slice cordon_slice_make(const char *text, size_t length);
bool cordon_slice_is(cordon_slice slice, const char *text);

/*
 * Takes what stands before the first `separator` off the front of *rest, separator included;
 * false when *rest is used up. "a::b" gives "a", "" and "b"; a final separator adds no empty piece.
 */
bool cordon_slice_cut(cordon_slice *rest, char separator, cordon_slice *ret_piece);

/* The same at runs of blanks and tabs; empty words do not exist. */
bool cordon_slice_word(cordon_slice *rest, cordon_slice *ret_word);

/* Joins the words of a line with single blanks; what does not fit `size` is PROTOCOL. */
int cordon_slice_squeeze(cordon_slice line, char *ret_text, size_t size, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Appends the content of a file to buf, at most what buf can still hold.
 * @param ret_whole  false when the file had more
 * @return 0, or -1 with NOTFOUND (ENOENT), SYSTEM or NOMEM; err->errnum tells which
 */
int cordon_text_read(const char *path, cordon_buf *buf, bool *ret_whole, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The first line of a file, such as a sysctl or a cgroup limit; it must fit `size`.
 * @return as cordon_text_read, and PROTOCOL for a longer line
 */
int cordon_text_first_line(const char *path, char *ret_text, size_t size, cordon_err *err)
    __attribute__((warn_unused_result));

/* True for failures that mean "there is no such file": ENOENT and ENOTDIR. */
bool cordon_text_is_absent(const cordon_err *err);

#endif

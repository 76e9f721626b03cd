/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte string. Invariants: it cannot be made without a ceiling; data[length] is a NUL
 * whenever data is not NULL (bytes may hold NULs of their own); length never passes max_bytes.
 * Growing past the ceiling is an error and leaves the content as it was. libc-only.
 */
#ifndef CORDON_KIT_BUF_H
#define CORDON_KIT_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/cleanup.h"
#include "kit/error.h"

/* Read data and length freely; change them only through the functions below. */
typedef struct cordon_buf {
    char *data;
    size_t length;
    size_t capacity;
    size_t max_bytes;
    bool secret;
} cordon_buf;

/* An empty buffer that may hold at most max_bytes (the final NUL is not counted). */
cordon_buf cordon_buf_make(size_t max_bytes);

/* The same for secrets: memory is wiped before it is given back, also when the buffer grows. */
cordon_buf cordon_buf_make_secret(size_t max_bytes);

/* Frees the content; the buffer is empty and usable again. Fine on a zeroed value. */
void cordon_buf_clear(cordon_buf *buf);

/* Forgets the content (wiped in a secret buffer) and keeps the memory. */
void cordon_buf_reset(cordon_buf *buf);

/* All of these: 0, or -1 with PROTOCOL over the ceiling or NOMEM, and then nothing was added. */
int cordon_buf_append(cordon_buf *buf, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_buf_append_text(cordon_buf *buf, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_buf_append_char(cordon_buf *buf, char c, cordon_err *err)
    __attribute__((warn_unused_result));

/* err stands before the format, because the arguments must be last. */
int cordon_buf_printf(cordon_buf *buf, cordon_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4), warn_unused_result));

/*
 * Makes room for `extra` more bytes and returns where they go; commit says how many were written
 * there. For read(2) and recv(2) straight into the buffer.
 */
int cordon_buf_reserve(cordon_buf *buf, size_t extra, char **ret_space, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_buf_commit(cordon_buf *buf, size_t written);

/* Drops `count` bytes (at most length) from the front. */
void cordon_buf_consume(cordon_buf *buf, size_t count);

/* The content as text; "" when empty, never NULL. Valid until the next change. */
const char *cordon_buf_text(const cordon_buf *buf);

/*
 * Hands the content over as a NUL-terminated heap string and leaves the buffer empty.
 * ret_length may be NULL.
 */
int cordon_buf_take(cordon_buf *buf, char **ret_text, size_t *ret_length, cordon_err *err)
    __attribute__((warn_unused_result));

CORDON_DEFINE_AUTO(cordon_buf, cordon_buf_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling and wrapping cordon_err. The first error wins: setting an object that is already set
 * is a programming error (assert), wrapping prepends context. Cleanup paths use an object of
 * their own. libc-only.
 */
#ifndef CORDON_KIT_ERROR_H
#define CORDON_KIT_ERROR_H

#include "cordon/error.h"

/*
 * Sets err and yields the literal -1, so that `return CORDON_FAIL(err, ...)` reads as one step
 * (and static analysis sees the constant). `err` may be NULL where the caller does not care.
 */
#define CORDON_FAIL(err, code, ...) (cordon_err_set((err), (code), 0, __VA_ARGS__), -1)

/* The same for a failed system call; the text of errno is appended as ": No such file ...". */
#define CORDON_FAIL_ERRNO(err, errnum, ...) (cordon_err_set_errno((err), (errnum), __VA_ARGS__), -1)

void cordon_err_set(cordon_err *err, cordon_code code, int http, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* code is CORDON_ERR_NOTFOUND for ENOENT, CORDON_ERR_NOMEM for ENOMEM, else CORDON_ERR_SYSTEM. */
void cordon_err_set_errno(cordon_err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message that is there. Nothing happens to an unset object. */
void cordon_err_wrap(cordon_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Back to the unset state. */
void cordon_err_clear(cordon_err *err);

/*
 * Makes foreign text fit for a message: printable ASCII is kept, everything else becomes '?',
 * and what does not fit is cut with "...". SECURITY: daemon, image and agent text may hold
 * terminal escapes; every such text passes here before it reaches a message.
 *
 * @param ret_text  filled with at most size bytes, always NUL-terminated; size is at least 4
 * @return ret_text
 */
const char *cordon_err_printable(char *ret_text, size_t size, const char *foreign, size_t length);

/* Scratch for one printable text: CORDON_QUOTE(text) lives until the end of the block. */
#define CORDON_QUOTE_MAX 160
#define CORDON_QUOTE(text)                                                                         \
    cordon_err_printable((char[CORDON_QUOTE_MAX]){0}, CORDON_QUOTE_MAX, (text),                    \
                         (text) ? __builtin_strlen(text) : 0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unguessable bytes from the kernel, and nothing else: there is no fallback, a failure is an
 * error. libc-only.
 */
#ifndef CORDON_KIT_RANDOM_H
#define CORDON_KIT_RANDOM_H

#include <stddef.h>

#include "kit/error.h"

/* Fills all `length` bytes, or -1 with SYSTEM and the bytes are zero. */
int cordon_random_bytes(void *ret_bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* A token of `digits` lower-case hex digits (even, at most 128) and a NUL: digits * 4 random bits.
 */
int cordon_random_hex(char *ret_text, size_t digits, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place where text becomes a number. Strict on purpose: the whole text, decimal digits,
 * no blanks, no '+', no leading zeros, no hex, no silent wrap or clamp. The text is (pointer,
 * length), so nothing has to be NUL-terminated. Every failure is CORDON_ERR_CONFIG with the
 * printable text and the reason; callers wrap it with the key, header or file it came from.
 * libc-only.
 */
#ifndef CORDON_KIT_NUM_H
#define CORDON_KIT_NUM_H

#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

/* "0", "443". min <= value <= max. */
int cordon_num_u64(const char *text, size_t length, uint64_t min, uint64_t max, uint64_t *ret_value,
                   cordon_err *err) __attribute__((warn_unused_result));

/* The same with an optional '-'; "-0" is refused. */
int cordon_num_i64(const char *text, size_t length, int64_t min, int64_t max, int64_t *ret_value,
                   cordon_err *err) __attribute__((warn_unused_result));

/*
 * Bare hex digits of either case without prefix, leading zeros allowed: chunk sizes (RFC 9112
 * section 7.1) and kernel masks ("CapEff: 00000000a80425fb"). At most 16 digits.
 */
int cordon_num_hex(const char *text, size_t length, uint64_t max, uint64_t *ret_value,
                   cordon_err *err) __attribute__((warn_unused_result));

/* "512" (bytes), "64KiB", "256MiB", "2GiB", "1TiB"; exact, whole units only. */
int cordon_num_size(const char *text, size_t length, uint64_t *ret_bytes, cordon_err *err)
    __attribute__((warn_unused_result));

/* "500ms", "30s", "10m", "2h" in milliseconds; exact, the unit is mandatory. */
int cordon_num_duration(const char *text, size_t length, int64_t *ret_ms, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

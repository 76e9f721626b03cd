/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON writer over a cordon_buf. It cannot produce broken JSON: names where names belong,
 * balanced containers, escaped strings, invalid UTF-8 replaced by U+FFFD. The first failure sticks
 * and later calls do nothing, so callers write straight through and ask once, in finish.
 *
 * `key` is the member's name inside an object and NULL inside an array or at the root.
 */
#ifndef CORDON_KIT_JSONW_H
#define CORDON_KIT_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/error.h"

#define CORDON_JSONW_DEPTH_MAX 64

typedef struct cordon_jsonw {
    cordon_buf *out;
    uint64_t is_object; /* bit per level */
    uint64_t has_items; /* bit per level */
    unsigned depth;
    bool done; /* the root value is complete */
    cordon_err failure;
} cordon_jsonw;

/* out is borrowed; text is appended to it. */
void cordon_jsonw_init(cordon_jsonw *ret_writer, cordon_buf *out);

void cordon_jsonw_begin_object(cordon_jsonw *writer, const char *key);
void cordon_jsonw_end_object(cordon_jsonw *writer);
void cordon_jsonw_begin_array(cordon_jsonw *writer, const char *key);
void cordon_jsonw_end_array(cordon_jsonw *writer);

/* text must not be NULL. */
void cordon_jsonw_string(cordon_jsonw *writer, const char *key, const char *text);
void cordon_jsonw_string_n(cordon_jsonw *writer, const char *key, const char *text, size_t length);
/* NULL is written as null. */
void cordon_jsonw_string_or_null(cordon_jsonw *writer, const char *key, const char *text);
void cordon_jsonw_i64(cordon_jsonw *writer, const char *key, int64_t value);
void cordon_jsonw_u64(cordon_jsonw *writer, const char *key, uint64_t value);
void cordon_jsonw_bool(cordon_jsonw *writer, const char *key, bool value);
void cordon_jsonw_null(cordon_jsonw *writer, const char *key);

/* 0 when exactly one whole value was written; else -1 with the first failure. */
int cordon_jsonw_finish(cordon_jsonw *writer, cordon_err *err) __attribute__((warn_unused_result));

#endif

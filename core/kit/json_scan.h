/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict syntax check in front of json-c, private to kit. json-c decodes; this decides whether
 * the text is RFC 8259 JSON at all, and counts what json-c must find in it.
 */
#ifndef CORDON_KIT_JSON_SCAN_H
#define CORDON_KIT_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

/*
 * Members or elements of each value (0 for scalars), the values in the order in which they begin.
 * json-c keeps the last of two equal keys without a word; the count tells.
 */
typedef struct cordon_json_counts {
    uint32_t *at;
    uint32_t length;
    uint32_t capacity;
} cordon_json_counts;

/*
 * @param ret_counts  zeroed by the caller; at is freed by the caller in any case
 * @return 0, or -1 with PROTOCOL (byte offset and reason) or NOMEM
 */
int cordon_json_scan(const void *bytes, size_t length, unsigned max_depth,
                     cordon_json_counts *ret_counts, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

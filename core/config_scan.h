/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at a configuration text before libconfig sees it, because libconfig reads more, and
 * less, than it should: it wraps a large number without its L suffix (10737418240 becomes a
 * negative one, 0x100000000 becomes 0), clamps one beyond 64 bits, drops "\x00" out of a string,
 * opens any file for @include, reports a repeated key without its name and recurses as deep as a
 * text asks for. libc and kit only.
 */
#ifndef CORDON_CONFIG_SCAN_H
#define CORDON_CONFIG_SCAN_H

#include <stddef.h>

#include "kit/error.h"

/* Groups, lists and arrays within each other. */
#define CORDON_CONFIG_MAX_DEPTH 8

/* Settings in one group. */
#define CORDON_CONFIG_MAX_KEYS 256

/*
 * Checks a text and rewrites it so that every libconfig reads the same exact values: whole
 * numbers come out decimal with an L suffix. Lines stay where they are.
 *
 * @param file  for messages, "FILE:LINE: ..."
 * @return 0, or -1 with CONFIG or NOMEM
 */
int cordon_config_scan(const char *file, const char *text, size_t length, char **ret_text,
                       cordon_err *err) __attribute__((warn_unused_result));

#endif

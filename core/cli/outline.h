/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a JSON text of the library's to a person: the same keys and values as indented lines
 * "key: value".
 */
#ifndef CORDON_CLI_OUTLINE_H
#define CORDON_CLI_OUTLINE_H

#include <stdbool.h>

#include "kit/buf.h"
#include "kit/error.h"

/* Appends the outline; strings are made printable, order is the document's. */
int cordon_cli_outline(const char *json, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* The same, but of each list below the member `folded` only how many entries it has. */
int cordon_cli_outline_folded(const char *json, const char *folded, cordon_buf *out,
                              cordon_err *err) __attribute__((warn_unused_result));

/* Appends either the outline, or with as_json the text itself and a newline. */
int cordon_cli_outline_or_json(const char *json, bool as_json, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

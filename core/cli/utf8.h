/* SPDX-License-Identifier: Apache-2.0 */
/* Telling text from bytes, and writing bytes as text, for output inside JSON. Pure. */
#ifndef CORDON_CLI_UTF8_H
#define CORDON_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How many of the first bytes are whole, valid UTF-8 (RFC 3629: no surrogates, no overlong forms).
 * @param ret_cut  what follows them is the beginning of a character that may yet be completed
 */
size_t cordon_cli_utf8_prefix(const char *bytes, size_t length, bool *ret_cut);

/* Characters of base64 for that many bytes, without the final NUL. */
#define CORDON_CLI_BASE64_LENGTH(bytes) (((bytes) + 2) / 3 * 4)

/* Base64 with padding (RFC 4648 section 4) and a final NUL. */
void cordon_cli_base64(const void *bytes, size_t length, char *ret_text);

#endif

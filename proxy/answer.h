/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an HTTP answer. libc-only, pure.
 */
#ifndef CORDON_PROXY_ANSWER_H
#define CORDON_PROXY_ANSWER_H

#include <stddef.h>

#include "reason.h"

#define CORDON_ANSWER_MAX 1024

/* RFC 9110 section 9.3.6: a 2xx to CONNECT has no body and no length. */
#define CORDON_ANSWER_OK "HTTP/1.1 200 Connection established\r\n\r\n"

/*
 * Writes a whole refusal: status line, "Connection: close", and a plain body that names target and
 * reason, one line of printable ASCII. The caller closes the connection after it.
 *
 * @param target  may hold any bytes; cut when too long
 * @param detail  printable, or NULL
 * @return the length, at most CORDON_ANSWER_MAX
 */
size_t cordon_answer_refusal(char ret_text[CORDON_ANSWER_MAX], cordon_reason reason,
                             const char *target, size_t target_length, const char *detail);

#endif

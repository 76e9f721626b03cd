/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host name may look like, and when two are the same. One rule for policy entries, CONNECT
 * targets and TLS server names, so that what was matched is what is resolved. libc-only, pure.
 */
#ifndef CORDON_PROXY_HOST_H
#define CORDON_PROXY_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "reason.h"

/* RFC 1035 section 2.3.4, without the final dot. */
#define CORDON_HOST_MAX       253
#define CORDON_HOST_LABEL_MAX 63

/*
 * Checks the syntax of a host name: labels of letters, digits and inner hyphens (RFC 1123
 * section 2.1), separated by single dots, no final dot.
 *
 * @return NONE, BAD_TARGET, FINAL_DOT (one dot too many at the end, else fine) or IP_LITERAL: the
 *         last label is a number in any base that inet_aton(3) takes, so "1.2.3.4", "127.1",
 *         "0x7f000001", "2130706433" (the "ends in a number" rule of the WHATWG URL standard)
 */
cordon_reason cordon_host_check(const char *host, size_t length);

/* Equal as whole names, letter case ignored (RFC 4343); ASCII only, no locale. */
bool cordon_host_equal(const char *left, size_t left_length, const char *right,
                       size_t right_length);

/* 'A' to 'Z' become 'a' to 'z'; everything else stays. */
char cordon_host_fold(char c);

#endif

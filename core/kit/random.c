/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getrandom(2) and nothing else. libc-only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* explicit_bzero */
#endif
#include "kit/random.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "kit/hash.h"

#define TOKEN_BYTES_MAX 64

int cordon_random_bytes(void *ret_bytes, size_t length, cordon_err *err)
{
    uint8_t *out = ret_bytes;
    size_t have = 0;
    while (have < length) {
        ssize_t got = getrandom(out + have, length - have, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            /* A half-random buffer that somebody uses anyway must at least not look random. */
            memset(ret_bytes, 0, length);
            return CORDON_FAIL_ERRNO(err, got < 0 ? errno : EIO, "getrandom");
        }
        have += (size_t)got;
    }
    return 0;
}

int cordon_random_hex(char *ret_text, size_t digits, cordon_err *err)
{
    uint8_t bytes[TOKEN_BYTES_MAX];
    assert(digits % 2 == 0 && digits / 2 <= sizeof bytes);
    if (cordon_random_bytes(bytes, digits / 2, err) < 0)
        return -1;
    cordon_hex_encode(bytes, digits / 2, ret_text);
    explicit_bzero(bytes, sizeof bytes);
    return 0;
}

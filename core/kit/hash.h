/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4), HMAC-SHA-256 (RFC 2104), comparison in constant time, lower-case hex.
 * The guard holds no library, so these few lines are ours; the published vectors are its tests.
 * libc-only.
 */
#ifndef CORDON_KIT_HASH_H
#define CORDON_KIT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

#define CORDON_SHA256_BYTES 32
/* Digits of a hex digest with the final NUL. */
#define CORDON_SHA256_HEX_SIZE (2 * CORDON_SHA256_BYTES + 1)

typedef struct cordon_sha256 {
    uint32_t state[8];
    uint64_t length_bytes;
    uint8_t block[64];
} cordon_sha256;

void cordon_sha256_init(cordon_sha256 *sha);
void cordon_sha256_update(cordon_sha256 *sha, const void *bytes, size_t length);
/* Wipes *sha. */
void cordon_sha256_final(cordon_sha256 *sha, uint8_t ret_digest[CORDON_SHA256_BYTES]);

/* One-shot forms. */
void cordon_sha256_digest(const void *bytes, size_t length,
                          uint8_t ret_digest[CORDON_SHA256_BYTES]);
void cordon_hmac_sha256(const void *key, size_t key_length, const void *bytes, size_t length,
                        uint8_t ret_mac[CORDON_SHA256_BYTES]);

/* SECURITY: takes the same time wherever the first difference is. */
bool cordon_equal_ct(const void *a, const void *b, size_t length);

/* ret_text takes 2 * length digits and a NUL. */
void cordon_hex_encode(const void *bytes, size_t length, char *ret_text);

/* True for a non-empty text of 0-9a-f only: what engine ids and our tokens are made of. */
bool cordon_hex_is_lower(const char *text, size_t length);

/* Exactly 2 * ret_length lower-case digits, else PROTOCOL. */
int cordon_hex_decode(const char *text, size_t length, void *ret_bytes, size_t ret_length,
                      cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 after FIPS 180-4, HMAC after RFC 2104, hex. Written from the standards. libc-only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* explicit_bzero */
#endif
#include "kit/hash.h"

#include <string.h>

#define BLOCK 64

/* FIPS 180-4 section 4.2.2 */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* FIPS 180-4 section 5.3.3 */
static const uint32_t INITIAL[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* FIPS 180-4 section 6.2.2 step 1 */
static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (size_t t = 0; t < 16; t++)
        w[t] = load32(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/*
 * One round of step 3. The standard moves all of a .. h one place on in every round; here the
 * places stay and the names move: a is v[-t mod 8]. Inlined with a constant t, that costs nothing,
 * and the moves were most of the time that a run spent on its guard's digests.
 */
static inline __attribute__((always_inline)) void round_of(uint32_t v[8], unsigned t, uint32_t kw)
{
    uint32_t a = v[(0 - t) % 8];
    uint32_t b = v[(1 - t) % 8];
    uint32_t c = v[(2 - t) % 8];
    uint32_t e = v[(4 - t) % 8];
    uint32_t f = v[(5 - t) % 8];
    uint32_t g = v[(6 - t) % 8];
    uint32_t e1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    uint32_t t1 = v[(7 - t) % 8] + e1 + ((e & f) ^ (~e & g)) + kw;
    uint32_t e0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);

    v[(3 - t) % 8] += t1;
    v[(7 - t) % 8] = t1 + e0 + ((a & b) ^ (a & c) ^ (b & c));
}

/* Steps 2 to 4. */
static void compress(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64] = {0};
    uint32_t v[8];
    schedule(w, block);
    memcpy(v, state, sizeof v);
    for (unsigned t = 0; t < 64; t += 8) {
        round_of(v, 0, K[t] + w[t]);
        round_of(v, 1, K[t + 1] + w[t + 1]);
        round_of(v, 2, K[t + 2] + w[t + 2]);
        round_of(v, 3, K[t + 3] + w[t + 3]);
        round_of(v, 4, K[t + 4] + w[t + 4]);
        round_of(v, 5, K[t + 5] + w[t + 5]);
        round_of(v, 6, K[t + 6] + w[t + 6]);
        round_of(v, 7, K[t + 7] + w[t + 7]);
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void cordon_sha256_init(cordon_sha256 *sha)
{
    *sha = (cordon_sha256){0};
    memcpy(sha->state, INITIAL, sizeof sha->state);
}

void cordon_sha256_update(cordon_sha256 *sha, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    while (length > 0) {
        size_t used = sha->length_bytes % BLOCK;
        size_t take = length < BLOCK - used ? length : BLOCK - used;
        memcpy(sha->block + used, p, take);
        sha->length_bytes += take;
        p += take;
        length -= take;
        if (used + take == BLOCK)
            compress(sha->state, sha->block);
    }
}

void cordon_sha256_final(cordon_sha256 *sha, uint8_t ret_digest[CORDON_SHA256_BYTES])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = sha->length_bytes * 8;
    uint8_t length[8];
    size_t used = sha->length_bytes % BLOCK;
    store32(length, (uint32_t)(bits >> 32));
    store32(length + 4, (uint32_t)bits);
    cordon_sha256_update(sha, padding, (used < 56 ? 56 : 120) - used);
    cordon_sha256_update(sha, length, sizeof length);
    for (size_t i = 0; i < 8; i++)
        store32(ret_digest + 4 * i, sha->state[i]);
    explicit_bzero(sha, sizeof *sha);
}

void cordon_sha256_digest(const void *bytes, size_t length, uint8_t ret_digest[CORDON_SHA256_BYTES])
{
    cordon_sha256 sha;
    cordon_sha256_init(&sha);
    cordon_sha256_update(&sha, bytes, length);
    cordon_sha256_final(&sha, ret_digest);
}

/* One of HMAC's two hashes: H((key ^ pad) || bytes). */
static void hmac_half(const uint8_t key[BLOCK], uint8_t pad, const void *bytes, size_t length,
                      uint8_t ret_digest[CORDON_SHA256_BYTES])
{
    uint8_t block[BLOCK];
    cordon_sha256 sha;
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = key[i] ^ pad;
    cordon_sha256_init(&sha);
    cordon_sha256_update(&sha, block, BLOCK);
    cordon_sha256_update(&sha, bytes, length);
    cordon_sha256_final(&sha, ret_digest);
    explicit_bzero(block, sizeof block);
}

void cordon_hmac_sha256(const void *key, size_t key_length, const void *bytes, size_t length,
                        uint8_t ret_mac[CORDON_SHA256_BYTES])
{
    uint8_t block[BLOCK] = {0};
    uint8_t inner[CORDON_SHA256_BYTES];
    if (key_length > BLOCK)
        cordon_sha256_digest(key, key_length, block);
    else if (key_length > 0)
        memcpy(block, key, key_length);
    hmac_half(block, 0x36, bytes, length, inner);
    hmac_half(block, 0x5c, inner, sizeof inner, ret_mac);
    explicit_bzero(block, sizeof block);
    explicit_bzero(inner, sizeof inner);
}

bool cordon_equal_ct(const void *a, const void *b, size_t length)
{
    const volatile uint8_t *x = a;
    const volatile uint8_t *y = b;
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++)
        difference = (uint8_t)(difference | (x[i] ^ y[i]));
    return difference == 0;
}

void cordon_hex_encode(const void *bytes, size_t length, char *ret_text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = bytes;
    for (size_t i = 0; i < length; i++) {
        ret_text[2 * i] = digits[p[i] >> 4];
        ret_text[2 * i + 1] = digits[p[i] & 15];
    }
    ret_text[2 * length] = '\0';
}

/* Lower case only: one value has one spelling, so texts can be compared. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool cordon_hex_is_lower(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (digit_value(text[i]) < 0)
            return false;
    return length > 0;
}

int cordon_hex_decode(const char *text, size_t length, void *ret_bytes, size_t ret_length,
                      cordon_err *err)
{
    uint8_t *out = ret_bytes;
    if (length % 2 != 0 || length / 2 != ret_length || !cordon_hex_is_lower(text, length))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "\"%s\" is not %zu lower-case hex digits",
                           cordon_err_printable((char[80]){0}, 80, text, length), 2 * ret_length);
    for (size_t i = 0; i < ret_length; i++)
        out[i] = (uint8_t)((unsigned)digit_value(text[2 * i]) << 4 |
                           (unsigned)digit_value(text[2 * i + 1]));
    return 0;
}

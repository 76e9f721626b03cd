/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes TLS ClientHello bytes for the proxy's tests: a valid one for any server name, with knobs
 * for what a hostile one has. Header-only; test code, so its buffers are fixed and asserted.
 */
#ifndef CORDON_TESTS_SUPPORT_HELLO_H
#define CORDON_TESTS_SUPPORT_HELLO_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HELLO_MAX 65536

typedef struct hello_bytes {
    size_t length;
    uint8_t data[HELLO_MAX];
} hello_bytes;

static inline void hello_put(hello_bytes *out, uint64_t value, size_t width)
{
    assert(out->length + width <= HELLO_MAX);
    for (size_t i = 0; i < width; i++)
        out->data[out->length++] = (uint8_t)(value >> 8 * (width - 1 - i));
}

static inline void hello_add(hello_bytes *out, const void *bytes, size_t length)
{
    assert(out->length + length <= HELLO_MAX);
    memcpy(out->data + out->length, bytes, length);
    out->length += length;
}

/* Sets the length field of `width` bytes at `at` to what follows it. */
static inline void hello_close(hello_bytes *out, size_t at, size_t width)
{
    size_t length = out->length - at - width;
    for (size_t i = 0; i < width; i++)
        out->data[at + i] = (uint8_t)(length >> 8 * (width - 1 - i));
}

static inline void hello_extension(hello_bytes *out, unsigned type, const void *bytes,
                                   size_t length)
{
    hello_put(out, type, 2);
    hello_put(out, length, 2);
    hello_add(out, bytes, length);
}

static inline void hello_server_name(hello_bytes *out, const char *name)
{
    size_t length = strlen(name);
    hello_put(out, 0, 2);
    hello_put(out, length + 5, 2);
    hello_put(out, length + 3, 2);
    hello_put(out, 0, 1);
    hello_put(out, length, 2);
    hello_add(out, name, length);
}

/* What hello_message makes besides a plain hello. */
typedef struct hello_knobs {
    const char *name;        /* NULL: no server_name */
    const char *second_name; /* one more server_name extension */
    bool no_extensions;      /* not even the length of their list */
    bool encrypted;          /* an encrypted_client_hello extension after the name */
    size_t padding;          /* bytes of a padding extension */
} hello_knobs;

/* The handshake message, without records. */
static inline void hello_message(hello_bytes *out, const hello_knobs *knobs)
{
    static const uint8_t filler[32] = {7};
    static const uint8_t ciphers[] = {0x13, 0x01, 0x13, 0x02};
    static const uint8_t zeros[HELLO_MAX / 2] = {0};
    static const uint8_t versions[] = {2, 3, 4};
    out->length = 0;
    hello_put(out, 1, 1);
    hello_put(out, 0, 3);
    hello_put(out, 0x0303, 2);
    hello_add(out, filler, 32);
    hello_put(out, 32, 1);
    hello_add(out, filler, 32);
    hello_put(out, sizeof ciphers, 2);
    hello_add(out, ciphers, sizeof ciphers);
    hello_put(out, 0x0100, 2);
    if (!knobs->no_extensions) {
        size_t at = out->length;
        hello_put(out, 0, 2);
        hello_extension(out, 43, versions, sizeof versions);
        if (knobs->name)
            hello_server_name(out, knobs->name);
        if (knobs->second_name)
            hello_server_name(out, knobs->second_name);
        if (knobs->padding > 0)
            hello_extension(out, 21, zeros, knobs->padding);
        if (knobs->encrypted)
            hello_extension(out, 0xfe0d, filler, sizeof filler);
        hello_close(out, at, 2);
    }
    hello_close(out, 1, 3);
}

/* Cuts the message into records of at most `most` bytes each. */
static inline void hello_records(hello_bytes *out, const hello_bytes *message, size_t most)
{
    out->length = 0;
    for (size_t at = 0; at < message->length; at += most) {
        size_t length = message->length - at < most ? message->length - at : most;
        hello_put(out, 22, 1);
        hello_put(out, 0x0301, 2);
        hello_put(out, length, 2);
        hello_add(out, message->data + at, length);
    }
}

/* A plain hello for `name` in one record. */
static inline void hello_for(hello_bytes *out, const char *name)
{
    hello_bytes message;
    hello_message(&message, &(hello_knobs){.name = name});
    hello_records(out, &message, 16384);
}

#endif

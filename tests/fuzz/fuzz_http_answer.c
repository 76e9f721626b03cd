/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response head and body from any bytes, the body in pieces that the first byte chooses: the same
 * body and the same verdict whatever the cuts.
 */
#include <stdlib.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/http_head.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length);

typedef struct outcome {
    int rc;
    bool done;
    size_t used;
    uint8_t digest[CORDON_SHA256_BYTES];
} outcome;

static void decode(cordon_http_body body, const char *text, size_t length, size_t piece,
                   size_t out_size, outcome *o)
{
    char out[64];
    cordon_sha256 sha;
    *o = (outcome){0};
    cordon_sha256_init(&sha);
    while (o->rc == 0 && !body.done && o->used < length) {
        size_t count = length - o->used < piece ? length - o->used : piece;
        size_t used = 0;
        size_t made = 0;
        o->rc = cordon_http_body_decode(&body, text + o->used, count, out, out_size, &used, &made,
                                        NULL);
        if (o->rc == 0 && used == 0 && made == 0)
            abort();
        cordon_sha256_update(&sha, out, made);
        o->used += used;
    }
    o->done = body.done;
    cordon_sha256_final(&sha, o->digest);
}

static void compare(const cordon_http_head *head, const char *text, size_t length, unsigned choice)
{
    outcome whole;
    outcome cut;
    decode(cordon_http_body_of(head), text, length, length + 1, 64, &whole);
    decode(cordon_http_body_of(head), text, length, 1 + choice % 7, 1 + choice % 5, &cut);
    if (whole.rc != cut.rc || whole.done != cut.done)
        abort();
    if (whole.rc == 0 && (whole.used != cut.used || memcmp(whole.digest, cut.digest, 32) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length)
{
    cordon_httpc_response response = {0};
    cordon_http_head head = {.response = &response};
    if (length == 0)
        return 0;
    const char *text = (const char *)bytes + 1;
    size_t left = length - 1;
    while (!head.complete) {
        const char *end = memchr(text, '\n', left);
        size_t line = end ? (size_t)(end - text) + 1 : left;
        if (line == 0 || cordon_http_head_line(&head, text, line, NULL) < 0)
            return 0;
        text += line;
        left -= line;
    }
    compare(&head, text, left, bytes[0]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says where to cut; whatever the cuts, the same streams and the same verdict come
 * out.
 */
#include <stdlib.h>

#include "kit/hash.h"
#include "kit/stdcopy.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length);

typedef struct outcome {
    cordon_sha256 sha[2];
    uint8_t digest[2][CORDON_SHA256_BYTES];
    int feed;
    int finish;
} outcome;

static int sink(void *context, int stream, const void *bytes, size_t length, cordon_err *err)
{
    outcome *o = context;
    (void)err;
    if ((stream != 1 && stream != 2) || length == 0)
        abort();
    cordon_sha256_update(&o->sha[stream - 1], bytes, length);
    return 0;
}

static void run(outcome *o, const unsigned char *bytes, size_t length, size_t piece)
{
    cordon_stdcopy demux;
    *o = (outcome){0};
    cordon_sha256_init(&o->sha[0]);
    cordon_sha256_init(&o->sha[1]);
    cordon_stdcopy_init(&demux, sink, o);
    for (size_t at = 0; at < length && o->feed == 0; at += piece)
        o->feed = cordon_stdcopy_feed(&demux, bytes + at, length - at < piece ? length - at : piece,
                                      NULL);
    o->finish = cordon_stdcopy_finish(&demux, NULL);
    for (int i = 0; i < 2; i++)
        cordon_sha256_final(&o->sha[i], o->digest[i]);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length)
{
    outcome whole;
    outcome cut;
    if (length == 0)
        return 0;
    run(&whole, bytes + 1, length - 1, length);
    run(&cut, bytes + 1, length - 1, 1u + bytes[0] % 16u);
    if (whole.feed != cut.feed || whole.finish != cut.finish ||
        !cordon_equal_ct(whole.digest, cut.digest, sizeof whole.digest))
        abort();
    return 0;
}

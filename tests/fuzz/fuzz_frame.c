/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through the record reader. The mac would stop nearly every mutation at the door, so the
 * input's body is sealed here, too: the field reader sees everything.
 */
#include <stdlib.h>
#include <string.h>

#include "kit/frame.h"
#include "kit/hash.h"

#define MAGIC "CDNTEST1"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length);

static void read_fields(const void *bytes, size_t length)
{
    cordon_frame_reader reader;
    cordon_frame_field field;
    size_t seen = CORDON_FRAME_OVERHEAD_BYTES;
    if (cordon_frame_open(&reader, MAGIC, bytes, length, cordon_frame_unkeyed, NULL) < 0)
        return;
    while (cordon_frame_next(&reader, &field)) {
        char *text = NULL;
        uint64_t number = 0;
        if (cordon_frame_field_text(&field, 1000, &text, NULL) == 0 && strlen(text) != field.length)
            abort();
        free(text);
        (void)!cordon_frame_field_u64(&field, &number, NULL);
        seen += 6 + field.length;
    }
    if (seen != length)
        abort();
}

static void read_as_body(const unsigned char *body, size_t length)
{
    unsigned char *record = malloc(length + CORDON_FRAME_OVERHEAD_BYTES);
    memcpy(record, MAGIC, 8);
    for (int i = 0; i < 4; i++)
        record[8 + i] = (unsigned char)(length >> (24 - 8 * i));
    memcpy(record + 12, body, length);
    cordon_hmac_sha256(cordon_frame_unkeyed, 32, record, 12 + length, record + 12 + length);
    read_fields(record, length + CORDON_FRAME_OVERHEAD_BYTES);
    free(record);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length)
{
    size_t total = 0;
    size_t need = 0;
    if (cordon_frame_measure(MAGIC, bytes, length, 65536, &total, &need, NULL) == 0 &&
        (total > 65536 || need > 65536))
        abort();
    read_fields(bytes, length);
    if (length > 0)
        read_as_body(bytes, length);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record between core and gate: building and strict reading. libc-only.
 */
#include "kit/frame.h"

#include <assert.h>
#include <string.h>

#include "kit/hash.h"

#define LENGTH_OFFSET    CORDON_FRAME_MAGIC_BYTES
#define FIELD_HEAD_BYTES 6
#define MAC_BYTES        CORDON_SHA256_BYTES

const uint8_t cordon_frame_unkeyed[CORDON_FRAME_KEY_BYTES] = {0};

/* value in `width` bytes, most significant first */
static void store_be(uint8_t *p, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

static uint64_t load_be(const uint8_t *p, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | p[i];
    return value;
}

int cordon_frame_init(cordon_frame *ret_frame, const char *magic, size_t max_bytes, cordon_err *err)
{
    assert(max_bytes >= CORDON_FRAME_OVERHEAD_BYTES && max_bytes <= UINT32_MAX);
    uint8_t head[CORDON_FRAME_HEAD_BYTES] = {0};
    cordon_frame frame = {.bytes = cordon_buf_make_secret(max_bytes)};
    memcpy(head, magic, CORDON_FRAME_MAGIC_BYTES);
    if (cordon_buf_append(&frame.bytes, head, sizeof head, err) < 0)
        return -1;
    *ret_frame = frame;
    return 0;
}

void cordon_frame_clear(cordon_frame *frame)
{
    cordon_buf_clear(&frame->bytes);
    frame->sealed = false;
}

int cordon_frame_add_bytes(cordon_frame *frame, uint16_t tag, const void *bytes, size_t length,
                           cordon_err *err)
{
    uint8_t head[FIELD_HEAD_BYTES];
    char *space = NULL;
    if (frame->sealed)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a sealed record takes no field");
    if (length > frame->bytes.max_bytes)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "field %u of %zu bytes does not fit a record of at most %zu bytes", tag,
                           length, frame->bytes.max_bytes);
    /* Head, field and the mac's room in one step: a failure leaves no half field, and seal cannot
     * run out of room. max_bytes fits 32 bits, so the sum cannot wrap. */
    if (cordon_buf_reserve(&frame->bytes, FIELD_HEAD_BYTES + length + MAC_BYTES, &space, err) < 0) {
        cordon_err_wrap(err, "field %u of %zu bytes does not fit the record", tag, length);
        return -1;
    }
    store_be(head, 2, tag);
    store_be(head + 2, 4, length);
    memcpy(space, head, sizeof head);
    if (length > 0)
        memcpy(space + sizeof head, bytes, length);
    cordon_buf_commit(&frame->bytes, sizeof head + length);
    return 0;
}

int cordon_frame_add_string(cordon_frame *frame, uint16_t tag, const char *text, cordon_err *err)
{
    return cordon_frame_add_bytes(frame, tag, text, strlen(text), err);
}

int cordon_frame_add_u64(cordon_frame *frame, uint16_t tag, uint64_t value, cordon_err *err)
{
    uint8_t bytes[8];
    store_be(bytes, sizeof bytes, value);
    return cordon_frame_add_bytes(frame, tag, bytes, sizeof bytes, err);
}

int cordon_frame_seal(cordon_frame *frame, const uint8_t key[CORDON_FRAME_KEY_BYTES],
                      cordon_err *err)
{
    uint8_t mac[MAC_BYTES];
    char *space = NULL;
    if (frame->sealed)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a record is sealed once");
    if (cordon_buf_reserve(&frame->bytes, MAC_BYTES, &space, err) < 0)
        return -1;
    store_be((uint8_t *)frame->bytes.data + LENGTH_OFFSET, 4,
             frame->bytes.length - CORDON_FRAME_HEAD_BYTES);
    cordon_hmac_sha256(key, CORDON_FRAME_KEY_BYTES, frame->bytes.data, frame->bytes.length, mac);
    memcpy(space, mac, sizeof mac);
    cordon_buf_commit(&frame->bytes, sizeof mac);
    frame->sealed = true;
    return 0;
}

int cordon_frame_measure(const char *magic, const void *bytes, size_t have, size_t max_bytes,
                         size_t *ret_total, size_t *ret_need, cordon_err *err)
{
    assert(max_bytes >= CORDON_FRAME_OVERHEAD_BYTES);
    const uint8_t *p = bytes;
    size_t seen = have < CORDON_FRAME_MAGIC_BYTES ? have : CORDON_FRAME_MAGIC_BYTES;
    if (seen > 0 && memcmp(p, magic, seen) != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not a record: it does not begin with %.8s",
                           magic);
    if (have < CORDON_FRAME_HEAD_BYTES) {
        *ret_total = 0;
        *ret_need = CORDON_FRAME_HEAD_BYTES - have;
        return 0;
    }
    uint64_t total = load_be(p + LENGTH_OFFSET, 4) + CORDON_FRAME_OVERHEAD_BYTES;
    if (total > max_bytes)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "a record of %llu bytes is over the limit of %zu",
                           (unsigned long long)total, max_bytes);
    *ret_total = (size_t)total;
    *ret_need = have < total ? (size_t)total - have : 0;
    return 0;
}

/* Takes one field off the front; false when what is left is no whole field. */
static bool take_field(cordon_frame_reader *reader, cordon_frame_field *ret_field)
{
    size_t left = (size_t)(reader->end - reader->next);
    if (left < FIELD_HEAD_BYTES)
        return false;
    size_t length = (size_t)load_be(reader->next + 2, 4);
    if (length > left - FIELD_HEAD_BYTES)
        return false;
    ret_field->tag = (uint16_t)load_be(reader->next, 2);
    ret_field->bytes = reader->next + FIELD_HEAD_BYTES;
    ret_field->length = length;
    reader->next += FIELD_HEAD_BYTES + length;
    return true;
}

static bool fields_fill(cordon_frame_reader reader)
{
    cordon_frame_field field;
    while (reader.next != reader.end)
        if (!take_field(&reader, &field))
            return false;
    return true;
}

static bool mac_matches(const uint8_t *bytes, size_t signed_length, const uint8_t *key)
{
    uint8_t mac[MAC_BYTES];
    cordon_hmac_sha256(key, CORDON_FRAME_KEY_BYTES, bytes, signed_length, mac);
    return cordon_equal_ct(mac, bytes + signed_length, sizeof mac);
}

int cordon_frame_open(cordon_frame_reader *ret_reader, const char *magic, const void *bytes,
                      size_t length, const uint8_t key[CORDON_FRAME_KEY_BYTES], cordon_err *err)
{
    const uint8_t *p = bytes;
    size_t total = 0;
    size_t need = 0;
    if (cordon_frame_measure(magic, bytes, length, SIZE_MAX, &total, &need, err) < 0)
        return -1;
    if (need > 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a record cut after %zu bytes", length);
    if (length != total)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a record with %zu bytes too many",
                           length - total);
    /* SECURITY: nothing of the body is looked at before this. */
    if (!mac_matches(p, total - MAC_BYTES, key))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "a record that is not authentic: changed, or made for another nonce");
    cordon_frame_reader reader = {.next = p + CORDON_FRAME_HEAD_BYTES,
                                  .end = p + total - MAC_BYTES};
    if (!fields_fill(reader))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a record whose fields do not fill its body");
    *ret_reader = reader;
    return 0;
}

bool cordon_frame_next(cordon_frame_reader *reader, cordon_frame_field *ret_field)
{
    return reader->next != reader->end && take_field(reader, ret_field);
}

int cordon_frame_field_u64(const cordon_frame_field *field, uint64_t *ret_value, cordon_err *err)
{
    if (field->length != 8)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u has %zu bytes, expected 8",
                           field->tag, field->length);
    *ret_value = load_be(field->bytes, 8);
    return 0;
}

int cordon_frame_field_text(const cordon_frame_field *field, size_t max_bytes, char **ret_text,
                            cordon_err *err)
{
    if (field->length > max_bytes)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u has %zu bytes, at most %zu expected",
                           field->tag, field->length, max_bytes);
    if (memchr(field->bytes, 0, field->length))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u holds a NUL", field->tag);
    char *text = malloc(field->length + 1);
    if (!text)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for field %u", field->tag);
    memcpy(text, field->bytes, field->length);
    text[field->length] = '\0';
    *ret_text = text;
    return 0;
}

int cordon_frame_field_unknown(const cordon_frame_field *field, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u is not known", field->tag);
}

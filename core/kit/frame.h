/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one record format between core and the gate:
 *
 *   magic[8]  u32 body_length  body  mac[32]        all integers big-endian
 *   body = { u16 tag  u32 length  bytes }*
 *   mac  = HMAC-SHA-256(key, everything before it)
 *
 * The key binds an answer to the nonce it answers. It guards against a short, late, foreign or
 * replayed record, not against somebody who knows the nonce. What tags mean is the caller's.
 * libc-only: the gate links this file too.
 */
#ifndef CORDON_KIT_FRAME_H
#define CORDON_KIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/error.h"

#define CORDON_FRAME_MAGIC_BYTES    8
#define CORDON_FRAME_KEY_BYTES      32
#define CORDON_FRAME_HEAD_BYTES     12
#define CORDON_FRAME_OVERHEAD_BYTES (CORDON_FRAME_HEAD_BYTES + 32)

/* 32 zero bytes: for the first record of a conversation, which nobody could key. */
extern const uint8_t cordon_frame_unkeyed[CORDON_FRAME_KEY_BYTES];

/* A record under construction; it may hold secrets, so clear wipes it. */
typedef struct cordon_frame {
    cordon_buf bytes;
    bool sealed;
} cordon_frame;

/*
 * Starts a record whose whole size may be at most max_bytes.
 * @param magic  exactly 8 bytes are read
 */
int cordon_frame_init(cordon_frame *ret_frame, const char *magic, size_t max_bytes, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_frame_clear(cordon_frame *frame);

/* Add one field; -1 with PROTOCOL over max_bytes, INVALID after seal, NOMEM. */
int cordon_frame_add_bytes(cordon_frame *frame, uint16_t tag, const void *bytes, size_t length,
                           cordon_err *err) __attribute__((warn_unused_result));
/* The text without its final NUL. */
int cordon_frame_add_string(cordon_frame *frame, uint16_t tag, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_frame_add_u64(cordon_frame *frame, uint16_t tag, uint64_t value, cordon_err *err)
    __attribute__((warn_unused_result));

/* Writes length and mac; then frame->bytes.data / .length are what goes out. Once only. */
int cordon_frame_seal(cordon_frame *frame, const uint8_t key[CORDON_FRAME_KEY_BYTES],
                      cordon_err *err) __attribute__((warn_unused_result));

/* A checked record; borrows the bytes it was opened over. */
typedef struct cordon_frame_reader {
    const uint8_t *next;
    const uint8_t *end;
} cordon_frame_reader;

typedef struct cordon_frame_field {
    uint16_t tag;
    const uint8_t *bytes;
    size_t length;
} cordon_frame_field;

/*
 * Checks magic, exact length, mac and that the fields fill the body exactly, all before the first
 * field can be seen.
 * @return 0, or -1 with PROTOCOL
 */
int cordon_frame_open(cordon_frame_reader *ret_reader, const char *magic, const void *bytes,
                      size_t length, const uint8_t key[CORDON_FRAME_KEY_BYTES], cordon_err *err)
    __attribute__((warn_unused_result));

/* The next field in order; false at the end (open has checked that there is no other reason). */
bool cordon_frame_next(cordon_frame_reader *reader, cordon_frame_field *ret_field);

/* Exactly 8 bytes, else PROTOCOL naming the tag. */
int cordon_frame_field_u64(const cordon_frame_field *field, uint64_t *ret_value, cordon_err *err)
    __attribute__((warn_unused_result));

/* A NUL-terminated heap copy; PROTOCOL when it is over max_bytes or holds a NUL. */
int cordon_frame_field_text(const cordon_frame_field *field, size_t max_bytes, char **ret_text,
                            cordon_err *err) __attribute__((warn_unused_result));

/* Always -1 with PROTOCOL naming the tag: what a reader does with a tag it does not know. */
int cordon_frame_field_unknown(const cordon_frame_field *field, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * For reading from a stream: given the first `have` bytes, how large the whole record is
 * (*ret_total, 0 while the head is not complete) and how many bytes are still to come
 * (*ret_need, 0 when at least the whole record is there). Fails with PROTOCOL as soon as the magic
 * cannot match any more or the record would pass max_bytes. The mac is open's business.
 */
int cordon_frame_measure(const char *magic, const void *bytes, size_t have, size_t max_bytes,
                         size_t *ret_total, size_t *ret_need, cordon_err *err)
    __attribute__((warn_unused_result));

CORDON_DEFINE_AUTO(cordon_frame, cordon_frame_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The gate's side of a conversation, and feeding it to a link in any cut; for tests of gate_link.
 */
#ifndef CORDON_TESTS_SUPPORT_GATE_TALK_H
#define CORDON_TESTS_SUPPORT_GATE_TALK_H

#include "gate_link.h"
#include "support/test.h"

/* A link and what came out of it. */
typedef struct talk {
    cordon_gate_link link;
    cordon_buf output;
} talk;

static inline int collect(void *context, const void *bytes, size_t length, cordon_err *err)
{
    cordon_buf *output = context;

    return cordon_buf_append(output, bytes, length, err);
}

static inline void talk_clear(talk *value)
{
    cordon_gate_link_clear(&value->link);
    cordon_buf_clear(&value->output);
}
CORDON_DEFINE_AUTO(talk, talk_clear)

static inline bool talk_begin(talk *value)
{
    cordon_err err = CORDON_ERR_INIT;

    value->output = cordon_buf_make(8u << 20);
    return CHECK_OK(cordon_gate_link_init(&value->link, collect, &value->output, &err), err);
}

/* --- What the gate says ----------------------------------------------------------------------- */

typedef struct number {
    uint16_t tag;
    uint64_t value;
} number;

/* Appends one frame of u64 fields. */
static inline bool append_frame(cordon_buf *stream, const char *magic, const uint8_t *key,
                                const number *numbers, size_t count)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;

    if (!CHECK_OK(cordon_frame_init(&frame, magic, 4096, &err), err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!CHECK_OK(cordon_frame_add_u64(&frame, numbers[i].tag, numbers[i].value, &err), err))
            return false;
    }
    return CHECK_OK(cordon_frame_seal(&frame, key, &err), err) &&
           CHECK_OK(cordon_buf_append(stream, frame.bytes.data, frame.bytes.length, &err), err);
}

static inline bool append_report(cordon_buf *stream)
{
    const number fields[] = {{CORDON_GATE_REPORT_VERSION, 1}, {CORDON_GATE_REPORT_FACT, 0}};

    return append_frame(stream, CORDON_GATE_MAGIC_REPORT, cordon_frame_unkeyed, fields, 2);
}

static inline bool append_started(cordon_buf *stream, const uint8_t *key, uint64_t errnum)
{
    const number field = {CORDON_GATE_STARTED_ERRNUM, errnum};

    return append_frame(stream, CORDON_GATE_MAGIC_STARTED, key, &field, 1);
}

static inline bool append_exit(cordon_buf *stream, const uint8_t *key, uint64_t code)
{
    const number field = {CORDON_GATE_EXIT_CODE, code};

    return append_frame(stream, CORDON_GATE_MAGIC_EXIT, key, &field, 1);
}

static inline bool append(cordon_buf *stream, const void *bytes, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_buf_append(stream, bytes, length, &err), err);
}

/* --- Feeding in cuts -------------------------------------------------------------------------- */

/* Pieces of `size` bytes, copied so that reading beyond a piece is seen by the sanitizer. */
static inline int feed(talk *value, const char *bytes, size_t length, size_t size, cordon_err *err)
{
    for (size_t at = 0; at < length; at += size) {
        size_t piece = length - at < size ? length - at : size;
        cordon_autofree char *copy = malloc(piece);

        if (copy == NULL)
            return -1;
        memcpy(copy, bytes + at, piece);
        if (cordon_gate_link_feed(&value->link, copy, piece, err) != 0)
            return -1;
    }
    return 0;
}

/* Two pieces, cut at `cut`; then the end of the stream. */
static inline bool feed_cut(talk *value, const cordon_buf *stream, size_t cut)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(feed(value, stream->data, cut, SIZE_MAX, &err), err) &&
           CHECK_OK(feed(value, stream->data + cut, stream->length - cut, SIZE_MAX, &err), err) &&
           CHECK_OK(cordon_gate_link_finish(&value->link, &err), err);
}

static inline bool talk_until_released(talk *value)
{
    cordon_auto(cordon_buf) report = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    if (!talk_begin(value) || !append_report(&report) ||
        !CHECK_OK(feed(value, report.data, report.length, SIZE_MAX, &err), err))
        return false;
    cordon_gate_link_released(&value->link);
    return true;
}

/* A talk that has been released and whose command has been found. */
static inline bool talk_until_output(talk *value)
{
    cordon_auto(cordon_buf) stream = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;

    if (!talk_begin(value) || !append_report(&stream) ||
        !CHECK_OK(feed(value, stream.data, stream.length, SIZE_MAX, &err), err) ||
        !CHECK_INT(value->link.state, CORDON_LINK_WAITING))
        return false;
    cordon_gate_link_released(&value->link);
    cordon_buf_reset(&stream);
    return append_started(&stream, value->link.exit_key, 0) &&
           CHECK_OK(feed(value, stream.data, stream.length, SIZE_MAX, &err), err) &&
           CHECK_INT(value->link.state, CORDON_LINK_OUTPUT);
}

#endif

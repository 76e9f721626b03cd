/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach stream's demultiplexer: a state machine of eight header bytes and one counter.
 * libc-only.
 */
#include "kit/stdcopy.h"

#include <string.h>

#define HEADER_BYTES 8

void cordon_stdcopy_init(cordon_stdcopy *ret_demux, cordon_stdcopy_fn *sink, void *context)
{
    *ret_demux = (cordon_stdcopy){.sink = sink, .context = context};
}

static uint32_t payload_length(const uint8_t *header)
{
    return (uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 | (uint32_t)header[6] << 8 |
           header[7];
}

static int check_header(const cordon_stdcopy *demux, cordon_err *err)
{
    const uint8_t *h = demux->header;
    unsigned long long at = demux->offset - HEADER_BYTES;
    if (h[0] != CORDON_STDCOPY_STDOUT && h[0] != CORDON_STDCOPY_STDERR)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "output stream: stream id %u at byte %llu, expected 1 or 2", h[0], at);
    if (h[1] || h[2] || h[3])
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "output stream: header at byte %llu is not padded with zeros", at);
    return 0;
}

/* Fills the header as far as the bytes go; returns how many were taken. */
static size_t take_header(cordon_stdcopy *demux, const uint8_t *bytes, size_t length)
{
    size_t missing = (size_t)HEADER_BYTES - demux->header_have;
    size_t take = length < missing ? length : missing;
    memcpy(demux->header + demux->header_have, bytes, take);
    demux->header_have = (uint8_t)(demux->header_have + take);
    demux->offset += take;
    return take;
}

/* A whole header: judge it and be ready for its payload. */
static int enter_payload(cordon_stdcopy *demux, cordon_err *err)
{
    if (check_header(demux, err) < 0)
        return -1;
    demux->payload_left = payload_length(demux->header);
    demux->header_have = 0;
    return 0;
}

static int take_payload(cordon_stdcopy *demux, const uint8_t *bytes, size_t length,
                        size_t *ret_taken, cordon_err *err)
{
    size_t take = length < demux->payload_left ? length : demux->payload_left;
    demux->payload_left -= (uint32_t)take;
    demux->offset += take;
    *ret_taken = take;
    return demux->sink(demux->context, demux->header[0], bytes, take, err);
}

static int step(cordon_stdcopy *demux, const uint8_t *bytes, size_t length, size_t *ret_taken,
                cordon_err *err)
{
    if (demux->payload_left > 0)
        return take_payload(demux, bytes, length, ret_taken, err);
    *ret_taken = take_header(demux, bytes, length);
    return demux->header_have == HEADER_BYTES ? enter_payload(demux, err) : 0;
}

int cordon_stdcopy_feed(cordon_stdcopy *demux, const void *bytes, size_t length, cordon_err *err)
{
    const uint8_t *p = bytes;
    if (demux->broken)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "output stream: broken before");
    while (length > 0) {
        size_t taken = 0;
        if (step(demux, p, length, &taken, err) < 0) {
            demux->broken = true;
            return -1;
        }
        p += taken;
        length -= taken;
    }
    return 0;
}

int cordon_stdcopy_finish(const cordon_stdcopy *demux, cordon_err *err)
{
    unsigned long long at = demux->offset;
    if (demux->broken)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "output stream: broken before");
    if (demux->header_have > 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "output stream: ended inside a header (%u of 8 bytes, at byte %llu)",
                           demux->header_have, at);
    if (demux->payload_left > 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "output stream: ended %u bytes before the end of a payload, at byte "
                           "%llu",
                           demux->payload_left, at);
    return 0;
}

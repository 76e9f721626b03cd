/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes apart the multiplexed attach stream of Docker and libpod: 8 bytes of header
 * { stream id, 0, 0, 0, u32 big-endian length } and payload, again and again (Docker Engine API,
 * "ContainerAttach", stream format). Memory is constant whatever length a header claims; payload
 * is handed on as it arrives. libc-only.
 */
#ifndef CORDON_KIT_STDCOPY_H
#define CORDON_KIT_STDCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/error.h"

#define CORDON_STDCOPY_STDOUT 1
#define CORDON_STDCOPY_STDERR 2

/* One piece of payload, never empty. -1 with err stops the feed. */
typedef int cordon_stdcopy_fn(void *context, int stream, const void *bytes, size_t length,
                              cordon_err *err);

typedef struct cordon_stdcopy {
    cordon_stdcopy_fn *sink;
    void *context;
    uint64_t offset; /* bytes taken so far, for messages */
    uint32_t payload_left;
    uint8_t header[8];
    uint8_t header_have;
    bool broken;
} cordon_stdcopy;

void cordon_stdcopy_init(cordon_stdcopy *ret_demux, cordon_stdcopy_fn *sink, void *context);

/*
 * Takes any cut of the stream. What came whole before an error has been handed on.
 * @return 0, or -1 with PROTOCOL naming the bad id or padding and its offset, or the sink's error;
 *         after that every call fails
 */
int cordon_stdcopy_feed(cordon_stdcopy *demux, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* At end of stream: -1 with PROTOCOL when it ended inside a header or a payload. */
int cordon_stdcopy_finish(const cordon_stdcopy *demux, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

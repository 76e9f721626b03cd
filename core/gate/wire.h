/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's side of protocol.h on its standard streams: whole frames out, one whole frame in.
 * libc-only.
 */
#ifndef CORDON_GATE_WIRE_H
#define CORDON_GATE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "gate/protocol.h"
#include "gate/release.h"
#include "kit/deadline.h"
#include "kit/error.h"

/* A deadline that never passes: for the last words, which wait for a full pipe to be read. */
cordon_deadline cordon_wire_forever(void);

/*
 * Writes all bytes, in pieces that a pipe takes whole, also when the command has made the shared
 * description non-blocking.
 */
int cordon_wire_write(int fd, const void *bytes, size_t length, cordon_deadline dl, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * One frame of a few fields, one write(2): below PIPE_BUF, so nothing gets between its bytes.
 * Waits for a full pipe to be read, however long that takes.
 */
typedef struct cordon_wire_field {
    uint16_t tag; /* 0: no field */
    uint64_t value;
} cordon_wire_field;

int cordon_wire_reply(int fd, const char *magic, const cordon_wire_field *fields, size_t count,
                      const uint8_t key[CORDON_GATE_NONCE_BYTES], cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Reads exactly one RELEASE frame. SECURITY: end of file, a cut, foreign or late frame, and bytes
 * behind the frame all fail; nothing else than a whole authentic frame is a release. What was
 * read is wiped in every case.
 */
int cordon_wire_receive(int fd, const uint8_t nonce[CORDON_GATE_NONCE_BYTES], cordon_deadline dl,
                        cordon_release **ret_release, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the command's output goes: a descriptor of the caller's that may stall or vanish. What
 * it does not take waits in a small buffer; when that is full, nothing more is read from the
 * engine until there is room, so memory stays flat and the deadline stays in force.
 */
#ifndef CORDON_OUTPUT_H
#define CORDON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/buf.h"
#include "secrets.h"

/* Waiting bytes beyond which the engine is no longer read. */
#define CORDON_OUTPUT_WATERMARK (64u << 10)

/* Shared by stdout and stderr: how much the run may print in all. */
typedef struct cordon_output_quota {
    int64_t left_bytes;
    bool truncated;
} cordon_output_quota;

typedef struct cordon_output {
    int fd;        /* borrowed; -1 throws away */
    bool reopened; /* terminal_fd is ours: the same terminal, opened without blocking */
    int terminal_fd;
    cordon_mask mask; /* before everything else, so that no secret waits anywhere */
    cordon_buf waiting;
    cordon_output_quota *quota;
    int64_t total_bytes; /* what the command wrote, passed on or not */
    bool closed;         /* the reader has gone */
    bool lossy;          /* the run is ending: what does not fit is dropped, reading goes on */
} cordon_output;

/* @param secrets  what is hidden in the output, borrowed; NULL hides nothing. It stays in place. */
void cordon_output_init(cordon_output *ret_output, int fd, cordon_output_quota *quota,
                        const cordon_secrets *secrets);
void cordon_output_clear(cordon_output *output);

/*
 * Takes bytes of the command; past the quota, and past the watermark of a lossy one, they are
 * counted and dropped. -1 with NOMEM.
 */
int cordon_output_put(cordon_output *output, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* The stream has ended: what was held back, because it might have become a secret, is output. */
int cordon_output_finish(cordon_output *output, cordon_err *err)
    __attribute__((warn_unused_result));

/* True while more may be read from the engine. */
bool cordon_output_has_room(const cordon_output *output);

/* True while the descriptor should be polled for POLLOUT. */
bool cordon_output_is_waiting(const cordon_output *output);

/*
 * Writes what can be written without blocking: at most PIPE_BUF bytes a call, after poll(2) said
 * POLLOUT, so the descriptor's own blocking mode is never touched. A terminal promises no room for
 * as much with POLLOUT and is written through a description of our own (only where it may not be
 * opened again, after a su(1), can one that stalls hold the call up). A reader that has gone sets
 * `closed`; SIGPIPE does not reach the program.
 */
void cordon_output_flush(cordon_output *output);

#endif

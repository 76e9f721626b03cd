/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core's end of the conversation with the gate (gate/protocol.h), over the step's stdout: first
 * the report, after the release the start note, then the command's output with the exit note
 * hidden in its tail. Pure state machine over bytes: it reads no descriptor.
 */
#ifndef CORDON_GATE_LINK_H
#define CORDON_GATE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "gate/protocol.h"
#include "kit/buf.h"
#include "kit/frame.h"
#include "secrets.h"

typedef enum cordon_link_state {
    CORDON_LINK_REPORT = 0, /* collecting the report */
    CORDON_LINK_WAITING,    /* report is whole; the gate must say nothing until released */
    CORDON_LINK_RELEASED,   /* release sent; collecting the start note */
    CORDON_LINK_OUTPUT,     /* the command runs; bytes are its output */
    CORDON_LINK_ENDED,      /* authentic exit note seen; nothing may follow */
} cordon_link_state;

/* The command's stdout, in pieces. -1 with err stops the feed. */
typedef int cordon_link_output_fn(void *context, const void *bytes, size_t length, cordon_err *err);

typedef struct cordon_gate_link {
    cordon_link_state state;
    cordon_buf held; /* a frame that is not whole, or bytes that may become one */
    uint8_t exit_key[CORDON_FRAME_KEY_BYTES];
    cordon_link_output_fn *output;
    void *output_context;
    int start_errnum;   /* why the command could not be found or executed; else 0 */
    int exit_code;      /* 0..255, or -1 when a signal ended the command */
    int exit_signal;    /* else 0 */
    int outside_signal; /* first one that somebody sent to the gate from outside; else 0 */
    bool out_of_memory; /* the kernel killed for memory inside the container */
} cordon_gate_link;

/* Draws the exit key. -1 with SYSTEM. */
int cordon_gate_link_init(cordon_gate_link *ret_link, cordon_link_output_fn *output, void *context,
                          cordon_err *err) __attribute__((warn_unused_result));
/* Wipes the key. */
void cordon_gate_link_clear(cordon_gate_link *link);

/*
 * Takes stdout bytes in any cut.
 * PROTOCOL: bytes that cannot be a report, bytes before the release or after the exit note, a
 * start note that does not verify, an exit note that does and makes no sense.
 */
int cordon_gate_link_feed(cordon_gate_link *link, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * At the end of the stream: hands on what was held back as output. Then ask the state: only ENDED
 * has an exit code, a signal or an errno, and exactly one of them.
 */
int cordon_gate_link_finish(cordon_gate_link *link, cordon_err *err)
    __attribute__((warn_unused_result));

/* The report's bytes in state WAITING; released() forgets them and moves on. */
void cordon_gate_link_released(cordon_gate_link *link);

/* A file that the gate makes for the command, with the folders that it needs. */
typedef struct cordon_release_file {
    const char *path;
    const void *bytes;
    size_t length;
} cordon_release_file;

/* What a release carries besides keys. All borrowed. */
typedef struct cordon_release {
    const char *const *argv;
    size_t argc;
    const char *const *environment;
    size_t environment_count;
    const cordon_secrets *secrets; /* NULL for none */
    const char *working_dir;
    const void *input; /* the command's stdin, or NULL for an empty one */
    size_t input_length;
    const cordon_release_file *files;
    size_t file_count;
    const char *const *rules;
    size_t rule_count;
    unsigned landlock_abi;
} cordon_release;

/*
 * Writes the RELEASE frame for a gate that showed this nonce. The frame may hold secrets; clear
 * it at once after sending.
 */
int cordon_gate_link_release(const cordon_gate_link *link, const uint8_t *nonce,
                             const cordon_release *release, cordon_frame *ret_frame,
                             cordon_err *err) __attribute__((warn_unused_result));

#endif

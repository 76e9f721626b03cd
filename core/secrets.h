/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secrets of one invocation, and hiding them in what the command prints. Values lie in one
 * mapping that is kept out of core dumps and, as far as RLIMIT_MEMLOCK goes, out of swap; they
 * leave it for the release frame alone. No message, label, file or log ever holds one.
 */
#ifndef CORDON_SECRETS_H
#define CORDON_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/error.h"

/* Most secrets of one invocation, and bytes of one; a descriptor's must fit into a new pipe. */
#define CORDON_SECRETS_MAX      16
#define CORDON_SECRET_BYTES_MAX 32768

/* A shorter value occurs in any output by chance and is not hidden. */
#define CORDON_SECRET_MASKED_MIN 8

/* The name's end that asks for a descriptor instead of the value. */
#define CORDON_SECRET_DESCRIPTOR "_FILE_DESCRIPTOR"

/* name and value lie in the mapping; the value ends with a NUL that length does not count. */
typedef struct cordon_secret {
    const char *name;
    const char *value;
    size_t length;
    bool by_descriptor;
} cordon_secret;

typedef struct cordon_secrets {
    void *mapping;
    size_t mapping_bytes;
    size_t used_bytes;
    cordon_secret items[CORDON_SECRETS_MAX];
    size_t count;
} cordon_secrets;

/*
 * Copies one in. CONFIG, naming the secret and never its value: not a name of an environment
 * variable, one that Cordon or the loader gives a meaning to, a second one of this name, an empty
 * or too long value, one with a NUL, too many. NOMEM.
 */
int cordon_secrets_add(cordon_secrets *secrets, const char *name, const char *value, size_t length,
                       cordon_err *err) __attribute__((warn_unused_result));

/* Wipes and unmaps. Fine on a zeroed value. */
void cordon_secrets_clear(cordon_secrets *secrets);

CORDON_DEFINE_AUTO(cordon_secrets, cordon_secrets_clear)

/*
 * The same in a text of ours that quotes something of the command's - a refusal, a denied target -
 * with each of their bytes replaced, also one that the text's end has cut.
 */
void cordon_secrets_hide(const cordon_secrets *secrets, char *text);

/* Where masked bytes go. -1 with err stops the feed. */
typedef int cordon_mask_sink(void *context, const void *bytes, size_t length, cordon_err *err);

/*
 * Replaces each secret in a stream by asterisks, whatever the cuts; holds back at most what may
 * still become one. Byte-exact for everything else, and for everything without secrets.
 */
typedef struct cordon_mask {
    const cordon_secrets *secrets; /* borrowed; NULL: nothing is hidden */
    bool begins[256];              /* a secret begins with this byte */
    cordon_buf held;
    cordon_mask_sink *sink;
    void *context;
} cordon_mask;

void cordon_mask_init(cordon_mask *ret_mask, const cordon_secrets *secrets, cordon_mask_sink *sink,
                      void *context);
void cordon_mask_clear(cordon_mask *mask);
CORDON_DEFINE_AUTO(cordon_mask, cordon_mask_clear)

/* -1 with the sink's error, or NOMEM. */
int cordon_mask_feed(cordon_mask *mask, const void *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* The stream has ended: what is held was no secret. */
int cordon_mask_finish(cordon_mask *mask, cordon_err *err) __attribute__((warn_unused_result));

#endif

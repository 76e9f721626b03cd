/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's private state folder: where the journal and what is remembered of engines lie.
 * SECURITY: what stands there is acted on later, so it must belong to the caller alone.
 */
#ifndef CORDON_STATE_DIR_H
#define CORDON_STATE_DIR_H

#include <stddef.h>

#include "kit/error.h"

/*
 * Opens the folder, making it (mode 0700) and its parents if they are missing.
 * @return a descriptor the caller closes, or -1 with CONFIG (others may write it) or SYSTEM
 */
int cordon_state_open(const char *folder, cordon_err *err) __attribute__((warn_unused_result));

/* Puts a whole file in place at once (mode 0600); a failure leaves what was there. */
void cordon_state_replace(int dir, const char *name, const void *bytes, size_t length);

/* First line of a small file without its newline; "" when it cannot be read. */
void cordon_state_read_line(const char *path, char *ret_text, size_t size);

/* The kernel's id of this boot; "" when it cannot be told: random(4). */
void cordon_state_boot_id(char *ret_text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cordon-guard binary, embedded. What core imports into an engine as an image. libc-only.
 */
#ifndef CORDON_GATE_BLOB_H
#define CORDON_GATE_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* A static ELF executable for the architecture of this build; read-only memory. */
extern const uint8_t cordon_guard_bytes[];
extern const size_t cordon_guard_size;

#endif

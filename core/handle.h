/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which handles of the public API are alive. A handle is a capability: only the library hands it
 * out, and a copy, a forgery, a freed one or one of another kind is refused at every public
 * entry, before anything is read through it.
 *
 * This is the one piece of state that lives outside of a handle, because only something outside
 * can tell that a handle is not one. It holds addresses and kinds, nothing else, under a lock.
 */
#ifndef CORDON_HANDLE_H
#define CORDON_HANDLE_H

#include <stdbool.h>

#include "kit/error.h"

typedef enum cordon_handle_kind {
    CORDON_HANDLE_CONFIG = 1,
    CORDON_HANDLE_ENGINE,
    CORDON_HANDLE_POLICY,
    CORDON_HANDLE_COMMAND,
    CORDON_HANDLE_INVOCATION,
    CORDON_HANDLE_RECEIPT,
    CORDON_HANDLE_GC_REPORT,
} cordon_handle_kind;

/* Makes a heap object a handle. -1 with NOMEM: the caller still owns the object. */
int cordon_handle_add(cordon_handle_kind kind, const void *handle, cordon_err *err)
    __attribute__((warn_unused_result));

/* -1 with INVALID unless this very address is a live handle of this kind. Never reads it. */
int cordon_handle_check(cordon_handle_kind kind, const void *handle, cordon_err *err)
    __attribute__((warn_unused_result));

/* The same as a question. */
bool cordon_handle_is_live(cordon_handle_kind kind, const void *handle);

/* Ends a handle. True if it was alive: then, and only then, the caller may free the object. */
bool cordon_handle_remove(cordon_handle_kind kind, const void *handle);

#endif

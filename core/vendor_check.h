/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to vendor*.c: rules over the single texts of a vendor definition.
 */
#ifndef CORDON_VENDOR_CHECK_H
#define CORDON_VENDOR_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/error.h"

/* A vendor's own name: what a file can be called. */
int cordon_vendor_check_name(const char *text, cordon_err *err) __attribute__((warn_unused_result));

/* The first `length` bytes are what a shell, too, takes for a variable's name. */
bool cordon_vendor_env_is_name(const char *name, size_t length);

/* A variable that Cordon sets itself, or that the loader, a shell or a runtime reads on its own. */
bool cordon_vendor_env_is_reserved(const char *name, size_t length);

/* "NAME=value" with a name that neither Cordon nor the loader reads. */
int cordon_vendor_check_env(const char *text, cordon_err *err) __attribute__((warn_unused_result));

#endif

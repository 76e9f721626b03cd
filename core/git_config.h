/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax of git's configuration files (git-config(1), "Syntax"), without any of its meaning.
 * Pure.
 */
#ifndef CORDON_GIT_CONFIG_H
#define CORDON_GIT_CONFIG_H

#include <stddef.h>

#include "kit/error.h"

/* Longest section, key or value that is read; git has no bound. */
#define CORDON_GIT_CONFIG_TEXT_MAX 4096

/*
 * One variable. section and key are in lower case, a subsection is not part of them; value is NULL
 * for a variable without "=". Borrowed for the call. @return 0, or -1 to end the reading
 */
typedef int cordon_git_config_fn(void *context, const char *section, const char *key,
                                 const char *value, cordon_err *err);

/* @return 0, or -1 with CONFIG "line N: ..." for what git would not read, or what fn said */
int cordon_git_config_read(const char *text, size_t length, cordon_git_config_fn *fn, void *context,
                           cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An owned list of texts, as configuration and vendor definitions hold them. Everything in it is
 * NUL-terminated and was checked when it was read. libc and kit only.
 */
#ifndef CORDON_TEXT_LIST_H
#define CORDON_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/cleanup.h"
#include "kit/error.h"

/* Zero-initialised is empty. items is NULL when count is 0. */
typedef struct cordon_text_list {
    size_t count;
    char **items;
} cordon_text_list;

/* Frees the texts and the list; it is empty and usable again. */
void cordon_text_list_clear(cordon_text_list *list);
CORDON_DEFINE_AUTO(cordon_text_list, cordon_text_list_clear)

/* Appends a copy. @return 0, or -1 with NOMEM and the list as it was */
int cordon_text_list_add(cordon_text_list *list, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* Byte-wise equality with one of the items. */
bool cordon_text_list_has(const cordon_text_list *list, const char *text);

/* Byte-wise ascending order. */
void cordon_text_list_sort(cordon_text_list *list);

/* A copy of text as a new heap string. @return 0, or -1 with NOMEM */
int cordon_text_copy(const char *text, char **ret_text, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

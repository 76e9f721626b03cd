/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owned lists of texts.
 */
#include "text_list.h"

#include <stdlib.h>
#include <string.h>

int cordon_text_copy(const char *text, char **ret_text, cordon_err *err)
{
    char *copy = strdup(text);
    if (!copy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ret_text = copy;
    return 0;
}

void cordon_text_list_clear(cordon_text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (cordon_text_list){0};
}

int cordon_text_list_add(cordon_text_list *list, const char *text, cordon_err *err)
{
    cordon_autofree char *copy = NULL;
    if (cordon_text_copy(text, &copy, err) < 0)
        return -1;
    char **grown = reallocarray(list->items, list->count + 1, sizeof *grown);
    if (!grown)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    list->items = grown;
    list->items[list->count++] = CORDON_TAKE(copy);
    return 0;
}

bool cordon_text_list_has(const cordon_text_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

void cordon_text_list_sort(cordon_text_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_texts);
}

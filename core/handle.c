/* SPDX-License-Identifier: Apache-2.0 */
/* The set of live handles; see handle.h. */
#include "handle.h"

#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

/* gcc's analyzer does not know that tsearch(3) keeps what it is given. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

typedef struct handle_entry {
    const void *handle;
    cordon_handle_kind kind;
} handle_entry;

static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;
static void *handle_tree; /* of handle_entry, by address: tsearch(3) */

static int handle_order(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const handle_entry *)a)->handle;
    uintptr_t right = (uintptr_t)((const handle_entry *)b)->handle;

    return left < right ? -1 : left > right ? 1 : 0;
}

int cordon_handle_add(cordon_handle_kind kind, const void *handle, cordon_err *err)
{
    handle_entry *entry = malloc(sizeof(*entry));
    void *node;

    if (entry == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *entry = (handle_entry){.handle = handle, .kind = kind};
    (void)pthread_mutex_lock(&handle_lock);
    node = tsearch(entry, &handle_tree, handle_order);
    (void)pthread_mutex_unlock(&handle_lock);
    if (node != NULL)
        return 0;
    free(entry);
    return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
}

bool cordon_handle_is_live(cordon_handle_kind kind, const void *handle)
{
    const handle_entry key = {.handle = handle, .kind = kind};
    handle_entry *const *node;
    bool live;

    (void)pthread_mutex_lock(&handle_lock);
    node = tfind(&key, &handle_tree, handle_order);
    live = node != NULL && (*node)->kind == kind;
    (void)pthread_mutex_unlock(&handle_lock);
    return live;
}

int cordon_handle_check(cordon_handle_kind kind, const void *handle, cordon_err *err)
{
    static const char *const names[] = {
        [CORDON_HANDLE_CONFIG] = "configuration",  [CORDON_HANDLE_ENGINE] = "engine",
        [CORDON_HANDLE_POLICY] = "policy",         [CORDON_HANDLE_COMMAND] = "command",
        [CORDON_HANDLE_INVOCATION] = "invocation", [CORDON_HANDLE_RECEIPT] = "receipt",
        [CORDON_HANDLE_GC_REPORT] = "report",
    };

    if (cordon_handle_is_live(kind, handle))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_INVALID,
                       "this is no %s that the library handed out, or it was freed", names[kind]);
}

bool cordon_handle_remove(cordon_handle_kind kind, const void *handle)
{
    const handle_entry key = {.handle = handle, .kind = kind};
    handle_entry *const *node;
    handle_entry *entry = NULL;

    (void)pthread_mutex_lock(&handle_lock);
    node = tfind(&key, &handle_tree, handle_order);
    if (node != NULL && (*node)->kind == kind) {
        entry = *node;
        (void)tdelete(&key, &handle_tree, handle_order);
    }
    (void)pthread_mutex_unlock(&handle_lock);
    free(entry);
    return entry != NULL;
}

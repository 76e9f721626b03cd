/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a container's file system, owned and read; see change_facts.h. */
#include "change_facts.h"

#include <stdlib.h>
#include <string.h>

#include "kit/jsonr.h"

/* gcc's analyzer loses track of the items of a list that a cleanup frees in a loop. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* An array of flat objects. */
#define CHANGES_DEPTH 4

/* By the number that engines write. */
static const cordon_change_kind kinds[] = {
    CORDON_CHANGE_MODIFIED,
    CORDON_CHANGE_ADDED,
    CORDON_CHANGE_DELETED,
};
#define KINDS ((int64_t)(sizeof kinds / sizeof kinds[0]))

void cordon_changes_clear(cordon_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].path);
    free(changes->items);
    *changes = (cordon_changes){0};
}

const char *cordon_change_kind_name(cordon_change_kind kind)
{
    static const char *const names[] = {"unknown", "modified", "added", "deleted"};
    size_t index = (size_t)kind;

    return index < sizeof names / sizeof names[0] ? names[index] : names[0];
}

int cordon_changes_add(cordon_changes *changes, cordon_change_kind kind, const char *path,
                       cordon_err *err)
{
    if (changes->count == CORDON_CHANGES_MAX) {
        changes->more = true;
        return 0;
    }
    if (!changes->items)
        changes->items = calloc(CORDON_CHANGES_MAX, sizeof *changes->items);
    char *copy = changes->items ? strdup(path) : NULL;
    if (!copy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    changes->items[changes->count++] = (cordon_change){.kind = kind, .path = copy};
    return 0;
}

static int refuse_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)context;
    return leftover->empty ? 0 : cordon_json_fail(leftover->at, err, "a key that is not known");
}

static int read_change(cordon_json item, cordon_changes *changes, cordon_err *err)
{
    const char *path = NULL;
    int64_t kind = 0;

    if (cordon_json_need_string(item, "Path", &path, err) != 0 ||
        cordon_json_need_i64(item, "Kind", &kind, err) != 0 ||
        cordon_json_leftovers(item, refuse_leftover, NULL, err) != 0)
        return -1;
    if (path[0] != '/')
        return cordon_json_fail(item, err, "a path that is not absolute");
    if (kind < 0 || kind >= KINDS)
        return cordon_json_fail(item, err, "a change of kind %lld", (long long)kind);
    return cordon_changes_add(changes, kinds[kind], path, err);
}

int cordon_changes_read(const void *json, size_t length, cordon_changes *ret_changes,
                        cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_changes) changes = {0};
    cordon_json_place list = {0};

    if (cordon_json_parse(json, length, length, CHANGES_DEPTH, &doc, err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &list, err) != 0)
        return -1;
    if (list.has == CORDON_JSON_PRESENT) {
        for (cordon_json_iter it = cordon_json_iterate(list.value); cordon_json_next(&it);) {
            if (read_change(it.value, &changes, err) != 0)
                return -1;
        }
    }
    *ret_changes = changes;
    changes = (cordon_changes){0};
    return 0;
}

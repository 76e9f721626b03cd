/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through the JSON reader: no crash, both readings agree, every getter and walk is safe
 * on whatever came through.
 */
#include <stdlib.h>
#include <string.h>

#include "kit/jsonr.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length);

static int count(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)err;
    *(size_t *)context += leftover->path[0] == '$' && leftover->value[0];
    return 0;
}

static void visit(cordon_json at)
{
    cordon_json_bool b;
    cordon_json_i64 i;
    cordon_json_u64 u;
    cordon_json_double d;
    cordon_json_string s;
    cordon_json_place p;
    (void)!cordon_json_as_bool(at, &b, NULL);
    (void)!cordon_json_as_i64(at, &i, NULL);
    (void)!cordon_json_as_u64(at, &u, NULL);
    (void)!cordon_json_as_double(at, &d, NULL);
    (void)!cordon_json_as_string(at, &s, NULL);
    (void)!cordon_json_get_any(at, "a", &p, NULL);
    for (cordon_json_iter it = cordon_json_iterate(at); cordon_json_next(&it);)
        visit(it.value);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    size_t before = 0;
    size_t after = 0;
    if (cordon_json_parse(bytes, length, 1 << 20, 0, &doc, &err) < 0) {
        if (err.code != CORDON_ERR_PROTOCOL || !err.message[0])
            abort();
        /* The scan (which says where) must refuse all that json-c does; json-c is a witness. */
        if (strncmp(err.message, "not JSON: ", 10) == 0 &&
            strncmp(err.message, "not JSON: byte ", 15) != 0)
            abort();
        return 0;
    }
    (void)!cordon_json_leftovers(cordon_json_root(doc), count, &before, NULL);
    visit(cordon_json_root(doc));
    (void)!cordon_json_leftovers(cordon_json_root(doc), count, &after, NULL);
    if (before == 0 || after > before)
        abort();
    return 0;
}

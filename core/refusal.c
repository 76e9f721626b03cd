/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals as data; see refusal.h. */
#include "refusal.h"

#include <string.h>

static const struct {
    const char *name;
    const char *fact;
} refusals[] = {{"", ""},
#define CORDON_REFUSAL_ROW(name, fact, text, attack, step) {"CORDON_REFUSED_" #name, fact},
                CORDON_REFUSAL_CODES(CORDON_REFUSAL_ROW)
#undef CORDON_REFUSAL_ROW
};

#define REFUSAL_COUNT (sizeof(refusals) / sizeof(refusals[0]))

const char *cordon_refusal_name(cordon_refusal_code code)
{
    size_t index = (size_t)code;

    return index < REFUSAL_COUNT ? refusals[index].name : "";
}

static void refusal_copy(char *slot, size_t size, const char *text)
{
    if (text == NULL)
        text = "(not told)";
    (void)cordon_err_printable(slot, size, text, strlen(text));
}

int cordon_refuse(cordon_refusal *refusal, cordon_refusal_code code, const char *fact,
                  const char *expected, const char *actual, cordon_err *err)
{
    cordon_refusal local;

    if (refusal == NULL)
        refusal = &local;
    refusal->code = code;
    refusal_copy(refusal->fact, sizeof(refusal->fact), fact);
    refusal_copy(refusal->expected, sizeof(refusal->expected), expected);
    refusal_copy(refusal->actual, sizeof(refusal->actual), actual);
    cordon_err_set(err, CORDON_ERR_REFUSED, 0, "%s: %s: expected %s, found %s",
                   cordon_refusal_name(code), refusal->fact, CORDON_QUOTE(refusal->expected),
                   CORDON_QUOTE(refusal->actual));
    cordon_refuse_as(err, code);
    return -1;
}

void cordon_refuse_as(cordon_err *err, cordon_refusal_code code)
{
    if (err != NULL && err->code == CORDON_ERR_REFUSED && err->refusal == 0)
        err->refusal = (int)code;
}

void cordon_refusal_from_error(const cordon_err *err, cordon_refusal *ret_refusal)
{
    size_t index = err->refusal > 0 && (size_t)err->refusal < REFUSAL_COUNT
                       ? (size_t)err->refusal
                       : (size_t)CORDON_REFUSED_POLICY;

    ret_refusal->code = (cordon_refusal_code)index;
    refusal_copy(ret_refusal->fact, sizeof(ret_refusal->fact), refusals[index].fact);
    refusal_copy(ret_refusal->expected, sizeof(ret_refusal->expected), "what policy allows");
    refusal_copy(ret_refusal->actual, sizeof(ret_refusal->actual), err->message);
}

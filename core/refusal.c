/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals as data; see refusal.h. */
#include "refusal.h"

#include <string.h>

static const char *const refusal_names[] = {"",
#define CORDON_REFUSAL_NAME(name, text) "CORDON_REFUSED_" #name,
                                            CORDON_REFUSAL_CODES(CORDON_REFUSAL_NAME)
#undef CORDON_REFUSAL_NAME
};

const char *cordon_refusal_name(cordon_refusal_code code)
{
    size_t index = (size_t)code;

    return index < sizeof(refusal_names) / sizeof(refusal_names[0]) ? refusal_names[index] : "";
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
    return CORDON_FAIL(err, CORDON_ERR_REFUSED, "%s: %s: expected %s, found %s",
                       cordon_refusal_name(code), refusal->fact, CORDON_QUOTE(refusal->expected),
                       CORDON_QUOTE(refusal->actual));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two texts, cut where the first byte says, and their difference: no crash, no leak, and as many
 * lines of each text as its hunks say.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "diff_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_auto(cordon_buf) out = cordon_buf_make((size_t)1 << 22);
    cordon_err err = CORDON_ERR_INIT;
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    size_t cut = (size - 1) * data[0] / 255;
    const char *new = text + cut;
    size_t rest = size - 1 - cut;
    assert(cordon_diff_text(text, cut, new, rest, cordon_deadline_in_ms(20000, -1), &out, &err) ==
           0);
    bool same = cut == rest && memcmp(text, new, cut) == 0;
    assert(same == (out.length == 0));
    return 0;
}

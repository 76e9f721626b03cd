/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's reader of RELEASE: the input is a frame's body, sealed with the right key so that the
 * fields are reached; and once more as raw bytes. What is accepted keeps its promises.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/release.h"
#include "kit/frame.h"
#include "kit/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {1};

static void check(const cordon_release *release)
{
    assert(release->argv.count > 0 && release->argv.items[0][0] != '\0');
    assert(release->argv.items[release->argv.count] == NULL);
    assert(release->env.items[release->env.count] == NULL);
    assert(release->cwd[0] == '/');
    for (size_t i = 0; i < release->rule_count; i++)
        assert((release->rules[i].kind == CORDON_RULE_CONNECT) == (release->rules[i].path == NULL));
    assert(release->rule_count == 0 || release->landlock_abi_min > 0);
}

static void parse(const uint8_t *bytes, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    int rc = cordon_release_parse(bytes, length, nonce, &release, &err);
    assert((rc == 0) == (release != NULL) && (rc == 0) == (err.code == CORDON_OK));
    if (release)
        check(release);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t total = size + CORDON_FRAME_OVERHEAD_BYTES;
    uint8_t *frame = malloc(total);
    if (!frame || size > 1U << 20) {
        free(frame);
        return 0;
    }
    memcpy(frame, CORDON_GATE_MAGIC_RELEASE, CORDON_FRAME_MAGIC_BYTES);
    for (unsigned i = 0; i < 4; i++)
        frame[8 + i] = (uint8_t)(size >> (8 * (3 - i)));
    memcpy(frame + CORDON_FRAME_HEAD_BYTES, data, size);
    cordon_hmac_sha256(nonce, sizeof nonce, frame, total - 32, frame + total - 32);
    parse(frame, total);
    free(frame);
    parse(data, size);
    return 0;
}

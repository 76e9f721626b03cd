/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's request head parser: whatever comes, feeding it whole and feeding it in two cuts give
 * the same verdict, and a head that is taken is what the log, the policy and the resolver need.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/host.h"
#include "proxy/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_done(const cordon_head *head, const char *text, size_t size)
{
    const char *target = text + head->target;
    require(head->length <= size && head->length <= CORDON_HEAD_MAX);
    require(memcmp(text + head->length - 4, "\r\n\r\n", 4) == 0);
    require(memcmp(text, "CONNECT ", 8) == 0);
    require(head->target + head->target_length < head->length);
    require(cordon_host_check(target, head->host_length) == CORDON_REASON_NONE);
    require(target[head->host_length] == ':' && head->port > 0);
    require(memmem(text, head->length, "\0", 1) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t cut = data[0] | (size_t)data[1] << 8;
    const char *text = (const char *)data + 2;
    size -= 2;
    cordon_head whole = {0};
    cordon_head_status status = cordon_head_feed(&whole, text, size);
    if (status == CORDON_HEAD_DONE)
        check_done(&whole, text, size);
    if (status == CORDON_HEAD_BAD)
        require(cordon_reason_status((cordon_reason)whole.reason) >= 400);
    cordon_head parts = {0};
    cordon_head_status other = CORDON_HEAD_MORE;
    if (cut < size) {
        /* An exact copy, so that the sanitizer sees a read past the window. */
        char *window = malloc(cut > 0 ? cut : 1);
        require(window != NULL);
        memcpy(window, text, cut);
        other = cordon_head_feed(&parts, window, cut);
        free(window);
    }
    if (other == CORDON_HEAD_MORE)
        other = cordon_head_feed(&parts, text, size);
    require(other == status && parts.reason == whole.reason && parts.length == whole.length);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's ClientHello parser: a window that is taken stays taken, with the same name, however
 * much follows it; a window that is refused stays refused; the name has host name syntax.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/client_hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static cordon_hello_status parse_copy(const uint8_t *data, size_t size, cordon_hello *hello)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    require(copy != NULL);
    memcpy(copy, data, size);
    cordon_hello_status status = cordon_hello_parse(copy, size, hello);
    free(copy);
    return status;
}

static int same(const cordon_hello *left, const cordon_hello *right)
{
    return left->reason == right->reason && left->server_name_length == right->server_name_length &&
           memcmp(left->server_name, right->server_name, left->server_name_length) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_hello whole;
    cordon_hello part;
    if (size < 2)
        return 0;
    size_t cut = data[0] | (size_t)data[1] << 8;
    data += 2;
    size -= 2;
    cordon_hello_status status = parse_copy(data, size, &whole);
    if (status == CORDON_HELLO_DONE)
        require(cordon_host_check(whole.server_name, whole.server_name_length) ==
                CORDON_REASON_NONE);
    if (status == CORDON_HELLO_BAD)
        require(whole.reason != CORDON_REASON_NONE);
    require(status != CORDON_HELLO_MORE || size < CORDON_HELLO_MAX);
    if (cut >= size)
        return 0;
    cordon_hello_status before = parse_copy(data, cut, &part);
    /* A prefix may ask for more; any other verdict on it is the verdict on all. */
    require(before == CORDON_HELLO_MORE || (before == status && same(&part, &whole)));
    return 0;
}

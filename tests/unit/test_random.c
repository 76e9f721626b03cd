/* SPDX-License-Identifier: Apache-2.0 */
/* Random tokens: the right shape, and two are never the same. */
#include "kit/hash.h"
#include "kit/random.h"
#include "support/test.h"

static void tokens_are_hex_and_differ(void)
{
    char a[33];
    char b[33];
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_random_hex(a, 32, &err), err);
    REQUIRE_OK(cordon_random_hex(b, 32, &err), err);
    CHECK_INT(strlen(a), 32);
    CHECK(cordon_hex_is_lower(a, 32));
    CHECK(strcmp(a, b) != 0);
}

static void a_large_request_is_filled_to_its_end(void)
{
    static unsigned char bytes[100000];
    cordon_err err = CORDON_ERR_INIT;
    unsigned seen = 0;
    REQUIRE_OK(cordon_random_bytes(bytes, sizeof bytes, &err), err);
    for (size_t i = sizeof bytes - 64; i < sizeof bytes; i++)
        seen |= bytes[i];
    CHECK(seen != 0);
}

CORDON_TEST_MAIN("random", TEST(tokens_are_hex_and_differ),
                 TEST(a_large_request_is_filled_to_its_end))

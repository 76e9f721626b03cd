/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy's resolver process may write, which is not believed: whatever arrives, an address
 * that may be dialled is a public one by a second, independent reading of the IANA registries, has
 * the one port, and every address is either taken or counted as refused. (DNS itself is parsed by
 * the libc, in that process alone.)
 */
#include <assert.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/resolve.h"
#include "proxy/resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_NS INT64_C(1000)

/* First and last; the product's table is of prefixes. */
static const uint32_t special4[][2] = {
    {0x00000000, 0x00ffffff}, {0x0a000000, 0x0affffff}, {0x64400000, 0x647fffff},
    {0x7f000000, 0x7fffffff}, {0xa9fe0000, 0xa9feffff}, {0xac100000, 0xac1fffff},
    {0xc0000000, 0xc00000ff}, {0xc0000200, 0xc00002ff}, {0xc0586300, 0xc05863ff},
    {0xc0a80000, 0xc0a8ffff}, {0xc6120000, 0xc613ffff}, {0xc6336400, 0xc63364ff},
    {0xcb007100, 0xcb0071ff}, {0xe0000000, 0xffffffff},
};

static uint64_t number(const uint8_t *bytes, size_t length)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

static bool is_public4(const uint8_t *bytes)
{
    uint64_t address = number(bytes, 4);
    for (size_t i = 0; i < sizeof special4 / sizeof special4[0]; i++) {
        if (address >= special4[i][0] && address <= special4[i][1])
            return false;
    }
    return true;
}

static bool is_public6(const uint8_t *bytes)
{
    uint64_t first = number(bytes, 4);
    if (first == 0x0064ff9b && number(bytes + 4, 8) == 0)
        return is_public4(bytes + 12);
    bool global = first >= 0x20000000 && first <= 0x3fffffff;
    bool special = (first >= 0x20010000 && first <= 0x200101ff) || first == 0x20010db8 ||
                   first >> 16 == 0x2002 || first >> 12 == 0x3fff0;
    return global && !special;
}

static void check_address(const cordon_address *address)
{
    struct sockaddr_storage space;
    char text[CORDON_ADDRESS_TEXT_MAX];
    cordon_address again;
    assert(address->port == CORDON_POLICY_PORT);
    assert(address->family == AF_INET || address->family == AF_INET6);
    assert(address->family == AF_INET ? is_public4(address->bytes) : is_public6(address->bytes));
    /* What is logged, judged and dialled is the same address. */
    size_t length = address->family == AF_INET ? 4 : 16;
    (void)cordon_address_to_socket(address, &space);
    again = cordon_address_from_socket((struct sockaddr *)&space);
    assert(again.family == address->family && again.port == address->port);
    assert(memcmp(again.bytes, address->bytes, length) == 0);
    (void)cordon_address_text(address, true, text);
    assert(cordon_address_parse(text, 1, &again) && again.family == address->family);
    assert(memcmp(again.bytes, address->bytes, length) == 0);
}

static void check(const cordon_resolved *resolved, const uint8_t *bytes, size_t size)
{
    uint32_t count = 0;
    if (size >= sizeof(cordon_lookup_reply))
        memcpy(&count, bytes, sizeof count);
    if (count > CORDON_RESOLVE_MAX)
        count = 0;
    assert(resolved->count + resolved->refused == (int)count);
    for (size_t i = 0; i < resolved->count; i++)
        check_address(&resolved->addresses[i]);
    if (resolved->refused > 0)
        assert(cordon_address_refusal(&resolved->first_refused) != NULL);
    assert((cordon_resolved_fault(resolved) == CORDON_REASON_NONE) == (resolved->count > 0));
}

static cordon_resolved *answer(cordon_lookup *lookup, const uint8_t *bytes, size_t size)
{
    int ends[2];
    int rc = pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    assert(rc == 0);
    ssize_t written = write(ends[1], bytes, size);
    assert(written == (ssize_t)size);
    (void)close(ends[1]);
    lookup->fd = ends[0];
    cordon_resolved *resolved = cordon_lookup_finish(lookup, NOW_NS);
    assert(resolved && lookup->fd == -1);
    return resolved;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_lookup_reply whole = {0};
    cordon_lookup lookup = {.fd = -1};
    if (size > 4096)
        return 0;
    cordon_resolved *first = cordon_resolved_ref(answer(&lookup, data, size));
    check(first, data, size);
    /* The same once more at full length; who holds the first answer keeps it as it was. */
    if (size > 0)
        memcpy(&whole, data, size < sizeof whole ? size : sizeof whole);
    cordon_resolved *second = answer(&lookup, (const uint8_t *)&whole, sizeof whole);
    check(second, (const uint8_t *)&whole, sizeof whole);
    check(first, data, size);
    assert(first != second && cordon_lookup_cached(&lookup, NOW_NS) == second);
    assert(!cordon_lookup_cached(&lookup, NOW_NS + CORDON_RESOLVE_KEEP_NS));
    cordon_resolved_unref(first);
    cordon_lookup_clear(&lookup);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses the proxy dials on the word of DNS (DN3): each class at its first and last
 * address, and its public neighbours.
 */
#include <arpa/inet.h>

#include "proxy/address.h"
#include "proxy/resolve.h"
#include "support/test.h"

typedef struct class_row {
    const char *text;
    const char *refusal; /* NULL: may be dialled */
} class_row;

static const class_row rows[] = {
    {"0.0.0.0", "this-network"},
    {"0.255.255.255", "this-network"},
    {"1.0.0.0", NULL},
    {"9.255.255.255", NULL},
    {"10.0.0.0", "private"},
    {"10.0.0.5", "private"},
    {"10.255.255.255", "private"},
    {"11.0.0.0", NULL},
    {"100.63.255.255", NULL},
    {"100.64.0.0", "shared"},
    {"100.127.255.255", "shared"},
    {"100.128.0.0", NULL},
    {"126.255.255.255", NULL},
    {"127.0.0.1", "loopback"},
    {"127.255.255.255", "loopback"},
    {"128.0.0.0", NULL},
    {"169.253.255.255", NULL},
    {"169.254.169.254", "link-local"},
    {"169.255.0.0", NULL},
    {"172.15.255.255", NULL},
    {"172.16.0.0", "private"},
    {"172.31.255.255", "private"},
    {"172.32.0.0", NULL},
    {"192.0.0.0", "protocol-assignments"},
    {"192.0.0.255", "protocol-assignments"},
    {"192.0.1.0", NULL},
    {"192.0.2.1", "documentation"},
    {"192.0.3.0", NULL},
    {"192.88.99.1", "6to4-relay"},
    {"192.167.255.255", NULL},
    {"192.168.0.1", "private"},
    {"192.169.0.0", NULL},
    {"198.17.255.255", NULL},
    {"198.18.0.0", "benchmarking"},
    {"198.19.255.255", "benchmarking"},
    {"198.20.0.0", NULL},
    {"198.51.100.7", "documentation"},
    {"203.0.113.7", "documentation"},
    {"223.255.255.255", NULL},
    {"224.0.0.1", "multicast"},
    {"239.255.255.255", "multicast"},
    {"240.0.0.1", "reserved"},
    {"255.255.255.254", "reserved"},
    {"255.255.255.255", "broadcast"},
    {"::", "unspecified"},
    {"::1", "loopback"},
    {"::2", "ipv4-compatible"},
    {"::8.8.8.8", "ipv4-compatible"},
    {"::ffff:10.0.0.1", "ipv4-mapped"},
    {"::ffff:8.8.8.8", "ipv4-mapped"},
    {"::fffe:8.8.8.8", "reserved"},
    {"64:ff9b::10.0.0.1", "private"},
    {"64:ff9b::169.254.169.254", "link-local"},
    {"64:ff9b::8.8.8.8", NULL},
    {"64:ff9b:0:1::8.8.8.8", "reserved"},
    {"64:ff9b:1::8.8.8.8", "local-nat64"},
    {"100::1", "discard-only"},
    {"1fff:ffff::1", "reserved"},
    {"2001::1", "teredo"},
    {"2001:2::1", "benchmarking"},
    {"2001:20::1", "protocol-assignments"},
    {"2001:1ff:ffff::1", "protocol-assignments"},
    {"2001:200::1", NULL},
    {"2001:db8::1", "documentation"},
    {"2001:db9::1", NULL},
    {"2002:a00:1::1", "6to4"},
    {"2002:808:808::1", "6to4"},
    {"2003::1", NULL},
    {"2606:4700::1", NULL},
    {"3fff:fff::1", "documentation"},
    {"3fff:1000::1", NULL},
    {"4000::1", "reserved"},
    {"5f00::1", "reserved"},
    {"fbff::1", "reserved"},
    {"fc00::1", "unique-local"},
    {"fd00::1", "unique-local"},
    {"fdff:ffff::1", "unique-local"},
    {"fe00::1", "reserved"},
    {"fe80::1", "link-local"},
    {"febf::1", "link-local"},
    {"fec0::1", "site-local"},
    {"ff02::1", "multicast"},
};

static cordon_address read_address(const char *text)
{
    cordon_address address = {0};
    address.family = strchr(text, ':') ? AF_INET6 : AF_INET;
    CHECK_INT(inet_pton(address.family, text, address.bytes), 1);
    return address;
}

static void DN3_every_class_is_refused_by_name_and_its_neighbours_are_not(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_address address = read_address(rows[i].text);
        const char *got = cordon_address_refusal(&address);
        bool same =
            got && rows[i].refusal ? strcmp(got, rows[i].refusal) == 0 : got == rows[i].refusal;
        TEST_RECORDF(same, "%s: got %s, want %s", rows[i].text, got ? got : "public",
                     rows[i].refusal ? rows[i].refusal : "public");
    }
}

static void an_unknown_family_is_refused(void)
{
    cordon_address address = {.family = AF_UNIX, .bytes = {8, 8, 8, 8}};
    CHECK_STR(cordon_address_refusal(&address), "unknown-family");
    address.family = 0;
    CHECK_STR(cordon_address_refusal(&address), "unknown-family");
    CHECK(!cordon_address_is_unicast(&address));
}

static void an_address_survives_text_and_socket_form(void)
{
    static const char *const texts[] = {"10.0.8.4:8443", "[fd00::1]:1", "[::ffff:1.2.3.4]:65535"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cordon_address address;
        struct sockaddr_storage socket;
        char text[CORDON_ADDRESS_TEXT_MAX];
        REQUIRE(cordon_address_parse(texts[i], 1, &address));
        (void)cordon_address_to_socket(&address, &socket);
        cordon_address back = cordon_address_from_socket((struct sockaddr *)&socket);
        CHECK_STR(cordon_address_text(&back, true, text), texts[i]);
    }
}

static void DN3_a_mixed_answer_keeps_the_public_addresses_and_says_what_it_refused(void)
{
    const cordon_address raw[] = {read_address("169.254.169.254"), read_address("8.8.8.8"),
                                  read_address("::1"), read_address("2606:4700::1")};
    cordon_resolved *resolved = cordon_resolved_new(raw, 4, 443);
    REQUIRE(resolved != NULL);
    CHECK_INT(resolved->count, 2);
    CHECK_INT(resolved->addresses[0].port, 443);
    CHECK_INT(resolved->addresses[0].bytes[0], 8);
    CHECK_INT(resolved->addresses[1].bytes[0], 0x26);
    CHECK_INT(resolved->refused, 2);
    CHECK_INT(resolved->first_refused.bytes[0], 169);
    CHECK_INT(cordon_resolved_fault(resolved), CORDON_REASON_NONE);
    cordon_resolved_unref(resolved);
}

static void DN3_an_answer_without_public_address_is_told_from_an_empty_one(void)
{
    const cordon_address raw[] = {read_address("10.0.0.5"), read_address("::ffff:10.0.0.1")};
    cordon_resolved *resolved = cordon_resolved_new(raw, 2, 443);
    REQUIRE(resolved != NULL);
    CHECK_INT(cordon_resolved_fault(resolved), CORDON_REASON_ADDRESS_NOT_PUBLIC);
    cordon_resolved_unref(resolved);
    resolved = cordon_resolved_new(raw, 0, 443);
    REQUIRE(resolved != NULL);
    CHECK_INT(cordon_resolved_fault(resolved), CORDON_REASON_UNRESOLVABLE);
    cordon_resolved_unref(resolved);
}

CORDON_TEST_MAIN("proxy_address",
                 TEST(DN3_every_class_is_refused_by_name_and_its_neighbours_are_not),
                 TEST(an_unknown_family_is_refused), TEST(an_address_survives_text_and_socket_form),
                 TEST(DN3_a_mixed_answer_keeps_the_public_addresses_and_says_what_it_refused),
                 TEST(DN3_an_answer_without_public_address_is_told_from_an_empty_one))

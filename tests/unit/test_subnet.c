/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a configured range: which ranges are allowed, and every block where it belongs. */
#include "subnet.h"
#include "support/test.h"

static void a_range_is_cut_into_blocks_that_follow_each_other(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_range range;
    char subnet[CORDON_SUBNET_SIZE];
    static const struct {
        uint32_t index;
        const char *subnet;
    } blocks[] = {
        {0, "10.213.0.0/29"},        {1, "10.213.0.8/29"},
        {31, "10.213.0.248/29"},     {32, "10.213.1.0/29"},
        {8191, "10.213.255.248/29"}, {8192, "10.213.0.0/29"},
        {8193, "10.213.0.8/29"},     {UINT32_MAX, "10.213.255.248/29"},
    };

    REQUIRE_OK(cordon_range_parse("10.213.0.0/16", 29, &range, &err), err);
    REQUIRE_INT(cordon_range_blocks(&range), 8192);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        cordon_range_block(&range, blocks[i].index, subnet);
        CHECK_STR(subnet, blocks[i].subnet);
    }
}

static void no_two_blocks_of_a_range_are_the_same(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_range range;
    char before[CORDON_SUBNET_SIZE];
    char subnet[CORDON_SUBNET_SIZE];

    REQUIRE_OK(cordon_range_parse("100.64.0.0/20", 28, &range, &err), err);
    REQUIRE_INT(cordon_range_blocks(&range), 256);
    cordon_range_block(&range, 255, before);
    for (uint32_t i = 0; i < 256; i++) {
        char address[INET_ADDRSTRLEN];
        char want[INET_ADDRSTRLEN];

        cordon_range_block(&range, i, subnet);
        (void)snprintf(want, sizeof(want), "100.64.%u.%u", i * 16 / 256, i * 16 % 256);
        cordon_subnet_host(subnet, 0, address);
        CHECK_STR(address, want);
        CHECK(strcmp(subnet, before) != 0);
        memcpy(before, subnet, sizeof(before));
    }
}

static void a_range_may_be_one_block(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_range range;
    char subnet[CORDON_SUBNET_SIZE];

    REQUIRE_OK(cordon_range_parse("192.168.7.248/29", 29, &range, &err), err);
    CHECK_INT(cordon_range_blocks(&range), 1);
    cordon_range_block(&range, 5, subnet);
    CHECK_STR(subnet, "192.168.7.248/29");
}

static void the_whole_of_each_private_space_is_allowed(void)
{
    static const char *const good[] = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                                       "100.64.0.0/10", "172.31.255.0/24"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_range range;

        CHECK_OK(cordon_range_parse(good[i], 29, &range, &err), err);
    }
}

static void every_other_range_is_a_configuration_error_that_says_why(void)
{
    static const struct {
        const char *text;
        int64_t prefix;
        const char *message;
    } bad[] = {
        {"10.213.0.0", 29, "'10.213.0.0' has no prefix length"},
        {"", 29, "'' has no prefix length"},
        {"/16", 29, "'/16' is no IPv4 network"},
        {"10.213.0/16", 29, "'10.213.0/16' is no IPv4 network"},
        {"10.213.0.256/16", 29, "is no IPv4 network"},
        {"010.213.0.0/16", 29, "is no IPv4 network"},
        {"fd00::/64", 29, "is no IPv4 network"},
        {"10.213.0.0.0.0.0.0.0.0.0.0/16", 29, "is no IPv4 network"},
        {" 10.213.0.0/16", 29, "is no IPv4 network"},
        {"10.213.0.0/", 29, "prefix length of '10.213.0.0/'"},
        {"10.213.0.0/33", 29, "prefix length of '10.213.0.0/33'"},
        {"10.213.0.0/+16", 29, "prefix length of '10.213.0.0/+16'"},
        {"10.213.0.0/16 ", 29, "prefix length of '10.213.0.0/16 '"},
        {"10.213.0.0/16/29", 29, "prefix length of '10.213.0.0/16/29'"},
        {"10.213.0.1/16", 29, "has host bits after the prefix"},
        {"10.213.0.8/28", 29, "has host bits after the prefix"},
        {"8.8.8.0/24", 29, "is not inside 10.0.0.0/8"},
        {"0.0.0.0/0", 29, "is not inside 10.0.0.0/8"},
        {"10.0.0.0/7", 29, "is not inside 10.0.0.0/8"},
        {"172.32.0.0/16", 29, "is not inside 10.0.0.0/8"},
        {"172.0.0.0/11", 29, "is not inside 10.0.0.0/8"},
        {"127.0.0.0/8", 29, "is not inside 10.0.0.0/8"},
        {"169.254.0.0/16", 29, "is not inside 10.0.0.0/8"},
        {"100.128.0.0/16", 29, "is not inside 10.0.0.0/8"},
        {"10.213.0.0/16", 30, "block prefix 30 is not between 16 and 29"},
        {"10.213.0.0/16", 15, "block prefix 15 is not between 16 and 29"},
        {"10.213.0.0/16", -1, "block prefix -1 is not between 16 and 29"},
        {"10.213.0.0/16", INT64_C(1) << 32, "block prefix 4294967296 is not between 16 and 29"},
        {"10.213.0.0/24", 23, "wider than 10.213.0.0/24"},
        {"10.213.0.0/30", 29, "wider than 10.213.0.0/30"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_range range = {.base = 7, .range_prefix = 7, .block_prefix = 7};

        CHECK_FAILS(cordon_range_parse(bad[i].text, bad[i].prefix, &range, &err), err,
                    CORDON_ERR_CONFIG, bad[i].message);
        CHECK(range.base == 7 && range.range_prefix == 7 && range.block_prefix == 7);
    }
}

static void hosts_are_counted_from_the_base_of_a_block(void)
{
    static const struct {
        const char *subnet;
        uint32_t nth;
        const char *address;
    } hosts[] = {
        {"10.213.0.8/29", 2, "10.213.0.10"},
        {"10.213.0.8/29", 3, "10.213.0.11"},
        {"10.213.0.248/29", 7, "10.213.0.255"},
        {"10.213.0.0/16", 256, "10.213.1.0"},
        {"nonsense", 2, ""},
        {"10.213.0.8", 2, ""},
    };

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        char address[INET_ADDRSTRLEN];

        cordon_subnet_host(hosts[i].subnet, hosts[i].nth, address);
        CHECK_STR(address, hosts[i].address);
    }
    CHECK_INT(cordon_subnet_prefix("10.213.0.8/29"), 29);
    CHECK_INT(cordon_subnet_prefix("10.213.0.8"), 0);
}

CORDON_TEST_MAIN("subnet", TEST(a_range_is_cut_into_blocks_that_follow_each_other),
                 TEST(no_two_blocks_of_a_range_are_the_same), TEST(a_range_may_be_one_block),
                 TEST(the_whole_of_each_private_space_is_allowed),
                 TEST(every_other_range_is_a_configuration_error_that_says_why),
                 TEST(hosts_are_counted_from_the_base_of_a_block))

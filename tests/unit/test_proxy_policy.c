/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be pinned and mapped (HM4), what matches a pin (HM2, HM3), and the option table.
 */
#include "proxy/options.h"
#include "support/test.h"

static void HM4_entries_that_are_no_whole_host_are_refused_by_name(void)
{
    static const char *const entries[] = {
        "*",         "*.",           ".",         "",           "*.test",     "ok test",
        " ok.test",  "ok.test ",     "ok.test.",  "ok..test",   ".ok.test",   "ok.test:443",
        "[ok.test]", "http://ok",    "1.2.3.4",   "127.1",      "0x7f000001", "[::1]",
        "::1",       "ok_.test",     "-ok.test",  "ok-.test",   "ok.test/",   "\xc3\xb6k.test",
        "ok.test\n", "user@ok.test", "ok%2etest", "2130706433",
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        cordon_policy policy = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_policy_allow(&policy, "first.test", &err), err);
        CHECK_FAILS(cordon_policy_allow(&policy, entries[i], &err), err, CORDON_ERR_CONFIG,
                    "host 2, \"");
        CHECK_INT(policy.count, 1);
    }
}

static void labels_and_names_have_the_bounds_of_dns(void)
{
    cordon_policy policy = {0};
    cordon_err err = CORDON_ERR_INIT;
    char label[65];
    memset(label, 'a', sizeof label);
    label[63] = '\0';
    CHECK_OK(cordon_policy_allow(&policy, label, &err), err);
    label[63] = 'a';
    label[64] = '\0';
    CHECK_FAILS(cordon_policy_allow(&policy, label, &err), err, CORDON_ERR_CONFIG, "whole host");
    char name[256];
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i % 2 == 0 ? 'a' : '.';
    name[253] = '\0';
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_OK(cordon_policy_allow(&policy, name, &err), err);
    memcpy(name + 253, "bc", 3);
    CHECK_FAILS(cordon_policy_allow(&policy, name, &err), err, CORDON_ERR_CONFIG, "whole host");
}

static void HM3_a_pin_matches_the_whole_name_in_any_letter_case_and_nothing_else(void)
{
    static const char *const others[] = {
        "notok.test", "ok.test.evil.test", "sub.ok.test", "ok.tes", "ok.testx", "ok.test.", "",
        "k.test"};
    cordon_policy policy = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_policy_allow(&policy, "other.test", &err), err);
    REQUIRE_OK(cordon_policy_allow(&policy, "OK.Test", &err), err);
    CHECK_STR(policy.hosts[1].name, "ok.test");
    CHECK_INT(cordon_policy_find(&policy, "ok.test", 7), 1);
    CHECK_INT(cordon_policy_find(&policy, "oK.tESt", 7), 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(cordon_policy_find(&policy, others[i], strlen(others[i])) == CORDON_POLICY_NONE);
    CHECK_FAILS(cordon_policy_allow(&policy, "ok.TEST", &err), err, CORDON_ERR_CONFIG, "already");
}

static void the_number_of_pins_is_bounded(void)
{
    cordon_policy policy = {0};
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i < CORDON_POLICY_HOSTS_MAX; i++) {
        char name[] = "a0a.test";
        name[0] = (char)('a' + i % 26);
        name[2] = (char)('a' + i / 26);
        REQUIRE_OK(cordon_policy_allow(&policy, name, &err), err);
    }
    CHECK_FAILS(cordon_policy_allow(&policy, "last.test", &err), err, CORDON_ERR_CONFIG,
                "too many");
}

typedef struct map_row {
    const char *entry;
    const char *part; /* of the message; NULL: accepted */
} map_row;

static void only_a_pinned_host_is_mapped_once_to_a_real_address(void)
{
    static const map_row rows[] = {
        {"ok.test=10.0.8.4:8443", NULL},
        {"OK.test=[fd00::1]:1", NULL},
        {"ok.test=127.0.0.1:443", NULL},
        {"ok.test", "not HOST=ADDRESS:PORT"},
        {"ok.test=", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8.4", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8.4:0", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8.4:65536", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8.4:0443", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=010.0.8.4:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=fd00::1:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=[10.0.8.4]:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=[fe80::1%eth0]:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=gateway.test:443", "not HOST=ADDRESS:PORT"},
        {"ok.test=10.0.8.4:443 ", "not HOST=ADDRESS:PORT"},
        {"ok.test=0.0.0.0:443", "nothing can be dialled"},
        {"ok.test=[::]:443", "nothing can be dialled"},
        {"ok.test=224.0.0.1:443", "nothing can be dialled"},
        {"ok.test=255.255.255.255:443", "nothing can be dialled"},
        {"ok.test=[ff02::1]:443", "nothing can be dialled"},
        {"evil.test=10.0.8.4:443", "not pinned"},
        {"=10.0.8.4:443", "not pinned"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_policy policy = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_policy_allow(&policy, "ok.test", &err), err);
        if (rows[i].part)
            CHECK_FAILS(cordon_policy_map(&policy, rows[i].entry, &err), err, CORDON_ERR_CONFIG,
                        rows[i].part);
        else
            CHECK_OK(cordon_policy_map(&policy, rows[i].entry, &err), err);
        CHECK((policy.hosts[0].upstream.family != 0) == (rows[i].part == NULL));
        if (!rows[i].part)
            CHECK_FAILS(cordon_policy_map(&policy, rows[i].entry, &err), err, CORDON_ERR_CONFIG,
                        "mapped already");
    }
}

#define ARGV_MAX 12
typedef struct argv_row {
    const char *part; /* of the message; NULL: accepted */
    const char *argv[ARGV_MAX];
} argv_row;

#define BASE "proxy", "--listen", "127.0.0.1:3128", "--allow", "ok.test"

static const argv_row argv_rows[] = {
    {NULL, {BASE}},
    {NULL, {BASE, "--allow", "b.test", "--upstream", "b.test=10.0.0.1:443"}},
    {NULL, {BASE, "--max-tunnels", "7", "--idle-ms", "0", "--header-ms", "86400000"}},
    {NULL, {"proxy", "--allow", "ok.test", "--listen", "[fd00::2]:0"}},
    {"--listen is required", {"proxy"}},
    {"--allow is required", {"proxy", "--listen", "127.0.0.1:3128"}},
    {"--allow: a value is missing", {"proxy", "--listen", "127.0.0.1:3128", "--allow"}},
    {"--listen: given twice", {BASE, "--listen", "127.0.0.1:3128"}},
    {"--idle-ms: given twice", {BASE, "--idle-ms", "1", "--idle-ms", "1"}},
    {"unknown option \"--idle\"", {BASE, "--idle", "1"}},
    {"unknown option \"--allow=b.test\"", {BASE, "--allow=b.test"}},
    {"unknown option \"--\"", {BASE, "--"}},
    {"unknown option \"b.test\"", {BASE, "b.test"}},
    {"unknown option \"\"", {BASE, "", ""}},
    {"unknown option \"?[31m\"", {BASE, "\x1b[31m", "1"}},
    {"--listen: \"0.0.0.0:3128\" is not one", {"proxy", "--listen", "0.0.0.0:3128"}},
    {"--listen: \"[::]:3128\" is not one", {"proxy", "--listen", "[::]:3128"}},
    {"--listen: \"224.0.0.1:1\" is not one", {"proxy", "--listen", "224.0.0.1:1"}},
    {"--listen: \"3128\" is not ADDRESS:PORT", {"proxy", "--listen", "3128"}},
    {"--listen: \"localhost:1\" is not", {"proxy", "--listen", "localhost:1"}},
    {"--allow: host 1, \"*.test\"", {"proxy", "--allow", "*.test"}},
    {"--allow: host 2, \"OK.TEST\": is pinned", {BASE, "--allow", "OK.TEST"}},
    {"--upstream: \"b.test=10.0.0.1:443\"", {BASE, "--upstream", "b.test=10.0.0.1:443"}},
    {"--max-tunnels", {BASE, "--max-tunnels", "0"}},
    {"--max-tunnels", {BASE, "--max-tunnels", "65537"}},
    {"--max-tunnels", {BASE, "--max-tunnels", "-1"}},
    {"--header-ms", {BASE, "--header-ms", "0"}},
    {"--header-ms", {BASE, "--header-ms", "1s"}},
    {"--connect-ms", {BASE, "--connect-ms", "0x10"}},
    {"--hello-ms", {BASE, "--hello-ms", "86400001"}},
    {"--idle-ms", {BASE, "--idle-ms", "18446744073709551616"}},
};

static void options_are_exact_and_name_what_is_wrong(void)
{
    for (size_t i = 0; i < sizeof argv_rows / sizeof argv_rows[0]; i++) {
        const argv_row *row = &argv_rows[i];
        int argc = 0;
        while (argc < ARGV_MAX && row->argv[argc])
            argc++;
        cordon_proxy_options options = {.max_tunnels = 12345};
        cordon_err err = CORDON_ERR_INIT;
        if (row->part)
            CHECK_FAILS(cordon_proxy_options_parse(argc, row->argv, &options, &err), err,
                        CORDON_ERR_CONFIG, row->part);
        else
            CHECK_OK(cordon_proxy_options_parse(argc, row->argv, &options, &err), err);
        CHECK((options.max_tunnels == 12345) == (row->part != NULL));
    }
}

static void options_that_are_not_given_have_their_documented_value(void)
{
    const char *argv[] = {"proxy", "--listen", "10.0.0.2:3128", "--allow", "ok.test", NULL};
    cordon_proxy_options options;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_proxy_options_parse(5, argv, &options, &err), err);
    CHECK_INT(options.head_ms, 10000);
    CHECK_INT(options.connect_ms, 15000);
    CHECK_INT(options.hello_ms, 15000);
    CHECK_INT(options.idle_ms, 0);
    CHECK_INT(options.max_tunnels, 512);
    CHECK_INT(options.listen.port, 3128);
    CHECK_INT(options.listen.bytes[3], 2);
}

CORDON_TEST_MAIN("proxy_policy", TEST(HM4_entries_that_are_no_whole_host_are_refused_by_name),
                 TEST(labels_and_names_have_the_bounds_of_dns),
                 TEST(HM3_a_pin_matches_the_whole_name_in_any_letter_case_and_nothing_else),
                 TEST(the_number_of_pins_is_bounded),
                 TEST(only_a_pinned_host_is_mapped_once_to_a_real_address),
                 TEST(options_are_exact_and_name_what_is_wrong),
                 TEST(options_that_are_not_given_have_their_documented_value))

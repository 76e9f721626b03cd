/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be pinned and mapped (HM4), what matches a pin (HM2, HM3), the policy that comes in one
 * frame, and what the proxy refuses to start with.
 */
#include <unistd.h>

#include "proxy/options.h"
#include "proxy/start.h"
#include "support/proxy_policy.h"
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
typedef struct policy_row {
    const char *part; /* of the message; NULL: accepted */
    const char *pairs[ARGV_MAX];
} policy_row;

#define BASE "--listen", "127.0.0.1:3128", "--allow", "ok.test"

static const policy_row policy_rows[] = {
    {NULL, {BASE}},
    {NULL, {BASE, "--allow", "b.test", "--upstream", "b.test=10.0.0.1:443"}},
    {NULL, {BASE, "--max-tunnels", "7", "--idle-ms", "0", "--header-ms", "691200000"}},
    {NULL, {"--allow", "ok.test", "--listen", "[fd00::2]:0"}},
    {"listen is missing", {NULL}},
    {"host is missing", {"--listen", "127.0.0.1:3128"}},
    {"idle_ms is missing", {BASE, "--idle-ms"}},
    {"version is missing", {BASE, "--version"}},
    {"tunnel_bytes is missing", {BASE, "--tunnel-bytes"}},
    {"all_bytes is missing", {BASE, "--all-bytes"}},
    {"refusals is missing", {BASE, "--refusals"}},
    {"listen: given twice", {BASE, "--listen", "127.0.0.1:3128"}},
    {"idle_ms: given twice", {BASE, "--idle-ms", "1", "--idle-ms", "1"}},
    {"version: 2 is not", {BASE, "--version", "2"}},
    {"listen: \"0.0.0.0:3128\" is not one", {"--listen", "0.0.0.0:3128"}},
    {"listen: \"[::]:3128\" is not one", {"--listen", "[::]:3128"}},
    {"listen: \"224.0.0.1:1\" is not one", {"--listen", "224.0.0.1:1"}},
    {"listen: \"3128\" is not ADDRESS:PORT", {"--listen", "3128"}},
    {"listen: \"localhost:1\" is not", {"--listen", "localhost:1"}},
    {"host: host 1, \"*.test\"", {"--allow", "*.test"}},
    {"host: host 1, \"\"", {"--allow", ""}},
    {"host: host 2, \"OK.TEST\": is pinned", {BASE, "--allow", "OK.TEST"}},
    {"upstream: \"b.test=10.0.0.1:443\"", {BASE, "--upstream", "b.test=10.0.0.1:443"}},
    {"tunnels: 0 is not", {BASE, "--max-tunnels", "0"}},
    {"tunnels: 65537 is not", {BASE, "--max-tunnels", "65537"}},
    {"head_ms: 0 is not", {BASE, "--header-ms", "0"}},
    {"hello_ms: 691200001 is not", {BASE, "--hello-ms", "691200001"}},
    {"connect_ms: 18446744073709551615 is not", {BASE, "--connect-ms", "18446744073709551615"}},
    {"all_bytes: 9223372036854775808 is not", {BASE, "--all-bytes", "9223372036854775808"}},
};

static int count_pairs(const char *const *pairs)
{
    int count = 0;
    while (count < ARGV_MAX && pairs[count])
        count++;
    return count;
}

static void a_policy_is_exact_and_names_what_is_wrong(void)
{
    for (size_t i = 0; i < sizeof policy_rows / sizeof policy_rows[0]; i++) {
        const policy_row *row = &policy_rows[i];
        cordon_auto(cordon_frame) frame = {0};
        cordon_proxy_options options = {.max_tunnels = 12345};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(policy_make(count_pairs(row->pairs), row->pairs, &frame, &err), err);
        int result =
            cordon_proxy_options_read(frame.bytes.data, frame.bytes.length, &options, &err);
        CHECK_INT(result, row->part ? -1 : 0);
        if (row->part)
            CHECK_CONTAINS(err.message, row->part);
        CHECK((options.max_tunnels == 12345) == (row->part != NULL));
    }
}

/* Whole or nothing: no part of a frame is a policy, nor one with a byte changed or added. */
static void a_policy_that_is_cut_longer_or_changed_is_none(void)
{
    static const char *const pairs[] = {BASE, "--upstream", "ok.test=10.0.0.1:443"};
    cordon_auto(cordon_frame) frame = {0};
    cordon_proxy_options options = {.max_tunnels = 12345};
    cordon_err err = CORDON_ERR_INIT;
    char bytes[1024] = "";
    REQUIRE_OK(policy_make(6, pairs, &frame, &err), err);
    size_t length = frame.bytes.length;
    REQUIRE(length + 1 < sizeof bytes);
    memcpy(bytes, frame.bytes.data, length);
    for (size_t cut = 0; cut < length; cut++)
        CHECK_INT(cordon_proxy_options_read(bytes, cut, &options, NULL), -1);
    CHECK_INT(cordon_proxy_options_read(bytes, length + 1, &options, NULL), -1);
    for (size_t at = 0; at < length; at++) {
        bytes[at] ^= 1;
        CHECK_INT(cordon_proxy_options_read(bytes, length, &options, NULL), -1);
        bytes[at] ^= 1;
    }
    CHECK_INT(options.max_tunnels, 12345);
    CHECK_OK(cordon_proxy_options_read(bytes, length, &options, &err), err);
    CHECK_INT(strlen(options.code), 64);
}

/* In any cut, and not a byte behind it is taken. */
static void a_policy_arrives_in_pieces_and_what_follows_stays(void)
{
    static const char *const pairs[] = {BASE};
    cordon_auto(cordon_frame) frame = {0};
    cordon_proxy_options options = {0};
    cordon_err err = CORDON_ERR_INIT;
    int ends[2];
    char byte = 0;
    REQUIRE_OK(policy_make(4, pairs, &frame, &err), err);
    REQUIRE_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], frame.bytes.data, frame.bytes.length), frame.bytes.length);
    CHECK_INT(write(ends[1], "x", 1), 1);
    CHECK_OK(cordon_start_read(ends[0], 1000, &options, &err), err);
    CHECK_INT(options.policy.count, 1);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    CHECK_INT(byte, 'x');
    CHECK_INT(write(ends[1], frame.bytes.data, frame.bytes.length - 1), frame.bytes.length - 1);
    CHECK_FAILS(cordon_start_read(ends[0], 20, &options, &err), err, CORDON_ERR_TIMEOUT, "policy");
    CHECK_INT(write(ends[1], frame.bytes.data, 20), 20);
    (void)close(ends[1]);
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_start_read(ends[0], 1000, &options, &err), err, CORDON_ERR_PROTOCOL,
                "ended after 20 bytes");
    (void)close(ends[0]);
}

static void what_nobody_planned_is_refused_at_the_start(void)
{
    char role[] = "proxy";
    char listen[] = "--listen";
    char home[] = "HOME=/";
    char host[] = "HOSTNAME=proxy";
    char path[] = "PATH=/";
    char preload[] = "LD_PRELOAD=/x";
    char elsewhere[] = "HOME=/root";
    char *const argv[] = {role, listen, NULL};
    char *const planned[] = {home, host, path, NULL};
    char *const more[] = {home, preload, NULL};
    char *const other[] = {elsewhere, NULL};
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_start_check(2, argv, planned, &err), err, CORDON_ERR_CONFIG,
                "unexpected argument \"--listen\"");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_start_check(1, argv, more, &err), err, CORDON_ERR_CONFIG,
                "unexpected variable \"LD_PRELOAD=/x\"");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_start_check(1, argv, other, &err), err, CORDON_ERR_CONFIG,
                "unexpected variable \"HOME=/root\"");
    cordon_err_clear(&err);
    int fd = dup(STDIN_FILENO);
    REQUIRE(fd > 2);
    CHECK_FAILS(cordon_start_check(1, argv, planned, &err), err, CORDON_ERR_CONFIG,
                "unexpected open descriptor");
    (void)close(fd);
}

CORDON_TEST_MAIN("proxy_policy", TEST(HM4_entries_that_are_no_whole_host_are_refused_by_name),
                 TEST(labels_and_names_have_the_bounds_of_dns),
                 TEST(HM3_a_pin_matches_the_whole_name_in_any_letter_case_and_nothing_else),
                 TEST(the_number_of_pins_is_bounded),
                 TEST(only_a_pinned_host_is_mapped_once_to_a_real_address),
                 TEST(a_policy_is_exact_and_names_what_is_wrong),
                 TEST(a_policy_that_is_cut_longer_or_changed_is_none),
                 TEST(a_policy_arrives_in_pieces_and_what_follows_stays),
                 TEST(what_nobody_planned_is_refused_at_the_start))

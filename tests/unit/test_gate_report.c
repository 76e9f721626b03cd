/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pure parts of the gate's report: kernel texts to facts, netlink messages to facts, and the
 * bounds that mark a key as truncated instead of cutting it silently.
 */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>

#include "gate/kernel.h"
#include "gate/mountinfo.h"
#include "gate/netinfo.h"
#include "gate/report.h"
#include "gate/status.h"
#include "gate/text.h"
#include "support/test.h"

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {7, 8, 9};

static cordon_slice slice(const char *text)
{
    return cordon_slice_make(text, strlen(text));
}

/* Seals the report and joins its facts, one a line, into text of the caller's. */
static bool facts_of(cordon_report *report, char *ret_text, size_t size)
{
    size_t used = 0;
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    cordon_frame_field field;
    ret_text[0] = '\0';
    if (!CHECK_OK(cordon_report_seal(report, &err), err) ||
        !CHECK_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, report->frame.bytes.data,
                                    report->frame.bytes.length, cordon_frame_unkeyed, &err),
                  err))
        return false;
    while (cordon_frame_next(&reader, &field))
        if (field.tag == CORDON_GATE_REPORT_FACT && used + field.length + 2 < size)
            used += (size_t)snprintf(ret_text + used, size - used, "%.*s\n", (int)field.length,
                                     (const char *)field.bytes);
    return true;
}

static void a_report_carries_version_nonce_and_facts(void)
{
    uint64_t version = 0;
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    cordon_frame_field field;
    cordon_auto(cordon_report) report = {0};
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    REQUIRE_OK(cordon_report_add_text(&report, "hostname", "", &err), err);
    REQUIRE_OK(cordon_report_seal(&report, &err), err);
    REQUIRE_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, report.frame.bytes.data,
                                 report.frame.bytes.length, cordon_frame_unkeyed, &err),
               err);
    REQUIRE(cordon_frame_next(&reader, &field));
    REQUIRE_INT(field.tag, CORDON_GATE_REPORT_VERSION);
    REQUIRE_OK(cordon_frame_field_u64(&field, &version, &err), err);
    CHECK_INT(version, CORDON_GATE_VERSION);
    REQUIRE(cordon_frame_next(&reader, &field));
    REQUIRE_INT(field.tag, CORDON_GATE_REPORT_NONCE);
    CHECK(field.length == sizeof nonce && memcmp(field.bytes, nonce, sizeof nonce) == 0);
    REQUIRE(cordon_frame_next(&reader, &field));
    CHECK(field.tag == CORDON_GATE_REPORT_FACT && field.length == strlen("hostname="));
    CHECK(!cordon_frame_next(&reader, &field));
}

static void too_many_facts_of_a_key_are_marked(void)
{
    char text[32768];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    for (int i = 0; i < CORDON_REPORT_KEY_FACTS_MAX + 3; i++)
        REQUIRE_OK(cordon_report_addf(&report, &err, "fd", "%d x", i), err);
    REQUIRE_OK(cordon_report_add_text(&report, "pid", "1", &err), err);
    REQUIRE(facts_of(&report, text, sizeof text));
    CHECK_CONTAINS(text, "fd=511 x\n");
    CHECK(strstr(text, "fd=512 x\n") == NULL);
    CHECK_CONTAINS(text, "pid=1\ntruncated=fd\n");
}

static void a_too_long_fact_is_left_out_and_marked(void)
{
    char text[4096];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    char *value = calloc(1, CORDON_REPORT_FACT_BYTES_MAX + 1);
    REQUIRE(value != NULL);
    memset(value, 'v', CORDON_REPORT_FACT_BYTES_MAX);
    bool ok = CHECK_OK(cordon_report_init(&report, nonce, &err), err) &&
              CHECK_OK(cordon_report_add_text(&report, "env", value, &err), err) &&
              CHECK_OK(cordon_report_add_text(&report, "env", "A=b", &err), err);
    free(value);
    REQUIRE(ok && facts_of(&report, text, sizeof text));
    CHECK_STR(text, "env=A=b\ntruncated=env\n");
}

static void a_full_report_still_seals(void)
{
    char value[8000];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    static const char *const keys[] = {"mount", "env", "hosts", "resolv", "argv"};
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    for (size_t i = 0; i < 200; i++)
        REQUIRE_OK(cordon_report_add_text(&report, keys[i % 5], value, &err), err);
    REQUIRE_OK(cordon_report_seal(&report, &err), err);
    CHECK(report.frame.bytes.length <= CORDON_GATE_REPORT_MAX);
}

static void mountinfo_lines_are_taken_apart(void)
{
    char text[4096];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    static const char lines[] =
        "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=c\n"
        "22 1 0:21 / / ro,relatime - overlay overlay rw,lowerdir=/a:/b\n"
        "40 22 0:44 / /with\\040blank rw - tmpfs  rw\n";
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    REQUIRE_OK(cordon_mountinfo_facts(slice(lines), &report, &err), err);
    REQUIRE(facts_of(&report, text, sizeof text));
    CHECK_STR(text, "mount=/mnt2\text3\trw,noatime\trw,errors=c\t/dev/root\t/mnt1\t"
                    "master:1 propagate_from:2\n"
                    "mount=/\toverlay\tro,relatime\trw,lowerdir=/a:/b\toverlay\t/\t\n"
                    "mount=/with\\040blank\ttmpfs\trw\trw\t\t/\t\n");
}

static void broken_mountinfo_lines_are_refused(void)
{
    static const char *const bad[] = {
        "",
        "36",
        "36 35 98:0 /mnt1 /mnt2 rw,noatime",
        "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 ext3 /dev/root rw",
        "36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root",
        "36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw more",
        "36 35 98:0 /mnt1 relative rw - ext3 /dev/root rw",
        "36 35 98:0 / /  - ext3 /dev/root rw",
        "36 35  / / rw - ext3 /dev/root rw",
        "36 35 98:0 / / rw  - ext3 /dev/root rw",
        "36 35 98:0 / / rw -",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_mountinfo mount;
        CHECK_FAILS(cordon_mountinfo_parse(slice(bad[i]), &mount, &err), err, CORDON_ERR_PROTOCOL,
                    "not a line of mountinfo");
    }
}

#define STATUS_GOOD                                                                                \
    "Name:\tcordon-guard\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1001\nGid:\t5\t5\t5\t5\n"          \
    "Groups:\t5 20 \nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"                       \
    "CapEff:\t0000000000000000\nCapBnd:\t00000000a80425fb\nCapAmb:\t0000000000000000\n"            \
    "NoNewPrivs:\t1\nSeccomp:\t2\n"

static void status_lines_become_facts(void)
{
    char text[4096];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    REQUIRE_OK(cordon_status_facts(slice(STATUS_GOOD "Seccomp_filters:\t3\n"), &report, &err), err);
    REQUIRE(facts_of(&report, text, sizeof text));
    CHECK_STR(text, "uid=1000 1000 1000 1001\ngid=5 5 5 5\ngroup=5\ngroup=20\n"
                    "cap.inheritable=0000000000000000\ncap.permitted=0000000000000000\n"
                    "cap.effective=0000000000000000\ncap.bounding=00000000a80425fb\n"
                    "cap.ambient=0000000000000000\nseccomp.mode=2\nseccomp.filters=3\n");
}

static void an_old_kernels_status_has_no_filter_count(void)
{
    char text[4096];
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    REQUIRE_OK(cordon_status_facts(slice(STATUS_GOOD), &report, &err), err);
    REQUIRE(facts_of(&report, text, sizeof text));
    CHECK(strstr(text, "seccomp.filters") == NULL);
}

static void status_that_cannot_be_believed_is_refused(void)
{
    static const struct {
        const char *text;
        const char *part;
    } bad[] = {
        {"", "no line Uid"},
        {STATUS_GOOD "Uid:\t0\t0\t0\t0\n", "Uid stands there twice"},
        {"Uid:\t1\t1\t1\n", "3 ids"},
        {"Uid:\t1\t1\t1\t-1\n", "Uid: "},
        {"Uid:\t1\t1\t1\t4294967296\n", "Uid: "},
        {"CapEff:\t000000000000000g\n", "CapEff: "},
        {"CapEff:\t0\n", "a mask of 1 digits"},
        {"CapEff:\t\n", "not exactly one word"},
        {"Seccomp:\t2 2\n", "not exactly one word"},
        {"Groups:\t1 x\n", "Groups: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto(cordon_report) report = {0};
        REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
        int rc = cordon_status_facts(slice(bad[i].text), &report, &err);
        CHECK_INT(rc, -1);
        CHECK_CONTAINS(err.message, bad[i].part);
    }
}

/* --- netlink ----------------------------------------------------------------------------- */

typedef struct message {
    _Alignas(8) char bytes[1024];
    size_t length;
} message;

static void put(message *m, const void *bytes, size_t length)
{
    memcpy(m->bytes + m->length, bytes, length);
    m->length += NLMSG_ALIGN(length);
}

static void put_attribute(message *m, unsigned short type, const void *bytes, size_t length)
{
    struct rtattr head = {.rta_len = (unsigned short)RTA_LENGTH(length), .rta_type = type};
    char item[256] = {0};
    memcpy(item, &head, sizeof head);
    memcpy(item + RTA_LENGTH(0), bytes, length);
    put(m, item, RTA_LENGTH(length));
}

static void begin(message *m, unsigned short type, const void *body, size_t length)
{
    struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_seq = 5};
    memset(m, 0, sizeof *m);
    put(m, &head, sizeof head);
    put(m, body, length);
}

static void finish(message *m)
{
    uint32_t length = (uint32_t)m->length;
    memcpy(m->bytes, &length, sizeof length);
}

static void make_link(message *m)
{
    struct ifinfomsg body = {.ifi_index = 2, .ifi_flags = IFF_UP | IFF_RUNNING};
    uint32_t mtu = 1500;
    begin(m, RTM_NEWLINK, &body, sizeof body);
    put_attribute(m, IFLA_IFNAME, "eth0", 5);
    put_attribute(m, IFLA_MTU, &mtu, sizeof mtu);
    finish(m);
}

static void make_address(message *m)
{
    struct ifaddrmsg body = {.ifa_family = AF_INET, .ifa_prefixlen = 29, .ifa_index = 2};
    const unsigned char address[4] = {10, 213, 0, 3};
    begin(m, RTM_NEWADDR, &body, sizeof body);
    put_attribute(m, IFA_ADDRESS, address, sizeof address);
    finish(m);
}

static void make_route(message *m, unsigned char type, unsigned char table)
{
    struct rtmsg body = {
        .rtm_family = AF_INET, .rtm_dst_len = 29, .rtm_table = table, .rtm_type = type};
    const unsigned char to[4] = {10, 213, 0, 0};
    int out = 2;
    begin(m, RTM_NEWROUTE, &body, sizeof body);
    put_attribute(m, RTA_DST, to, sizeof to);
    put_attribute(m, RTA_OIF, &out, sizeof out);
    finish(m);
}

static void network_messages_become_facts(void)
{
    char text[4096];
    char all[4096] = {0};
    size_t used = 0;
    cordon_err err = CORDON_ERR_INIT;
    message m[5];
    cordon_auto(cordon_report) report = {0};
    make_link(&m[0]);
    make_address(&m[1]);
    make_route(&m[2], RTN_UNICAST, RT_TABLE_MAIN);
    make_route(&m[3], RTN_LOCAL, RT_TABLE_LOCAL);
    make_route(&m[4], RTN_UNICAST, 100);
    _Alignas(8) char bytes[4096];
    for (size_t i = 0; i < 5; i++) {
        memcpy(bytes + used, m[i].bytes, m[i].length);
        used += m[i].length;
    }
    (void)all;
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    REQUIRE_OK(cordon_netinfo_decode(bytes, used, &report, &err), err);
    REQUIRE(facts_of(&report, text, sizeof text));
    CHECK_STR(text, "interface=eth0 up mtu 1500 flags 0x41\n"
                    "address=eth0 10.213.0.3/29\n"
                    "route=10.213.0.0/29 via none dev eth0\n"
                    "route=10.213.0.0/29 via none dev eth0 table 100\n");
}

/* Every prefix of a message, and every single damaged byte: an error or facts, never a crash. */
static void damaged_network_messages_do_no_harm(void)
{
    message good;
    make_link(&good);
    for (size_t i = 0; i < good.length; i++) {
        for (int round = 0; round < 2; round++) {
            cordon_err err = CORDON_ERR_INIT;
            cordon_auto(cordon_report) report = {0};
            message bad = good;
            size_t length = round == 0 ? i : bad.length;
            if (round == 1)
                bad.bytes[i] = (char)(bad.bytes[i] ^ 0x7f);
            REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
            int rc = cordon_netinfo_decode(bad.bytes, length, &report, &err);
            CHECK(rc == 0 || err.code == CORDON_ERR_PROTOCOL);
            if (round == 0 && i > 0)
                CHECK_INT(rc, -1);
        }
    }
}

static void a_kernels_network_error_is_a_failure(void)
{
    message m;
    struct nlmsgerr body = {.error = -1};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_report) report = {0};
    begin(&m, NLMSG_ERROR, &body, sizeof body);
    finish(&m);
    REQUIRE_OK(cordon_report_init(&report, nonce, &err), err);
    CHECK_FAILS(cordon_netinfo_decode(m.bytes, m.length, &report, &err), err, CORDON_ERR_SYSTEM,
                "netlink dump");
}

static void scan_sees_the_end_and_interruption(void)
{
    message m;
    int result = 0;
    bool done = false;
    bool again = false;
    cordon_err err = CORDON_ERR_INIT;
    begin(&m, NLMSG_DONE, &result, sizeof result);
    m.bytes[6] = NLM_F_DUMP_INTR;
    finish(&m);
    CHECK_OK(cordon_netinfo_scan(m.bytes, m.length, 5, &done, &again, &err), err);
    CHECK(done && again);
    CHECK_FAILS(cordon_netinfo_scan(m.bytes, m.length, 6, &done, &again, &err), err,
                CORDON_ERR_PROTOCOL, "out of sequence");
}

static void out_of_memory_kills_are_counted(void)
{
    CHECK_INT(cordon_kernel_parse_oom_kills(slice("low 0\nhigh 2\noom 5\noom_kill 3\n")), 3);
    CHECK_INT(
        cordon_kernel_parse_oom_kills(slice("oom_kill_disable 0\nunder_oom 0\noom_kill 12\n")), 12);
    CHECK_INT(cordon_kernel_parse_oom_kills(slice("oom_kill_disable 1\noom_kill x\n")), 0);
    CHECK_INT(cordon_kernel_parse_oom_kills(slice("")), 0);
}

static void text_is_cut_exactly(void)
{
    char line[8];
    cordon_err err = CORDON_ERR_INIT;
    cordon_slice rest = slice("a::b:");
    cordon_slice piece;
    static const char *const want[] = {"a", "", "b"};
    for (size_t i = 0; i < 3; i++)
        CHECK(cordon_slice_cut(&rest, ':', &piece) && cordon_slice_is(piece, want[i]));
    CHECK(!cordon_slice_cut(&rest, ':', &piece));
    CHECK_OK(cordon_slice_squeeze(slice("  0 \t 1 "), line, sizeof line, &err), err);
    CHECK_STR(line, "0 1");
    CHECK_FAILS(cordon_slice_squeeze(slice("1234 5678"), line, sizeof line, &err), err,
                CORDON_ERR_PROTOCOL, "over 7 characters");
}

CORDON_TEST_MAIN("gate_report", TEST(a_report_carries_version_nonce_and_facts),
                 TEST(too_many_facts_of_a_key_are_marked),
                 TEST(a_too_long_fact_is_left_out_and_marked), TEST(a_full_report_still_seals),
                 TEST(mountinfo_lines_are_taken_apart), TEST(broken_mountinfo_lines_are_refused),
                 TEST(status_lines_become_facts), TEST(an_old_kernels_status_has_no_filter_count),
                 TEST(status_that_cannot_be_believed_is_refused),
                 TEST(network_messages_become_facts), TEST(damaged_network_messages_do_no_harm),
                 TEST(a_kernels_network_error_is_a_failure),
                 TEST(scan_sees_the_end_and_interruption), TEST(out_of_memory_kills_are_counted),
                 TEST(text_is_cut_exactly))

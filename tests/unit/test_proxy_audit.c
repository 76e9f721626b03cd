/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that the running proxy writes, each from its first to its last byte: what was decided,
 * by which rule, over which addresses, and how each tunnel ended, who ended it, and why.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/errno_name.h"
#include "proxy/reason.h"
#include "support/proxy_rig.h"
#include "support/test.h"

#define HEAD(target) "CONNECT " target " HTTP/1.1\r\nHost: " target "\r\n\r\n"

/* '#' in a pattern stands for one number; everything else for itself. */
static bool matches(const char *line, size_t length, const char *pattern)
{
    const char *end = line + length;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (line == end || *line++ != *pattern)
                return false;
            continue;
        }
        if (line == end || !isdigit((unsigned char)*line))
            return false;
        while (line < end && isdigit((unsigned char)*line))
            line++;
    }
    return line == end;
}

#define DECISION "{\"event\":\"decision\",\"time_ms\":#,\"id\":#,"
#define TUNNEL                                                                                     \
    "{\"event\":\"tunnel\",\"time_ms\":#,\"id\":#,\"host\":\"ok.test\",\"port\":443,"              \
    "\"rule\":\"upstream\","
#define DENY(target, status, reason, rule)                                                         \
    DECISION "\"target\":\"" target "\",\"verdict\":\"deny\",\"status\":" status                   \
             ",\"reason\":\"" reason "\",\"rule\":\"" rule "\""
#define ALLOW                                                                                      \
    DECISION "\"target\":\"ok.test:443\",\"verdict\":\"allow\",\"status\":200,"                    \
             "\"reason\":\"pinned\",\"rule\":\"upstream\",\"address\":\"127.0.0.1:#\"}"
#define END(name, up, down, end, by)                                                               \
    TUNNEL "\"address\":\"127.0.0.1:#\"," name "\"up\":" up ",\"down\":" down                      \
           ",\"ms\":#,\"end\":\"" end "\",\"by\":\"" by "\""
#define OPENED "\"server_name\":\"ok.test\","

/* The lines after "ready" are these, in this order, and no others. */
static void check_lines(const proxy_rig *rig, const char *const *patterns, size_t count)
{
    const char *line = strchr(rig->log, '\n');
    size_t seen = 0;
    REQUIRE(line != NULL);
    for (line++; *line; seen++) {
        const char *end = strchr(line, '\n');
        REQUIRE(end != NULL);
        TEST_RECORDF(seen < count && matches(line, (size_t)(end - line), patterns[seen]),
                     "line %zu is %.*s, not %s", seen, (int)(end - line), line,
                     seen < count ? patterns[seen] : "due");
        line = end + 1;
    }
    CHECK_INT(seen, count);
}

static void refuse(proxy_rig *rig, const char *head)
{
    char answer[1024];
    int fd = rig_client(rig);
    CHECK(rig_send_text(fd, head));
    CHECK(rig_receive_all(fd, answer, sizeof answer) > 0);
    (void)close(fd);
}

static void a_refused_request_names_the_rule_that_refused_it(void)
{
    static const char *const lines[] = {
        DENY("no.test:443", "403", "not_pinned", "host") "}",
        DENY("1.2.3.4:443", "403", "ip_literal", "host") "}",
        DENY("ok.test:80", "403", "port_not_allowed", "port") "}",
        DENY("/", "405", "method_not_allowed", "request") "}",
        DENY("ok.test:443", "400", "body_not_allowed", "request") "}",
        DENY("down.test:443", "502", "connect_failed",
             "upstream") ",\"detail\":\"Connection refused\",\"error\":\"ECONNREFUSED\"}",
        DENY("empty.test:443", "502", "unresolvable", "resolved") ",\"addresses\":[]}",
        DENY("private.test:443", "502", "address_not_public",
             "resolved") ",\"addresses\":[],\"refused\":2,\"detail\":\"10.0.0.5 is private\"}",
        DENY("slow.test:443", "504", "resolve_timeout", "resolved") "}",
    };
    proxy_rig rig;
    REQUIRE(rig_prepare(&rig));
    rig.options.connect_ms = 500;
    REQUIRE(rig_start(&rig));
    refuse(&rig, HEAD("no.test:443"));
    refuse(&rig, HEAD("1.2.3.4:443"));
    refuse(&rig, HEAD("ok.test:80"));
    refuse(&rig, "GET / HTTP/1.1\r\n\r\n");
    refuse(&rig, "CONNECT ok.test:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    refuse(&rig, HEAD("down.test:443"));
    refuse(&rig, HEAD("empty.test:443"));
    refuse(&rig, HEAD("private.test:443"));
    refuse(&rig, HEAD("slow.test:443"));
    CHECK_INT(rig_stop(&rig), 0);
    check_lines(&rig, lines, sizeof lines / sizeof lines[0]);
    rig_clear(&rig);
}

/* An open tunnel in which four bytes went up and two down. */
static bool used_tunnel(const proxy_rig *rig, int *ret_fd, int *ret_upstream)
{
    char got[4];
    return rig_open(rig, ret_fd, ret_upstream) && rig_send(*ret_fd, "ping", 4) &&
           rig_receive(*ret_upstream, got, 4) && rig_send(*ret_upstream, "ok", 2) &&
           rig_receive(*ret_fd, got, 2);
}

static void close_by_reset(int fd)
{
    struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(fd);
}

static void a_closed_tunnel_tells_its_bytes_and_who_closed_it(void)
{
    static const char *const lines[] = {
        ALLOW,
        END(OPENED, "#", "2", "client_closed", "client") "}",
        ALLOW,
        END(OPENED, "#", "2", "upstream_closed", "upstream") "}",
        ALLOW,
        END(OPENED, "#", "2", "client_reset", "client") ",\"error\":\"ECONNRESET\"}",
        ALLOW,
        END(OPENED, "#", "2", "upstream_reset", "upstream") ",\"error\":\"ECONNRESET\"}",
        ALLOW,
        /* No hello, so no name. */
        END("", "0", "0", "client_closed", "client") "}",
        ALLOW,
        END(OPENED, "#", "2", "stopped", "proxy") "}",
    };
    proxy_rig rig;
    int fd;
    int upstream;
    REQUIRE(rig_run(&rig));
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    CHECK(rig_log_has(&rig, "client_closed"));
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    (void)close(upstream);
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    CHECK(rig_log_has(&rig, "upstream_closed"));
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    close_by_reset(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    close_by_reset(upstream);
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    fd = rig_tunnel(&rig);
    upstream = rig_accept(&rig);
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    CHECK_INT(rig_stop(&rig), 0);
    check_lines(&rig, lines, sizeof lines / sizeof lines[0]);
    (void)close(fd);
    (void)close(upstream);
    rig_clear(&rig);
}

static void a_tunnel_that_a_limit_or_a_deadline_closed_says_which(void)
{
    static const char *const limited[] = {
        ALLOW,
        END(OPENED, "#", "#", "tunnel_bytes", "limit") "}",
    };
    static const char *const idle[] = {
        ALLOW,
        END(OPENED, "#", "2", "idle", "deadline") "}",
    };
    char some[4096] = {0};
    proxy_rig rig;
    int fd;
    int upstream;
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnel_bytes = 2000;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    CHECK(rig_send(upstream, some, sizeof some));
    CHECK(rig_log_has(&rig, "tunnel_bytes"));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    check_lines(&rig, limited, sizeof limited / sizeof limited[0]);
    rig_clear(&rig);
    REQUIRE(rig_prepare(&rig));
    rig.options.idle_ms = 300;
    REQUIRE(rig_start(&rig));
    REQUIRE(used_tunnel(&rig, &fd, &upstream));
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    check_lines(&rig, idle, sizeof idle / sizeof idle[0]);
    rig_clear(&rig);
}

static void a_tunnel_with_a_wrong_hello_is_denied_with_the_name_it_sent(void)
{
    static const char *const lines[] = {
        ALLOW,
        DENY("ok.test:443", "0", "server_name_mismatch",
             "server_name") ",\"server_name\":\"evil.test\"}",
        ALLOW,
        DENY("ok.test:443", "0", "not_tls", "server_name") "}",
    };
    static hello_bytes hello;
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    hello_for(&hello, "evil.test");
    int fd = rig_tunnel(&rig);
    CHECK(rig_send(fd, hello.data, hello.length));
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    fd = rig_tunnel(&rig);
    CHECK(rig_send_text(fd, "hello\r\n"));
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    CHECK_INT(rig_stop(&rig), 0);
    check_lines(&rig, lines, sizeof lines / sizeof lines[0]);
    rig_clear(&rig);
}

static void every_reason_has_a_rule_or_comes_from_the_addresses(void)
{
    static const cordon_reason by_address[] = {
        CORDON_REASON_NONE,
        CORDON_REASON_UNRESOLVABLE,
        CORDON_REASON_RESOLVE_TIMEOUT,
        CORDON_REASON_ADDRESS_NOT_PUBLIC,
        CORDON_REASON_CONNECT_FAILED,
        CORDON_REASON_CONNECT_TIMEOUT,
    };
    for (size_t i = 0; i < sizeof by_address / sizeof by_address[0]; i++)
        CHECK(cordon_reason_rule(by_address[i]) == NULL);
    size_t without = 0;
    for (unsigned reason = 0; reason < CORDON_REASON_CLIENT_CLOSED; reason++)
        without += cordon_reason_rule((cordon_reason)reason) == NULL;
    CHECK_INT(without, sizeof by_address / sizeof by_address[0]);
}

static void an_error_has_its_stable_name(void)
{
    CHECK_STR(cordon_errno_name(ECONNRESET), "ECONNRESET");
    CHECK_STR(cordon_errno_name(ETIMEDOUT), "ETIMEDOUT");
    CHECK_STR(cordon_errno_name(EMFILE), "EMFILE");
    CHECK_STR(cordon_errno_name(-1), "other");
    CHECK_STR(cordon_errno_name(0), "other");
}

CORDON_TEST_MAIN("proxy_audit", TEST(a_refused_request_names_the_rule_that_refused_it),
                 TEST(a_closed_tunnel_tells_its_bytes_and_who_closed_it),
                 TEST(a_tunnel_that_a_limit_or_a_deadline_closed_says_which),
                 TEST(a_tunnel_with_a_wrong_hello_is_denied_with_the_name_it_sent),
                 TEST(every_reason_has_a_rule_or_comes_from_the_addresses),
                 TEST(an_error_has_its_stable_name))

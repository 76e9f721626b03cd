/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnels through the running proxy: early bytes, the server name, half-close, back-pressure,
 * idleness (PP5), resets.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/proxy_rig.h"
#include "support/test.h"

#define CONNECT_OK "CONNECT ok.test:443 HTTP/1.1\r\n\r\n"
#define CHUNK      65536

/* A pattern that shows loss, order and repetition. */
static void fill_pattern(uint8_t *bytes, size_t length, uint64_t at)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)((at + i) * 2654435761U >> 13);
}

static void sleep_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

static bool send_pattern(int fd, size_t total)
{
    static uint8_t bytes[CHUNK];
    for (size_t at = 0; at < total; at += CHUNK) {
        fill_pattern(bytes, CHUNK, at);
        if (!rig_send(fd, bytes, total - at < CHUNK ? total - at : CHUNK))
            return false;
    }
    return true;
}

static bool receive_pattern(int fd, size_t total)
{
    static uint8_t got[CHUNK];
    static uint8_t want[CHUNK];
    for (size_t at = 0; at < total; at += CHUNK) {
        size_t length = total - at < CHUNK ? total - at : CHUNK;
        fill_pattern(want, length, at);
        if (!rig_receive(fd, got, length) || memcmp(got, want, length) != 0)
            return false;
    }
    return true;
}

/* The client's role of a transfer in a process of its own, so that both ends can block. */
static pid_t fork_sender(int fd, size_t total)
{
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(send_pattern(fd, total) && shutdown(fd, SHUT_WR) == 0 ? 0 : 1);
    return child;
}

static bool child_succeeded(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void bytes_in_the_same_write_as_the_head_are_tunnel_bytes(void)
{
    enum { EXTRA = 262144 };
    static hello_bytes hello;
    static uint8_t got[HELLO_MAX];
    proxy_rig rig;
    char answer[256] = "";
    REQUIRE(rig_run(&rig));
    hello_for(&hello, "OK.test");
    uint8_t *all = malloc(sizeof CONNECT_OK - 1 + hello.length + EXTRA);
    size_t length = sizeof CONNECT_OK - 1;
    memcpy(all, CONNECT_OK, length);
    memcpy(all + length, hello.data, hello.length);
    length += hello.length;
    for (size_t at = 0; at < EXTRA; at += CHUNK)
        fill_pattern(all + length + at, CHUNK, at);
    int fd = rig_client(&rig);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(rig_send(fd, all, length + EXTRA) ? 0 : 1);
    int upstream = rig_accept(&rig);
    CHECK(rig_receive_head(fd, answer, sizeof answer));
    CHECK(rig_receive(upstream, got, hello.length));
    CHECK(memcmp(got, hello.data, hello.length) == 0);
    CHECK(receive_pattern(upstream, EXTRA));
    CHECK(child_succeeded(child));
    CHECK(rig_is_quiet(upstream));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
    free(all);
}

static void a_hello_in_pieces_is_forwarded_whole_and_not_before_it_passed(void)
{
    static hello_bytes message;
    static hello_bytes hello;
    static uint8_t got[HELLO_MAX];
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = 1500});
    hello_records(&hello, &message, 300);
    int fd = rig_tunnel(&rig);
    int upstream = rig_accept(&rig);
    REQUIRE(fd >= 0 && upstream >= 0);
    for (size_t i = 0; i + 1 < hello.length; i++)
        CHECK(rig_send(fd, hello.data + i, 1));
    CHECK(rig_is_quiet(upstream));
    CHECK(rig_send(fd, hello.data + hello.length - 1, 1));
    CHECK(rig_receive(upstream, got, hello.length));
    CHECK(memcmp(got, hello.data, hello.length) == 0);
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    CHECK(rig_log_has(&rig, "\"end\":\"client_closed\",\"by\":\"client\"}"));
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

/* Sends first bytes into a fresh tunnel: it must close, and the upstream must see none of them. */
static void check_denied(proxy_rig *rig, const void *bytes, size_t length, const char *reason)
{
    int fd = rig_tunnel(rig);
    int upstream = rig_accept(rig);
    REQUIRE(fd >= 0 && upstream >= 0);
    CHECK(rig_send(fd, bytes, length));
    CHECK(rig_is_closed(fd));
    CHECK(rig_is_closed(upstream));
    TEST_RECORDF(rig_log_has(rig, reason), "the log lacks %s", reason);
    (void)close(fd);
    (void)close(upstream);
}

static void check_hello_denied(proxy_rig *rig, const hello_knobs *knobs, const char *reason)
{
    static hello_bytes message;
    static hello_bytes hello;
    hello_message(&message, knobs);
    hello_records(&hello, &message, 16384);
    check_denied(rig, hello.data, hello.length, reason);
}

static void only_the_pinned_server_name_opens_a_tunnel(void)
{
    static const char plain[] = "GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n";
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    check_hello_denied(&rig, &(hello_knobs){.name = "evil.test"},
                       "\"status\":0,\"reason\":\"server_name_mismatch\","
                       "\"rule\":\"server_name\","
                       "\"server_name\":\"evil.test\"}");
    check_hello_denied(&rig, &(hello_knobs){.name = "sub.ok.test"},
                       "\"server_name\":\"sub.ok.test\"");
    check_hello_denied(&rig, &(hello_knobs){.name = "down.test"}, "\"server_name\":\"down.test\"");
    check_hello_denied(&rig, &(hello_knobs){.name = "ok.test."}, "\"server_name\":\"ok.test.\"");
    check_hello_denied(&rig, &(hello_knobs){.name = NULL}, "\"reason\":\"no_server_name\"");
    check_hello_denied(&rig, &(hello_knobs){.name = "ok.test", .encrypted = true},
                       "\"reason\":\"encrypted_hello\"");
    check_hello_denied(&rig, &(hello_knobs){.name = "ok.test", .second_name = "evil.test"},
                       "\"reason\":\"hello_malformed\"");
    check_hello_denied(&rig, &(hello_knobs){.name = "ok.test", .padding = 20000},
                       "\"reason\":\"hello_too_long\"");
    check_denied(&rig, plain, sizeof plain - 1, "\"reason\":\"not_tls\"");
    check_denied(&rig, CONNECT_OK, sizeof CONNECT_OK - 1, "\"reason\":\"not_tls\"");
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"event\":\"tunnel\""), 0);
    rig_clear(&rig);
}

static void a_tunnel_without_hello_ends_at_its_deadline(void)
{
    proxy_rig rig;
    REQUIRE(rig_prepare(&rig));
    rig.options.hello_ms = 200;
    REQUIRE(rig_start(&rig));
    check_denied(&rig, "\x16\x03", 2, "\"reason\":\"hello_timeout\"");
    int fd = rig_tunnel(&rig);
    (void)shutdown(fd, SHUT_WR);
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    CHECK(rig_log_has(&rig, "\"up\":0,\"down\":0"));
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void half_close_passes_through_both_ways(void)
{
    enum { DUE = 262144 };
    proxy_rig rig;
    int fd;
    int upstream;
    REQUIRE(rig_run(&rig));
    for (int client_first = 0; client_first < 2; client_first++) {
        REQUIRE(rig_open(&rig, &fd, &upstream));
        int first = client_first ? fd : upstream;
        int second = client_first ? upstream : fd;
        CHECK(rig_send_text(first, "last words"));
        (void)shutdown(first, SHUT_WR);
        char words[64];
        CHECK_INT(rig_receive_all(second, words, sizeof words), 10);
        pid_t child = fork_sender(second, DUE);
        CHECK(receive_pattern(first, DUE));
        CHECK(child_succeeded(child));
        CHECK(rig_is_closed(first));
        (void)close(fd);
        (void)close(upstream);
    }
    CHECK(rig_log_has(&rig, "\"end\":\"client_closed\""));
    CHECK(rig_log_has(&rig, "\"end\":\"upstream_closed\""));
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void bulk_both_ways_arrives_whole_and_is_counted(void)
{
    enum { TOTAL = 48 << 20 };
    proxy_rig rig;
    int fd;
    int upstream;
    char counts[96];
    REQUIRE(rig_run(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    pid_t up = fork_sender(fd, TOTAL);
    pid_t down = fork_sender(upstream, TOTAL / 2);
    pid_t reader = fork();
    if (reader == 0)
        _exit(receive_pattern(fd, TOTAL / 2) ? 0 : 1);
    CHECK(receive_pattern(upstream, TOTAL));
    CHECK(child_succeeded(reader));
    CHECK(child_succeeded(up));
    CHECK(child_succeeded(down));
    static hello_bytes hello;
    hello_for(&hello, "ok.test");
    (void)snprintf(counts, sizeof counts, "\"up\":%zu,\"down\":%d,", TOTAL + hello.length,
                   TOTAL / 2);
    CHECK(rig_log_has(&rig, counts));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

/* Kilobytes resident in the process. */
static long resident_kib(pid_t pid)
{
    char path[64];
    char line[256];
    long kib = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    }
    if (status)
        (void)fclose(status);
    return kib;
}

/* Few descriptors: most directions find no pipe and wait in memory, and no byte is lost. */
static void slow_readers_hold_back_their_writers_with_and_without_pipes(void)
{
    enum { TUNNELS = 12, EACH = 24 << 20 };
    proxy_rig rig;
    int fds[TUNNELS];
    int upstreams[TUNNELS];
    pid_t children[TUNNELS];
    REQUIRE(rig_prepare(&rig));
    rig.files = 144;
    REQUIRE(rig_start(&rig));
    CHECK(rig_log_has(&rig, "\"max_tunnels\":16,"));
    for (int i = 0; i < TUNNELS; i++) {
        REQUIRE(rig_open(&rig, &fds[i], &upstreams[i]));
        children[i] = fork_sender(upstreams[i], EACH);
    }
    /* Long enough for all of it to sit in the proxy, were there no back-pressure. */
    sleep_ms(300);
    CHECK(resident_kib(rig.proxy) < 128 * 1024);
    for (int i = 0; i < TUNNELS; i++) {
        CHECK(receive_pattern(fds[i], EACH));
        CHECK(child_succeeded(children[i]));
        (void)close(fds[i]);
        (void)close(upstreams[i]);
    }
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void PP5_a_tunnel_is_idle_only_when_both_directions_are_quiet(void)
{
    proxy_rig rig;
    int fd;
    int upstream;
    char got;
    REQUIRE(rig_prepare(&rig));
    rig.options.idle_ms = 600;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    for (int i = 0; i < 12; i++) {
        sleep_ms(100);
        CHECK(rig_send(upstream, ".", 1));
        CHECK(rig_receive(fd, &got, 1));
    }
    CHECK(rig_is_closed(fd));
    CHECK(rig_is_closed(upstream));
    CHECK(rig_log_has(&rig, "\"down\":12,"));
    CHECK(rig_log_has(&rig, "\"end\":\"idle\",\"by\":\"deadline\"}"));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void PP5_no_deadline_of_the_request_applies_to_an_open_tunnel(void)
{
    proxy_rig rig;
    int fd;
    int upstream;
    char got[4];
    REQUIRE(rig_prepare(&rig));
    rig.options.head_ms = rig.options.connect_ms = rig.options.hello_ms = 200;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    sleep_ms(700);
    CHECK(rig_send(fd, "ping", 4));
    CHECK(rig_receive(upstream, got, 4));
    CHECK(rig_send(upstream, "pong", 4));
    CHECK(rig_receive(fd, got, 4));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void a_reset_ends_the_tunnel_on_both_sides(void)
{
    struct linger at_once = {.l_onoff = 1};
    proxy_rig rig;
    int fd;
    int upstream;
    REQUIRE(rig_run(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    CHECK(
        rig_log_has(&rig, "\"end\":\"client_reset\",\"by\":\"client\",\"error\":\"ECONNRESET\"}"));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    (void)setsockopt(upstream, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(upstream);
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    CHECK(rig_log_has(&rig,
                      "\"end\":\"upstream_reset\",\"by\":\"upstream\",\"error\":\"ECONNRESET\"}"));
    /* After its orderly end a side that breaks has nobody left to read for. */
    REQUIRE(rig_open(&rig, &fd, &upstream));
    (void)shutdown(fd, SHUT_WR);
    char none[8];
    CHECK_INT(rig_receive_all(upstream, none, sizeof none), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(fd);
    sleep_ms(50);
    CHECK(rig_send(upstream, "x", 1));
    CHECK(rig_log_has(&rig, "\"end\":\"client_"));
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"event\":\"tunnel\""), 3);
    CHECK_INT(rig_log_count(&rig, "\"end\":\"stopped\""), 0);
    rig_clear(&rig);
}

CORDON_TEST_MAIN("proxy_tunnel", TEST(bytes_in_the_same_write_as_the_head_are_tunnel_bytes),
                 TEST(a_hello_in_pieces_is_forwarded_whole_and_not_before_it_passed),
                 TEST(only_the_pinned_server_name_opens_a_tunnel),
                 TEST(a_tunnel_without_hello_ends_at_its_deadline),
                 TEST(half_close_passes_through_both_ways),
                 TEST(bulk_both_ways_arrives_whole_and_is_counted),
                 TEST(slow_readers_hold_back_their_writers_with_and_without_pipes),
                 TEST(PP5_a_tunnel_is_idle_only_when_both_directions_are_quiet),
                 TEST(PP5_no_deadline_of_the_request_applies_to_an_open_tunnel),
                 TEST(a_reset_ends_the_tunnel_on_both_sides))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running proxy at its bounds: tunnels, connections, a stalled log, and the stop.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "support/proxy_rig.h"
#include "support/test.h"

#define CONNECT_OK "CONNECT ok.test:443 HTTP/1.1\r\n\r\n"

static void pause_shortly(void)
{
    struct timespec pause = {.tv_nsec = 10000000};
    (void)nanosleep(&pause, NULL);
}

static void at_the_limit_the_newest_is_refused_and_the_running_go_on(void)
{
    proxy_rig rig;
    int fd;
    int upstream;
    int next;
    int next_upstream;
    char text[1024] = "";
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnels = 1;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    int late = rig_client(&rig);
    CHECK(rig_send_text(late, CONNECT_OK));
    (void)rig_receive_all(late, text, sizeof text);
    CHECK_CONTAINS(text, "HTTP/1.1 503 Service Unavailable\r\n");
    CHECK_CONTAINS(text, "ok.test:443: too many tunnels are open (tunnel_limit)\n");
    (void)close(late);
    CHECK(rig_send(fd, "ping", 4));
    CHECK(rig_receive(upstream, text, 4));
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    CHECK(rig_log_has(&rig, "\"event\":\"tunnel\""));
    CHECK(rig_open(&rig, &next, &next_upstream));
    (void)close(next);
    (void)close(next_upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void over_the_bound_of_connections_the_answer_is_503_at_once(void)
{
    enum { BOUND = 1 + 256 };
    proxy_rig rig;
    int fds[BOUND];
    char text[1024] = "";
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnels = 1;
    REQUIRE(rig_start(&rig));
    for (int i = 0; i < BOUND; i++)
        fds[i] = rig_client(&rig);
    int over = rig_client(&rig);
    (void)rig_receive_all(over, text, sizeof text);
    CHECK_CONTAINS(text, "HTTP/1.1 503 Service Unavailable\r\n");
    CHECK_CONTAINS(text, "(connection_limit)");
    (void)close(over);
    for (int i = 0; i < BOUND; i++)
        (void)close(fds[i]);
    /* All are gone without a word and without an event; the next one is served. */
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < 200; tries++) {
        fd = rig_tunnel(&rig);
        if (fd < 0)
            pause_shortly();
    }
    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void a_stalled_log_stops_nothing_and_the_gap_is_told(void)
{
    enum { REFUSALS = 3000 };
    proxy_rig rig;
    size_t refused = 0;
    REQUIRE(rig_run(&rig));
    for (int i = 0; i < REFUSALS; i++) {
        char text[512] = "";
        int fd = rig_client(&rig);
        (void)rig_send_text(fd, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
        (void)rig_receive_all(fd, text, sizeof text);
        refused += strncmp(text, "HTTP/1.1 403 ", 13) == 0;
        (void)close(fd);
    }
    CHECK_INT(refused, REFUSALS);
    CHECK(rig_log_has(&rig, "\"event\":\"dropped\""));
    CHECK_INT(rig_stop(&rig), 0);
    const char *dropped = strstr(rig.log, "\"event\":\"dropped\"");
    const char *count = dropped ? strstr(dropped, "\"count\":") : NULL;
    REQUIRE(count != NULL);
    CHECK_INT(rig_log_count(&rig, "\"not_pinned\",\"rule\":\"host\"}\n") +
                  strtoul(count + 8, NULL, 10),
              REFUSALS);
    CHECK_INT(rig_log_count(&rig, "{\"event\":"), rig_log_count(&rig, "}\n"));
    rig_clear(&rig);
}

static void a_stop_closes_at_once_and_tells_what_open_tunnels_moved(void)
{
    proxy_rig rig;
    int fd;
    int upstream;
    char got[8];
    REQUIRE(rig_run(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    CHECK(rig_send(upstream, "answer", 6));
    CHECK(rig_receive(fd, got, 6));
    int head = rig_client(&rig);
    CHECK(rig_send_text(head, "CONNECT "));
    CHECK_INT(rig_stop(&rig), 0);
    CHECK(rig_is_closed(fd));
    CHECK(rig_is_closed(upstream));
    CHECK(rig_is_closed(head));
    CHECK(strstr(rig.log, "\"host\":\"ok.test\",\"port\":443,\"rule\":\"upstream\",\"address\":") !=
          NULL);
    CHECK(strstr(rig.log, "\"down\":6,") != NULL);
    CHECK(strstr(rig.log, "\"end\":\"stopped\",\"by\":\"proxy\"}") != NULL);
    (void)close(fd);
    (void)close(upstream);
    (void)close(head);
    rig_clear(&rig);
}

static void a_tunnel_that_moved_as_much_as_it_may_is_closed_and_the_others_go_on(void)
{
    enum { MOST = 100000 };
    proxy_rig rig;
    int fd;
    int upstream;
    int other;
    int other_upstream;
    static char bytes[MOST];
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnel_bytes = MOST;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    REQUIRE(rig_open(&rig, &other, &other_upstream));
    CHECK(rig_send(fd, bytes, MOST / 2));
    CHECK(rig_receive(upstream, bytes, MOST / 2));
    CHECK(rig_send(upstream, bytes, MOST / 2));
    CHECK(rig_log_has(&rig, "\"end\":\"tunnel_bytes\""));
    CHECK(rig_send(other, "ping", 4));
    CHECK(rig_receive(other_upstream, bytes, 4));
    (void)close(fd);
    (void)close(upstream);
    (void)close(other);
    (void)close(other_upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void when_the_run_has_moved_as_much_as_it_may_new_tunnels_are_refused(void)
{
    proxy_rig rig;
    int fd;
    int upstream;
    char text[1024] = "";
    REQUIRE(rig_prepare(&rig));
    rig.options.max_all_bytes = 100;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    int late = rig_client(&rig);
    CHECK(rig_send_text(late, CONNECT_OK));
    (void)rig_receive_all(late, text, sizeof text);
    CHECK_CONTAINS(text, "HTTP/1.1 503 Service Unavailable\r\n");
    CHECK_CONTAINS(text, "(byte_limit)");
    (void)close(late);
    CHECK(rig_send(fd, "ping", 4));
    CHECK(rig_receive(upstream, text, 4));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

/* The window may end meanwhile, so of many attempts some are turned away and none is let through.
 */
static void over_the_limit_of_refusals_new_clients_are_turned_away_and_tunnels_go_on(void)
{
    enum { ATTEMPTS = 40 };
    proxy_rig rig;
    int fd;
    int upstream;
    int refused = 0;
    int away = 0;
    char text[1024] = "";
    REQUIRE(rig_prepare(&rig));
    rig.options.max_refusals = 3;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    for (int i = 0; i < ATTEMPTS; i++) {
        int next = rig_client(&rig);
        (void)rig_send_text(next, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
        (void)rig_receive_all(next, text, sizeof text);
        refused += strstr(text, "(not_pinned)") != NULL;
        away += strstr(text, "(refusal_limit)") != NULL;
        (void)close(next);
    }
    CHECK(refused >= 3);
    CHECK(rig_log_has(&rig, "\"reason\":\"refusal_limit\""));
    CHECK(away > 0);
    CHECK(rig_send(fd, "ping", 4));
    CHECK(rig_receive(upstream, text, 4));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

CORDON_TEST_MAIN("proxy_limits", TEST(at_the_limit_the_newest_is_refused_and_the_running_go_on),
                 TEST(over_the_bound_of_connections_the_answer_is_503_at_once),
                 TEST(a_tunnel_that_moved_as_much_as_it_may_is_closed_and_the_others_go_on),
                 TEST(when_the_run_has_moved_as_much_as_it_may_new_tunnels_are_refused),
                 TEST(over_the_limit_of_refusals_new_clients_are_turned_away_and_tunnels_go_on),
                 TEST(a_stalled_log_stops_nothing_and_the_gap_is_told),
                 TEST(a_stop_closes_at_once_and_tells_what_open_tunnels_moved))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every status really reaches a plain client that sends more than it should before it reads: the
 * whole answer, its body as long as it says, and then an orderly end, no reset.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/proxy_rig.h"
#include "support/test.h"

#define OK_LINE "CONNECT ok.test:443 HTTP/1.1\r\n"
#define EXTRA   131072

/* What is sent before the answer is read: a head and then so many bytes that nobody asked for. */
typedef struct answer_row {
    const char *head;
    size_t extra;
    int status;
    const char *reason;
} answer_row;

static bool send_all(int fd, const answer_row *row)
{
    char *bytes = malloc(row->extra + 1);
    memset(bytes, 'x', row->extra + 1);
    bool sent = rig_send_text(fd, row->head) && rig_send(fd, bytes, row->extra);
    free(bytes);
    return sent;
}

/* The body's length is what the answer says of it. */
static bool is_whole(const char *answer, size_t length)
{
    const char *body = strstr(answer, "\r\n\r\n");
    const char *field = strstr(answer, "\r\nContent-Length: ");
    return body && field && field < body &&
           length - (size_t)(body + 4 - answer) == strtoul(field + 18, NULL, 10);
}

static void check_end(int fd, const answer_row *row, bool sent)
{
    char answer[2048] = "";
    char line[32];
    char name[64];
    char byte;
    size_t length = rig_receive_all(fd, answer, sizeof answer);
    errno = 0;
    bool orderly = recv(fd, &byte, 1, 0) == 0;
    (void)snprintf(line, sizeof line, "HTTP/1.1 %d ", row->status);
    (void)snprintf(name, sizeof name, " (%s)", row->reason);
    TEST_RECORDF(strncmp(answer, line, strlen(line)) == 0 && strstr(answer, name) &&
                     is_whole(answer, length) && orderly && sent,
                 "%d %s: sent %d, got \"%.300s\", then %s", row->status, row->reason, sent, answer,
                 orderly ? "the end" : strerror(errno));
}

/*
 * The proxy stands still until all is sent, so that nothing depends on how fast the client is: a
 * refused one is listened to for a second at most.
 */
static void check_answer(const proxy_rig *rig, const answer_row *row)
{
    CHECK(kill(rig->proxy, SIGSTOP) == 0);
    int fd = rig_client(rig);
    bool sent = fd >= 0 && send_all(fd, row);
    CHECK(kill(rig->proxy, SIGCONT) == 0);
    REQUIRE(fd >= 0);
    check_end(fd, row, sent);
    (void)close(fd);
}

/* From now on there were too many refusals in this second, which never ends. */
static void too_many(cordon_proxy *proxy, void *context)
{
    (void)context;
    proxy->refused = UINT32_MAX;
    proxy->refused_ns = INT64_MAX;
}

static void a_refused_head_is_answered_whole(void)
{
    static const answer_row rows[] = {
        {"CONNECT ok.test HTTP/1.1\r\n\r\n", EXTRA, 400, "bad_port"},
        {"CONNECT evil.test:443 HTTP/1.1\r\n\r\n", EXTRA, 403, "not_pinned"},
        {"POST / HTTP/1.1\r\nContent-Length: 131072\r\n\r\n", EXTRA, 405, "method_not_allowed"},
        {OK_LINE "X: ", EXTRA, 431, "head_too_long"},
        {"CONNECT down.test:443 HTTP/1.1\r\n\r\n", EXTRA, 502, "connect_failed"},
        {"CONNECT private.test:443 HTTP/1.1\r\n\r\n", EXTRA, 502, "address_not_public"},
    };
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_answer(&rig, &rows[i]);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

/* Nobody is in time here, so however long anything takes nothing else can come out. */
static void one_that_came_too_late_is_answered_whole(void)
{
    static const answer_row late = {OK_LINE "X: ", 4096, 408, "head_timeout"};
    static const answer_row silent = {"CONNECT slow.test:443 HTTP/1.1\r\n\r\n", EXTRA, 504,
                                      "resolve_timeout"};
    proxy_rig rig;
    REQUIRE(rig_prepare(&rig));
    rig.options.head_ms = 300;
    REQUIRE(rig_start(&rig));
    check_answer(&rig, &late);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
    REQUIRE(rig_prepare(&rig));
    rig.options.connect_ms = 300;
    REQUIRE(rig_start(&rig));
    check_answer(&rig, &silent);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void one_too_many_is_answered_whole(void)
{
    static const answer_row tunnels = {OK_LINE "\r\n", EXTRA, 503, "tunnel_limit"};
    static const answer_row refusals = {OK_LINE "\r\n", EXTRA, 503, "refusal_limit"};
    proxy_rig rig;
    int fd;
    int upstream;
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnels = 1;
    REQUIRE(rig_start(&rig));
    REQUIRE(rig_open(&rig, &fd, &upstream));
    check_answer(&rig, &tunnels);
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
    REQUIRE(rig_prepare(&rig));
    rig.options.max_refusals = 1;
    rig.arrange = too_many;
    REQUIRE(rig_start(&rig));
    check_answer(&rig, &refusals);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void one_over_the_bound_of_connections_is_answered_whole(void)
{
    enum { BOUND = 1 + 256 };
    static const answer_row row = {OK_LINE "\r\n", EXTRA, 503, "connection_limit"};
    proxy_rig rig;
    int fds[BOUND];
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnels = 1;
    REQUIRE(rig_start(&rig));
    for (int i = 0; i < BOUND; i++)
        fds[i] = rig_client(&rig);
    check_answer(&rig, &row);
    for (int i = 0; i < BOUND; i++)
        (void)close(fds[i]);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void a_good_one_is_answered_200_and_nothing_of_what_it_sent_is_lost(void)
{
    enum { EARLY = 40000 };
    static hello_bytes hello;
    static char bytes[EARLY];
    static char got[sizeof hello.data + EARLY];
    char head[256] = "";
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    hello_for(&hello, "ok.test");
    for (size_t i = 0; i < EARLY; i++)
        bytes[i] = (char)(i * 2654435761U >> 13);
    int fd = rig_client(&rig);
    CHECK(rig_send_text(fd, OK_LINE "\r\n") && rig_send(fd, hello.data, hello.length) &&
          rig_send(fd, bytes, EARLY));
    int upstream = rig_accept(&rig);
    CHECK(rig_receive(upstream, got, hello.length + EARLY));
    CHECK(memcmp(got, hello.data, hello.length) == 0);
    CHECK(memcmp(got + hello.length, bytes, EARLY) == 0);
    CHECK(rig_receive_head(fd, head, sizeof head));
    CHECK_STR(head, "HTTP/1.1 200 Connection established\r\n\r\n");
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

CORDON_TEST_MAIN("proxy_answers", TEST(a_refused_head_is_answered_whole),
                 TEST(one_that_came_too_late_is_answered_whole),
                 TEST(one_too_many_is_answered_whole),
                 TEST(one_over_the_bound_of_connections_is_answered_whole),
                 TEST(a_good_one_is_answered_200_and_nothing_of_what_it_sent_is_lost))

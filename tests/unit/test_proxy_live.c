/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running proxy against raw bytes: every request gets its one right answer, named in body and
 * log, and nothing that was refused is ever dialled (PP1-PP4, PP6, HM1-HM3, DN3, DN5, UX4).
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/proxy_heads.h"
#include "support/proxy_rig.h"
#include "support/test.h"

/* Sends bytes in pieces, takes the answer to its end and compares. */
static void check_refused(proxy_rig *rig, const char *bytes, size_t length, size_t step,
                          cordon_reason reason)
{
    char answer[2048] = "";
    char line[32];
    char name[64];
    int fd = rig_client(rig);
    REQUIRE(fd >= 0);
    for (size_t at = 0; at < length; at += step) {
        /* The proxy may have made up its mind before all is sent. */
        if (!rig_send(fd, bytes + at, length - at < step ? length - at : step))
            break;
    }
    (void)rig_receive_all(fd, answer, sizeof answer);
    (void)snprintf(line, sizeof line, "HTTP/1.1 %d ", cordon_reason_status(reason));
    (void)snprintf(name, sizeof name, " (%s)", cordon_reason_name(reason));
    TEST_RECORDF(strncmp(answer, line, strlen(line)) == 0 && strstr(answer, name),
                 "\"%.80s\" in steps of %zu: got \"%.150s\", want %s%s", bytes, step, answer, line,
                 name);
    CHECK(strstr(answer, "\nHTTP/1.1 ") == NULL);
    CHECK_CONTAINS(answer, "Connection: close\r\n");
    (void)close(fd);
}

static void check_text_refused(proxy_rig *rig, const char *text, cordon_reason reason)
{
    check_refused(rig, text, strlen(text), strlen(text), reason);
}

/* The rows of one case, or with NULL those of none. */
static void check_bad_heads(const char *id)
{
    proxy_rig rig;
    int count = 0;
    REQUIRE(rig_run(&rig));
    for (size_t i = 0; i < PROXY_BAD_HEADS; i++) {
        const proxy_bad_row *row = &proxy_bad_heads[i];
        size_t length = row->length ? row->length : strlen(row->head);
        if (id ? !test_same(row->id, id) : row->id != NULL)
            continue;
        count++;
        check_refused(&rig, row->head, length, length, row->reason);
        check_refused(&rig, row->head, length, 1, row->reason);
    }
    CHECK(count > 3 && !rig_was_dialled(&rig));
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"verdict\":\"deny\""), 2 * count);
    CHECK_INT(rig_log_count(&rig, "\"verdict\":\"allow\""), 0);
    rig_clear(&rig);
}

static void every_other_bad_head_is_refused_whole_and_byte_by_byte(void)
{
    check_bad_heads(NULL);
}

static void PP1_a_connect_with_a_body_is_400_and_nothing_of_it_is_relayed(void)
{
    check_bad_heads("PP1");
}

static void PP2_a_head_that_readers_could_differ_about_is_400(void)
{
    check_bad_heads("PP2");
}

static void PP3_only_connect_with_host_and_port_is_taken_and_the_host_header_decides_nothing(void)
{
    check_bad_heads("PP3");
}

static void HM1_brackets_are_never_stripped_and_literals_are_refused(void)
{
    check_bad_heads("HM1");
}

/* What matched is what is dialled and logged: the name in lower case. */
static void HM2_letter_case_is_ignored_and_a_final_dot_is_refused(void)
{
    proxy_rig rig;
    char answer[64] = "";
    check_bad_heads("HM2");
    REQUIRE(rig_run(&rig));
    int fd = rig_client(&rig);
    CHECK(rig_send_text(fd, HEAD("OK.Test:443")) && rig_receive(fd, answer, 12));
    CHECK_STR(answer, "HTTP/1.1 200");
    CHECK(rig_log_has(&rig, "\"target\":\"ok.test:443\",\"verdict\":\"allow\""));
    (void)close(fd);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void HM3_only_the_exact_host_and_port_are_allowed(void)
{
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    check_text_refused(&rig, HEAD("notok.test:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("ok.test.evil.test:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("sub.ok.test:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("ok.tes:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("localhost:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("evil.test:80"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, HEAD("ok.test:80"), CORDON_REASON_PORT_NOT_ALLOWED);
    check_text_refused(&rig, HEAD("ok.test:4430"), CORDON_REASON_PORT_NOT_ALLOWED);
    check_text_refused(&rig, HEAD("OK.TEST:8443"), CORDON_REASON_PORT_NOT_ALLOWED);
    CHECK(!rig_was_dialled(&rig));
    CHECK(rig_log_has(&rig, "\"target\":\"sub.ok.test:443\",\"verdict\":\"deny\",\"status\":403,"
                            "\"reason\":\"not_pinned\",\"rule\":\"host\"}"));
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void DN5_upstream_trouble_is_told_with_host_and_reason_and_stays_with_its_name(void)
{
    proxy_rig rig;
    REQUIRE(rig_prepare(&rig));
    rig.options.connect_ms = 500;
    REQUIRE(rig_start(&rig));
    check_text_refused(&rig, HEAD("down.test:443"), CORDON_REASON_CONNECT_FAILED);
    check_text_refused(&rig, HEAD("empty.test:443"), CORDON_REASON_UNRESOLVABLE);
    check_text_refused(&rig, HEAD("crash.test:443"), CORDON_REASON_UNRESOLVABLE);
    check_text_refused(&rig, HEAD("slow.test:443"), CORDON_REASON_RESOLVE_TIMEOUT);
    check_text_refused(&rig, HEAD("Private.test:443"), CORDON_REASON_ADDRESS_NOT_PUBLIC);
    CHECK(rig_log_has(&rig,
                      "\"target\":\"private.test:443\",\"verdict\":\"deny\",\"status\":502,"
                      "\"reason\":\"address_not_public\",\"rule\":\"resolved\",\"addresses\":[],"
                      "\"refused\":2,\"detail\":\"10.0.0.5 is private\"}"));
    /* One name that fails takes nothing from the others (DN5), and leaves no process behind. */
    int fd = rig_tunnel(&rig);
    CHECK(fd >= 0);
    CHECK(rig_has_no_children(&rig));
    (void)close(fd);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

/* An answer that arrives once serves many: the look-up is not repeated for each client. */
static void clients_that_wait_for_one_look_up_are_all_answered(void)
{
    enum { CLIENTS = 20 };
    proxy_rig rig;
    int fds[CLIENTS];
    REQUIRE(rig_prepare(&rig));
    rig.options.connect_ms = 300;
    REQUIRE(rig_start(&rig));
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = rig_client(&rig);
        CHECK(rig_send_text(fds[i], HEAD("slow.test:443")));
    }
    for (int i = 0; i < CLIENTS; i++) {
        char answer[1024] = "";
        CHECK(rig_children(&rig) <= 1);
        (void)rig_receive_all(fds[i], answer, sizeof answer);
        CHECK_CONTAINS(answer, "HTTP/1.1 504 Gateway Timeout\r\n");
        (void)close(fds[i]);
    }
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void an_upstream_that_never_answers_is_504(void)
{
    proxy_rig rig;
    int fillers[8];
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    REQUIRE(rig_prepare(&rig));
    rig.options.connect_ms = 300;
    REQUIRE(rig_start(&rig));
    /* A full accept queue drops every further attempt in silence. */
    REQUIRE_INT(listen(rig.upstream, 0), 0);
    REQUIRE_INT(getsockname(rig.upstream, (struct sockaddr *)&address, &length), 0);
    for (size_t i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fillers[i], (struct sockaddr *)&address, length);
    }
    check_text_refused(&rig, HEAD("ok.test:443"), CORDON_REASON_CONNECT_TIMEOUT);
    for (size_t i = 0; i < 8; i++)
        (void)close(fillers[i]);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void what_is_pipelined_after_a_refusal_is_never_executed(void)
{
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    check_text_refused(&rig, HEAD("evil.test:443") HEAD("ok.test:443"), CORDON_REASON_NOT_PINNED);
    check_text_refused(&rig, "GET / HTTP/1.1\r\n\r\n" HEAD("ok.test:443"), CORDON_REASON_METHOD);
    check_text_refused(&rig, HEAD("ok.test:80") HEAD("ok.test:443"),
                       CORDON_REASON_PORT_NOT_ALLOWED);
    check_text_refused(&rig, OK_LINE "Content-Length: 5\r\n\r\nhello" HEAD("ok.test:443"),
                       CORDON_REASON_BODY);
    CHECK_INT(rig_stop(&rig), 0);
    CHECK(!rig_was_dialled(&rig));
    CHECK_INT(rig_log_count(&rig, "\"event\":\"decision\""), 4);
    rig_clear(&rig);
}

static void PP6_a_huge_request_still_gets_its_answer(void)
{
    enum { SIZE = 1 << 20 };
    proxy_rig rig;
    char *text = malloc(SIZE);
    REQUIRE(rig_run(&rig));
    memset(text, 'a', SIZE);
    memcpy(text, OK_LINE "X: ", sizeof OK_LINE "X: " - 1);
    check_refused(&rig, text, 65536, 65536, CORDON_REASON_HEAD_TOO_LONG);
    check_refused(&rig, text, SIZE, SIZE, CORDON_REASON_HEAD_TOO_LONG);
    for (size_t at = sizeof OK_LINE - 1; at + 6 <= SIZE; at += 6)
        memcpy(text + at, "A: b\r\n", 6);
    check_refused(&rig, text, SIZE, SIZE, CORDON_REASON_TOO_MANY_FIELDS);
    check_refused(&rig, text, 30000, 30000, CORDON_REASON_TOO_MANY_FIELDS);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
    free(text);
}

/* A byte every now and then does not move the deadline; 200 such clients keep nobody out. */
static void PP4_slow_heads_end_at_one_deadline_while_others_are_served(void)
{
    enum { SLOW = 200 };
    proxy_rig rig;
    int fds[SLOW];
    size_t late = 0;
    size_t silent = 0;
    REQUIRE(rig_prepare(&rig));
    rig.options.head_ms = 700;
    REQUIRE(rig_start(&rig));
    for (int i = 0; i < SLOW; i++)
        fds[i] = rig_client(&rig);
    int good = rig_tunnel(&rig);
    CHECK(good >= 0);
    /* Even ones dribble until they are cut off, odd ones never say a word. */
    for (bool alive = true; alive;) {
        alive = false;
        for (int i = 0; i < SLOW; i += 2)
            alive |= send(fds[i], "C", 1, MSG_NOSIGNAL) == 1;
        struct timespec pause = {.tv_nsec = 50000000};
        (void)nanosleep(&pause, NULL);
    }
    for (int i = 0; i < SLOW; i++) {
        char answer[1024] = "";
        size_t length = rig_receive_all(fds[i], answer, sizeof answer);
        late += strncmp(answer, "HTTP/1.1 408 ", 13) == 0;
        silent += length == 0;
        (void)close(fds[i]);
    }
    CHECK_INT(late, SLOW / 2);
    CHECK_INT(silent, SLOW / 2);
    (void)close(good);
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"reason\":\"head_timeout\""), SLOW);
    rig_clear(&rig);
}

static void a_client_that_stops_in_its_head_is_told_so(void)
{
    proxy_rig rig;
    char answer[1024];
    REQUIRE(rig_run(&rig));
    int fd = rig_client(&rig);
    CHECK(rig_send_text(fd, OK_LINE "Host: ok"));
    (void)shutdown(fd, SHUT_WR);
    (void)rig_receive_all(fd, answer, sizeof answer);
    CHECK_CONTAINS(answer, "HTTP/1.1 400 Bad Request\r\n");
    CHECK_CONTAINS(answer, "(head_cut)");
    (void)close(fd);
    /* One that says nothing at all is no event. */
    fd = rig_client(&rig);
    (void)shutdown(fd, SHUT_WR);
    CHECK(rig_is_closed(fd));
    (void)close(fd);
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"event\":\"decision\""), 1);
    rig_clear(&rig);
}

CORDON_TEST_MAIN(
    "proxy_live", TEST(every_other_bad_head_is_refused_whole_and_byte_by_byte),
    TEST(PP1_a_connect_with_a_body_is_400_and_nothing_of_it_is_relayed),
    TEST(PP2_a_head_that_readers_could_differ_about_is_400),
    TEST(PP3_only_connect_with_host_and_port_is_taken_and_the_host_header_decides_nothing),
    TEST(HM1_brackets_are_never_stripped_and_literals_are_refused),
    TEST(HM2_letter_case_is_ignored_and_a_final_dot_is_refused),
    TEST(HM3_only_the_exact_host_and_port_are_allowed),
    TEST(DN5_upstream_trouble_is_told_with_host_and_reason_and_stays_with_its_name),
    TEST(clients_that_wait_for_one_look_up_are_all_answered),
    TEST(an_upstream_that_never_answers_is_504),
    TEST(what_is_pipelined_after_a_refusal_is_never_executed),
    TEST(PP6_a_huge_request_still_gets_its_answer),
    TEST(PP4_slow_heads_end_at_one_deadline_while_others_are_served),
    TEST(a_client_that_stops_in_its_head_is_told_so))

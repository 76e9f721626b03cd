/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running proxy against every class of raw request, with its one right outcome however the
 * bytes arrive: at once, byte by byte, and in two parts cut at every place. The classes that are
 * about time and ends rather than bytes are in test_proxy_live.c and test_proxy_tunnel.c.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/proxy_classes.h"
#include "support/proxy_rig.h"
#include "support/test.h"

#define ANSWER_OK "HTTP/1.1 200 Connection established\r\n\r\n"
/* Long enough for the proxy to look at the first part alone; nothing fails if it does not. */
#define PART_US 300
/* Places to cut at in requests that are too long for all. */
#define CUTS_MAX 400

/* A class as bytes: the request, and for a tunnel what its upstream must get, from `head` on. */
typedef struct request {
    const proxy_class *row;
    size_t head;
    size_t length;
    char *bytes;
} request;

static void add(request *r, const void *bytes, size_t length)
{
    memcpy(r->bytes + r->length, bytes, length);
    r->length += length;
}

static void add_hello(request *r)
{
    static hello_bytes message;
    static hello_bytes hello;
    hello_message(&message, &(hello_knobs){.name = "ok.test", .padding = r->row->padding});
    hello_records(&hello, &message, 16384);
    add(r, hello.data, hello.length);
}

static void make_request(const proxy_class *row, request *ret)
{
    *ret = (request){.row = row, .bytes = malloc((2 << 20) + row->early)};
    add(ret, row->head, row->length ? row->length : strlen(row->head));
    if (row->fill) {
        size_t piece = strlen(row->fill);
        for (size_t at = 0; at + piece <= row->fill_bytes; at += piece)
            add(ret, row->fill, piece);
        add(ret, row->tail, strlen(row->tail));
    }
    ret->head = ret->length;
    if (row->reason != CORDON_REASON_NONE)
        return;
    add_hello(ret);
    for (size_t i = 0; i < row->early; i++)
        ret->bytes[ret->length++] = (char)(i * 2654435761U >> 13);
}

/* Sends [0, cut) and after a moment the rest; with cut 0 in pieces of `step`. */
static void send_parts(int fd, const request *r, size_t cut, size_t step)
{
    if (cut > 0) {
        if (!rig_send(fd, r->bytes, cut))
            return;
        (void)usleep(PART_US);
    }
    for (size_t at = cut; at < r->length; at += step) {
        /* The proxy may have made up its mind before all is sent. */
        if (!rig_send(fd, r->bytes + at, r->length - at < step ? r->length - at : step))
            return;
    }
}

static void check_refused(int fd, const request *r, size_t cut)
{
    char answer[2048] = "";
    char line[32];
    char name[64];
    (void)rig_receive_all(fd, answer, sizeof answer);
    (void)snprintf(line, sizeof line, "HTTP/1.1 %d ", cordon_reason_status(r->row->reason));
    (void)snprintf(name, sizeof name, " (%s)\n", cordon_reason_name(r->row->reason));
    TEST_RECORDF(strncmp(answer, line, strlen(line)) == 0 && strstr(answer, name) &&
                     !strstr(answer, "\nHTTP/1."),
                 "%s, cut at %zu: got \"%.150s\", want %s%s", r->row->name, cut, answer, line,
                 name);
}

/* Both ends speak, then the origin closes first. */
static void check_tunnel(const proxy_rig *rig, int fd, const request *r, size_t cut)
{
    char head[256] = "";
    char last[16] = "";
    size_t length = r->length - r->head;
    char *got = malloc(length);
    bool answered = rig_receive_head(fd, head, sizeof head) && test_same(head, ANSWER_OK);
    int upstream = answered ? rig_accept(rig) : -1;
    bool carried = upstream >= 0 && rig_receive(upstream, got, length) &&
                   memcmp(got, r->bytes + r->head, length) == 0;
    bool back = carried && rig_send_text(upstream, "answer") && shutdown(upstream, SHUT_WR) == 0 &&
                rig_receive_all(fd, last, sizeof last) == 6 && test_same(last, "answer");
    TEST_RECORDF(back, "%s, cut at %zu: \"%.60s\", carried %d", r->row->name, cut, head, carried);
    if (upstream >= 0)
        (void)close(upstream);
    free(got);
}

/* In a process of its own where the socket would not take all: both ends may have to wait. */
static pid_t start_sender(int fd, const request *r, size_t cut, size_t step)
{
    if (r->length < 65536) {
        send_parts(fd, r, cut, step);
        return 0;
    }
    (void)fflush(stdout);
    pid_t child = fork();
    if (child != 0)
        return child;
    send_parts(fd, r, cut, step);
    _exit(0);
}

static void check_once(const proxy_rig *rig, const request *r, size_t cut, size_t step)
{
    int fd = rig_client(rig);
    REQUIRE(fd >= 0);
    pid_t sender = start_sender(fd, r, cut, step);
    if (r->row->reason == CORDON_REASON_NONE)
        check_tunnel(rig, fd, r, cut);
    else
        check_refused(fd, r, cut);
    (void)close(fd);
    if (sender > 0)
        (void)waitpid(sender, NULL, 0);
}

typedef void check_fn(const proxy_rig *rig, const request *r);

/* Every class; nothing that was refused is dialled, and each is told in one line. */
static void check_classes(check_fn *check)
{
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    for (size_t i = 0; i < PROXY_CLASSES; i++) {
        request r;
        make_request(&proxy_classes[i], &r);
        check(&rig, &r);
        TEST_RECORDF(!rig_was_dialled(&rig), "%s was dialled", r.row->name);
        free(r.bytes);
    }
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

static void at_once(const proxy_rig *rig, const request *r)
{
    check_once(rig, r, 0, r->length);
}

static void byte_by_byte(const proxy_rig *rig, const request *r)
{
    if (r->length < 65536)
        check_once(rig, r, 0, 1);
}

/* The end of a head is where a cut matters most, and it is among the places in any case. */
static void cut_at_every_place(const proxy_rig *rig, const request *r)
{
    size_t step = r->length / CUTS_MAX + 1;
    if (r->length > 65536)
        return;
    for (size_t cut = 1; cut < r->length; cut += step)
        check_once(rig, r, cut, r->length);
    for (size_t cut = r->head - 1; cut <= r->head + 1 && cut < r->length; cut++)
        check_once(rig, r, cut, r->length);
}

static void every_class_has_its_one_outcome(void)
{
    check_classes(at_once);
}

static void every_class_has_the_same_outcome_byte_by_byte(void)
{
    check_classes(byte_by_byte);
}

static void every_class_has_the_same_outcome_cut_at_every_place(void)
{
    check_classes(cut_at_every_place);
}

/* A second CONNECT behind a good one is the tunnel's, whose first bytes must be a hello. */
static void what_is_pipelined_after_a_good_head_is_tunnel_data(void)
{
    static const char twice[] = CLASS_HEAD("ok.test:443") CLASS_HEAD("ok.test:443");
    proxy_rig rig;
    char answer[1024] = "";
    REQUIRE(rig_run(&rig));
    int fd = rig_client(&rig);
    CHECK(rig_send(fd, twice, sizeof twice - 1));
    (void)rig_receive_all(fd, answer, sizeof answer);
    CHECK_STR(answer, ANSWER_OK);
    int upstream = rig_accept(&rig);
    CHECK(upstream >= 0 && rig_is_closed(upstream));
    CHECK(rig_log_has(&rig, "\"reason\":\"not_tls\""));
    (void)close(fd);
    (void)close(upstream);
    CHECK_INT(rig_stop(&rig), 0);
    CHECK_INT(rig_log_count(&rig, "\"verdict\":\"allow\""), 1);
    CHECK(!rig_was_dialled(&rig));
    rig_clear(&rig);
}

static void check_body(const proxy_rig *rig, const char *head, const char *status, const char *why)
{
    char answer[1024] = "";
    int fd = rig_client(rig);
    CHECK(rig_send_text(fd, head));
    (void)rig_receive_all(fd, answer, sizeof answer);
    CHECK_CONTAINS(answer, status);
    CHECK_CONTAINS(answer, why);
    (void)close(fd);
}

static void UX4_an_unlisted_host_is_403_and_one_that_is_down_502_each_with_host_and_reason(void)
{
    proxy_rig rig;
    REQUIRE(rig_run(&rig));
    check_body(&rig, CLASS_HEAD("no.test:443"), "HTTP/1.1 403 Forbidden\r\n",
               "no.test:443: the host is not pinned (not_pinned)\n");
    check_body(&rig, CLASS_HEAD("down.test:443"), "HTTP/1.1 502 Bad Gateway\r\n",
               "down.test:443: the host can't be reached");
    CHECK(rig_log_has(&rig, "\"target\":\"no.test:443\",\"verdict\":\"deny\",\"status\":403,"
                            "\"reason\":\"not_pinned\""));
    CHECK(rig_log_has(&rig, "\"target\":\"down.test:443\",\"verdict\":\"deny\",\"status\":502,"
                            "\"reason\":\"connect_failed\""));
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

CORDON_TEST_MAIN(
    "proxy_classes", TEST(every_class_has_its_one_outcome),
    TEST(every_class_has_the_same_outcome_byte_by_byte),
    TEST(every_class_has_the_same_outcome_cut_at_every_place),
    TEST(what_is_pipelined_after_a_good_head_is_tunnel_data),
    TEST(UX4_an_unlisted_host_is_403_and_one_that_is_down_502_each_with_host_and_reason))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with several addresses: the order in which they are tried, who wins, what becomes of the
 * losers, and what the log says of it (RFC 8305). The answers are put into the cache of a running
 * proxy: loopback addresses, which no look-up of its own would let through.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/race.h"
#include "proxy/resolve.h"
#include "support/proxy_rig.h"
#include "support/test.h"

#define HEAD       "CONNECT empty.test:443 HTTP/1.1\r\nHost: empty.test:443\r\n\r\n"
#define FILLERS    8
#define SILENT_MAX 5

/* --- The order --- */

static cordon_address read_address(const char *text)
{
    cordon_address address = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};
    CHECK_INT(inet_pton(address.family, text, address.bytes), 1);
    return address;
}

static void the_families_take_turns_in_the_resolvers_order(void)
{
    static const struct {
        const char *raw[6];
        const char *want[6];
    } rows[] = {
        {{"2606::1", "2606::2", "2606::3", "8.8.8.1", "8.8.8.2"},
         {"2606::1", "8.8.8.1", "2606::2", "8.8.8.2", "2606::3"}},
        {{"8.8.8.1", "2606::1", "2606::2"}, {"8.8.8.1", "2606::1", "2606::2"}},
        {{"8.8.8.1", "8.8.8.2", "8.8.8.3", "2606::1"},
         {"8.8.8.1", "2606::1", "8.8.8.2", "8.8.8.3"}},
        {{"8.8.8.1", "8.8.8.2"}, {"8.8.8.1", "8.8.8.2"}},
        {{"2606::1"}, {"2606::1"}},
        /* What is refused takes no turn. */
        {{"10.0.0.1", "2606::1", "2606::2", "8.8.8.1"}, {"2606::1", "8.8.8.1", "2606::2"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_address raw[6];
        size_t count = 0;
        while (count < 6 && rows[i].raw[count]) {
            raw[count] = read_address(rows[i].raw[count]);
            count++;
        }
        cordon_resolved *resolved = cordon_resolved_new(raw, count, 443);
        REQUIRE(resolved != NULL);
        for (size_t k = 0; k < resolved->count; k++) {
            char text[CORDON_ADDRESS_TEXT_MAX];
            CHECK_STR(cordon_address_text(&resolved->addresses[k], false, text), rows[i].want[k]);
        }
        CHECK(resolved->count == 6 || rows[i].want[resolved->count] == NULL);
        cordon_resolved_unref(resolved);
    }
}

/* --- The attempts under way --- */

static void a_full_race_gives_up_its_oldest_and_a_won_one_all_others(void)
{
    cordon_race race;
    int fds[5];
    for (int i = 0; i < 5; i++)
        REQUIRE((fds[i] = dup(STDIN_FILENO)) >= 0);
    cordon_race_init(&race);
    CHECK(cordon_race_is_over(&race));
    for (uint8_t i = 0; i < 3; i++) {
        CHECK(!cordon_race_is_full(&race));
        cordon_race_add(&race, fds[i], i);
    }
    CHECK(cordon_race_is_full(&race));
    cordon_race_add(&race, fds[3], 3);
    CHECK(!cordon_race_has(&race, fds[0]) && dup(fds[0]) < 0);
    cordon_race_drop(&race, fds[2]);
    CHECK(!cordon_race_has(&race, fds[2]) && dup(fds[2]) < 0);
    cordon_race_drop(&race, fds[2]);
    cordon_race_add(&race, fds[4], 4);
    CHECK_INT(cordon_race_win(&race, fds[3]), 3);
    CHECK(cordon_race_is_over(&race));
    CHECK(!cordon_race_has(&race, -1));
    CHECK(dup(fds[1]) < 0 && dup(fds[4]) < 0);
    CHECK_INT(close(fds[3]), 0);
}

/* --- The running proxy --- */

static int listener(int backlog, uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, length) != 0 ||
        (backlog >= 0 && listen(fd, backlog) != 0) ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return -1;
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* A listener whose queue is full drops every further attempt in silence. */
typedef struct silent {
    int fd;
    int fillers[FILLERS];
    uint16_t port;
} silent;

static bool silent_open(silent *one)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    one->fd = listener(0, &one->port);
    address.sin_port = htons(one->port);
    for (size_t i = 0; i < FILLERS; i++) {
        one->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(one->fillers[i], (struct sockaddr *)&address, sizeof address);
    }
    return one->fd >= 0;
}

static void silent_close(silent *one)
{
    for (size_t i = 0; i < FILLERS; i++)
        (void)close(one->fillers[i]);
    (void)close(one->fd);
}

static cordon_address local(uint16_t port)
{
    return (cordon_address){.family = AF_INET, .port = port, .bytes = {127, 0, 0, 1}};
}

/* The answer for empty.test. */
static void put_answer(cordon_proxy *proxy, void *context)
{
    for (size_t i = 0; i < proxy->options->policy.count; i++) {
        if (strcmp(proxy->options->policy.hosts[i].name, "empty.test") != 0)
            continue;
        proxy->lookups[i].resolved = context;
        proxy->lookups[i].expires_ns = INT64_MAX;
    }
}

typedef struct dial_case {
    proxy_rig rig;
    cordon_resolved *answer;
    silent silent[SILENT_MAX];
    size_t silent_count;
    int closed;
    uint16_t live;
    uint16_t refusing;
} dial_case;

/*
 * `letters`, in order: s a silent address, r one that refuses, l the live upstream; x stands for
 * one that was refused as not public.
 */
static bool case_start(dial_case *c, const char *letters, int64_t connect_ms)
{
    struct sockaddr_in upstream;
    socklen_t length = sizeof upstream;
    memset(c, 0, sizeof *c);
    /* Bound but not listening: nobody else gets the port, and who connects is refused. */
    c->closed = listener(-1, &c->refusing);
    c->answer = calloc(1, sizeof *c->answer);
    if (c->closed < 0 || !c->answer || !rig_prepare(&c->rig) ||
        getsockname(c->rig.upstream, (struct sockaddr *)&upstream, &length) != 0)
        return false;
    c->live = ntohs(upstream.sin_port);
    c->answer->references = 1;
    for (; *letters; letters++) {
        uint16_t port = *letters == 'l' ? c->live : c->refusing;
        if (*letters == 'x') {
            c->answer->refused++;
            continue;
        }
        if (*letters == 's') {
            if (!silent_open(&c->silent[c->silent_count]))
                return false;
            port = c->silent[c->silent_count++].port;
        }
        c->answer->addresses[c->answer->count++] = local(port);
    }
    c->rig.options.connect_ms = connect_ms;
    c->rig.arrange = put_answer;
    c->rig.context = c->answer;
    return rig_start(&c->rig);
}

static void case_end(dial_case *c)
{
    CHECK_INT(rig_stop(&c->rig), 0);
    for (size_t i = 0; i < c->silent_count; i++)
        silent_close(&c->silent[i]);
    (void)close(c->closed);
    rig_clear(&c->rig);
    free(c->answer);
}

static size_t descriptors(pid_t process)
{
    char path[64];
    size_t count = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

/* Asks for the host; the answer's head, or all of it. Returns the client's socket. */
static int ask(dial_case *c, char *answer, size_t size)
{
    int fd = rig_client(&c->rig);
    CHECK(rig_send_text(fd, HEAD));
    (void)rig_receive_head(fd, answer, size);
    return fd;
}

static void check_reached(const char *letters, int64_t connect_ms)
{
    dial_case c;
    char head[512] = "";
    char want[128];
    REQUIRE(case_start(&c, letters, connect_ms));
    size_t before = descriptors(c.rig.proxy);
    int fd = ask(&c, head, sizeof head);
    CHECK_CONTAINS(head, "HTTP/1.1 200 ");
    int upstream = rig_accept(&c.rig);
    CHECK(upstream >= 0);
    /* One winner: nothing is left open but the tunnel's two ends. */
    CHECK_INT(descriptors(c.rig.proxy), before + 2);
    (void)snprintf(want, sizeof want,
                   "\"reason\":\"pinned\",\"rule\":\"resolved\",\"address\":\"127.0.0.1:%u\"",
                   c.live);
    CHECK(rig_log_has(&c.rig, want));
    (void)close(fd);
    CHECK(rig_is_closed(upstream));
    (void)close(upstream);
    /* The end tells the address, too, and nothing of the attempts that failed. */
    (void)snprintf(want, sizeof want, "\"address\":\"127.0.0.1:%u\",\"up\":0,\"down\":0,", c.live);
    CHECK(rig_log_has(&c.rig, want));
    CHECK(rig_log_has(&c.rig, "\"end\":\"client_closed\",\"by\":\"client\"}"));
    case_end(&c);
}

static void one_address_that_answers_is_enough_wherever_it_stands(void)
{
    check_reached("l", 15000);
    check_reached("rl", 15000);
    check_reached("rrrrl", 15000);
    check_reached("sl", 15000);
    check_reached("ssl", 15000);
    check_reached("rsrl", 15000);
    check_reached("lss", 15000);
}

/* Beyond what may be under way at once the oldest gives way. */
static void many_silent_addresses_do_not_hide_the_one_behind_them(void)
{
    check_reached("ssssl", 8000);
}

static void check_failed(const char *letters, cordon_reason reason, const char *error)
{
    dial_case c;
    char head[512] = "";
    char want[160];
    REQUIRE(case_start(&c, letters, 900));
    size_t before = descriptors(c.rig.proxy);
    int fd = ask(&c, head, sizeof head);
    (void)snprintf(want, sizeof want, "HTTP/1.1 %d ", cordon_reason_status(reason));
    CHECK_CONTAINS(head, want);
    (void)snprintf(want, sizeof want, "\"reason\":\"%s\",\"rule\":\"resolved\",\"addresses\":[\"",
                   cordon_reason_name(reason));
    CHECK(rig_log_has(&c.rig, want));
    CHECK(rig_log_has(&c.rig, error));
    char rest[512];
    (void)rig_receive_all(fd, rest, sizeof rest);
    (void)close(fd);
    /* All attempts are closed. (The client's own end may take a moment to be.) */
    for (int i = 0; i < 500 && descriptors(c.rig.proxy) != before; i++)
        (void)usleep(10000);
    CHECK_INT(descriptors(c.rig.proxy), before);
    CHECK(!rig_was_dialled(&c.rig));
    case_end(&c);
}

static void a_host_none_of_whose_addresses_answers_is_told_so_and_nothing_stays_open(void)
{
    check_failed("rrr", CORDON_REASON_CONNECT_FAILED,
                 "\"detail\":\"Connection refused\",\"error\":\"ECONNREFUSED\"}");
    check_failed("sss", CORDON_REASON_CONNECT_TIMEOUT,
                 "\"addresses\":[\"127.0.0.1\",\"127.0.0.1\",\"127.0.0.1\"]}");
    check_failed("srs", CORDON_REASON_CONNECT_TIMEOUT,
                 "\"addresses\":[\"127.0.0.1\",\"127.0.0.1\",\"127.0.0.1\"]}");
    check_failed("sssss", CORDON_REASON_CONNECT_TIMEOUT, "\"status\":504");
}

/* A client that leaves while its addresses are tried takes all attempts with it. */
static void a_client_that_breaks_ends_all_attempts(void)
{
    struct linger at_once = {.l_onoff = 1};
    dial_case c;
    REQUIRE(case_start(&c, "sss", 60000));
    size_t before = descriptors(c.rig.proxy);
    int fd = rig_client(&c.rig);
    CHECK(rig_send_text(fd, HEAD));
    /* The client's own descriptor and all three attempts. */
    for (int i = 0; i < 2000 && descriptors(c.rig.proxy) != before + 4; i++)
        (void)usleep(10000);
    CHECK_INT(descriptors(c.rig.proxy), before + 4);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(fd);
    CHECK(rig_log_has(&c.rig, "\"status\":0,\"reason\":\"client_reset\",\"rule\":\"resolved\""));
    CHECK(rig_log_has(&c.rig, "\"error\":\"ECONNRESET\"}"));
    for (int i = 0; i < 500 && descriptors(c.rig.proxy) != before; i++)
        (void)usleep(10000);
    CHECK_INT(descriptors(c.rig.proxy), before);
    case_end(&c);
}

static void DN3_a_mixed_answer_is_told_as_such(void)
{
    dial_case c;
    char head[512] = "";
    char want[256];
    REQUIRE(case_start(&c, "xrxlx", 15000));
    int fd = ask(&c, head, sizeof head);
    CHECK_CONTAINS(head, "HTTP/1.1 200 ");
    (void)snprintf(want, sizeof want,
                   "\"rule\":\"resolved\",\"address\":\"127.0.0.1:%u\",\"addresses\":"
                   "[\"127.0.0.1\",\"127.0.0.1\"],\"mixed\":true,\"refused\":3}",
                   c.live);
    CHECK(rig_log_has(&c.rig, want));
    (void)close(fd);
    case_end(&c);
}

CORDON_TEST_MAIN("proxy_dial", TEST(the_families_take_turns_in_the_resolvers_order),
                 TEST(a_full_race_gives_up_its_oldest_and_a_won_one_all_others),
                 TEST(one_address_that_answers_is_enough_wherever_it_stands),
                 TEST(many_silent_addresses_do_not_hide_the_one_behind_them),
                 TEST(a_host_none_of_whose_addresses_answers_is_told_so_and_nothing_stays_open),
                 TEST(a_client_that_breaks_ends_all_attempts),
                 TEST(DN3_a_mixed_answer_is_told_as_such))

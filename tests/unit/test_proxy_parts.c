/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's small parts: timers, the log that never blocks, the pipe pool, answers.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/socket.h>

#include "proxy/answer.h"
#include "proxy/log.h"
#include "proxy/resolve.h"
#include "proxy/pipes.h"
#include "proxy/timer.h"
#include "support/test.h"

#define TIMERS 200

static void timers_come_back_in_the_order_of_their_deadlines(void)
{
    static cordon_timer timers[TIMERS];
    static cordon_timer *heap[TIMERS];
    cordon_timers all = {.heap = heap, .capacity = TIMERS};
    uint32_t seed = 1;
    memset(timers, 0, sizeof timers);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < TIMERS; i++) {
            seed = seed * 1103515245 + 12345;
            cordon_timers_set(&all, &timers[i], seed >> 16);
        }
    }
    for (size_t i = 0; i < TIMERS; i += 3)
        cordon_timers_cancel(&all, &timers[i]);
    cordon_timers_cancel(&all, &timers[0]);
    int64_t last = -1;
    size_t count = 0;
    for (cordon_timer *timer = cordon_timers_pop(&all, INT64_MAX); timer;
         timer = cordon_timers_pop(&all, INT64_MAX)) {
        CHECK(timer->at_ns >= last);
        CHECK((timer - timers) % 3 != 0);
        last = timer->at_ns;
        count++;
    }
    CHECK_INT(count, TIMERS - (TIMERS + 2) / 3);
}

static void a_timer_is_due_at_its_time_and_the_wait_is_rounded_up(void)
{
    cordon_timer timer = {0};
    cordon_timer *heap[1];
    cordon_timers all = {.heap = heap, .capacity = 1};
    CHECK_INT(cordon_timers_wait_ms(&all, 0), -1);
    cordon_timers_set(&all, &timer, 1000001);
    CHECK_INT(cordon_timers_wait_ms(&all, 0), 2);
    CHECK_INT(cordon_timers_wait_ms(&all, 1000000), 1);
    CHECK(cordon_timers_pop(&all, 1000000) == NULL);
    CHECK_INT(cordon_timers_wait_ms(&all, 1000001), 0);
    CHECK(cordon_timers_pop(&all, 1000001) == &timer);
    CHECK_INT(timer.slot, 0);
}

static void write_line(cordon_log *log, const char *text, size_t length)
{
    cordon_log_begin(log, "decision");
    cordon_log_text(log, "target", text, length);
    cordon_log_end(log);
}

/* Reads all that is there; returns the length. */
static size_t read_all(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got;
    while (length + 1 < size && (got = read(fd, text + length, size - length - 1)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    return length;
}

static void hostile_text_is_escaped_and_cut_in_the_log(void)
{
    static const char hostile[] = "a\"b\\c\n\x1b[31m\0\x7f\xff";
    static cordon_log log;
    int ends[2];
    char text[8192];
    REQUIRE_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    cordon_log_init(&log, ends[1]);
    write_line(&log, hostile, sizeof hostile - 1);
    cordon_log_flush(&log);
    (void)read_all(ends[0], text, sizeof text);
    CHECK_CONTAINS(text, "{\"event\":\"decision\",\"time_ms\":");
    CHECK_CONTAINS(text,
                   "\"target\":\"a\\u0022b\\u005cc\\u000a\\u001b[31m\\u0000\\u007f\\u00ff\"}\n");
    /* Two texts of the most hostile kind still make a line that a pipe takes at once. */
    memset(text, 1, 2048);
    cordon_log_begin(&log, "decision");
    cordon_log_number(&log, "id", UINT64_MAX);
    cordon_log_text(&log, "target", text, 2048);
    cordon_log_string(&log, "reason", "server_name_mismatch_and_longer");
    cordon_log_text(&log, "server_name", text, 2048);
    cordon_log_end(&log);
    CHECK(log.end <= CORDON_LOG_LINE_MAX);
    cordon_log_flush(&log);
    size_t length = read_all(ends[0], text, sizeof text);
    CHECK_CONTAINS(text, "\\u0001...\"");
    CHECK(text[length - 1] == '\n');
    CHECK_CONTAINS(text, "\"id\":18446744073709551615,");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void the_most_addresses_and_the_longest_name_make_a_line(void)
{
    static cordon_log log;
    char name[CORDON_HOST_MAX + 4];
    int ends[2];
    REQUIRE_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    cordon_log_init(&log, ends[1]);
    memset(name, 'a', sizeof name);
    cordon_log_begin(&log, "decision");
    cordon_log_number(&log, "id", UINT64_MAX);
    cordon_log_text(&log, "target", name, sizeof name);
    cordon_log_list_begin(&log, "addresses");
    for (size_t i = 0; i < CORDON_RESOLVE_MAX; i++)
        cordon_log_item(&log, i, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255");
    cordon_log_list_end(&log);
    cordon_log_bool(&log, "mixed", true);
    memset(name, 1, sizeof name);
    cordon_log_text(&log, "detail", name, sizeof name);
    cordon_log_end(&log);
    CHECK(log.end <= CORDON_LOG_LINE_MAX);
    CHECK_CONTAINS(log.buffer, "255\",\"ffff");
    CHECK_CONTAINS(log.buffer, "255\"],\"mixed\":true,\"detail\":\"\\u0001");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void a_stalled_reader_loses_lines_but_learns_how_many(void)
{
    enum { LINES = 5000, SIZE = 1 << 20 };
    static cordon_log log;
    int ends[2];
    char *text = malloc(SIZE);
    REQUIRE_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    cordon_log_init(&log, ends[1]);
    for (int i = 0; i < LINES; i++) {
        write_line(&log, "evil.test:443", 13);
        cordon_log_flush(&log);
    }
    uint64_t dropped = log.dropped;
    CHECK(dropped > 0);
    size_t length = read_all(ends[0], text, SIZE);
    cordon_log_flush(&log);
    length += read_all(ends[0], text + length, SIZE - length);
    cordon_log_flush(&log);
    length += read_all(ends[0], text + length, SIZE - length);
    char told[64];
    (void)snprintf(told, sizeof told, "\"count\":%llu}\n", (unsigned long long)dropped);
    CHECK_INT(count_of(text, "\"event\":\"decision\""), LINES - dropped);
    CHECK_INT(count_of(text, "\"event\":\"dropped\""), 1);
    CHECK_CONTAINS(text, told);
    CHECK_INT(count_of(text, "{\"event\":"), count_of(text, "}\n"));
    free(text);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void a_reader_that_left_is_no_error(void)
{
    static cordon_log log;
    int ends[2];
    (void)signal(SIGPIPE, SIG_IGN); /* as the proxy has it */
    REQUIRE_INT(pipe2(ends, O_CLOEXEC), 0);
    cordon_log_init(&log, ends[1]);
    (void)close(ends[0]);
    write_line(&log, "a", 1);
    cordon_log_flush(&log);
    CHECK(log.broken);
    write_line(&log, "a", 1);
    cordon_log_flush(&log);
    CHECK_INT(log.dropped, 1);
    (void)close(ends[1]);
}

static void a_pipe_keeps_bytes_in_either_kind(void)
{
    for (uint32_t max_open = 0; max_open <= 1; max_open++) {
        cordon_pipes pool = {.max_open = max_open};
        int pair[2];
        char got[64] = "";
        REQUIRE_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        cordon_pipe *pipe = cordon_pipes_take_any(&pool);
        REQUIRE(pipe != NULL);
        CHECK((pipe->ends[0] >= 0) == (max_open == 1));
        REQUIRE_INT(cordon_pipe_put(pipe, "hello", 5), 0);
        CHECK_INT(cordon_pipe_drain(pipe, pair[0]), 5);
        CHECK_INT(pipe->pending, 0);
        CHECK_INT(read(pair[1], got, sizeof got), 5);
        CHECK_STR(got, "hello");
        cordon_pipes_give(&pool, pipe);
        CHECK_INT(pool.free_count, max_open);
        cordon_pipes_clear(&pool);
        CHECK_INT(pool.open_count, 0);
        (void)close(pair[0]);
        (void)close(pair[1]);
    }
}

static void a_pipe_with_bytes_in_it_is_never_used_again(void)
{
    cordon_pipes pool = {.max_open = 4};
    cordon_pipe *pipe = cordon_pipes_take(&pool);
    REQUIRE(pipe != NULL);
    REQUIRE_INT(cordon_pipe_put(pipe, "secret", 6), 0);
    cordon_pipes_give(&pool, pipe);
    CHECK_INT(pool.free_count, 0);
    CHECK_INT(pool.open_count, 0);
}

static void the_pool_has_a_bound_and_memory_beyond_it(void)
{
    cordon_pipes pool = {.max_open = 1};
    cordon_pipe *first = cordon_pipes_take(&pool);
    CHECK(first != NULL);
    CHECK(cordon_pipes_take(&pool) == NULL);
    cordon_pipe *second = cordon_pipes_take_any(&pool);
    REQUIRE(second != NULL);
    CHECK_INT(second->ends[0], -1);
    cordon_pipes_give(&pool, second);
    cordon_pipes_give(&pool, first);
    cordon_pipes_give(&pool, NULL);
    CHECK_INT(pool.open_count, 1);
    cordon_pipes_clear(&pool);
}

static void a_refusal_names_target_and_reason_in_printable_text(void)
{
    char answer[CORDON_ANSWER_MAX + 1];
    size_t length =
        cordon_answer_refusal(answer, CORDON_REASON_NOT_PINNED, "evil.test:443", 13, NULL);
    answer[length] = '\0';
    CHECK_STR(answer, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 59\r\n"
                      "Connection: close\r\n\r\n"
                      "cordon: evil.test:443: the host is not pinned (not_pinned)\n");
    length = cordon_answer_refusal(answer, CORDON_REASON_METHOD, "\x1b\n<b>", 5, NULL);
    answer[length] = '\0';
    CHECK_CONTAINS(answer, "HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\n");
    CHECK_CONTAINS(answer, "cordon: ?"
                           "?<b>: only CONNECT is served (method_not_allowed)\n");
}

static void every_refusal_fits_and_has_a_phrase(void)
{
    char answer[CORDON_ANSWER_MAX + 1];
    char target[8192];
    char detail[100];
    memset(target, 'a', sizeof target);
    memset(detail, 'd', sizeof detail);
    detail[sizeof detail - 1] = '\0';
    for (unsigned reason = 0; reason < CORDON_REASON_COUNT; reason++) {
        int status = cordon_reason_status((cordon_reason)reason);
        char line[32];
        size_t length =
            cordon_answer_refusal(answer, (cordon_reason)reason, target, sizeof target, detail);
        answer[length] = '\0';
        (void)snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
        CHECK(length < CORDON_ANSWER_MAX);
        CHECK_CONTAINS(answer, line);
        CHECK(status == 0 || !strstr(answer, "Refused"));
        CHECK(answer[length - 1] == '\n');
        for (unsigned other = 0; other < reason; other++)
            CHECK(strcmp(cordon_reason_name((cordon_reason)reason),
                         cordon_reason_name((cordon_reason)other)) != 0);
    }
}

CORDON_TEST_MAIN("proxy_parts", TEST(timers_come_back_in_the_order_of_their_deadlines),
                 TEST(a_timer_is_due_at_its_time_and_the_wait_is_rounded_up),
                 TEST(hostile_text_is_escaped_and_cut_in_the_log),
                 TEST(the_most_addresses_and_the_longest_name_make_a_line),
                 TEST(a_stalled_reader_loses_lines_but_learns_how_many),
                 TEST(a_reader_that_left_is_no_error), TEST(a_pipe_keeps_bytes_in_either_kind),
                 TEST(a_pipe_with_bytes_in_it_is_never_used_again),
                 TEST(the_pool_has_a_bound_and_memory_beyond_it),
                 TEST(a_refusal_names_target_and_reason_in_printable_text),
                 TEST(every_refusal_fits_and_has_a_phrase))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --json of a run: every byte of the command arrives, as text or base64, whatever way it was cut,
 * and a reader that stalls or leaves holds nothing up.
 */
#include "cli/events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cli/utf8.h"
#include "kit/buf.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* What was written to a memory file, from its start. */
static int read_all(int fd, cordon_buf *out, cordon_err *err)
{
    char piece[4096];
    off_t at = 0;
    for (ssize_t got = 0; (got = pread(fd, piece, sizeof piece, at)) > 0; at += got) {
        if (cordon_buf_append(out, piece, (size_t)got, err) != 0)
            return -1;
    }
    return 0;
}

static bool put(int fd, const char *bytes, size_t length)
{
    return write(fd, bytes, length) == (ssize_t)length;
}

static void text_bytes_and_progress_become_lines(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    cordon_autoclose int fd = memfd_create("events", MFD_CLOEXEC);
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE(fd >= 0);
    REQUIRE_OK(cordon_cli_events_start(fd, &events, &err), err);
    CHECK(put(cordon_cli_events_stdout(events), "a\"\n", 3));
    CHECK(put(cordon_cli_events_stderr(events), "\xff\0", 2));
    cordon_cli_events_progress(events, "proxy", "ready\x1b\n");
    REQUIRE_OK(cordon_cli_events_finish(events, 5000, &err), err);
    REQUIRE_OK(cordon_cli_events_receipt(fd, "{\"receipt\":1,\n\"x\":{}}", 5000, &err), err);
    REQUIRE_OK(read_all(fd, &out, &err), err);
    CHECK_CONTAINS(out.data,
                   "{\"event\":\"output\",\"stream\":\"stdout\",\"data\":\"a\\\"\\n\"}\n");
    CHECK_CONTAINS(out.data,
                   "{\"event\":\"output\",\"stream\":\"stderr\",\"data_base64\":\"/wA=\"}\n");
    CHECK_CONTAINS(out.data, "{\"event\":\"progress\",\"step\":\"proxy\",\"text\":\"ready??\"}\n");
    const char *last = "{\"event\":\"receipt\",\"receipt\":{\"receipt\":1,\"x\":{}}}\n";
    CHECK_STR(out.data + out.length - strlen(last), last);
}

static void an_egress_event_is_a_line_as_it_is(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    cordon_autoclose int fd = memfd_create("events", MFD_CLOEXEC);
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE(fd >= 0);
    REQUIRE_OK(cordon_cli_events_start(fd, &events, &err), err);
    cordon_cli_events_progress(events, "create", "x");
    cordon_cli_events_egress(events, "{\"event\":\"egress\",\"what\":\"denied\"}");
    cordon_cli_events_progress(events, "dispose", "y");
    REQUIRE_OK(cordon_cli_events_finish(events, 5000, &err), err);
    REQUIRE_OK(read_all(fd, &out, &err), err);
    CHECK_STR(out.data, "{\"event\":\"progress\",\"step\":\"create\",\"text\":\"x\"}\n"
                        "{\"event\":\"egress\",\"what\":\"denied\"}\n"
                        "{\"event\":\"progress\",\"step\":\"dispose\",\"text\":\"y\"}\n");
}

/* Events that were told, and those that whole lines say were not. */
static size_t accounted(const char *text, size_t *ret_told)
{
    size_t counted = 0;
    *ret_told = 0;
    for (const char *end = strchr(text, '\n'); end; text = end + 1, end = strchr(text, '\n')) {
        const char *count = strstr(text, "\"dropped\",\"count\":");
        if (count && count < end)
            counted += strtoul(count + 18, NULL, 10);
        const char *told = strstr(text, "\"denied\"");
        *ret_told += told && told < end;
    }
    return *ret_told + counted;
}

/* Of a reader that was slow for a while every event is there, or counted. */
static void egress_events_without_room_are_counted(void)
{
    enum { EVENTS = 400, BYTES = 1000, TURNS = 4000 };
    cordon_auto(cordon_buf) out = cordon_buf_make(4 << 20);
    cordon_err err = CORDON_ERR_INIT;
    char json[BYTES] = "{\"event\":\"egress\",\"what\":\"denied\",\"x\":\"";
    char piece[4096];
    int ends[2];
    size_t told = 0;
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    cordon_autoclose int read_end = ends[0];
    cordon_autoclose int write_end = ends[1];
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE_OK(cordon_cli_events_start(write_end, &events, &err), err);
    memset(json + strlen(json), 'a', sizeof json - 1 - strlen(json));
    memcpy(json + sizeof json - 3, "\"}", 2);
    for (int i = 0; i < EVENTS; i++)
        cordon_cli_events_egress(events, json);
    /* The two pipes hold less than that; once they are read, the next event tells of the rest. */
    (void)fcntl(read_end, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < TURNS && accounted(cordon_buf_text(&out), &told) < EVENTS; i++) {
        ssize_t got = read(read_end, piece, sizeof piece);
        if (got > 0)
            REQUIRE_OK(cordon_buf_append(&out, piece, (size_t)got, &err), err);
        if (got > 0)
            continue;
        cordon_cli_events_egress(events, "{\"event\":\"egress\",\"what\":\"allowed\"}");
        (void)usleep(5000);
    }
    CHECK(accounted(cordon_buf_text(&out), &told) >= EVENTS);
    CHECK(told < EVENTS);
}

static void a_character_cut_by_the_end_is_bytes(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    cordon_autoclose int fd = memfd_create("events", MFD_CLOEXEC);
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE(fd >= 0);
    REQUIRE_OK(cordon_cli_events_start(fd, &events, &err), err);
    CHECK(put(cordon_cli_events_stdout(events), "\xe2\x82", 2));
    REQUIRE_OK(cordon_cli_events_finish(events, 5000, &err), err);
    REQUIRE_OK(read_all(fd, &out, &err), err);
    CHECK_STR(out.data, "{\"event\":\"output\",\"stream\":\"stdout\",\"data_base64\":\"4oI=\"}\n");
}

/* The pipe of a reader that never reads: the writer must come to an end all the same. */
static void a_reader_that_stalls_loses_lines_and_no_more(void)
{
    static char flood[16384];
    cordon_err err = CORDON_ERR_INIT;
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    cordon_autoclose int read_end = ends[0];
    cordon_autoclose int write_end = ends[1];
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE_OK(cordon_cli_events_start(write_end, &events, &err), err);
    int to = cordon_cli_events_stdout(events);
    REQUIRE(fcntl(to, F_SETFL, O_NONBLOCK) == 0);
    memset(flood, 'x', sizeof flood);
    for (int i = 0; i < 100; i++)
        (void)!write(to, flood, sizeof flood);
    cordon_cli_events_progress(events, "dispose", "still answers");
    CHECK_FAILS(cordon_cli_events_finish(events, 50, &err), err, CORDON_ERR_TIMEOUT,
                "standard output");
    CHECK(read_end >= 0);
}

/* The library must see what it would see without --json: nobody reads any more. */
static void a_reader_that_leaves_is_told_to_the_writer(void)
{
    static char block[65536];
    cordon_err err = CORDON_ERR_INIT;
    int ends[2];
    REQUIRE(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    cordon_autoclose int write_end = ends[1];
    CHECK(close(ends[0]) == 0);
    cordon_auto_ptr(cordon_cli_events) events = NULL;
    REQUIRE_OK(cordon_cli_events_start(write_end, &events, &err), err);
    while (write(cordon_cli_events_stdout(events), block, sizeof block) > 0)
        ;
    CHECK_INT(errno, EPIPE);
    CHECK_FAILS(cordon_cli_events_finish(events, 5000, &err), err, CORDON_ERR_SYSTEM, "");
    CHECK_INT(err.errnum, EPIPE);
}

static const struct {
    const char *bytes;
    size_t valid;
    bool cut;
} texts[] = {
    {"", 0, false},
    {"ab", 2, false},
    {"a\xc3\xa9", 3, false},
    {"a\xc3", 1, true},
    {"\xc0\xaf", 0, false},
    {"\xe0\x80\xaf", 0, false},
    {"\xed\xa0\x80", 0, false},
    {"\xed\x9f\xbf", 3, false},
    {"\xf0\x9f\x98\x80", 4, false},
    {"\xf0\x9f\x98", 0, true},
    {"\xf4\x90\x80\x80", 0, false},
    {"\xf5", 0, false},
    {"\x80", 0, false},
    {"\xe2\x28", 0, false},
};

static void only_real_utf8_is_text(void)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        bool cut = false;
        size_t valid = cordon_cli_utf8_prefix(texts[i].bytes, strlen(texts[i].bytes), &cut);
        TEST_RECORDF(valid == texts[i].valid && cut == texts[i].cut, "row %zu: %zu, cut %d", i,
                     valid, cut);
    }
}

static void base64_pads_as_rfc_4648_shows(void)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char text[16];
        cordon_cli_base64(pairs[i][0], strlen(pairs[i][0]), text);
        CHECK_STR(text, pairs[i][1]);
    }
}

CORDON_TEST_MAIN("cli_events", TEST(text_bytes_and_progress_become_lines),
                 TEST(an_egress_event_is_a_line_as_it_is),
                 TEST(egress_events_without_room_are_counted),
                 TEST(a_character_cut_by_the_end_is_bytes),
                 TEST(a_reader_that_stalls_loses_lines_and_no_more),
                 TEST(a_reader_that_leaves_is_told_to_the_writer), TEST(only_real_utf8_is_text),
                 TEST(base64_pads_as_rfc_4648_shows))

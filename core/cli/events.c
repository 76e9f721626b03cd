/* SPDX-License-Identifier: Apache-2.0 */
/* The NDJSON writer: three pipes in, lines out, one thread. */
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/jsonw.h"
#include "output.h"
#include "utf8.h"

#define PIECE_BYTES    16384
#define LINE_MAX_BYTES (PIECE_BYTES * 6 + 256) /* every byte escaped as \u00XX */
#define PROGRESS_BYTES 512                     /* below PIPE_BUF: written whole or not at all */
#define EGRESS_BYTES   PIPE_BUF                /* the same; no event is longer */

enum { SOURCE_STDOUT, SOURCE_STDERR, SOURCE_PROGRESS, SOURCES };

/* One pipe; what could not be turned into a line yet waits in `bytes`. */
typedef struct source {
    int read_fd;
    int write_fd;
    size_t have;
    char bytes[PIECE_BYTES];
} source;

/*
 * stop_fd      eventfd: readable once finish was called; never read, so it stays so
 * drain_until  monotonic ns, set before stop_fd is
 * failure      of the thread; read after the join
 * untold       egress events that found no room in the progress pipe, which they share
 */
struct cordon_cli_events {
    source sources[SOURCES];
    int out_fd;
    int stop_fd;
    _Atomic int64_t drain_until;
    bool running;
    pthread_t thread;
    cordon_err failure;
    uint64_t untold;
};

static bool lost(const cordon_cli_events *events)
{
    return events->failure.code != CORDON_OK;
}

/*
 * Writes one line. While the run goes on it waits as long as the reader likes, or until finish
 * is called; after that until drain_until.
 */
static void send_line(cordon_cli_events *events, const cordon_buf *line)
{
    const char *next = line->data;
    size_t left = line->length;
    while (left > 0 && !lost(events)) {
        int64_t until = atomic_load(&events->drain_until);
        cordon_deadline deadline = {.at_ns = until ? until : INT64_MAX,
                                    .cancel_fd = until ? -1 : events->stop_fd};
        cordon_err err = CORDON_ERR_INIT;
        size_t written = 0;
        int rc = cordon_cli_write_some(events->out_fd, next, left, deadline, "standard output",
                                       &written, &err);
        if (rc != 0 && err.code != CORDON_ERR_CANCELLED)
            events->failure = err;
        next += written;
        left -= written;
    }
}

static void begin(cordon_jsonw *json, cordon_buf *line, const char *event)
{
    cordon_jsonw_init(json, line);
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "event", event);
}

static void end(cordon_cli_events *events, cordon_jsonw *json, cordon_buf *line)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_jsonw_end_object(json);
    if (cordon_jsonw_finish(json, &err) == 0 && cordon_buf_append_char(line, '\n', &err) == 0)
        send_line(events, line);
    else if (!lost(events))
        events->failure = err;
}

static void send_output(cordon_cli_events *events, size_t which, size_t length, bool text)
{
    const source *from = &events->sources[which];
    cordon_auto(cordon_buf) line = cordon_buf_make(LINE_MAX_BYTES);
    char base64[CORDON_CLI_BASE64_LENGTH(PIECE_BYTES) + 1];
    cordon_jsonw json;
    begin(&json, &line, "output");
    cordon_jsonw_string(&json, "stream", which == SOURCE_STDOUT ? "stdout" : "stderr");
    if (text) {
        cordon_jsonw_string_n(&json, "data", from->bytes, length);
    } else {
        cordon_cli_base64(from->bytes, length, base64);
        cordon_jsonw_string(&json, "data_base64", base64);
    }
    end(events, &json, &line);
}

static void drop(source *from, size_t used)
{
    from->have -= used;
    memmove(from->bytes, from->bytes + used, from->have);
}

/* Sends what is there; a character that is cut at the end waits for its rest. */
static void take_output(cordon_cli_events *events, size_t which, bool at_end)
{
    source *from = &events->sources[which];
    bool cut = false;
    size_t text = cordon_cli_utf8_prefix(from->bytes, from->have, &cut);
    bool clean = text == from->have || (cut && !at_end);
    size_t length = clean ? text : from->have;
    if (length > 0)
        send_output(events, which, length, clean);
    drop(from, length);
}

/* An object that came as it is: no progress begins with a brace. */
static void send_object(cordon_cli_events *events, const char *json)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(LINE_MAX_BYTES);
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_buf_append_text(&line, json, &err) == 0 &&
        cordon_buf_append_char(&line, '\n', &err) == 0)
        send_line(events, &line);
    else if (!lost(events))
        events->failure = err;
}

static void send_progress(cordon_cli_events *events, char *message)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(LINE_MAX_BYTES);
    char *tab = strchr(message, '\t');
    if (message[0] == '{') {
        send_object(events, message);
        return;
    }
    if (!tab)
        return;
    *tab = '\0';
    cordon_jsonw json;
    begin(&json, &line, "progress");
    cordon_jsonw_string(&json, "step", message);
    cordon_jsonw_string(&json, "text", tab + 1);
    end(events, &json, &line);
}

static void take_progress(cordon_cli_events *events)
{
    source *from = &events->sources[SOURCE_PROGRESS];
    char *newline = memchr(from->bytes, '\n', from->have);
    while (newline) {
        *newline = '\0';
        send_progress(events, from->bytes);
        drop(from, (size_t)(newline - from->bytes) + 1);
        newline = memchr(from->bytes, '\n', from->have);
    }
}

static void close_source(source *from)
{
    if (from->read_fd >= 0)
        (void)close(from->read_fd);
    from->read_fd = -1;
}

/* Takes one piece from a pipe that is ready. */
static void take(cordon_cli_events *events, size_t which)
{
    source *from = &events->sources[which];
    ssize_t got = read(from->read_fd, from->bytes + from->have, sizeof from->bytes - from->have);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got > 0)
        from->have += (size_t)got;
    if (which == SOURCE_PROGRESS)
        take_progress(events);
    else
        take_output(events, which, got <= 0);
    if (got <= 0)
        close_source(from);
}

static bool any_open(const cordon_cli_events *events)
{
    for (size_t i = 0; i < SOURCES; i++) {
        if (events->sources[i].read_fd >= 0)
            return true;
    }
    return false;
}

/*
 * Until all pipes are at their end, or nobody takes the lines any more. Then the pipes are closed,
 * which tells the library what it would be told without --json: the reader has gone away.
 */
static void *work(void *argument)
{
    cordon_cli_events *events = argument;
    while (any_open(events) && !lost(events)) {
        struct pollfd fds[SOURCES];
        for (size_t i = 0; i < SOURCES; i++)
            fds[i] = (struct pollfd){.fd = events->sources[i].read_fd, .events = POLLIN};
        if (poll(fds, SOURCES, -1) < 0)
            continue;
        for (size_t i = 0; i < SOURCES; i++) {
            if (fds[i].fd >= 0 && fds[i].revents && !lost(events))
                take(events, i);
        }
    }
    for (size_t i = 0; i < SOURCES; i++)
        close_source(&events->sources[i]);
    return NULL;
}

static int open_pipes(cordon_cli_events *events, cordon_err *err)
{
    for (size_t i = 0; i < SOURCES; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return CORDON_FAIL_ERRNO(err, errno, "pipe for --json");
        events->sources[i].read_fd = ends[0];
        events->sources[i].write_fd = ends[1];
    }
    if (fcntl(events->sources[SOURCE_PROGRESS].write_fd, F_SETFL, O_NONBLOCK) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "pipe for --json");
    events->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (events->stop_fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "eventfd for --json");
    return 0;
}

int cordon_cli_events_start(int out_fd, cordon_cli_events **ret_events, cordon_err *err)
{
    cordon_auto_ptr(cordon_cli_events) events = calloc(1, sizeof *events);
    if (!events)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "--json: out of memory");
    events->out_fd = out_fd;
    events->stop_fd = -1;
    for (size_t i = 0; i < SOURCES; i++)
        events->sources[i].read_fd = events->sources[i].write_fd = -1;
    if (open_pipes(events, err) != 0)
        return -1;
    int failed = pthread_create(&events->thread, NULL, work, events);
    if (failed != 0)
        return CORDON_FAIL_ERRNO(err, failed, "thread for --json");
    events->running = true;
    *ret_events = CORDON_TAKE(events);
    return 0;
}

int cordon_cli_events_stdout(const cordon_cli_events *events)
{
    return events->sources[SOURCE_STDOUT].write_fd;
}

int cordon_cli_events_stderr(const cordon_cli_events *events)
{
    return events->sources[SOURCE_STDERR].write_fd;
}

void cordon_cli_events_progress(void *context, const char *word, const char *text)
{
    const cordon_cli_events *events = context;
    char safe_word[64];
    char safe_text[PROGRESS_BYTES - sizeof safe_word - 2];
    char message[PROGRESS_BYTES];
    (void)cordon_err_printable(safe_word, sizeof safe_word, word, strlen(word));
    (void)cordon_err_printable(safe_text, sizeof safe_text, text, text ? strlen(text) : 0);
    int length = snprintf(message, sizeof message, "%s\t%s\n", safe_word, safe_text);
    if (length > 0)
        (void)!write(events->sources[SOURCE_PROGRESS].write_fd, message, (size_t)length);
}

/* Whole or not at all. */
static bool put_egress(cordon_cli_events *events, const char *json)
{
    char message[EGRESS_BYTES + 1];
    int length = snprintf(message, sizeof message, "%s\n", json);
    return length > 0 && length <= EGRESS_BYTES &&
           write(events->sources[SOURCE_PROGRESS].write_fd, message, (size_t)length) == length;
}

static bool tell_untold(cordon_cli_events *events)
{
    char json[96];
    if (events->untold == 0)
        return true;
    (void)snprintf(json, sizeof json, "{\"event\":\"egress\",\"what\":\"dropped\",\"count\":%llu}",
                   (unsigned long long)events->untold);
    if (!put_egress(events, json))
        return false;
    events->untold = 0;
    return true;
}

void cordon_cli_events_egress(void *context, const char *json)
{
    cordon_cli_events *events = context;
    if (!tell_untold(events) || !put_egress(events, json))
        events->untold++;
}

/* Closing the write ends is what lets the thread come to its end. */
static void join(cordon_cli_events *events, int drain_ms)
{
    for (size_t i = 0; i < SOURCES; i++) {
        if (events->sources[i].write_fd >= 0)
            (void)close(events->sources[i].write_fd);
        events->sources[i].write_fd = -1;
    }
    if (!events->running)
        return;
    atomic_store(&events->drain_until, cordon_deadline_in_ms(drain_ms, -1).at_ns);
    (void)eventfd_write(events->stop_fd, 1);
    (void)pthread_join(events->thread, NULL);
    events->running = false;
}

int cordon_cli_events_finish(cordon_cli_events *events, int drain_ms, cordon_err *err)
{
    struct pollfd room = {.fd = events->sources[SOURCE_PROGRESS].write_fd, .events = POLLOUT};
    if (events->untold > 0)
        (void)poll(&room, 1, drain_ms);
    bool told = tell_untold(events);
    join(events, drain_ms);
    if (!lost(events) && !told)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "standard output: egress events were lost");
    if (!lost(events))
        return 0;
    *err = events->failure;
    return -1;
}

void cordon_cli_events_free(cordon_cli_events *events)
{
    if (!events)
        return;
    join(events, 0);
    for (size_t i = 0; i < SOURCES; i++)
        close_source(&events->sources[i]);
    if (events->stop_fd >= 0)
        (void)close(events->stop_fd);
    free(events);
}

/* A receipt that is written over several lines is still one line here. */
static int append_one_line(cordon_buf *line, const char *json, cordon_err *err)
{
    for (const char *at = json; *at; at++) {
        if (*at != '\n' && *at != '\r' && cordon_buf_append_char(line, *at, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_cli_events_receipt(int out_fd, const char *receipt_json, int budget_ms, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(strlen(receipt_json) + 64);
    if (cordon_buf_append_text(&line, "{\"event\":\"receipt\",\"receipt\":", err) != 0 ||
        append_one_line(&line, receipt_json, err) != 0 ||
        cordon_buf_append_text(&line, "}\n", err) != 0)
        return -1;
    return cordon_cli_write(out_fd, line.data, line.length, cordon_deadline_in_ms(budget_ms, -1),
                            "standard output", err);
}

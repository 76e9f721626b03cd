/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line buffer and its writer; see log.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

void cordon_log_init(cordon_log *log, int fd)
{
    struct stat status;
    log->fd = fd;
    log->start = log->end = 0;
    log->dropped = 0;
    log->open = log->broken = false;
    log->poll_first = true;
    if (fstat(fd, &status) != 0 || (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
        return;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
        log->poll_first = false;
}

static size_t log_room(const cordon_log *log)
{
    return sizeof log->buffer - (log->end - log->start);
}

/* A line's pieces can't overrun: room for the longest line was made sure of at its begin. */
static void log_put(cordon_log *log, const char *bytes, size_t length)
{
    memcpy(log->buffer + log->end, bytes, length);
    log->end += length;
}

static void log_put_string(cordon_log *log, const char *text)
{
    log_put(log, text, strlen(text));
}

static void log_put_number(cordon_log *log, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    log_put(log, digits + at, sizeof digits - at);
}

/* RFC 8259 section 7. Bytes over 0x7e are escaped as Latin-1, since nothing says they are UTF-8. */
static void log_put_escaped(cordon_log *log, const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            log->buffer[log->end++] = (char)c;
        } else {
            char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            log_put(log, escape, sizeof escape);
        }
    }
}

static void log_put_key(cordon_log *log, const char *key)
{
    log_put_string(log, ",\"");
    log_put_string(log, key);
    log_put_string(log, "\":");
}

static void log_open(cordon_log *log, const char *event)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    log->open = true;
    log_put_string(log, "{\"event\":\"");
    log_put_string(log, event);
    log_put_string(log, "\"");
    cordon_log_number(log, "time_ms",
                      (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

/* Says how many lines are missing, at the place where they are. */
static void log_tell_dropped(cordon_log *log)
{
    uint64_t dropped = log->dropped;
    log->dropped = 0;
    log_open(log, "dropped");
    cordon_log_number(log, "count", dropped);
    cordon_log_end(log);
}

/* Room for the line and for a "dropped" line before it, in one piece at the end of the buffer. */
static bool log_make_room(cordon_log *log)
{
    size_t need = 2 * (size_t)CORDON_LOG_LINE_MAX;
    if (log->broken || log_room(log) < need)
        return false;
    if (sizeof log->buffer - log->end < need) {
        memmove(log->buffer, log->buffer + log->start, log->end - log->start);
        log->end -= log->start;
        log->start = 0;
    }
    return true;
}

void cordon_log_begin(cordon_log *log, const char *event)
{
    log->open = false;
    if (!log_make_room(log)) {
        log->dropped++;
        return;
    }
    if (log->dropped > 0)
        log_tell_dropped(log);
    log_open(log, event);
}

void cordon_log_text(cordon_log *log, const char *key, const char *text, size_t length)
{
    if (!log->open)
        return;
    size_t kept = length < CORDON_LOG_TEXT_MAX ? length : CORDON_LOG_TEXT_MAX;
    log_put_key(log, key);
    log_put_string(log, "\"");
    log_put_escaped(log, text, kept);
    log_put_string(log, kept < length ? "...\"" : "\"");
}

void cordon_log_string(cordon_log *log, const char *key, const char *text)
{
    cordon_log_text(log, key, text, strlen(text));
}

void cordon_log_number(cordon_log *log, const char *key, uint64_t number)
{
    if (!log->open)
        return;
    log_put_key(log, key);
    log_put_number(log, number);
}

void cordon_log_bool(cordon_log *log, const char *key, bool value)
{
    if (!log->open)
        return;
    log_put_key(log, key);
    log_put_string(log, value ? "true" : "false");
}

void cordon_log_list_begin(cordon_log *log, const char *key)
{
    if (!log->open)
        return;
    log_put_key(log, key);
    log_put_string(log, "[");
}

void cordon_log_item(cordon_log *log, size_t index, const char *text)
{
    if (!log->open)
        return;
    log_put_string(log, index > 0 ? ",\"" : "\"");
    log_put_string(log, text);
    log_put_string(log, "\"");
}

void cordon_log_list_end(cordon_log *log)
{
    if (log->open)
        log_put_string(log, "]");
}

void cordon_log_end(cordon_log *log)
{
    if (!log->open)
        return;
    log_put_string(log, "}\n");
    log->open = false;
}

/* How much of the buffer goes into one write: as many whole lines as a pipe takes atomically. */
static size_t log_chunk(const cordon_log *log)
{
    size_t length = log->end - log->start;
    if (length <= CORDON_LOG_LINE_MAX)
        return length;
    const char *first = log->buffer + log->start;
    const char *last = memrchr(first, '\n', CORDON_LOG_LINE_MAX);
    return last ? (size_t)(last - first) + 1 : CORDON_LOG_LINE_MAX;
}

static bool log_writable(const cordon_log *log)
{
    struct pollfd ready = {.fd = log->fd, .events = POLLOUT};
    return !log->poll_first || poll(&ready, 1, 0) > 0;
}

static void log_break(cordon_log *log)
{
    log->broken = true;
    log->start = log->end = 0;
}

void cordon_log_flush(cordon_log *log)
{
    while (log->start < log->end && log_writable(log)) {
        ssize_t written = write(log->fd, log->buffer + log->start, log_chunk(log));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno != EAGAIN && errno != ENOMEM)
            log_break(log);
        if (written <= 0)
            return;
        log->start += (size_t)written;
        if (log->start < log->end)
            continue;
        log->start = log->end = 0;
        if (log->dropped > 0)
            log_tell_dropped(log);
    }
}

void cordon_log_flush_last(cordon_log *log, int timeout_ms)
{
    struct timespec step = {.tv_sec = 0, .tv_nsec = 5000000};
    cordon_log_flush(log);
    for (int waited_ms = 0; log->start < log->end && waited_ms < timeout_ms; waited_ms += 5) {
        (void)nanosleep(&step, NULL);
        cordon_log_flush(log);
    }
}

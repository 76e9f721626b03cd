/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines to one descriptor, never blocking and never torn: lines gather in a fixed buffer and
 * leave it in writes of whole lines. When the reader is slow and the buffer is full, further lines
 * are counted and the count is told later in a "dropped" line. libc-only.
 */
#ifndef CORDON_PROXY_LOG_H
#define CORDON_PROXY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * POSIX promises writes of up to this many bytes to a pipe to be atomic (PIPE_BUF on Linux); a
 * line never exceeds it.
 */
#define CORDON_LOG_LINE_MAX   4096
#define CORDON_LOG_BUFFER_MAX 65536
/* Of one text value this many bytes are kept, the rest is cut and marked with "...". */
#define CORDON_LOG_TEXT_MAX 272

/*
 * start..end  bytes in the buffer that were not written yet
 * dropped     lines that found no room and were not told of yet
 * open        a line is being made
 * poll_first  the descriptor can't be made non-blocking for us alone (a terminal)
 * broken      the reader is gone; everything is dropped from now on
 */
typedef struct cordon_log {
    int fd;
    size_t start;
    size_t end;
    uint64_t dropped;
    bool open;
    bool poll_first;
    bool broken;
    char buffer[CORDON_LOG_BUFFER_MAX];
} cordon_log;

/* fd is borrowed. A pipe or socket is made non-blocking; that is its description's flag. */
void cordon_log_init(cordon_log *log, int fd);

/*
 * One line: begin, values, end. A value outside of a line, because there was no room for it, is
 * ignored. `key` is trusted text without anything to escape. begin writes "event" and "time_ms"
 * (since the epoch).
 */
void cordon_log_begin(cordon_log *log, const char *event);
void cordon_log_text(cordon_log *log, const char *key, const char *text, size_t length);
void cordon_log_string(cordon_log *log, const char *key, const char *text);
void cordon_log_number(cordon_log *log, const char *key, uint64_t number);
void cordon_log_bool(cordon_log *log, const char *key, bool value);
/* A list of texts that have nothing to escape; `index` counts them from 0. */
void cordon_log_list_begin(cordon_log *log, const char *key);
void cordon_log_item(cordon_log *log, size_t index, const char *text);
void cordon_log_list_end(cordon_log *log);
void cordon_log_end(cordon_log *log);

/* Writes what the descriptor takes now. */
void cordon_log_flush(cordon_log *log);

/* Waits up to timeout_ms in all for a slow reader; for the end of the process only. */
void cordon_log_flush_last(cordon_log *log, int timeout_ms);

#endif

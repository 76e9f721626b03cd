/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to standard output and standard error: whole writes that a signal can end, lines that are
 * dropped rather than waited for, tables of printable text. No colours, no cursor movement.
 */
#ifndef CORDON_CLI_OUTPUT_H
#define CORDON_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/error.h"

/*
 * Waits until the descriptor takes bytes and writes what it takes, at most PIPE_BUF.
 * @return 0 and how many were written (perhaps none), or -1 with SYSTEM, TIMEOUT or CANCELLED
 */
int cordon_cli_write_some(int fd, const void *bytes, size_t length, cordon_deadline deadline,
                          const char *what, size_t *ret_written, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Writes all bytes in pieces that fit a pipe which poll(2) calls writable, so it never blocks
 * beyond the deadline, nor after its cancel descriptor became readable.
 * @return 0, or -1 with SYSTEM, TIMEOUT or CANCELLED; a part may have been written
 */
int cordon_cli_write(int fd, const void *bytes, size_t length, cordon_deadline deadline,
                     const char *what, cordon_err *err) __attribute__((warn_unused_result));

/* Text to standard output, for as long as it takes; INT, TERM and HUP end it. */
int cordon_cli_print(int signal_fd, const cordon_buf *text, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * One line to standard error, "cordon ...\n". Waits a moment for a slow reader, never for a
 * stalled one. What is not printable is replaced.
 */
void cordon_cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Columns of a table. */
#define CORDON_CLI_COLUMNS_MAX 6

/* Column widths, grown by every row that is measured; the last column is not padded. */
typedef struct cordon_cli_table {
    size_t columns;
    size_t width[CORDON_CLI_COLUMNS_MAX];
} cordon_cli_table;

void cordon_cli_table_measure(cordon_cli_table *table, const char *const *cells);
/* Appends one row; NULL cells are empty. Cells are printable text already. */
int cordon_cli_table_row(const cordon_cli_table *table, const char *const *cells, cordon_buf *out,
                         cordon_err *err) __attribute__((warn_unused_result));

#endif

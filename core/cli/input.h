/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file that a person named, whole: a plain file, a pipe (as the shell's <(...) makes one)
 * or a FIFO whose writer is still to come. Nothing here blocks past a deadline or a signal.
 */
#ifndef CORDON_CLI_INPUT_H
#define CORDON_CLI_INPUT_H

#include <stddef.h>

#include "kit/buf.h"
#include "kit/deadline.h"

/*
 * Opens for reading, without waiting: not for a FIFO's writer either.
 * @return a descriptor of the caller's, or -1 with errno of open(2)
 */
int cordon_cli_input_open(const char *path);

/*
 * How long reading may take: until a signal, and no longer than a --deadline that was given.
 * @param deadline_ms  0 for none
 */
cordon_deadline cordon_cli_input_deadline(int64_t deadline_ms, int signal_fd);

/*
 * Appends what comes until its end, or until `out` holds `room` bytes. A FIFO that nobody has
 * opened for writing yet has not ended. `fd` may block: it is read only when there is something.
 * @param what  begins messages: "--prompt-file: x"
 * @return 0, or -1 with CONFIG (cannot be read), CANCELLED, TIMEOUT or NOMEM
 */
int cordon_cli_input_read(int fd, cordon_deadline deadline, const char *what, size_t room,
                          cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));

#endif

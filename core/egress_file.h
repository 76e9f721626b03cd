/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress events of a run that goes on, in the caller's state folder beside its journal: one
 * file of JSON lines per invocation, mode 0600, for `cordon egress --follow`. Nothing depends on
 * it: what can't be written is left out. The run holds an exclusive flock(2) on it while it lasts
 * and removes it at its end, since the receipt has the sums; what a killed run left goes with its
 * journal (gc.c).
 */
#ifndef CORDON_EGRESS_FILE_H
#define CORDON_EGRESS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "owner.h"

/* The file is "INVOCATION" and this. */
#define CORDON_EGRESS_FILE_SUFFIX ".egress"
#define CORDON_EGRESS_FILE_NAME   (CORDON_OWNER_HEX + sizeof(CORDON_EGRESS_FILE_SUFFIX))
/* Most bytes of a file; the last line then says that no more come. */
#define CORDON_EGRESS_FILE_MAX (8 << 20)

typedef struct cordon_egress_file {
    int fd; /* -1: none */
    int64_t bytes;
    char *path;
} cordon_egress_file;

#define CORDON_EGRESS_FILE_INIT                                                                    \
    {                                                                                              \
        .fd = -1, .bytes = 0, .path = NULL                                                         \
    }

/* The name of an invocation's file. */
void cordon_egress_file_name(const char *invocation, char ret_name[CORDON_EGRESS_FILE_NAME]);

/* Is this the name of such a file? */
bool cordon_egress_file_is_name(const char *name);

/* Makes it; leaves `none` where it can't be made. */
void cordon_egress_file_open(const char *folder, const char *invocation,
                             cordon_egress_file *ret_file);

/* One line, whole or not at all; the newline is added here. */
void cordon_egress_file_write(cordon_egress_file *file, const char *line, size_t length);

/* Removes it. */
void cordon_egress_file_close(cordon_egress_file *file);

/* Removes what a run has left that is dead, from its folder. */
void cordon_egress_file_forget(int dir, const char *invocation);

#endif

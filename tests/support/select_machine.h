/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that is imagined for the choice of an engine: its sockets and programs. */
#ifndef CORDON_TESTS_SELECT_MACHINE_H
#define CORDON_TESTS_SELECT_MACHINE_H

#include <string.h>

#include "select.h"

typedef struct machine {
    const char *sockets[4];
    const char *programs[2];
} machine;

static inline bool has(const char *const *paths, size_t count, const char *path)
{
    for (size_t i = 0; i < count && paths[i]; i++)
        if (strcmp(paths[i], path) == 0)
            return true;
    return false;
}

/* A cordon_probe_fn; the machine is its context. */
static inline bool machine_probe(void *context, cordon_probe_question question, const char *path)
{
    const machine *m = context;
    if (question == CORDON_PROBE_SOCKET)
        return has(m->sockets, 4, path);
    return has(m->programs, 2, path);
}

#endif

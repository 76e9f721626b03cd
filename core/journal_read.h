/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what earlier runs have noted (journal.h), for whoever removes what they left. The files
 * are the caller's own, and are read as if they were not: bounded, strict. A last line that a
 * crash has cut is no line.
 */
#ifndef CORDON_JOURNAL_READ_H
#define CORDON_JOURNAL_READ_H

#include <time.h>

#include "journal.h"
#include "process_mark.h"

/* The last that was said of a role. */
typedef struct cordon_journal_object {
    bool asked; /* about to be created, or created */
    bool gone;
    char id[CORDON_ID_HEX + 1]; /* "" while no id was noted */
} cordon_journal_object;

/*
 * fd       holds the lock of an entry that is not alive, until cordon_journal_entry_clear
 * name     of its file
 * begun    it has its first line; without one nothing was created, and nothing else is known
 * changed  when its last line was written
 * fate     of the run: ALIVE while somebody holds the lock; why is static
 */
typedef struct cordon_journal_entry {
    int fd;
    char name[CORDON_OWNER_HEX + sizeof(CORDON_JOURNAL_SUFFIX)];
    bool begun;
    time_t changed;
    cordon_process_fate fate;
    const char *why;
    cordon_owner owner;
    cordon_process_mark mark;
    char *engine;
    char *kind;
    char *service;
    char *worktree;
    cordon_journal_object objects[CORDON_ROLE_COUNT];
} cordon_journal_entry;

void cordon_journal_entry_clear(cordon_journal_entry *entry);
CORDON_DEFINE_AUTO(cordon_journal_entry, cordon_journal_entry_clear)

/* True for a name that a journal has. */
bool cordon_journal_is_name(const char *name);

/*
 * Reads one file of an open folder and takes its lock, or learns that somebody has it.
 * @param ret_entry  zeroed with fd -1 by this call; to be cleared, also after a failure. It must
 *                   stay where it is
 * @return 0, or -1 with NOTFOUND (gone meanwhile), CONFIG (others may write it), PROTOCOL (no
 *         journal of this version), SYSTEM, NOMEM
 */
int cordon_journal_read(int dir, const char *name, cordon_journal_entry *ret_entry, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an invocation owns, written down before it exists: one file of JSON lines per invocation
 * in a private folder. The entry is on the disk before the first create and removed when everything
 * is verified to be gone; a file that stays tells what a crashed run may have left.
 *
 *   {"journal":1,"invocation":ID,"token":TOKEN,"engine":ENDPOINT,"kind":KIND,"service":PROGRAM|null,
 *    "worktree":PATH|null,"owner":"uid-1000","host":HOST,"boot":BOOT_ID,"pid_space":NS,"pid":N,
 *    "pid_start":TICKS}
 *   {"object":"step","type":"container","name":NAME}            about to be created
 *   {"object":"step","type":"container","id":ID}                created
 *   {"object":"step","type":"container","id":ID,"gone":true}    verified to be gone
 *
 * Only the first line is waited for until the disk has it (fdatasync(2), and the folder): with its
 * token the engine is asked for all the rest, should a power loss take the later lines.
 *
 * Whoever works on an entry holds an exclusive flock(2) on its file: the run while it lasts, then
 * a collection (journal_read.h). The kernel lets go of it with the last of its processes.
 */
#ifndef CORDON_JOURNAL_H
#define CORDON_JOURNAL_H

#include "owner.h"

typedef struct cordon_journal {
    int fd; /* -1: no journal */
    char *path;
} cordon_journal;

#define CORDON_JOURNAL_INIT                                                                        \
    {                                                                                              \
        .fd = -1, .path = NULL                                                                     \
    }

/* A journal's file is "INVOCATION" and this. */
#define CORDON_JOURNAL_SUFFIX ".jsonl"

/* Most bytes of a line, its newline included. */
#define CORDON_JOURNAL_LINE_MAX 8192

/*
 * What the first line says beside the process. Borrowed.
 * service   the program that serves this run's engine alone; NULL: the engine is there by itself
 * worktree  one that may be written, where placeholders are made; NULL: none
 */
typedef struct cordon_journal_head {
    const cordon_owner *owner;
    const char *kind;
    const char *endpoint;
    const char *service;
    const char *worktree;
} cordon_journal_head;

/*
 * Makes folder (mode 0700) if it is missing, and the invocation's file in it (0600, new).
 * CONFIG: the folder belongs to somebody else or others may write to it. SYSTEM.
 */
int cordon_journal_open(const char *folder, const cordon_journal_head *head,
                        cordon_journal *ret_journal, cordon_err *err)
    __attribute__((warn_unused_result));

/* One line each; whole lines in one write(2), so branches may call them at the same time. */
int cordon_journal_planned(const cordon_journal *journal, cordon_role role, const char *name,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_journal_created(const cordon_journal *journal, cordon_role role, const char *id,
                           cordon_err *err) __attribute__((warn_unused_result));
/* The file goes when everything is gone, so a failure does not matter. */
void cordon_journal_gone(const cordon_journal *journal, cordon_role role, const char *id);

/* Removes the file if nothing is left, keeps it otherwise, and frees. */
void cordon_journal_close(cordon_journal *journal, bool nothing_left);

#endif

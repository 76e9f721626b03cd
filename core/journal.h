/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an invocation owns, written down before it exists: one file of JSON lines per invocation
 * in a private folder. The entry is made before the first create and removed when everything is
 * verified to be gone; a file that stays tells what a crashed run may have left.
 *
 *   {"journal":1,"invocation":ID,"token":TOKEN,"engine":ENDPOINT,"kind":KIND,"owner":"uid-1000",
 *    "pid":N,"pid_start":TICKS,"boot":BOOT_ID}
 *   {"object":"step","type":"container","name":NAME}            about to be created
 *   {"object":"step","type":"container","id":ID}                created
 *   {"object":"step","type":"container","id":ID,"gone":true}    verified to be gone
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

/*
 * Makes folder (mode 0700) if it is missing, and the invocation's file in it (0600, new).
 * CONFIG: the folder belongs to somebody else or others may write to it. SYSTEM.
 */
int cordon_journal_open(const char *folder, const cordon_owner *owner, const char *kind,
                        const char *endpoint, cordon_journal *ret_journal, cordon_err *err)
    __attribute__((warn_unused_result));

/* One line each; whole lines in one write(2), so branches may call them at the same time. */
int cordon_journal_planned(const cordon_journal *journal, cordon_role role, const char *name,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_journal_created(const cordon_journal *journal, cordon_role role, const char *id,
                           cordon_err *err) __attribute__((warn_unused_result));
/* Only a note for people: the file goes when everything is gone, so a failure does not matter. */
void cordon_journal_gone(const cordon_journal *journal, cordon_role role, const char *id);

/* Removes the file if nothing is left, keeps it otherwise, and frees. */
void cordon_journal_close(cordon_journal *journal, bool nothing_left);

#endif

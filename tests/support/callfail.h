/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One system call or allocation of a process fails once, with an errno that the call may have: the
 * linker puts these in the place of the libc's (--wrap, tests/torture/CMakeLists.txt). They are
 * told and tell through a page that is shared with forked processes.
 */
#ifndef CORDON_TESTS_SUPPORT_CALLFAIL_H
#define CORDON_TESTS_SUPPORT_CALLFAIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * armed     calls count from when it is set; the faker's promises below hold all the time
 * call      the name of the one that fails; empty: none
 * nth       which of these calls it is, from 1
 * variant   which of its errnos, modulo their number
 * offspring count the calls of the processes that the beginner makes, instead of its own
 * ports     on loopback that may be dialled; `strayed` counts what was dialled besides
 * struck    it has happened, with this error, one out of so many variants
 */
typedef struct callfail_page {
    atomic_bool armed;
    char call[24];
    unsigned nth;
    unsigned variant;
    bool offspring;
    uint16_t ports[2];
    atomic_uint count;
    atomic_uint strayed;
    atomic_bool struck;
    unsigned variants;
    int error;
} callfail_page;

/*
 * Begins in this process and those that it will make. A seccomp filter, a Landlock domain and the
 * loss of dumpability are from now on only said to have worked: a sanitizer would die of them. They
 * count and fail like any other call.
 */
void callfail_begin(callfail_page *page);

/* All that can be named, up to a NULL. */
extern const char *const callfail_calls[];

#endif

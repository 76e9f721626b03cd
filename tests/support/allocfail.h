/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out on demand: the n-th allocation after allocfail_begin fails, once, in any
 * thread. Works by --wrap (see tests/torture/CMakeLists.txt), so it is our own code's allocations
 * that fail, not those inside libraries.
 */
#ifndef CORDON_TESTS_SUPPORT_ALLOCFAIL_H
#define CORDON_TESTS_SUPPORT_ALLOCFAIL_H

#include <stdbool.h>

/* Counts from one; 0 counts and fails nothing. */
void allocfail_begin(unsigned nth);

/* Ends it: how many allocations were asked for; *ret_failed says whether one was refused. */
unsigned allocfail_end(bool *ret_failed);

/* What this thread allocates meanwhile is not counted: for what plays the world outside. */
void allocfail_pause(void);
void allocfail_resume(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two or more branches of work at once, each with its own error. Used where the engine does the
 * work and Cordon only waits. Branches share nothing but what they are given.
 */
#ifndef CORDON_PARALLEL_H
#define CORDON_PARALLEL_H

#include "kit/error.h"

#define CORDON_PARALLEL_MAX 6

typedef int cordon_branch_fn(void *context, cordon_err *err);

typedef struct cordon_branch {
    cordon_branch_fn *run;
    void *context;
    cordon_err err; /* set if and only if result is -1 */
    int result;
} cordon_branch;

/*
 * Runs all branches, the first one on the calling thread, and waits for all of them. A branch
 * whose thread cannot be made runs on the calling thread. Signals of the program stay with the
 * calling thread.
 * @return 0 if all succeeded; -1 otherwise, with the error of the first refused branch in err, or
 * where none was refused, of the first failed one
 */
int cordon_parallel(cordon_branch *branches, size_t count, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of every torture test: one piece of work, with each of its allocations failing once. */
#ifndef CORDON_TESTS_TORTURE_H
#define CORDON_TESTS_TORTURE_H

#include "support/allocfail.h"
#include "support/test.h"

/* More allocations than any piece of work has. */
#define TORTURE_MAX 20000

/* 0, or -1 with err. Frees whatever it made. */
typedef int torture_fn(void *context, cordon_err *err);

static inline void torture(const char *name, torture_fn *run, void *context)
{
    unsigned nth = 1;
    for (; nth < TORTURE_MAX; nth++) {
        cordon_err err = CORDON_ERR_INIT;
        bool failed = false;
        allocfail_begin(nth);
        int rc = run(context, &err);
        (void)allocfail_end(&failed);
        if (!failed) {
            TEST_RECORDF(rc == 0, "%s: %s %s", name, cordon_code_name(err.code), err.message);
            break;
        }
        if (!TEST_RECORDF(rc == 0 || err.code == CORDON_ERR_NOMEM, "%s, allocation %u: %s %s", name,
                          nth, cordon_code_name(err.code), err.message))
            break;
    }
    TEST_RECORDF(nth > 1 && nth < TORTURE_MAX, "%s: %u allocations", name, nth - 1);
}

#endif

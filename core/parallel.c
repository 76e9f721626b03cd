/* SPDX-License-Identifier: Apache-2.0 */
/* Branches on threads; see parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

static void *branch_main(void *context)
{
    cordon_branch *branch = context;

    branch->result = branch->run(branch->context, &branch->err);
    return NULL;
}

/* A thread that takes no signal: the program's handlers run where the program expects them. */
static bool branch_start(cordon_branch *branch, pthread_t *ret_thread)
{
    sigset_t all;
    sigset_t before;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(ret_thread, NULL, branch_main, branch) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/*
 * Where one branch found that something is not as planned, what another one stumbled over then is
 * its consequence, and which of them came to it is chance.
 */
static const cordon_branch *branch_that_counts(const cordon_branch *branches, size_t count)
{
    const cordon_branch *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (branches[i].result == 0)
            continue;
        if (branches[i].err.code == CORDON_ERR_REFUSED)
            return &branches[i];
        if (first == NULL)
            first = &branches[i];
    }
    return first;
}

int cordon_parallel(cordon_branch *branches, size_t count, cordon_err *err)
{
    const cordon_branch *failed;
    pthread_t threads[CORDON_PARALLEL_MAX];
    bool started[CORDON_PARALLEL_MAX] = {false};

    for (size_t i = 1; i < count; i++)
        started[i] = branch_start(&branches[i], &threads[i]);
    for (size_t i = 0; i < count; i++) {
        if (!started[i])
            (void)branch_main(&branches[i]);
    }
    for (size_t i = 1; i < count; i++) {
        if (started[i])
            (void)pthread_join(threads[i], NULL);
    }
    failed = branch_that_counts(branches, count);
    if (failed != NULL && err != NULL)
        *err = failed->err;
    return failed != NULL ? -1 : 0;
}

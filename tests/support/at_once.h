/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many independent cases on a few threads, for tests whose cases mostly wait. CUnit's assertions
 * are not for threads: a case fills a result of its own, and the test looks at all of them after.
 */
#ifndef CORDON_TESTS_SUPPORT_AT_ONCE_H
#define CORDON_TESTS_SUPPORT_AT_ONCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define AT_ONCE_THREADS 12

typedef void at_once_fn(void *context, size_t index);

typedef struct at_once_work {
    pthread_mutex_t lock;
    size_t next;
    size_t count;
    at_once_fn *run;
    void *context;
} at_once_work;

static inline bool at_once_take(at_once_work *work, size_t *ret_index)
{
    (void)pthread_mutex_lock(&work->lock);
    bool any = work->next < work->count;
    if (any)
        *ret_index = work->next++;
    (void)pthread_mutex_unlock(&work->lock);
    return any;
}

static inline void *at_once_main(void *argument)
{
    at_once_work *work = argument;
    for (size_t index; at_once_take(work, &index);)
        work->run(work->context, index);
    return NULL;
}

/* Runs run(context, 0 .. count - 1), each once, and returns when all are done. */
static inline void at_once(size_t count, at_once_fn *run, void *context)
{
    at_once_work work = {.count = count, .run = run, .context = context};
    pthread_t threads[AT_ONCE_THREADS];
    size_t started = 0;
    (void)pthread_mutex_init(&work.lock, NULL);
    while (started < AT_ONCE_THREADS &&
           pthread_create(&threads[started], NULL, at_once_main, &work) == 0)
        started++;
    (void)at_once_main(&work);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    (void)pthread_mutex_destroy(&work.lock);
}

#endif

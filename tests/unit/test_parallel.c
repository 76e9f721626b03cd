/* SPDX-License-Identifier: Apache-2.0 */
/* Branches run at once, all of them to their end; the first refusal counts, or
 * else the first failure. */
#include "parallel.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "support/test.h"

typedef struct part {
    int index;
    cordon_code code; /* OK succeeds */
    pthread_t thread;
    bool ran;
    bool takes_signals;
    sem_t *post;
    sem_t *await;
} part;

static int run_part(void *context, cordon_err *err)
{
    part *p = context;
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    p->takes_signals = sigismember(&blocked, SIGTERM) == 0;
    p->thread = pthread_self();
    p->ran = true;
    if (p->post)
        (void)sem_post(p->post);
    if (p->await)
        (void)sem_wait(p->await);
    return p->code == CORDON_OK ? 0 : CORDON_FAIL(err, p->code, "branch %d", p->index);
}

static void each_waits_for_the_other(void)
{
    sem_t first;
    sem_t second;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(sem_init(&first, 0, 0) == 0 && sem_init(&second, 0, 0) == 0);
    part parts[] = {{.post = &first, .await = &second}, {.post = &second, .await = &first}};
    cordon_branch branches[] = {{.run = run_part, .context = &parts[0]},
                                {.run = run_part, .context = &parts[1]}};
    CHECK_OK(cordon_parallel(branches, 2, &err), err);
    CHECK(pthread_equal(parts[0].thread, pthread_self()));
    CHECK(!pthread_equal(parts[1].thread, pthread_self()));
    CHECK(parts[0].takes_signals);
    CHECK(!parts[1].takes_signals);
    (void)sem_destroy(&first);
    (void)sem_destroy(&second);
}

static void all_run_to_their_end_and_the_first_refusal_or_failure_counts(void)
{
    static const struct {
        cordon_code codes[3];
        int want; /* index of the branch whose error counts; -1: none */
    } rows[] = {
        {{CORDON_OK, CORDON_OK, CORDON_OK}, -1},
        {{CORDON_ERR_ENGINE, CORDON_OK, CORDON_OK}, 0},
        {{CORDON_OK, CORDON_ERR_TIMEOUT, CORDON_OK}, 1},
        {{CORDON_OK, CORDON_ERR_TIMEOUT, CORDON_ERR_ENGINE}, 1},
        {{CORDON_ERR_NOMEM, CORDON_ERR_TIMEOUT, CORDON_ERR_ENGINE}, 0},
        {{CORDON_OK, CORDON_OK, CORDON_ERR_REFUSED}, 2},
        {{CORDON_ERR_NOTFOUND, CORDON_OK, CORDON_ERR_REFUSED}, 2},
        {{CORDON_ERR_NOTFOUND, CORDON_ERR_REFUSED, CORDON_ERR_REFUSED}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        part parts[3];
        cordon_branch branches[3];
        cordon_err err = CORDON_ERR_INIT;
        for (int j = 0; j < 3; j++) {
            parts[j] = (part){.index = j, .code = rows[i].codes[j]};
            branches[j] = (cordon_branch){.run = run_part, .context = &parts[j]};
        }
        int rc = cordon_parallel(branches, 3, &err);
        CHECK(parts[0].ran && parts[1].ran && parts[2].ran);
        CHECK_INT(rc, rows[i].want < 0 ? 0 : -1);
        CHECK_INT(err.code, rows[i].want < 0 ? CORDON_OK : rows[i].codes[rows[i].want]);
        for (int j = 0; j < 3; j++)
            CHECK_INT(branches[j].err.code, rows[i].codes[j]);
    }
}

static void nobody_need_take_the_error(void)
{
    part failing = {.code = CORDON_ERR_ENGINE};
    cordon_branch branch = {.run = run_part, .context = &failing};
    CHECK_INT(cordon_parallel(&branch, 1, NULL), -1);
    CHECK_INT(branch.err.code, CORDON_ERR_ENGINE);
}

CORDON_TEST_MAIN("parallel", TEST(each_waits_for_the_other),
                 TEST(all_run_to_their_end_and_the_first_refusal_or_failure_counts),
                 TEST(nobody_need_take_the_error))

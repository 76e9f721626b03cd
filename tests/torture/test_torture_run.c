/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out anywhere in a whole run over the fake engine, from the configuration to the
 * receipt: the run fails or succeeds, and whatever it made is gone.
 */
#include "support/allocfail.h"
#include "support/fake_run.h"
#include "support/test.h"

typedef struct torture_result {
    bool struck;
    unsigned count;
    bool opened;
    bool ran;
    bool exited;
    size_t left;
    size_t told;
    bool released;
    cordon_err err;
    char message[CORDON_ERR_MESSAGE_MAX];
    const char *complaint;
} torture_result;

/* Only what the library does between open and receipt; the rig's own calls are not counted. */
static torture_result carry(const fake_run_options *options, unsigned nth)
{
    cordon_auto(fake_run) run = {0};
    torture_result result = {0};
    fake_release release;
    cordon_leftover left;
    if (!fake_run_prepare(&run, options)) {
        result.err = run.err;
        return result;
    }
    allocfail_begin(nth);
    result.opened = fake_run_connect(&run) && fake_run_invoke(&run);
    result.ran = result.opened && fake_run_go(&run);
    result.count = allocfail_end(&result.struck);
    result.err = run.err;
    result.left = fake_engine_left(run.fake);
    result.released = fake_engine_released(run.fake, &release);
    result.complaint = fake_engine_complaint(run.fake) ? "a breach of the contract" : NULL;
    if (!result.ran)
        return result;
    result.exited = run.result.kind == CORDON_RESULT_EXITED;
    (void)snprintf(result.message, sizeof result.message, "%s",
                   run.result.message ? run.result.message : "");
    while (cordon_receipt_leftover(run.receipt, result.told, &left))
        result.told++;
    return result;
}

static bool check_carried(const torture_result *r, unsigned nth)
{
    bool fine = r->left == 0 && r->told == 0 && !r->complaint;
    /* A worktree of which it cannot be told whether it is a dangerous one is refused. */
    if (!r->ran)
        fine = fine && r->struck &&
               (r->err.code == CORDON_ERR_NOMEM || r->err.code == CORDON_ERR_REFUSED);
    return TEST_RECORDF(fine && (r->struck || r->exited),
                        "allocation %u: opened %d, ran %d, exited %d, left %zu, told %zu: %s %s%s",
                        nth, r->opened, r->ran, r->exited, r->left, r->told,
                        cordon_code_name(r->err.code), r->err.message, r->message);
}

/* stride: 1 for every allocation */
static void torture_run(const fake_run_options *options, unsigned stride)
{
    unsigned nth = 1;
    torture_result first = carry(options, 0);
    REQUIRE(check_carried(&first, 0));
    for (bool struck = true; struck; nth += stride) {
        torture_result r = carry(options, nth);
        struck = r.struck;
        (void)check_carried(&r, nth);
    }
    CHECK(nth > 50);
}

static void a_run_with_a_worktree_on_docker(void)
{
    torture_run(&(fake_run_options){.worktree = true}, 1);
}

static void the_probe_on_podman(void)
{
    torture_run(&(fake_run_options){.podman = true, .probe = true}, 1);
}

/*
 * A scratch, its keeper, and a second step that is made, looked at and removed by itself. One
 * allocation in eleven: most are those of the runs above.
 */
static void two_steps_on_podman(void)
{
    torture_run(&(fake_run_options){.podman = true, .steps = 2}, 11);
}

CORDON_TEST_MAIN("torture_run", TEST(two_steps_on_podman), TEST(a_run_with_a_worktree_on_docker),
                 TEST(the_probe_on_podman))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plan of a run as real code makes it, for the tests of what is derived from a plan: a vendor
 * with two hosts, both networks placed and made, a worktree that is written, the guard as a mount.
 */
#ifndef CORDON_TESTS_SUPPORT_SAMPLE_PLAN_H
#define CORDON_TESTS_SUPPORT_SAMPLE_PLAN_H

#include "expect.h"
#include "support/test.h"

#define SAMPLE_WORKTREE    "/home/dev/project"
#define SAMPLE_GUARD_IMAGE "1111111111111111111111111111111111111111111111111111111111111111"
#define SAMPLE_STEP_IMAGE  "2222222222222222222222222222222222222222222222222222222222222222"
#define SAMPLE_VENDOR_NET  "3333333333333333333333333333333333333333333333333333333333333333"
#define SAMPLE_EGRESS_NET  "4444444444444444444444444444444444444444444444444444444444444444"
#define SAMPLE_PROXY       "5555555555555555555555555555555555555555555555555555555555555555"
#define SAMPLE_STEP        "6666666666666666666666666666666666666666666666666666666666666666"
#define SAMPLE_FOREIGN     "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

/* The whole sample; it must stay where it is, because a plan points into owner and input. */
typedef struct sample_run {
    cordon_owner owner;
    cordon_engine_facts engine;
    cordon_plan_host hosts[2];
    cordon_plan_input input;
    cordon_plan plan;
    cordon_run_ids ids;
} sample_run;

static inline void sample_run_clear(sample_run *run)
{
    cordon_plan_clear(&run->plan);
}
CORDON_DEFINE_AUTO(sample_run, sample_run_clear)

/* Everything that the plan is made from; a test may change it before sample_plan. */
static inline bool sample_input(sample_run *run)
{
    cordon_err err = CORDON_ERR_INIT;

    if (!CHECK_OK(cordon_owner_init(&run->owner, 1000, &err), err))
        return false;
    run->engine.runtime = (char *)(uintptr_t) "runc"; /* borrowed: never cleared */
    run->engine.can = CORDON_CAN_LIMIT_MEMORY | CORDON_CAN_LIMIT_CPU | CORDON_CAN_LIMIT_PIDS;
    run->hosts[0] = (cordon_plan_host){"api.example.com", NULL};
    run->hosts[1] = (cordon_plan_host){"llm.example.com", "10.0.8.4:8443"};
    run->input = (cordon_plan_input){
        .networked = true,
        .owner = &run->owner,
        .engine = &run->engine,
        .hosts = run->hosts,
        .host_count = 2,
        .limits = {.memory_bytes = INT64_C(2) << 30,
                   .nano_cpus = INT64_C(1500000000),
                   .pids = 256,
                   .open_files = 4096,
                   .scratch_bytes = INT64_C(16) << 20},
        .guard_image_id = SAMPLE_GUARD_IMAGE,
        .step_image_id = SAMPLE_STEP_IMAGE,
        .delivery = CORDON_GATE_MOUNT,
        .worktree = SAMPLE_WORKTREE,
        .worktree_writable = true,
        .uid = 1000,
        .gid = 1001,
    };
    return true;
}

static inline bool sample_plan(sample_run *run)
{
    cordon_err err = CORDON_ERR_INIT;

    cordon_plan_init(&run->plan, &run->input);
    if (!CHECK_OK(cordon_plan_place(&run->plan, CORDON_ROLE_VENDOR_NETWORK, "10.213.4.8/29", &err),
                  err) ||
        !CHECK_OK(cordon_plan_place(&run->plan, CORDON_ROLE_EGRESS_NETWORK, "10.213.7.16/29", &err),
                  err))
        return false;
    cordon_plan_network_made(&run->plan, CORDON_ROLE_VENDOR_NETWORK, SAMPLE_VENDOR_NET);
    cordon_plan_network_made(&run->plan, CORDON_ROLE_EGRESS_NETWORK, SAMPLE_EGRESS_NET);
    (void)snprintf(run->ids.proxy, sizeof(run->ids.proxy), "%s", SAMPLE_PROXY);
    (void)snprintf(run->ids.step, sizeof(run->ids.step), "%s", SAMPLE_STEP);
    return true;
}

static inline bool sample_run_make(sample_run *run)
{
    return sample_input(run) && sample_plan(run);
}

#endif

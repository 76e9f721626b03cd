/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Cordon left that was killed while its command ran is collected, and nothing else is: not
 * of a run that lives, not of somebody who copied our labels.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "owner.h"
#include "real.h"

static bool collect(outcome *ret_outcome)
{
    return cordon_call(&(call){.verb = "gc", .options = WORDS("--json")}, ret_outcome);
}

#define LABELS                                                                                     \
    "{\"" CORDON_LABEL_OWNER "\":\"uid-0\",\"" CORDON_LABEL_INVOCATION "\":\"%s\","                \
    "\"" CORDON_LABEL_ROLE "\":\"step\",\"" CORDON_LABEL_TOKEN                                     \
    "\":\"0123456789abcdef0123456789abcdef\"}"

/* A run whose command has started. */
static bool start_sleeper(running *r)
{
    *r = (running){.process = {.out_fd = -1, .err_fd = -1}};
    return cordon_start(&(call){.argv = SHELL("echo ready; sleep $0; echo over", real_marker())},
                        r) &&
           CHECK(child_hear(&r->process, "ready", REAL_PATIENCE_MS));
}

static bool kill_sleeper(running *r)
{
    return CHECK(kill(r->process.pid, SIGKILL) == 0) &&
           CHECK(child_finish(&r->process, REAL_PATIENCE_MS));
}

static bool is_there(const char *id)
{
    char path[160];
    int status = 0;
    (void)snprintf(path, sizeof path, "/containers/%s/json", id);
    return rest_call("GET", path, NULL, &status, NULL) && status == 200;
}

static void CG1_a_live_run_goes_on_while_a_dead_one_is_collected(void)
{
    cordon_auto(running) lives = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(running) dies = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) gc = {0};
    cordon_auto(outcome) o = {0};
    if (!start_sleeper(&lives) || !start_sleeper(&dies) || !kill_sleeper(&dies) || !collect(&gc))
        return;
    CHECK_INT(gc.process.status, 0);
    CHECK_CONTAINS(outcome_out(&gc), "\"state\":\"alive\"");
    CHECK_CONTAINS(outcome_out(&gc), "\"state\":\"cleared\"");
    CHECK(kill(lives.process.pid, SIGTERM) == 0);
    if (!cordon_end(&lives, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 143);
    EXPECT_NOTHING_LEFT(&o);
    CHECK(!real_process_left());
}

static void CG4_a_container_with_our_labels_and_no_token_of_ours_is_left_alone(void)
{
    cordon_auto(running) dies;
    cordon_auto(outcome) gc = {0};
    char labels[512];
    char decoy[CORDON_ID_HEX + 1] = "";
    if (!start_sleeper(&dies))
        return;
    (void)snprintf(labels, sizeof labels, LABELS, "fedcba9876543210fedcba9876543210");
    REQUIRE(real_foreign_container("cordon-step-decoy", NULL, labels, decoy));
    if (kill_sleeper(&dies) && collect(&gc)) {
        CHECK_INT(gc.process.status, 0);
        CHECK(strstr(outcome_out(&gc), decoy) == NULL);
        CHECK(is_there(decoy));
    }
    real_remove_container(decoy);
    EXPECT_NOTHING_LEFT(&gc);
}

static void a_dry_run_tells_and_changes_nothing(void)
{
    cordon_auto(running) dies;
    cordon_auto(outcome) told = {0};
    cordon_auto(outcome) table = {0};
    cordon_auto(outcome) gc = {0};
    real_ids ids;
    if (!start_sleeper(&dies) || !real_find_run(NULL, 0, &ids) || !kill_sleeper(&dies) ||
        !cordon_call(&(call){.verb = "gc", .options = WORDS("--dry-run", "--json")}, &told) ||
        !cordon_call(&(call){.verb = "gc", .options = WORDS("--dry-run")}, &table))
        return;
    CHECK_INT(told.process.status, 1);
    CHECK_CONTAINS(outcome_out(&told), "\"mode\":\"look\"");
    CHECK_CONTAINS(outcome_out(&told), ids.step);
    CHECK_CONTAINS(outcome_out(&told), ids.egress_network);
    CHECK_CONTAINS(outcome_out(&table), "its process has ended");
    CHECK(is_there(ids.step));
    if (collect(&gc)) {
        CHECK_INT(gc.process.status, 0);
        EXPECT_NOTHING_LEFT(&gc);
    }
}

static void the_next_run_sweeps_unless_it_is_told_not_to(void)
{
    cordon_auto(running) dies;
    cordon_auto(outcome) kept = {0};
    cordon_auto(outcome) swept = {0};
    real_ids ids;
    if (!start_sleeper(&dies) || !real_find_run(NULL, 0, &ids) || !kill_sleeper(&dies) ||
        !cordon_call(&(call){.argv = WORDS("true"), .settings = "sweep = false;\n"}, &kept))
        return;
    EXPECT_EXITED(&kept, 0);
    CHECK(is_there(ids.step));
    if (cordon_call(&(call){.argv = WORDS("true")}, &swept)) {
        EXPECT_EXITED(&swept, 0);
        EXPECT_NOTHING_LEFT(&swept);
    }
    CHECK(!real_process_left());
}

REAL_MAIN("gc", TEST(CG1_a_live_run_goes_on_while_a_dead_one_is_collected),
          TEST(CG4_a_container_with_our_labels_and_no_token_of_ours_is_left_alone),
          TEST(a_dry_run_tells_and_changes_nothing),
          TEST(the_next_run_sweeps_unless_it_is_told_not_to))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody else with the engine's socket changes a run under way: the run ends as tampered, says
 * what it saw, and is cleaned up. And what is not the run's own stays untouched, whatever it is
 * called and labelled.
 */
#include "real.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "owner.h"

/* A run whose command has started; its objects. */
static bool start_sleeper(running *r, real_ids *ids)
{
    *r = (running){.process = {.out_fd = -1, .err_fd = -1}};
    return cordon_start(&(call){.argv = SHELL("echo ready; sleep $0; echo over", real_marker()),
                                .options = WORDS("--debug")},
                        r) &&
           CHECK(child_hear(&r->process, "ready", REAL_PATIENCE_MS)) && real_find_run(NULL, 0, ids);
}

/* What somebody does to the step or the proxy. */
typedef struct change {
    const char *name;
    const char *method;
    const char *what; /* follows the container's path */
    size_t id;        /* offset in real_ids */
    const char *body;
    const char *event; /* what the message names, at least */
} change;

#define OF(member) offsetof(real_ids, member)

static bool make_change(const change *c, const real_ids *ids)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/containers/%s%s", (const char *)ids + c->id, c->what);
    return rest_ok(c->method, path, c->body);
}

static void expect_tampered(running *r, const char *name, const char *part)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_end(r, &o))
        return;
    if (!EXPECT_KIND(&o, "tampered", 126) || !CHECK_CONTAINS(outcome_err(&o), part))
        printf("    after: %s\n", name);
    CHECK_STR(outcome_out(&o), "ready\n");
    CHECK(!real_process_left());
    EXPECT_NOTHING_LEFT(&o);
}

static void check_change(const change *c)
{
    cordon_auto(running) r;
    real_ids ids;
    if (start_sleeper(&r, &ids) && make_change(c, &ids))
        expect_tampered(&r, c->name, c->event);
}

static void check_changes(const change *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_change(&table[i]);
}

/* --- What both engines show ------------------------------------------------------------------- */

static void a_container_that_is_renamed_killed_or_removed(void)
{
    static const change changes[] = {
        {"rename", "POST", "/rename?name=cordon-renamed", OF(step), NULL, "rename"},
        {"kill", "POST", "/kill?signal=KILL", OF(step), NULL, "step"},
        /* The gate hands the TERM on, and the command ends by it as by itself. */
        {"stop", "POST", "/stop?t=5&timeout=5", OF(step), NULL, "step"},
        {"proxy killed", "POST", "/kill?signal=KILL", OF(proxy), NULL, "proxy"},
        {"proxy removed", "DELETE", "?force=true", OF(proxy), NULL, "proxy"},
    };
    check_changes(changes, sizeof changes / sizeof changes[0]);
}

/* An exec beside the command, whether it is ever started or not. */
static void a_command_that_is_executed_in_the_step(void)
{
    /* libpod tells of an exec when it starts, so it has to be one that can. */
    static const change made = {
        "exec", "POST", "/exec", OF(step), "{\"Cmd\":[\"/bin/true\"],\"AttachStdout\":true}",
        "exec"};
    cordon_auto(running) r;
    cordon_auto_ptr(cordon_json_doc) answer = NULL;
    real_ids ids;
    const char *id = NULL;
    char path[256];
    int status = 0;
    cordon_err err = CORDON_ERR_INIT;
    if (!start_sleeper(&r, &ids))
        return;
    (void)snprintf(path, sizeof path, "/containers/%s%s", ids.step, made.what);
    REQUIRE(rest_call("POST", path, made.body, &status, &answer));
    REQUIRE_INT(status, 201);
    REQUIRE_OK(cordon_json_need_string(cordon_json_root(answer), "Id", &id, &err), err);
    (void)snprintf(path, sizeof path, "/exec/%s/start", id);
    (void)rest_call("POST", path, "{\"Detach\":true}", &status, NULL); /* it may be gone by now */
    expect_tampered(&r, made.name, made.event);
}

static void a_second_reader_of_the_step(void)
{
    cordon_auto(running) r;
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_err err = CORDON_ERR_INIT;
    real_ids ids;
    if (!start_sleeper(&r, &ids))
        return;
    REQUIRE_OK(real.ops->container_attach(real.impl, ids.step, 0, real_soon(), &stream, &err), err);
    expect_tampered(&r, "attach", "attach");
}

/* A foreign container on the vendor network could talk to the step and to its proxy. */
static void a_foreign_container_on_the_vendor_network(void)
{
    char foreign[65] = "";
    char path[256];
    char body[256];
    cordon_auto(running) r = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    real_ids ids;
    if (real_foreign_container("cordon-foreign", NULL, NULL, foreign) && start_sleeper(&r, &ids)) {
        (void)snprintf(path, sizeof path, "/networks/%s/connect", ids.vendor_network);
        (void)snprintf(body, sizeof body, "{\"%s\":\"%s\"}",
                       real_is_docker() ? "Container" : "container", foreign);
        CHECK(rest_ok("POST", path, body));
        CHECK(child_hear_error(&r.process, "dispose:", REAL_PATIENCE_MS));
    }
    /* Cordon never disconnects or removes it, and its network can go only when it has gone. */
    real_remove_container(foreign);
    if (cordon_end(&r, &o)) {
        EXPECT_KIND(&o, "tampered", 126);
        CHECK_CONTAINS(outcome_err(&o), "vendor-network");
    }
    EXPECT_NOTHING_LEFT(&o);
}

/* --- What only some engines can or show ------------------------------------------------------- */

static void a_pause_an_update_or_a_copy(void)
{
    static const change changes[] = {
        {"pause", "POST", "/pause", OF(step), NULL, "pause"},
        {"update", "POST", "/update", OF(step), "{\"PidsLimit\":4000}", "update"},
        {"copy", "GET", "/archive?path=/etc", OF(step), NULL, "archive"},
    };
    if (real_is_docker()) {
        check_changes(changes, 3);
        return;
    }
    /* libpod tells of no copy, and this version of no update; rootless with cgroup v1 no pause. */
    if (real.facts.rootless == CORDON_FACT_NO)
        check_change(&changes[0]);
}

/* The step loses its network: the run must not go on with half of what was checked. */
static void a_step_that_is_disconnected(void)
{
    char path[256];
    char body[256];
    cordon_auto(running) r;
    real_ids ids;
    if (!start_sleeper(&r, &ids))
        return;
    (void)snprintf(path, sizeof path, "/networks/%s/disconnect", ids.vendor_network);
    (void)snprintf(body, sizeof body,
                   real_is_docker() ? "{\"Container\":\"%s\",\"Force\":true}"
                                    : "{\"container\":\"%s\",\"force\":true}",
                   ids.step);
    CHECK(rest_ok("POST", path, body));
    expect_tampered(&r, "disconnect", "disconnect");
}

/* --- Before the release ----------------------------------------------------------------------- */

/* Starts with a worktree and --debug, and waits for a word of its progress. */
static bool start_in_tree(running *r, const char *tree, const char *word)
{
    *r = (running){.process = {.out_fd = -1, .err_fd = -1}};
    return cordon_start(
               &(call){.argv = SHELL("echo ran"), .options = WORDS("--debug", "--worktree", tree)},
               r) &&
           CHECK(child_hear_error(&r->process, word, REAL_PATIENCE_MS));
}

static void TO2_a_worktree_that_becomes_a_symlink(void)
{
    const char *tree = real_worktree("swapped");
    const char *other = real_worktree("target");
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    if (!start_in_tree(&r, tree, "create:"))
        return;
    CHECK(rename(tree, real_path("swapped-away")) == 0 && symlink(other, tree) == 0);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "refused", 126);
    /* Itself, or what is kept of it: whichever is the first to be looked at after the change. */
    CHECK_CONTAINS(receipt_text(&o, "result.refusal.fact"), "worktree");
    CHECK_STR(receipt_text(&o, "result.refusal.code"), "CORDON_REFUSED_WORKTREE");
    CHECK_STR(outcome_out(&o), "");
    EXPECT_NOTHING_LEFT(&o);
}

static void TO1_a_worktree_that_is_gone(void)
{
    const char *tree = real_worktree("removed");
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    if (!start_in_tree(&r, tree, "create:"))
        return;
    CHECK(rmdir(tree) == 0);
    if (!cordon_end(&r, &o))
        return;
    CHECK(o.process.status == 125 || o.process.status == 126);
    CHECK_CONTAINS(outcome_err(&o), tree);
    CHECK_STR(outcome_out(&o), "");
    CHECK(access(tree, F_OK) != 0); /* nobody made it again */
    EXPECT_NOTHING_LEFT(&o);
}

/* --- Foreign objects -------------------------------------------------------------------------- */

/* Same owner, invocation and role, and a name like ours; but another token. */
static void a_look_alike_is_neither_adopted_nor_removed(void)
{
    char foreign[65] = "";
    char labels[512];
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    cordon_auto(cordon_container_facts) step = {0};
    cordon_auto(cordon_container_facts) after = {0};
    cordon_err err = CORDON_ERR_INIT;
    real_ids ids;
    if (!start_sleeper(&r, &ids))
        return;
    REQUIRE_OK(real.ops->container_inspect(real.impl, ids.step, real_soon(), &step, &err), err);
    (void)snprintf(labels, sizeof labels,
                   "{\"" CORDON_LABEL_OWNER "\":\"uid-0\",\"" CORDON_LABEL_ROLE "\":\"step\","
                   "\"" CORDON_LABEL_INVOCATION "\":\"%s\","
                   "\"" CORDON_LABEL_TOKEN "\":\"00000000000000000000000000000000\"}",
                   cordon_fact_map_get(&step.labels, CORDON_LABEL_INVOCATION));
    CHECK(real_foreign_container("cordon-step-look-alike", NULL, labels, foreign));
    CHECK(kill(r.process.pid, SIGTERM) == 0);
    if (cordon_end(&r, &o)) {
        EXPECT_KIND(&o, "cancelled", 143);
        CHECK(receipt_true(&o, "cleanup.complete"));
    }
    CHECK_OK(real.ops->container_inspect(real.impl, foreign, real_soon(), &after, &err), err);
    CHECK_INT(after.state, CORDON_STATE_RUNNING);
    real_remove_container(foreign);
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("tamper", TEST(a_container_that_is_renamed_killed_or_removed),
          TEST(a_command_that_is_executed_in_the_step), TEST(a_second_reader_of_the_step),
          TEST(a_foreign_container_on_the_vendor_network), TEST(a_pause_an_update_or_a_copy),
          TEST(a_step_that_is_disconnected), TEST(TO2_a_worktree_that_becomes_a_symlink),
          TEST(TO1_a_worktree_that_is_gone), TEST(a_look_alike_is_neither_adopted_nor_removed))

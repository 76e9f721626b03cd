/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several steps of one run: what one leaves in home and temp the next one finds, within a bound;
 * the first that fails is the last; nothing of it is there afterwards; and whoever kills the
 * keeper, removes what it holds, or joins in, ends the run.
 */
#include "real.h"

#include <stdlib.h>
#include <unistd.h>

#include "owner.h"

/* A file of steps: each a shell's script without quotes; and all of them approved. */
typedef struct plot {
    char steps[128]; /* its path */
    char approved[2048];
} plot;

static bool make_plot(const char *const *scripts, plot *ret)
{
    char text[2048] = "[";
    size_t at = 1;
    size_t used = 0;
    for (size_t i = 0; scripts[i]; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s{\"run\": [\"sh\", \"-c\", \"%s\"]}",
                               i ? ", " : "", scripts[i]);
        used += (size_t)snprintf(ret->approved + used, sizeof ret->approved - used,
                                 "%s[\"sh\", \"-c\", \"%s\"]", i ? ", " : "", scripts[i]);
    }
    (void)snprintf(text + at, sizeof text - at, "]\n");
    (void)snprintf(ret->steps, sizeof ret->steps, "%s", real_path("steps.json"));
    (void)unlink(ret->steps);
    return real_file("steps.json", text);
}

/* limits: a small scratch. */
static bool play(const plot *p, const char *network, outcome *o)
{
    return cordon_call(&(call){.options = WORDS("--steps", p->steps),
                               .approved = p->approved,
                               .network = network,
                               .limits = "grace = \"1s\"; scratch = \"4MiB\";"},
                       o);
}

static void a_second_step_sees_the_file_of_the_first(const char *network)
{
    plot p;
    cordon_auto(outcome) o = {0};
    if (!make_plot(WORDS("echo kept > $HOME/x", "cat $TMPDIR/x; rm $HOME/x", "ls -A /tmp"), &p) ||
        !play(&p, network, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "kept\n");
    CHECK_STR(receipt_text(&o, "steps.2.kind"), "exited");
    CHECK_STR(receipt_text(&o, "steps.0.command"), "runner");
    EXPECT_NOTHING_LEFT(&o);
}

static void steps_with_the_vendors_network_share_home_and_temp(void)
{
    a_second_step_sees_the_file_of_the_first("vendor");
}

static void steps_without_a_network_share_home_and_temp(void)
{
    a_second_step_sees_the_file_of_the_first("none");
}

static void what_is_shared_is_bounded_over_all_steps(void)
{
    plot p;
    cordon_auto(outcome) o = {0};
    if (!make_plot(WORDS("head -c 3000000 /dev/zero > /tmp/a",
                         "head -c 3000000 /dev/zero > /tmp/b || exit 9", "true"),
                   &p) ||
        !play(&p, "none", &o))
        return;
    EXPECT_EXITED(&o, 9);
    CHECK_STR(receipt_text(&o, "steps.1.kind"), "exited");
    CHECK_STR(receipt_text(&o, "steps.2.kind"), "not_reached");
    EXPECT_NOTHING_LEFT(&o);
}

static void nothing_in_it_is_executed(void)
{
    plot p;
    cordon_auto(outcome) o = {0};
    if (!make_plot(WORDS("cp /bin/busybox /tmp/b && chmod 755 /tmp/b", "/tmp/b true || exit 5"),
                   &p) ||
        !play(&p, "none", &o))
        return;
    EXPECT_EXITED(&o, 5);
    EXPECT_NOTHING_LEFT(&o);
}

/* An argv that is not approved is refused before anything is made, whichever step it is. */
static void every_step_is_approved_or_none_runs(void)
{
    plot p;
    cordon_auto(outcome) o = {0};
    if (!make_plot(WORDS("echo first", "echo second"), &p))
        return;
    *strstr(p.approved, ", [") = '\0';
    if (!play(&p, "none", &o))
        return;
    EXPECT_KIND(&o, "refused", 126);
    EXPECT_LINE(&o, "step 2", "not approved");
    CHECK_STR(outcome_out(&o), "");
    EXPECT_NOTHING_LEFT(&o);
}

/* --- Meddling --------------------------------------------------------------------------------- */

static bool id_of_role(cordon_object_type type, const char *role, char ret_id[65])
{
    char label[96];
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(label, sizeof label, CORDON_LABEL_ROLE "=%s", role);
    if (real.ops->list_by_label(real.impl, type, label, real_soon(), &list, &err) != 0 ||
        list.count != 1)
        return TEST_RECORDF(false, "%zu objects are the %s: %s", list.count, role, err.message);
    (void)snprintf(ret_id, 65, "%s", list.items[0].id);
    return true;
}

/* The second step runs, and waits. */
static bool start_waiting(running *r, plot *p)
{
    char wait[128];
    *r = (running){.process = {.out_fd = -1, .err_fd = -1}};
    (void)snprintf(wait, sizeof wait, "echo ready; sleep %s", real_marker());
    return make_plot(WORDS("true", wait), p) &&
           cordon_start(&(call){.options = WORDS("--debug", "--steps", p->steps),
                                .approved = p->approved,
                                .network = "none"},
                        r) &&
           CHECK(child_hear(&r->process, "ready", REAL_PATIENCE_MS));
}

static void meddle(const char *method, const char *what, const char *body, const char *part)
{
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    plot p;
    char id[65];
    char path[256];
    if (!start_waiting(&r, &p) || !id_of_role(CORDON_OBJECT_CONTAINER, "keeper", id))
        return;
    (void)snprintf(path, sizeof path, "/containers/%s%s", id, what);
    CHECK(rest_ok(method, path, body));
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "tampered", 126);
    CHECK_CONTAINS(outcome_err(&o), part);
    CHECK_STR(receipt_text(&o, "result.refusal.code"), "CORDON_REFUSED_CHANGED");
    CHECK(!real_process_left());
    EXPECT_NOTHING_LEFT(&o);
}

static void a_keeper_that_is_killed_ends_the_run(void)
{
    meddle("POST", "/kill?signal=KILL", NULL, "keeper");
}

static void a_keeper_that_is_removed_ends_the_run(void)
{
    meddle("DELETE", "?force=true", NULL, "keeper");
}

/* A container of somebody else's that mounts the scratch while a step runs. */
static void whoever_joins_in_ends_the_run(void)
{
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    plot p;
    char name[65];
    char path[256];
    char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    static const char *const words[] = {"/bin/sleep", "60"};
    if (!start_waiting(&r, &p) || !id_of_role(CORDON_OBJECT_VOLUME, "scratch", name))
        return;
    const cordon_mount_spec mount = {
        .type = CORDON_MOUNT_VOLUME, .source = name, .target = "/stolen", .no_exec = true};
    cordon_container_spec thief = {.name = "steps-thief",
                                   .image_id = strchr(real.image, ':') + 1,
                                   .entrypoint = {words, 2},
                                   .user = "0:0",
                                   .working_dir = "/",
                                   .hostname = "thief",
                                   .userns = CORDON_USERNS_HOST,
                                   .mounts = &mount,
                                   .mount_count = 1,
                                   .limits = {.open_files = 64, .user_processes = 64}};
    REQUIRE_OK(real.ops->container_create(real.impl, &thief, real_soon(), &id, &err), err);
    REQUIRE_OK(real.ops->container_start(real.impl, id, real_soon(), &err), err);
    if (cordon_end(&r, &o)) {
        EXPECT_KIND(&o, "tampered", 126);
        CHECK_CONTAINS(outcome_err(&o), "scratch.");
        CHECK(!receipt_true(&o, "cleanup.complete"));
        CHECK_STR(receipt_text(&o, "cleanup.left.0.type"), "volume");
    }
    (void)snprintf(path, sizeof path, "/containers/%s?force=true&v=true", id);
    CHECK(rest_ok("DELETE", path, NULL));
    (void)snprintf(path, sizeof path, "/volumes/%s", name);
    CHECK(rest_ok("DELETE", path, NULL));
    free(id);
}

REAL_MAIN("steps", TEST(steps_with_the_vendors_network_share_home_and_temp),
          TEST(steps_without_a_network_share_home_and_temp),
          TEST(what_is_shared_is_bounded_over_all_steps), TEST(nothing_in_it_is_executed),
          TEST(every_step_is_approved_or_none_runs), TEST(a_keeper_that_is_killed_ends_the_run),
          TEST(a_keeper_that_is_removed_ends_the_run), TEST(whoever_joins_in_ends_the_run))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases TO1 to TO6, RL1 and RL2 over real engines: what changes between Cordon's looks at it, done
 * at the moment where it matters (play.h), and who owns what a command makes. Each ends in a
 * refusal by its name, or in a run that shows nothing of the change.
 */
#include "play.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP CORDON_ROLE_STEP

/* What somebody does at one request of the run; when it is asked, or once it is answered. */
typedef struct deed {
    play_call call;
    bool answered;
    bool (*act)(struct deed *d, liar_exchange *x);
    play *p;
    bool done;
} deed;

static void do_it(deed *d, play *p, const play_request *r, liar_exchange *x, bool answered)
{
    if (r->call != d->call || r->role != STEP || r->nth != 1 || answered != d->answered)
        return;
    d->p = p;
    d->done = d->act(d, x);
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    do_it(p->hooks.context, p, r, x, false);
    return LIAR_PASS;
}

static liar_word on_answer(play *p, const play_request *r, liar_exchange *x)
{
    do_it(p->hooks.context, p, r, x, true);
    return LIAR_PASS;
}

/* A run during which it is done; starts counts the step's starts that were asked for. */
static bool run_with(deed *d, call what, outcome *ret_outcome, unsigned *ret_starts)
{
    play p;
    const play_hooks hooks = {.context = d, .ask = on_ask, .answer = on_answer};
    bool ok = play_begin(&p, what, &hooks) && play_end(&p, ret_outcome);
    *ret_starts = p.counts[PLAY_START][STEP];
    return ok && CHECK(d->done);
}

static void expect_refused(const outcome *o, const char *code, const char *part)
{
    EXPECT_KIND(o, "refused", 126);
    CHECK_STR(receipt_text(o, "result.refusal.code"), code);
    CHECK_CONTAINS(outcome_err(o), part);
    CHECK_STR(outcome_out(o), "");
    EXPECT_NOTHING_LEFT(o);
}

/* --- TO1, TO2 --------------------------------------------------------------------------------- */

static bool remove_tree(deed *d, liar_exchange *x)
{
    (void)d;
    (void)x;
    return rename(real_path("to/tree"), real_path("to/away")) == 0;
}

static bool link_tree(deed *d, liar_exchange *x)
{
    (void)d;
    (void)x;
    return rename(real_path("to/tree"), real_path("to/away")) == 0 &&
           symlink(real_path("elsewhere"), real_path("to/tree")) == 0;
}

/* The path is the same, and leads somewhere else: elsewhere has a "tree", too. */
static bool link_parent(deed *d, liar_exchange *x)
{
    (void)d;
    (void)x;
    return rename(real_path("to"), real_path("to-away")) == 0 &&
           symlink(real_path("elsewhere"), real_path("to")) == 0;
}

static bool replace_tree(deed *d, liar_exchange *x)
{
    (void)d;
    (void)x;
    return rename(real_path("to/tree"), real_path("to/away")) == 0 &&
           mkdir(real_path("to/tree"), 0755) == 0;
}

static bool sweep(const char *name)
{
    const child_spec spec = {.argv = WORDS("rm", "-rf", real_path(name))};
    cordon_auto(child) rm;
    return child_start(&spec, &rm) && CHECK(child_finish(&rm, REAL_PATIENCE_MS));
}

static bool make_trees(void)
{
    return sweep("to") && sweep("to-away") && sweep("elsewhere") && real_worktree("to") &&
           real_worktree("to/tree") && real_worktree("elsewhere") &&
           real_worktree("elsewhere/tree");
}

static void check_tree(bool (*act)(deed *, liar_exchange *), const char *phase)
{
    deed d = {.call = PLAY_CREATE, .answered = true, .act = act};
    cordon_auto(outcome) o = {0};
    unsigned starts = 0;
    const char *tree = real_path("to/tree");
    if (!make_trees() || !run_with(&d,
                                   (call){.argv = SHELL("echo ran"),
                                          .options = WORDS("--phase", phase, "--worktree", tree)},
                                   &o, &starts))
        return;
    expect_refused(&o, "CORDON_REFUSED_WORKTREE", tree);
    CHECK_INT(starts, 0);
    if (act == remove_tree)
        CHECK(access(tree, F_OK) != 0);
}

static void TO1_a_worktree_that_is_gone_after_create_is_never_started_with(void)
{
    check_tree(remove_tree, "review");
    check_tree(remove_tree, "execute");
}

static void TO2_a_worktree_or_parent_that_was_replaced_is_never_started_with(void)
{
    check_tree(link_tree, "execute");
    check_tree(link_parent, "execute");
    check_tree(replace_tree, "execute");
}

/* --- TO3 -------------------------------------------------------------------------------------- */

/* In the engines' own mount namespace: Cordon, outside of it, cannot see what is mounted there. */
static bool in_engines_world(const char *const *argv)
{
    char option[128];
    const char *words[16] = {"nsenter"};
    size_t count = 1;
    (void)snprintf(option, sizeof option, "--mount=%s", real_variable("CORDON_TEST_MNTNS"));
    for (words[count++] = option; *argv && count < 15; argv++)
        words[count++] = *argv;
    const child_spec spec = {.argv = words};
    cordon_auto(child) c;
    return child_start(&spec, &c) && CHECK(child_finish(&c, REAL_PATIENCE_MS)) &&
           TEST_RECORDF(c.status == 0, "%s: %.300s", words[2], cordon_buf_text(&c.err));
}

static void TO3_a_mount_below_the_worktree_cannot_be_written_in_a_reading_phase(void)
{
    const char *tree = real_worktree("to3");
    const char *below = real_worktree("to3/below");
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    if (!in_engines_world(WORDS("mount", "-t", "tmpfs", "-o", "mode=777,size=1m", "tmpfs", below)))
        return;
    if (cordon_call(&(call){.argv = SHELL("ls below; echo x >below/new; echo x >new; ls below"),
                            .options = WORDS("--phase", "review", "--worktree", tree)},
                    &o)) {
        CHECK_STR(outcome_out(&o), "");
        /* The kernel lets no user namespace take a folder without what is mounted below it. */
        if (strcmp(real.word, "rootless") == 0) {
            EXPECT_KIND(&o, "not_started", 125);
        } else {
            EXPECT_EXITED(&o, 0);
            CHECK_CONTAINS(outcome_err(&o), "below/new: Read-only file system");
        }
    }
    CHECK(in_engines_world(WORDS("umount", below)));
    EXPECT_NOTHING_LEFT(&o);
}

/* --- TO4 -------------------------------------------------------------------------------------- */

static bool add_proxy(deed *d, liar_exchange *x)
{
    (void)d;
    if (real_is_docker())
        return play_edit(x, "$.Env", NULL, "\"HTTP_PROXY=http://x.test:1\"");
    return play_edit(x, "$.env", NULL, "\"HTTP_PROXY\":\"http://x.test:1\"");
}

static void TO4_a_proxy_variable_beyond_the_plan_refuses(void)
{
    deed d = {.call = PLAY_CREATE, .act = add_proxy};
    cordon_auto(outcome) o = {0};
    unsigned starts = 0;
    if (!run_with(&d, (call){.argv = WORDS("env")}, &o, &starts))
        return;
    expect_refused(&o, "CORDON_REFUSED_MISMATCH", "step.environment");
    CHECK_INT(starts, 0);
}

/* Podman's service hands its own proxy variables on, and containers.conf adds entries. */
#define SERVICE                                                                                    \
    "sed 's/^\\[containers\\]/&\\nenv = [\"ADDED=by-conf\", \"https_proxy=http:\\/\\/y.test\"]/'"  \
    " $2 >$1.conf && chmod 644 $1.conf && export CONTAINERS_CONF=$1.conf"                          \
    " HTTPS_PROXY=http://x.test http_proxy=http://x.test TMPDIR=${1%/*}/tmp &&"                    \
    " exec podman system service -t 10 unix://$1"

/* A second service over the same storage; it ends by itself when nobody speaks to it. */
static bool start_service(const char *socket, child *ret_child)
{
    bool rootless = strcmp(real.word, "rootless") == 0;
    char conf[256] = "/etc/containers/containers.conf";
    if (rootless)
        (void)snprintf(conf, sizeof conf, "%s/.config/containers/containers.conf",
                       real_variable("CORDON_TEST_ROOTLESS_HOME"));
    const child_spec spec = {.argv = WORDS(CORDON_TEST_ENGINES "/enter", "--state",
                                           real_variable("CORDON_TEST_STATE"),
                                           rootless ? "--rootless" : "--world", "sh", "-c", SERVICE,
                                           "sh", socket, conf)};
    (void)unlink(socket);
    if (!child_start(&spec, ret_child))
        return false;
    for (int i = 0; i < 600 && access(socket, F_OK) != 0; i++)
        (void)usleep(50000);
    return TEST_RECORDF(access(socket, F_OK) == 0, "no service: %.300s",
                        cordon_buf_text(&ret_child->err));
}

static bool keep_service_proxies(deed *d, liar_exchange *x)
{
    (void)d;
    return play_edit(x, "$.httpproxy", "true", NULL);
}

/* One run as it is, and one for which the service was told to hand its variables on. */
static void check_service(const char *endpoint)
{
    deed d = {.call = PLAY_CREATE, .act = keep_service_proxies};
    cordon_auto(outcome) plain = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    const char *kept = real.endpoint;
    unsigned starts = 0;
    if (cordon_call(&(call){.argv = WORDS("env"), .endpoint = endpoint}, &plain)) {
        EXPECT_EXITED(&plain, 0);
        CHECK_CONTAINS(outcome_out(&plain), "HTTPS_PROXY=http://10.213.");
        TEST_RECORDF(!strstr(outcome_out(&plain), ".test") && !strstr(outcome_out(&plain), "ADDED"),
                     "the service's own: %.500s", outcome_out(&plain));
    }
    real.endpoint = endpoint;
    if (run_with(&d, (call){.argv = WORDS("env")}, &o, &starts))
        expect_refused(&o, "CORDON_REFUSED_MISMATCH", "step.environment");
    real.endpoint = kept;
}

static void TO4_what_a_service_or_containers_conf_adds_never_arrives(void)
{
    char endpoint[256];
    char conf[264];
    cordon_auto(child) service = {.out_fd = -1, .err_fd = -1};
    if (real_is_docker())
        return; /* a daemon's own proxies are for its pulls */
    (void)snprintf(endpoint, sizeof endpoint, "%.*s/to4.sock",
                   (int)(strrchr(real.endpoint, '/') - real.endpoint), real.endpoint);
    if (start_service(endpoint + strlen("unix://"), &service))
        check_service(endpoint);
    (void)unlink(endpoint + strlen("unix://"));
    (void)snprintf(conf, sizeof conf, "%s.conf", endpoint + strlen("unix://"));
    (void)unlink(conf);
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

/* --- TO5, TO6 --------------------------------------------------------------------------------- */

/* "localhost/bb@sha256:<digest>", as the engine itself tells; false where it has none. */
static bool repository_digest(char ret_pin[160])
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (!CHECK_OK(real.ops->image_resolve(real.impl, real.image, real_soon(), &facts, &err), err))
        return false;
    for (size_t i = 0; i < facts.digests.count; i++) {
        if (strstr(facts.digests.items[i], "localhost/bb@"))
            return snprintf(ret_pin, 160, "%s", facts.digests.items[i]) < 160;
    }
    return false;
}

/* The tag leads to the guard's image for a moment. */
static bool move_tag(const char *to)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/images/%s/tag?repo=localhost/bb&tag=latest", to);
    return rest_ok("POST", path, NULL);
}

static void expect_image(const outcome *o)
{
    EXPECT_EXITED(o, 0);
    CHECK_STR(outcome_out(o), "ran\n");
    CHECK_STR(receipt_text(o, "image.id"), real.image + strlen("sha256:"));
}

/* A tag is no pin (real_bad_input.c); an id or a digest never follows one that moves. */
static void TO5_a_pin_does_not_follow_a_tag_that_moves(void)
{
    char pin[160] = "";
    bool has_digest = repository_digest(pin);
    cordon_auto(outcome) by_digest = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) by_id = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) moved = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) probed = {.process = {.out_fd = -1, .err_fd = -1}};
    const call by_pin = {.argv = WORDS("echo", "ran"), .image = pin};
    CHECK(has_digest || real_is_docker()); /* Docker has digests of what it pulled alone */
    if (has_digest && cordon_call(&by_pin, &by_digest))
        expect_image(&by_digest);
    if (!cordon_call(&(call){.verb = "probe", .options = WORDS("--json")}, &probed) ||
        !move_tag(receipt_text(&probed, "image.id")))
        return;
    if (cordon_call(&(call){.argv = WORDS("echo", "ran")}, &by_id))
        expect_image(&by_id);
    if (has_digest && cordon_call(&by_pin, &moved) && moved.process.status != 0) {
        CHECK(moved.process.status == 125 || moved.process.status == 126);
        CHECK_STR(outcome_out(&moved), "");
    } else if (has_digest) {
        expect_image(&moved);
    }
    CHECK(move_tag(real.image + strlen("sha256:")));
    EXPECT_NOTHING_LEFT(&by_id);
}

static bool lose_network(deed *d, liar_exchange *x)
{
    char path[160];
    int status = 0;
    (void)x;
    (void)snprintf(path, sizeof path, "/networks/%s", d->p->ids[CORDON_ROLE_VENDOR_NETWORK]);
    return rest_call("DELETE", path, NULL, &status, NULL) && status / 100 == 2;
}

static void TO6_a_network_that_is_gone_at_the_create_is_not_replaced_by_another(void)
{
    deed d = {.call = PLAY_CREATE, .act = lose_network};
    cordon_auto(outcome) o = {0};
    unsigned starts = 0;
    if (!run_with(&d, (call){.argv = WORDS("echo", "ran")}, &o, &starts))
        return;
    CHECK(o.process.status == 125 || o.process.status == 126);
    CHECK_INT(starts, 0);
    CHECK_STR(outcome_out(&o), "");
    EXPECT_NOTHING_LEFT(&o);
}

/* --- RL1 -------------------------------------------------------------------------------------- */

/* The engine hears of it when the run's deadline has passed: its container shows up late. */
static bool hold_create(deed *d, liar_exchange *x)
{
    (void)d;
    (void)x;
    (void)sleep(7);
    return true;
}

static void RL1_a_container_that_shows_up_late_is_found_and_removed(void)
{
    deed d = {.call = PLAY_CREATE, .act = hold_create};
    cordon_auto(outcome) o = {0};
    unsigned starts = 0;
    if (!run_with(&d, (call){.argv = WORDS("true"), .options = WORDS("--deadline", "5s")}, &o,
                  &starts))
        return;
    EXPECT_KIND(&o, "deadline", 124);
    CHECK_CONTAINS(outcome_err(&o), "create");
    CHECK_INT(starts, 0);
    CHECK(receipt_true(&o, "cleanup.complete"));
    EXPECT_NOTHING_LEFT(&o);
}

/* --- RL2 -------------------------------------------------------------------------------------- */

/*
 * owner   of the worktree
 * caller  who runs cordon
 * refused that mix is; else the file belongs to `owner`
 */
typedef struct mix {
    uid_t owner;
    uid_t caller;
    bool refused;
} mix;

static bool make_mix(const mix *m, const char *tree)
{
    char state[32];
    (void)snprintf(state, sizeof state, "state-%u", m->caller);
    (void)mkdir(real_path(state), 0700);
    return CHECK(chown(tree, m->owner, m->owner) == 0 &&
                 chown(real_path(state), m->caller, m->caller) == 0);
}

static void check_mix(const mix *m, const char *name)
{
    struct stat facts = {0};
    char file[64];
    const char *tree = real_worktree(name);
    cordon_auto(outcome) o = {0};
    (void)snprintf(file, sizeof file, "%s/made", name);
    if (!make_mix(m, tree) ||
        !cordon_call(&(call){.argv = SHELL("echo x >made"),
                             .uid = m->caller,
                             /* The engines' folder is root's here. */
                             .settings = m->caller ? "allow_unread_runtime = true;\n" : NULL,
                             .options = WORDS("--phase", "execute", "--worktree", tree)},
                     &o))
        return;
    bool made = lstat(real_path(file), &facts) == 0;
    TEST_RECORDF(o.process.status == (m->refused ? 126 : 0) && made == !m->refused,
                 "worktree of %u, cordon of %u: %d, made %d: %.300s", m->owner, m->caller,
                 o.process.status, made, outcome_err(&o));
    CHECK(!made || (facts.st_uid == m->owner && facts.st_gid == m->owner));
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

static void RL2_the_caller_owns_what_is_made_or_the_mix_is_refused(void)
{
    const uid_t own = real.uid;
    const mix rootful[] = {{own, 0, false}, {1000, 0, false}, {0, 0, true}};
    /* There every other owner is a stranger to the engine's user namespace. */
    const mix rootless[] = {{own, 0, false}, {own, own, false}, {1000, 0, true},
                            {0, 0, true},    {1000, own, true}, {0, own, true}};
    bool is_rootless = strcmp(real.word, "rootless") == 0;
    const mix *rows = is_rootless ? rootless : rootful;
    size_t count =
        is_rootless ? sizeof rootless / sizeof rootless[0] : sizeof rootful / sizeof rootful[0];
    for (size_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "mix-%zu", i);
        check_mix(&rows[i], name);
    }
}

REAL_MAIN("cases", TEST(TO1_a_worktree_that_is_gone_after_create_is_never_started_with),
          TEST(TO2_a_worktree_or_parent_that_was_replaced_is_never_started_with),
          TEST(TO3_a_mount_below_the_worktree_cannot_be_written_in_a_reading_phase),
          TEST(TO4_a_proxy_variable_beyond_the_plan_refuses),
          TEST(TO4_what_a_service_or_containers_conf_adds_never_arrives),
          TEST(TO5_a_pin_does_not_follow_a_tag_that_moves),
          TEST(TO6_a_network_that_is_gone_at_the_create_is_not_replaced_by_another),
          TEST(RL1_a_container_that_shows_up_late_is_found_and_removed),
          TEST(RL2_the_caller_owns_what_is_made_or_the_mix_is_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine that is not behind a local socket: by ssh, and by TCP with mutual TLS. A run works and
 * leaves nothing; what cannot be checked from afar is refused; a way that leads nowhere says so.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "ways.h"

/* What a way needs in the configuration: Podman's files are another machine's, as far as we know.
 */
static const char *settings(bool accept)
{
    static char text[256];
    bool hides = (real.facts.can & CORDON_CAN_SHOW_RUNTIME) != 0;
    (void)snprintf(text, sizeof text, "ssh_program = \"%s/ssh/bin/ssh\";\n%s", real.folder,
                   accept && hides ? "allow_unread_runtime = true;\n" : "");
    return text;
}

/* --- ssh -------------------------------------------------------------------------------------- */

static void keys_are_made(void)
{
    REQUIRE(ways_ssh());
}

static void a_run_works_through_ssh(void)
{
    cordon_auto(outcome) o = {0};
    const char *endpoint = ways_ssh_endpoint("there", NULL);
    const call what = {.endpoint = endpoint,
                       .settings = settings(true),
                       .options = WORDS("--debug"),
                       .argv = SHELL("echo out; exit 7")};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_EXITED(&o, 7);
    CHECK_STR(outcome_out(&o), "out\n");
    CHECK_CONTAINS(outcome_err(&o), "  engine: real: ");
    CHECK_CONTAINS(outcome_err(&o), endpoint);
    CHECK_CONTAINS(outcome_err(&o), ", because --engine is \"real\"");
    EXPECT_NOTHING_LEFT(&o);
    CHECK(!ways_ssh_forwards(NULL));
    CHECK(access(real_path("ssh/master"), F_OK) != 0); /* no connection is shared */
}

static void the_probe_passes_through_ssh(void)
{
    cordon_auto(outcome) o = {0};
    const call what = {
        .verb = "probe", .endpoint = ways_ssh_endpoint("there", NULL), .settings = settings(true)};
    REQUIRE(cordon_call(&what, &o));
    TEST_RECORDF(o.process.status == 0, "status %d: %s%s", o.process.status, outcome_out(&o),
                 outcome_err(&o));
    EXPECT_NOTHING_LEFT(&o);
}

/* Podman keeps to itself what only its files tell. */
static void what_only_local_files_tell_refuses(void)
{
    cordon_auto(outcome) o = {0};
    const call what = {.endpoint = ways_ssh_endpoint("there", NULL),
                       .settings = settings(false),
                       .argv = WORDS("true")};
    if ((real.facts.can & CORDON_CAN_SHOW_RUNTIME) == 0)
        return;
    REQUIRE(cordon_call(&what, &o));
    EXPECT_KIND(&o, "refused", 126);
    CHECK_CONTAINS(outcome_err(&o), "allow_unread_runtime");
    EXPECT_NOTHING_LEFT(&o);
}

static void a_worktree_is_not_on_that_machine(void)
{
    cordon_auto(outcome) o = {0};
    const call what = {.endpoint = ways_ssh_endpoint("there", NULL),
                       .settings = settings(true),
                       .options = WORDS("--worktree", real_worktree("tree")),
                       .argv = WORDS("true")};
    REQUIRE(cordon_call(&what, &o));
    CHECK(o.process.status == 125 || o.process.status == 126);
    EXPECT_LINE(&o, "is not on a local socket, so it cannot see", "run without --worktree");
    EXPECT_NOTHING_LEFT(&o);
}

static void a_way_that_leads_nowhere_says_so(void)
{
    const struct {
        const char *alias;
        const char *path;
        const char *says;
    } rows[] = {
        {"stranger", NULL, "Host key verification failed"},
        {"there", real_path("nowhere.sock"), "open failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(outcome) o = {0};
        const char *endpoint = ways_ssh_endpoint(rows[i].alias, rows[i].path);
        const call what = {.endpoint = endpoint, .settings = settings(true), .argv = WORDS("true")};
        REQUIRE(cordon_call(&what, &o));
        EXPECT_KIND(&o, "error", 125);
        EXPECT_LINE(&o, endpoint, rows[i].says);
        EXPECT_NOTHING_LEFT(&o);
        CHECK(!ways_ssh_forwards(rows[i].path));
    }
}

/* The command runs on, is collected through a new ssh, and the old one has gone with its cordon. */
static void a_killed_cordon_takes_its_ssh_along(void)
{
    cordon_auto(running) r = {0};
    cordon_auto(outcome) o = {0};
    const char *endpoint = ways_ssh_endpoint("there", NULL);
    char runtime[128];
    /* A killed Cordon leaves the folder of its private socket. */
    (void)snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", real.folder);
    const call what = {.endpoint = endpoint,
                       .variables = WORDS(runtime),
                       .settings = settings(true),
                       .argv = SHELL("echo up; sleep 600")};
    REQUIRE(cordon_start(&what, &r));
    TEST_RECORDF(child_hear(&r.process, "up\n", REAL_PATIENCE_MS), "no command: %.600s",
                 cordon_buf_text(&r.process.err));
    CHECK(ways_ssh_forwards(NULL));
    (void)kill(r.process.pid, SIGKILL);
    CHECK(child_finish(&r.process, REAL_PATIENCE_MS));
    for (int i = 0; i < 1000 && ways_ssh_forwards(NULL); i++)
        (void)usleep(20000);
    CHECK(!ways_ssh_forwards(NULL));
    const call collect = {.verb = "gc", .endpoint = endpoint, .settings = settings(true)};
    REQUIRE(cordon_call(&collect, &o));
    CHECK_INT(o.process.status, 0);
    EXPECT_NOTHING_LEFT(&o);
}

/* --- TCP -------------------------------------------------------------------------------------- */

/* The rest of an engine's group, as the configuration has it behind the endpoint's first quote. */
static const char *tcp_endpoint(int port, const char *client)
{
    static char texts[4][512];
    static unsigned next;
    char *text = texts[next++ % 4];
    (void)snprintf(
        text, sizeof texts[0],
        "tcp://127.0.0.1:%d\"; tls_ca = \"%s/tls/ca.pem\"; tls_cert = \"%s/tls/%s.pem\"; "
        "tls_key = \"%s/tls/%s-key.pem",
        port, real.folder, real.folder, client, real.folder, client);
    return text;
}

static void a_run_works_over_mutual_tls(void)
{
    cordon_auto(ways_tls) tls = {0};
    cordon_auto(outcome) o = {0};
    REQUIRE(ways_tls_start(&tls));
    const call what = {.endpoint = tcp_endpoint(tls.port, "client"),
                       .settings = settings(true),
                       .argv = SHELL("echo out; exit 7")};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_EXITED(&o, 7);
    CHECK_STR(outcome_out(&o), "out\n");
    EXPECT_NOTHING_LEFT(&o);
}

static void a_client_that_the_engine_does_not_know_is_not_served(void)
{
    cordon_auto(ways_tls) tls = {0};
    cordon_auto(outcome) o = {0};
    REQUIRE(ways_tls_start(&tls));
    const call what = {.endpoint = tcp_endpoint(tls.port, "other-client"),
                       .settings = settings(true),
                       .argv = WORDS("true")};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_KIND(&o, "error", 125);
    CHECK_CONTAINS(outcome_err(&o), "tcp://127.0.0.1:");
    EXPECT_NOTHING_LEFT(&o);
}

/* --- Names ------------------------------------------------------------------------------------ */

/* What an engine's own client would heed, and a run does not. */
#define DISTRACTIONS                                                                               \
    "DOCKER_API_VERSION=1.12", "http_proxy=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9",   \
        "ALL_PROXY=socks5://127.0.0.1:9", "DOCKER_TLS_VERIFY=1"

static void UX5_a_run_works_by_a_name_whatever_else_the_environment_holds(void)
{
    cordon_auto(ways_tls) tls = {0};
    cordon_auto(outcome) o = {0};
    REQUIRE(ways_tls_start(&tls) && ways_names(tls.port));
    const call what = {.engine = real_is_docker() ? "docker:far" : "podman:far",
                       .variables = WORDS(DISTRACTIONS, "DOCKER_HOST=unix:///nonexistent/d.sock"),
                       .settings = settings(true),
                       .options = WORDS("--debug"),
                       .argv = SHELL("exit 7")};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_EXITED(&o, 7);
    CHECK_CONTAINS(outcome_err(&o), "  engine: far: ");
    EXPECT_NOTHING_LEFT(&o);
}

static void a_run_works_by_a_variable_with_a_name(void)
{
    cordon_auto(ways_tls) tls = {0};
    cordon_auto(outcome) o = {0};
    REQUIRE(ways_tls_start(&tls) && ways_names(tls.port));
    const call what = {.engine = "",
                       .variables =
                           WORDS(DISTRACTIONS, real_is_docker() ? "DOCKER_CONTEXT=far"
                                                                : "CONTAINER_CONNECTION=far"),
                       .settings = settings(true),
                       .argv = SHELL("exit 7")};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_EXITED(&o, 7);
    EXPECT_NOTHING_LEFT(&o);
}

/* The engine of the configuration answers, and is not fallen back to. */
static void a_name_that_leads_nowhere_never_falls_back(void)
{
    static const struct {
        const char *variable;
        const char *says;
    } rows[] = {
        {"DOCKER_CONTEXT=nowhere", "/contexts/meta/"},
        {"CONTAINER_CONNECTION=nowhere", "/podman-connections.json"},
        {"DOCKER_HOST=unix:///nonexistent/d.sock", "no such socket"},
        {"CONTAINER_HOST=unix:///nonexistent/p.sock", "no such socket"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(outcome) o = {0};
        const call what = {
            .engine = "", .variables = WORDS(rows[i].variable), .argv = WORDS("true")};
        REQUIRE(cordon_call(&what, &o));
        EXPECT_KIND(&o, "error", 125);
        EXPECT_LINE(&o, rows[i].says);
        EXPECT_NOTHING_LEFT(&o);
    }
}

REAL_MAIN("real_reach", TEST(keys_are_made), TEST(a_run_works_through_ssh),
          TEST(the_probe_passes_through_ssh), TEST(what_only_local_files_tell_refuses),
          TEST(a_worktree_is_not_on_that_machine), TEST(a_way_that_leads_nowhere_says_so),
          TEST(a_killed_cordon_takes_its_ssh_along), TEST(a_run_works_over_mutual_tls),
          TEST(a_client_that_the_engine_does_not_know_is_not_served),
          TEST(UX5_a_run_works_by_a_name_whatever_else_the_environment_holds),
          TEST(a_run_works_by_a_variable_with_a_name),
          TEST(a_name_that_leads_nowhere_never_falls_back))

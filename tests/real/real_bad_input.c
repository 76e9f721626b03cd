/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad input over a real engine: a line that names the thing, the reason and the next step; the
 * right status and receipt; and nothing created. What needs no engine to be refused is in
 * unit.cli_bad_input.
 */
#include "real.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/udsd.h"

#define PARTS_MAX 4

/* One wrong thing and what must be said of it. */
typedef struct bad_input {
    call what;
    const char *kind;
    int status;
    const char *parts[PARTS_MAX + 1];
} bad_input;

static void check_all(const bad_input *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cordon_auto(outcome) o = {0};
        call what = table[i].what;
        if (!what.argv)
            what.argv = WORDS("true");
        if (!cordon_call(&what, &o))
            return;
        if (what.uid == 0)
            EXPECT_KIND(&o, table[i].kind, table[i].status);
        CHECK_INT(o.process.status, table[i].status);
        CHECK_STR(outcome_out(&o), "");
        expect_line(&o, table[i].parts, __LINE__, __FILE__);
        EXPECT_NOTHING_LEFT(&o);
    }
}

#define CHECK_ALL(table) check_all((table), sizeof(table) / sizeof((table)[0]))

static const char *endpoint_at(const char *path)
{
    static char texts[8][256];
    static unsigned next;
    char *text = texts[next++ % 8];
    (void)snprintf(text, sizeof texts[0], "unix://%s", path);
    return text;
}

/* A bound socket; without `alive` nobody listens at it any more. */
static bool make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    bool ok = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    return CHECK(ok);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

static void a_socket_that_is_none(void)
{
    const char *missing = real_path("no.sock");
    const char *dead = real_path("dead.sock");
    const char *folder = real_path("home");
    const char *file = real_path("plain");
    REQUIRE(make_socket(dead) && real_file("plain", "x"));
    const bad_input table[] = {
        {{.endpoint = endpoint_at(missing)},
         "error",
         125,
         {missing, "no such socket", "start the engine"}},
        {{.endpoint = endpoint_at(dead)},
         "error",
         125,
         {dead, "nothing listens", "start the engine"}},
        {{.endpoint = endpoint_at(folder)}, "error", 125, {folder, "directory"}},
        {{.endpoint = endpoint_at(file)}, "error", 125, {file, "not a socket"}},
    };
    CHECK_ALL(table);
}

static void a_socket_of_somebody_elses(void)
{
    const bad_input table[] = {
        {{.uid = 4999}, "error", 125, {real.endpoint + strlen("unix://"), "ermission denied"}},
    };
    CHECK_ALL(table);
}

static void an_engine_of_the_other_kind(void)
{
    const char *other =
        real_variable(real_is_docker() ? "CORDON_TEST_PODMAN" : "CORDON_TEST_DOCKER");
    const bad_input table[] = {
        {{.endpoint = other, .kind = real.ops->name},
         "error",
         125,
         {other, real_is_docker() ? "podman" : "docker"}},
    };
    CHECK_ALL(table);
}

static void an_engine_that_is_too_old(void)
{
    const udsd_step steps[] = {
        {.status = 200,
         .json = "OK",
         .flags = UDSD_REPEAT,
         .headers = real_is_docker() ? "Api-Version: 1.40\r\n" : "Libpod-Api-Version: 3.4.4\r\n"}};
    udsd *old = udsd_start(steps, 1);
    REQUIRE(old != NULL);
    const bad_input table[] = {
        {{.endpoint = endpoint_at(udsd_path(old))},
         "error",
         125,
         {udsd_path(old), real_is_docker() ? "1.40" : "3.4.4", real_is_docker() ? "1.41" : "4."}},
    };
    CHECK_ALL(table);
    udsd_stop(old);
}

/* --- Images ----------------------------------------------------------------------------------- */

#define NOBODYS "sha256:00000000000000000000000000000000000000000000000000000000000000aa"

static void an_image_that_is_not_there_or_not_pinned(void)
{
    const bad_input table[] = {
        {{.image = NOBODYS}, "error", 125, {NOBODYS, "never pulls", "pin"}},
        {{.image = "localhost/bb@" NOBODYS}, "error", 125, {NOBODYS, "never pulls"}},
        {{.image = "localhost/bb:latest"},
         "error",
         125,
         {"--image", "localhost/bb:latest", "not pinned"}},
        {{.image = "localhost/bb"}, "error", 125, {"--image", "not pinned"}},
        {{.image = "localhost/bb:latest@" NOBODYS}, "error", 125, {"--image", "no tag"}},
        {{.image = ""},
         "error",
         125,
         {"no image is pinned", "image inspect -f '{{.Id}}'", "images.runner", "--image"}},
    };
    CHECK_ALL(table);
}

/* --- Worktrees -------------------------------------------------------------------------------- */

/* OPTIONS for one worktree, in a phase that reads. */
#define TREE(path)                                                                                 \
    {                                                                                              \
        .options = WORDS("--worktree", (path))                                                     \
    }

static void a_worktree_that_must_not_be_one(void)
{
    const char *tree = real_worktree("tree");
    const char *link = real_path("link");
    const char *below_link = real_path("link/below");
    const char *holder = real_worktree("holder");
    const char *home = real_path("home");
    char engine_folder[192];
    REQUIRE(symlink(tree, link) == 0 && mkdir(real_path("tree/below"), 0755) == 0);
    REQUIRE(real_file("file", "") && make_socket(real_path("holder/any.sock")));
    (void)snprintf(engine_folder, sizeof engine_folder, "%s", real.endpoint + strlen("unix://"));
    *strrchr(engine_folder, '/') = '\0';
    const bad_input table[] = {
        {TREE(real_path("missing")), "error", 125, {"missing", "No such"}},
        {TREE(real_path("file")), "error", 125, {"/file", "not a "}},
        {TREE(link), "refused", 126, {link, "symlink"}},
        {TREE(below_link), "refused", 126, {link, "symlink"}},
        {TREE("/"), "refused", 126, {"/", "system"}},
        {TREE("/etc"), "refused", 126, {"/etc", "system"}},
        {TREE(home), "refused", 126, {home, "home"}},
        {TREE(real.folder), "refused", 126, {real.folder, "home"}},
        {TREE(holder), "refused", 126, {holder, "any.sock", "socket"}},
        {TREE(engine_folder), "refused", 126, {engine_folder, "socket"}},
    };
    CHECK_ALL(table);
}

/* Files would belong to somebody else: refused before anything is created. */
static void RL2_a_worktree_of_another_user_in_a_writing_phase(void)
{
    const char *tree = real_worktree("others");
    REQUIRE(chown(tree, 0, 0) == 0);
    const bad_input table[] = {
        {{.options = WORDS("--phase", "execute", "--worktree", tree)},
         "refused",
         126,
         {tree, "uid 0", "give the folder"}},
    };
    CHECK_ALL(table);
}

/* With what listens there a command could do anything, also where it cannot write. */
static void SL3_no_engine_socket_is_given_to_a_command(void)
{
    const char *socket = real.endpoint + strlen("unix://");
    const char *linked = real_worktree("linked");
    const char *deep = real_worktree("deep");
    char folder[192];
    (void)snprintf(folder, sizeof folder, "%s", socket);
    *strrchr(folder, '/') = '\0';
    REQUIRE(symlink(socket, real_path("linked/engine")) == 0);
    REQUIRE(mkdir(real_path("deep/a"), 0755) == 0 && symlink("/run", real_path("deep/a/r")) == 0);
    REQUIRE(make_socket(real_path("deep/a/own.sock")));
    const struct {
        const char *tree;
        const char *why;
    } trees[] = {
        {"/run", "system"},
        {folder, "socket"},
        {linked, "engine is a link to a socket"},
        {deep, "a/own.sock is a socket"},
    };
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        const bad_input table[] = {
            {{.options = WORDS("--phase", "review", "--worktree", trees[i].tree)},
             "refused",
             126,
             {trees[i].tree, trees[i].why}},
            {{.options = WORDS("--phase", "execute", "--worktree", trees[i].tree)},
             "refused",
             126,
             {trees[i].tree, trees[i].why}},
        };
        CHECK_ALL(table);
    }
}

/* --- Words ------------------------------------------------------------------------------------ */

static void a_word_that_nobody_knows(void)
{
    const bad_input table[] = {
        {{.options = WORDS("--vendor", "nobody")}, "error", 125, {"nobody", "vendor"}},
        {{.options = WORDS("--phase", "dreaming")}, "error", 125, {"dreaming", "planning"}},
        {{.settings = "colour = \"red\";\n"}, "error", 125, {"colour", ".conf:"}},
        {{.options = WORDS("--phase", "planning")}, "refused", 126, {"planning"}},
        {{.unapproved = true}, "refused", 126, {"true", "approve"}},
        {{.options = WORDS("--deadline", "1ms")}, "deadline", 124, {"deadline"}},
    };
    CHECK_ALL(table);
}

REAL_MAIN("bad_input", TEST(a_socket_that_is_none), TEST(a_socket_of_somebody_elses),
          TEST(an_engine_of_the_other_kind), TEST(an_engine_that_is_too_old),
          TEST(an_image_that_is_not_there_or_not_pinned), TEST(a_worktree_that_must_not_be_one),
          TEST(RL2_a_worktree_of_another_user_in_a_writing_phase),
          TEST(SL3_no_engine_socket_is_given_to_a_command), TEST(a_word_that_nobody_knows))

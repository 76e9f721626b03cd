/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon of our own for the time of a session: a shell script stands for podman. It comes up, it
 * does not, it ends at once, it ignores TERM; whatever it does, it and what it started are gone
 * afterwards, and so is its folder.
 */
#include "session.h"

#include <signal.h>
#include <sys/wait.h>

#include "support/folder.h"
#include "support/test.h"

/* What the engine would say: PROGRAM SOCKET. */
static int serve(const char *program, const char *socket_path, char ***ret_argv, cordon_err *err)
{
    char **argv = calloc(3, sizeof *argv);
    (void)err;
    if (!argv)
        return -1;
    argv[0] = strdup(program);
    argv[1] = strdup(socket_path);
    *ret_argv = argv;
    return 0;
}

static int serve_nothing(const char *program, const char *socket_path, char ***ret_argv,
                         cordon_err *err)
{
    (void)program, (void)socket_path, (void)ret_argv;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "not served");
}

static const cordon_engine_ops ops = {.serve = serve};

typedef struct rig {
    test_folder folder;
    cordon_service service;
    cordon_err err;
} rig;

static void rig_clear(rig *r)
{
    cordon_service_stop(&r->service);
    test_folder_remove(&r->folder);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

/* Starts a script; it is told its own folder as $D. */
static bool rig_start(rig *r, const char *body)
{
    char script[2048];
    if (!test_folder_make(&r->folder) || !test_subfolder(&r->folder, "run", 0700))
        return false;
    (void)snprintf(script, sizeof script, "#!/bin/sh\nD=%s\n%s\n", r->folder.path, body);
    return test_file(&r->folder, "podman", script, 0700) &&
           cordon_service_start(&ops, test_path(&r->folder, "podman"), test_path(&r->folder, "run"),
                                &r->service, &r->err) == 0;
}

static size_t entries(test_folder *folder, const char *name)
{
    struct stat facts;
    return stat(test_path(folder, name), &facts) == 0 ? (size_t)facts.st_nlink - 2 : 99;
}

static bool wait_for_file(test_folder *folder, const char *name)
{
    for (int i = 0; i < 500; i++) {
        if (access(test_path(folder, name), F_OK) == 0)
            return true;
        (void)usleep(10000);
    }
    return false;
}

static long read_number(test_folder *folder, const char *name)
{
    FILE *file = fopen(test_path(folder, name), "re");
    long number = -1;
    char line[32];
    if (file && fgets(line, sizeof line, file))
        number = strtol(line, NULL, 10);
    if (file)
        (void)fclose(file);
    return number;
}

/* Gone, or a zombie that whoever adopts orphans has not looked at yet. */
static bool is_over(long pid)
{
    char path[64];
    char line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    const char *state = strrchr(line, ')');
    return !read || (state && strncmp(state, ") Z", 3) == 0);
}

/* A socket by a program that every Debian has. */
#define MAKE_SOCKET                                                                                \
    "perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) "      \
    "or die; sleep 600' \"$1\" "

static void it_comes_up_and_goes_with_the_session(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "exec " MAKE_SOCKET) ? 0 : -1, r.err);
    pid_t pid = r.service.pid;
    CHECK_CONTAINS(r.service.socket_path, "/run/cordon-service-");
    CHECK_CONTAINS(r.service.socket_path, "/engine.sock");
    CHECK_INT(entries(&r.folder, "run"), 1);
    CHECK_OK(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err);
    cordon_service_stop(&r.service);
    CHECK(kill(pid, 0) != 0);
    CHECK_INT(entries(&r.folder, "run"), 0);
    CHECK_INT(r.service.pid, 0);
    cordon_service_stop(&r.service);
}

static void one_that_ends_at_once_is_unreachable(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "exit 3") ? 0 : -1, r.err);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err,
                CORDON_ERR_UNREACHABLE, "ended at once");
    cordon_service_stop(&r.service);
    CHECK_INT(entries(&r.folder, "run"), 0);
}

static void a_program_that_is_not_there_is_unreachable(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE(test_folder_make(&r.folder) && test_subfolder(&r.folder, "run", 0700));
    REQUIRE_OK(cordon_service_start(&ops, "/nonexistent/podman", test_path(&r.folder, "run"),
                                    &r.service, &r.err),
               r.err);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err,
                CORDON_ERR_UNREACHABLE, "ended at once");
}

static void one_that_never_comes_up_ends_at_the_deadline(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "exec sleep 600") ? 0 : -1, r.err);
    pid_t pid = r.service.pid;
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(100, -1), &r.err), r.err,
                CORDON_ERR_TIMEOUT, "engine");
    cordon_service_stop(&r.service);
    CHECK(kill(pid, 0) != 0);
}

static void a_file_in_place_of_the_socket_is_not_waited_out_as_one(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "echo x > \"$1\"; exec sleep 600") ? 0 : -1, r.err);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(300, -1), &r.err), r.err,
                CORDON_ERR_TIMEOUT, "engine");
}

static void a_socket_on_which_nobody_listens_yet_is_waited_for(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "exec perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and "
                             "bind(S, sockaddr_un($ARGV[0])) or die; sleep 600' \"$1\"")
                   ? 0
                   : -1,
               r.err);
    for (int i = 0; i < 2000 && access(r.service.socket_path, F_OK) != 0; i++)
        (void)usleep(10000);
    REQUIRE(access(r.service.socket_path, F_OK) == 0);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(300, -1), &r.err), r.err,
                CORDON_ERR_TIMEOUT, "engine");
}

static void one_that_ignores_term_is_killed_with_all_that_it_started(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "trap '' TERM\n(trap '' TERM; while :; do sleep 1; done) &\n"
                             "echo $! > $D/child\necho > $D/up\nwhile :; do sleep 1; done")
                   ? 0
                   : -1,
               r.err);
    REQUIRE(wait_for_file(&r.folder, "up"));
    pid_t pid = r.service.pid;
    long child = read_number(&r.folder, "child");
    REQUIRE(child > 1);
    cordon_service_stop(&r.service);
    CHECK(kill(pid, 0) != 0);
    CHECK(is_over(child));
}

static void it_gets_a_clean_process(void)
{
    cordon_auto(rig) r = {0};
    char line[64] = "";
    const int inherited = 77; /* a number that the shell uses for nothing; no CLOEXEC on purpose */
    int extra = open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(extra >= 0 && dup2(extra, inherited) == inherited);
    REQUIRE_OK(rig_start(&r, "ls /proc/$$/fd | sort -n | tr '\\n' ' ' > $D/fds.new\n"
                             "mv $D/fds.new $D/fds\nexec sleep 600")
                   ? 0
                   : -1,
               r.err);
    REQUIRE(wait_for_file(&r.folder, "fds"));
    (void)close(extra);
    (void)close(inherited);
    FILE *file = fopen(test_path(&r.folder, "fds"), "re");
    REQUIRE(file != NULL);
    CHECK(fgets(line, sizeof line, file) != NULL);
    (void)fclose(file);
    /* Its standard streams, and whatever the shell has for itself, but nothing of ours. */
    CHECK_CONTAINS(line, "0 1 2 ");
    TEST_RECORDF(strstr(line, " 77 ") == NULL, "descriptors: %s", line);
    CHECK(getpgid(r.service.pid) == r.service.pid);
}

static void an_engine_that_is_not_served_leaves_nothing(void)
{
    static const cordon_engine_ops none = {.serve = serve_nothing};
    cordon_auto(rig) r = {0};
    REQUIRE(test_folder_make(&r.folder) && test_subfolder(&r.folder, "run", 0700));
    CHECK_FAILS(
        cordon_service_start(&none, "/bin/true", test_path(&r.folder, "run"), &r.service, &r.err),
        r.err, CORDON_ERR_UNSUPPORTED, "not served");
    CHECK_INT(entries(&r.folder, "run"), 0);
    CHECK_INT(r.service.pid, 0);
}

static void without_a_place_for_the_socket_nothing_is_started(void)
{
    cordon_auto(rig) r = {0};
    CHECK_FAILS(cordon_service_start(&ops, "/bin/true", "/nonexistent/run", &r.service, &r.err),
                r.err, CORDON_ERR_NOTFOUND, "private folder");
    CHECK_INT(r.service.pid, 0);
}

static void what_it_said_is_told_made_printable(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_start(&r, "printf 'first\\nno \\033[31mspace\\r\\n' >&2; exit 3") ? 0 : -1,
               r.err);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err,
                CORDON_ERR_UNREACHABLE, "ended at once");
    CHECK_CONTAINS(r.err.message, "; it said: first no ?[31mspace");
}

static void one_that_says_very_much_is_not_held_up(void)
{
    cordon_auto(rig) r = {0};
    cordon_err err = CORDON_ERR_INIT;
    /* Beyond what is kept, a write fails; head has no say in whether the script goes on. */
    REQUIRE_OK(rig_start(&r, "head -c 4000000 /dev/zero | tr '\\0' x >&2; exec " MAKE_SOCKET) ? 0
                                                                                              : -1,
               r.err);
    CHECK_OK(cordon_service_await(&r.service, cordon_deadline_in_ms(60000, -1), &r.err), r.err);
    cordon_err_set(&err, CORDON_ERR_PROTOCOL, 0, "nobody there");
    cordon_service_explain(&r.service, &err);
    CHECK_INT(err.code, CORDON_ERR_PROTOCOL);
    CHECK_CONTAINS(err.message, "nobody there; it said: xxxx");
    CHECK(strlen(err.message) < 400);
}

/* Starts a script in the place of ssh; it finds the socket's path in $1. */
static bool rig_forward(rig *r, const char *body)
{
    char script[2048];
    if (!test_folder_make(&r->folder) || !test_subfolder(&r->folder, "run", 0700))
        return false;
    (void)snprintf(script, sizeof script,
                   "#!/bin/sh\nD=%s\necho \"$@\" > $D/words\n"
                   "while [ \"$1\" != -L ]; do shift; done\n"
                   "set -- \"${2%%%%:*}\"\n%s\n",
                   r->folder.path, body);
    if (!test_file(&r->folder, "ssh", script, 0700))
        return false;
    const cordon_service_route route = {.program = test_path(&r->folder, "ssh"),
                                        .endpoint = "ssh://me@h:2222/run/x.sock",
                                        .kind = CORDON_ENGINE_DOCKER};
    char run[512];
    (void)snprintf(run, sizeof run, "%s/run", r->folder.path);
    return cordon_service_forward(&route, run, &r->service, &r->err) == 0;
}

static void ssh_makes_the_private_socket_and_goes_with_the_session(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_forward(&r, "exec " MAKE_SOCKET) ? 0 : -1, r.err);
    pid_t pid = r.service.pid;
    CHECK(r.service.program == NULL); /* nothing that a later run would start to serve */
    CHECK_OK(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err);
    cordon_service_stop(&r.service);
    CHECK(kill(pid, 0) != 0);
    CHECK_INT(entries(&r.folder, "run"), 0);
}

static void an_ssh_that_is_not_let_in_says_why(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(rig_forward(&r, "echo 'me@h: Permission denied (publickey).' >&2; exit 255") ? 0
                                                                                            : -1,
               r.err);
    CHECK_FAILS(cordon_service_await(&r.service, cordon_deadline_in_ms(20000, -1), &r.err), r.err,
                CORDON_ERR_UNREACHABLE, "ssh ended before it forwarded the engine's socket");
    CHECK_CONTAINS(r.err.message, "it said: me@h: Permission denied (publickey).");
}

static void a_bad_endpoint_starts_no_ssh(void)
{
    cordon_auto(rig) r = {0};
    const cordon_service_route route = {
        .program = "/bin/true", .endpoint = "ssh://-h", .kind = CORDON_ENGINE_DOCKER};
    REQUIRE(test_folder_make(&r.folder) && test_subfolder(&r.folder, "run", 0700));
    CHECK_FAILS(cordon_service_forward(&route, test_path(&r.folder, "run"), &r.service, &r.err),
                r.err, CORDON_ERR_CONFIG, "the host's name");
    CHECK_INT(entries(&r.folder, "run"), 0);
    CHECK_INT(r.service.pid, 0);
}

CORDON_TEST_MAIN("service", TEST(it_comes_up_and_goes_with_the_session),
                 TEST(one_that_ends_at_once_is_unreachable),
                 TEST(a_program_that_is_not_there_is_unreachable),
                 TEST(one_that_never_comes_up_ends_at_the_deadline),
                 TEST(a_file_in_place_of_the_socket_is_not_waited_out_as_one),
                 TEST(a_socket_on_which_nobody_listens_yet_is_waited_for),
                 TEST(one_that_ignores_term_is_killed_with_all_that_it_started),
                 TEST(it_gets_a_clean_process), TEST(an_engine_that_is_not_served_leaves_nothing),
                 TEST(without_a_place_for_the_socket_nothing_is_started),
                 TEST(what_it_said_is_told_made_printable),
                 TEST(one_that_says_very_much_is_not_held_up),
                 TEST(ssh_makes_the_private_socket_and_goes_with_the_session),
                 TEST(an_ssh_that_is_not_let_in_says_why), TEST(a_bad_endpoint_starts_no_ssh))

/* SPDX-License-Identifier: Apache-2.0 */
/* The engine under test, the folder of a test program and its main; see real.h. */
#include "real.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit/endpoint.h"

extern const cordon_engine_ops cordon_docker_ops;
extern const cordon_engine_ops cordon_podman_ops;

real_engine real;

/* Any number that no account has; the rootless engine's user is its own. */
#define ROOTFUL_WRITER 4711
#define CASES_MAX      64

typedef struct real_choice {
    const char *word;
    const cordon_engine_ops *ops;
    const char *endpoint;
    const char *image;
} real_choice;

static const real_choice choices[] = {
    {"docker", &cordon_docker_ops, "CORDON_TEST_DOCKER", "CORDON_TEST_DOCKER_IMAGE"},
    {"podman", &cordon_podman_ops, "CORDON_TEST_PODMAN", "CORDON_TEST_PODMAN_IMAGE"},
    {"rootless", &cordon_podman_ops, "CORDON_TEST_ROOTLESS", "CORDON_TEST_ROOTLESS_IMAGE"},
};

bool real_is_docker(void)
{
    return real.ops->kind == CORDON_ENGINE_DOCKER;
}

cordon_deadline real_soon(void)
{
    return cordon_deadline_in_ms(REAL_PATIENCE_MS, -1);
}

const char *real_variable(const char *name)
{
    const char *value = getenv(name);
    TEST_RECORDF(value != NULL, "%s is not set; see tests/engines/README.md", name);
    return value ? value : "";
}

const char *real_path(const char *name)
{
    static char paths[128][192];
    static unsigned next;
    char *path = paths[next++ % 128];
    (void)snprintf(path, sizeof paths[0], "%s/%s", real.folder, name);
    return path;
}

bool real_file(const char *name, const char *text)
{
    FILE *file = fopen(real_path(name), "we");
    bool ok = file && fputs(text, file) >= 0;
    return CHECK(file && fclose(file) == 0 && ok);
}

const char *real_worktree(const char *name)
{
    const char *path = real_path(name);
    bool ok = mkdir(path, 0755) == 0 && chown(path, real.uid, real.uid) == 0;
    TEST_RECORDF(ok, "%s cannot be made", path);
    return path;
}

/* --- Processes ------------------------------------------------------------------------------- */

static bool command_line_has(const char *pid, const char *text)
{
    char path[64];
    char line[16384];
    (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, line, sizeof line) : -1;
    if (fd >= 0)
        (void)close(fd);
    return length > 0 && memmem(line, (size_t)length, text, strlen(text)) != NULL;
}

const char *real_marker(void)
{
    static char text[32];
    (void)snprintf(text, sizeof text, "98%08d", getpid());
    return text;
}

bool real_process_has(const char *text)
{
    bool found = false;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while (proc && (entry = readdir(proc)))
        found = found || (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
                          command_line_has(entry->d_name, text));
    if (proc)
        (void)closedir(proc);
    return found;
}

bool real_process_left(void)
{
    return real_process_has(real_marker());
}

/* --- Main ------------------------------------------------------------------------------------ */

static bool is_required(void)
{
    const char *ci = getenv("CI");
    const char *wanted = getenv("CORDON_REQUIRE_ENGINES");
    return test_same(ci, "true") || test_same(wanted, "1");
}

/* Loud, since a test that did not run has shown nothing. */
static int not_run(const char *why)
{
    printf("%s: %s\n", is_required() ? "FAILED" : "SKIPPED", why);
    return is_required() ? 1 : 77;
}

static const real_choice *choice_of(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof choices / sizeof choices[0]; i++) {
        if (strcmp(argv[1], choices[i].word) == 0)
            return &choices[i];
    }
    return NULL;
}

static uid_t writer(void)
{
    const char *text = getenv("CORDON_TEST_ROOTLESS_UID");
    char *end = NULL;
    if (strcmp(real.word, "rootless") != 0)
        return ROOTFUL_WRITER;
    return text ? (uid_t)strtoul(text, &end, 10) : 0;
}

static int open_engine(cordon_err *err)
{
    const cordon_engine_address address = {.endpoint = real.endpoint};
    if (real.ops->open(&address, real_soon(), &real.impl, err) != 0 ||
        real.ops->describe(real.impl, real_soon(), &real.facts, err) != 0)
        return -1;
    return cordon_endpoint_client(real.endpoint, NULL, NULL, NULL, &real.rest, err);
}

/* Every folder on the way is root's; others may pass, since a step's user must reach worktrees. */
static bool make_folder(void)
{
    (void)snprintf(real.folder, sizeof real.folder, "/var/tmp/cordon-real-XXXXXX");
    return mkdtemp(real.folder) && chmod(real.folder, 0755) == 0 &&
           mkdir(real_path("home"), 0700) == 0 && mkdir(real_path("vendors.d"), 0755) == 0;
}

static int drop(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts;
    (void)type;
    (void)where;
    return remove(path) == 0 ? 0 : -1;
}

static void close_engine(void)
{
    if (real.folder[0])
        (void)nftw(real.folder, drop, 16, FTW_DEPTH | FTW_PHYS);
    cordon_fact_list_clear(&real.baseline);
    cordon_engine_facts_clear(&real.facts);
    cordon_httpc_free(real.rest);
    if (real.impl)
        real.ops->close(real.impl);
}

/* First of every suite, so that what fails here is told like any other failure. */
static void the_engine_answers(void)
{
    cordon_err err = CORDON_ERR_INIT;
    real.uid = writer();
    REQUIRE_OK(open_engine(&err), err);
    REQUIRE(make_folder());
    REQUIRE(real_objects(&real.baseline));
}

static int run_suite(const char *suite, const test_case *cases, size_t count)
{
    test_case all[CASES_MAX] = {TEST(the_engine_answers)};
    if (count >= CASES_MAX)
        return 2;
    memcpy(all + 1, cases, count * sizeof *cases);
    int status = test_main(suite, all, count + 1);
    close_engine();
    return status;
}

int real_main(int argc, char **argv, const char *suite, const test_case *cases, size_t count)
{
    const real_choice *choice = choice_of(argc, argv);
    if (!choice) {
        (void)fprintf(stderr, "usage: %s docker|podman|rootless\n", argv[0]);
        return 2;
    }
    real = (real_engine){
        .word = choice->word,
        .endpoint = getenv(choice->endpoint),
        .image = getenv(choice->image),
        .ops = choice->ops,
    };
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (!real.endpoint || !real.image)
        return not_run("no engine is named; run this by tests/engines/with");
    if (geteuid() != 0)
        return not_run("the tests over real engines need root");
    return run_suite(suite, cases, count);
}

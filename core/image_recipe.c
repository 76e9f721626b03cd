/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and executing the recipes of images; see image_recipe.h. */
#include "image_recipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/buf.h"
#include "kit/hash.h"
#include "text_list.h"

#define RECIPE_POLL_MS  50
#define RECIPE_GRACE_MS 3000
#define RECIPE_ENV_MAX  64
#define RECIPE_PATH     "/usr/local/bin:/usr/bin:/bin"

void cordon_recipe_clear(cordon_recipe *recipe)
{
    free(recipe->program);
    *recipe = (cordon_recipe){0};
}

/* --- Finding -------------------------------------------------------------------------------- */

/* All files of the recipes, in the order in which they are hashed. */
static const char *const recipe_files[] = {"build", "cli.list", "codex-models"};

/* A line "CLI VERSION ARCHITECTURE PACKAGE DIGEST" in its first three words. */
typedef struct recipe_line {
    char cli[16];
    char version[33];
    char architecture[16];
} recipe_line;

static const char *take_word(const char *at, const char *end, char *ret_word, size_t size)
{
    size_t length = 0;

    while (at < end && *at == ' ')
        at++;
    while (at + length < end && at[length] != ' ')
        length++;
    (void)snprintf(ret_word, size, "%.*s", (int)(length < size ? length : 0), at);
    return at + length;
}

static void read_line(const char *at, const char *end, recipe_line *ret_line)
{
    at = take_word(at, end, ret_line->cli, sizeof ret_line->cli);
    at = take_word(at, end, ret_line->version, sizeof ret_line->version);
    (void)take_word(at, end, ret_line->architecture, sizeof ret_line->architecture);
}

/* What is looked for in the list, and what was seen of it. */
typedef struct recipe_search {
    const char *cli;
    const char *version;
    const char *architecture;
    char found[33];
    char known[160];
} recipe_search;

static void look_at(recipe_search *search, const recipe_line *line)
{
    size_t used = strlen(search->known);

    if (strcmp(line->cli, search->cli) != 0 ||
        strcmp(line->architecture, search->architecture) != 0)
        return;
    (void)snprintf(search->known + used, sizeof search->known - used, "%s%s", used > 0 ? ", " : "",
                   line->version);
    if (search->version == NULL || strcmp(line->version, search->version) == 0)
        (void)snprintf(search->found, sizeof search->found, "%s", line->version);
}

static void search_list(const char *text, size_t length, recipe_search *search)
{
    const char *end = text + length;

    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        recipe_line line = {0};

        stop = stop != NULL ? stop : end;
        if (*at != '#') {
            read_line(at, stop, &line);
            look_at(search, &line);
        }
        at = stop + 1;
    }
}

static int fail_search(const recipe_search *search, const char *folder, cordon_err *err)
{
    return CORDON_FAIL(
        err, CORDON_ERR_CONFIG,
        "%s%s%s on %s: no recipe in %s (it has: %s); choose one of these, or give the "
        "image's root by --from FILE",
        CORDON_QUOTE(search->cli), search->version != NULL ? " " : "",
        search->version != NULL ? CORDON_QUOTE(search->version) : "", search->architecture,
        CORDON_QUOTE(folder), search->known[0] != '\0' ? CORDON_QUOTE(search->known) : "none");
}

/* Reads one file of the recipes into the hash; the list is looked into besides. */
static int read_file(const cordon_trust *trust, const char *folder, const char *name,
                     cordon_sha256 *sha, recipe_search *search, cordon_err *err)
{
    cordon_autofree char *path = NULL;
    cordon_autofree char *text = NULL;
    size_t length = 0;

    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    if (cordon_trust_read(trust, path, NULL, &text, &length, err) != 0) {
        cordon_err_wrap(err, "the recipes of images");
        return -1;
    }
    cordon_sha256_update(sha, name, strlen(name) + 1);
    cordon_sha256_update(sha, &length, sizeof length);
    cordon_sha256_update(sha, text, length);
    if (strcmp(name, "cli.list") == 0)
        search_list(text, length, search);
    return 0;
}

int cordon_recipe_find(const cordon_trust *trust, const char *folder, const char *cli,
                       const char *version, const char *architecture, cordon_recipe *ret_recipe,
                       cordon_err *err)
{
    recipe_search search = {.cli = cli, .version = version, .architecture = architecture};
    cordon_auto(cordon_recipe) recipe = {0};
    uint8_t digest[CORDON_SHA256_BYTES];
    cordon_sha256 sha;

    cordon_sha256_init(&sha);
    for (size_t i = 0; i < sizeof recipe_files / sizeof recipe_files[0]; i++) {
        if (read_file(trust, folder, recipe_files[i], &sha, &search, err) != 0)
            return -1;
    }
    if (search.found[0] == '\0')
        return fail_search(&search, folder, err);
    cordon_sha256_final(&sha, digest);
    memcpy(recipe.digest, "sha256:", 7);
    cordon_hex_encode(digest, sizeof digest, recipe.digest + 7);
    memcpy(recipe.version, search.found, sizeof recipe.version);
    if (asprintf(&recipe.program, "%s/build", folder) < 0) {
        recipe.program = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    *ret_recipe = recipe;
    recipe = (cordon_recipe){0};
    return 0;
}

/* --- Executing ------------------------------------------------------------------------------ */

/* HOME and PATH, so that the package manager finds its own configuration, and what was given. */
static int make_environment(const cordon_host *host, const char *const *given,
                            cordon_text_list *list, cordon_err *err)
{
    const char *const own[][2] = {{"HOME=", host->home != NULL ? host->home : "/"},
                                  {"PATH=", host->path != NULL ? host->path : RECIPE_PATH},
                                  {"LC_ALL=", "C.UTF-8"}};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        cordon_autofree char *item = NULL;

        if (asprintf(&item, "%s%s", own[i][0], own[i][1]) < 0) {
            item = NULL;
            return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
        }
        if (cordon_text_list_add(list, item, err) != 0)
            return -1;
    }
    for (size_t i = 0; given != NULL && given[i] != NULL && i < RECIPE_ENV_MAX - 4; i++) {
        if (cordon_text_list_add(list, given[i], err) != 0)
            return -1;
    }
    return 0;
}

/* What the child needs; made before the fork, where memory may be asked for. */
typedef struct recipe_call {
    char *argv[5];
    char *envp[RECIPE_ENV_MAX];
    int log_fd;
    pid_t parent;
} recipe_call;

/* Between fork and exec: only async-signal-safe calls; no descriptor of ours is handed on. */
static void recipe_exec(const recipe_call *call)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != call->parent || null < 0)
        _exit(126);
    (void)dup2(call->log_fd >= 0 ? call->log_fd : null, STDERR_FILENO);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    (void)execve(call->argv[0], call->argv, call->envp);
    _exit(127);
}

/* All of its process group: asked first, so that it takes its own files away, then made to. */
static void recipe_kill(pid_t pid)
{
    cordon_deadline grace = cordon_deadline_in_ms(RECIPE_GRACE_MS, -1);
    int status;

    (void)kill(-pid, SIGTERM);
    while (waitpid(pid, &status, WNOHANG) == 0 && !cordon_deadline_passed(grace))
        (void)usleep(RECIPE_POLL_MS * 1000);
    (void)kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

static int recipe_wait(pid_t pid, const char *program, cordon_deadline dl, cordon_err *err)
{
    for (;;) {
        int status = 0;
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return 0;
        if (ended == pid) {
            (void)kill(-pid, SIGKILL);
            return CORDON_FAIL(err, CORDON_ERR_ENGINE,
                               "%s failed (status %d); what it said stands above",
                               CORDON_QUOTE(program),
                               WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
        if (cordon_deadline_check(dl, "making the root of the image", err) != 0) {
            recipe_kill(pid);
            return -1;
        }
        (void)usleep(RECIPE_POLL_MS * 1000);
    }
}

int cordon_recipe_run(const cordon_recipe *recipe, const cordon_host *host,
                      const cordon_image_build_options *options, const char *file,
                      cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_text_list) words = {0};
    cordon_auto(cordon_text_list) environment = {0};
    const char *const argv[] = {recipe->program, options->cli, recipe->version, file};
    recipe_call call = {.log_fd = options->log_fd, .parent = getpid()};
    pid_t pid;

    for (size_t i = 0; i < sizeof argv / sizeof argv[0]; i++) {
        if (cordon_text_list_add(&words, argv[i], err) != 0)
            return -1;
    }
    if (make_environment(host, options->environment, &environment, err) != 0)
        return -1;
    memcpy(call.argv, words.items, words.count * sizeof call.argv[0]);
    memcpy(call.envp, environment.items, environment.count * sizeof call.envp[0]);
    pid = fork();
    if (pid < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot start %s", CORDON_QUOTE(recipe->program));
    if (pid == 0)
        recipe_exec(&call);
    (void)setpgid(pid, pid);
    return recipe_wait(pid, recipe->program, dl, err);
}

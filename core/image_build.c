/* SPDX-License-Identifier: Apache-2.0 */
/* Making the image of an agent's CLI and putting it into an engine; see cordon/image.h. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "image_archive.h"
#include "image_recipe.h"
#include "image_rows.h"
#include "state_dir.h"

/* One build. */
typedef struct image_build {
    cordon_image_scope scope;
    const cordon_host *host;
    const cordon_image_build_options *options;
    cordon_trust trust;
    cordon_recipe recipe;
    char version[33];
    char *folder; /* private, for the recipe's tar; NULL: none was made */
    char *tar;
    int tar_fd;
} image_build;

static void image_build_clear(image_build *build)
{
    if (build->tar_fd >= 0)
        (void)close(build->tar_fd);
    if (build->tar != NULL)
        (void)unlink(build->tar);
    if (build->folder != NULL)
        (void)rmdir(build->folder);
    free(build->tar);
    free(build->folder);
    cordon_recipe_clear(&build->recipe);
}

__attribute__((format(printf, 3, 4))) static void say(const image_build *build, const char *word,
                                                      const char *format, ...)
{
    char text[512];
    va_list arguments;

    if (build->options->progress == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    build->options->progress(build->options->progress_context, word, text);
}

static int check_cli(const char *cli, cordon_err *err)
{
    if (cli != NULL && (strcmp(cli, "claude") == 0 || strcmp(cli, "codex") == 0))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: no CLI that Cordon knows; use claude or codex",
                       CORDON_QUOTE(cli != NULL ? cli : ""));
}

static int check_version(const char *version, cordon_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-+";
    size_t length = strlen(version);

    if (length > 0 && length < sizeof(((image_build *)0)->version) && version[0] >= '0' &&
        version[0] <= '9' && strspn(version, allowed) == length)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: not a version such as 2.1.332",
                       CORDON_QUOTE(version));
}

/* A folder of ours alone, below the state folder: who could write there could put in another root.
 */
static int make_folder(image_build *build, cordon_err *err)
{
    const char *state = build->host->state_dir;
    int fd = cordon_state_open(state, err);

    if (fd < 0)
        return -1;
    (void)close(fd);
    if (asprintf(&build->folder, "%s/image-XXXXXX", state) < 0) {
        build->folder = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    if (mkdtemp(build->folder) == NULL) {
        int errnum = errno;
        (void)CORDON_FAIL_ERRNO(err, errnum, "cannot make %s", CORDON_QUOTE(build->folder));
        free(build->folder);
        build->folder = NULL;
        return -1;
    }
    if (asprintf(&build->tar, "%s/root.tar", build->folder) < 0) {
        build->tar = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    return 0;
}

/* A recipe makes the root for the machine that it runs on. */
static int check_machine(const char *architecture, cordon_err *err)
{
    struct utsname name;
    const char *here = "unknown";

    if (uname(&name) == 0)
        here = strcmp(name.machine, "x86_64") == 0    ? "amd64"
               : strcmp(name.machine, "aarch64") == 0 ? "arm64"
                                                      : "unknown";
    if (strcmp(here, architecture) == 0)
        return 0;
    return CORDON_FAIL(
        err, CORDON_ERR_UNSUPPORTED,
        "the engine's machine is %s and this one is not; make the image's root there "
        "and give it by --from FILE",
        CORDON_QUOTE(architecture));
}

static int make_root(image_build *build, cordon_err *err)
{
    const cordon_image_build_options *options = build->options;
    const char *architecture = build->scope.engine->facts.architecture;

    if (check_machine(architecture, err) != 0 ||
        cordon_recipe_find(&build->trust, build->scope.config->recipes_dir, options->cli,
                           options->version, architecture, &build->recipe, err) != 0 ||
        make_folder(build, err) != 0)
        return -1;
    memcpy(build->version, build->recipe.version, sizeof build->version);
    say(build, "recipe", "making the root of %s %s by %s", options->cli, build->version,
        build->recipe.program);
    if (cordon_recipe_run(&build->recipe, build->host, options, build->tar, build->scope.dl, err) !=
        0)
        return -1;
    return cordon_trust_open(&build->trust, build->tar, false, &build->tar_fd, err);
}

static int open_root(image_build *build, cordon_err *err)
{
    const cordon_image_build_options *options = build->options;

    if (options->version == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "which version of %s is in %s? Write %s@VERSION",
                           options->cli, CORDON_QUOTE(options->from), options->cli);
    (void)snprintf(build->version, sizeof build->version, "%s", options->version);
    return cordon_trust_open(&build->trust, options->from, false, &build->tar_fd, err);
}

/* What came out is asked for by the id that it must have, and must be ours in every byte. */
static int verify(const image_build *build, const cordon_image_archive *archive,
                  cordon_image *ret_image, cordon_err *err)
{
    const cordon_engine *engine = build->scope.engine;
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_image row = {.size_bytes = -1};

    if (engine->ops->image_resolve(engine->impl, archive->id, build->scope.dl, &facts, err) != 0) {
        cordon_err_wrap(err, "the engine took the image and does not have it");
        return -1;
    }
    if (cordon_image_row_fill(&facts, &row, err) != 0)
        return -1;
    if (strcmp(facts.id, archive->id) != 0 || strcmp(row.kind, "agent") != 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "the engine made another image (%s) of the archive than %s", row.id,
                           archive->id);
    (void)snprintf(row.tag, sizeof row.tag, "%s", archive->name);
    *ret_image = row;
    return 0;
}

static int put_in(const image_build *build, cordon_image *ret_image, cordon_err *err)
{
    const cordon_engine *engine = build->scope.engine;
    cordon_auto(cordon_image_archive) archive = {0};
    const cordon_image_badge badge = {build->options->cli, build->version, build->recipe.digest};
    int state = cordon_state_open(build->host->state_dir, err);

    if (state < 0)
        return -1;
    (void)close(state);
    say(build, "archive", "hashing the root");
    if (cordon_image_archive_make(build->tar_fd, build->host->state_dir, engine->facts.architecture,
                                  &badge, build->scope.dl, &archive, err) != 0) {
        if (build->options->from != NULL)
            cordon_err_wrap(err, "%s", CORDON_QUOTE(build->options->from));
        return -1;
    }
    say(build, "load", "putting %s (%zu MiB) into %s as %s", archive.name, archive.length >> 20,
        engine->name, archive.id);
    if (engine->ops->image_load(engine->impl, archive.bytes, archive.length, build->scope.dl,
                                err) != 0)
        return -1;
    return verify(build, &archive, ret_image, err);
}

int cordon_image_build(cordon_engine *engine, const cordon_config *config, const cordon_host *host,
                       const cordon_image_build_options *options, cordon_image *ret_image,
                       cordon_err *err)
{
    cordon_cleanup(image_build_clear)
        image_build build = {.host = host, .options = options, .tar_fd = -1};

    if (cordon_image_scope_open(engine, config, options->budget_ms, options->cancel_fd,
                                &build.scope, err) != 0 ||
        check_cli(options->cli, err) != 0 ||
        (options->version != NULL && check_version(options->version, err) != 0))
        return -1;
    if (host->state_dir == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "building needs the state folder, and there is none; set HOME or "
                           "XDG_STATE_HOME");
    build.trust = (cordon_trust){.uid = config->uid, .worktree = config->worktree};
    if ((options->from != NULL ? open_root(&build, err) : make_root(&build, err)) != 0)
        return -1;
    return put_in(&build, ret_image, err);
}

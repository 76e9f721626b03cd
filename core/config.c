/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults, and the files in their order of precedence.
 */
#include "config.h"

#include <string.h>

#include "config_read.h"
#include "config_schema.h"
#include "ssh.h"

static const cordon_limits_config default_limits = {
    .deadline_ms = INT64_C(600000),
    .grace_ms = 10000,
    .memory_bytes = INT64_C(2) << 30,
    .nano_cpus = INT64_C(2000000000),
    .pids = 256,
    .open_files = 1024,
    .scratch_bytes = INT64_C(256) << 20,
    .output_bytes = INT64_C(64) << 20,
    .diff_bytes = INT64_C(256) << 20,
    .worktree_entries = 1000000,
    .tunnels = 512,
};

/*
 * What turns a write into code on the host without anybody asking for it: settings of agents and
 * editors that name commands, hooks of hook managers, what CI executes, and .gitmodules, whose
 * addresses git fetches from. Files that a person executes (Makefile, package.json) are the work
 * itself, and instructions for agents (CLAUDE.md, AGENTS.md) are text; neither stands here.
 */
static const char *const default_protected[] = {
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".devcontainer.json",
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".envrc",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".gitmodules",
};

static int fill_worktree(cordon_worktree_config *tree, cordon_err *err)
{
    tree->git_data = true;
    for (size_t i = 0; i < sizeof default_protected / sizeof default_protected[0]; i++)
        if (cordon_text_list_add(&tree->protected, default_protected[i], err) < 0)
            return -1;
    return cordon_text_copy("/worktree", &tree->mount, err);
}

/* A heap copy of FOLDER-OF-file/name. */
static int beside(const char *file, const char *name, char **ret_path, cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    cordon_autofree char *joined = NULL;
    if (cordon_path_absolute(file, &absolute, err) < 0)
        return -1;
    size_t folder = (size_t)(strrchr(absolute, '/') - absolute) + 1;
    joined = malloc(folder + strlen(name) + 1);
    if (!joined)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    memcpy(joined, absolute, folder);
    memcpy(joined + folder, name, strlen(name) + 1);
    *ret_path = CORDON_TAKE(joined);
    return 0;
}

static int fill_defaults(cordon_config *config, const char *system_file, cordon_err *err)
{
    config->limits = default_limits;
    config->runner.network = CORDON_RUNNER_NETWORK_NONE;
    config->podman_service = CORDON_PODMAN_SERVICE_AUTO;
    config->network.prefix = 29;
    config->sweep = true;
    config->mask_secrets = true;
    char fault[CORDON_FAULT_MAX];
    if (cordon_text_copy("auto", &config->engine, err) < 0 ||
        cordon_text_copy("podman", &config->podman_program, err) < 0 ||
        cordon_text_copy(CORDON_SSH_PROGRAM, &config->ssh_program, err) < 0 ||
        cordon_text_copy("10.213.0.0/16", &config->network.range, err) < 0 ||
        fill_worktree(&config->tree, err) < 0 ||
        beside(system_file, "vendors.d", &config->vendors_dir, err) < 0 ||
        cordon_text_copy(CORDON_RECIPES_DIR, &config->recipes_dir, err) < 0)
        return -1;
    return cordon_config_finish(config, NULL, fault, err);
}

int cordon_config_init(cordon_config *ret_config, const char *system_file, cordon_err *err)
{
    cordon_auto(cordon_config) config = {0};
    if (fill_defaults(&config, system_file, err) < 0)
        return -1;
    *ret_config = config;
    config = (cordon_config){0};
    return 0;
}

void cordon_config_clear(cordon_config *config)
{
    cordon_text_list_clear(&config->files);
    cordon_image_lock_clear(&config->lock);
    free(config->worktree);
    config->worktree = NULL;
    cordon_schema_clear(&cordon_config_schema, config);
}

int cordon_config_apply(cordon_config *config, const char *file, const char *text, size_t length,
                        cordon_err *err)
{
    return cordon_config_read(file, text, length, &cordon_config_schema, config,
                              cordon_config_finish, NULL, err);
}

/* One file over what is there. A missing one matters only when it was asked for by name. */
static int load_file(cordon_config *config, const cordon_trust *trust, const char *file,
                     bool must_exist, cordon_err *err)
{
    cordon_autofree char *path = NULL;
    cordon_autofree char *text = NULL;
    size_t length = 0;
    cordon_err why = CORDON_ERR_INIT;
    if (!file)
        return 0;
    if (cordon_trust_read(trust, file, &path, &text, &length, &why) < 0) {
        if (why.code == CORDON_ERR_NOTFOUND && !must_exist)
            return 0;
        if (why.code == CORDON_ERR_NOTFOUND)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "%s: the configuration file does not exist; check --config",
                               CORDON_QUOTE(file));
        return CORDON_FAIL(err, why.code, "configuration %s", why.message);
    }
    if (cordon_config_apply(config, path, text, length, err) < 0)
        return -1;
    return cordon_text_list_add(&config->files, path, err);
}

int cordon_config_load(const cordon_config_sources *sources, cordon_config *ret_config,
                       cordon_err *err)
{
    cordon_auto(cordon_config) config = {0};
    const cordon_trust *trust = &sources->trust;
    if (fill_defaults(&config, sources->system_file, err) < 0 ||
        load_file(&config, trust, sources->system_file, false, err) < 0 ||
        load_file(&config, trust, sources->user_file, false, err) < 0 ||
        load_file(&config, trust, sources->explicit_file, true, err) < 0)
        return -1;
    *ret_config = config;
    config = (cordon_config){0};
    return 0;
}

int cordon_config_load_lock(cordon_config *config, const cordon_trust *trust, const char *user_file,
                            cordon_err *err)
{
    cordon_autofree char *path = NULL;
    config->lock.required = config->images_lock != NULL;
    if (config->images_lock ? cordon_text_copy(config->images_lock, &path, err) < 0
                            : user_file && beside(user_file, "images.lock", &path, err) < 0)
        return -1;
    return path ? cordon_image_lock_read(trust, path, &config->lock, err) : 0;
}

const cordon_engine_config *cordon_config_engine(const cordon_config *config, const char *name)
{
    for (size_t i = 0; i < config->engines.count; i++)
        if (strcmp(config->engines.items[i].name, name) == 0)
            return &config->engines.items[i];
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Fills cordon_host from the environment and the user database. */
#include "host.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/buf.h"

#define SYSTEM_CONFIG "/etc/cordon/cordon.conf"
#define SYSTEM_STATE  "/var/lib/cordon"
#define PATH_LIMIT    4096

/* An empty variable is one that is not set. */
const char *cordon_cli_host_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] ? value : NULL;
}

static const char *folder_variable(const char *name)
{
    const char *value = cordon_cli_host_variable(name);
    return value && value[0] == '/' ? value : NULL;
}

static int join(const char *folder, const char *rest, char **ret_path, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PATH_LIMIT);
    if (cordon_buf_printf(&path, err, "%s%s", folder, rest) != 0)
        return -1;
    return cordon_buf_take(&path, ret_path, NULL, err);
}

static int find_home(char **ret_home, cordon_err *err)
{
    const char *home = folder_variable("HOME");
    char text[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (!home && getpwuid_r(geteuid(), &entry, text, sizeof text, &found) == 0 && found &&
        found->pw_dir && found->pw_dir[0] == '/')
        home = found->pw_dir;
    return home ? join(home, "", ret_home, err) : 0;
}

/* $NAME/cordon... or ~/FALLBACK/cordon...; NULL when there is no home either. */
static int user_path(const char *home, const char *name, const char *fallback, const char *rest,
                     char **ret_path, cordon_err *err)
{
    const char *base = folder_variable(name);
    if (base)
        return join(base, rest, ret_path, err);
    if (!home)
        return 0;
    cordon_autofree char *folder = NULL;
    if (join(home, fallback, &folder, err) != 0)
        return -1;
    return join(folder, rest, ret_path, err);
}

static int find_state(const char *home, char **ret_path, cordon_err *err)
{
    /* Root's journal belongs to the machine: a run by sudo and one by a service share it. */
    if (geteuid() == 0 && !folder_variable("XDG_STATE_HOME"))
        return join(SYSTEM_STATE, "", ret_path, err);
    return user_path(home, "XDG_STATE_HOME", "/.local/state", "/cordon", ret_path, err);
}

static void fill(cordon_cli_host *host)
{
    host->host = (cordon_host){
        .uid = geteuid(),
        .gid = getegid(),
        .home = host->home,
        .path = cordon_cli_host_variable("PATH"),
        .runtime_dir = folder_variable("XDG_RUNTIME_DIR"),
        .state_dir = host->state_dir,
        .env_engine = cordon_cli_host_variable("CORDON_ENGINE"),
        .env_docker = cordon_cli_host_variable("DOCKER_HOST"),
        .env_docker_tls = cordon_cli_host_variable("DOCKER_TLS_VERIFY"),
        .env_docker_certs = cordon_cli_host_variable("DOCKER_CERT_PATH"),
        .env_container = cordon_cli_host_variable("CONTAINER_HOST"),
        .env_docker_context = cordon_cli_host_variable("DOCKER_CONTEXT"),
        .env_docker_config = cordon_cli_host_variable("DOCKER_CONFIG"),
        .env_connection = cordon_cli_host_variable("CONTAINER_CONNECTION"),
        .env_sshkey = cordon_cli_host_variable("CONTAINER_SSHKEY"),
        .config_home = folder_variable("XDG_CONFIG_HOME"),
        .system_config = SYSTEM_CONFIG,
        .user_config = host->user_config,
    };
}

int cordon_cli_host_init(cordon_cli_host *ret_host, cordon_err *err)
{
    cordon_cli_host host = {0};
    if (find_home(&host.home, err) != 0 || find_state(host.home, &host.state_dir, err) != 0 ||
        user_path(host.home, "XDG_CONFIG_HOME", "/.config", "/cordon/cordon.conf",
                  &host.user_config, err) != 0) {
        cordon_cli_host_clear(&host);
        return -1;
    }
    fill(&host);
    *ret_host = host;
    return 0;
}

void cordon_cli_host_clear(cordon_cli_host *host)
{
    free(host->home);
    free(host->state_dir);
    free(host->user_config);
    *host = (cordon_cli_host){0};
}

extern char **environ;

static bool has_prefix(const char *item, const char *const *prefixes)
{
    for (size_t i = 0; prefixes[i]; i++) {
        if (strncasecmp(item, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

const char **cordon_cli_host_variables(const char *const *prefixes)
{
    size_t count = 0;
    size_t used = 0;
    while (environ[count])
        count++;
    const char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        if (has_prefix(environ[i], prefixes))
            list[used++] = environ[i];
    }
    return list;
}

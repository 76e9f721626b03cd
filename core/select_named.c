/* SPDX-License-Identifier: Apache-2.0 */
/* Engines that variables name, and those that Docker's and Podman's own files have names for. */
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "engine_names.h"
#include "select_impl.h"
#include "ssh.h"

static cordon_trust trust_of(const cordon_selection *s)
{
    return (cordon_trust){.uid = s->env->uid, .worktree = s->config->worktree};
}

/* --- Where the files are --------------------------------------------------------------------- */

/* $VARIABLE, or ~/FALLBACK; NULL without a home. */
static int folder_of(const char *variable, const char *value, const char *below, const char *home,
                     const char *fallback, char ret_folder[4096], cordon_err *err)
{
    int length = 0;
    ret_folder[0] = '\0';
    if (cordon_select_is_set(value) && value[0] != '/')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is not an absolute path", variable);
    if (cordon_select_is_set(value))
        length = snprintf(ret_folder, 4096, "%s%s", value, below);
    else if (cordon_select_is_set(home) && home[0] == '/')
        length = snprintf(ret_folder, 4096, "%s/%s", home, fallback);
    if (length < 0 || length >= 4096)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is too long", variable);
    return 0;
}

static int docker_folder(const cordon_selection *s, char ret_folder[4096], cordon_err *err)
{
    return folder_of("DOCKER_CONFIG", s->env->docker_config, "", s->env->home, ".docker",
                     ret_folder, err);
}

static int containers_folder(const cordon_selection *s, char ret_folder[4096], cordon_err *err)
{
    return folder_of("XDG_CONFIG_HOME", s->env->config_home, "/containers", s->env->home,
                     ".config/containers", ret_folder, err);
}

static int no_folder(const char *what, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "there is no home folder to look for %s in", what);
}

static int find_context(const cordon_selection *s, const char *name, cordon_named_engine *engine,
                        cordon_err *err)
{
    char folder[4096];
    cordon_trust trust = trust_of(s);
    if (cordon_name_check(name, err) != 0 || docker_folder(s, folder, err) != 0)
        return -1;
    return folder[0] ? cordon_name_docker(&trust, folder, name, engine, err)
                     : no_folder("Docker's contexts", err);
}

static int find_connection(const cordon_selection *s, const char *name, cordon_named_engine *engine,
                           cordon_err *err)
{
    char folder[4096];
    cordon_trust trust = trust_of(s);
    if (cordon_name_check(name, err) != 0 || containers_folder(s, folder, err) != 0)
        return -1;
    return folder[0] ? cordon_name_podman(&trust, folder, name, engine, err)
                     : no_folder("Podman's connections", err);
}

static cordon_draft from_named(const char *name, cordon_engine_kind kind,
                               const cordon_named_engine *engine, cordon_origin origin)
{
    return (cordon_draft){.name = name,
                          .kind = kind,
                          .endpoint = engine->endpoint,
                          .tls_ca_file = engine->tls_ca_file,
                          .tls_cert_file = engine->tls_cert_file,
                          .tls_key_file = engine->tls_key_file,
                          .identity = engine->identity,
                          .origin = origin};
}

/* --- Variables ------------------------------------------------------------------------------- */

static int check_variable(const char *variable, const char *endpoint, bool tls, cordon_err *err)
{
    if (cordon_address_check(endpoint, tls, err) == 0)
        return 0;
    cordon_err_wrap(err, "%s", variable);
    return -1;
}

/* A variable that names what a file does not have is wrong itself. */
static int fail_variable(const char *variable, cordon_err *err)
{
    if (err && err->code == CORDON_ERR_NOTFOUND)
        err->code = CORDON_ERR_CONFIG;
    cordon_err_wrap(err, "%s", variable);
    return -1;
}

static int add_container_host(cordon_selection *s, cordon_err *err)
{
    const char *endpoint = s->env->container_host;
    const char *key = s->env->container_sshkey;
    cordon_draft from = {.name = "podman",
                         .kind = CORDON_ENGINE_PODMAN,
                         .endpoint = endpoint,
                         .origin = CORDON_ORIGIN_EXPLICIT};
    if (check_variable("CONTAINER_HOST", endpoint, false, err) < 0)
        return -1;
    if (cordon_select_is_set(key) && cordon_ssh_is_endpoint(endpoint)) {
        if (key[0] != '/')
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "CONTAINER_SSHKEY is not an absolute path");
        from.identity = key;
    }
    return cordon_selection_add(s, &from, err, "CONTAINER_HOST=%s", CORDON_QUOTE(endpoint));
}

static int add_connection(cordon_selection *s, cordon_err *err)
{
    const char *name = s->env->container_connection;
    cordon_auto(cordon_named_engine) engine = {0};
    if (find_connection(s, name, &engine, err) != 0)
        return fail_variable("CONTAINER_CONNECTION", err);
    cordon_draft from = from_named("podman", CORDON_ENGINE_PODMAN, &engine, CORDON_ORIGIN_EXPLICIT);
    return cordon_selection_add(s, &from, err, "CONTAINER_CONNECTION is \"%s\" of %s", name,
                                CORDON_QUOTE(engine.file));
}

/* DOCKER_HOST over TCP with the files of DOCKER_CERT_PATH, by their fixed names. */
static int add_docker_tls(cordon_selection *s, cordon_draft *from, cordon_err *err)
{
    static const char *const names[] = {"ca.pem", "cert.pem", "key.pem"};
    char files[3][1024];
    const char *folder = s->env->docker_certs;
    if (!cordon_select_is_set(folder) || folder[0] != '/')
        return CORDON_FAIL(
            err, CORDON_ERR_CONFIG,
            "DOCKER_TLS_VERIFY is set, but DOCKER_CERT_PATH is not the absolute path "
            "of the folder with ca.pem, cert.pem and key.pem");
    for (size_t i = 0; i < 3; i++) {
        int length = snprintf(files[i], sizeof files[i], "%s/%s", folder, names[i]);
        if (length < 0 || (size_t)length >= sizeof files[i])
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "DOCKER_CERT_PATH is too long");
    }
    from->tls_ca_file = files[0];
    from->tls_cert_file = files[1];
    from->tls_key_file = files[2];
    return cordon_selection_add(s, from, err, "DOCKER_HOST=%s", CORDON_QUOTE(from->endpoint));
}

static int add_docker_host(cordon_selection *s, cordon_err *err)
{
    const char *endpoint = s->env->docker_host;
    bool tls = cordon_select_is_set(s->env->docker_tls) && !cordon_address_socket_path(endpoint) &&
               !cordon_ssh_is_endpoint(endpoint);
    cordon_draft from = {.name = "docker",
                         .kind = CORDON_ENGINE_DOCKER,
                         .endpoint = endpoint,
                         .origin = CORDON_ORIGIN_EXPLICIT};
    if (check_variable("DOCKER_HOST", endpoint, tls, err) < 0)
        return -1;
    if (tls)
        return add_docker_tls(s, &from, err);
    return cordon_selection_add(s, &from, err, "DOCKER_HOST=%s", CORDON_QUOTE(endpoint));
}

/* "default" is no context: it says that the current one does not count. */
static bool has_docker_context(const cordon_selection *s)
{
    const char *name = s->env->docker_context;
    return cordon_select_is_set(name) && strcmp(name, CORDON_DOCKER_DEFAULT) != 0;
}

static int add_context(cordon_selection *s, cordon_err *err)
{
    const char *name = s->env->docker_context;
    cordon_auto(cordon_named_engine) engine = {0};
    if (find_context(s, name, &engine, err) != 0)
        return fail_variable("DOCKER_CONTEXT", err);
    cordon_draft from = from_named("docker", CORDON_ENGINE_DOCKER, &engine, CORDON_ORIGIN_EXPLICIT);
    return cordon_selection_add(s, &from, err, "DOCKER_CONTEXT is \"%s\" of %s", name,
                                CORDON_QUOTE(engine.file));
}

bool cordon_select_has_variable(const cordon_selection *s, cordon_engine_kind kind)
{
    if (kind == CORDON_ENGINE_PODMAN)
        return cordon_select_is_set(s->env->container_connection) ||
               cordon_select_is_set(s->env->container_host);
    return cordon_select_is_set(s->env->docker_host) || has_docker_context(s);
}

int cordon_select_variable(cordon_selection *s, cordon_engine_kind kind, cordon_err *err)
{
    if (kind == CORDON_ENGINE_PODMAN)
        return cordon_select_is_set(s->env->container_connection) ? add_connection(s, err)
                                                                  : add_container_host(s, err);
    return cordon_select_is_set(s->env->docker_host) ? add_docker_host(s, err)
                                                     : add_context(s, err);
}

/* --- The current context --------------------------------------------------------------------- */

static int current_name(const cordon_selection *s, char **ret_name, cordon_err *err)
{
    char folder[4096];
    cordon_trust trust = trust_of(s);
    if (cordon_select_is_set(s->env->docker_context)) /* "default", else it had decided already */
        return 0;
    if (docker_folder(s, folder, err) != 0)
        return -1;
    return folder[0] ? cordon_name_docker_current(&trust, folder, ret_name, err) : 0;
}

/* In its place in the order, but not to be tried: others may still be. */
static int pass_current(cordon_selection *s, const char *name, const cordon_err *why,
                        cordon_err *err)
{
    const cordon_draft from = {.name = "docker",
                               .kind = CORDON_ENGINE_DOCKER,
                               .endpoint = "",
                               .passed = why->message,
                               .origin = CORDON_ORIGIN_AUTO};
    s->broken = *why;
    if (s->broken.code == CORDON_ERR_NOTFOUND)
        s->broken.code = CORDON_ERR_CONFIG;
    return cordon_selection_add(s, &from, err, "\"%s\" is Docker's current context",
                                name ? name : "?");
}

int cordon_select_current(cordon_selection *s, bool *ret_set, cordon_err *err)
{
    cordon_autofree char *name = NULL;
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_err why = CORDON_ERR_INIT;
    *ret_set = true;
    if (current_name(s, &name, &why) != 0)
        return why.code == CORDON_ERR_NOMEM ? CORDON_FAIL(err, why.code, "out of memory")
                                            : pass_current(s, NULL, &why, err);
    *ret_set = name != NULL;
    if (!name)
        return 0;
    if (find_context(s, name, &engine, &why) != 0)
        return pass_current(s, name, &why, err);
    cordon_draft from = from_named("docker", CORDON_ENGINE_DOCKER, &engine, CORDON_ORIGIN_AUTO);
    return cordon_selection_add(s, &from, err, "\"%s\" is Docker's current context", name);
}

/* --- By name --------------------------------------------------------------------------------- */

static int add_named(cordon_selection *s, const char *source, const char *name,
                     cordon_engine_kind kind, const cordon_named_engine *engine, cordon_err *err)
{
    cordon_draft from = from_named(name, kind, engine, CORDON_ORIGIN_EXPLICIT);
    return cordon_selection_add(s, &from, err, "%s is \"%s\" of %s", source, CORDON_QUOTE(name),
                                CORDON_QUOTE(engine->file));
}

/* "docker:NAME" and "podman:NAME": one file is asked. */
static int select_prefixed(cordon_selection *s, const char *source, const char *name,
                           cordon_err *err)
{
    bool docker = strncmp(name, CORDON_NAME_DOCKER, strlen(CORDON_NAME_DOCKER)) == 0;
    const char *rest = name + strlen(CORDON_NAME_DOCKER);
    cordon_auto(cordon_named_engine) engine = {0};
    int rc = docker ? find_context(s, rest, &engine, err) : find_connection(s, rest, &engine, err);
    if (rc != 0)
        return fail_variable(source, err);
    return add_named(s, source, rest, docker ? CORDON_ENGINE_DOCKER : CORDON_ENGINE_PODMAN, &engine,
                     err);
}

static bool is_prefixed(const char *name)
{
    return strncmp(name, CORDON_NAME_DOCKER, strlen(CORDON_NAME_DOCKER)) == 0 ||
           strncmp(name, CORDON_NAME_PODMAN, strlen(CORDON_NAME_PODMAN)) == 0;
}

/* SECURITY: a file that cannot be read could have the name, so it is not passed over. */
static int look_up(int rc, const cordon_err *why, bool *ret_found, cordon_err *err)
{
    *ret_found = rc == 0;
    if (rc == 0 || why->code == CORDON_ERR_NOTFOUND)
        return 0;
    if (err)
        *err = *why;
    return -1;
}

int cordon_select_named(cordon_selection *s, const char *source, const char *name, cordon_err *err)
{
    cordon_auto(cordon_named_engine) context = {0};
    cordon_auto(cordon_named_engine) connection = {0};
    cordon_err none = CORDON_ERR_INIT;
    cordon_err no_context = CORDON_ERR_INIT;
    bool has_context = false;
    bool has_connection = false;
    if (is_prefixed(name))
        return select_prefixed(s, source, name, err);
    if (cordon_name_check(name, &none) != 0)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "it is no name");
    if (look_up(find_context(s, name, &context, &no_context), &no_context, &has_context, err) !=
            0 ||
        look_up(find_connection(s, name, &connection, &none), &none, &has_connection, err) != 0)
        return fail_variable(source, err);
    if (has_context && has_connection)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: \"%s\" is a context of Docker's and a connection of Podman's; say "
                           "docker:%s or podman:%s",
                           source, name, name, name);
    if (has_context)
        return add_named(s, source, name, CORDON_ENGINE_DOCKER, &context, err);
    if (has_connection)
        return add_named(s, source, name, CORDON_ENGINE_PODMAN, &connection, err);
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "no file of Docker's or Podman's has that name");
}

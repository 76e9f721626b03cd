/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From configuration and environment to the engines worth trying, in order.
 */
#include "select.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"
#include "kit/buf.h"
#include "kit/near.h"
#include "ssh.h"

#define PODMAN_SYSTEM_SOCKET "/run/podman/podman.sock"
#define DOCKER_SYSTEM_SOCKET "/var/run/docker.sock"

/* Where a message says that was looked. */
#define LOOKED_MAX 2048

typedef struct selection {
    const cordon_config *config;
    const cordon_select_env *env;
    cordon_probe_fn *probe;
    void *context;
    char runtime_dir[512];
    cordon_candidates found;
    cordon_buf looked;
} selection;

/* What a candidate is made of; all borrowed. */
typedef struct draft {
    const char *name;
    cordon_engine_kind kind;
    const char *endpoint;
    const char *tls_ca_file;
    const char *tls_cert_file;
    const char *tls_key_file;
    const char *program;
    const char *identity;
    cordon_origin origin;
} draft;

/* --- Programs ------------------------------------------------------------------------------ */

/* SECURITY: relative and empty entries of PATH would mean the current folder: passed over. */
static bool search_path(const char *path, cordon_probe_fn *probe, void *context, const char *name,
                        char *ret_path, size_t size)
{
    const char *entry = path ? path : "";
    while (*entry) {
        size_t length = strcspn(entry, ":");
        int written = snprintf(ret_path, size, "%.*s/%s", (int)length, entry, name);
        if (entry[0] == '/' && written > 0 && (size_t)written < size &&
            probe(context, CORDON_PROBE_PROGRAM, ret_path))
            return true;
        entry += length + (entry[length] == ':' ? 1 : 0);
    }
    return false;
}

/* A program of the configuration: an absolute path, or a name. NULL: it is not there. */
static int find_program(const char *name, const char *path, cordon_probe_fn *probe, void *context,
                        char **ret_program, cordon_err *err)
{
    char found[4096];
    if (name[0] == '/')
        return probe(context, CORDON_PROBE_PROGRAM, name) ? cordon_text_copy(name, ret_program, err)
                                                          : 0;
    if (!search_path(path, probe, context, name, found, sizeof found))
        return 0;
    return cordon_text_copy(found, ret_program, err);
}

int cordon_select_ssh(const cordon_config *config, const char *path, cordon_probe_fn *probe,
                      void *context, char **ret_program, cordon_err *err)
{
    return find_program(config->ssh_program, path, probe, context, ret_program, err);
}

/* --- Candidates ---------------------------------------------------------------------------- */

static void clear_candidate(cordon_candidate *candidate)
{
    free(candidate->name);
    free(candidate->endpoint);
    free(candidate->tls_ca_file);
    free(candidate->tls_cert_file);
    free(candidate->tls_key_file);
    free(candidate->why);
    free(candidate->program);
    free(candidate->identity);
    *candidate = (cordon_candidate){0};
}

void cordon_candidates_clear(cordon_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        clear_candidate(&candidates->items[i]);
    free(candidates->items);
    *candidates = (cordon_candidates){0};
}

static int copy_optional(const char *text, char **ret_text, cordon_err *err)
{
    return text ? cordon_text_copy(text, ret_text, err) : 0;
}

static int fill_candidate(cordon_candidate *candidate, const draft *from, const char *why,
                          cordon_err *err)
{
    candidate->kind = from->kind;
    candidate->origin = from->origin;
    if (cordon_text_copy(from->name, &candidate->name, err) < 0 ||
        cordon_text_copy(why, &candidate->why, err) < 0 ||
        copy_optional(from->endpoint, &candidate->endpoint, err) < 0 ||
        copy_optional(from->tls_ca_file, &candidate->tls_ca_file, err) < 0 ||
        copy_optional(from->tls_cert_file, &candidate->tls_cert_file, err) < 0 ||
        copy_optional(from->tls_key_file, &candidate->tls_key_file, err) < 0 ||
        copy_optional(from->program, &candidate->program, err) < 0 ||
        copy_optional(from->identity, &candidate->identity, err) < 0)
        return -1;
    return 0;
}

__attribute__((format(printf, 4, 5))) static int
add_candidate(selection *s, const draft *from, cordon_err *err, const char *format, ...)
{
    char why[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    cordon_candidate *items =
        reallocarray(s->found.items, s->found.count + 1, sizeof *s->found.items);
    if (!items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    s->found.items = items;
    cordon_candidate *added = &items[s->found.count++];
    *added = (cordon_candidate){0};
    if (fill_candidate(added, from, why, err) < 0)
        return -1;
    return from->endpoint && cordon_ssh_is_endpoint(from->endpoint)
               ? cordon_select_ssh(s->config, s->env->path, s->probe, s->context, &added->program,
                                   err)
               : 0;
}

static bool has_endpoint(const selection *s, const char *endpoint)
{
    for (size_t i = 0; i < s->found.count; i++)
        if (s->found.items[i].endpoint && strcmp(s->found.items[i].endpoint, endpoint) == 0)
            return true;
    return false;
}

static draft from_config(const cordon_engine_config *engine, cordon_origin origin)
{
    return (draft){.name = engine->name,
                   .kind = (cordon_engine_kind)engine->kind,
                   .endpoint = engine->endpoint,
                   .tls_ca_file = engine->tls_ca_file,
                   .tls_cert_file = engine->tls_cert_file,
                   .tls_key_file = engine->tls_key_file,
                   .origin = origin};
}

static bool is_set(const char *text)
{
    return text && text[0] != '\0';
}

/* --- Variables of the engines -------------------------------------------------------------- */

static int check_variable(const char *variable, const char *endpoint, bool tls, cordon_err *err)
{
    if (cordon_address_check(endpoint, tls, err) == 0)
        return 0;
    cordon_err_wrap(err, "%s", variable);
    return -1;
}

static int add_container_host(selection *s, cordon_err *err)
{
    const char *endpoint = s->env->container_host;
    draft from = {.name = "podman",
                  .kind = CORDON_ENGINE_PODMAN,
                  .endpoint = endpoint,
                  .origin = CORDON_ORIGIN_EXPLICIT};
    if (check_variable("CONTAINER_HOST", endpoint, false, err) < 0)
        return -1;
    return add_candidate(s, &from, err, "CONTAINER_HOST=%s", CORDON_QUOTE(endpoint));
}

/* DOCKER_HOST over TCP with the files of DOCKER_CERT_PATH, by their fixed names. */
static int add_docker_tls(selection *s, draft *from, cordon_err *err)
{
    static const char *const names[] = {"ca.pem", "cert.pem", "key.pem"};
    char files[3][1024];
    const char *folder = s->env->docker_certs;
    if (!is_set(folder) || folder[0] != '/')
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
    return add_candidate(s, from, err, "DOCKER_HOST=%s", CORDON_QUOTE(from->endpoint));
}

static int add_docker_host(selection *s, cordon_err *err)
{
    const char *endpoint = s->env->docker_host;
    bool tls = is_set(s->env->docker_tls) && !cordon_address_socket_path(endpoint) &&
               !cordon_ssh_is_endpoint(endpoint);
    draft from = {.name = "docker",
                  .kind = CORDON_ENGINE_DOCKER,
                  .endpoint = endpoint,
                  .origin = CORDON_ORIGIN_EXPLICIT};
    if (check_variable("DOCKER_HOST", endpoint, tls, err) < 0)
        return -1;
    if (tls)
        return add_docker_tls(s, &from, err);
    return add_candidate(s, &from, err, "DOCKER_HOST=%s", CORDON_QUOTE(endpoint));
}

/* --- Automatic ----------------------------------------------------------------------------- */

static bool wanted(cordon_engine_kind kind, cordon_engine_kind only)
{
    return only == CORDON_ENGINE_UNKNOWN || kind == only;
}

static int add_configured(selection *s, cordon_engine_kind only, cordon_err *err)
{
    for (size_t i = 0; i < s->config->engines.count; i++) {
        const cordon_engine_config *engine = &s->config->engines.items[i];
        draft from = from_config(engine, CORDON_ORIGIN_AUTO);
        if (wanted(from.kind, only) &&
            add_candidate(s, &from, err, "\"%s\" is in the configured list of engines",
                          engine->name) < 0)
            return -1;
    }
    return 0;
}

static int note_looked(selection *s, const char *where, cordon_err *err)
{
    return cordon_buf_printf(&s->looked, err, "%s%s", s->looked.length > 0 ? ", " : "",
                             CORDON_QUOTE(where));
}

static int add_socket(selection *s, cordon_engine_kind kind, const char *path, cordon_err *err)
{
    char endpoint[1024];
    cordon_err ignored = CORDON_ERR_INIT;
    int length = snprintf(endpoint, sizeof endpoint, "unix://%s", path);
    if (length < 0 || (size_t)length >= sizeof endpoint ||
        cordon_address_check(endpoint, false, &ignored) < 0)
        return 0; /* a runtime folder that no socket can live in */
    if (note_looked(s, path, err) < 0)
        return -1;
    if (has_endpoint(s, endpoint) || !s->probe(s->context, CORDON_PROBE_SOCKET, path))
        return 0;
    draft from = {.name = cordon_engine_kind_name(kind),
                  .kind = kind,
                  .endpoint = endpoint,
                  .origin = CORDON_ORIGIN_AUTO};
    return add_candidate(s, &from, err, "%s exists", CORDON_QUOTE(path));
}

static int add_user_socket(selection *s, cordon_engine_kind kind, const char *name, cordon_err *err)
{
    char path[1024];
    if (s->runtime_dir[0] == '\0')
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s", s->runtime_dir, name);
    return add_socket(s, kind, path, err);
}

static int add_sockets(selection *s, cordon_engine_kind only, cordon_err *err)
{
    if (wanted(CORDON_ENGINE_PODMAN, only) &&
        add_user_socket(s, CORDON_ENGINE_PODMAN, "podman/podman.sock", err) < 0)
        return -1;
    if (wanted(CORDON_ENGINE_PODMAN, only) && s->env->uid == 0 &&
        add_socket(s, CORDON_ENGINE_PODMAN, PODMAN_SYSTEM_SOCKET, err) < 0)
        return -1;
    if (wanted(CORDON_ENGINE_DOCKER, only) &&
        (add_socket(s, CORDON_ENGINE_DOCKER, DOCKER_SYSTEM_SOCKET, err) < 0 ||
         add_user_socket(s, CORDON_ENGINE_DOCKER, "docker.sock", err) < 0))
        return -1;
    return 0;
}

static int add_service(selection *s, cordon_engine_kind only, cordon_err *err)
{
    cordon_autofree char *program = NULL;
    const char *name = s->config->podman_program;
    if (s->config->podman_service != CORDON_PODMAN_SERVICE_AUTO ||
        !wanted(CORDON_ENGINE_PODMAN, only))
        return 0;
    if (note_looked(s, name, err) < 0 ||
        find_program(name, s->env->path, s->probe, s->context, &program, err) < 0)
        return -1;
    if (!program)
        return 0;
    draft from = {.name = "podman",
                  .kind = CORDON_ENGINE_PODMAN,
                  .program = program,
                  .origin = CORDON_ORIGIN_AUTO};
    return add_candidate(s, &from, err, "%s is installed and can serve this run",
                         CORDON_QUOTE(program));
}

/* All automatic candidates of a kind, or of every kind. */
static int add_automatic(selection *s, cordon_engine_kind only, cordon_err *err)
{
    if (add_configured(s, only, err) < 0 || add_sockets(s, only, err) < 0)
        return -1;
    return add_service(s, only, err);
}

static int select_automatic(selection *s, cordon_err *err)
{
    if (is_set(s->env->container_host))
        return add_container_host(s, err);
    if (is_set(s->env->docker_host))
        return add_docker_host(s, err);
    if (add_automatic(s, CORDON_ENGINE_UNKNOWN, err) < 0)
        return -1;
    if (s->found.count > 0)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE,
                       "no engine found; looked for %.300s; install and start Docker or Podman, or "
                       "name one with --engine, CONTAINER_HOST or DOCKER_HOST",
                       cordon_buf_text(&s->looked));
}

/* --- By name ------------------------------------------------------------------------------- */

static int fail_unknown(const selection *s, const char *source, const char *name, cordon_err *err)
{
    cordon_auto(cordon_buf) known = cordon_buf_make(16384);
    static const char *const general[] = {"auto", "docker", "podman"};
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_near near = {.word = name};
    for (size_t i = 0; i < s->config->engines.count; i++) {
        cordon_near_look(&near, s->config->engines.items[i].name);
        if (cordon_buf_printf(&known, err, "%s, ", s->config->engines.items[i].name) < 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof general / sizeof general[0]; i++)
        cordon_near_look(&near, general[i]);
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "%s: there is no engine \"%s\"%s %.400sauto, docker, podman", source,
                       CORDON_QUOTE(name), cordon_near_hint(&near, "known are", hint),
                       cordon_buf_text(&known));
}

static cordon_engine_kind kind_of(const char *name)
{
    if (strcmp(name, "docker") == 0)
        return CORDON_ENGINE_DOCKER;
    return strcmp(name, "podman") == 0 ? CORDON_ENGINE_PODMAN : CORDON_ENGINE_UNKNOWN;
}

/* The socket where a daemon of this kind listens when nobody said otherwise. */
static int add_default_socket(selection *s, cordon_engine_kind kind, const char *source,
                              cordon_err *err)
{
    char endpoint[1024] = "unix://" DOCKER_SYSTEM_SOCKET;
    if (kind == CORDON_ENGINE_PODMAN && (s->env->uid == 0 || s->runtime_dir[0] == '\0'))
        (void)snprintf(endpoint, sizeof endpoint, "unix://%s", PODMAN_SYSTEM_SOCKET);
    else if (kind == CORDON_ENGINE_PODMAN)
        (void)snprintf(endpoint, sizeof endpoint, "unix://%s/podman/podman.sock", s->runtime_dir);
    draft from = {.name = cordon_engine_kind_name(kind),
                  .kind = kind,
                  .endpoint = endpoint,
                  .origin = CORDON_ORIGIN_EXPLICIT};
    return add_candidate(s, &from, err, "%s, default socket", source);
}

/* One candidate for a kind's name: its variable, else the first automatic one, else the default. */
static int select_kind(selection *s, cordon_engine_kind kind, const char *source, cordon_err *err)
{
    if (kind == CORDON_ENGINE_PODMAN && is_set(s->env->container_host))
        return add_container_host(s, err);
    if (kind == CORDON_ENGINE_DOCKER && is_set(s->env->docker_host))
        return add_docker_host(s, err);
    if (add_automatic(s, kind, err) < 0)
        return -1;
    if (s->found.count == 0)
        return add_default_socket(s, kind, source, err);
    while (s->found.count > 1)
        clear_candidate(&s->found.items[--s->found.count]);
    s->found.items[0].origin = CORDON_ORIGIN_EXPLICIT;
    return 0;
}

/* source: "--engine", "CORDON_ENGINE", "engine in the configuration". */
static int select_name(selection *s, const char *source, const char *name, cordon_err *err)
{
    const cordon_engine_config *engine = cordon_config_engine(s->config, name);
    cordon_engine_kind kind = kind_of(name);
    if (engine) {
        draft from = from_config(engine, CORDON_ORIGIN_EXPLICIT);
        return add_candidate(s, &from, err, "%s is \"%s\"", source, name);
    }
    if (kind != CORDON_ENGINE_UNKNOWN)
        return select_kind(s, kind, source, err);
    return fail_unknown(s, source, name, err);
}

static int select_all(selection *s, cordon_err *err)
{
    const struct {
        const char *source;
        const char *name;
    } asked[] = {{"--engine", s->env->option},
                 {"CORDON_ENGINE", s->env->cordon_engine},
                 {"engine in the configuration", s->config->engine}};
    if (s->env->option && !is_set(s->env->option))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "--engine needs a name, or auto");
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (!is_set(asked[i].name))
            continue;
        if (strcmp(asked[i].name, "auto") == 0)
            break;
        return select_name(s, asked[i].source, asked[i].name, err);
    }
    return select_automatic(s, err);
}

/* A relative runtime folder is nobody's (XDG base directory specification): passed over. */
static void find_runtime_dir(selection *s)
{
    const char *folder = s->env->runtime_dir;
    if (is_set(folder) && folder[0] == '/' && strlen(folder) < sizeof s->runtime_dir)
        (void)snprintf(s->runtime_dir, sizeof s->runtime_dir, "%s", folder);
    else if (!is_set(folder))
        (void)snprintf(s->runtime_dir, sizeof s->runtime_dir, "/run/user/%u",
                       (unsigned)s->env->uid);
}

int cordon_select(const cordon_config *config, const cordon_select_env *env, cordon_probe_fn *probe,
                  void *context, cordon_candidates *ret_candidates, cordon_err *err)
{
    selection s = {.config = config,
                   .env = env,
                   .probe = probe,
                   .context = context,
                   .looked = cordon_buf_make(LOOKED_MAX)};
    find_runtime_dir(&s);
    int rc = select_all(&s, err);
    if (rc == 0)
        *ret_candidates = s.found;
    else
        cordon_candidates_clear(&s.found);
    cordon_buf_clear(&s.looked);
    return rc;
}

bool cordon_select_probe(void *context, cordon_probe_question question, const char *path)
{
    struct stat facts;
    (void)context;
    if (stat(path, &facts) < 0)
        return false;
    if (question == CORDON_PROBE_SOCKET)
        return S_ISSOCK(facts.st_mode);
    return S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

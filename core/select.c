/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From configuration and environment to the engines worth trying, in order.
 */
#include "select_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"
#include "engine_names.h"
#include "kit/buf.h"
#include "kit/near.h"
#include "ssh.h"

#define PODMAN_SYSTEM_SOCKET "/run/podman/podman.sock"
#define DOCKER_SYSTEM_SOCKET "/var/run/docker.sock"

/* Where a message says that was looked. */
#define LOOKED_MAX 2048

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
    free(candidate->passed);
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

static int fill_candidate(cordon_candidate *candidate, const cordon_draft *from, const char *why,
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
        copy_optional(from->identity, &candidate->identity, err) < 0 ||
        copy_optional(from->passed, &candidate->passed, err) < 0)
        return -1;
    return 0;
}

int cordon_selection_add(cordon_selection *s, const cordon_draft *from, cordon_err *err,
                         const char *format, ...)
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

static bool has_endpoint(const cordon_selection *s, const char *endpoint)
{
    for (size_t i = 0; i < s->found.count; i++)
        if (s->found.items[i].endpoint && strcmp(s->found.items[i].endpoint, endpoint) == 0)
            return true;
    return false;
}

/* How many are to be tried. */
static size_t usable(const cordon_candidates *found)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        count += found->items[i].passed == NULL;
    return count;
}

static cordon_draft from_config(const cordon_engine_config *engine, cordon_origin origin)
{
    return (cordon_draft){.name = engine->name,
                          .kind = (cordon_engine_kind)engine->kind,
                          .endpoint = engine->endpoint,
                          .tls_ca_file = engine->tls_ca_file,
                          .tls_cert_file = engine->tls_cert_file,
                          .tls_key_file = engine->tls_key_file,
                          .origin = origin};
}

bool cordon_select_is_set(const char *text)
{
    return text && text[0] != '\0';
}

/* --- Automatic ----------------------------------------------------------------------------- */

static bool wanted(cordon_engine_kind kind, cordon_engine_kind only)
{
    return only == CORDON_ENGINE_UNKNOWN || kind == only;
}

static int add_configured(cordon_selection *s, cordon_engine_kind only, cordon_err *err)
{
    for (size_t i = 0; i < s->config->engines.count; i++) {
        const cordon_engine_config *engine = &s->config->engines.items[i];
        cordon_draft from = from_config(engine, CORDON_ORIGIN_AUTO);
        if (wanted(from.kind, only) &&
            cordon_selection_add(s, &from, err, "\"%s\" is in the configured list of engines",
                                 engine->name) < 0)
            return -1;
    }
    return 0;
}

static int note_looked(cordon_selection *s, const char *where, cordon_err *err)
{
    return cordon_buf_printf(&s->looked, err, "%s%s", s->looked.length > 0 ? ", " : "",
                             CORDON_QUOTE(where));
}

/* passed: why it is not even looked for, or NULL. */
static int add_socket(cordon_selection *s, cordon_engine_kind kind, const char *path,
                      const char *passed, cordon_err *err)
{
    char endpoint[1024];
    cordon_err ignored = CORDON_ERR_INIT;
    int length = snprintf(endpoint, sizeof endpoint, "unix://%s", path);
    if (length < 0 || (size_t)length >= sizeof endpoint ||
        cordon_address_check(endpoint, false, &ignored) < 0)
        return 0; /* a runtime folder that no socket can live in */
    if (!passed && note_looked(s, path, err) < 0)
        return -1;
    if (!passed && has_endpoint(s, endpoint))
        passed = "stands in the order already";
    if (!passed && !s->probe(s->context, CORDON_PROBE_SOCKET, path))
        passed = "there is no such socket";
    cordon_draft from = {.name = cordon_engine_kind_name(kind),
                         .kind = kind,
                         .endpoint = endpoint,
                         .passed = passed,
                         .origin = CORDON_ORIGIN_AUTO};
    return passed ? cordon_selection_add(s, &from, err, "it is a well-known socket")
                  : cordon_selection_add(s, &from, err, "%s exists", CORDON_QUOTE(path));
}

static int add_user_socket(cordon_selection *s, cordon_engine_kind kind, const char *name,
                           const char *passed, cordon_err *err)
{
    char path[1024];
    if (s->runtime_dir[0] == '\0')
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s", s->runtime_dir, name);
    return add_socket(s, kind, path, passed, err);
}

static int add_podman_sockets(cordon_selection *s, cordon_err *err)
{
    const char *passed = s->env->uid == 0 ? NULL : "it is root's";
    if (add_user_socket(s, CORDON_ENGINE_PODMAN, "podman/podman.sock", NULL, err) < 0)
        return -1;
    return add_socket(s, CORDON_ENGINE_PODMAN, PODMAN_SYSTEM_SOCKET, passed, err);
}

/* Where Docker's own client is set to a context, it does not look at its sockets, nor do we. */
static int add_docker_sockets(cordon_selection *s, cordon_err *err)
{
    bool set = false;
    if (cordon_select_current(s, &set, err) < 0)
        return -1;
    const char *passed = set ? "Docker is set to its current context" : NULL;
    if (add_socket(s, CORDON_ENGINE_DOCKER, DOCKER_SYSTEM_SOCKET, passed, err) < 0)
        return -1;
    return add_user_socket(s, CORDON_ENGINE_DOCKER, "docker.sock", passed, err);
}

static int add_sockets(cordon_selection *s, cordon_engine_kind only, cordon_err *err)
{
    if (wanted(CORDON_ENGINE_PODMAN, only) && add_podman_sockets(s, err) < 0)
        return -1;
    return wanted(CORDON_ENGINE_DOCKER, only) ? add_docker_sockets(s, err) : 0;
}

static int add_service(cordon_selection *s, cordon_engine_kind only, cordon_err *err)
{
    cordon_autofree char *program = NULL;
    const char *name = s->config->podman_program;
    bool never = s->config->podman_service != CORDON_PODMAN_SERVICE_AUTO;
    cordon_draft from = {
        .name = "podman", .kind = CORDON_ENGINE_PODMAN, .origin = CORDON_ORIGIN_AUTO};
    if (!wanted(CORDON_ENGINE_PODMAN, only))
        return 0;
    if (!never && (note_looked(s, name, err) < 0 ||
                   find_program(name, s->env->path, s->probe, s->context, &program, err) < 0))
        return -1;
    from.program = program;
    if (!program)
        from.passed = never ? "podman_service is \"never\"" : "there is no such program";
    return program
               ? cordon_selection_add(s, &from, err, "%s is installed and can serve this run",
                                      CORDON_QUOTE(program))
               : cordon_selection_add(s, &from, err, "%s could serve this run", CORDON_QUOTE(name));
}

/* All automatic candidates of a kind, or of every kind. */
static int add_automatic(cordon_selection *s, cordon_engine_kind only, cordon_err *err)
{
    if (add_configured(s, only, err) < 0 || add_sockets(s, only, err) < 0)
        return -1;
    return add_service(s, only, err);
}

static int select_automatic(cordon_selection *s, cordon_err *err)
{
    if (cordon_select_has_variable(s, CORDON_ENGINE_PODMAN))
        return cordon_select_variable(s, CORDON_ENGINE_PODMAN, err);
    if (cordon_select_has_variable(s, CORDON_ENGINE_DOCKER))
        return cordon_select_variable(s, CORDON_ENGINE_DOCKER, err);
    return add_automatic(s, CORDON_ENGINE_UNKNOWN, err);
}

/* Nothing is to be tried. */
static int fail_none(const cordon_selection *s, cordon_err *err)
{
    if (s->broken.code != CORDON_OK)
        return CORDON_FAIL(err, s->broken.code, "Docker's current context: %s", s->broken.message);
    return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE,
                       "no engine found; looked for %.300s; install and start Docker or Podman, or "
                       "name one with --engine, CONTAINER_HOST or DOCKER_HOST",
                       cordon_buf_text(&s->looked));
}

/* --- By name ------------------------------------------------------------------------------- */

static int fail_unknown(const cordon_selection *s, const char *source, const char *name,
                        cordon_err *err)
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
static int add_default_socket(cordon_selection *s, cordon_engine_kind kind, const char *source,
                              cordon_err *err)
{
    char endpoint[1024] = "unix://" DOCKER_SYSTEM_SOCKET;
    if (kind == CORDON_ENGINE_PODMAN && (s->env->uid == 0 || s->runtime_dir[0] == '\0'))
        (void)snprintf(endpoint, sizeof endpoint, "unix://%s", PODMAN_SYSTEM_SOCKET);
    else if (kind == CORDON_ENGINE_PODMAN)
        (void)snprintf(endpoint, sizeof endpoint, "unix://%s/podman/podman.sock", s->runtime_dir);
    cordon_draft from = {.name = cordon_engine_kind_name(kind),
                         .kind = kind,
                         .endpoint = endpoint,
                         .origin = CORDON_ORIGIN_EXPLICIT};
    return cordon_selection_add(s, &from, err, "%s, default socket", source);
}

/*
 * One candidate for a kind's name: its variable, else the first automatic one, else the default. A
 * current context that leads nowhere is no reason for the default: Docker's client would fail, too.
 */
static int select_kind(cordon_selection *s, cordon_engine_kind kind, const char *source,
                       cordon_err *err)
{
    if (cordon_select_has_variable(s, kind))
        return cordon_select_variable(s, kind, err);
    if (add_automatic(s, kind, err) < 0)
        return -1;
    bool first = true;
    for (size_t i = 0; i < s->found.count; i++) {
        cordon_candidate *candidate = &s->found.items[i];
        if (candidate->passed)
            continue;
        if (!first &&
            cordon_text_copy("the first of its kind decides", &candidate->passed, err) < 0)
            return -1;
        candidate->origin = CORDON_ORIGIN_EXPLICIT;
        first = false;
    }
    return first && s->broken.code == CORDON_OK ? add_default_socket(s, kind, source, err) : 0;
}

/* source: "--engine", "CORDON_ENGINE", "engine in the configuration". */
static int select_name(cordon_selection *s, const char *source, const char *name, cordon_err *err)
{
    const cordon_engine_config *engine = cordon_config_engine(s->config, name);
    cordon_engine_kind kind = kind_of(name);
    cordon_err none = CORDON_ERR_INIT;
    if (engine) {
        cordon_draft from = from_config(engine, CORDON_ORIGIN_EXPLICIT);
        return cordon_selection_add(s, &from, err, "%s is \"%s\"", source, name);
    }
    if (kind != CORDON_ENGINE_UNKNOWN)
        return select_kind(s, kind, source, err);
    if (strcmp(name, CORDON_NAME_DOCKER CORDON_DOCKER_DEFAULT) == 0)
        return add_default_socket(s, CORDON_ENGINE_DOCKER, source, err);
    if (cordon_select_named(s, source, name, &none) == 0)
        return 0;
    if (none.code == CORDON_ERR_NOTFOUND)
        return fail_unknown(s, source, name, err);
    if (err)
        *err = none;
    return -1;
}

static int select_all(cordon_selection *s, cordon_err *err)
{
    const struct {
        const char *source;
        const char *name;
    } asked[] = {{"--engine", s->env->option},
                 {"CORDON_ENGINE", s->env->cordon_engine},
                 {"engine in the configuration", s->config->engine}};
    if (s->env->option && !cordon_select_is_set(s->env->option))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "--engine needs a name, or auto");
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (!cordon_select_is_set(asked[i].name))
            continue;
        if (strcmp(asked[i].name, "auto") == 0)
            break;
        return select_name(s, asked[i].source, asked[i].name, err);
    }
    return select_automatic(s, err);
}

/* A relative runtime folder is nobody's (XDG base directory specification): passed over. */
static void find_runtime_dir(cordon_selection *s)
{
    const char *folder = s->env->runtime_dir;
    if (cordon_select_is_set(folder) && folder[0] == '/' && strlen(folder) < sizeof s->runtime_dir)
        (void)snprintf(s->runtime_dir, sizeof s->runtime_dir, "%s", folder);
    else if (!cordon_select_is_set(folder))
        (void)snprintf(s->runtime_dir, sizeof s->runtime_dir, "/run/user/%u",
                       (unsigned)s->env->uid);
}

int cordon_select_order(const cordon_config *config, const cordon_select_env *env,
                        cordon_probe_fn *probe, void *context, cordon_candidates *ret_candidates,
                        cordon_err *ret_none, cordon_err *err)
{
    cordon_selection s = {.config = config,
                          .env = env,
                          .probe = probe,
                          .context = context,
                          .looked = cordon_buf_make(LOOKED_MAX)};
    find_runtime_dir(&s);
    int rc = select_all(&s, err);
    if (rc == 0 && usable(&s.found) == 0)
        (void)fail_none(&s, ret_none);
    if (rc == 0)
        *ret_candidates = s.found;
    else
        cordon_candidates_clear(&s.found);
    cordon_buf_clear(&s.looked);
    return rc;
}

int cordon_select(const cordon_config *config, const cordon_select_env *env, cordon_probe_fn *probe,
                  void *context, cordon_candidates *ret_candidates, cordon_err *err)
{
    cordon_auto(cordon_candidates) found = {0};
    cordon_err none = CORDON_ERR_INIT;
    if (cordon_select_order(config, env, probe, context, &found, &none, err) < 0)
        return -1;
    if (none.code != CORDON_OK) {
        if (err)
            *err = none;
        return -1;
    }
    *ret_candidates = found;
    found = (cordon_candidates){0};
    return 0;
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

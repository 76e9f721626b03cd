/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing and opening an engine; see session.h and cordon/cordon.h. */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "engine_cache.h"
#include "handle.h"
#include "kit/cleanup.h"
#include "ssh.h"

#define SESSION_UNIX "unix://"

const char *cordon_session_socket(const cordon_engine *engine)
{
    if (engine->endpoint == NULL ||
        strncmp(engine->endpoint, SESSION_UNIX, strlen(SESSION_UNIX)) != 0)
        return NULL;
    return engine->endpoint + strlen(SESSION_UNIX);
}

cordon_select_env cordon_session_env(const cordon_host *host, const char *option)
{
    return (cordon_select_env){
        .option = option,
        .cordon_engine = host->env_engine,
        .container_host = host->env_container,
        .docker_host = host->env_docker,
        .docker_tls = host->env_docker_tls,
        .docker_certs = host->env_docker_certs,
        .docker_context = host->env_docker_context,
        .docker_config = host->env_docker_config,
        .container_connection = host->env_connection,
        .container_sshkey = host->env_sshkey,
        .home = host->home,
        .config_home = host->config_home,
        .runtime_dir = host->runtime_dir,
        .path = host->path,
        .uid = host->uid,
    };
}

static void engine_destroy(cordon_engine *engine)
{
    if (engine == NULL)
        return;
    if (engine->impl != NULL)
        engine->ops->close(engine->impl);
    cordon_engine_facts_clear(&engine->facts);
    cordon_service_stop(&engine->service);
    free(engine->name);
    free(engine->endpoint);
    free(engine->why);
    free(engine);
}
CORDON_DEFINE_AUTO_PTR(cordon_engine, engine_destroy)

void cordon_engine_free(cordon_engine *engine)
{
    if (cordon_handle_remove(CORDON_HANDLE_ENGINE, engine))
        engine_destroy(engine);
}

static const cordon_engine_ops *session_ops(cordon_engine_kind kind)
{
    for (size_t i = 0; cordon_engine_registry[i] != NULL; i++) {
        if (cordon_engine_registry[i]->kind == kind)
            return cordon_engine_registry[i];
    }
    return NULL;
}

/* Fills *ret_address with "unix://" and the socket of our own program. */
static int session_own_socket(const cordon_engine *engine, char **ret_address, cordon_err *err)
{
    if (asprintf(ret_address, SESSION_UNIX "%s", engine->service.socket_path) >= 0)
        return 0;
    *ret_address = NULL;
    return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
}

static int session_serve(cordon_engine *engine, const cordon_candidate *candidate,
                         const char *runtime_dir, cordon_deadline dl, cordon_err *err)
{
    if (cordon_service_start(engine->ops, candidate->program, runtime_dir, &engine->service, err) !=
            0 ||
        cordon_service_await(&engine->service, dl, err) != 0)
        return -1;
    return session_own_socket(engine, &engine->endpoint, err);
}

static int session_forward(cordon_engine *engine, const cordon_candidate *candidate,
                           const char *runtime_dir, cordon_deadline dl, char **ret_address,
                           cordon_err *err)
{
    const cordon_service_route route = {
        .program = candidate->program,
        .endpoint = candidate->endpoint,
        .identity = candidate->identity,
        .kind = candidate->kind,
    };

    if (candidate->program == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE,
                           "%s: no ssh program found; install openssh-client, or name one with "
                           "ssh_program in the configuration",
                           CORDON_QUOTE(candidate->endpoint));
    if (cordon_service_forward(&route, runtime_dir, &engine->service, err) != 0 ||
        cordon_service_await(&engine->service, dl, err) != 0) {
        cordon_err_wrap(err, "%s", CORDON_QUOTE(candidate->endpoint));
        return -1;
    }
    return session_own_socket(engine, ret_address, err);
}

/* What the engine can do: remembered from an earlier run of the same daemon, or asked. */
static int session_describe(cordon_engine *engine, const char *state_dir, cordon_deadline dl,
                            cordon_err *err)
{
    /* A service of our own lives for this session alone: nothing to remember. */
    const char *socket = engine->service.pid > 0 ? NULL : cordon_session_socket(engine);
    const char *identity = engine->ops->identity(engine->impl);

    if (cordon_engine_cache_load(state_dir, socket, identity, &engine->facts))
        return 0;
    if (engine->ops->describe(engine->impl, dl, &engine->facts, err) != 0)
        return -1;
    cordon_engine_cache_save(state_dir, socket, identity, &engine->facts);
    return 0;
}

/* Where the engine answers: its endpoint, or the socket of the program that was started for it. */
static int session_address(cordon_engine *engine, const cordon_candidate *candidate,
                           const char *runtime_dir, cordon_deadline dl, char **ret_address,
                           cordon_err *err)
{
    if (candidate->endpoint == NULL)
        return session_serve(engine, candidate, runtime_dir, dl, err) == 0
                   ? cordon_fact_text_set(ret_address, engine->endpoint, err)
                   : -1;
    if (cordon_fact_text_set(&engine->endpoint, candidate->endpoint, err) != 0)
        return -1;
    if (cordon_ssh_is_endpoint(candidate->endpoint))
        return session_forward(engine, candidate, runtime_dir, dl, ret_address, err);
    return cordon_fact_text_set(ret_address, candidate->endpoint, err);
}

/*
 * ssh makes its socket before it knows whether there is one on the other side, so that a connection
 * to nothing is one that was cut; why is told by ssh alone.
 */
static void session_explain(const cordon_engine *engine, cordon_err *err)
{
    if (err == NULL)
        return;
    if (cordon_ssh_is_endpoint(engine->endpoint)) {
        if (err->code == CORDON_ERR_PROTOCOL)
            cordon_service_explain(&engine->service, err);
        cordon_err_wrap(err, "%s", CORDON_QUOTE(engine->endpoint));
    } else if (err->code == CORDON_ERR_UNSUPPORTED) {
        /* All others name the endpoint; this one only what answered there. */
        cordon_err_wrap(err, "%s", CORDON_QUOTE(engine->endpoint));
    }
}

static int session_connect(cordon_engine *engine, const cordon_candidate *candidate,
                           const cordon_host *host, cordon_deadline dl, cordon_err *err)
{
    cordon_autofree char *endpoint = NULL;

    if (session_address(engine, candidate, host->runtime_dir, dl, &endpoint, err) != 0)
        return -1;
    const cordon_engine_address address = {
        .endpoint = endpoint,
        .forwarded = cordon_ssh_is_endpoint(engine->endpoint),
        .tls_ca_file = candidate->tls_ca_file,
        .tls_cert_file = candidate->tls_cert_file,
        .tls_key_file = candidate->tls_key_file,
    };
    if (engine->ops->open(&address, dl, &engine->impl, err) != 0) {
        session_explain(engine, err);
        return -1;
    }
    return session_describe(engine, host->state_dir, dl, err);
}

static int session_try(const cordon_candidate *candidate, const cordon_host *host,
                       cordon_deadline dl, cordon_engine **ret_engine, cordon_err *err)
{
    cordon_auto_ptr(cordon_engine) engine = calloc(1, sizeof(*engine));

    if (engine == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    engine->ops = session_ops((cordon_engine_kind)candidate->kind);
    if (engine->ops == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "this build has no engine of that kind");
    if (cordon_fact_text_set(&engine->name, candidate->name, err) != 0 ||
        cordon_fact_text_set(&engine->why, candidate->why, err) != 0 ||
        session_connect(engine, candidate, host, dl, err) != 0 ||
        cordon_handle_add(CORDON_HANDLE_ENGINE, engine, err) != 0)
        return -1;
    *ret_engine = CORDON_TAKE(engine);
    return 0;
}

/* None of those behind it is to be tried. */
static bool is_last(const cordon_candidates *candidates, size_t at)
{
    for (size_t i = at + 1; i < candidates->count; i++) {
        if (candidates->items[i].passed == NULL)
            return false;
    }
    return true;
}

int cordon_engine_open(const cordon_config *config, const cordon_host *host, const char *name,
                       int64_t budget_ms, int cancel_fd, cordon_engine **ret_engine,
                       cordon_err *err)
{
    cordon_deadline dl = cordon_deadline_in_ms(budget_ms, cancel_fd);
    int64_t began_ns = cordon_now_ns();
    cordon_auto(cordon_candidates) candidates = {0};
    cordon_select_env env = cordon_session_env(host, name);

    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0 ||
        cordon_select(config, &env, cordon_select_probe, NULL, &candidates, err) != 0)
        return -1;
    for (size_t i = 0; i < candidates.count; i++) {
        cordon_err failure = CORDON_ERR_INIT;

        if (candidates.items[i].passed != NULL)
            continue;
        if (session_try(&candidates.items[i], host, dl, ret_engine, &failure) == 0) {
            (*ret_engine)->open_ms = (cordon_now_ns() - began_ns) / CORDON_NS_PER_MS;
            return 0;
        }
        /* SECURITY: only "nothing answers there" moves on to the next automatic candidate. */
        if (failure.code != CORDON_ERR_UNREACHABLE || is_last(&candidates, i)) {
            if (err != NULL)
                *err = failure;
            return -1;
        }
    }
    return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE, "no engine to try");
}

/* TLS files are configuration's to say; the same address has the same ones. */
static void session_tls_of(const cordon_config *config, cordon_candidate *candidate)
{
    for (size_t i = 0; i < config->engines.count; i++) {
        const cordon_engine_config *engine = &config->engines.items[i];

        if (engine->endpoint == NULL || strcmp(engine->endpoint, candidate->endpoint) != 0)
            continue;
        candidate->tls_ca_file = engine->tls_ca_file;
        candidate->tls_cert_file = engine->tls_cert_file;
        candidate->tls_key_file = engine->tls_key_file;
        return;
    }
}

int cordon_session_reopen(const cordon_config *config, const cordon_host *host, const char *kind,
                          const char *endpoint, const char *service, cordon_deadline dl,
                          cordon_engine **ret_engine, cordon_err *err)
{
    cordon_autofree char *why = strdup("an earlier run used it");
    cordon_autofree char *name = strdup(kind);
    cordon_autofree char *address = strdup(endpoint);
    cordon_autofree char *program = service != NULL ? strdup(service) : NULL;
    bool ssh = service == NULL && cordon_ssh_is_endpoint(endpoint);
    cordon_candidate candidate = {
        .name = name,
        .endpoint = service == NULL ? address : NULL,
        .program = program,
        .why = why,
    };

    if (why == NULL || name == NULL || address == NULL || (service != NULL && program == NULL))
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (size_t i = 0; cordon_engine_registry[i] != NULL; i++) {
        if (strcmp(cordon_engine_registry[i]->name, kind) == 0)
            candidate.kind = cordon_engine_registry[i]->kind;
    }
    if (service == NULL)
        session_tls_of(config, &candidate);
    if (ssh && cordon_select_ssh(config, host->path, cordon_select_probe, NULL, &program, err) != 0)
        return -1;
    candidate.program = program;
    return session_try(&candidate, host, dl, ret_engine, err);
}

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

void cordon_engine_describe(const cordon_engine *engine, cordon_engine_info *ret_info)
{
    static const cordon_engine_info no_info = {"", "", "", "", "", "", "", "",
                                               "", 0,  0,  0,  0,  0,  0,  0};
    const cordon_engine_facts *facts = &engine->facts;

    *ret_info = no_info;
    if (!cordon_handle_is_live(CORDON_HANDLE_ENGINE, engine))
        return;
    *ret_info = (cordon_engine_info){
        .name = engine->name,
        .kind = engine->ops->name,
        .endpoint = engine->endpoint,
        .version = text_or_empty(facts->version),
        .api = text_or_empty(facts->api),
        .reason = engine->why,
        .storage_driver = text_or_empty(facts->storage_driver),
        .storage_root = text_or_empty(facts->storage_root),
        .runtime = text_or_empty(facts->runtime),
        .rootless = facts->rootless == CORDON_FACT_YES,
        .cgroup_version = facts->cgroup_version.known ? (int)facts->cgroup_version.value : 0,
        .limits_memory = (facts->can & CORDON_CAN_LIMIT_MEMORY) != 0,
        .limits_cpu = (facts->can & CORDON_CAN_LIMIT_CPU) != 0,
        .limits_pids = (facts->can & CORDON_CAN_LIMIT_PIDS) != 0,
        .default_seccomp = (facts->can & CORDON_CAN_DEFAULT_SECCOMP) != 0,
        .hides_runtime = (facts->can & CORDON_CAN_SHOW_RUNTIME) != 0,
    };
}

void cordon_engine_candidates_free(cordon_engine_candidate *candidates, size_t count)
{
    for (size_t i = 0; candidates != NULL && i < count; i++) {
        free(candidates[i].name);
        free(candidates[i].kind);
        free(candidates[i].endpoint);
        free(candidates[i].reason);
        free(candidates[i].passed);
    }
    free(candidates);
}

static int candidate_copy(const cordon_candidate *from, cordon_engine_candidate *to,
                          cordon_err *err)
{
    const cordon_engine_ops *ops = session_ops((cordon_engine_kind)from->kind);

    if (cordon_fact_text_set(&to->name, from->name, err) != 0 ||
        cordon_fact_text_set(&to->kind, ops != NULL ? ops->name : "unknown", err) != 0 ||
        cordon_fact_text_set(&to->endpoint,
                             from->endpoint ? from->endpoint : "(started for the run)", err) != 0)
        return -1;
    if (from->passed != NULL && cordon_fact_text_set(&to->passed, from->passed, err) != 0)
        return -1;
    return cordon_fact_text_set(&to->reason, from->why, err);
}

int cordon_engine_candidates(const cordon_config *config, const cordon_host *host, const char *name,
                             cordon_engine_candidate **ret_candidates, size_t *ret_count,
                             cordon_err *err)
{
    cordon_auto(cordon_candidates) found = {0};
    cordon_select_env env = cordon_session_env(host, name);
    cordon_engine_candidate *list;
    cordon_err none = CORDON_ERR_INIT;

    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0 ||
        cordon_select_order(config, &env, cordon_select_probe, NULL, &found, &none, err) != 0)
        return -1;
    list = calloc(found.count > 0 ? found.count : 1, sizeof(*list));
    if (list == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < found.count; i++) {
        if (candidate_copy(&found.items[i], &list[i], err) != 0) {
            cordon_engine_candidates_free(list, found.count);
            return -1;
        }
    }
    *ret_candidates = list;
    *ret_count = found.count;
    return 0;
}

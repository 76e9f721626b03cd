/* SPDX-License-Identifier: Apache-2.0 */
/* The Docker engine's one symbol: opening, negotiating, describing, closing. */
#include "docker_internal.h"

#include <string.h>

#include "docker_decode.h"
#include "kit/endpoint.h"

#define USE_PODMAN                                                                                 \
    "this is Podman's Docker-compatible API, not Docker: use kind = \"podman\" with this endpoint"

extern const cordon_engine_ops cordon_docker_ops;

static const docker_op ping_op = {
    .what = "ping the daemon",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};
/* 400: the daemon's lowest version is above our highest. */
static const docker_quirk version_quirks[] = {
    {400, "too old", CORDON_ERR_UNSUPPORTED},
    {400, "too new", CORDON_ERR_UNSUPPORTED},
};
static const docker_op version_op = {
    .what = "ask for the version",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
    .quirks = version_quirks,
    .quirk_count = 2,
};
static const docker_op info_op = {
    .what = "describe the daemon",
    .method = "GET",
    .expected = 200,
    .answer_max_bytes = DOCKER_ANSWER_MAX_BYTES,
};

static void docker_close(void *impl)
{
    docker_engine *engine = impl;
    if (!engine)
        return;
    cordon_httpc_free(engine->http);
    free(engine->version);
    free(engine->os);
    free(engine->architecture);
    free(engine);
}
CORDON_DEFINE_AUTO_PTR(docker_engine, docker_close)

/* The highest version that both sides know; the daemon's lowest is asked for by /version. */
static int negotiate(docker_engine *engine, const char *daemon_api, cordon_err *err)
{
    unsigned minor = 0;
    if (docker_decode_api(daemon_api, &minor, err) != 0) {
        cordon_err_wrap(err, "%s does not answer like Docker", cordon_httpc_name(engine->http));
        return -1;
    }
    if (minor < DOCKER_API_MINOR_MIN)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Docker speaks API 1.%u; Cordon needs 1.%u (Docker 20.10) or later",
                           minor, DOCKER_API_MINOR_MIN);
    engine->api_minor = minor < DOCKER_API_MINOR_MAX ? minor : DOCKER_API_MINOR_MAX;
    return 0;
}

static int ping(docker_engine *engine, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    if (cordon_buf_append_text(&path, "/_ping", err) != 0 ||
        docker_call(engine, &ping_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    if (response.libpod_api_version[0] != '\0')
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, USE_PODMAN);
    if (response.ostype[0] != '\0' && strcmp(response.ostype, "linux") != 0)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "this Docker runs \"%s\" containers: Cordon needs linux ones",
                           CORDON_QUOTE(response.ostype));
    return negotiate(engine, response.api_version, err);
}

static int ask_version(docker_engine *engine, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(docker_version) version = {0};
    if (docker_path(engine, &path, err, "/version") != 0 ||
        docker_call(engine, &version_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    if (docker_decode_version(response.body.data, response.body.length, &version, err) != 0) {
        cordon_err_wrap(err, "docker, ask for the version");
        return -1;
    }
    if (version.is_podman)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, USE_PODMAN);
    engine->version = CORDON_TAKE(version.version);
    engine->os = CORDON_TAKE(version.os);
    engine->architecture = CORDON_TAKE(version.architecture);
    return 0;
}

static int docker_open(const cordon_engine_address *address, cordon_deadline dl, void **ret_impl,
                       cordon_err *err)
{
    cordon_auto_ptr(docker_engine) engine = calloc(1, sizeof *engine);
    if (!engine)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (cordon_endpoint_client(address->endpoint, address->tls_ca_file, address->tls_cert_file,
                               address->tls_key_file, &engine->http, err) != 0 ||
        ping(engine, dl, err) != 0 || ask_version(engine, dl, err) != 0)
        return -1;
    *ret_impl = CORDON_TAKE(engine);
    return 0;
}

static int add_identity(const docker_engine *engine, cordon_engine_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_buf) api = cordon_buf_make(16);
    facts->kind = CORDON_ENGINE_DOCKER;
    if (cordon_buf_printf(&api, err, "1.%u", engine->api_minor) != 0 ||
        cordon_fact_text_set(&facts->api, cordon_buf_text(&api), err) != 0 ||
        cordon_fact_text_set(&facts->version, engine->version, err) != 0 ||
        cordon_fact_text_set(&facts->os, engine->os, err) != 0)
        return -1;
    /* /info has the kernel's word (x86_64), images and /version have Go's (amd64) */
    return cordon_fact_text_set(&facts->architecture, engine->architecture, err);
}

static const char *docker_identity(void *impl)
{
    const docker_engine *engine = impl;
    return engine->version;
}

static int docker_describe(void *impl, cordon_deadline dl, cordon_engine_facts *ret_facts,
                           cordon_err *err)
{
    const docker_engine *engine = impl;
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_engine_facts) facts = {0};
    if (docker_path(engine, &path, err, "/info") != 0 ||
        docker_call(engine, &info_op, &path, (docker_body){0}, dl, &response, err) != 0)
        return -1;
    if (docker_decode_info(response.body.data, response.body.length, &facts, err) != 0) {
        cordon_err_wrap(err, "docker, describe the daemon");
        return -1;
    }
    if (add_identity(engine, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_engine_facts){0};
    return 0;
}

static int docker_serve(const char *program, const char *socket_path, char ***ret_argv,
                        cordon_err *err)
{
    (void)program;
    (void)socket_path;
    (void)ret_argv;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                       "Docker cannot be served for one run: start dockerd, or use Podman");
}

const cordon_engine_ops cordon_docker_ops = {
    .kind = CORDON_ENGINE_DOCKER,
    .name = "docker",
    .open = docker_open,
    .close = docker_close,
    .identity = docker_identity,
    .describe = docker_describe,
    .serve = docker_serve,
    .image_resolve = docker_image_resolve,
    .image_load = docker_image_load,
    .image_remove = docker_image_remove,
    .image_list = docker_image_list,
    .network_create = docker_network_create,
    .network_inspect = docker_network_inspect,
    .network_connect = docker_network_connect,
    .network_remove = docker_network_remove,
    .volume_create = docker_volume_create,
    .volume_inspect = docker_volume_inspect,
    .volume_remove = docker_volume_remove,
    .container_create = docker_container_create,
    .container_inspect = docker_container_inspect,
    .container_attach = docker_container_attach,
    .container_prepare = docker_container_prepare,
    .container_runtime = docker_container_runtime,
    .container_start = docker_container_start,
    .container_signal = docker_container_signal,
    .container_wait = docker_container_wait,
    .container_remove = docker_container_remove,
    .container_log = docker_container_log,
    .container_changes = docker_container_changes,
    .list_by_label = docker_list_by_label,
    .events_open = docker_events_open,
    .events_parse = docker_events_parse,
};

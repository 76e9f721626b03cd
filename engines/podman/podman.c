/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman engine: its table of operations, open with negotiation, describe, and how to serve a
 * local daemon. Everything else is in the files beside it.
 */
#include "podman_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/endpoint.h"
#include "kit/num.h"
#include "podman_decode.h"

#define NEED_MAJOR 4
#define NEED_MINOR 3

static void podman_close(void *impl)
{
    podman *engine = impl;
    if (!engine)
        return;
    cordon_httpc_free(engine->http);
    free(engine);
}

static void cleanup_engine(podman **engine)
{
    podman_close(*engine);
}

/* "5.4.2", "5.0.0-dev" -> 5 and 4. */
static bool read_version(const char *text, uint64_t *ret_major, uint64_t *ret_minor)
{
    cordon_err scratch = CORDON_ERR_INIT;
    size_t major = strcspn(text, ".");
    if (text[major] != '.')
        return false;
    const char *rest = text + major + 1;
    size_t minor = strcspn(rest, ".-");
    return cordon_num_u64(text, major, 0, 1000, ret_major, &scratch) == 0 &&
           cordon_num_u64(rest, minor, 0, 1000, ret_minor, &scratch) == 0;
}

static int check_version(podman *engine, const cordon_httpc_response *pong, cordon_err *err)
{
    uint64_t major = 0;
    uint64_t minor = 0;
    const char *name = cordon_httpc_name(engine->http);
    const char *version = pong->libpod_api_version;
    if (!read_version(version, &major, &minor))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: \"%s\" is no version of Podman", name,
                           CORDON_QUOTE(version));
    if (major < NEED_MAJOR || (major == NEED_MAJOR && minor < NEED_MINOR))
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "%s: Podman %s is too old; Cordon needs 4.3 or later", name, version);
    engine->major = (int)major;
    (void)snprintf(engine->version, sizeof engine->version, "%s", version);
    return 0;
}

/*
 * Who answers? libpod's ping has a header of its own. libpod does not check the version in a
 * path (/v9.0.0/libpod works, too), so only the header can say what it understands.
 */
static int negotiate(podman *engine, cordon_deadline dl, cordon_err *err)
{
    cordon_auto(cordon_httpc_response) pong = {0};
    cordon_httpc_request request = {
        .method = "GET",
        .path = "/libpod/_ping",
        .response_max_bytes = PODMAN_ANSWER_MAX,
    };
    const char *name = cordon_httpc_name(engine->http);
    if (cordon_httpc_call(engine->http, &request, dl, &pong, err) != 0)
        return -1;
    if (pong.libpod_api_version[0] == '\0' && pong.api_version[0] != '\0')
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "%s: this is a Docker daemon; use kind = docker", name);
    if (pong.libpod_api_version[0] == '\0' || pong.status != 200)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "%s: no Podman answers here (HTTP %d, server \"%s\")", name, pong.status,
                           CORDON_QUOTE(pong.server));
    return check_version(engine, &pong, err);
}

/* A unix socket's owner: whom the files of the daemon behind it belong to. */
static void find_owner(podman *engine, const char *endpoint)
{
    static const char scheme[] = "unix://";
    struct stat st;
    if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0 ||
        stat(endpoint + sizeof scheme - 1, &st) != 0)
        return;
    engine->local = true;
    engine->owner = st.st_uid;
}

static int podman_open(const cordon_engine_address *address, cordon_deadline dl, void **ret_impl,
                       cordon_err *err)
{
    cordon_cleanup(cleanup_engine) podman *engine = calloc(1, sizeof *engine);
    if (!engine)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (cordon_endpoint_client(address->endpoint, address->tls_ca_file, address->tls_cert_file,
                               address->tls_key_file, &engine->http, err) != 0 ||
        negotiate(engine, dl, err) != 0)
        return -1;
    if (!address->forwarded)
        find_owner(engine, address->endpoint);
    *ret_impl = CORDON_TAKE(engine);
    return 0;
}

static int add_identity(const podman *engine, cordon_engine_facts *facts, cordon_err *err)
{
    if (cordon_fact_text_set(&facts->version, engine->version, err) != 0)
        return -1;
    return cordon_fact_text_set(&facts->api, PODMAN_API, err);
}

static const char *podman_identity(void *impl)
{
    const podman *engine = impl;
    return engine->version;
}

static int podman_describe(void *impl, cordon_deadline dl, cordon_engine_facts *ret_facts,
                           cordon_err *err)
{
    podman *engine = impl;
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto(cordon_engine_facts) facts = {0};
    podman_request request = {
        .what = "describe Podman",
        .method = "GET",
        .path = "/info",
        .want = 200,
    };
    if (podman_call(engine, &request, dl, &answer, err) != 0)
        return -1;
    if (podman_decode_info(answer.body.data, answer.body.length, engine->major, &facts, err) != 0) {
        cordon_err_wrap(err, "%s", cordon_httpc_name(engine->http));
        return -1;
    }
    if (add_identity(engine, &facts, err) != 0)
        return -1;
    atomic_store(&engine->rootful, facts.rootless == CORDON_FACT_NO);
    *ret_facts = facts;
    facts = (cordon_engine_facts){0};
    return 0;
}

#define SERVE_WORDS 5

/* --time=0: without it the service ends by itself after 5 s of silence. */
static int fill_argv(char **argv, const char *program, const char *socket_path, cordon_err *err)
{
    cordon_auto(cordon_buf) url = cordon_buf_make(PODMAN_PATH_MAX);
    if (cordon_buf_printf(&url, err, "unix://%s", socket_path) != 0)
        return -1;
    const char *const words[SERVE_WORDS] = {program, "system", "service", "--time=0",
                                            cordon_buf_text(&url)};
    for (size_t i = 0; i < SERVE_WORDS; i++) {
        if (cordon_fact_text_set(&argv[i], words[i], err) != 0)
            return -1;
    }
    return 0;
}

static int podman_serve(const char *program, const char *socket_path, char ***ret_argv,
                        cordon_err *err)
{
    if (socket_path[0] != '/')
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "socket path \"%s\" is not absolute",
                           CORDON_QUOTE(socket_path));
    char **argv = calloc(SERVE_WORDS + 1, sizeof *argv);
    if (!argv)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (fill_argv(argv, program, socket_path, err) == 0) {
        *ret_argv = argv;
        return 0;
    }
    for (size_t i = 0; i < SERVE_WORDS; i++)
        free(argv[i]);
    free(argv);
    return -1;
}

extern const cordon_engine_ops cordon_podman_ops;

const cordon_engine_ops cordon_podman_ops = {
    .kind = CORDON_ENGINE_PODMAN,
    .name = "podman",
    .open = podman_open,
    .close = podman_close,
    .identity = podman_identity,
    .describe = podman_describe,
    .serve = podman_serve,
    .image_resolve = podman_image_resolve,
    .image_load = podman_image_load,
    .image_remove = podman_image_remove,
    .image_list = podman_image_list,
    .network_create = podman_network_create,
    .network_inspect = podman_network_inspect,
    .network_connect = podman_network_connect,
    .network_remove = podman_network_remove,
    .volume_create = podman_volume_create,
    .volume_inspect = podman_volume_inspect,
    .volume_remove = podman_volume_remove,
    .container_create = podman_container_create,
    .container_inspect = podman_container_inspect,
    .container_attach = podman_container_attach,
    .container_prepare = podman_container_prepare,
    .container_runtime = podman_container_runtime,
    .container_start = podman_container_start,
    .container_signal = podman_container_signal,
    .container_wait = podman_container_wait,
    .container_remove = podman_container_remove,
    .container_log = podman_container_log,
    .container_changes = podman_container_changes,
    .list_by_label = podman_list_by_label,
    .events_open = podman_events_open,
    .events_parse = podman_events_parse,
};

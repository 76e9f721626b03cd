/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the contract suite: opening, naming, specifying, cleaning up. */
#include "contract.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/httpc.h"
#include "kit/stdcopy.h"

const contract_engine *contract_under_test;

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(120000, -1);
}

static bool open_and_describe(session *s)
{
    cordon_err err = CORDON_ERR_INIT;
    const contract_engine *engine = contract_under_test;
    return CHECK_OK(engine->ops->open(&engine->address, soon(), &s->impl, &err), err) &&
           CHECK_OK(engine->ops->describe(s->impl, soon(), &s->facts, &err), err);
}

bool session_open(session *s)
{
    cordon_err err = CORDON_ERR_INIT;
    *s = (session){.ops = contract_under_test->ops};
    if (!CHECK_OK(cordon_random_hex(s->token, 32, &err), err))
        return false;
    (void)snprintf(s->label, sizeof s->label, "cordon.contract=%s", s->token);
    s->labels[0] = s->label;
    s->labels[1] = "cordon.role=case";
    const char *image = contract_under_test->image;
    const char *hex = strncmp(image, "sha256:", 7) == 0 ? image + 7 : image;
    (void)snprintf(s->image, sizeof s->image, "%s", hex);
    return open_and_describe(s);
}

static void remove_container(session *s, const char *id)
{
    cordon_err err = CORDON_ERR_INIT;
    int rc = s->ops->container_remove(s->impl, id, soon(), &err);
    TEST_RECORDF(rc == 0 || err.code == CORDON_ERR_NOTFOUND, "cleanup of container %s: %.300s", id,
                 err.message);
}

static void remove_network(session *s, const char *id)
{
    cordon_err err = CORDON_ERR_INIT;
    int rc = s->ops->network_remove(s->impl, id, soon(), &err);
    TEST_RECORDF(rc == 0 || err.code == CORDON_ERR_NOTFOUND, "cleanup of network %s: %.300s", id,
                 err.message);
}

void session_close(session *s)
{
    for (size_t i = 0; i < CONTRACT_NAMES_MAX; i++) {
        if (s->containers[i])
            remove_container(s, s->containers[i]);
        free(s->containers[i]);
    }
    for (size_t i = 0; i < CONTRACT_NAMES_MAX; i++) {
        if (s->networks[i])
            remove_network(s, s->networks[i]);
        free(s->networks[i]);
    }
    if (s->folder[0] != '\0')
        CHECK(rmdir(s->folder) == 0);
    cordon_engine_facts_clear(&s->facts);
    if (s->impl)
        s->ops->close(s->impl);
    *s = (session){0};
}

const char *session_name(session *s)
{
    char *name = s->names[s->name_count++ % CONTRACT_NAMES_MAX];
    (void)snprintf(name, sizeof s->names[0], "contract-%s-%zu", s->token, s->name_count);
    return name;
}

bool session_folder(session *s)
{
    char folder[] = "/var/tmp/cordon-contract-XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL) || !CHECK(chmod(folder, 0777) == 0))
        return false;
    (void)snprintf(s->folder, sizeof s->folder, "%s", folder);
    return true;
}

static const char *remember(char **slots, char *id)
{
    for (size_t i = 0; i < CONTRACT_NAMES_MAX; i++) {
        if (!slots[i]) {
            slots[i] = id;
            return id;
        }
    }
    CHECK(!"too many objects in one case");
    free(id);
    return NULL;
}

void remember_container(session *s, char *id)
{
    (void)remember(s->containers, id);
}

static void forget_in(char **slots, const char *id)
{
    for (size_t i = 0; i < CONTRACT_NAMES_MAX; i++) {
        if (slots[i] && strcmp(slots[i], id) == 0) {
            free(slots[i]);
            slots[i] = NULL;
            return;
        }
    }
}

void forget(session *s, const char *id)
{
    char copy[CORDON_ID_HEX + 1];
    (void)snprintf(copy, sizeof copy, "%s", id);
    forget_in(s->containers, copy);
    forget_in(s->networks, copy);
}

const char *make_network(session *s, const cordon_network_spec *spec)
{
    char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    bool made = CHECK_OK(s->ops->network_create(s->impl, spec, soon(), &id, NULL, &err), err);
    const char *kept = id ? remember(s->networks, id) : NULL;
    return made ? kept : NULL;
}

const char *make_container(session *s, const cordon_container_spec *spec)
{
    char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    bool made = CHECK_OK(s->ops->container_create(s->impl, spec, soon(), &id, &err), err);
    const char *kept = id ? remember(s->containers, id) : NULL;
    return made ? kept : NULL;
}

/* Two bytes of the token choose the subnet, so that suites running side by side rarely meet. */
cordon_network_spec network_spec(session *s, unsigned octet, bool internal)
{
    static char subnets[CONTRACT_NAMES_MAX][32];
    char *subnet = subnets[octet % CONTRACT_NAMES_MAX];
    unsigned salt = (unsigned)(s->token[0] * 31 + s->token[1] * 7 + s->token[2]) % 200;
    (void)snprintf(subnet, sizeof subnets[0], "10.%u.%u.0/29", 211 + octet % 8, salt);
    return (cordon_network_spec){
        .name = session_name(s),
        .subnet = subnet,
        .internal = internal,
        .no_gateway = internal,
        .isolated = true,
        .labels = {s->labels, 2},
    };
}

static cordon_limits_spec limits_of(const session *s)
{
    unsigned can = s->facts.can;
    return (cordon_limits_spec){
        .memory_bytes = (can & CORDON_CAN_LIMIT_MEMORY) != 0 ? INT64_C(64) << 20 : 0,
        .nano_cpus = (can & CORDON_CAN_LIMIT_CPU) != 0 ? INT64_C(1000000000) : 0,
        .pids = (can & CORDON_CAN_LIMIT_PIDS) != 0 ? 64 : 0,
        .open_files = 512,
        .user_processes = 512,
        .shm_bytes = INT64_C(1) << 20,
    };
}

void shell_spec_init(session *s, const char *script, shell_spec *ret)
{
    *ret = (shell_spec){
        .entrypoint = {"/bin/sh", "-c"},
        .command = {script},
        .environment = {"PATH=/bin", "EMPTY="},
        .sysctls = {"net.ipv6.conf.all.disable_ipv6=1"},
        .dns = {"127.0.0.1"},
        .mounts = {{.type = CORDON_MOUNT_TMPFS,
                    .source = "",
                    .target = "/tmp",
                    .no_exec = true,
                    .size_bytes = INT64_C(1) << 20,
                    .mode_octal = 01777}},
    };
    ret->spec = (cordon_container_spec){
        .name = session_name(s),
        .image_id = s->image,
        .labels = {s->labels, 2},
        .entrypoint = {ret->entrypoint, 2},
        .command = {ret->command, 1},
        .environment = {ret->environment, 2},
        .user = "1000:1000",
        .working_dir = "/tmp",
        .hostname = "case",
        .userns = CORDON_USERNS_HOST,
        .mounts = ret->mounts,
        .mount_count = 1,
        .endpoints = ret->endpoints,
        .dns_servers = {ret->dns, 1},
        .sysctls = {ret->sysctls, 1},
        .limits = limits_of(s),
        .stop_timeout_s = 2,
        .oom_score_adj = 500,
        .keep_log = true,
    };
}

void shell_spec_join(shell_spec *shell, const char *network_id, const char *network_name,
                     const char *ipv4)
{
    shell->endpoints[shell->spec.endpoint_count] = (cordon_endpoint_spec){
        .network_id = network_id,
        .network_name = network_name,
        .ipv4 = ipv4,
        .interface = shell->spec.endpoint_count == 0 ? "eth0" : "eth1",
    };
    shell->spec.endpoint_count++;
}

static int capture_sink(void *context, int stream, const void *bytes, size_t length,
                        cordon_err *err)
{
    captured *c = context;
    bool is_out = stream == CORDON_STDCOPY_STDOUT;
    char *text = is_out ? c->out : c->err;
    size_t *used = is_out ? &c->out_length : &c->err_length;
    if (length >= sizeof c->out - *used)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "more output than the case expects");
    memcpy(text + *used, bytes, length);
    *used += length;
    text[*used] = '\0';
    return 0;
}

bool capture(cordon_stream *stream, captured *ret_captured)
{
    cordon_stdcopy demux;
    cordon_err err = CORDON_ERR_INIT;
    char bytes[512];
    size_t length = 1;
    *ret_captured = (captured){0};
    cordon_stdcopy_init(&demux, capture_sink, ret_captured);
    while (length > 0) {
        if (!CHECK_OK(cordon_stream_read_wait(stream, bytes, sizeof bytes, soon(), &length, &err),
                      err) ||
            !CHECK_OK(cordon_stdcopy_feed(&demux, bytes, length, &err), err))
            return false;
    }
    return CHECK_OK(cordon_stdcopy_finish(&demux, &err), err);
}

static bool required(void)
{
    const char *ci = getenv("CI");
    const char *wanted = getenv("CORDON_REQUIRE_ENGINES");
    return (ci && strcmp(ci, "true") == 0) || (wanted && strcmp(wanted, "1") == 0);
}

int contract_from_environment(const char *endpoint_variable, const char *image_variable,
                              contract_engine *ret_engine)
{
    const char *endpoint = getenv(endpoint_variable);
    const char *image = getenv(image_variable);
    if (endpoint && image) {
        ret_engine->address = (cordon_engine_address){.endpoint = endpoint};
        ret_engine->image = image;
        return 0;
    }
    printf("%s: %s and %s name no engine\n", required() ? "FAILED" : "SKIPPED", endpoint_variable,
           image_variable);
    return required() ? 1 : 77;
}

static int run_cases(const test_case *cases[], const size_t counts[], size_t tables)
{
    test_case all[64];
    size_t count = 0;
    for (size_t t = 0; t < tables; t++) {
        for (size_t i = 0; i < counts[t] && count < COUNT(all); i++)
            all[count++] = cases[t][i];
    }
    return test_main(contract_under_test->ops->name, all, count);
}

int contract_run(const contract_engine *engine)
{
    const test_case *cases[] = {contract_session_cases, contract_object_cases, contract_life_cases};
    const size_t counts[] = {contract_session_case_count, contract_object_case_count,
                             contract_life_case_count};
    contract_under_test = engine;
    return run_cases(cases, counts, COUNT(cases));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial --config FILE --engine NAME --image PIN: the baseline of the benchmark. The REST calls
 * that one run needs, one after another on one kept connection, and no check at all: nothing is
 * inspected, nothing is verified, nothing is overlapped. The bodies are those of a real run: core
 * plans it and the engine's own encoder writes them; only the step runs `true` in the pinned image
 * itself, without the gate. What comes before (configuration, engine facts, images, plan) is not
 * in the figures.
 *
 * Prints "STATUS EXIT_US TOTAL_US": the step's status, when it was known, when all was removed.
 * With --shell as last argument it only prints a fresh plan as shell assignments, for cli_run.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "docker/docker_internal.h"
#include "kit/jsonr.h"
#include "podman/podman_internal.h"
#include "run.h"
#include "session.h"

#define BUDGET_MS    120000
#define ANSWER_BYTES (1u << 20)
#define PATH_BYTES   8192

/* Where the two kinds of engine differ. %s: a name or an id. */
typedef struct dialect {
    const char *prefix;
    const char *create; /* of a container */
    const char *id_key; /* of a created network */
    int network_created;
    int done; /* status of a removal */
    const char *wait;
    const char *logs;
    const char *remove_step;
    const char *remove_proxy;
    bool connects; /* the second network needs a call of its own */
    int (*network)(const cordon_network_spec *spec, cordon_buf *out, cordon_err *err);
    int (*container)(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err);
} dialect;

static int docker_container(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err)
{
    return docker_encode_container(spec, out, err);
}

static const dialect docker_dialect = {
    .prefix = "/v1.41",
    .create = "/containers/create?name=%s",
    .id_key = "Id",
    .network_created = 201,
    .done = 204,
    .wait = "/containers/%s/wait?condition=not-running",
    .logs = "/containers/%s/logs?stdout=1&stderr=1&follow=0",
    .remove_step = "/containers/%s?v=1",
    .remove_proxy = "/containers/%s?force=1&v=1",
    .connects = true,
    .network = docker_encode_network,
    .container = docker_container,
};

static const dialect podman_dialect = {
    .prefix = PODMAN_PREFIX,
    .create = "/containers/create",
    .id_key = "id",
    .network_created = 200,
    .done = 200,
    .wait = "/containers/%s/wait?condition=stopped&condition=exited&interval=5ms",
    .logs = "/containers/%s/logs?stdout=true&stderr=true&follow=false",
    .remove_step = "/containers/%s?volumes=true",
    .remove_proxy = "/containers/%s?force=true&timeout=0&volumes=true",
    .network = podman_encode_network,
    .container = podman_encode_container,
};

typedef struct serial {
    const dialect *dialect;
    cordon_httpc *http;
    cordon_run *run;
    char proxy[CORDON_ID_HEX + 1];
    char step[CORDON_ID_HEX + 1];
    int status;
} serial;

/* --- One call ----------------------------------------------------------------------------------
 */

/* Not `mutating`: that would be sent on a connection of its own. */
static int call(serial *s, const char *method, const char *path, const cordon_buf *body, int want,
                cordon_buf *ret_answer, cordon_err *err)
{
    static const char *const json[] = {"Content-Type: application/json", NULL};
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_auto(cordon_buf) whole = cordon_buf_make(PATH_BYTES);
    cordon_httpc_request request = {
        .method = method,
        .body = body != NULL ? body->data : NULL,
        .body_length = body != NULL ? body->length : 0,
        .headers = body != NULL ? json : NULL,
        .response_max_bytes = ANSWER_BYTES,
    };

    if (cordon_buf_printf(&whole, err, "%s%s", s->dialect->prefix, path) != 0)
        return -1;
    request.path = cordon_buf_text(&whole);
    if (cordon_httpc_call(s->http, &request, cordon_deadline_in_ms(BUDGET_MS, -1), &response,
                          err) != 0)
        return -1;
    if (response.status != want)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "%s %s: HTTP %d: %s", method, request.path,
                           response.status, cordon_buf_text(&response.body));
    if (ret_answer != NULL)
        return cordon_buf_append(ret_answer, response.body.data, response.body.length, err);
    return 0;
}

/* A call whose path is a pattern with one id in it. */
static int call_on(serial *s, const char *method, const char *pattern, const char *id, int want,
                   cordon_buf *ret_answer, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PATH_BYTES);
    const char *at = strstr(pattern, "%s");

    if (at == NULL || cordon_buf_append(&path, pattern, (size_t)(at - pattern), err) != 0 ||
        cordon_buf_append_text(&path, id, err) != 0 ||
        cordon_buf_append_text(&path, at + strlen("%s"), err) != 0)
        return -1;
    return call(s, method, cordon_buf_text(&path), NULL, want, ret_answer, err);
}

static int read_id(const cordon_buf *answer, const char *key, char ret_id[CORDON_ID_HEX + 1],
                   cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *id = NULL;

    if (cordon_json_parse(answer->data, answer->length, ANSWER_BYTES, 0, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), key, &id, err) != 0)
        return -1;
    (void)snprintf(ret_id, CORDON_ID_HEX + 1, "%s", id);
    return 0;
}

/* --- The calls of a run ---------------------------------------------------------------------- */

static int make_network(serial *s, cordon_role role, cordon_err *err)
{
    cordon_auto(cordon_buf) body = cordon_buf_make(ANSWER_BYTES);
    cordon_auto(cordon_buf) answer = cordon_buf_make(ANSWER_BYTES);
    char id[CORDON_ID_HEX + 1];

    if (s->dialect->network(&s->run->plan.networks[role], &body, err) != 0 ||
        call(s, "POST", "/networks/create", &body, s->dialect->network_created, &answer, err) !=
            0 ||
        read_id(&answer, s->dialect->id_key, id, err) != 0)
        return -1;
    cordon_plan_network_made(&s->run->plan, role, id);
    return 0;
}

static int make_container(serial *s, const cordon_container_spec *spec,
                          char ret_id[CORDON_ID_HEX + 1], cordon_err *err)
{
    cordon_auto(cordon_buf) body = cordon_buf_make(ANSWER_BYTES);
    cordon_auto(cordon_buf) answer = cordon_buf_make(ANSWER_BYTES);
    cordon_auto(cordon_buf) path = cordon_buf_make(PATH_BYTES);
    const char *at = strstr(s->dialect->create, "%s");
    size_t length = at != NULL ? (size_t)(at - s->dialect->create) : strlen(s->dialect->create);

    if (cordon_buf_append(&path, s->dialect->create, length, err) != 0 ||
        (at != NULL && cordon_buf_append_text(&path, spec->name, err) != 0) ||
        s->dialect->container(spec, &body, err) != 0 ||
        call(s, "POST", cordon_buf_text(&path), &body, 201, &answer, err) != 0)
        return -1;
    return read_id(&answer, "Id", ret_id, err);
}

static int connect_proxy(serial *s, cordon_err *err)
{
    const cordon_endpoint_spec *endpoint = &s->run->plan.proxy.endpoints[1];
    cordon_auto(cordon_buf) body = cordon_buf_make(ANSWER_BYTES);
    cordon_auto(cordon_buf) path = cordon_buf_make(PATH_BYTES);

    if (!s->dialect->connects)
        return 0;
    if (docker_encode_connect(s->proxy, endpoint, &body, err) != 0 ||
        cordon_buf_printf(&path, err, "/networks/%s/connect", endpoint->network_id) != 0)
        return -1;
    return call(s, "POST", cordon_buf_text(&path), &body, 200, NULL, err);
}

/* Docker answers {"StatusCode":N}, libpod a bare N. */
static int wait_step(serial *s, cordon_err *err)
{
    cordon_auto(cordon_buf) answer = cordon_buf_make(ANSWER_BYTES);
    const char *number;

    if (call_on(s, "POST", s->dialect->wait, s->step, 200, &answer, err) != 0)
        return -1;
    number = strstr(cordon_buf_text(&answer), "\"StatusCode\":");
    number = number != NULL ? number + strlen("\"StatusCode\":") : cordon_buf_text(&answer);
    s->status = number[0] == '0' ? 0 : 1;
    return 0;
}

static int until_exit(serial *s, cordon_err *err)
{
    static const char start[] = "/containers/%s/start";

    if (make_network(s, CORDON_ROLE_VENDOR_NETWORK, err) != 0 ||
        make_network(s, CORDON_ROLE_EGRESS_NETWORK, err) != 0 ||
        make_container(s, &s->run->plan.proxy, s->proxy, err) != 0 || connect_proxy(s, err) != 0 ||
        call_on(s, "POST", start, s->proxy, 204, NULL, err) != 0 ||
        make_container(s, &s->run->plan.step, s->step, err) != 0 ||
        call_on(s, "POST", start, s->step, 204, NULL, err) != 0)
        return -1;
    return wait_step(s, err);
}

static int until_gone(serial *s, cordon_err *err)
{
    const cordon_plan *plan = &s->run->plan;

    if (call_on(s, "GET", s->dialect->logs, s->step, 200, NULL, err) != 0 ||
        call_on(s, "DELETE", s->dialect->remove_step, s->step, s->dialect->done, NULL, err) != 0 ||
        call_on(s, "DELETE", s->dialect->remove_proxy, s->proxy, s->dialect->done, NULL, err) != 0)
        return -1;
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        if (call_on(s, "DELETE", "/networks/%s", plan->network_ids[role], s->dialect->done, NULL,
                    err) != 0)
            return -1;
    }
    return 0;
}

/* After a failure: whatever is there, as well as it goes. */
static void remove_rest(serial *s)
{
    const cordon_plan *plan = &s->run->plan;
    const char *containers[] = {s->step, s->proxy};
    cordon_err ignored = CORDON_ERR_INIT;
    int gone = 0;

    for (int i = 0; i < 2; i++) {
        if (containers[i][0] != '\0')
            gone += call_on(s, "DELETE", s->dialect->remove_proxy, containers[i], s->dialect->done,
                            NULL, &ignored);
        cordon_err_clear(&ignored);
    }
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        if (plan->network_ids[role][0] != '\0')
            gone += call_on(s, "DELETE", "/networks/%s", plan->network_ids[role], s->dialect->done,
                            NULL, &ignored);
        cordon_err_clear(&ignored);
    }
    if (gone != 0)
        (void)fprintf(stderr, "serial: not everything could be removed\n");
}

/* --- Before the clock runs ---------------------------------------------------------------------
 */

/* `true` in the pinned image, as anybody would run it there: no gate, so no input and no layer, and
 * the output in the engine's log. */
static void plain_step(cordon_run *run)
{
    static const char *const words[] = {"/bin/true"};
    static const char *const path[] = {"PATH=/bin"};
    cordon_container_spec *step = &run->plan.step;

    step->image_id = run->images.base_id;
    step->entrypoint = (cordon_texts){words, 1};
    step->command = (cordon_texts){0};
    step->environment = (cordon_texts){path, 1};
    step->open_stdin = false;
    step->keep_log = true;
    while (step->mount_count > 0 && step->mounts[step->mount_count - 1].type == CORDON_MOUNT_IMAGE)
        step->mount_count--;
}

typedef struct session {
    cordon_config *config;
    cordon_policy *policy;
    cordon_command *command;
    cordon_engine *engine;
    cordon_invocation *invocation;
} session;

typedef struct options {
    const char *config;
    const char *engine;
    const char *image;
    bool shell;
} options;

static int open_session(session *all, const options *wanted, cordon_err *err)
{
    static const char *const words[] = {"true"};
    const cordon_host host = {
        .uid = geteuid(),
        .gid = getegid(),
        .system_config = "/etc/cordon/cordon.conf",
    };
    const cordon_invocation_options invocation = {.image = wanted->image};

    if (cordon_configure(&host, wanted->config, NULL, &all->config, err) != 0 ||
        cordon_policy_new(all->config, "claude", "review", &all->policy, err) != 0 ||
        cordon_policy_approve(all->policy, words, 1, err) != 0 ||
        cordon_command_runner(all->policy, words, 1, &all->command, err) != 0 ||
        cordon_engine_open(all->config, &host, wanted->engine, BUDGET_MS, -1, &all->engine, err) !=
            0)
        return -1;
    return cordon_invocation_new(all->engine, all->config, &host, all->policy, &invocation,
                                 &all->invocation, err);
}

static int open_serial(serial *s, const session *all, cordon_err *err)
{
    static const cordon_io no_io = {.stdout_fd = -1, .stderr_fd = -1, .cancel_fd = -1};
    const char *socket = cordon_session_socket(all->engine);
    bool docker = all->engine->ops->kind == CORDON_ENGINE_DOCKER;

    if (socket == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "only engines on unix sockets");
    s->dialect = docker ? &docker_dialect : &podman_dialect;
    if (cordon_httpc_new(&(cordon_httpc_endpoint){.unix_path = socket}, &s->http, err) != 0 ||
        cordon_run_new(all->invocation, (const cordon_command *const *)&all->command, 1, &no_io,
                       &s->run, err) != 0 ||
        cordon_run_prepare(s->run, true, err) != 0)
        return -1;
    plain_step(s->run);
    return 0;
}

static void print_limits(const char *who, const cordon_limits_spec *limits)
{
    printf("BENCH_%s_MEMORY=%lld BENCH_%s_NANO_CPUS=%lld BENCH_%s_PIDS=%lld\n", who,
           (long long)limits->memory_bytes, who, (long long)limits->nano_cpus, who,
           (long long)limits->pids);
}

static void print_shell(const cordon_run *run)
{
    const cordon_plan *plan = &run->plan;

    printf("BENCH_KIND=%s BENCH_NAME=bench-%s\n", run->ops->name,
           run->invocation->owner.invocation);
    printf("BENCH_GUARD=sha256:%s BENCH_IMAGE=sha256:%s\n", run->images.guard_id,
           run->images.base_id);
    printf("BENCH_VENDOR_SUBNET=%s BENCH_EGRESS_SUBNET=%s\n",
           plan->subnets[CORDON_ROLE_VENDOR_NETWORK], plan->subnets[CORDON_ROLE_EGRESS_NETWORK]);
    printf("BENCH_PROXY_ADDRESS=%s BENCH_PROXY_EGRESS_ADDRESS=%s BENCH_STEP_ADDRESS=%s\n",
           plan->proxy_address, plan->proxy_egress_address, plan->step_address);
    printf("BENCH_STEP_USER=%s BENCH_KEEP_ID=%d BENCH_SCRATCH=%lld\n", plan->user,
           plan->step.userns == CORDON_USERNS_KEEP_ID, (long long)plan->input.limits.scratch_bytes);
    print_limits("PROXY", &plan->proxy.limits);
    print_limits("STEP", &plan->step.limits);
}

static int64_t since_us(int64_t began_ns)
{
    return (cordon_now_ns() - began_ns) / 1000;
}

static int measure(const options *wanted, cordon_err *err)
{
    session all = {0};
    serial s = {.status = -1};
    int64_t began_ns;
    int64_t exit_us;

    if (open_session(&all, wanted, err) != 0 || open_serial(&s, &all, err) != 0)
        return -1;
    if (wanted->shell) {
        print_shell(s.run);
        return 0;
    }
    began_ns = cordon_now_ns();
    if (until_exit(&s, err) != 0) {
        remove_rest(&s);
        return -1;
    }
    exit_us = since_us(began_ns);
    if (until_gone(&s, err) != 0) {
        remove_rest(&s);
        return -1;
    }
    printf("%d %lld %lld\n", s.status, (long long)exit_us, (long long)since_us(began_ns));
    return 0;
}

int main(int argc, char **argv)
{
    cordon_err err = CORDON_ERR_INIT;
    options wanted = {.shell = argc > 1 && strcmp(argv[argc - 1], "--shell") == 0};

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--config") == 0)
            wanted.config = argv[i + 1];
        else if (strcmp(argv[i], "--engine") == 0)
            wanted.engine = argv[i + 1];
        else if (strcmp(argv[i], "--image") == 0)
            wanted.image = argv[i + 1];
    }
    if (measure(&wanted, &err) == 0)
        return 0;
    (void)fprintf(stderr, "serial: %s\n", err.message);
    return 1;
}

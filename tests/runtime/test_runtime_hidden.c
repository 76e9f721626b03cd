/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Podman's inspect does not show, done behind Cordon's back: containers are created over the
 * REST API with Cordon's own request but for one member, set up, and judged by what Podman told its
 * runtime. Each is refused by name; the same request unchanged passes.
 *
 *   test_runtime_hidden podman|rootless
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/endpoint.h"
#include "kit/jsonr.h"
#include "kit/random.h"
#include "podman_internal.h"
#include "support/json_text.h"
#include "support/sample_plan.h"
#include "validate.h"

extern const cordon_engine_ops cordon_podman_ops;

static const char *word;
static const char *endpoint;
static const char *image;

/*
 * place   path of the value that is replaced, or of the object that gets one more member
 * value   the value, or "\"key\": value"
 * fact    that must differ, below "step.runtime."; NULL: everything is as planned
 * where   NULL, or the only engine where Podman takes the request
 * also    a member that must go, because it does not go together with the change
 */
typedef struct deviation {
    const char *what;
    const char *place;
    const char *value;
    const char *fact;
    cordon_refusal_code code;
    const char *where;
    const char *also;
} deviation;

#define FOLDER    "/tmp/cordon-hidden"
#define PERMIT    FOLDER "/permit.json"
#define ONE_MORE  FOLDER "/one-more.json"
#define DIFFERENT CORDON_REFUSED_MISMATCH

static const deviation deviations[] = {
    {"as Cordon asks for it", NULL, NULL, NULL, CORDON_REFUSED_NONE, NULL, NULL},
    {"seccomp unconfined", "$", "\"seccomp_profile_path\": \"unconfined\"", "seccomp_default",
     DIFFERENT, NULL, NULL},
    {"a seccomp profile that allows everything", "$", "\"seccomp_profile_path\": \"" PERMIT "\"",
     "seccomp_default", DIFFERENT, NULL, NULL},
    {"a seccomp profile that allows one call more", "$",
     "\"seccomp_profile_path\": \"" ONE_MORE "\"", "seccomp_allowed", DIFFERENT, NULL, NULL},
    {"one more sysctl", "$.sysctl", "\"net.ipv4.ip_unprivileged_port_start\": \"0\"", "sysctls",
     DIFFERENT, NULL, NULL},
    {"a sysctl of another value", "$.sysctl[\"net.ipv4.ip_forward\"]", "\"1\"", "sysctls",
     DIFFERENT, NULL, NULL},
    {"the host's ipc namespace", "$.ipcns.nsmode", "\"host\"", "namespaces", DIFFERENT, NULL,
     "$.shm_size"},
    {"the host's uts namespace", "$.utsns.nsmode", "\"host\"", "hostname", DIFFERENT, NULL,
     "$.hostname"},
    {"a rule for devices", "$",
     "\"device_cgroup_rule\": [{\"allow\": true, \"type\": \"c\", \"major\": 1, \"minor\": 1, "
     "\"access\": \"rwm\"}]",
     "device_rules", DIFFERENT, "podman", NULL},
    {"a device", "$.devices", "[{\"path\": \"/dev/full:/dev/cordon:rw\"}]", "devices", DIFFERENT,
     "podman", NULL},
    {"a device of the rootless kind", "$.devices", "[{\"path\": \"/dev/full:/dev/cordon:rw\"}]",
     "root_propagation", DIFFERENT, "rootless", NULL},
    {"nothing masked", "$", "\"unmask\": [\"ALL\"]", "masked_paths", DIFFERENT, NULL, NULL},
    {"one path unmasked", "$", "\"unmask\": [\"/proc/kcore\"]", "masked_paths", DIFFERENT, NULL,
     NULL},
    {"more masked", "$", "\"mask\": [\"/proc/cpuinfo\"]", NULL, CORDON_REFUSED_NONE, NULL, NULL},
    {"a writable overlay of a folder", "$.overlay_volumes",
     "[{\"destination\": \"/overlay\", \"source\": \"" FOLDER "\"}]", "mounts", DIFFERENT, NULL,
     NULL},
    {"a mount that spreads to the host", "$.mounts",
     "[{\"type\": \"bind\", \"source\": \"" FOLDER "\", \"destination\": \"/spread\", "
     "\"options\": [\"bind\", \"rshared\"]}]",
     "root_propagation", DIFFERENT, NULL, NULL},
    {"a mount of a folder", "$.mounts",
     "[{\"type\": \"bind\", \"source\": \"" FOLDER "\", \"destination\": \"/folder\", "
     "\"options\": [\"bind\", \"ro\"]}]",
     "mounts", DIFFERENT, NULL, NULL},
    {"another personality", "$", "\"personality\": {\"domain\": \"LINUX32\"}", "unmodelled",
     CORDON_REFUSED_UNMODELLED, NULL, NULL},
    {"the host's names", "$.use_image_hosts", "false", "mounts", DIFFERENT, NULL, NULL},
    {"a writable root", "$.read_only_filesystem", "false", "read_only_root", DIFFERENT, NULL, NULL},
    {"new privileges", "$.no_new_privileges", "false", "no_new_privileges", DIFFERENT, NULL, NULL},
    {"a capability", "$.cap_drop", "[\"chown\"]", "capabilities", DIFFERENT, NULL, NULL},
    {"an annotation that steers crun", "$",
     "\"annotations\": {\"run.oci.keep_original_groups\": \"1\"}", "unmodelled",
     CORDON_REFUSED_UNMODELLED, NULL, NULL},
    {"another umask", "$.umask", "\"0000\"", "umask", DIFFERENT, NULL, NULL},
    {"a variable of the service's", "$.env", "\"LD_PRELOAD\": \"/tmp/x\"", "environment", DIFFERENT,
     NULL, NULL},
    {"another oom score", "$.oom_score_adj", "600", "oom_score_adj", DIFFERENT, NULL, NULL},
};

/* --- One engine, one plan --- */

typedef struct rig {
    void *impl;
    cordon_httpc *http;
    cordon_engine_facts engine;
    sample_run run;
    char id[CORDON_ID_HEX + 1];
} rig;

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

static void rig_clear(rig *r)
{
    cordon_err err = CORDON_ERR_INIT;
    if (r->id[0])
        CHECK_OK(cordon_podman_ops.container_remove(r->impl, r->id, soon(), &err), err);
    sample_run_clear(&r->run);
    cordon_engine_facts_clear(&r->engine);
    cordon_httpc_free(r->http);
    if (r->impl)
        cordon_podman_ops.close(r->impl);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

/* The plan of a step with nothing but its scratch, running a shell of the test's image. */
static bool rig_plan(rig *r)
{
    static const char *const entrypoint[] = {"/bin/sh"};
    static const char *const command[] = {"-c", "exit 3"};
    if (!sample_input(&r->run))
        return false;
    r->run.input.engine = &r->engine;
    r->run.input.worktree = NULL;
    r->run.input.delivery = CORDON_GATE_ALONE;
    r->run.input.step_image_id = image;
    r->run.input.uid = r->run.input.gid = 65532;
    r->run.input.limits.open_files = 1024;
    if (!sample_plan(&r->run))
        return false;
    cordon_container_spec *step = &r->run.plan.step;
    step->entrypoint = (cordon_texts){entrypoint, 1};
    step->command = (cordon_texts){command, 2};
    step->endpoints = NULL;
    step->endpoint_count = 0;
    step->open_stdin = false;
    return true;
}

static bool rig_open(rig *r)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_engine_address address = {.endpoint = endpoint};
    return CHECK_OK(cordon_podman_ops.open(&address, soon(), &r->impl, &err), err) &&
           CHECK_OK(cordon_podman_ops.describe(r->impl, soon(), &r->engine, &err), err) &&
           CHECK_OK(cordon_endpoint_client(endpoint, NULL, NULL, NULL, &r->http, &err), err) &&
           rig_plan(r);
}

/* --- The changed request --- */

/* Frees text. */
static char *without(char *text, const char *path)
{
    cordon_autofree char *owned = text;
    cordon_auto(json_text) json = {0};
    if (!CHECK(json_text_read(owned, &json)))
        return NULL;
    size_t at = json_text_find(&json, path);
    return CHECK(at != JSON_TEXT_NONE) ? json_text_drop(&json, at) : NULL;
}

static char *changed(const deviation *d, const char *text)
{
    cordon_auto(json_text) json = {0};
    if (!d->place)
        return strdup(text);
    if (!CHECK(json_text_read(text, &json)))
        return NULL;
    size_t at = json_text_find(&json, d->place);
    if (!TEST_RECORDF(at != JSON_TEXT_NONE, "%s: no %s in the request", d->what, d->place))
        return NULL;
    char *made = d->value[0] == '"' && strstr(d->value, "\": ")
                     ? json_text_extend(&json, at, d->value)
                     : json_text_replace(&json, at, d->value);
    return made && d->also ? without(made, d->also) : made;
}

static bool create(rig *r, const char *body, const char *what)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *id = NULL;
    cordon_httpc_request request = {
        .method = "POST",
        .path = PODMAN_PREFIX "/containers/create",
        .headers = headers,
        .body = body,
        .body_length = strlen(body),
        .response_max_bytes = PODMAN_ANSWER_MAX,
    };
    if (!CHECK_OK(cordon_httpc_call(r->http, &request, soon(), &answer, &err), err) ||
        !TEST_RECORDF(answer.status == 201, "%s: create answers %d: %.200s", what, answer.status,
                      cordon_buf_text(&answer.body)) ||
        !CHECK_OK(cordon_json_parse(answer.body.data, answer.body.length, PODMAN_ANSWER_MAX, 0,
                                    &doc, &err),
                  err) ||
        !CHECK_OK(cordon_json_need_string(cordon_json_root(doc), "Id", &id, &err), err))
        return false;
    (void)snprintf(r->id, sizeof r->id, "%s", id);
    return true;
}

static bool read_runtime(rig *r, const char *what, cordon_runtime_facts *ret_facts)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) shown = {0};
    const cordon_engine_ops *ops = &cordon_podman_ops;
    int rc = ops->container_inspect(r->impl, r->id, soon(), &shown, &err);
    if (rc == 0 && shown.runtime_config)
        rc = ops->container_prepare(r->impl, r->id, soon(), &err);
    if (rc == 0 && shown.runtime_config)
        rc = ops->container_runtime(r->impl, r->id, shown.runtime_config, soon(), ret_facts, &err);
    return TEST_RECORDF(rc == 0 && shown.runtime_config, "%s: %s", what, err.message);
}

static void judge(rig *r, const deviation *d, const cordon_runtime_facts *facts)
{
    char fact[96] = "";
    cordon_err err = CORDON_ERR_INIT;
    cordon_tally tally = {0};
    cordon_refusal refusal = {.code = CORDON_REFUSED_NONE};
    cordon_auto(cordon_runtime_facts) expected = {0};
    REQUIRE_OK(cordon_expect_runtime(&r->run.plan, CORDON_ROLE_STEP, &r->run.ids, &expected, &err),
               err);
    (void)!cordon_validate_runtime("step.runtime", &expected, facts, &tally, &refusal, &err);
    if (d->fact)
        (void)snprintf(fact, sizeof fact, "step.runtime.%s", d->fact);
    TEST_RECORDF(refusal.code == d->code && strcmp(refusal.fact, fact) == 0,
                 "%s: want %s at \"%s\", got %s at \"%.60s\": %.150s / %.150s", d->what,
                 cordon_refusal_name(d->code), fact, cordon_refusal_name(refusal.code),
                 refusal.fact, refusal.expected, refusal.actual);
}

static void try_deviation(const deviation *d)
{
    cordon_auto(rig) r = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_runtime_facts) facts = {0};
    cordon_auto(cordon_buf) body = cordon_buf_make(PODMAN_BODY_MAX);
    REQUIRE(rig_open(&r));
    REQUIRE_OK(podman_encode_container(&r.run.plan.step, &body, &err), err);
    cordon_autofree char *request = changed(d, cordon_buf_text(&body));
    REQUIRE(request && create(&r, request, d->what) && read_runtime(&r, d->what, &facts));
    judge(&r, d, &facts);
}

/* --- The test --- */

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    return CHECK(file != NULL) & CHECK(file && fputs(text, file) >= 0) &
           CHECK(file && fclose(file) == 0);
}

static void what_inspect_hides_is_refused_by_name(void)
{
    (void)mkdir(FOLDER, 0755);
    REQUIRE(write_file(PERMIT, "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}"));
    REQUIRE(write_file(ONE_MORE, "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": ["
                                 "{\"names\": [\"read\", \"write\", \"bpf\"], \"action\": "
                                 "\"SCMP_ACT_ALLOW\"}]}"));
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
        if (!deviations[i].where || strcmp(deviations[i].where, word) == 0)
            try_deviation(&deviations[i]);
    }
    (void)unlink(PERMIT);
    (void)unlink(ONE_MORE);
    (void)rmdir(FOLDER);
}

static int unavailable(void)
{
    bool needed = getenv("CORDON_REQUIRE_ENGINES") != NULL || getenv("CI") != NULL;
    (void)fprintf(stderr, "no engine: set CORDON_TEST_PODMAN and CORDON_TEST_ROOTLESS, and their "
                          "_IMAGE\n");
    return needed ? 1 : 77;
}

int main(int argc, char **argv)
{
    bool rootless = argc == 2 && strcmp(argv[1], "rootless") == 0;
    word = rootless ? "rootless" : "podman";
    endpoint = getenv(rootless ? "CORDON_TEST_ROOTLESS" : "CORDON_TEST_PODMAN");
    image = getenv(rootless ? "CORDON_TEST_ROOTLESS_IMAGE" : "CORDON_TEST_PODMAN_IMAGE");
    if (!endpoint || !image)
        return unavailable();
    image = podman_bare_id(image);
    const test_case tests[] = {TEST(what_inspect_hides_is_refused_by_name)};
    return test_main("runtime_hidden", tests, sizeof tests / sizeof tests[0]);
}

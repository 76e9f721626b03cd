/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon doctor`: will a run work here, and if not, what is the next step. Changes nothing. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "cordon/gc.h"
#include "cordon/image.h"
#include "doctor.h"
#include "kit/cleanup.h"
#include "kit/jsonr.h"
#include "output.h"
#include "report.h"
#include "session.h"

#define TEXT_MAX_BYTES (1U << 20)
#define CONFIG_MAX     (1U << 20)
#define UNIX_SCHEME    "unix://"

/* The key below images whose pin `cordon run` uses. */
#define RUNNER_IMAGE "runner"

static const cordon_cli_option doctor_options[] = {
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_DEBUG,
};

/* What is looked at. config and engine are NULL where that step failed. */
typedef struct examination {
    const cordon_cli_context *context;
    const cordon_cli_options *options;
    cordon_cli_doctor *doctor;
    cordon_config *config;
    cordon_json_doc *effective; /* the configuration in force */
    cordon_engine *engine;
    cordon_image_lock_info lock;
    cordon_image *images; /* made or pinned, as the engine has them */
    size_t image_count;
    cordon_engine_candidate *candidates;
    size_t candidate_count;
    bool allows_unenforced;
    bool allows_unread;
} examination;

/* One configuration file, read alone, so that a bad one is named by its line. */
static void examine_file(const examination *e, const char *check, const char *file)
{
    cordon_host alone = e->context->host;
    alone.system_config = file;
    alone.user_config = NULL;
    cordon_config *config = NULL;
    cordon_err err = CORDON_ERR_INIT;
    if (!file)
        return;
    if (access(file, F_OK) != 0 && errno == ENOENT)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, check, "", "%s: none", file);
    else if (cordon_configure(&alone, NULL, NULL, &config, &err) != 0 &&
             !cordon_cli_doctor_is_lock(&err)) /* which has a line of its own */
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, check, "correct it", "%s",
                              err.message);
    else
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, check, "", "%s: read, trusted", file);
    cordon_config_free(config);
}

/* The configuration in force, to be looked at key by key. */
static int read_effective(examination *e, cordon_err *err)
{
    cordon_autofree char *json = NULL;
    if (cordon_config_json(e->config, &json, err) != 0 ||
        cordon_json_parse(json, strlen(json), CONFIG_MAX, 0, &e->effective, err) != 0)
        return -1;
    if (cordon_json_need_bool(cordon_json_root(e->effective), "allow_unenforced_limits",
                              &e->allows_unenforced, err) != 0)
        return -1;
    return cordon_json_need_bool(cordon_json_root(e->effective), "allow_unread_runtime",
                                 &e->allows_unread, err);
}

static void examine_config(examination *e)
{
    cordon_err err = CORDON_ERR_INIT;
    examine_file(e, "system config", e->context->host.system_config);
    examine_file(e, "user config", e->context->host.user_config);
    if (cordon_configure(&e->context->host, e->options->config, NULL, &e->config, &err) != 0 &&
        cordon_cli_doctor_is_lock(&err)) {
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "images.lock",
                              cordon_cli_doctor_lock_next(&err), "%s", err.message);
        return;
    }
    if (err.code != CORDON_OK || read_effective(e, &err) != 0)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "configuration", "correct it", "%s",
                              err.message);
    else if (e->options->config)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, "--config", "", "%s: read, trusted",
                              e->options->config);
    if (!e->effective)
        return;
    cordon_image_lock_describe(e->config, &e->lock);
    cordon_cli_doctor_lock(e->doctor, &e->lock);
}

/* Whether something listens at a unix endpoint. @return 0 or errno */
static int reach(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

/* Why nothing answers at a candidate; NULL: something does, or that was not tried. */
static const char *silence_of(const cordon_engine_candidate *candidate, const char **ret_answer)
{
    const char *endpoint = candidate->endpoint;
    *ret_answer = "not tried";
    if (candidate->passed)
        return candidate->passed;
    if (strncmp(endpoint, UNIX_SCHEME, strlen(UNIX_SCHEME)) != 0)
        return NULL;
    int failed = reach(endpoint + strlen(UNIX_SCHEME));
    *ret_answer = "answers";
    return failed ? strerrordesc_np(failed) : NULL;
}

/* One that is passed over is no fault of its own: the next one may do. */
static void examine_candidate(const examination *e, const cordon_engine_candidate *candidate)
{
    const char *answer = NULL;
    const char *silence = silence_of(candidate, &answer);
    cordon_cli_doctor *doctor = e->doctor;
    if (doctor->order_count < CORDON_CLI_ORDER_MAX)
        doctor->order[doctor->order_count++] =
            (cordon_cli_order){.candidate = candidate, .passed = silence};
    if (candidate->passed)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "passed over", "", "%s (%s) %s: %s; %s",
                              candidate->name, candidate->kind, candidate->endpoint, silence,
                              candidate->reason);
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "candidate", "", "%s (%s) %s: %s; %s",
                              candidate->name, candidate->kind, candidate->endpoint,
                              silence ? silence : answer, candidate->reason);
}

static void examine_candidates(examination *e)
{
    cordon_err err = CORDON_ERR_INIT;
    /* A failure is not said here: opening the engine fails by the same words. */
    if (cordon_engine_candidates(e->config, &e->context->host, e->options->engine, &e->candidates,
                                 &e->candidate_count, &err) != 0)
        return;
    for (size_t i = 0; i < e->candidate_count; i++)
        examine_candidate(e, &e->candidates[i]);
}

/* Of the order: all but the one that was opened have a reason. */
static void settle_order(examination *e)
{
    cordon_engine_info info = {0};
    bool chosen = e->engine == NULL;
    const char *before = e->engine ? "one before it was opened" : "it could not be opened";
    if (e->engine)
        cordon_engine_describe(e->engine, &info);
    for (size_t i = 0; i < e->doctor->order_count; i++) {
        cordon_cli_order *at = &e->doctor->order[i];
        if (at->passed)
            continue;
        if (chosen)
            at->passed = before;
        else if (strcmp(at->candidate->name, info.name) == 0 &&
                 strcmp(at->candidate->reason, info.reason) == 0)
            chosen = true;
        else
            at->passed = "it did not answer";
    }
}

/* A run is refused then, unless the operator has accepted it in the configuration. */
static void examine_limit(const examination *e, const char *check, bool enforced)
{
    cordon_cli_state state = e->allows_unenforced ? CORDON_CLI_STATE_WARN : CORDON_CLI_STATE_FAIL;
    if (enforced)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, check, "", "enforced");
    else
        cordon_cli_doctor_add(e->doctor, state, check,
                              "use cgroup v2 with this controller delegated to the engine's user, "
                              "or accept it: allow_unenforced_limits = true",
                              "the engine cannot enforce it here");
}

/* crun refuses cgroup v1 where systemd has mounted v2 beside it, the usual form of v1. */
static void examine_runtime(const examination *e, const cordon_engine_info *info)
{
    if (info->runtime && strstr(info->runtime, "crun") && info->cgroup_version == 1)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_WARN, "runtime",
                              "install runc and put \"runtime = \\\"runc\\\"\" below [engine] of "
                              "/etc/containers/containers.conf, or boot with cgroup v2",
                              "crun starts no container on hybrid cgroup v1");
}

static void examine_facts(const examination *e)
{
    cordon_engine_info info = {0};
    cordon_engine_describe(e->engine, &info);
    cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, "engine", "",
                          "%s: %s %s, API %s, %s, %s; %s", info.name, info.kind, info.version,
                          info.api, info.rootless ? "rootless" : "rootful", info.endpoint,
                          info.reason ? info.reason : "");
    cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, "engine parts", "",
                          "storage %s, runtime %s, cgroup v%d",
                          info.storage_driver ? info.storage_driver : "not told",
                          info.runtime ? info.runtime : "not told", info.cgroup_version);
    examine_runtime(e, &info);
    examine_limit(e, "memory limit", info.limits_memory);
    examine_limit(e, "cpu limit", info.limits_cpu);
    examine_limit(e, "pids limit", info.limits_pids);
    cordon_cli_doctor_add(
        e->doctor, info.default_seccomp ? CORDON_CLI_STATE_OK : CORDON_CLI_STATE_FAIL, "seccomp",
        info.default_seccomp ? "" : "give the engine its default profile back",
        info.default_seccomp ? "the engine's default profile"
                             : "the engine does not confirm its profile");
    cordon_cli_doctor_runtime(e->doctor, &info, e->allows_unread);
}

static void examine_engine(examination *e)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!e->effective)
        return;
    examine_candidates(e);
    if (cordon_engine_open(e->config, &e->context->host, e->options->engine, CORDON_CLI_OPEN_MS,
                           e->context->signal_fd, &e->engine, &err) != 0)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "engine",
                              cordon_cli_doctor_engine_next(&err), "%s", err.message);
    else
        examine_facts(e);
    settle_order(e);
}

/*
 * Plans a run of `true` in the image: the plan resolves the pin on the engine exactly as a run
 * does, and creates nothing.
 */
static int plan_image(const examination *e, const char *pin, cordon_err *err)
{
    static const char *const argv[] = {"true"};
    cordon_auto(cordon_cli_session) session = {0};
    cordon_invocation_options wanted = {.image = pin};
    cordon_autofree char *json = NULL;
    if (cordon_policy_new(e->config, CORDON_CLI_VENDOR_DEFAULT, CORDON_CLI_PHASE_DEFAULT,
                          &session.policy, err) != 0 ||
        cordon_policy_approve(session.policy, argv, 1, err) != 0 ||
        cordon_command_runner(session.policy, argv, 1, &session.commands[0], err) != 0 ||
        cordon_invocation_new(e->engine, e->config, &e->context->host, session.policy, &wanted,
                              &session.invocation, err) != 0)
        return -1;
    return cordon_invocation_plan_json(session.invocation, session.commands[0], &json, err);
}

/* What the lock pins under this name. */
static const cordon_image *locked_row(const examination *e, const char *name)
{
    for (size_t i = 0; i < e->image_count; i++) {
        if (strcmp(e->images[i].name, name) == 0 && strcmp(e->images[i].pinned_by, "lock") == 0)
            return &e->images[i];
    }
    return NULL;
}

static void examine_image(const examination *e, const char *name, const char *pin)
{
    cordon_err err = CORDON_ERR_INIT;
    bool used = strcmp(name, RUNNER_IMAGE) == 0;
    if (!pin && used)
        cordon_cli_doctor_add(
            e->doctor, CORDON_CLI_STATE_WARN, "image",
            "pin one in the configuration, or give --image: docker (podman) image "
            "inspect -f '{{.Id}}' NAME",
            "images.%s is not pinned; `cordon run` needs one, `cordon probe` none", name);
    else if (!pin)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, "image", "",
                              "images.%s is not pinned; only that agent needs it", name);
    else if (plan_image(e, pin, &err) != 0)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "image",
                              "load it into the engine, or correct the pin", "images.%s: %s", name,
                              err.message);
    else
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_OK, "image", "", "images.%s: %s", name,
                              pin);
}

static int examine_pins(const examination *e, cordon_err *err)
{
    cordon_json images;
    if (cordon_json_need_object(cordon_json_root(e->effective), "images", &images, err) != 0)
        return -1;
    for (cordon_json_iter item = cordon_json_iterate(images); cordon_json_next(&item);) {
        cordon_json_string pin;
        if (cordon_json_as_string(item.value, &pin, err) != 0)
            return -1;
        bool pinned = pin.has == CORDON_JSON_PRESENT;
        if (e->lock.present)
            cordon_cli_doctor_locked(e->doctor, item.key, locked_row(e, item.key), pinned);
        else
            examine_image(e, item.key, pinned ? pin.text : NULL);
    }
    return 0;
}

static void examine_images(examination *e)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!e->effective || !e->engine)
        return;
    if (e->lock.present &&
        cordon_images_list(e->engine, e->config, CORDON_CLI_OPEN_MS, e->context->signal_fd,
                           &e->images, &e->image_count, &err) != 0)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "images.lock",
                              "cordon image ls says more", "%s", err.message);
    else if (examine_pins(e, &err) != 0)
        cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_FAIL, "image", "report this", "%s",
                              err.message);
}

/* What the journals tell of runs that have ended; engines are not asked here. */
static void examine_journals(const examination *e)
{
    const cordon_gc_options wanted = {
        .mode = CORDON_GC_LIST,
        .budget_ms = CORDON_CLI_OPEN_MS,
        .cancel_fd = e->context->signal_fd,
    };
    cordon_gc_report *report = NULL;
    cordon_gc_run run = {0};
    cordon_err ignored = CORDON_ERR_INIT;
    /* A state folder that cannot be used is told by the host's own line. */
    if (!e->config || cordon_gc(e->config, &e->context->host, &wanted, &report, &ignored) != 0)
        return;
    for (size_t i = 0; cordon_gc_report_run(report, i, &run); i++) {
        if (strcmp(run.state, "alive") != 0)
            cordon_cli_doctor_add(e->doctor, CORDON_CLI_STATE_WARN, "left behind",
                                  "cordon gc removes what is left of runs that have ended",
                                  "run %s on %s, process %lld, is %s: %s", run.invocation,
                                  run.engine, (long long)run.pid, run.state, run.why);
    }
    cordon_gc_report_free(report);
}

static int print_findings(const examination *e, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    int rc = e->options->json ? cordon_cli_doctor_json(e->doctor, &out, err)
                              : cordon_cli_doctor_table(e->doctor, &out, err);
    return rc == 0 ? cordon_cli_print(e->context->signal_fd, &out, err) : -1;
}

static int doctor_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_cli_doctor doctor = {0};
    examination e = {.context = context, .options = options, .doctor = &doctor};
    char digest[CORDON_GUARD_DIGEST_SIZE];
    cordon_guard_digest(digest);
    cordon_err err = CORDON_ERR_INIT;
    cordon_cli_doctor_add(&doctor, CORDON_CLI_STATE_OK, "cordon", "", "%s, guard sha256:%s",
                          cordon_version(), digest);
    examine_config(&e);
    cordon_cli_doctor_host(&doctor, &context->host);
    examine_journals(&e);
    examine_engine(&e);
    examine_images(&e);
    int rc = print_findings(&e, &err);
    cordon_images_free(e.images);
    cordon_engine_free(e.engine);
    cordon_engine_candidates_free(e.candidates, e.candidate_count);
    cordon_json_free(e.effective);
    cordon_config_free(e.config);
    if (rc != 0)
        return cordon_cli_report_failure(context, options, &err);
    return cordon_cli_doctor_ok(&doctor) ? CORDON_CLI_OK : CORDON_CLI_CHECK_FAILED;
}

const cordon_cli_verb cordon_cli_verb_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "say whether a run would work here, and if not, the next step",
    .about = "Looks at the configuration files, the engines in the order in which they are tried,\n"
             "what the chosen one can enforce, the pinned images and their lock, and what this\n"
             "kernel and user can do. Changes nothing. Exit status 1 when a line says FAIL.\n",
    .takes = CORDON_CLI_TAKES_NOTHING,
    .options = doctor_options,
    .option_count = CORDON_CLI_COUNT(doctor_options),
    .run = doctor_verb,
};

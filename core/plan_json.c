/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a run and the effective configuration as JSON, for people and scripts that want to
 * see before they run. Asks the engine, changes nothing.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "address.h"
#include "config.h"
#include "handle.h"
#include "kit/jsonw.h"

#define PLAN_JSON_MAX (1u << 20)

static void write_texts(cordon_jsonw *json, const char *key, const char *const *items, size_t count)
{
    cordon_jsonw_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        cordon_jsonw_string(json, NULL, items[i]);
    cordon_jsonw_end_array(json);
}

static void write_texts_of(cordon_jsonw *json, const char *key, cordon_texts texts)
{
    write_texts(json, key, texts.items, texts.count);
}

/* --- Plan --- */

/* Names end in digits that each run has of its own: two plans of the same must be the same. */
static void write_name(cordon_jsonw *json, const char *name)
{
    char text[CORDON_NAME_SIZE + 1];
    const char *dash = strrchr(name, '-');
    size_t length = dash != NULL ? (size_t)(dash - name) + 1 : 0;

    (void)snprintf(text, sizeof(text), "%.*s*", (int)length, name);
    cordon_jsonw_string(json, "name", text);
}

static void write_network(cordon_jsonw *json, const char *key, const cordon_network_spec *spec)
{
    cordon_jsonw_begin_object(json, key);
    write_name(json, spec->name);
    cordon_jsonw_string(json, "subnet", spec->subnet);
    cordon_jsonw_bool(json, "internal", spec->internal);
    cordon_jsonw_bool(json, "host_address", !spec->no_gateway);
    cordon_jsonw_end_object(json);
}

static void write_mounts(cordon_jsonw *json, const cordon_container_spec *spec)
{
    cordon_jsonw_begin_array(json, "mounts");
    for (size_t i = 0; i < spec->mount_count; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "type", cordon_mount_type_name(spec->mounts[i].type));
        cordon_jsonw_string(json, "source", spec->mounts[i].source);
        cordon_jsonw_string(json, "target", spec->mounts[i].target);
        cordon_jsonw_bool(json, "read_only", spec->mounts[i].read_only);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

static void write_container(cordon_jsonw *json, const char *key, const cordon_container_spec *spec)
{
    cordon_jsonw_begin_object(json, key);
    write_name(json, spec->name);
    cordon_jsonw_string(json, "image", spec->image_id);
    write_texts_of(json, "entrypoint", spec->entrypoint);
    write_texts_of(json, "command", spec->command);
    write_texts_of(json, "environment", spec->environment);
    cordon_jsonw_string(json, "user", spec->user);
    write_mounts(json, spec);
    cordon_jsonw_begin_array(json, "addresses");
    for (size_t i = 0; i < spec->endpoint_count; i++)
        cordon_jsonw_string(json, NULL, spec->endpoints[i].ipv4);
    cordon_jsonw_end_array(json);
    write_texts_of(json, "sysctls", spec->sysctls);
    cordon_jsonw_begin_object(json, "limits");
    cordon_jsonw_i64(json, "memory_bytes", spec->limits.memory_bytes);
    cordon_jsonw_i64(json, "nano_cpus", spec->limits.nano_cpus);
    cordon_jsonw_i64(json, "pids", spec->limits.pids);
    cordon_jsonw_i64(json, "open_files", spec->limits.open_files);
    cordon_jsonw_end_object(json);
    cordon_jsonw_end_object(json);
}

static void write_checks(cordon_jsonw *json, const char *key, const cordon_rule *rules,
                         size_t count)
{
    cordon_jsonw_begin_array(json, key);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].kind != CORDON_RULE_HARMLESS)
            cordon_jsonw_string(json, NULL, rules[i].name);
    }
    cordon_jsonw_end_array(json);
}

/* A step without a network has no proxy, and reaches no host. */
static bool is_networked(const cordon_run *run)
{
    return run->plan.step.endpoint_count > 0;
}

static void write_allowed(cordon_jsonw *json, const cordon_run *run)
{
    cordon_jsonw_begin_object(json, "allowed");
    cordon_jsonw_begin_array(json, "hosts");
    for (size_t i = 0; is_networked(run) && i < run->plan.input.host_count; i++)
        cordon_jsonw_string(json, NULL, run->plan.input.hosts[i].host);
    cordon_jsonw_end_array(json);
    cordon_jsonw_i64(json, "port", CORDON_VENDOR_PORT);
    write_texts(json, "argv", (const char *const *)run->command->argv.items,
                run->command->argv.count);
    cordon_jsonw_begin_array(json, "secrets"); /* names alone */
    for (size_t i = 0; i < run->invocation->secrets.count; i++)
        cordon_jsonw_string(json, NULL, run->invocation->secrets.items[i].name);
    cordon_jsonw_end_array(json);
    cordon_jsonw_bool(json, "worktree_writable", run->plan.input.worktree_writable);
    cordon_jsonw_end_object(json);
}

static void write_relay(cordon_jsonw *json, const cordon_run *run)
{
    write_network(json, "vendor_network", &run->plan.networks[CORDON_ROLE_VENDOR_NETWORK]);
    write_network(json, "egress_network", &run->plan.networks[CORDON_ROLE_EGRESS_NETWORK]);
    write_container(json, "proxy", &run->plan.proxy);
}

static int write_plan(const cordon_run *run, cordon_buf *text, cordon_err *err)
{
    const cordon_invocation *invocation = run->invocation;
    cordon_jsonw json;

    cordon_jsonw_init(&json, text);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "plan", 1);
    cordon_jsonw_string(&json, "invocation", "*");
    cordon_jsonw_string(&json, "engine", invocation->engine->name);
    cordon_jsonw_string(&json, "vendor", invocation->policy->vendor->name);
    cordon_jsonw_string(&json, "phase", invocation->policy->phase->name);
    cordon_jsonw_i64(&json, "deadline_ms", invocation->deadline_ms);
    cordon_jsonw_begin_object(&json, "image");
    cordon_jsonw_string_or_null(&json, "pin", cordon_run_pin(run));
    cordon_jsonw_string_or_null(&json, "id", run->images.base_id[0] ? run->images.base_id : NULL);
    cordon_jsonw_end_object(&json);
    write_allowed(&json, run);
    cordon_jsonw_begin_object(&json, "creates");
    if (is_networked(run))
        write_relay(&json, run);
    write_container(&json, "step", &run->plan.step);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_begin_object(&json, "checks");
    write_checks(&json, "container", cordon_container_rules, cordon_container_rule_count);
    write_checks(&json, "network", cordon_network_rules, cordon_network_rule_count);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_end_object(&json);
    return cordon_jsonw_finish(&json, err);
}

int cordon_invocation_plan_json(cordon_invocation *invocation, const cordon_command *command,
                                char **ret_json, cordon_err *err)
{
    static const cordon_io no_io = {.stdout_fd = -1, .stderr_fd = -1, .cancel_fd = -1};
    cordon_auto(cordon_buf) text = cordon_buf_make(PLAN_JSON_MAX);
    cordon_auto_ptr(cordon_run) run = NULL;

    if (cordon_run_new(invocation, &command, 1, &no_io, &run, err) != 0 ||
        cordon_run_prepare(run, false, err) != 0 || write_plan(run, &text, err) != 0)
        return -1;
    return cordon_buf_take(&text, ret_json, NULL, err);
}

/* --- Configuration --- */

static void write_engines(cordon_jsonw *json, const cordon_config *config)
{
    cordon_jsonw_begin_array(json, "engines");
    for (size_t i = 0; i < config->engines.count; i++) {
        const cordon_engine_config *engine = &config->engines.items[i];

        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "name", engine->name);
        cordon_jsonw_string(json, "kind",
                            cordon_engine_kind_name((cordon_engine_kind)engine->kind));
        cordon_jsonw_string(json, "endpoint", engine->endpoint);
        cordon_jsonw_string_or_null(json, "tls_ca", engine->tls_ca_file);
        cordon_jsonw_string_or_null(json, "tls_cert", engine->tls_cert_file);
        cordon_jsonw_string_or_null(json, "tls_key", engine->tls_key_file);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

static void write_runner(cordon_jsonw *json, const cordon_config *config)
{
    cordon_jsonw_begin_object(json, "runner");
    cordon_jsonw_begin_array(json, "approved");
    for (size_t i = 0; i < config->runner.approved.count; i++)
        write_texts(json, NULL, (const char *const *)config->runner.approved.items[i].items,
                    config->runner.approved.items[i].count);
    cordon_jsonw_end_array(json);
    cordon_jsonw_string(json, "network",
                        config->runner.network == CORDON_RUNNER_NETWORK_VENDOR ? "vendor" : "none");
    cordon_jsonw_end_object(json);
}

static void write_limits(cordon_jsonw *json, const cordon_limits_config *limits)
{
    cordon_jsonw_begin_object(json, "limits");
    cordon_jsonw_i64(json, "deadline_ms", limits->deadline_ms);
    cordon_jsonw_i64(json, "grace_ms", limits->grace_ms);
    cordon_jsonw_i64(json, "memory_bytes", limits->memory_bytes);
    cordon_jsonw_i64(json, "nano_cpus", limits->nano_cpus);
    cordon_jsonw_i64(json, "pids", limits->pids);
    cordon_jsonw_i64(json, "open_files", limits->open_files);
    cordon_jsonw_i64(json, "scratch_bytes", limits->scratch_bytes);
    cordon_jsonw_i64(json, "output_bytes", limits->output_bytes);
    cordon_jsonw_i64(json, "diff_bytes", limits->diff_bytes);
    cordon_jsonw_i64(json, "worktree_entries", limits->worktree_entries);
    cordon_jsonw_i64(json, "tunnels", limits->tunnels);
    cordon_jsonw_i64(json, "tunnel_bytes", limits->tunnel_bytes);
    cordon_jsonw_i64(json, "egress_bytes", limits->egress_bytes);
    cordon_jsonw_i64(json, "refusals", limits->refusals);
    cordon_jsonw_end_object(json);
}

static int write_config(const cordon_config *config, cordon_buf *text, cordon_err *err)
{
    cordon_jsonw json;

    cordon_jsonw_init(&json, text);
    cordon_jsonw_begin_object(&json, NULL);
    write_texts(&json, "files", (const char *const *)config->files.items, config->files.count);
    cordon_jsonw_string(&json, "engine", config->engine);
    write_engines(&json, config);
    cordon_jsonw_begin_object(&json, "images");
    cordon_jsonw_string_or_null(&json, "claude", config->images.claude);
    cordon_jsonw_string_or_null(&json, "codex", config->images.codex);
    cordon_jsonw_string_or_null(&json, "runner", config->images.runner);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_begin_object(&json, "agents");
    cordon_jsonw_string_or_null(&json, "claude", config->agents.claude);
    cordon_jsonw_string_or_null(&json, "codex", config->agents.codex);
    cordon_jsonw_end_object(&json);
    write_runner(&json, config);
    write_limits(&json, &config->limits);
    cordon_jsonw_begin_object(&json, "network");
    cordon_jsonw_string(&json, "range", config->network.range);
    cordon_jsonw_i64(&json, "prefix", config->network.prefix);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_begin_object(&json, "worktree");
    write_texts(&json, "protected", (const char *const *)config->tree.protected.items,
                config->tree.protected.count);
    cordon_jsonw_bool(&json, "git_data", config->tree.git_data);
    cordon_jsonw_string(&json, "mount", config->tree.mount);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_string(&json, "vendors_dir", config->vendors_dir);
    cordon_jsonw_string_or_null(&json, "images_lock", config->lock.path);
    cordon_jsonw_string(&json, "recipes_dir", config->recipes_dir);
    cordon_jsonw_string(&json, "podman_service",
                        config->podman_service == CORDON_PODMAN_SERVICE_AUTO ? "auto" : "never");
    cordon_jsonw_string(&json, "podman_program", config->podman_program);
    cordon_jsonw_string(&json, "ssh_program", config->ssh_program);
    cordon_jsonw_bool(&json, "allow_unenforced_limits", config->allow_unenforced_limits);
    cordon_jsonw_bool(&json, "allow_unread_runtime", config->allow_unread_runtime);
    cordon_jsonw_bool(&json, "allow_weak_landlock", config->allow_weak_landlock);
    cordon_jsonw_bool(&json, "sweep", config->sweep);
    cordon_jsonw_bool(&json, "mask_secrets", config->mask_secrets);
    cordon_jsonw_bool(&json, "allow_unknown_agent", config->allow_unknown_agent);
    cordon_jsonw_end_object(&json);
    return cordon_jsonw_finish(&json, err);
}

int cordon_config_json(const cordon_config *config, char **ret_json, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(PLAN_JSON_MAX);

    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0 ||
        write_config(config, &text, err) != 0)
        return -1;
    return cordon_buf_take(&text, ret_json, NULL, err);
}

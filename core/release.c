/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate is told with its release, see run.h: the command's argv, its whole environment
 * and the Landlock rules, in one frame that is bound to the nonce of the gate's report.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "kit/httpc.h"
#include "kit/num.h"

#define RELEASE_HOME CORDON_PLAN_TMP

/* A name that no vendor has and nobody can own: RFC 6761, section 6.4. */
#define RELEASE_OTHER_HOST "other.invalid"

/* Addresses of the host on common bridges and of user-mode networks: all must be out of reach. */
static const char *const host_addresses[] = {
    "172.17.0.1", "10.88.0.1", "10.0.2.2", "169.254.1.2", "192.168.65.2",
};

static int add_texts(cordon_fact_list *list, char *const *items, size_t count, cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cordon_fact_list_add(list, items[i], err) != 0)
            return -1;
    }
    return 0;
}

/*
 * SECURITY: git trusts the worktree, whoever it seems to belong to, and exactly that: the image's
 * own /etc/gitconfig, which could say "*", is not read. Needs git 2.38 (git-config(1),
 * "safe.directory", protected configuration).
 */
static int release_git(const cordon_run *run, cordon_fact_list *environment, cordon_err *err)
{
    if (run->plan.input.worktree == NULL)
        return 0;
    if (cordon_fact_list_add(environment, "GIT_CONFIG_NOSYSTEM=1", err) != 0 ||
        cordon_fact_list_add(environment, "GIT_CONFIG_COUNT=1", err) != 0 ||
        cordon_fact_list_add(environment, "GIT_CONFIG_KEY_0=safe.directory", err) != 0)
        return -1;
    return cordon_fact_list_addf(environment, err, "GIT_CONFIG_VALUE_0=%s",
                                 cordon_plan_mount(&run->plan));
}

/* Everything that the command's environment holds; there is nothing else in it. */
static int release_environment(const cordon_run *run, cordon_fact_list *environment,
                               cordon_err *err)
{
    static const char *const proxy_names[] = {"HTTPS_PROXY", "https_proxy"};
    const cordon_text_list *vendor = &run->invocation->policy->vendor->env;
    const cordon_agent *agent = run->command->agent;

    for (size_t i = 0;
         cordon_run_is_networked(run) && i < sizeof(proxy_names) / sizeof(proxy_names[0]); i++) {
        if (cordon_fact_list_addf(environment, err, "%s=http://%s:%d", proxy_names[i],
                                  run->plan.proxy_address, CORDON_PLAN_PROXY_PORT) != 0)
            return -1;
    }
    if (add_texts(environment, vendor->items, vendor->count, err) != 0 ||
        (agent != NULL &&
         add_texts(environment, agent->environment.items, agent->environment.count, err) != 0) ||
        release_git(run, environment, err) != 0)
        return -1;
    if (cordon_fact_list_add(environment, "HOME=" RELEASE_HOME, err) != 0 ||
        cordon_fact_list_add(environment, "TMPDIR=" CORDON_PLAN_TMP, err) != 0 ||
        cordon_fact_list_add(environment, "LANG=C.UTF-8", err) != 0)
        return -1;
    return cordon_fact_list_addf(environment, err, "PATH=%s", run->images.path);
}

/* "name value" pairs of the probe's command line; see gate/probe.h. */
static int probe_option(cordon_fact_list *argv, const char *name, const char *value,
                        cordon_err *err)
{
    return cordon_fact_list_add(argv, name, err) != 0 ? -1 : cordon_fact_list_add(argv, value, err);
}

/* The kernel's Landlock version, as the gate reported it; 0 is none. */
static unsigned release_landlock(const cordon_run *run)
{
    size_t at = 0;
    const char *value = cordon_gate_view_next(&run->view, "landlock.abi", &at);
    uint64_t abi = 0;

    if (value == NULL || cordon_num_u64(value, strlen(value), 0, 1000, &abi, NULL) != 0)
        return 0;
    return (unsigned)abi;
}

static int probe_argv(const cordon_run *run, cordon_fact_list *argv, cordon_err *err)
{
    char proxy[64];
    char gateway[INET_ADDRSTRLEN];
    char patience[16];

    (void)snprintf(patience, sizeof(patience), "%d", CORDON_RUN_PROBE_PINNED_MS);
    (void)snprintf(proxy, sizeof(proxy), "%s:%d", run->plan.proxy_address, CORDON_PLAN_PROXY_PORT);
    cordon_subnet_host(run->plan.subnets[CORDON_ROLE_VENDOR_NETWORK], 1, gateway);
    if (cordon_fact_list_add(argv, CORDON_PLAN_GUARD_ALONE, err) != 0 ||
        cordon_fact_list_add(argv, "probe", err) != 0 ||
        probe_option(argv, "--proxy", proxy, err) != 0 ||
        probe_option(argv, "--pinned", run->plan.input.hosts[0].host, err) != 0 ||
        probe_option(argv, "--other-host", RELEASE_OTHER_HOST, err) != 0 ||
        probe_option(argv, "--upstream", run->command->upstream != NULL ? "yes" : "any", err) !=
            0 ||
        probe_option(argv, "--pinned-ms", patience, err) != 0 ||
        probe_option(argv, "--gateway", gateway, err) != 0 ||
        probe_option(argv, "--worktree", cordon_plan_mount(&run->plan), err) != 0 ||
        probe_option(argv, "--writable", run->plan.input.worktree_writable ? "yes" : "no", err) !=
            0 ||
        probe_option(argv, "--scratch", CORDON_PLAN_TMP, err) != 0 ||
        probe_option(argv, "--fenced", release_landlock(run) > 0 ? "yes" : "no", err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(host_addresses) / sizeof(host_addresses[0]); i++) {
        if (probe_option(argv, "--host", host_addresses[i], err) != 0)
            return -1;
    }
    return 0;
}

/* The probe may execute itself alone, an agent its own program and that one's loader. */
static int release_execute(const cordon_run *run, cordon_fact_list *rules, cordon_err *err)
{
    const cordon_agent *agent = run->command->agent;

    if (run->command->kind == CORDON_COMMAND_PROBE)
        return cordon_fact_list_add(rules, "execute " CORDON_PLAN_GUARD_ALONE, err);
    if (agent == NULL)
        return cordon_fact_list_add(rules, "execute /", err);
    for (const char *const *path = agent->table->execute; *path != NULL; path++) {
        if (cordon_fact_list_addf(rules, err, "execute %s", *path) != 0)
            return -1;
    }
    return 0;
}

/* The folders that the plan mounts writable; what lies below the worktree goes with it. */
static int release_write_rules(const cordon_run *run, cordon_fact_list *rules, cordon_err *err)
{
    const cordon_container_spec *step = &run->plan.step;
    const char *mount = cordon_plan_mount(&run->plan);
    size_t length = strlen(mount);

    for (size_t i = 0; i < step->mount_count; i++) {
        const cordon_mount_spec *spec = &step->mounts[i];
        bool below = strncmp(spec->target, mount, length) == 0 && spec->target[length] == '/';

        if (spec->type == CORDON_MOUNT_BIND && !spec->read_only && !below &&
            cordon_fact_list_addf(rules, err, "write %s", spec->target) != 0)
            return -1;
    }
    return 0;
}

/*
 * What the kernel lets the command do, on top of mounts and modes: read everything that is
 * there, write the scratch and - in a writing phase - the worktree, connect to the proxy.
 */
static int release_rules(const cordon_run *run, cordon_fact_list *rules, cordon_err *err)
{
    if (cordon_fact_list_add(rules, "read /", err) != 0 || release_execute(run, rules, err) != 0 ||
        cordon_fact_list_add(rules, "write " CORDON_PLAN_TMP, err) != 0 ||
        cordon_fact_list_add(rules, "write /dev", err) != 0)
        return -1;
    if (release_write_rules(run, rules, err) != 0)
        return -1;
    if (!cordon_run_is_networked(run))
        return cordon_fact_list_add(rules, "connect 0", err);
    return cordon_fact_list_addf(rules, err, "connect %d", CORDON_PLAN_PROXY_PORT);
}

/* The command's argv; the probe's is completed with what it must know of the run. */
static int release_argv(const cordon_run *run, cordon_fact_list *argv, cordon_err *err)
{
    const cordon_command *command = run->command;

    if (command->kind == CORDON_COMMAND_PROBE)
        return probe_argv(run, argv, err);
    return add_texts(argv, command->argv.items, command->argv.count, err);
}

/* What an agent gets besides words: its prompt, and the authority of its vendor's certificate. */
static void release_agent(const cordon_run *run, cordon_release *release,
                          cordon_release_file *ca_file)
{
    const char *pem = run->invocation->policy->vendor->ca_pem;

    if (run->command->kind != CORDON_COMMAND_AGENT)
        return;
    release->input = run->command->prompt.data;
    release->input_length = run->command->prompt.length;
    if (pem == NULL)
        return;
    *ca_file = (cordon_release_file){CORDON_ADAPTER_CA_FILE, pem, strlen(pem)};
    release->files = ca_file;
    release->file_count = 1;
}

int cordon_run_release(cordon_run *run, cordon_permit **permit, cordon_err *err)
{
    cordon_auto(cordon_fact_list) argv = {0};
    cordon_auto(cordon_fact_list) environment = {0};
    cordon_auto(cordon_fact_list) rules = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_release_file ca_file = {0};
    cordon_release release = {
        .working_dir = run->invocation->worktree.path != NULL ? cordon_plan_mount(&run->plan)
                                                              : CORDON_PLAN_TMP,
    };

    if (release_argv(run, &argv, err) != 0 || release_environment(run, &environment, err) != 0 ||
        release_rules(run, &rules, err) != 0)
        return -1;
    release_agent(run, &release, &ca_file);
    release.landlock_abi = release_landlock(run);
    if (release.landlock_abi < CORDON_PLAN_LANDLOCK)
        cordon_receipt_accept(run->receipt, "kernel.landlock.abi");
    release.rules = (const char *const *)rules.items;
    release.rule_count = release.landlock_abi > 0 ? rules.count : 0;
    release.argv = (const char *const *)argv.items;
    release.argc = argv.count;
    release.environment = (const char *const *)environment.items;
    release.environment_count = environment.count;
    release.secrets = &run->invocation->secrets;
    if (cordon_gate_link_release(&run->link, run->view.nonce, &release, &frame, err) != 0 ||
        cordon_permit_spend(permit, run, &run->receipt->refusal, err) != 0)
        return -1;
    cordon_gate_link_released(&run->link);
    return cordon_stream_write(run->step_stream, frame.bytes.data, frame.bytes.length, run->dl,
                               err);
}

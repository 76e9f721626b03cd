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
#include "kit/random.h"

#define RELEASE_HOME CORDON_PLAN_TMP

/* "/tmp/.cordon-" and 32 digits, and room. */
#define CORDON_RELEASE_FOLDER 64

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

/* What the agent's adapter sets; among several steps with the places in its own folder. */
static int release_agent_environment(const cordon_run *run, const char *folder,
                                     cordon_fact_list *environment, cordon_err *err)
{
    const cordon_agent *agent = run->command->agent;

    if (agent == NULL)
        return 0;
    if (folder[0] != '\0')
        return cordon_agent_environment_in(agent, folder, environment, err);
    return add_texts(environment, agent->environment.items, agent->environment.count, err);
}

/* Everything that the command's environment holds; there is nothing else in it. */
static int release_environment(const cordon_run *run, const char *folder,
                               cordon_fact_list *environment, cordon_err *err)
{
    static const char *const proxy_names[] = {"HTTPS_PROXY", "https_proxy"};
    const cordon_text_list *vendor = &run->invocation->policy->vendor->env;

    for (size_t i = 0;
         cordon_run_is_networked(run) && i < sizeof(proxy_names) / sizeof(proxy_names[0]); i++) {
        if (cordon_fact_list_addf(environment, err, "%s=http://%s:%d", proxy_names[i],
                                  run->plan.proxy_address, CORDON_PLAN_PROXY_PORT) != 0)
            return -1;
    }
    if (add_texts(environment, vendor->items, vendor->count, err) != 0 ||
        release_agent_environment(run, folder, environment, err) != 0 ||
        release_git(run, environment, err) != 0)
        return -1;
    if (cordon_fact_list_addf(environment, err, "HOME=%s",
                              folder[0] != '\0' ? folder : RELEASE_HOME) != 0 ||
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

/* --- What an agent gets besides words --------------------------------------------------------- */

/* Its files, and the texts that they are made of. */
typedef struct agent_files {
    char folder[CORDON_RELEASE_FOLDER];   /* its own among several steps, else "" */
    char work[CORDON_RELEASE_FOLDER + 8]; /* in that one, for a CLI that has no worktree */
    char paths[3][CORDON_RELEASE_FOLDER + sizeof(((cordon_session_file *)NULL)->path)];
    cordon_session_file session;
    cordon_release_file items[3];
    size_t count;
} agent_files;

static void agent_files_clear(agent_files *files)
{
    cordon_session_file_clear(&files->session);
}
CORDON_DEFINE_AUTO(agent_files, agent_files_clear)

static void add_file(agent_files *files, const char *name, const void *bytes, size_t length)
{
    char *path = files->paths[files->count];

    (void)snprintf(path, sizeof(files->paths[0]), "%s/%s", files->folder, name);
    files->items[files->count++] = (cordon_release_file){path, bytes, length};
}

/* Where the command is started. */
static const char *working_dir(const cordon_run *run, const agent_files *files)
{
    if (run->invocation->worktree.path != NULL)
        return cordon_plan_mount(&run->plan);
    return files->folder[0] != '\0' ? files->work : CORDON_PLAN_TMP;
}

/* What was asked and answered before, for the CLI to go on with; else a new talk begins. */
static int add_session(cordon_run *run, agent_files *files, cordon_err *err)
{
    const cordon_command *command = run->command;

    if (command->agent->session[0] == '\0') {
        cordon_talk_clear(&run->talk);
    } else {
        if (cordon_agent_session(command->agent, &run->talk, working_dir(run, files),
                                 &files->session, err) != 0)
            return -1;
        add_file(files, files->session.path, files->session.bytes.data,
                 files->session.bytes.length);
    }
    if (!cordon_run_is_resumed(run))
        return 0;
    return cordon_talk_ask(&run->talk, command->prompt.data, command->prompt.length, err);
}

/*
 * A folder of the step's own. SECURITY: nobody who was there before it can know its name, so the
 * CLI finds no state in it but what is put there now. It is the CLI's home, too, and where it is
 * started if it has no worktree: in both it looks for more. The empty file makes these folders.
 */
static int own_folder(cordon_run *run, agent_files *files, cordon_err *err)
{
    char digits[33];
    const char *pem = run->invocation->policy->vendor->ca_pem;

    if (cordon_random_hex(digits, sizeof(digits) - 1, err) != 0)
        return -1;
    (void)snprintf(files->folder, sizeof(files->folder), CORDON_PLAN_TMP "/.cordon-%s", digits);
    (void)snprintf(files->work, sizeof(files->work), "%s/work", files->folder);
    add_file(files, "work/.cordon", "", 0);
    if (pem != NULL)
        add_file(files, CORDON_ADAPTER_CA_NAME, pem, strlen(pem));
    return add_session(run, files, err);
}

static int agent_files_make(cordon_run *run, agent_files *files, cordon_err *err)
{
    const char *pem = run->invocation->policy->vendor->ca_pem;

    if (run->command->kind != CORDON_COMMAND_AGENT)
        return 0;
    if (cordon_run_is_shared(run))
        return own_folder(run, files, err);
    if (pem != NULL)
        files->items[files->count++] =
            (cordon_release_file){CORDON_ADAPTER_CA_FILE, pem, strlen(pem)};
    return 0;
}

/* --- The frame -------------------------------------------------------------------------------- */

static void release_agent(const cordon_run *run, const agent_files *files, cordon_release *release)
{
    if (run->command->kind != CORDON_COMMAND_AGENT)
        return;
    release->input = run->command->prompt.data;
    release->input_length = run->command->prompt.length;
    release->files = files->items;
    release->file_count = files->count;
}

int cordon_run_release(cordon_run *run, cordon_permit **permit, cordon_err *err)
{
    cordon_auto(cordon_fact_list) argv = {0};
    cordon_auto(cordon_fact_list) environment = {0};
    cordon_auto(cordon_fact_list) rules = {0};
    cordon_auto(cordon_frame) frame = {0};
    cordon_auto(agent_files) files = {0};
    cordon_release release = {0};

    if (agent_files_make(run, &files, err) != 0 || release_argv(run, &argv, err) != 0 ||
        release_environment(run, files.folder, &environment, err) != 0 ||
        release_rules(run, &rules, err) != 0)
        return -1;
    release_agent(run, &files, &release);
    release.working_dir = working_dir(run, &files);
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

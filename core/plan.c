/* SPDX-License-Identifier: Apache-2.0 */
/* From decisions to specifications; see plan.h. */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#define PLAN_TEXTS(array)                                                                          \
    {                                                                                              \
        (array), sizeof(array) / sizeof((array)[0])                                                \
    }

/* Host number inside a block: the first one is what an engine takes for its bridge. */
enum {
    PLAN_HOST_PROXY = 2,
    PLAN_HOST_STEP = 3,
};

/* The proxy holds tunnels, not data; the figures are for its tables and its resolver children. */
static const cordon_limits_spec proxy_limits = {
    .memory_bytes = INT64_C(64) << 20,
    .nano_cpus = INT64_C(1000000000),
    .pids = 32,
    .open_files = 1024,
    .user_processes = 1024,
    .shm_bytes = INT64_C(1) << 20,
};

/* One process that sleeps. */
static const cordon_limits_spec keeper_limits = {
    .memory_bytes = INT64_C(16) << 20,
    .nano_cpus = INT64_C(100000000),
    .pids = 4,
    .open_files = 64,
    .user_processes = 1024,
    .shm_bytes = INT64_C(1) << 20,
};

/*
 * What tmpfs counts its blocks in. A kernel with larger pages would allow more, and the gate's
 * report of the bound in bytes would refuse that.
 */
#define PLAN_PAGE_BYTES     4096
#define PLAN_STOP_TIMEOUT_S 10
#define PLAN_STEP_SHM_BYTES (INT64_C(64) << 20)
/* RLIMIT_NPROC counts all processes of a uid on the host, so the pids limit does the work. */
#define PLAN_STEP_USER_PROCESSES 4096
/* Containers go first when memory runs out, never the host's own work. */
#define PLAN_OOM_SCORE_ADJ 500

/* An answer without an address: names resolve nowhere but in the proxy. */
static const char *const step_dns[] = {"127.0.0.1"};

/* SECURITY: without IPv6 no link-local address of the bridge is in reach; no forwarding. */
static const char *const no_forwarding[] = {
    "net.ipv4.ip_forward=0",
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
};

static const char *const proxy_entrypoint[] = {CORDON_PLAN_GUARD_ALONE};
static const char *const proxy_command[] = {"proxy"};
/*
 * The guard's environment. HOME and HOSTNAME are named because an engine that is told to unset
 * everything still adds them; named, they are what the plan says.
 */
static const char *const proxy_environment[] = {"HOME=/", "HOSTNAME=proxy", "PATH=/"};
static const char *const gate_alone[] = {CORDON_PLAN_GUARD_ALONE};
static const char *const gate_in_step[] = {CORDON_PLAN_GUARD_IN_STEP};
static const char *const keeper_command[] = {"keep"};
static const char *const keeper_environment[] = {"HOME=/", "HOSTNAME=keeper", "PATH=/"};
static const char *const gate_command[] = {"gate"};
static const char *const gate_environment[] = {"HOME=/", "HOSTNAME=step", "PATH=/"};

static const char *plan_name(const cordon_plan *plan, cordon_role role)
{
    return plan->input.owner->badges[role].name;
}

static void plan_networks(cordon_plan *plan)
{
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        bool internal = role == CORDON_ROLE_VENDOR_NETWORK;

        plan->networks[role] = (cordon_network_spec){
            .name = plan_name(plan, (cordon_role)role),
            .subnet = plan->subnets[role],
            .internal = internal,
            .no_gateway = internal,
            .isolated = true,
            .labels = cordon_owner_labels(plan->input.owner, (cordon_role)role),
        };
    }
}

static cordon_endpoint_spec plan_endpoint(const cordon_plan *plan, cordon_role network,
                                          const char *address, const char *interface)
{
    return (cordon_endpoint_spec){
        .network_id = plan->network_ids[network],
        .network_name = plan_name(plan, network),
        .ipv4 = address,
        .interface = interface,
    };
}

/* What both containers have in common; the rest is fixed by the contract of spec.h. */
static cordon_container_spec plan_container(const cordon_plan *plan, cordon_role role)
{
    return (cordon_container_spec){
        .name = plan_name(plan, role),
        .labels = cordon_owner_labels(plan->input.owner, role),
        .working_dir = "/",
        .hostname = cordon_role_name(role),
        .sysctls = PLAN_TEXTS(no_forwarding),
        .stop_timeout_s = PLAN_STOP_TIMEOUT_S,
        .oom_score_adj = PLAN_OOM_SCORE_ADJ,
        .userns = CORDON_USERNS_HOST,
    };
}

/* A limit is asked for only where the engine can enforce it; core refused the rest before. */
static cordon_limits_spec plan_enforceable(const cordon_plan *plan, cordon_limits_spec limits)
{
    unsigned can = plan->input.engine->can;

    if ((can & CORDON_CAN_LIMIT_MEMORY) == 0)
        limits.memory_bytes = 0;
    if ((can & CORDON_CAN_LIMIT_CPU) == 0)
        limits.nano_cpus = 0;
    if ((can & CORDON_CAN_LIMIT_PIDS) == 0)
        limits.pids = 0;
    return limits;
}

static void plan_proxy(cordon_plan *plan)
{
    plan->proxy_endpoints[0] =
        plan_endpoint(plan, CORDON_ROLE_EGRESS_NETWORK, plan->proxy_egress_address, "egress0");
    plan->proxy_endpoints[1] =
        plan_endpoint(plan, CORDON_ROLE_VENDOR_NETWORK, plan->proxy_address, "vendor0");

    plan->proxy = plan_container(plan, CORDON_ROLE_PROXY);
    plan->proxy.image_id = plan->input.guard_image_id;
    plan->proxy.entrypoint = (cordon_texts)PLAN_TEXTS(proxy_entrypoint);
    plan->proxy.environment = (cordon_texts)PLAN_TEXTS(proxy_environment);
    plan->proxy.command = (cordon_texts)PLAN_TEXTS(proxy_command);
    /* Its policy comes there, and that stream's end is its end. */
    plan->proxy.open_stdin = true;
    plan->proxy.user = CORDON_PLAN_PROXY_USER;
    plan->proxy.endpoints = plan->proxy_endpoints;
    plan->proxy.endpoint_count = 2;
    plan->proxy.limits = plan_enforceable(plan, proxy_limits);
}

const char *cordon_plan_mount(const cordon_plan *plan)
{
    return plan->input.mount != NULL ? plan->input.mount : CORDON_PLAN_WORKTREE;
}

/* Home and temp of a step: its own, or what all steps of the invocation share. */
static cordon_mount_spec plan_scratch_mount(const cordon_plan *plan)
{
    cordon_mount_spec mount = {
        .type = CORDON_MOUNT_TMPFS,
        .source = "",
        .target = CORDON_PLAN_TMP,
        .no_exec = true,
        .size_bytes = plan->input.limits.scratch_bytes,
        .mode_octal = 01777,
    };

    if (plan->input.shared) {
        mount.type = CORDON_MOUNT_VOLUME;
        mount.source = plan_name(plan, CORDON_ROLE_SCRATCH);
        mount.size_bytes -= mount.size_bytes % PLAN_PAGE_BYTES;
    }
    return mount;
}

static void plan_mounts(cordon_plan *plan)
{
    size_t count = 0;

    plan->mounts[count++] = plan_scratch_mount(plan);
    if (plan->input.worktree != NULL)
        plan->mounts[count++] = (cordon_mount_spec){
            .type = CORDON_MOUNT_BIND,
            .source = plan->input.worktree,
            .target = cordon_plan_mount(plan),
            .read_only = !plan->input.worktree_writable,
            .dev = plan->input.worktree_dev,
            .ino = plan->input.worktree_ino,
        };
    for (size_t i = 0; i < plan->input.kept_count && i < CORDON_PLAN_KEPT_MAX; i++)
        plan->mounts[count++] = plan->input.kept[i];
    if (plan->input.delivery == CORDON_GATE_MOUNT)
        plan->mounts[count++] = (cordon_mount_spec){
            .type = CORDON_MOUNT_IMAGE,
            .source = plan->input.guard_image_id,
            .target = CORDON_PLAN_GUARD_FOLDER,
            .read_only = true,
        };
    plan->step.mounts = plan->mounts;
    plan->step.mount_count = count;
}

static void plan_step(cordon_plan *plan)
{
    const cordon_plan_input *input = &plan->input;
    bool alone = input->delivery == CORDON_GATE_ALONE;

    plan->step_endpoints[0] =
        plan_endpoint(plan, CORDON_ROLE_VENDOR_NETWORK, plan->step_address, "vendor0");
    (void)snprintf(plan->user, sizeof(plan->user), "%u:%u", input->uid, input->gid);

    plan->step = plan_container(plan, CORDON_ROLE_STEP);
    plan->step.image_id = input->step_image_id;
    plan->step.entrypoint =
        alone ? (cordon_texts)PLAN_TEXTS(gate_alone) : (cordon_texts)PLAN_TEXTS(gate_in_step);
    plan->step.command = (cordon_texts)PLAN_TEXTS(gate_command);
    plan->step.environment = (cordon_texts)PLAN_TEXTS(gate_environment);
    plan->step.user = plan->user;
    plan->step.open_stdin = true;
    plan->step.userns = input->keep_id ? CORDON_USERNS_KEEP_ID : CORDON_USERNS_HOST;
    plan->step.endpoints = plan->step_endpoints;
    plan->step.endpoint_count = input->networked ? 1 : 0;
    plan->step.dns_servers = (cordon_texts)PLAN_TEXTS(step_dns);
    plan->step.limits = plan_enforceable(plan, (cordon_limits_spec){
                                                   .memory_bytes = input->limits.memory_bytes,
                                                   .nano_cpus = input->limits.nano_cpus,
                                                   .pids = input->limits.pids,
                                                   .open_files = input->limits.open_files,
                                                   .user_processes = PLAN_STEP_USER_PROCESSES,
                                                   .shm_bytes = PLAN_STEP_SHM_BYTES,
                                               });
    plan_mounts(plan);
}

/*
 * The keeper has the scratch mounted from before the first step until after the last one, and does
 * nothing. It has the steps' user, because libpod gives a volume to the first who mounts it.
 */
static void plan_keeper(cordon_plan *plan)
{
    plan->scratch = (cordon_volume_spec){
        .name = plan_name(plan, CORDON_ROLE_SCRATCH),
        .blocks = plan->input.limits.scratch_bytes / PLAN_PAGE_BYTES,
        .labels = cordon_owner_labels(plan->input.owner, CORDON_ROLE_SCRATCH),
    };
    plan->keeper_mount = plan_scratch_mount(plan);
    plan->keeper = plan_container(plan, CORDON_ROLE_KEEPER);
    plan->keeper.image_id = plan->input.guard_image_id;
    plan->keeper.entrypoint = (cordon_texts)PLAN_TEXTS(gate_alone);
    plan->keeper.command = (cordon_texts)PLAN_TEXTS(keeper_command);
    plan->keeper.environment = (cordon_texts)PLAN_TEXTS(keeper_environment);
    plan->keeper.user = plan->user;
    plan->keeper.userns = plan->step.userns;
    plan->keeper.dns_servers = (cordon_texts)PLAN_TEXTS(step_dns);
    plan->keeper.mounts = &plan->keeper_mount;
    plan->keeper.mount_count = 1;
    plan->keeper.limits = plan_enforceable(plan, keeper_limits);
}

const cordon_container_spec *cordon_plan_container(const cordon_plan *plan, cordon_role role)
{
    if (role == CORDON_ROLE_STEP)
        return &plan->step;
    return role == CORDON_ROLE_KEEPER ? &plan->keeper : &plan->proxy;
}

void cordon_plan_init(cordon_plan *ret_plan, const cordon_plan_input *input)
{
    memset(ret_plan, 0, sizeof(*ret_plan));
    ret_plan->input = *input;
    plan_networks(ret_plan);
    plan_proxy(ret_plan);
    plan_step(ret_plan);
    plan_keeper(ret_plan);
}

void cordon_plan_clear(cordon_plan *plan)
{
    cordon_frame_clear(&plan->proxy_policy);
    free(plan->scratch_place);
    plan->scratch_place = NULL;
}

int cordon_plan_place(cordon_plan *plan, cordon_role network, const char *subnet, cordon_err *err)
{
    (void)snprintf(plan->subnets[network], CORDON_SUBNET_SIZE, "%s", subnet);
    if (network == CORDON_ROLE_EGRESS_NETWORK) {
        cordon_subnet_host(subnet, PLAN_HOST_PROXY, plan->proxy_egress_address);
        return 0;
    }
    cordon_subnet_host(subnet, PLAN_HOST_PROXY, plan->proxy_address);
    cordon_subnet_host(subnet, PLAN_HOST_STEP, plan->step_address);
    return cordon_plan_policy(plan, err);
}

void cordon_plan_network_made(cordon_plan *plan, cordon_role network, const char *id)
{
    (void)snprintf(plan->network_ids[network], sizeof(plan->network_ids[network]), "%s", id);
}

bool cordon_plan_joins(cordon_role container, cordon_role network)
{
    return container == CORDON_ROLE_PROXY ||
           (container == CORDON_ROLE_STEP && network == CORDON_ROLE_VENDOR_NETWORK);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Identity, network and process as the kernel shows them; see witness_judges.h. */
#include "witness_judges.h"

#include <stdio.h>
#include <string.h>

#include "kit/num.h"

int cordon_witness_refuse(const witness_context *context, const char *expected, const char *actual)
{
    char fact[96];

    (void)snprintf(fact, sizeof(fact), "kernel.%s", context->key);
    return cordon_refuse(context->refusal, CORDON_REFUSED_KERNEL, fact, expected, actual,
                         context->err);
}

int cordon_witness_equal(const witness_context *context, const char *expected, const char *value)
{
    return strcmp(expected, value) == 0 ? 0 : cordon_witness_refuse(context, expected, value);
}

bool cordon_witness_one_of(const char *value, const char *const *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, allowed[i]) == 0)
            return true;
    }
    return false;
}

static int judge_id(const witness_context *context, unsigned id, const char *value)
{
    char expected[64];

    (void)snprintf(expected, sizeof(expected), "%u %u %u %u", id, id, id, id);
    return cordon_witness_equal(context, expected, value);
}

int cordon_judge_uid(const witness_context *context, const char *value)
{
    return judge_id(context, context->plan->input.uid, value);
}

int cordon_judge_gid(const witness_context *context, const char *value)
{
    return judge_id(context, context->plan->input.gid, value);
}

/* The engine may repeat the primary group; any other one could open a door. */
int cordon_judge_group(const witness_context *context, const char *value)
{
    char expected[32];

    (void)snprintf(expected, sizeof(expected), "%u", context->plan->input.gid);
    return cordon_witness_equal(context, expected, value);
}

int cordon_judge_no_caps(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, "0000000000000000", value);
}

int cordon_judge_one(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, "1", value);
}

int cordon_judge_zero(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, "0", value);
}

/* SECCOMP_MODE_FILTER: proc(5), "Seccomp". */
int cordon_judge_seccomp(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, "2", value);
}

int cordon_judge_seccomp_filters(const witness_context *context, const char *value)
{
    return strcmp(value, "0") != 0 ? 0 : cordon_witness_refuse(context, "at least 1", value);
}

/* Devices that the kernel puts into every network namespace when their module is loaded. */
static bool interface_is_idle(const char *value)
{
    const char *state = strchr(value, ' ');

    return state != NULL && strncmp(state, " down ", strlen(" down ")) == 0;
}

int cordon_judge_interface(const witness_context *context, const char *value)
{
    static const char *const names[] = {"lo", "eth0", "vendor0"};
    char name[32];
    size_t length = strcspn(value, " ");

    if (interface_is_idle(value))
        return 0;
    if (length >= sizeof(name))
        return cordon_witness_refuse(context, "lo and one interface", value);
    memcpy(name, value, length);
    name[length] = '\0';
    return WITNESS_ONE_OF(name, names)
               ? 0
               : cordon_witness_refuse(context, "lo and one interface", value);
}

/* "eth0 10.213.0.3/29": loopback and the planned address, nothing else. */
int cordon_judge_address(const witness_context *context, const char *value)
{
    static const char *const loopback[] = {"lo 127.0.0.1/8", "lo ::1/128"};
    char expected[64];
    const char *address = strchr(value, ' ');

    if (WITNESS_ONE_OF(value, loopback))
        return 0;
    (void)snprintf(expected, sizeof(expected), "%s/%u", context->plan->step_address,
                   cordon_subnet_prefix(context->plan->subnets[CORDON_ROLE_VENDOR_NETWORK]));
    if (address != NULL && strcmp(address + 1, expected) == 0)
        return 0;
    return cordon_witness_refuse(context, expected, value);
}

/*
 * Only what is reachable on the vendor network itself. A default route through the block's first
 * address is Docker's; nobody has that address (network fact host_address), so it leads nowhere.
 */
int cordon_judge_route(const witness_context *context, const char *value)
{
    char gateway[INET_ADDRSTRLEN];
    char nowhere[64];
    const char *via = strstr(value, " via ");

    cordon_subnet_host(context->plan->subnets[CORDON_ROLE_VENDOR_NETWORK], 1, gateway);
    (void)snprintf(nowhere, sizeof(nowhere), " via %s ", gateway);
    if (via == NULL || strncmp(via, " via  ", strlen(" via  ")) == 0 ||
        strncmp(via, " via none ", strlen(" via none ")) == 0 ||
        strncmp(via, nowhere, strlen(nowhere)) == 0)
        return 0;
    return cordon_witness_refuse(context, "no gateway", value);
}

int cordon_judge_resolv(const witness_context *context, const char *value)
{
    static const char *const nowhere[] = {"nameserver 127.0.0.1", "nameserver 127.0.0.11"};

    if (strncmp(value, "nameserver", strlen("nameserver")) != 0 || WITNESS_ONE_OF(value, nowhere))
        return 0;
    return cordon_witness_refuse(context, "a resolver inside the container, where there is none",
                                 value);
}

/* --- Process --- */

int cordon_judge_fd(const witness_context *context, const char *value)
{
    if (value[0] >= '0' && value[0] <= '2' && value[1] == ' ')
        return 0;
    return cordon_witness_refuse(context, "0, 1 and 2 alone", value);
}

/* "nofile soft hard" for the limits that the plan sets. */
int cordon_judge_limit(const witness_context *context, const char *value)
{
    const cordon_limits_spec *limits = &context->plan->step.limits;
    const struct {
        const char *name;
        int64_t limit;
    } planned[] = {
        {"core", 0},
        {"nofile", limits->open_files},
        {"nproc", limits->user_processes},
    };

    for (size_t i = 0; i < sizeof(planned) / sizeof(planned[0]); i++) {
        size_t length = strlen(planned[i].name);
        char expected[64];

        if (strncmp(value, planned[i].name, length) != 0 || value[length] != ' ')
            continue;
        (void)snprintf(expected, sizeof(expected), "%s %lld %lld", planned[i].name,
                       (long long)planned[i].limit, (long long)planned[i].limit);
        return cordon_witness_equal(context, expected, value);
    }
    return 0;
}

/*
 * The inode numbers of the initial namespaces are fixed: include/linux/proc_ns.h of the kernel,
 * PROC_*_INIT_INO. A step in one of them would share it with the host.
 */
int cordon_judge_ns(const witness_context *context, const char *value)
{
    static const char *const initial[] = {
        "ipc:[4026531839]",
        "uts:[4026531838]",
        "pid:[4026531836]",
        "cgroup:[4026531835]",
    };

    return WITNESS_ONE_OF(value, initial)
               ? cordon_witness_refuse(context, "a namespace of its own", value)
               : 0;
}

/* "net.ipv4.ip_forward 0" for those that the plan sets; an absent one is no protocol at all. */
int cordon_judge_sysctl(const witness_context *context, const char *value)
{
    size_t length = strcspn(value, " ");

    for (size_t i = 0; i < context->plan->step.sysctls.count; i++) {
        const char *planned = context->plan->step.sysctls.items[i];

        if (strncmp(planned, value, length) != 0 || planned[length] != '=')
            continue;
        return value[length] == ' ' && strcmp(planned + length + 1, value + length + 1) == 0
                   ? 0
                   : cordon_witness_refuse(context, planned, value);
    }
    return 0;
}

int cordon_judge_masked(const witness_context *context, const char *value)
{
    const char *blank = strrchr(value, ' ');

    if (blank != NULL && strcmp(blank + 1, "open") == 0)
        return cordon_witness_refuse(context, "absent, empty or read-only", value);
    return 0;
}

/* "null c 1:3": what the OCI runtime specification lists as default devices, and terminals. */
int cordon_judge_device(const witness_context *context, const char *value)
{
    static const char *const nodes[] = {
        "null c 1:3",    "zero c 1:5", "full c 1:7", "random c 1:8",
        "urandom c 1:9", "tty c 5:0",  "ptmx c 5:2", "pts/ptmx c 5:2",
    };

    return WITNESS_ONE_OF(value, nodes)
               ? 0
               : cordon_witness_refuse(context, "the default devices", value);
}

/*
 * "kcmp refused": a profile that lets one of these through is not an engine's default one, whatever
 * the engine says of it (core/gate/denied.c).
 */
int cordon_judge_denied(const witness_context *context, const char *value)
{
    const char *blank = strrchr(value, ' ');

    if (blank != NULL && strcmp(blank + 1, "refused") == 0)
        return 0;
    return cordon_witness_refuse(context, "refused by the engine's seccomp profile", value);
}

int cordon_judge_never(const witness_context *context, const char *value)
{
    return cordon_witness_refuse(context, "none", value);
}

int cordon_judge_hostname(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, context->plan->step.hostname, value);
}

int cordon_judge_working_dir(const witness_context *context, const char *value)
{
    return cordon_witness_equal(context, context->plan->step.working_dir, value);
}

int cordon_judge_argv(const witness_context *context, const char *value)
{
    const cordon_container_spec *step = &context->plan->step;

    if (cordon_witness_one_of(value, step->entrypoint.items, step->entrypoint.count) ||
        cordon_witness_one_of(value, step->command.items, step->command.count))
        return 0;
    return cordon_witness_refuse(context, "the gate's own command line", value);
}

/* A limit that is visible inside must be the planned one; "max" only where none was planned. */
static int judge_cgroup_limit(const witness_context *context, int64_t limit, const char *value)
{
    char expected[32];

    if (limit == 0)
        return 0;
    (void)snprintf(expected, sizeof(expected), "%lld", (long long)limit);
    return cordon_witness_equal(context, expected, value);
}

/* What a phase allows is the kernel's to hold, too: a kernel that can't is no step's. */
int cordon_judge_landlock(const witness_context *context, const char *value)
{
    unsigned least = context->plan->input.landlock_least;
    char expected[96];
    uint64_t abi;

    if (cordon_num_u64(value, strlen(value), 0, 1000, &abi, NULL) == 0 && abi >= least)
        return 0;
    (void)snprintf(expected, sizeof(expected),
                   "Landlock ABI %u or later (allow_weak_landlock = true does with less)", least);
    return cordon_witness_refuse(context, expected, value);
}

int cordon_judge_memory_max(const witness_context *context, const char *value)
{
    return judge_cgroup_limit(context, context->plan->step.limits.memory_bytes, value);
}

int cordon_judge_pids_max(const witness_context *context, const char *value)
{
    return judge_cgroup_limit(context, context->plan->step.limits.pids, value);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan, seen as the configuration that an OCI runtime gets; see expect.h. What an inspect must
 * show, too, is taken from there, so that both are one expectation.
 */
#include <string.h>

#include "expect.h"

/*
 * Calls that every supported engine's default profile refuses to a process without capabilities,
 * and that a kernel by itself may allow. A profile that lets one of them through is not the default
 * one. Source: the profiles of Podman 4.3 and 5.4 (containers/common) and Docker 20.10 and 26.1
 * (moby, profiles/seccomp); what the two disagree on (keyctl, unshare, mount, io_uring) is closed
 * by the gate's own filter.
 */
static const char *const refused_calls[] = {
    "acct",
    "add_key",
    "bpf",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "init_module",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "lookup_dcookie",
    "move_pages",
    "nfsservctl",
    "open_by_handle_at",
    "perf_event_open",
    "quotactl",
    "request_key",
    "swapoff",
    "swapon",
    "uselib",
    "userfaultfd",
    "vhangup",
};

#define RUNTIME_UMASK 022

/* Moves a fact that both must show. */
#define RUNTIME_MOVE(facts, container, member)                                                     \
    do {                                                                                           \
        (facts)->member = (container)->member;                                                     \
        memset(&(container)->member, 0, sizeof((container)->member));                              \
    } while (0)

static void runtime_shared(cordon_runtime_facts *facts, cordon_container_facts *container)
{
    RUNTIME_MOVE(facts, container, argv);
    RUNTIME_MOVE(facts, container, environment);
    RUNTIME_MOVE(facts, container, working_dir);
    RUNTIME_MOVE(facts, container, hostname);
    RUNTIME_MOVE(facts, container, user);
    RUNTIME_MOVE(facts, container, tty);
    RUNTIME_MOVE(facts, container, capabilities);
    RUNTIME_MOVE(facts, container, no_new_privileges);
    RUNTIME_MOVE(facts, container, masked_paths);
    RUNTIME_MOVE(facts, container, readonly_paths);
    RUNTIME_MOVE(facts, container, sysctls);
    RUNTIME_MOVE(facts, container, read_only_root);
    RUNTIME_MOVE(facts, container, mounts);
    RUNTIME_MOVE(facts, container, devices);
    RUNTIME_MOVE(facts, container, memory_bytes);
    RUNTIME_MOVE(facts, container, memory_swap_bytes);
    RUNTIME_MOVE(facts, container, nano_cpus);
    RUNTIME_MOVE(facts, container, pids);
    RUNTIME_MOVE(facts, container, ulimits);
    RUNTIME_MOVE(facts, container, oom_score_adj);
}

/* To the runtime a volume is the folder where the engine has put it, bound with all that is there.
 */
static int runtime_volume(cordon_mount_fact *mount, cordon_err *err)
{
    mount->type = CORDON_MOUNT_BIND;
    free(mount->source);
    mount->source = mount->place;
    mount->place = NULL;
    return cordon_fact_list_add(&mount->options, "nodev", err) != 0 ||
                   cordon_fact_list_add(&mount->options, "noexec", err) != 0
               ? -1
               : cordon_fact_list_add(&mount->options, "nosuid", err);
}

/*
 * The configuration does not name the image of an image mount; the inspect does. And it is the
 * place where nosuid and nodev of a bind can be seen.
 */
static int runtime_mounts(cordon_runtime_facts *facts, cordon_err *err)
{
    for (size_t i = 0; i < facts->mounts.count; i++) {
        cordon_mount_fact *mount = &facts->mounts.items[i];

        if (mount->type == CORDON_MOUNT_BIND &&
            (cordon_fact_list_add(&mount->options, "nodev", err) != 0 ||
             cordon_fact_list_add(&mount->options, "nosuid", err) != 0))
            return -1;
        if (mount->type == CORDON_MOUNT_VOLUME && runtime_volume(mount, err) != 0)
            return -1;
        if (mount->type != CORDON_MOUNT_IMAGE)
            continue;
        free(mount->source);
        mount->source = NULL;
    }
    return 0;
}

static int runtime_texts(cordon_fact_list *list, const char *const *items, size_t count,
                         cordon_err *err)
{
    cordon_fact_list_known(list);
    for (size_t i = 0; i < count; i++) {
        if (cordon_fact_list_add(list, items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int runtime_namespaces(cordon_runtime_facts *facts, const cordon_container_spec *spec,
                              cordon_err *err)
{
    static const char *const own[] = {"cgroup", "ipc", "mount", "network", "pid", "uts"};

    if (runtime_texts(&facts->namespaces, own, sizeof(own) / sizeof(own[0]), err) != 0)
        return -1;
    return spec->userns == CORDON_USERNS_KEEP_ID
               ? cordon_fact_list_add(&facts->namespaces, "user", err)
               : 0;
}

/*
 * The caller's own ids, which are 0 for a rootless engine, are the same inside; how the others are
 * spread around them is the engine's business. Without keep-id there is no such namespace.
 */
static int runtime_maps(const cordon_plan *plan, cordon_runtime_facts *facts,
                        const cordon_container_spec *spec, cordon_err *err)
{
    cordon_fact_list_known(&facts->uid_map);
    cordon_fact_list_known(&facts->gid_map);
    if (spec->userns != CORDON_USERNS_KEEP_ID)
        return 0;
    if (cordon_fact_list_addf(&facts->uid_map, err, "%u 0 1", plan->input.uid) != 0)
        return -1;
    return cordon_fact_list_addf(&facts->gid_map, err, "%u 0 1", plan->input.gid);
}

static bool engine_has(const cordon_plan *plan, const char *module)
{
    const cordon_fact_list *security = &plan->input.engine->security;

    for (size_t i = 0; i < security->count; i++) {
        if (strcmp(security->items[i], module) == 0)
            return true;
    }
    return false;
}

/* A rootless engine cannot load AppArmor profiles, and gives none. */
static int runtime_confinement(const cordon_plan *plan, cordon_runtime_facts *facts,
                               cordon_err *err)
{
    bool rootful = plan->input.engine->rootless == CORDON_FACT_NO;

    if (cordon_fact_text_set(&facts->apparmor_profile,
                             rootful && engine_has(plan, "apparmor") ? "on" : "", err) != 0 ||
        cordon_fact_text_set(&facts->selinux_label, engine_has(plan, "selinux") ? "on" : "", err) !=
            0 ||
        cordon_fact_text_set(&facts->seccomp_default, "errno", err) != 0)
        return -1;
    return runtime_texts(&facts->seccomp_allowed, refused_calls,
                         sizeof(refused_calls) / sizeof(refused_calls[0]), err);
}

/*
 * Without the right to make nodes and with nodev on what can be written, no further device can be
 * reached. That all are denied by the cgroup as well is what a rootful engine does; a rootless one
 * may not.
 */
static int runtime_devices(const cordon_plan *plan, cordon_runtime_facts *facts, cordon_err *err)
{
    static const char *const deny[] = {"deny a *:* rwm"};

    if (plan->input.engine->rootless == CORDON_FACT_NO)
        facts->devices_denied = CORDON_FACT_YES;
    return runtime_texts(&facts->device_rules, deny, 1, err);
}

/* The engine may repeat the primary group. */
static int runtime_ids(cordon_runtime_facts *facts, cordon_err *err)
{
    const char *colon = facts->user != NULL ? strchr(facts->user, ':') : NULL;

    facts->umask = (cordon_fact_int){.known = true, .value = RUNTIME_UMASK};
    if (colon == NULL)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "the plan has no user");
    return cordon_fact_list_add(&facts->extra_groups, colon + 1, err);
}

int cordon_expect_runtime(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                          cordon_runtime_facts *ret_facts, cordon_err *err)
{
    const cordon_container_spec *spec = cordon_plan_container(plan, role);
    cordon_auto(cordon_container_facts) container = {0};
    cordon_auto(cordon_runtime_facts) facts = {0};

    if (cordon_expect_container(plan, role, ids, CORDON_ROUND_CREATED, &container, err) != 0)
        return -1;
    runtime_shared(&facts, &container);
    cordon_fact_list_known(&facts.hooks);
    cordon_fact_list_known(&facts.unmodelled);
    if (runtime_mounts(&facts, err) != 0 || runtime_ids(&facts, err) != 0 ||
        runtime_maps(plan, &facts, spec, err) != 0 || runtime_namespaces(&facts, spec, err) != 0 ||
        runtime_confinement(plan, &facts, err) != 0 || runtime_devices(plan, &facts, err) != 0 ||
        cordon_fact_text_set(&facts.root_propagation, "", err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_runtime_facts){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications turned into expected facts; see expect.h. */
#include "expect.h"

#include <stdio.h>
#include <string.h>

/*
 * Paths that every supported engine hides or write-protects. An engine may hide more; that is
 * why these two facts are compared as "at least".
 * Source: the OCI defaults of Docker 20.10 and Podman 4.3, without paths that only some have.
 */
static const char *const masked_paths[] = {
    "/proc/acpi",          "/proc/kcore",       "/proc/keys",
    "/proc/latency_stats", "/proc/scsi",        "/proc/timer_list",
    "/proc/timer_stats",   "/proc/sched_debug", "/sys/firmware",
};
static const char *const readonly_paths[] = {
    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static int expect_texts(cordon_fact_list *list, cordon_texts texts, cordon_err *err)
{
    cordon_fact_list_known(list);
    for (size_t i = 0; i < texts.count; i++) {
        if (cordon_fact_list_add(list, texts.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int expect_set(cordon_fact_list *list, cordon_texts texts, cordon_err *err)
{
    if (expect_texts(list, texts, err) != 0)
        return -1;
    cordon_fact_list_sort(list);
    return 0;
}

static cordon_fact_int known_int(int64_t value)
{
    cordon_fact_int fact = {.known = true, .value = value};

    return fact;
}

static cordon_fact_bool known_bool(bool value)
{
    return value ? CORDON_FACT_YES : CORDON_FACT_NO;
}

static int expect_identity(cordon_container_facts *facts, const cordon_container_spec *spec,
                           const char *id, cordon_err *err)
{
    if (cordon_fact_text_set(&facts->id, id, err) != 0 ||
        cordon_fact_text_set(&facts->name, spec->name, err) != 0 ||
        cordon_fact_text_set(&facts->image_id, spec->image_id, err) != 0)
        return -1;
    return expect_set(&facts->labels, spec->labels, err);
}

static int expect_state(cordon_container_facts *facts, cordon_round round, cordon_err *err)
{
    facts->state = round == CORDON_ROUND_RUNNING ? CORDON_STATE_RUNNING : CORDON_STATE_CREATED;
    facts->oom_killed = CORDON_FACT_NO;
    facts->restart_count = known_int(0);
    cordon_fact_list_known(&facts->exec_ids);
    return cordon_fact_text_set(&facts->error, "", err);
}

static int expect_process(cordon_container_facts *facts, const cordon_container_spec *spec,
                          cordon_err *err)
{
    facts->tty = CORDON_FACT_NO;
    facts->open_stdin = known_bool(spec->open_stdin);
    facts->stdin_once = known_bool(spec->open_stdin);
    facts->init = CORDON_FACT_NO;
    facts->stop_timeout_s = known_int(spec->stop_timeout_s);
    cordon_fact_list_known(&facts->healthcheck);
    if (expect_texts(&facts->entrypoint, spec->entrypoint, err) != 0 ||
        expect_texts(&facts->command, spec->command, err) != 0 ||
        expect_texts(&facts->argv, spec->entrypoint, err) != 0 ||
        expect_texts(&facts->argv, spec->command, err) != 0 ||
        expect_set(&facts->environment, spec->environment, err) != 0)
        return -1;
    if (cordon_fact_text_set(&facts->user, spec->user, err) != 0 ||
        cordon_fact_text_set(&facts->working_dir, spec->working_dir, err) != 0 ||
        cordon_fact_text_set(&facts->hostname, spec->hostname, err) != 0 ||
        cordon_fact_text_set(&facts->domainname, "", err) != 0)
        return -1;
    return cordon_fact_text_set(&facts->stop_signal, "SIGTERM", err);
}

static int expect_privileges(cordon_container_facts *facts, cordon_err *err)
{
    static const cordon_texts masked = {masked_paths,
                                        sizeof(masked_paths) / sizeof(masked_paths[0])};
    static const cordon_texts readonly = {readonly_paths,
                                          sizeof(readonly_paths) / sizeof(readonly_paths[0])};

    facts->privileged = CORDON_FACT_NO;
    facts->no_new_privileges = CORDON_FACT_YES;
    facts->read_only_root = CORDON_FACT_YES;
    cordon_fact_list_known(&facts->capabilities);
    cordon_fact_list_known(&facts->security_options);
    cordon_fact_list_known(&facts->extra_groups);
    cordon_fact_list_known(&facts->devices);
    if (expect_set(&facts->masked_paths, masked, err) != 0)
        return -1;
    return expect_set(&facts->readonly_paths, readonly, err);
}

static int expect_namespaces(cordon_container_facts *facts, const cordon_container_spec *spec,
                             cordon_err *err)
{
    const char *user_mode = spec->userns == CORDON_USERNS_KEEP_ID ? "keep-id" : "host";

    if (cordon_fact_text_set(&facts->pid_mode, "private", err) != 0 ||
        cordon_fact_text_set(&facts->ipc_mode, "private", err) != 0 ||
        cordon_fact_text_set(&facts->uts_mode, "private", err) != 0 ||
        cordon_fact_text_set(&facts->user_mode, user_mode, err) != 0 ||
        cordon_fact_text_set(&facts->cgroup_mode, "private", err) != 0 ||
        cordon_fact_text_set(&facts->cgroup_parent, "", err) != 0)
        return -1;
    return cordon_fact_text_set(&facts->network_mode, spec->endpoint_count > 0 ? "network" : "none",
                                err);
}

static int expect_mount_options(cordon_mount_fact *fact, const cordon_mount_spec *spec,
                                cordon_err *err)
{
    cordon_fact_list *options = &fact->options;

    cordon_fact_list_known(options);
    if (spec->type == CORDON_MOUNT_BIND)
        return cordon_fact_list_add(options, "nonrecursive", err);
    if (spec->type == CORDON_MOUNT_VOLUME)
        return cordon_fact_list_add(options, "nocopy", err);
    if (spec->type != CORDON_MOUNT_TMPFS)
        return 0;
    if (cordon_fact_list_add(options, "nosuid", err) != 0 ||
        cordon_fact_list_add(options, "nodev", err) != 0 ||
        (spec->no_exec && cordon_fact_list_add(options, "noexec", err) != 0) ||
        cordon_fact_list_addf(options, err, "size=%lld", (long long)spec->size_bytes) != 0 ||
        cordon_fact_list_addf(options, err, "mode=%o", spec->mode_octal) != 0)
        return -1;
    cordon_fact_list_sort(options);
    return 0;
}

/* The scratch, and not whatever else a mount of its name may lead to. */
static int expect_place(const cordon_plan *plan, cordon_mount_fact *fact, cordon_err *err)
{
    if (fact->type != CORDON_MOUNT_VOLUME)
        return 0;
    if (plan->scratch_place == NULL)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "it is not known where the scratch lies");
    return cordon_fact_text_set(&fact->place, plan->scratch_place, err);
}

static int expect_mounts(const cordon_plan *plan, cordon_container_facts *facts,
                         const cordon_container_spec *spec, cordon_err *err)
{
    facts->mounts.known = true;
    for (size_t i = 0; i < spec->mount_count; i++) {
        const cordon_mount_spec *mount = &spec->mounts[i];
        cordon_mount_fact *fact;

        if (cordon_mount_facts_add(&facts->mounts, &fact, err) != 0)
            return -1;
        fact->type = mount->type;
        fact->read_only = known_bool(mount->read_only);
        if (cordon_fact_text_set(&fact->source, mount->source, err) != 0 ||
            cordon_fact_text_set(&fact->target, mount->target, err) != 0 ||
            expect_place(plan, fact, err) != 0 || expect_mount_options(fact, mount, err) != 0)
            return -1;
    }
    cordon_fact_list_known(&facts->volumes_from);
    cordon_fact_list_known(&facts->image_volumes);
    cordon_fact_list_known(&facts->secrets);
    return 0;
}

static int expect_endpoint(cordon_container_facts *facts, const cordon_endpoint_spec *spec,
                           cordon_round round, cordon_err *err)
{
    cordon_endpoint_fact *fact;

    if (cordon_endpoint_facts_add(&facts->endpoints, &fact, err) != 0 ||
        cordon_fact_text_set(&fact->network_key, spec->network_name, err) != 0 ||
        cordon_fact_text_set(&fact->network_id, spec->network_id, err) != 0 ||
        cordon_fact_text_set(&fact->requested_ipv4, spec->ipv4, err) != 0 ||
        cordon_fact_text_set(&fact->ipv6, "", err) != 0)
        return -1;
    if (round == CORDON_ROUND_RUNNING)
        return cordon_fact_text_set(&fact->ipv4, spec->ipv4, err);
    return 0;
}

static int expect_network_side(cordon_container_facts *facts, const cordon_container_spec *spec,
                               cordon_round round, cordon_err *err)
{
    facts->endpoints.known = true;
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        if (expect_endpoint(facts, &spec->endpoints[i], round, err) != 0)
            return -1;
    }
    facts->publish_all = CORDON_FACT_NO;
    cordon_fact_list_known(&facts->published_ports);
    cordon_fact_list_known(&facts->exposed_ports);
    cordon_fact_list_known(&facts->dns_search);
    cordon_fact_list_known(&facts->dns_options);
    cordon_fact_list_known(&facts->extra_hosts);
    cordon_fact_list_known(&facts->links);
    if (expect_texts(&facts->dns_servers, spec->dns_servers, err) != 0)
        return -1;
    return expect_set(&facts->sysctls, spec->sysctls, err);
}

static int expect_limits(cordon_container_facts *facts, const cordon_container_spec *spec,
                         cordon_err *err)
{
    const cordon_limits_spec *limits = &spec->limits;

    facts->memory_bytes = known_int(limits->memory_bytes);
    facts->memory_swap_bytes = known_int(limits->memory_bytes);
    facts->nano_cpus = known_int(limits->nano_cpus);
    facts->pids = known_int(limits->pids);
    facts->shm_bytes = known_int(limits->shm_bytes);
    facts->oom_score_adj = known_int(spec->oom_score_adj);
    facts->oom_kill_disable = CORDON_FACT_NO;
    if (cordon_fact_list_add(&facts->ulimits, "core=0:0", err) != 0 ||
        cordon_fact_list_addf(&facts->ulimits, err, "nofile=%lld:%lld",
                              (long long)limits->open_files, (long long)limits->open_files) != 0)
        return -1;
    return cordon_fact_list_addf(&facts->ulimits, err, "nproc=%lld:%lld",
                                 (long long)limits->user_processes,
                                 (long long)limits->user_processes);
}

/*
 * Cordon asks for no OCI runtime of its own, so it is the engine's default. An engine that does not
 * name its default has none that a container's could be held against.
 */
static int expect_runtime_name(const cordon_plan *plan, cordon_container_facts *facts,
                               cordon_err *err)
{
    const char *name = plan->input.engine->runtime;

    return cordon_fact_text_set(&facts->runtime, name != NULL ? name : "", err);
}

static int expect_life(cordon_container_facts *facts, const cordon_container_spec *spec,
                       cordon_err *err)
{
    facts->auto_remove = CORDON_FACT_NO;
    /* A log that is kept has an engine's own name; that it is bounded its decoder sees to. */
    if (!spec->keep_log && cordon_fact_text_set(&facts->log_driver, "none", err) != 0)
        return -1;
    cordon_fact_list_known(&facts->unmodelled);
    return cordon_fact_text_set(&facts->restart_policy, "no", err);
}

static const char *expected_id(const cordon_run_ids *ids, cordon_role role)
{
    if (role == CORDON_ROLE_STEP)
        return ids->step;
    return role == CORDON_ROLE_KEEPER ? ids->keeper : ids->proxy;
}

int cordon_expect_container(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                            cordon_round round, cordon_container_facts *ret_facts, cordon_err *err)
{
    bool is_step = role == CORDON_ROLE_STEP;
    const cordon_container_spec *spec = cordon_plan_container(plan, role);
    cordon_auto(cordon_container_facts) facts = {0};

    if (expect_identity(&facts, spec, expected_id(ids, role), err) != 0 ||
        expect_state(&facts, round, err) != 0 || expect_process(&facts, spec, err) != 0 ||
        expect_privileges(&facts, err) != 0 || expect_namespaces(&facts, spec, err) != 0 ||
        expect_mounts(plan, &facts, spec, err) != 0 ||
        expect_network_side(&facts, spec, round, err) != 0 ||
        expect_limits(&facts, spec, err) != 0 || expect_life(&facts, spec, err) != 0 ||
        expect_runtime_name(plan, &facts, err) != 0)
        return -1;
    if (is_step && plan->input.step_image_labels != NULL &&
        expect_set(&facts.labels,
                   (cordon_texts){(const char *const *)plan->input.step_image_labels->items,
                                  plan->input.step_image_labels->count},
                   err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

static int expect_members(const cordon_plan *plan, cordon_role network, const cordon_run_ids *ids,
                          cordon_fact_list *members, cordon_err *err)
{
    cordon_fact_list_known(members);
    if (cordon_plan_joins(CORDON_ROLE_PROXY, network) &&
        cordon_fact_list_add(members, ids->proxy, err) != 0)
        return -1;
    /* Of several steps one may have no network, while the others' is there. */
    if (plan->input.networked && cordon_plan_joins(CORDON_ROLE_STEP, network) &&
        cordon_fact_list_add(members, ids->step, err) != 0)
        return -1;
    cordon_fact_list_sort(members);
    return 0;
}

int cordon_expect_network(const cordon_plan *plan, cordon_role role, const cordon_run_ids *ids,
                          cordon_round round, cordon_network_facts *ret_facts, cordon_err *err)
{
    const cordon_network_spec *spec = &plan->networks[role];
    cordon_auto(cordon_network_facts) facts = {0};

    facts.internal = known_bool(spec->internal);
    facts.host_address = known_bool(!spec->no_gateway);
    facts.isolated = known_bool(spec->isolated);
    facts.ipv6 = CORDON_FACT_NO;
    facts.dns = CORDON_FACT_NO;
    facts.attachable = CORDON_FACT_NO;
    facts.ingress = CORDON_FACT_NO;
    cordon_fact_list_known(&facts.options);
    cordon_fact_list_known(&facts.unmodelled);
    if (cordon_fact_text_set(&facts.id, plan->network_ids[role], err) != 0 ||
        cordon_fact_text_set(&facts.name, spec->name, err) != 0 ||
        cordon_fact_text_set(&facts.driver, "bridge", err) != 0 ||
        cordon_fact_list_add(&facts.subnets, spec->subnet, err) != 0 ||
        expect_set(&facts.labels, spec->labels, err) != 0)
        return -1;
    /* SECURITY: the vendor network holds exactly the proxy and the step, nobody else. */
    if (round == CORDON_ROUND_RUNNING &&
        expect_members(plan, role, ids, &facts.endpoints, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

static int expect_driver(const cordon_volume_spec *spec, cordon_volume_facts *facts,
                         cordon_err *err)
{
    if (cordon_fact_text_set(&facts->driver, "local", err) != 0 ||
        cordon_fact_text_set(&facts->scope, "local", err) != 0 ||
        cordon_fact_list_add(&facts->options, "device=tmpfs", err) != 0 ||
        cordon_fact_list_addf(&facts->options, err, "o=" CORDON_VOLUME_OPTIONS,
                              (long long)spec->blocks) != 0)
        return -1;
    return cordon_fact_list_add(&facts->options, "type=tmpfs", err);
}

/* SECURITY: keeper and step, nobody else; and it is the one that was made, not another since. */
static int expect_volume_later(const cordon_run_ids *ids, const cordon_volume_facts *first,
                               cordon_volume_facts *facts, cordon_err *err)
{
    if (ids->keeper[0] != '\0' && cordon_fact_list_add(&facts->users, ids->keeper, err) != 0)
        return -1;
    if (ids->step[0] != '\0' && cordon_fact_list_add(&facts->users, ids->step, err) != 0)
        return -1;
    cordon_fact_list_sort(&facts->users);
    return first->place != NULL ? cordon_fact_text_set(&facts->place, first->place, err) : 0;
}

int cordon_expect_volume(const cordon_plan *plan, const cordon_run_ids *ids,
                         const cordon_volume_facts *first, cordon_volume_facts *ret_facts,
                         cordon_err *err)
{
    const cordon_volume_spec *spec = &plan->scratch;
    cordon_auto(cordon_volume_facts) facts = {0};

    cordon_fact_list_known(&facts.users);
    cordon_fact_list_known(&facts.unmodelled);
    if (cordon_fact_text_set(&facts.name, spec->name, err) != 0 ||
        expect_driver(spec, &facts, err) != 0 || expect_set(&facts.labels, spec->labels, err) != 0)
        return -1;
    if (first != NULL && expect_volume_later(ids, first, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fake engine shows of its objects, made from what it was asked for: the normal form of
 * facts.h. Written without a look at core's expectation, so that the two check each other.
 */
#include <stdio.h>
#include <string.h>

#include "factread.h"
#include "support/fake_impl.h"

static cordon_fact_bool yes_no(bool value)
{
    return value ? CORDON_FACT_YES : CORDON_FACT_NO;
}

static cordon_fact_int number(int64_t value)
{
    return (cordon_fact_int){.known = true, .value = value};
}

static int texts(cordon_fact_list *list, cordon_texts from, cordon_err *err)
{
    cordon_fact_list_known(list);
    for (size_t i = 0; i < from.count; i++) {
        if (cordon_fact_list_add(list, from.items[i], err) != 0)
            return -1;
    }
    return 0;
}

typedef struct text_fact {
    cordon_fact_text *slot;
    const char *text;
} text_fact;

static int set_texts(const text_fact *facts, size_t count, cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (facts[i].text && cordon_fact_text_set(facts[i].slot, facts[i].text, err) != 0)
            return -1;
    }
    return 0;
}

#define SET_TEXTS(table, err) set_texts((table), sizeof(table) / sizeof((table)[0]), (err))

static bool was_started(const fake_container *container)
{
    return container->state != CORDON_STATE_CREATED;
}

static int container_texts(const fake_container *c, cordon_container_facts *f, cordon_err *err)
{
    const cordon_container_spec *s = &c->spec;
    const text_fact table[] = {
        {&f->id, c->id},
        {&f->name, s->name},
        {&f->image_id, s->image_id},
        {&f->started_at, was_started(c) ? "2026-01-01T00:00:00Z" : ""},
        {&f->finished_at, c->state == CORDON_STATE_EXITED ? "2026-01-01T00:00:01Z" : ""},
        {&f->error, ""},
        {&f->user, s->user},
        {&f->working_dir, s->working_dir},
        {&f->hostname, s->hostname},
        {&f->domainname, ""},
        {&f->stop_signal, "SIGTERM"},
        {&f->apparmor_profile, ""},
        {&f->selinux_label, ""},
        {&f->runtime, c->fake->podman ? "crun" : "runc"},
        {&f->runtime_config, c->fake->podman ? FAKE_RUNTIME_CONFIG : NULL},
        {&f->pid_mode, "private"},
        {&f->ipc_mode, "private"},
        {&f->uts_mode, "private"},
        {&f->user_mode, s->userns == CORDON_USERNS_KEEP_ID ? "keep-id" : "host"},
        {&f->cgroup_mode, "private"},
        {&f->network_mode, s->endpoint_count ? "network" : "none"},
        {&f->cgroup_parent, ""},
        {&f->restart_policy, "no"},
        {&f->log_driver, "none"},
    };
    return SET_TEXTS(table, err);
}

static int container_lists(const fake_container *c, cordon_container_facts *f, cordon_err *err)
{
    static const char *const masked[] = {
        "/proc/acpi",
        "/proc/asound",
        "/proc/kcore",
        "/proc/keys",
        "/proc/latency_stats",
        "/proc/timer_list",
        "/proc/timer_stats",
        "/proc/sched_debug",
        "/proc/scsi",
        "/sys/firmware",
        "/sys/devices/virtual/powercap",
    };
    static const char *const readonly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                           "/proc/sysrq-trigger"};
    const cordon_container_spec *s = &c->spec;
    cordon_fact_list *const empty[] = {
        &f->exec_ids,     &f->healthcheck,     &f->capabilities,  &f->security_options,
        &f->extra_groups, &f->volumes_from,    &f->image_volumes, &f->devices,
        &f->secrets,      &f->published_ports, &f->exposed_ports, &f->dns_search,
        &f->dns_options,  &f->extra_hosts,     &f->links,         &f->unmodelled,
    };
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        cordon_fact_list_known(empty[i]);
    const struct {
        cordon_fact_list *list;
        cordon_texts from;
    } filled[] = {
        {&f->labels, s->labels},
        {&f->entrypoint, s->entrypoint},
        {&f->command, s->command},
        {&f->argv, s->entrypoint},
        {&f->argv, s->command},
        {&f->environment, s->environment},
        {&f->dns_servers, s->dns_servers},
        {&f->sysctls, s->sysctls},
        {&f->masked_paths, {masked, sizeof masked / sizeof masked[0]}},
        {&f->readonly_paths, {readonly, sizeof readonly / sizeof readonly[0]}},
    };
    for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++) {
        if (texts(filled[i].list, filled[i].from, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(&f->labels);
    cordon_fact_list_sort(&f->sysctls);
    return 0;
}

static void container_scalars(const fake_container *c, cordon_container_facts *f)
{
    const cordon_container_spec *s = &c->spec;
    f->state = c->state;
    f->pid = number(c->state == CORDON_STATE_RUNNING ? 4242 : 0);
    f->exit_code = number(c->exit_code);
    f->oom_killed = yes_no(c->oom_killed);
    f->restart_count = number(0);
    f->tty = CORDON_FACT_NO;
    f->open_stdin = f->stdin_once = yes_no(s->open_stdin);
    f->stop_timeout_s = number(s->stop_timeout_s);
    f->init = CORDON_FACT_NO;
    f->privileged = CORDON_FACT_NO;
    f->no_new_privileges = CORDON_FACT_YES;
    f->read_only_root = CORDON_FACT_YES;
    f->publish_all = CORDON_FACT_NO;
    f->memory_bytes = f->memory_swap_bytes = number(s->limits.memory_bytes);
    f->nano_cpus = number(s->limits.nano_cpus);
    f->pids = number(s->limits.pids);
    f->shm_bytes = number(s->limits.shm_bytes);
    f->oom_score_adj = number(s->oom_score_adj);
    f->oom_kill_disable = CORDON_FACT_NO;
    f->auto_remove = CORDON_FACT_NO;
}

static int container_ulimits(const fake_container *c, cordon_container_facts *f, cordon_err *err)
{
    const struct {
        const char *name;
        int64_t value;
    } table[] = {{"core", 0},
                 {"nofile", c->spec.limits.open_files},
                 {"nproc", c->spec.limits.user_processes}};
    cordon_fact_list_known(&f->ulimits);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        long long value = table[i].value;
        if (cordon_fact_list_addf(&f->ulimits, err, "%s=%lld:%lld", table[i].name, value, value) !=
            0)
            return -1;
    }
    return 0;
}

static int mount_options(const cordon_mount_spec *spec, cordon_fact_list *options, cordon_err *err)
{
    cordon_fact_list_known(options);
    if (spec->type == CORDON_MOUNT_BIND)
        return cordon_fact_list_add(options, "nonrecursive", err);
    if (spec->type == CORDON_MOUNT_VOLUME)
        return cordon_fact_list_add(options, "nocopy", err);
    if (spec->type != CORDON_MOUNT_TMPFS)
        return 0;
    if (cordon_fact_list_addf(options, err, "mode=%o", spec->mode_octal) != 0 ||
        cordon_fact_list_add(options, "nodev", err) != 0 ||
        (spec->no_exec && cordon_fact_list_add(options, "noexec", err) != 0) ||
        cordon_fact_list_add(options, "nosuid", err) != 0 ||
        cordon_fact_list_addf(options, err, "size=%lld", (long long)spec->size_bytes) != 0)
        return -1;
    return 0;
}

static int container_mounts(const fake_container *c, cordon_container_facts *f, cordon_err *err)
{
    f->mounts.known = true;
    for (size_t i = 0; i < c->spec.mount_count; i++) {
        const cordon_mount_spec *spec = &c->spec.mounts[i];
        cordon_mount_fact *fact = NULL;
        if (cordon_mount_facts_add(&f->mounts, &fact, err) != 0)
            return -1;
        const text_fact table[] = {
            {&fact->source, spec->source},
            {&fact->target, spec->target},
            {&fact->propagation, spec->type == CORDON_MOUNT_BIND ? "rprivate" : ""},
        };
        fact->type = spec->type;
        fact->read_only = yes_no(spec->read_only);
        if (SET_TEXTS(table, err) != 0 || mount_options(spec, &fact->options, err) != 0 ||
            (spec->type == CORDON_MOUNT_VOLUME &&
             cordon_fact_text_set(&fact->place, FAKE_VOLUME_PLACE, err) != 0))
            return -1;
    }
    return 0;
}

static int container_endpoints(const fake_container *c, cordon_container_facts *f, cordon_err *err)
{
    bool running = c->state == CORDON_STATE_RUNNING;
    f->endpoints.known = true;
    for (size_t i = 0; i < c->spec.endpoint_count; i++) {
        const cordon_endpoint_spec *spec = &c->spec.endpoints[i];
        cordon_endpoint_fact *fact = NULL;
        if (cordon_endpoint_facts_add(&f->endpoints, &fact, err) != 0)
            return -1;
        const text_fact table[] = {
            {&fact->network_key, spec->network_name},
            {&fact->network_id, running && !c->fake->podman ? spec->network_id : NULL},
            {&fact->ipv4, running ? spec->ipv4 : ""},
            {&fact->requested_ipv4, spec->ipv4 ? spec->ipv4 : ""},
            {&fact->gateway, ""},
            {&fact->ipv6, ""},
            {&fact->mac, running ? "02:42:0a:d5:00:03" : ""},
        };
        if (SET_TEXTS(table, err) != 0)
            return -1;
        cordon_fact_list_known(&fact->aliases);
    }
    return 0;
}

int fake_container_facts(const fake_container *container, cordon_container_facts *ret_facts,
                         cordon_err *err)
{
    cordon_auto(cordon_container_facts) facts = {0};
    container_scalars(container, &facts);
    if (container_texts(container, &facts, err) != 0 ||
        container_lists(container, &facts, err) != 0 ||
        container_ulimits(container, &facts, err) != 0 ||
        container_mounts(container, &facts, err) != 0 ||
        container_endpoints(container, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

static bool is_member(const fake_container *container, const fake_network *network)
{
    for (size_t i = 0; i < container->spec.endpoint_count; i++) {
        if (strcmp(container->spec.endpoints[i].network_id, network->id) == 0)
            return true;
    }
    return false;
}

/* Docker counts running containers alone. */
static int network_members(const fake_network *network, const fake_engine *fake,
                           cordon_network_facts *facts, cordon_err *err)
{
    cordon_fact_list_known(&facts->endpoints);
    for (size_t i = 0; i < fake->container_count; i++) {
        const fake_container *c = fake->containers[i];
        bool counts = c->there && (fake->podman || c->state == CORDON_STATE_RUNNING);
        if (counts && is_member(c, network) &&
            cordon_fact_list_add(&facts->endpoints, c->id, err) != 0)
            return -1;
    }
    if (network->intruder &&
        cordon_fact_list_add(&facts->endpoints,
                             "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
                             err) != 0)
        return -1;
    cordon_fact_list_sort(&facts->endpoints);
    return 0;
}

int fake_network_facts(const fake_network *network, const fake_engine *fake,
                       cordon_network_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_network_facts) f = {0};
    const cordon_network_spec *s = &network->spec;
    const text_fact table[] = {{&f.id, network->id}, {&f.name, s->name}, {&f.driver, "bridge"}};
    f.internal = yes_no(s->internal);
    f.host_address = yes_no(!s->no_gateway);
    f.isolated = yes_no(s->isolated);
    f.ipv6 = CORDON_FACT_NO;
    f.dns = fake->podman ? CORDON_FACT_NO : CORDON_FACT_UNKNOWN;
    f.attachable = CORDON_FACT_NO;
    f.ingress = CORDON_FACT_NO;
    cordon_fact_list_known(&f.gateways);
    cordon_fact_list_known(&f.options);
    cordon_fact_list_known(&f.unmodelled);
    if (SET_TEXTS(table, err) != 0 || cordon_fact_list_add(&f.subnets, s->subnet, err) != 0 ||
        texts(&f.labels, s->labels, err) != 0 || network_members(network, fake, &f, err) != 0)
        return -1;
    cordon_fact_list_sort(&f.labels);
    *ret_facts = f;
    return f = (cordon_network_facts){0}, 0;
}

static const char *config_of(const fake_engine *fake, const char *id)
{
    for (size_t i = 0; i < fake->image_count; i++) {
        if (strcmp(fake->images[i].id, id) == 0)
            return fake->images[i].config;
    }
    return "";
}

/* What an archive's configuration says: architecture, layers, labels. */
static int read_config(const char *text, cordon_image_facts *facts, cordon_err *err)
{
    static const cordon_factread_field root_field = {"architecture", CORDON_READ_TEXT,
                                                     offsetof(cordon_image_facts, architecture),
                                                     CORDON_NULL_UNKNOWN};
    static const cordon_factread_field label_field = {
        "Labels", CORDON_READ_MAP, offsetof(cordon_image_facts, labels), CORDON_NULL_EMPTY};
    static const cordon_factread_field layer_field = {
        "diff_ids", CORDON_READ_LIST, offsetof(cordon_image_facts, layers), CORDON_NULL_EMPTY};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json config = {0};
    cordon_json rootfs = {0};
    if (cordon_json_parse(text, strlen(text), 8192, 0, &doc, err) != 0)
        return -1;
    cordon_json root = cordon_json_root(doc);
    if (cordon_json_need_object(root, "config", &config, err) != 0 ||
        cordon_json_need_object(root, "rootfs", &rootfs, err) != 0 ||
        cordon_factread_fields(root, &root_field, 1, facts, err) != 0 ||
        cordon_factread_fields(config, &label_field, 1, facts, err) != 0)
        return -1;
    return cordon_factread_fields(rootfs, &layer_field, 1, facts, err);
}

static int fresh_image(cordon_image_facts *f, cordon_err *err)
{
    if (cordon_fact_text_set(&f->architecture, "amd64", err) != 0 ||
        cordon_fact_list_add(&f->digests, FAKE_IMAGE_NAMED, err) != 0 ||
        cordon_fact_list_add(&f->environment, "PATH=/usr/bin:/bin", err) != 0)
        return -1;
    return cordon_fact_list_add(&f->layers, "sha256:" FAKE_IMAGE_DIGEST, err);
}

int fake_image_facts(const fake_engine *fake, const char *id, cordon_image_facts *ret_facts,
                     cordon_err *err)
{
    cordon_auto(cordon_image_facts) f = {0};
    const char *config = config_of(fake, id);
    const text_fact table[] = {{&f.id, id}, {&f.os, "linux"}, {&f.user, ""}};
    cordon_fact_list *const lists[] = {&f.digests,       &f.entrypoint, &f.command, &f.environment,
                                       &f.volumes,       &f.on_build,   &f.labels,  &f.layers,
                                       &f.exposed_ports, &f.unmodelled};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        cordon_fact_list_known(lists[i]);
    if (SET_TEXTS(table, err) != 0 ||
        (config[0] ? read_config(config, &f, err) : fresh_image(&f, err)) != 0)
        return -1;
    *ret_facts = f;
    return f = (cordon_image_facts){0}, 0;
}

int fake_engine_facts_of(const fake_engine *fake, cordon_engine_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_engine_facts) f = {0};
    const text_fact table[] = {
        {&f.version, fake->podman ? "4.3.1" : "20.10.24"},
        {&f.api, fake->podman ? "4.3.1" : "1.41"},
        {&f.os, "linux"},
        {&f.architecture, "amd64"},
        {&f.storage_driver, fake->podman ? "overlay" : "overlay2"},
        {&f.runtime, fake->podman ? "crun" : "runc"},
    };
    f.kind = fake->podman ? CORDON_ENGINE_PODMAN : CORDON_ENGINE_DOCKER;
    f.rootless = CORDON_FACT_NO;
    f.cgroup_version = number(2);
    f.can = CORDON_CAN_LIMIT_MEMORY | CORDON_CAN_LIMIT_CPU | CORDON_CAN_LIMIT_PIDS |
            CORDON_CAN_DEFAULT_SECCOMP | CORDON_CAN_SHOW_SYSCTLS | CORDON_CAN_SHOW_NAMESPACES;
    f.can |= fake->podman ? CORDON_CAN_MOUNT_IMAGES | CORDON_CAN_KEEP_ID |
                                CORDON_CAN_SHOW_CREATED_ENDPOINTS | CORDON_CAN_SHOW_RUNTIME
                          : CORDON_CAN_LOAD_ON_BASE | CORDON_CAN_TELL_UPLOADS;
    cordon_fact_list_known(&f.security);
    cordon_fact_list_known(&f.warnings);
    if (SET_TEXTS(table, err) != 0)
        return -1;
    *ret_facts = f;
    return f = (cordon_engine_facts){0}, 0;
}

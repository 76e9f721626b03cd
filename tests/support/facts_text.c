/* SPDX-License-Identifier: Apache-2.0 */
/* See facts_text.h. */
#include "support/facts_text.h"

#include <stddef.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef enum kind { TEXT, BOOL, INT, LIST } kind;

typedef struct row {
    const char *name;
    size_t offset;
    kind kind;
} row;

#define C(fact, what)                                                                              \
    {                                                                                              \
#fact, offsetof(cordon_container_facts, fact), what                                        \
    }
#define N(fact, what)                                                                              \
    {                                                                                              \
#fact, offsetof(cordon_network_facts, fact), what                                          \
    }
#define V(fact, what)                                                                              \
    {                                                                                              \
#fact, offsetof(cordon_volume_facts, fact), what                                           \
    }
#define I(fact, what)                                                                              \
    {                                                                                              \
#fact, offsetof(cordon_image_facts, fact), what                                            \
    }

static const row container_rows[] = {
    C(id, TEXT),
    C(name, TEXT),
    C(image_id, TEXT),
    C(labels, LIST),
    C(pid, INT),
    C(exit_code, INT),
    C(oom_killed, BOOL),
    C(started_at, TEXT),
    C(finished_at, TEXT),
    C(error, TEXT),
    C(restart_count, INT),
    C(exec_ids, LIST),
    C(entrypoint, LIST),
    C(command, LIST),
    C(argv, LIST),
    C(environment, LIST),
    C(user, TEXT),
    C(working_dir, TEXT),
    C(hostname, TEXT),
    C(domainname, TEXT),
    C(tty, BOOL),
    C(open_stdin, BOOL),
    C(stdin_once, BOOL),
    C(stop_signal, TEXT),
    C(stop_timeout_s, INT),
    C(healthcheck, LIST),
    C(init, BOOL),
    C(privileged, BOOL),
    C(capabilities, LIST),
    C(no_new_privileges, BOOL),
    C(security_options, LIST),
    C(apparmor_profile, TEXT),
    C(selinux_label, TEXT),
    C(masked_paths, LIST),
    C(readonly_paths, LIST),
    C(extra_groups, LIST),
    C(runtime, TEXT),
    C(pid_mode, TEXT),
    C(ipc_mode, TEXT),
    C(uts_mode, TEXT),
    C(user_mode, TEXT),
    C(cgroup_mode, TEXT),
    C(network_mode, TEXT),
    C(cgroup_parent, TEXT),
    C(read_only_root, BOOL),
    C(volumes_from, LIST),
    C(image_volumes, LIST),
    C(devices, LIST),
    C(secrets, LIST),
    C(published_ports, LIST),
    C(publish_all, BOOL),
    C(exposed_ports, LIST),
    C(dns_servers, LIST),
    C(dns_search, LIST),
    C(dns_options, LIST),
    C(extra_hosts, LIST),
    C(links, LIST),
    C(sysctls, LIST),
    C(memory_bytes, INT),
    C(memory_swap_bytes, INT),
    C(nano_cpus, INT),
    C(pids, INT),
    C(ulimits, LIST),
    C(shm_bytes, INT),
    C(oom_score_adj, INT),
    C(oom_kill_disable, BOOL),
    C(restart_policy, TEXT),
    C(auto_remove, BOOL),
    C(log_driver, TEXT),
    C(unmodelled, LIST),
};

static const row network_rows[] = {
    N(id, TEXT),           N(name, TEXT),     N(driver, TEXT),    N(internal, BOOL),
    N(host_address, BOOL), N(isolated, BOOL), N(ipv6, BOOL),      N(dns, BOOL),
    N(attachable, BOOL),   N(ingress, BOOL),  N(subnets, LIST),   N(gateways, LIST),
    N(options, LIST),      N(labels, LIST),   N(endpoints, LIST), N(unmodelled, LIST),
};

static const row volume_rows[] = {
    V(name, TEXT),    V(driver, TEXT), V(scope, TEXT), V(place, TEXT),      V(created_at, TEXT),
    V(options, LIST), V(labels, LIST), V(users, LIST), V(unmodelled, LIST),
};

static const row image_rows[] = {
    I(id, TEXT),      I(digests, LIST),       I(os, TEXT),       I(architecture, TEXT),
    I(user, TEXT),    I(entrypoint, LIST),    I(command, LIST),  I(environment, LIST),
    I(volumes, LIST), I(exposed_ports, LIST), I(on_build, LIST), I(labels, LIST),
    I(layers, LIST),  I(unmodelled, LIST),
};

static int put_list(const char *name, const cordon_fact_list *list, cordon_buf *out)
{
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_buf_printf(out, &err, "%s=%s", name, list->known ? "" : "?") != 0)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        if (cordon_buf_printf(out, &err, "[%s]", list->items[i]) != 0)
            return -1;
    }
    return cordon_buf_append_char(out, '\n', &err);
}

static int put_row(const row *r, const void *facts, cordon_buf *out)
{
    static const char *const words[] = {"?", "no", "yes"};
    const void *at = (const char *)facts + r->offset;
    cordon_err err = CORDON_ERR_INIT;
    if (r->kind == LIST)
        return put_list(r->name, at, out);
    if (r->kind == TEXT) {
        const char *text = *(const cordon_fact_text *)at;
        return cordon_buf_printf(out, &err, "%s=%s\n", r->name, text ? text : "?");
    }
    if (r->kind == BOOL)
        return cordon_buf_printf(out, &err, "%s=%s\n", r->name,
                                 words[*(const cordon_fact_bool *)at]);
    const cordon_fact_int *number = at;
    return number->known
               ? cordon_buf_printf(out, &err, "%s=%lld\n", r->name, (long long)number->value)
               : cordon_buf_printf(out, &err, "%s=?\n", r->name);
}

static int put_rows(const row *rows, size_t count, const void *facts, cordon_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (put_row(&rows[i], facts, out) != 0)
            return -1;
    }
    return 0;
}

static const char *text_or(const char *text)
{
    return text ? text : "?";
}

static int put_mount(const cordon_mount_fact *m, cordon_buf *out)
{
    static const char *const types[] = {"?", "bind", "tmpfs", "volume", "image", "other"};
    static const char *const modes[] = {"?", "rw", "ro"};
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_buf_printf(out, &err, "mount %s: %s %s %s %s ", text_or(m->target), types[m->type],
                          text_or(m->source), modes[m->read_only], text_or(m->propagation)) != 0 ||
        (m->place && cordon_buf_printf(out, &err, "at %s ", m->place) != 0))
        return -1;
    return put_list("options", &m->options, out);
}

static int put_endpoint(const cordon_endpoint_fact *e, cordon_buf *out)
{
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_buf_printf(out, &err,
                          "endpoint %s: id=%s ipv4=%s requested=%s gateway=%s ipv6=%s mac=%s ",
                          text_or(e->network_key), text_or(e->network_id), text_or(e->ipv4),
                          text_or(e->requested_ipv4), text_or(e->gateway), text_or(e->ipv6),
                          text_or(e->mac)) != 0)
        return -1;
    return put_list("aliases", &e->aliases, out);
}

int facts_text_container(const cordon_container_facts *facts, cordon_buf *out)
{
    cordon_err err = CORDON_ERR_INIT;
    if (put_rows(container_rows, COUNT(container_rows), facts, out) != 0 ||
        cordon_buf_printf(out, &err, "state=%s\nmounts=%s%zu\nendpoints=%s%zu\n",
                          cordon_run_state_name(facts->state), facts->mounts.known ? "" : "?",
                          facts->mounts.count, facts->endpoints.known ? "" : "?",
                          facts->endpoints.count) != 0)
        return -1;
    for (size_t i = 0; i < facts->mounts.count; i++) {
        if (put_mount(&facts->mounts.items[i], out) != 0)
            return -1;
    }
    for (size_t i = 0; i < facts->endpoints.count; i++) {
        if (put_endpoint(&facts->endpoints.items[i], out) != 0)
            return -1;
    }
    return 0;
}

int facts_text_network(const cordon_network_facts *facts, cordon_buf *out)
{
    return put_rows(network_rows, COUNT(network_rows), facts, out);
}

int facts_text_volume(const cordon_volume_facts *facts, cordon_buf *out)
{
    return put_rows(volume_rows, COUNT(volume_rows), facts, out);
}

int facts_text_image(const cordon_image_facts *facts, cordon_buf *out)
{
    return put_rows(image_rows, COUNT(image_rows), facts, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of validate.h: every fact of an object, and how it is judged. Data only. */
#include "validate.h"

#define BOTH (CORDON_ROUND_CREATED | CORDON_ROUND_RUNNING)

#define ROW(type, member, rule_kind, refusal, when, ...)                                           \
    {                                                                                              \
        .name = #member, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member),    \
        .kind = CORDON_RULE_##rule_kind, .code = CORDON_REFUSED_##refusal, .rounds = (when),       \
        __VA_ARGS__                                                                                \
    }
#define CONTAINER(member, rule_kind, ...)                                                          \
    ROW(cordon_container_facts, member, rule_kind, MISMATCH, BOTH, __VA_ARGS__)
#define FOREIGN(member, rule_kind)                                                                 \
    ROW(cordon_container_facts, member, rule_kind, FOREIGN, BOTH, .witness = NULL)
#define STATE(member, rule_kind)                                                                   \
    ROW(cordon_container_facts, member, rule_kind, MISMATCH, BOTH, .run_state = true)
#define HARMLESS(member, reason)                                                                   \
    ROW(cordon_container_facts, member, HARMLESS, NONE, 0, .run_state = true, .why = (reason))
#define EXACT         .witness = NULL
#define SEEN_BY(fact) .witness = (fact)

const cordon_rule cordon_container_rules[] = {
    FOREIGN(id, TEXT),
    FOREIGN(name, TEXT),
    ROW(cordon_container_facts, image_id, TEXT, IMAGE, BOTH, EXACT),
    FOREIGN(labels, SET),

    STATE(state, STATE),
    HARMLESS(pid, "a number on the host; the process is judged by the gate's report"),
    HARMLESS(exit_code, "0 until the end, when the wait tells it"),
    STATE(oom_killed, BOOL),
    HARMLESS(started_at, "time of day of the engine's host"),
    HARMLESS(finished_at, "time of day of the engine's host"),
    STATE(error, TEXT),
    STATE(restart_count, INT),
    STATE(exec_ids, SET),

    CONTAINER(entrypoint, SEQUENCE, EXACT),
    CONTAINER(command, SEQUENCE, EXACT),
    CONTAINER(argv, SEQUENCE, EXACT),
    CONTAINER(environment, SET, EXACT),
    CONTAINER(user, TEXT, EXACT),
    CONTAINER(working_dir, TEXT, EXACT),
    CONTAINER(hostname, TEXT, EXACT),
    CONTAINER(domainname, TEXT, EXACT),
    CONTAINER(tty, BOOL, EXACT),
    CONTAINER(open_stdin, BOOL, EXACT),
    CONTAINER(stdin_once, BOOL, EXACT),
    CONTAINER(stop_signal, TEXT, EXACT),
    CONTAINER(stop_timeout_s, INT, EXACT),
    CONTAINER(healthcheck, OFF, EXACT),
    CONTAINER(init, BOOL, SEEN_BY("kernel.pid")),

    CONTAINER(privileged, BOOL, EXACT),
    CONTAINER(capabilities, SET, EXACT),
    CONTAINER(no_new_privileges, BOOL, EXACT),
    CONTAINER(security_options, SET, EXACT),
    HARMLESS(apparmor_profile, "whatever the engine sets only narrows; the floor is seccomp, "
                               "capabilities and the gate's report"),
    HARMLESS(selinux_label, "whatever the engine sets only narrows; the options that widen it "
                            "stand in security_options"),
    CONTAINER(masked_paths, SUPERSET, SEEN_BY("kernel.masked")),
    CONTAINER(readonly_paths, SUPERSET, SEEN_BY("kernel.masked")),
    CONTAINER(extra_groups, SET, EXACT),
    CONTAINER(runtime, TEXT, EXACT),
    ROW(cordon_container_facts, runtime_config, TEXT, MISMATCH, 0,
        .why = "what stands there is compared (the runtime's table); here it must stay the same "
               "from one reading to the next"),

    CONTAINER(pid_mode, TEXT, EXACT),
    CONTAINER(ipc_mode, TEXT, SEEN_BY("kernel.ns")),
    CONTAINER(uts_mode, TEXT, EXACT),
    CONTAINER(user_mode, TEXT, EXACT),
    CONTAINER(cgroup_mode, TEXT, EXACT),
    CONTAINER(network_mode, TEXT, EXACT),
    CONTAINER(cgroup_parent, TEXT, EXACT),

    CONTAINER(read_only_root, BOOL, EXACT),
    CONTAINER(mounts, MOUNTS, EXACT),
    CONTAINER(volumes_from, SET, EXACT),
    CONTAINER(image_volumes, SET, EXACT),
    CONTAINER(devices, SET, EXACT),
    CONTAINER(secrets, SET, EXACT),

    CONTAINER(endpoints, ENDPOINTS, .run_state = true),
    CONTAINER(published_ports, SET, EXACT),
    CONTAINER(publish_all, BOOL, EXACT),
    CONTAINER(exposed_ports, SET, EXACT),
    CONTAINER(dns_servers, SEQUENCE, EXACT),
    CONTAINER(dns_search, SET, EXACT),
    CONTAINER(dns_options, SET, EXACT),
    CONTAINER(extra_hosts, SET, EXACT),
    CONTAINER(links, SET, EXACT),
    CONTAINER(sysctls, SET, SEEN_BY("kernel.sysctl")),

    CONTAINER(memory_bytes, INT, EXACT),
    CONTAINER(memory_swap_bytes, INT, EXACT),
    CONTAINER(nano_cpus, INT, EXACT),
    CONTAINER(pids, INT, EXACT),
    CONTAINER(ulimits, SET, EXACT),
    CONTAINER(shm_bytes, INT, EXACT),
    CONTAINER(oom_score_adj, INT, EXACT),
    CONTAINER(oom_kill_disable, BOOL, EXACT),

    CONTAINER(restart_policy, TEXT, EXACT),
    CONTAINER(auto_remove, BOOL, EXACT),
    CONTAINER(log_driver, TEXT, EXACT),
    ROW(cordon_container_facts, unmodelled, SET, UNMODELLED, BOTH, EXACT),
};
const size_t cordon_container_rule_count =
    sizeof(cordon_container_rules) / sizeof(cordon_container_rules[0]);

#define RUNTIME(member, rule_kind)                                                                 \
    ROW(cordon_runtime_facts, member, rule_kind, MISMATCH, CORDON_ROUND_CREATED, EXACT)

const cordon_rule cordon_runtime_rules[] = {
    RUNTIME(argv, SEQUENCE),
    RUNTIME(environment, SET),
    RUNTIME(working_dir, TEXT),
    RUNTIME(hostname, TEXT),
    RUNTIME(user, TEXT),
    RUNTIME(extra_groups, WITHIN),
    RUNTIME(umask, INT),
    RUNTIME(tty, BOOL),

    RUNTIME(capabilities, SET),
    RUNTIME(no_new_privileges, BOOL),
    RUNTIME(apparmor_profile, CONFINED),
    RUNTIME(selinux_label, CONFINED),
    RUNTIME(seccomp_default, TEXT),
    RUNTIME(seccomp_allowed, FREE_OF),
    RUNTIME(masked_paths, SUPERSET),
    RUNTIME(readonly_paths, SUPERSET),

    RUNTIME(namespaces, SET),
    RUNTIME(uid_map, SUPERSET),
    RUNTIME(gid_map, SUPERSET),
    RUNTIME(sysctls, SYSCTLS),

    RUNTIME(read_only_root, BOOL),
    RUNTIME(root_propagation, TEXT),
    RUNTIME(mounts, MOUNTS),
    RUNTIME(devices, SET),
    RUNTIME(device_rules, WITHIN),
    RUNTIME(devices_denied, BOOL),

    RUNTIME(memory_bytes, INT),
    RUNTIME(memory_swap_bytes, INT),
    RUNTIME(nano_cpus, INT),
    RUNTIME(pids, INT),
    RUNTIME(ulimits, SET),
    RUNTIME(oom_score_adj, INT),

    RUNTIME(hooks, SET),
    ROW(cordon_runtime_facts, unmodelled, SET, UNMODELLED, CORDON_ROUND_CREATED, EXACT),
};
const size_t cordon_runtime_rule_count =
    sizeof(cordon_runtime_rules) / sizeof(cordon_runtime_rules[0]);

#define NETWORK(member, rule_kind, refusal, when)                                                  \
    ROW(cordon_network_facts, member, rule_kind, refusal, when, EXACT)

const cordon_rule cordon_network_rules[] = {
    NETWORK(id, TEXT, FOREIGN, BOTH),
    NETWORK(name, TEXT, FOREIGN, BOTH),
    NETWORK(driver, TEXT, MISMATCH, BOTH),
    NETWORK(internal, BOOL, MISMATCH, BOTH),
    NETWORK(host_address, BOOL, MISMATCH, BOTH),
    NETWORK(isolated, BOOL, MISMATCH, BOTH),
    NETWORK(ipv6, BOOL, MISMATCH, BOTH),
    ROW(cordon_network_facts, dns, BOOL, MISMATCH, BOTH, SEEN_BY("kernel.resolv")),
    NETWORK(attachable, BOOL, MISMATCH, BOTH),
    NETWORK(ingress, BOOL, MISMATCH, BOTH),
    NETWORK(subnets, SET, MISMATCH, BOTH),
    ROW(cordon_network_facts, gateways, HARMLESS, NONE, 0,
        .why = "an address that engines write down and host_address says whether it exists; the "
               "routes in force are in the gate's report"),
    NETWORK(options, SET, MISMATCH, BOTH),
    NETWORK(labels, SET, FOREIGN, BOTH),
    NETWORK(endpoints, SET, FOREIGN, CORDON_ROUND_RUNNING),
    NETWORK(unmodelled, SET, UNMODELLED, BOTH),
};
const size_t cordon_network_rule_count =
    sizeof(cordon_network_rules) / sizeof(cordon_network_rules[0]);

#define VOLUME(member, rule_kind, refusal, when)                                                   \
    ROW(cordon_volume_facts, member, rule_kind, refusal, when, EXACT)

const cordon_rule cordon_volume_rules[] = {
    VOLUME(name, TEXT, FOREIGN, BOTH),
    VOLUME(driver, TEXT, MISMATCH, BOTH),
    VOLUME(scope, TEXT, MISMATCH, BOTH),
    VOLUME(place, TEXT, CHANGED, CORDON_ROUND_RUNNING),
    ROW(cordon_volume_facts, created_at, HARMLESS, NONE, 0,
        .why = "time of day of the engine's host, on Docker that of the folder's last change; that "
               "it is still the one that was made is in the gate's report"),
    VOLUME(options, SET, MISMATCH, BOTH),
    VOLUME(labels, SET, FOREIGN, BOTH),
    VOLUME(users, SET, FOREIGN, BOTH),
    VOLUME(unmodelled, SET, UNMODELLED, BOTH),
};
const size_t cordon_volume_rule_count =
    sizeof(cordon_volume_rules) / sizeof(cordon_volume_rules[0]);

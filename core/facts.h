/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed facts: what an engine said of an object, with "the engine did not say" as a value of its
 * own. Decoders fill them, core compares them with a plan; nothing here is a verdict.
 *
 * Normal form. The same meaning has the same value on every engine, so that one table in core
 * serves both: ids are bare lower-case hex; capability and ulimit names are lower case without
 * prefix ("net_raw", "nofile"); namespace modes are "private", "host", "none", "shareable",
 * "keep-id", "network" or "other:<what the engine said>"; signals are "SIGTERM"; durations are
 * seconds. A decoder that cannot bring a value into this form reports it in `unmodelled`.
 *
 * Zero-initialised structures are valid and hold only unknown facts. Every pointer is owned by
 * its structure and freed by the matching clear function, which accepts half-built objects.
 */
#ifndef CORDON_FACTS_H
#define CORDON_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/cleanup.h"
#include "kit/error.h"

/* SECURITY: unknown is zero, so a forgotten or missing field can never read as "off". */
typedef enum cordon_fact_bool {
    CORDON_FACT_UNKNOWN = 0,
    CORDON_FACT_NO,
    CORDON_FACT_YES,
} cordon_fact_bool;

typedef struct cordon_fact_int {
    bool known;
    int64_t value;
} cordon_fact_int;

/* NULL is unknown; "" is a known empty text. */
typedef char *cordon_fact_text;

/*
 * An ordered list of texts. A map (labels, environment, sysctls, options, hosts) is a list of
 * "key=value" (hosts: "name:address") items. An empty list that the engine stated (as [], {} or
 * a null that it documents as empty) is known with count 0.
 */
typedef struct cordon_fact_list {
    bool known;
    size_t count;
    char **items;
} cordon_fact_list;

typedef enum cordon_mount_type {
    CORDON_MOUNT_UNKNOWN = 0,
    CORDON_MOUNT_BIND,
    CORDON_MOUNT_TMPFS,
    CORDON_MOUNT_VOLUME,
    CORDON_MOUNT_IMAGE,
    CORDON_MOUNT_OTHER,
} cordon_mount_type;

/*
 * One mount as the engine shows it.
 * source       bind: host path; volume: its name; image: image id; tmpfs: ""
 * place        volume: where it lies on the engine's host; NULL of any other
 * options      the other options in force, sorted, in the engine-neutral spelling of mount(8):
 *              "nosuid", "nodev", "noexec", "size=16777216", "mode=1777", "nonrecursive", ...
 */
typedef struct cordon_mount_fact {
    cordon_mount_type type;
    cordon_fact_text source;
    cordon_fact_text place;
    cordon_fact_text target;
    cordon_fact_bool read_only;
    cordon_fact_text propagation;
    cordon_fact_list options;
} cordon_mount_fact;

typedef struct cordon_mount_facts {
    bool known;
    size_t count;
    cordon_mount_fact *items;
} cordon_mount_facts;

/*
 * A container's attachment to a network.
 * network_key    the name under which the container's inspect lists it
 * network_id     hex id, NULL where the engine shows none (Docker before start; Podman 4)
 * ipv4           the address in use; requested_ipv4 the one that was asked for; "" is none
 * gateway, ipv6  "" is none
 */
typedef struct cordon_endpoint_fact {
    cordon_fact_text network_key;
    cordon_fact_text network_id;
    cordon_fact_text ipv4;
    cordon_fact_text requested_ipv4;
    cordon_fact_text gateway;
    cordon_fact_text ipv6;
    cordon_fact_text mac;
    cordon_fact_list aliases;
} cordon_endpoint_fact;

typedef struct cordon_endpoint_facts {
    bool known;
    size_t count;
    cordon_endpoint_fact *items;
} cordon_endpoint_facts;

typedef enum cordon_run_state {
    CORDON_STATE_UNKNOWN = 0,
    CORDON_STATE_CREATED,
    CORDON_STATE_INITIALIZED, /* libpod only: set up, entry point not yet executed */
    CORDON_STATE_RUNNING,
    CORDON_STATE_PAUSED,
    CORDON_STATE_RESTARTING,
    CORDON_STATE_STOPPING,
    CORDON_STATE_EXITED, /* ended after a start; libpod "stopped" and "exited" */
    CORDON_STATE_REMOVING,
    CORDON_STATE_DEAD,
} cordon_run_state;

/* Everything an engine's container inspect tells. Grouped as validation groups it. */
typedef struct cordon_container_facts {
    /* identity */
    cordon_fact_text id;
    cordon_fact_text name; /* without Docker's leading slash */
    cordon_fact_text image_id;
    cordon_fact_list labels;

    /* run state */
    cordon_run_state state;
    cordon_fact_int pid; /* 0 while there is no process */
    cordon_fact_int exit_code;
    cordon_fact_bool oom_killed;
    cordon_fact_text started_at;  /* RFC 3339; "" while never started */
    cordon_fact_text finished_at; /* the same */
    cordon_fact_text error;       /* what the engine keeps of a failed start; "" is none */
    cordon_fact_int restart_count;
    cordon_fact_list exec_ids;

    /* process */
    cordon_fact_list entrypoint;
    cordon_fact_list command;
    cordon_fact_list argv; /* path and arguments as resolved by the engine */
    cordon_fact_list environment;
    cordon_fact_text user;
    cordon_fact_text working_dir;
    cordon_fact_text hostname;
    cordon_fact_text domainname;
    cordon_fact_bool tty;
    cordon_fact_bool open_stdin;
    cordon_fact_bool stdin_once;
    cordon_fact_text stop_signal;
    cordon_fact_int stop_timeout_s;
    cordon_fact_list healthcheck; /* the test; ["NONE"] or empty is off */
    cordon_fact_bool init;        /* an init of the engine's own runs before the entry point */

    /* privileges */
    cordon_fact_bool privileged;
    cordon_fact_list capabilities; /* those the process may ever hold; empty = all dropped */
    cordon_fact_bool no_new_privileges;
    cordon_fact_list security_options; /* all others than no-new-privileges */
    cordon_fact_text apparmor_profile;
    cordon_fact_text selinux_label; /* process label, then mount label if it has another level */
    cordon_fact_list masked_paths;
    cordon_fact_list readonly_paths;
    cordon_fact_list extra_groups;
    cordon_fact_text runtime;
    /*
     * Where the engine writes what its OCI runtime gets for this container: an absolute path on the
     * daemon's host. Told before the file is there; not told by engines that hide nothing from
     * their inspect.
     */
    cordon_fact_text runtime_config;

    /* namespaces */
    cordon_fact_text pid_mode;
    cordon_fact_text ipc_mode;
    cordon_fact_text uts_mode;
    cordon_fact_text user_mode;
    cordon_fact_text cgroup_mode;
    cordon_fact_text network_mode; /* "network" for user networks, "none", "host", ... */
    cordon_fact_text cgroup_parent;

    /* file systems */
    cordon_fact_bool read_only_root;
    cordon_mount_facts mounts; /* without those the engine always adds (resolv.conf, ...) */
    cordon_fact_list volumes_from;
    cordon_fact_list image_volumes;
    cordon_fact_list devices; /* devices, device requests and device cgroup rules */
    cordon_fact_list secrets;

    /* network */
    cordon_endpoint_facts endpoints;
    cordon_fact_list published_ports; /* bindings that were asked for or are in force */
    cordon_fact_bool publish_all;
    cordon_fact_list exposed_ports;
    cordon_fact_list dns_servers;
    cordon_fact_list dns_search;
    cordon_fact_list dns_options;
    cordon_fact_list extra_hosts;
    cordon_fact_list links;
    cordon_fact_list sysctls;

    /* limits; 0 is "no limit asked for" */
    cordon_fact_int memory_bytes;
    cordon_fact_int memory_swap_bytes;
    cordon_fact_int nano_cpus;
    cordon_fact_int pids;
    cordon_fact_list ulimits; /* "nofile=1024:1024", sorted */
    cordon_fact_int shm_bytes;
    cordon_fact_int oom_score_adj;
    cordon_fact_bool oom_kill_disable;

    /* life cycle */
    cordon_fact_text restart_policy; /* "no", "always", ... */
    cordon_fact_bool auto_remove;
    cordon_fact_text log_driver;

    /*
     * "$.HostConfig.NewKey = value": every key that the decoder does not know and that holds
     * something other than null, false, 0, "", [] or {}, and every known key whose value has no
     * normal form. SECURITY: a non-empty list refuses the run; it is how a newer engine's
     * additions cannot slip by.
     */
    cordon_fact_list unmodelled;
} cordon_container_facts;

/* What a network's own inspect tells. */
typedef struct cordon_network_facts {
    cordon_fact_text id;
    cordon_fact_text name;
    cordon_fact_text driver;
    cordon_fact_bool internal;
    cordon_fact_bool host_address; /* the engine's bridge has an address of its own, so that a
                                      container could reach services of the host */
    cordon_fact_bool isolated;     /* containers of other networks are kept out */
    cordon_fact_bool ipv6;
    cordon_fact_bool dns; /* the engine's own name service; unknown where it is always on */
    cordon_fact_bool attachable;
    cordon_fact_bool ingress;
    cordon_fact_list subnets;  /* "10.213.0.0/29" */
    cordon_fact_list gateways; /* those configured; empty when the bridge has no address */
    cordon_fact_list options;  /* "key=value", sorted; without those behind other facts */
    cordon_fact_list labels;
    /*
     * Ids of the containers that are attached, sorted. On libpod those in any state; on Docker
     * only the running ones (it keeps no other record).
     */
    cordon_fact_list endpoints;
    cordon_fact_list unmodelled;
} cordon_network_facts;

/*
 * What a volume's own inspect tells, and who has it.
 * place    where it lies on the engine's host; always told (cordon_volume_is_place)
 * options  of the driver, "key=value", sorted
 * users    ids of the containers in any state that name it, sorted
 */
typedef struct cordon_volume_facts {
    cordon_fact_text name;
    cordon_fact_text driver;
    cordon_fact_text scope;
    cordon_fact_text place;
    cordon_fact_text created_at;
    cordon_fact_list options;
    cordon_fact_list labels;
    cordon_fact_list users;
    cordon_fact_list unmodelled;
} cordon_volume_facts;

/* What an image's inspect tells. */
typedef struct cordon_image_facts {
    cordon_fact_text id;
    cordon_fact_list digests; /* "name@sha256:..." */
    cordon_fact_text os;
    cordon_fact_text architecture;
    cordon_fact_text user;
    cordon_fact_list entrypoint;
    cordon_fact_list command;
    cordon_fact_list environment;
    cordon_fact_list volumes;
    cordon_fact_list exposed_ports;
    cordon_fact_list on_build;
    cordon_fact_list labels;
    cordon_fact_list layers; /* diff ids "sha256:...", base first */
    cordon_fact_list unmodelled;
} cordon_image_facts;

void cordon_fact_list_clear(cordon_fact_list *list);
void cordon_mount_facts_clear(cordon_mount_facts *mounts);
void cordon_endpoint_facts_clear(cordon_endpoint_facts *endpoints);
void cordon_container_facts_clear(cordon_container_facts *facts);
void cordon_network_facts_clear(cordon_network_facts *facts);
void cordon_volume_facts_clear(cordon_volume_facts *facts);
void cordon_image_facts_clear(cordon_image_facts *facts);

CORDON_DEFINE_AUTO(cordon_fact_list, cordon_fact_list_clear)
CORDON_DEFINE_AUTO(cordon_container_facts, cordon_container_facts_clear)
CORDON_DEFINE_AUTO(cordon_network_facts, cordon_network_facts_clear)
CORDON_DEFINE_AUTO(cordon_volume_facts, cordon_volume_facts_clear)
CORDON_DEFINE_AUTO(cordon_image_facts, cordon_image_facts_clear)

/* Appends a copy of text and marks the list known. @return 0, or -1 with NOMEM */
int cordon_fact_list_add(cordon_fact_list *list, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* Appends printf-formatted text. */
int cordon_fact_list_addf(cordon_fact_list *list, cordon_err *err, const char *format, ...)
    __attribute__((warn_unused_result, format(printf, 3, 4)));

/* Marks the list as stated by the engine, with whatever it holds. */
void cordon_fact_list_known(cordon_fact_list *list);

/* Byte-wise ascending order; the normal form of every list whose order has no meaning. */
void cordon_fact_list_sort(cordon_fact_list *list);

/* Replaces *slot by a copy of text. @return 0, or -1 with NOMEM */
int cordon_fact_text_set(cordon_fact_text *slot, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* The value behind "key=" in a map list, borrowed; NULL when absent. */
const char *cordon_fact_map_get(const cordon_fact_list *map, const char *key);

/* Appends a zeroed item and returns it through ret_item, borrowed from the set. */
int cordon_mount_facts_add(cordon_mount_facts *mounts, cordon_mount_fact **ret_item,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_endpoint_facts_add(cordon_endpoint_facts *endpoints, cordon_endpoint_fact **ret_item,
                              cordon_err *err) __attribute__((warn_unused_result));

/* "bind", "tmpfs", ...; NULL for an unknown one, which is no value to compare or to show. */
const char *cordon_mount_type_name(cordon_mount_type type);

/* "created", "running", ...; "unknown" for anything else. */
const char *cordon_run_state_name(cordon_run_state state);

#endif

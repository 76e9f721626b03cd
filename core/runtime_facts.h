/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine does not show in its inspect and its OCI runtime was told all the same: the typed
 * facts, and the two operations of engine.h that lead to them.
 */
#ifndef CORDON_RUNTIME_FACTS_H
#define CORDON_RUNTIME_FACTS_H

#include "facts.h"
#include "kit/deadline.h"

/*
 * What an engine told its OCI runtime of a container: the configuration of the OCI runtime
 * specification (config.md, config-linux.md), where absent keys have a documented meaning. What
 * the engine adds to every container by itself (/proc, /dev, its own /etc/resolv.conf, ...) and
 * what is as it always adds it stands in none of these lists.
 */
typedef struct cordon_runtime_facts {
    /* process */
    cordon_fact_list argv;
    cordon_fact_list environment;
    cordon_fact_text working_dir;
    cordon_fact_text hostname;
    cordon_fact_text user;         /* "uid:gid" in numbers */
    cordon_fact_list extra_groups; /* decimal ids */
    cordon_fact_int umask;
    cordon_fact_bool tty;

    /* privileges */
    cordon_fact_list capabilities; /* of all five sets together, sorted */
    cordon_fact_bool no_new_privileges;
    cordon_fact_text apparmor_profile; /* "" is none */
    cordon_fact_text selinux_label;    /* "" is none */
    /*
     * What the seccomp filter does with a call that no rule names: "errno", "kill", "trap",
     * "allow", or "other:<what the configuration says>"; "none" without a filter.
     */
    cordon_fact_text seccomp_default;
    cordon_fact_list seccomp_allowed; /* calls that some rule lets through, with whatever arguments;
                                         sorted, each once */
    cordon_fact_list masked_paths;
    cordon_fact_list readonly_paths;

    /* namespaces */
    cordon_fact_list
        namespaces;           /* "pid"; with the path of one that others made: "ipc=/proc/1/ns/ipc".
                                 The network namespace that the engine made is "network". */
    cordon_fact_list uid_map; /* "inside outside count" */
    cordon_fact_list gid_map;
    cordon_fact_list sysctls;

    /* file systems */
    cordon_fact_bool read_only_root;
    cordon_fact_text root_propagation; /* "" is the runtime's default: private */
    cordon_mount_facts mounts;         /* without those the engine always adds */
    cordon_fact_list devices;          /* nodes that are made beyond the default ones */
    cordon_fact_list device_rules;     /* of the device cgroup, in order: "deny a *:* rwm" */
    cordon_fact_bool devices_denied;   /* the first of them denies everything */

    /* limits; 0 is none */
    cordon_fact_int memory_bytes;
    cordon_fact_int memory_swap_bytes;
    cordon_fact_int nano_cpus;
    cordon_fact_int pids;
    cordon_fact_list ulimits;
    cordon_fact_int oom_score_adj;

    cordon_fact_list hooks; /* "prestart /path": programs that run on the host for this container */
    cordon_fact_list unmodelled; /* as in the container's facts */
} cordon_runtime_facts;

void cordon_runtime_facts_clear(cordon_runtime_facts *facts);
CORDON_DEFINE_AUTO(cordon_runtime_facts, cordon_runtime_facts_clear)

/*
 * Sets a created container up without running anything of it, so that what its OCI runtime gets is
 * fixed and can be read: libpod's "init". Success: it is set up, by this call or before it (attach
 * does the same). NOTFOUND as start. UNSUPPORTED: the engine has no such step.
 */
typedef int cordon_container_prepare_fn(void *impl, const char *id, cordon_deadline dl,
                                        cordon_err *err);

/*
 * Reads what the engine told its OCI runtime of a container that is set up. Nothing is asked of the
 * daemon: the file that it wrote for the runtime is read, so this works only where the daemon's
 * files are this machine's and the caller may read them.
 *
 * SECURITY: the file must be a regular one, belong to whom the daemon's socket belongs to, be
 * writable for nobody else, and be called as the engine calls its own file for this id.
 *
 * @param place  runtime_config of the container's facts
 * NOTFOUND     there is no such file yet: the container is not set up
 * UNSUPPORTED  an engine without such a file; a daemon elsewhere; a file that may not be read.
 *              The message says which
 * PROTOCOL     the file is not what it should be
 */
typedef int cordon_container_runtime_fn(void *impl, const char *id, const char *place,
                                        cordon_deadline dl, cordon_runtime_facts *ret_facts,
                                        cordon_err *err);

#endif

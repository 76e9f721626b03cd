/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core asks an engine to make. A specification is complete: whatever it does not name is
 * asked to be off, empty or private, explicitly, never left to an engine's default. Core builds
 * it (plan.c), engines only translate it. All pointers are borrowed for the call.
 */
#ifndef CORDON_SPEC_H
#define CORDON_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "facts.h"

/* A borrowed list of texts; count 0 is the empty list, which is sent, not omitted. */
typedef struct cordon_texts {
    const char *const *items;
    size_t count;
} cordon_texts;

/* ownership labels, "key=value" */
typedef struct cordon_network_spec {
    const char *name;
    const char *subnet; /* "10.213.0.0/29" */
    bool internal;
    /*
     * No address for the engine's bridge (Docker: inhibit_ipv4; libpod: internal, no DNS, no
     * gateway), so that host services are out of reach. Only together with internal.
     */
    bool no_gateway;
    /* Keep containers of other networks out (libpod "isolate"; Docker always does). */
    bool isolated;
    cordon_texts labels;
} cordon_network_spec;

/*
 * A volume: memory (tmpfs) of a bounded size, with nodev, nosuid and noexec, by the engine's own
 * "local" driver. Its data lives while a container has it mounted. Fixed by contract, like what is
 * fixed of a container.
 * name    as cordon_volume_is_name wants it; a volume has no other id
 * blocks  its bound in pages of the kernel ("nr_blocks", tmpfs(5)): "size" is a disk quota for
 *         Podman
 */
typedef struct cordon_volume_spec {
    const char *name;
    int64_t blocks;
    cordon_texts labels;
} cordon_volume_spec;

/* The mount options of a volume, as both engines take and show them; for printf, blocks. */
#define CORDON_VOLUME_OPTIONS "nr_blocks=%lld,nodev,nosuid,noexec"

typedef enum cordon_userns {
    CORDON_USERNS_HOST = 1, /* the engine's own: none for rootful, the user's for rootless */
    CORDON_USERNS_KEEP_ID,  /* rootless libpod: its user is the spec's user, by chosen numbers */
} cordon_userns;

/*
 * One mount.
 * BIND   source is an absolute host path without symlinks, dev and ino what it leads to; not
 *        recursive, rprivate, nosuid, nodev where the engine has it
 * TMPFS  size_bytes and mode_octal are set; nosuid, nodev, and noexec if asked
 * IMAGE  source is an image id; always read-only; only if the engine offers
 *        CORDON_CAN_MOUNT_IMAGES
 * VOLUME source is a volume's name; size_bytes its bound, for the gate's report; writable, nosuid,
 *        nodev and noexec, and nothing of the image is copied into it
 */
typedef struct cordon_mount_spec {
    cordon_mount_type type;
    const char *source;
    const char *target;
    bool read_only;
    bool no_exec;
    int64_t size_bytes;
    unsigned mode_octal;
    dev_t dev;
    ino_t ino;
} cordon_mount_spec;

/* The networks to join, by id; name is what the engine was told at network create. */
typedef struct cordon_endpoint_spec {
    const char *network_id;
    const char *network_name;
    const char *ipv4;      /* fixed address, or NULL for the engine's choice */
    const char *interface; /* wanted interface name where the engine can set one */
} cordon_endpoint_spec;

/* 0 asks for no limit; core does that only where the operator opted in. */
typedef struct cordon_limits_spec {
    int64_t memory_bytes; /* swap is set to the same: no swap beyond it */
    int64_t nano_cpus;
    int64_t pids;
    int64_t open_files;
    int64_t user_processes;
    int64_t shm_bytes;
} cordon_limits_spec;

typedef struct cordon_container_spec {
    const char *name;
    const char *image_id; /* bare hex */
    cordon_texts labels;
    cordon_texts entrypoint;
    cordon_texts command;
    cordon_texts environment; /* the whole of it: nothing is inherited from image or service */
    const char *user;         /* "uid:gid" in numbers */
    const char *working_dir;
    const char *hostname;
    bool open_stdin; /* with stdin-once */
    /*
     * The engine keeps a copy of the output, bounded (1 MiB, one file). Without: none at all, so
     * that nothing the agent prints stays on the engine's disk, and nothing slows it down.
     */
    bool keep_log;
    cordon_userns userns;
    const cordon_mount_spec *mounts;
    size_t mount_count;
    /* Empty: no network at all but loopback. The first one is joined at create. */
    const cordon_endpoint_spec *endpoints;
    size_t endpoint_count;
    /* Resolver addresses to write; empty: the engine's own (only the proxy may). */
    cordon_texts dns_servers;
    cordon_texts sysctls;
    cordon_limits_spec limits;
    int64_t stop_timeout_s;
    int64_t oom_score_adj;
    /*
     * Fixed by contract, on every engine, without a switch: not privileged, all capabilities
     * dropped, no-new-privileges, default seccomp, read-only root, private pid, ipc, uts,
     * cgroup and mount namespaces, no devices, no ports, no extra hosts, no health check, no
     * restart, no auto-remove, no engine init, no core dumps (ulimit core=0), image volumes
     * ignored.
     */
} cordon_container_spec;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cordon's configuration: typed, closed, with every default compiled in, so that a machine
 * without any file works. Documented key by key in etc/cordon.conf.
 *
 * Precedence, per key, later wins: compiled-in defaults, the system file, the user's file, the
 * --config file. Lists (engines, runner.approved) replace the earlier list as a whole. Command
 * line options and environment are not configuration: the CLI applies them afterwards, and
 * select.h documents how they rank when an engine is chosen.
 *
 * SECURITY: nothing is ever read from the worktree, and no file that others may write is read
 * (trust.h). Unknown, repeated, mistyped and out-of-range keys, @include and numbers that do not
 * fit are errors that name file, line and key; nothing is skipped, clamped or defaulted.
 */
#ifndef CORDON_CONFIG_H
#define CORDON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "image_lock.h"
#include "kit/cleanup.h"
#include "text_list.h"
#include "trust.h"

/*
 * One named engine. name is unique, never "auto". endpoint passed cordon_address_check. The TLS
 * files are absolute paths, all three set or all three NULL.
 */
typedef struct cordon_engine_config {
    char *name;
    int kind; /* cordon_engine_kind */
    char *endpoint;
    char *tls_ca_file;
    char *tls_cert_file;
    char *tls_key_file;
} cordon_engine_config;

typedef struct cordon_engine_configs {
    size_t count;
    cordon_engine_config *items;
} cordon_engine_configs;

/* Pins, "sha256:<64 hex>" or "name@sha256:<64 hex>"; NULL where none is configured. */
typedef struct cordon_image_pins {
    char *claude;
    char *codex;
    char *runner;
} cordon_image_pins;

/* Versions of the CLIs in the pinned images, "2.1.332"; NULL where none is said. */
typedef struct cordon_agents_config {
    char *claude;
    char *codex;
} cordon_agents_config;

/* Exact approved argument vectors; each has at least one item. */
typedef struct cordon_argv_list {
    size_t count;
    cordon_text_list *items;
} cordon_argv_list;

typedef enum cordon_runner_network {
    CORDON_RUNNER_NETWORK_UNKNOWN = 0,
    CORDON_RUNNER_NETWORK_NONE,   /* loopback alone; no proxy */
    CORDON_RUNNER_NETWORK_VENDOR, /* the vendor network, and through the proxy its hosts */
} cordon_runner_network;

typedef struct cordon_runner_config {
    cordon_argv_list approved;
    int network; /* cordon_runner_network */
} cordon_runner_config;

/*
 * protected  paths of a worktree, from its top, that a writing phase keeps as they are
 * git_data   a linked worktree gets its repository's common git directory; else git does not work
 * mount      where a worktree lies inside a step: absolute, normal
 */
typedef struct cordon_worktree_config {
    cordon_text_list protected;
    bool git_data;
    char *mount;
} cordon_worktree_config;

/* Every limit is set; 0 is "unlimited" where it says so. */
typedef struct cordon_limits_config {
    int64_t deadline_ms;  /* of the whole invocation */
    int64_t grace_ms;     /* between TERM and KILL */
    int64_t memory_bytes; /* of the step; no swap beyond it */
    int64_t nano_cpus;    /* 1e9 is one processor; a multiple of 1e6 */
    int64_t pids;
    int64_t open_files;
    int64_t scratch_bytes;    /* the step's writable tmpfs */
    int64_t output_bytes;     /* stdout and stderr together */
    int64_t diff_bytes;       /* kept of a worktree for run --diff */
    int64_t worktree_entries; /* how many entries of a worktree are looked at for sockets */
    int64_t tunnels;          /* through the proxy at a time */
    int64_t tunnel_bytes;     /* both directions of one; 0: unlimited */
    int64_t egress_bytes;     /* of all tunnels of a run; 0: unlimited */
    int64_t refusals;         /* refused attempts per second; 0: unlimited */
} cordon_limits_config;

/* Where vendor networks get their subnets: range_address/range_prefix cut into /prefix blocks. */
typedef struct cordon_network_config {
    char *range;            /* "10.213.0.0/16", as configured */
    uint32_t range_address; /* host byte order, no host bits set */
    int range_prefix;
    int64_t prefix; /* > range_prefix, at most 29: the engine, the proxy and the step need room */
} cordon_network_config;

typedef enum cordon_podman_service {
    CORDON_PODMAN_SERVICE_UNKNOWN = 0,
    CORDON_PODMAN_SERVICE_AUTO, /* serve for the time of the run if no socket is up */
    CORDON_PODMAN_SERVICE_NEVER,
} cordon_podman_service;

typedef struct cordon_config {
    char *engine; /* "auto", or a name for cordon_select */
    cordon_engine_configs engines;
    cordon_image_pins images;
    cordon_agents_config agents;
    cordon_runner_config runner;
    cordon_limits_config limits;
    cordon_network_config network;
    cordon_worktree_config tree; /* the group "worktree" */
    char *
        vendors_dir; /* absolute: a relative one is taken from the folder of the file that has it */
    char *images_lock;    /* absolute; NULL: images.lock beside the user's file, if there is one */
    char *recipes_dir;    /* absolute, as vendors_dir */
    int podman_service;   /* cordon_podman_service */
    char *podman_program; /* absolute path, or a bare name to be searched in PATH */
    char *ssh_program;    /* as podman_program: for endpoints that are ssh:// */
    /*
     * The operator accepts a run without memory, pids or cpu limits where the engine cannot
     * enforce them (rootless on cgroup v1). Default false: such a run is refused.
     */
    bool allow_unenforced_limits;
    /*
     * The operator accepts a run on an engine that hides facts from its inspect when what it told
     * its OCI runtime cannot be read here (a remote Podman, or another user's). Default false.
     */
    bool allow_unread_runtime;
    /*
     * The operator accepts a kernel whose Landlock (landlock(7)) cannot hold all of a phase, or
     * that has none. Default false: a step on such a kernel is refused.
     */
    bool allow_weak_landlock;
    /* Before a run, what killed runs have left on its engine is removed. Default true. */
    bool sweep;
    /* Secrets are hidden in what the command prints. Default true. */
    bool mask_secrets;
    /*
     * The operator accepts a version of an agent's CLI whose flags and tools Cordon has no table
     * for; it is run like the newest one that has. Default false: such a run is refused.
     */
    bool allow_unknown_agent;
    cordon_image_lock lock; /* filled by cordon_config_load_lock */
    cordon_text_list files; /* the files that were read, in order; for doctor and the receipt */
    uid_t uid;              /* whose files are trusted, root's besides; vendor files too */
    char *worktree;         /* in which nothing is trusted; NULL without one */
} cordon_config;

/*
 * system_file    optional file: fine if absent; also the folder of the default vendors_dir
 * user_file      optional file: fine if absent; may be NULL
 * explicit_file  --config: must exist; may be NULL
 * trust          who may have written them, and the worktree they must not be in
 */
typedef struct cordon_config_sources {
    const char *system_file;
    const char *user_file;
    const char *explicit_file;
    cordon_trust trust;
} cordon_config_sources;

/*
 * Loads all files over the defaults.
 * @return 0, or -1 with CONFIG ("FILE:LINE: KEY: reason; form"), REFUSED (a file that others may
 *         write, in the worktree, a symlink), SYSTEM, NOMEM
 */
int cordon_config_load(const cordon_config_sources *sources, cordon_config *ret_config,
                       cordon_err *err) __attribute__((warn_unused_result));

/*
 * Reads the lock file of images: the one that the configuration names, or images.lock beside
 * user_file (which may be NULL). A missing one is no error here.
 * @return 0, or -1 as cordon_image_lock_read
 */
int cordon_config_load_lock(cordon_config *config, const cordon_trust *trust, const char *user_file,
                            cordon_err *err) __attribute__((warn_unused_result));

/*
 * Applies one configuration text to *config, as cordon_config_load does for each file. `file` is
 * its absolute path, for messages and relative paths. On failure *config is partly changed: only
 * clear it. Exposed for tests, fuzzing and `cordon config`.
 */
int cordon_config_apply(cordon_config *config, const char *file, const char *text, size_t length,
                        cordon_err *err) __attribute__((warn_unused_result));

/* The compiled-in defaults; system_file as above. */
int cordon_config_init(cordon_config *ret_config, const char *system_file, cordon_err *err)
    __attribute__((warn_unused_result));

/* Frees everything. Fine on a zeroed or half-built value. */
void cordon_config_clear(cordon_config *config);
CORDON_DEFINE_AUTO(cordon_config, cordon_config_clear)

/* The configured engine of this name, borrowed, or NULL. */
const cordon_engine_config *cordon_config_engine(const cordon_config *config, const char *name);

/* 0 if text is a pin of one of the two forms, else -1 with CONFIG. Also for --image. */
int cordon_config_check_pin(const char *text, cordon_err *err) __attribute__((warn_unused_result));

#endif

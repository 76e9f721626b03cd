/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcordon: run one command in a container that reaches its pinned vendor and nothing else.
 *
 * The library is a good guest: it prints nothing, never exits, installs no signal handler, keeps
 * no global state and reads no environment variable. What it needs from its surroundings the
 * caller hands it in cordon_host.
 *
 * Every function that can fail returns 0, or -1 with *err filled (cordon/error.h); outputs named
 * ret_ are untouched on failure. Handles are opaque and owned by the caller; a free function
 * accepts NULL. A handle is used by one thread at a time.
 *
 * The life of a run:
 *
 *     cordon_configure -> cordon_engine_open -> cordon_policy_new -> cordon_command_...
 *       -> cordon_invocation_new -> cordon_invocation_run -> cordon_receipt_...
 *
 * Policy, command and invocation keep what they need; config and engine must outlive them.
 */
#ifndef CORDON_CORDON_H
#define CORDON_CORDON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cordon/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version, "major.minor.patch". */
CORDON_PUBLIC const char *cordon_version(void);

/* Hex digits of a SHA-256 and a NUL. */
#define CORDON_GUARD_DIGEST_SIZE 65

/* SHA-256 (hex) of the cordon-guard program that this library puts into containers. */
CORDON_PUBLIC void cordon_guard_digest(char ret_digest[CORDON_GUARD_DIGEST_SIZE]);

/*
 * The caller's surroundings. All strings are borrowed until the call that takes them returns;
 * NULL means "not set".
 */
typedef struct cordon_host {
    uint32_t uid;
    uint32_t gid;
    const char *home;               /* $HOME */
    const char *path;               /* $PATH: where podman and ssh are looked for */
    const char *runtime_dir;        /* $XDG_RUNTIME_DIR */
    const char *state_dir;          /* folder for the journal; made with mode 0700 if missing */
    const char *env_engine;         /* $CORDON_ENGINE */
    const char *env_docker;         /* $DOCKER_HOST */
    const char *env_docker_tls;     /* $DOCKER_TLS_VERIFY */
    const char *env_docker_certs;   /* $DOCKER_CERT_PATH */
    const char *env_container;      /* $CONTAINER_HOST */
    const char *system_config;      /* NULL: /etc/cordon/cordon.conf */
    const char *user_config;        /* usually ~/.config/cordon/cordon.conf */
    const char *config_home;        /* $XDG_CONFIG_HOME, where Podman's connections are */
    const char *env_docker_context; /* $DOCKER_CONTEXT */
    const char *env_docker_config;  /* $DOCKER_CONFIG: the folder of Docker's contexts */
    const char *env_connection;     /* $CONTAINER_CONNECTION */
    const char *env_sshkey;         /* $CONTAINER_SSHKEY */
} cordon_host;

/* --- Configuration ------------------------------------------------------------------------ */

typedef struct cordon_config cordon_config;

/*
 * Reads the system file and the user file if they exist, then `file` if given (it must exist);
 * later files override earlier ones key by key. A wrong key or value is CONFIG and names file
 * and line.
 * @param worktree  the run's worktree or NULL: no file inside it is ever read
 */
CORDON_PUBLIC int cordon_configure(const cordon_host *host, const char *file, const char *worktree,
                                   cordon_config **ret_config, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_config_free(cordon_config *config);

/* The effective configuration as JSON, each key with its value. Caller frees *ret_json. */
CORDON_PUBLIC int cordon_config_json(const cordon_config *config, char **ret_json,
                                     cordon_err *err) CORDON_CHECK;

/* --- Engine -------------------------------------------------------------------------------- */

typedef struct cordon_engine cordon_engine;

/*
 * Chooses an engine (named, or by the documented order), starts "podman system service" for the
 * time of this handle if the configuration allows and nothing else is there, connects and reads
 * what the engine can do.
 * @param name         --engine, or NULL
 * @param budget_ms    how long all of it may take
 * @param cancel_fd    readable = give up; -1 for none
 */
CORDON_PUBLIC int cordon_engine_open(const cordon_config *config, const cordon_host *host,
                                     const char *name, int64_t budget_ms, int cancel_fd,
                                     cordon_engine **ret_engine, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_engine_free(cordon_engine *engine);

/* What was opened. Strings live as long as the engine. */
typedef struct cordon_engine_info {
    const char *name;     /* configured name, or "docker", "podman" */
    const char *kind;     /* "docker" or "podman" */
    const char *endpoint; /* "unix:///run/podman/podman.sock" */
    const char *version;
    const char *api;
    const char *reason; /* one line: why this one */
    const char *storage_driver;
    const char *storage_root; /* the daemon's own files, a path where it runs; "" = not told */
    const char *runtime;
    bool rootless;
    int cgroup_version; /* 0 = not told */
    bool limits_memory;
    bool limits_cpu;
    bool limits_pids;
    bool default_seccomp;
    bool hides_runtime; /* its inspect leaves out what is read from those files at every run */
} cordon_engine_info;

CORDON_PUBLIC void cordon_engine_describe(const cordon_engine *engine,
                                          cordon_engine_info *ret_info);

/*
 * One place where an engine may be, for doctor: in the order in which they are tried. endpoint is
 * "" where it is not known; passed is why it is not tried, or NULL.
 */
typedef struct cordon_engine_candidate {
    char *name;
    char *kind;
    char *endpoint;
    char *reason;
    char *passed;
} cordon_engine_candidate;

/* Succeeds also where nothing is to be tried. */
CORDON_PUBLIC int cordon_engine_candidates(const cordon_config *config, const cordon_host *host,
                                           const char *name,
                                           cordon_engine_candidate **ret_candidates,
                                           size_t *ret_count, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_engine_candidates_free(cordon_engine_candidate *candidates, size_t count);

/* --- Policy and commands -------------------------------------------------------------------- */

typedef struct cordon_policy cordon_policy;
typedef struct cordon_command cordon_command;

/*
 * Freezes vendor, phase and approved argv for one invocation.
 * @param vendor  "claude", "codex" or the name of a definition in vendors_dir
 * @param phase   "planning", "questions", "review", "execute" or "fix"
 */
CORDON_PUBLIC int cordon_policy_new(const cordon_config *config, const char *vendor,
                                    const char *phase, cordon_policy **ret_policy,
                                    cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_policy_free(cordon_policy *policy);

/*
 * Approves one more argv, beyond those of the configuration. Trusted code only: what the person
 * who runs Cordon said, never what an agent or a worktree said. REFUSED in a phase that runs
 * nothing, INVALID once a command has been made.
 */
CORDON_PUBLIC int cordon_policy_approve(cordon_policy *policy, const char *const *argv, size_t argc,
                                        cordon_err *err) CORDON_CHECK;

/* A runner command: argv must equal an approved one in every byte, count and order. */
CORDON_PUBLIC int cordon_command_runner(cordon_policy *policy, const char *const *argv, size_t argc,
                                        cordon_command **ret_command, cordon_err *err) CORDON_CHECK;

/* Most bytes of a prompt. */
#define CORDON_PROMPT_MAX 1048576

/*
 * cli     "claude" or "codex": refused unless the policy's vendor has this CLI. NULL: whichever
 *         the vendor has
 * model   as the CLI calls it; NULL leaves it to the CLI
 * prompt  goes to the CLI's standard input, never into argv; at most CORDON_PROMPT_MAX bytes,
 *         not empty, without NUL
 * resume  the session of the agent's step before this one goes on (core/DESIGN.md says how)
 */
typedef struct cordon_agent_options {
    const char *cli;
    const char *model;
    const char *prompt;
    size_t prompt_length;
    bool resume;
} cordon_agent_options;

/*
 * The vendor's agent, in the policy's phase: argv and environment are those of the adapter for the
 * version that the configuration names (agents). REFUSED for another vendor's CLI and for a version
 * that is not named, not known or cannot resume; CONFIG for a wrong prompt or model.
 */
CORDON_PUBLIC int cordon_command_agent(cordon_policy *policy, const cordon_agent_options *options,
                                       cordon_command **ret_command, cordon_err *err) CORDON_CHECK;

/*
 * The built-in boundary probe, in the guard's own image.
 * @param upstream  "ADDR:PORT" to map the pinned hosts to, or NULL
 */
CORDON_PUBLIC int cordon_command_probe(cordon_policy *policy, const char *upstream,
                                       cordon_command **ret_command, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_command_free(cordon_command *command);

/* --- Invocation ------------------------------------------------------------------------------ */

typedef struct cordon_invocation cordon_invocation;
typedef struct cordon_receipt cordon_receipt;

/*
 * worktree     absolute or relative path, or NULL for none
 * diff         keep a copy of the worktree and tell what changed: cordon_receipt_diff. For writing
 *              phases; needs cordon_host.state_dir
 * image        pin ("sha256:..." or "name@sha256:...") or NULL for the configured one
 * deadline_ms  0 for the configured one
 */
typedef struct cordon_invocation_options {
    const char *worktree;
    const char *image;
    int64_t deadline_ms;
    bool diff;
} cordon_invocation_options;

/*
 * Makes an invocation: its id, token, names and deadline, the resolved worktree. Nothing is
 * created on the engine, nothing is written.
 */
CORDON_PUBLIC int cordon_invocation_new(cordon_engine *engine, const cordon_config *config,
                                        const cordon_host *host, const cordon_policy *policy,
                                        const cordon_invocation_options *options,
                                        cordon_invocation **ret_invocation,
                                        cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_invocation_free(cordon_invocation *invocation);

/*
 * Gives the command of this invocation one more secret. It goes to the gate in the release frame
 * and from there to the command alone; it is in no argv, label, inspect answer, log or receipt, and
 * in the command's output it is replaced by asterisks (`mask_secrets` of the configuration; values
 * below 8 bytes excepted).
 * @param name    the environment variable that holds it; one that ends in "_FILE_DESCRIPTOR" holds
 *                the number of a descriptor from which the value can be read once
 * @param value   copied; wiping the caller's copy is the caller's
 * @param length  at most 32 KiB, at least 1, no NUL
 * @return 0, or -1 with CONFIG naming the secret and the reason, INVALID after the run, NOMEM
 */
CORDON_PUBLIC int cordon_invocation_secret(cordon_invocation *invocation, const char *name,
                                           const char *value, size_t length,
                                           cordon_err *err) CORDON_CHECK;

/*
 * What a run would create, check and allow, as JSON; asks the engine, changes nothing. What each
 * run has of its own - its number, also in names - is "*", and addresses are those of the range's
 * first block, so that two plans differ where what they plan does.
 */
CORDON_PUBLIC int cordon_invocation_plan_json(cordon_invocation *invocation,
                                              const cordon_command *command, char **ret_json,
                                              cordon_err *err) CORDON_CHECK;

/*
 * Where a run's output goes, and how it is told to stop.
 * stdout_fd, stderr_fd  written while they take bytes; never made non-blocking, never closed; a
 *                       reader that stalls does not stop the deadline. -1 throws away.
 * cancel_fd             readable = cancel and clean up; more bytes = with no more grace; -1: none
 * progress              called with a short word ("images", "create", "validate", "released",
 *                       "dispose", ...) and a line of text; may be NULL
 * egress                called with every event of the run's egress, as JSON (README); may be NULL
 */
typedef struct cordon_io {
    int stdout_fd;
    int stderr_fd;
    int cancel_fd;
    void (*progress)(void *context, const char *word, const char *text);
    void *progress_context;
    void (*egress)(void *context, const char *json);
    void *egress_context;
} cordon_io;

/*
 * Carries one run through: create, validate, release, stream, settle, dispose. Whatever was
 * created is gone afterwards, or named in the receipt.
 *
 * The result is 0 whenever there is a receipt, which says what happened - a refusal too. -1
 * (with err) only when nothing was begun: INVALID for a handle that is not of this invocation,
 * NOMEM.
 */
CORDON_PUBLIC int cordon_invocation_run(cordon_invocation *invocation,
                                        const cordon_command *command, const cordon_io *io,
                                        cordon_receipt **ret_receipt, cordon_err *err) CORDON_CHECK;

#define CORDON_STEPS_MAX 16
/*
 * The same for several commands, one after another, each in a step of its own. They share /tmp (in
 * memory, up to limits.scratch, gone with the invocation), deadline, secrets and the output's
 * bound. The first one that does not exit with 0 is the last; the result is that of the last that
 * ran. INVALID for more than CORDON_STEPS_MAX, a probe among several, or nothing to resume.
 */
CORDON_PUBLIC int cordon_invocation_run_steps(cordon_invocation *invocation,
                                              const cordon_command *const *commands, size_t count,
                                              const cordon_io *io, cordon_receipt **ret_receipt,
                                              cordon_err *err) CORDON_CHECK;

/* --- Receipt --------------------------------------------------------------------------------- */

typedef enum cordon_result_kind {
    CORDON_RESULT_UNKNOWN = 0,
    CORDON_RESULT_EXITED,
    CORDON_RESULT_REFUSED,
    CORDON_RESULT_DEADLINE,
    CORDON_RESULT_CANCELLED,
    CORDON_RESULT_OOM,
    CORDON_RESULT_TAMPERED,
    CORDON_RESULT_NOT_STARTED,
    CORDON_RESULT_ERROR,
} cordon_result_kind;

/* Strings live as long as the receipt; NULL where there is nothing to say. */
typedef struct cordon_result {
    cordon_result_kind kind;
    const char *kind_name;
    int exit_code; /* the command's own status, -1 when it never ended by itself */
    int status;    /* what a program should exit with: see README, "Exit codes" */
    const char *refusal_code;
    const char *refusal_fact;
    const char *refusal_expected;
    const char *refusal_actual;
    const char *message;
    bool cleanup_complete;
} cordon_result;

CORDON_PUBLIC void cordon_receipt_result(const cordon_receipt *receipt, cordon_result *ret_result);

/* The receipt, version 1, as one JSON object (README, "The receipt"). Caller frees *ret_json. */
CORDON_PUBLIC int cordon_receipt_json(const cordon_receipt *receipt, char **ret_json,
                                      cordon_err *err) CORDON_CHECK;

/* Of a run that was refused before it had an invocation: same shape; `failure` decides kind. */
CORDON_PUBLIC int cordon_receipt_new_failed(const cordon_err *failure, const char *vendor,
                                            const char *phase, cordon_receipt **ret_receipt,
                                            cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_receipt_free(cordon_receipt *receipt);

/*
 * What a writing phase changed in its worktree, as a patch that git-apply(1) takes. What cannot be
 * shown (binary, too large) stands by name in lines before it. The text lives as long as the
 * receipt; NULL when none was asked for, "" when nothing changed.
 * @return 0, or -1 with the error that kept it from being made
 */
CORDON_PUBLIC int cordon_receipt_diff(const cordon_receipt *receipt, const char **ret_patch,
                                      size_t *ret_length, cordon_err *err) CORDON_CHECK;

/* What is left at the end, one by one; false past the last. Strings live as the receipt. */
typedef struct cordon_leftover {
    const char *type;
    const char *id;
    const char *reason;
} cordon_leftover;

CORDON_PUBLIC bool cordon_receipt_leftover(const cordon_receipt *receipt, size_t index,
                                           cordon_leftover *ret_leftover);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What main hands to every verb, and the verbs themselves. The command uses libcordon through
 * its public headers alone; of the layers below it sees core/kit (mechanism), and its include
 * path shows it nothing else.
 */
#ifndef CORDON_CLI_CLI_H
#define CORDON_CLI_CLI_H

#include "cordon/cordon.h"
#include "options.h"

/*
 * host       the surroundings, as the library wants them
 * signal_fd  readable once INT, TERM or HUP has come; what every long call takes as cancel_fd
 */
typedef struct cordon_cli_context {
    const cordon_cli_verb *verb;
    cordon_host host;
    int signal_fd;
} cordon_cli_context;

extern const cordon_cli_verb cordon_cli_verb_run;
extern const cordon_cli_verb cordon_cli_verb_probe;
extern const cordon_cli_verb cordon_cli_verb_plan;
extern const cordon_cli_verb cordon_cli_verb_egress;
extern const cordon_cli_verb cordon_cli_verb_doctor;
extern const cordon_cli_verb cordon_cli_verb_image;
extern const cordon_cli_verb cordon_cli_verb_config;
extern const cordon_cli_verb cordon_cli_verb_explain;
extern const cordon_cli_verb cordon_cli_verb_gc;
extern const cordon_cli_verb cordon_cli_verb_version;

/* All of them; NULL ends. */
extern const cordon_cli_verb *const cordon_cli_verbs[];

/* The verb of that name, or NULL. */
const cordon_cli_verb *cordon_cli_verb_find(const char *name);

/* Exit statuses of the command's own; those of a run come from its receipt (README). */
enum {
    CORDON_CLI_OK = 0,
    CORDON_CLI_CHECK_FAILED = 1, /* probe, doctor: everything was tried and something is wrong */
    CORDON_CLI_ERROR = 125,
};

/* What completion offers for values of these rows. */
extern const char *const cordon_cli_engine_words[];
extern const char *const cordon_cli_vendor_words[];
extern const char *const cordon_cli_phase_words[];

/* Rows that several verbs share. */
#define CORDON_CLI_ROW_ENGINE                                                                      \
    CORDON_CLI_CHOICE("--engine", "NAME", CORDON_CLI_NAME, engine,                                 \
                      "a configured engine, or auto, docker, podman", cordon_cli_engine_words)
#define CORDON_CLI_ROW_CONFIG                                                                      \
    CORDON_CLI_OPTION("--config", "FILE", CORDON_CLI_NAME, config,                                 \
                      "read this file after the system's and the user's")
#define CORDON_CLI_ROW_VENDOR                                                                      \
    CORDON_CLI_CHOICE("--vendor", "NAME", CORDON_CLI_NAME, vendor,                                 \
                      "whose hosts may be reached: claude (default), codex, or a definition",      \
                      cordon_cli_vendor_words)
#define CORDON_CLI_ROW_PHASE                                                                       \
    CORDON_CLI_CHOICE("--phase", "PHASE", CORDON_CLI_NAME, phase,                                  \
                      "planning, questions, review (default), execute or fix",                     \
                      cordon_cli_phase_words)
#define CORDON_CLI_ROW_WORKTREE                                                                    \
    CORDON_CLI_OPTION("--worktree", "DIR", CORDON_CLI_NAME, worktree,                              \
                      "the folder to work on; none by default")
#define CORDON_CLI_ROW_IMAGE                                                                       \
    CORDON_CLI_OPTION("--image", "PIN", CORDON_CLI_NAME, image,                                    \
                      "image id (64 hex digits, with or without sha256:), or NAME@sha256:DIGEST")
#define CORDON_CLI_ROW_DEADLINE                                                                    \
    CORDON_CLI_OPTION("--deadline", "TIME", CORDON_CLI_DURATION, deadline_ms,                      \
                      "such as 30s or 10m, up to 168h; default: limits.deadline")
#define CORDON_CLI_ROW_APPROVE                                                                     \
    CORDON_CLI_OPTION("--approve", NULL, CORDON_CLI_FLAG, approve,                                 \
                      "you approve exactly this command, for this once")
#define CORDON_CLI_ROW_SECRET                                                                      \
    CORDON_CLI_OPTION("--secret", "NAME[=FILE]", CORDON_CLI_LIST, secrets,                         \
                      "a secret for the command, as variable NAME; may be given again")
#define CORDON_CLI_ROW_PROMPT                                                                      \
    CORDON_CLI_OPTION(                                                                             \
        "--prompt", "TEXT", CORDON_CLI_NAME, prompt,                                               \
        "run the vendor's agent with this prompt; --prompt=TEXT if it begins with -")
#define CORDON_CLI_ROW_PROMPT_FILE                                                                 \
    CORDON_CLI_OPTION("--prompt-file", "FILE", CORDON_CLI_FILE, prompt_file,                       \
                      "the same, from a file; - is standard input, as is a - in place of COMMAND")
#define CORDON_CLI_ROW_STEPS                                                                       \
    CORDON_CLI_OPTION("--steps", "FILE", CORDON_CLI_FILE, steps,                                   \
                      "several steps, one after another, in place of a prompt or COMMAND")
#define CORDON_CLI_ROW_MODEL                                                                       \
    CORDON_CLI_OPTION("--model", "NAME", CORDON_CLI_NAME, model,                                   \
                      "which of its models the agent uses; default: its own choice")
#define CORDON_CLI_ROW_RECEIPT                                                                     \
    CORDON_CLI_OPTION("--receipt", "FILE", CORDON_CLI_FILE, receipt,                               \
                      "write the receipt there, mode 0600; - is standard error")
#define CORDON_CLI_ROW_DIFF                                                                        \
    CORDON_CLI_OPTION("--diff", "FILE", CORDON_CLI_FILE, diff,                                     \
                      "write what a writing phase changed in the worktree there, as a patch")
#define CORDON_CLI_ROW_QUIET                                                                       \
    CORDON_CLI_OPTION("--quiet", NULL, CORDON_CLI_FLAG, quiet, "no progress lines")
#define CORDON_CLI_ROW_DEBUG                                                                       \
    CORDON_CLI_OPTION("--debug", NULL, CORDON_CLI_FLAG, debug,                                     \
                      "progress with times, even without a terminal; codes of errors")
#define CORDON_CLI_ROW_JSON(help) CORDON_CLI_OPTION("--json", NULL, CORDON_CLI_FLAG, json, help)

#define CORDON_CLI_COUNT(table) (sizeof(table) / sizeof((table)[0]))

#endif

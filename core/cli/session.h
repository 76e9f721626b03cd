/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handles of one run, opened in the order in which they can be refused most cheaply:
 * configuration, policy, command, and only then the engine.
 */
#ifndef CORDON_CLI_SESSION_H
#define CORDON_CLI_SESSION_H

#include "cli.h"
#include "kit/buf.h"
#include "kit/cleanup.h"
#include "secret_source.h"

#define CORDON_CLI_VENDOR_DEFAULT "claude"
#define CORDON_CLI_PHASE_DEFAULT  "review"

/* How long finding and opening an engine may take, starting podman's service included. */
#define CORDON_CLI_OPEN_MS 30000

/* How long a collection may take: by itself, and before a run. */
#define CORDON_CLI_GC_MS    300000
#define CORDON_CLI_SWEEP_MS 5000

/* "sha256:", 64 digits, a NUL. */
#define CORDON_CLI_PIN_SIZE 72

typedef struct cordon_cli_session {
    cordon_config *config;
    cordon_policy *policy;
    /* One, or those of --steps in their order. */
    cordon_command *commands[CORDON_STEPS_MAX];
    size_t command_count;
    cordon_engine *engine;
    cordon_invocation *invocation;
    cordon_cli_secrets secrets;
    cordon_buf prompt;
    char pin[CORDON_CLI_PIN_SIZE]; /* of --image, where it was written without its "sha256:" */
} cordon_cli_session;

/*
 * Opens all of them. With --steps the commands are those of its file, else it is one: with a prompt
 * the command is the vendor's agent, with argv that runner command, else the built-in probe.
 * @param ret_session  set also on failure, to be cleared by the caller
 */
int cordon_cli_session_open(const cordon_cli_context *context, const cordon_cli_options *options,
                            cordon_cli_session *ret_session, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_cli_session_clear(cordon_cli_session *session);
CORDON_DEFINE_AUTO(cordon_cli_session, cordon_cli_session_clear)

/*
 * What --image says as a pin: 64 hex digits, as Podman prints an id, get their "sha256:". Anything
 * else is for the library to judge. @return options->image or pin
 */
const char *cordon_cli_pin(const char *image, char pin[CORDON_CLI_PIN_SIZE]);

/* The values that a receipt shows when there was no invocation. */
const char *cordon_cli_vendor(const cordon_cli_options *options);
const char *cordon_cli_phase(const cordon_cli_options *options);

#endif

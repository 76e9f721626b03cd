/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of --steps from somebody who means harm, for a policy that approves one command. No crash,
 * no leak; what is accepted are 1 to 16 commands; an error names the option and is CONFIG, or
 * REFUSED for what the policy does not allow.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/steps.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cordon_config *config;

/* A configuration is read from a file; it is gone when it has been. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char text[] = "agents: { claude = \"2.1.332\"; };\n"
                               "runner: { approved = ( [\"make\", \"check\"] ); };\n";
    char path[] = "/tmp/cordon-fuzz-steps-XXXXXX";
    cordon_host host = {.uid = getuid(), .gid = getgid(), .system_config = "/nonexistent/c"};
    cordon_err err = CORDON_ERR_INIT;
    int fd = mkstemp(path);
    (void)argc;
    (void)argv;
    if (fd < 0 || write(fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1 || close(fd) != 0 ||
        cordon_configure(&host, path, NULL, &config, &err) != 0) {
        (void)fprintf(stderr, "%s: %s\n", path, err.message);
        abort();
    }
    (void)unlink(path);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cordon_cli_options options = {.steps = "file"};
    cordon_cli_session session = {.prompt = cordon_buf_make(CORDON_PROMPT_MAX)};
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_buf_append(&session.prompt, data, size, NULL) != 0)
        return 0;
    if (cordon_policy_new(config, "claude", "review", &session.policy, &err) != 0)
        abort();
    if (cordon_cli_steps_make(&options, &session, &err) == 0)
        assert(session.command_count >= 1 && session.command_count <= CORDON_STEPS_MAX);
    else
        assert((err.code == CORDON_ERR_CONFIG || err.code == CORDON_ERR_REFUSED) &&
               strncmp(err.message, "--steps: file: ", 15) == 0);
    for (size_t i = 0; i < session.command_count; i++)
        cordon_command_free(session.commands[i]);
    cordon_policy_free(session.policy);
    cordon_buf_clear(&session.prompt);
    return 0;
}

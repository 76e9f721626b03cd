/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one command in a container that reaches nothing, and prints the receipt.
 *
 *     cc one_step.c -o one_step $(pkg-config --cflags --libs cordon)
 *     ./one_step IMAGE WORKTREE COMMAND [ARGUMENT...]
 *
 * IMAGE is an id, "sha256:...". The command's output goes to standard error, the receipt to
 * standard output; the exit status is the command's own, or Cordon's (124 to 126).
 */
#include <cordon/cordon.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_CORDON 125
#define OPEN_MS     30000

/* What main owns. Handles that were never made are NULL, and free accepts that. */
typedef struct work {
    cordon_config *config;
    cordon_engine *engine;
    cordon_policy *policy;
    cordon_command *command;
    cordon_invocation *invocation;
    cordon_receipt *receipt;
} work;

/* The library reads no environment: what it may know of it is handed over. */
static cordon_host surroundings(void)
{
    return (cordon_host){
        .uid = (uint32_t)getuid(),
        .gid = (uint32_t)getgid(),
        .home = getenv("HOME"),
        .path = getenv("PATH"),
        .runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .state_dir = getenv("CORDON_STATE_DIR"), /* where the journal is kept; NULL for none */
        .env_engine = getenv("CORDON_ENGINE"),
        .env_docker = getenv("DOCKER_HOST"),
        .env_container = getenv("CONTAINER_HOST"),
        .user_config = getenv("CORDON_CONFIG"), /* beside the system's; NULL for none */
    };
}

/* Everything up to the receipt; what is refused on the way is in err. */
static int run(work *w, char **words, size_t count, cordon_err *err)
{
    const cordon_host host = surroundings();
    const char *const *argv = (const char *const *)(words + 2);
    const cordon_invocation_options options = {.image = words[0], .worktree = words[1]};
    const cordon_io io = {.stdout_fd = STDERR_FILENO, .stderr_fd = STDERR_FILENO, .cancel_fd = -1};

    if (cordon_configure(&host, NULL, words[1], &w->config, err) != 0 ||
        cordon_engine_open(w->config, &host, NULL, OPEN_MS, -1, &w->engine, err) != 0)
        return -1;
    /* The command is approved here, because who calls this program has typed it. */
    if (cordon_policy_new(w->config, "claude", "review", &w->policy, err) != 0 ||
        cordon_policy_approve(w->policy, argv, count - 2, err) != 0 ||
        cordon_command_runner(w->policy, argv, count - 2, &w->command, err) != 0 ||
        cordon_invocation_new(w->engine, w->config, &host, w->policy, &options, &w->invocation,
                              err) != 0)
        return -1;
    return cordon_invocation_run(w->invocation, w->command, &io, &w->receipt, err);
}

static int print(const work *w, cordon_err *err)
{
    char *json = NULL;
    cordon_result result = {0};
    if (cordon_receipt_json(w->receipt, &json, err) != 0)
        return EXIT_CORDON;
    puts(json);
    free(json);
    cordon_receipt_result(w->receipt, &result);
    return result.status;
}

int main(int argc, char **argv)
{
    work w = {0};
    cordon_err err = CORDON_ERR_INIT;
    int status = EXIT_CORDON;

    if (argc < 4)
        fprintf(stderr, "usage: one_step IMAGE WORKTREE COMMAND [ARGUMENT...]\n");
    else if (run(&w, argv + 1, (size_t)argc - 1, &err) != 0)
        fprintf(stderr, "one_step: %s\n", err.message);
    else
        status = print(&w, &err);

    cordon_receipt_free(w.receipt);
    cordon_invocation_free(w.invocation);
    cordon_command_free(w.command);
    cordon_policy_free(w.policy);
    cordon_engine_free(w.engine);
    cordon_config_free(w.config);
    return status;
}

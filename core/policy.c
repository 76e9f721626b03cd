/* SPDX-License-Identifier: Apache-2.0 */
/* Policies and commands; see policy.h and cordon/cordon.h. */
#include "policy.h"

#include <string.h>

#include "adapter.h"
#include "config.h"
#include "handle.h"
#include "kit/cleanup.h"
#include "kit/near.h"

/* gcc's analyzer loses track of the items of a list that a cleanup frees in a loop. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static const cordon_phase phases[] = {
    {.name = "planning", .writes = false, .runs = false},
    {.name = "questions", .writes = false, .runs = false},
    {.name = "review", .writes = false, .runs = true},
    {.name = "execute", .writes = true, .runs = true},
    {.name = "fix", .writes = true, .runs = true},
};

int cordon_phase_find(const char *name, const cordon_phase **ret_phase, cordon_err *err)
{
    for (size_t i = 0; name != NULL && i < sizeof(phases) / sizeof(phases[0]); i++) {
        if (strcmp(phases[i].name, name) == 0) {
            *ret_phase = &phases[i];
            return 0;
        }
    }
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_near near = {.word = name != NULL ? name : ""};
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        cordon_near_look(&near, phases[i].name);
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "unknown phase '%s'%s planning, questions, review, execute, fix",
                       CORDON_QUOTE(name), cordon_near_hint(&near, "it is one of", hint));
}

static void argv_clear(cordon_argv *argv)
{
    for (size_t i = 0; i < argv->count; i++)
        free(argv->items[i]);
    free(argv->items);
    *argv = (cordon_argv){0};
}

static int argv_check(const char *const *argv, size_t argc, cordon_err *err)
{
    if (argc == 0 || argv[0][0] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the command is empty; give one after --");
    if (argc > CORDON_ARGUMENTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the command has %zu arguments, at most %d pass",
                           argc, CORDON_ARGUMENTS_MAX);
    for (size_t i = 0; i < argc; i++) {
        if (strlen(argv[i]) >= CORDON_ARGUMENT_MAX)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "argument %zu has %zu bytes; the kernel takes at most %d", i,
                               strlen(argv[i]), CORDON_ARGUMENT_MAX - 1);
    }
    return 0;
}

/* What is approved is read by a person, in one line; so is what a receipt or a message quotes. */
static int argv_check_lines(const char *const *argv, size_t argc, cordon_err *err)
{
    for (size_t i = 0; i < argc; i++) {
        if (strpbrk(argv[i], "\r\n") == NULL)
            continue;
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "argument %zu of the command holds the end of a line, which nobody can "
                       "approve; put several lines into a script",
                       i);
        cordon_refuse_as(err, CORDON_REFUSED_NOT_APPROVED);
        return -1;
    }
    return 0;
}

static int argv_copy(const char *const *argv, size_t argc, cordon_argv *ret_argv, cordon_err *err)
{
    cordon_cleanup(argv_clear) cordon_argv copy = {0};

    copy.items = calloc(argc + 1, sizeof(*copy.items));
    if (copy.items == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (; copy.count < argc; copy.count++) {
        copy.items[copy.count] = strdup(argv[copy.count]);
        if (copy.items[copy.count] == NULL)
            return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    *ret_argv = copy;
    copy = (cordon_argv){0};
    return 0;
}

/* Equal in every byte, count and order; no pattern, no prefix, no shell. */
static bool argv_equal(char *const *approved, size_t count, const char *const *argv, size_t argc)
{
    if (count != argc)
        return false;
    for (size_t i = 0; i < argc; i++) {
        if (strcmp(approved[i], argv[i]) != 0)
            return false;
    }
    return true;
}

static void policy_destroy(cordon_policy *policy)
{
    if (policy == NULL)
        return;
    for (size_t i = 0; i < policy->approved_count; i++)
        argv_clear(&policy->approved[i]);
    free(policy->approved);
    cordon_vendor_free(policy->vendor);
    free(policy);
}
CORDON_DEFINE_AUTO_PTR(cordon_policy, policy_destroy)

void cordon_policy_free(cordon_policy *policy)
{
    if (cordon_handle_remove(CORDON_HANDLE_POLICY, policy))
        policy_destroy(policy);
}

int cordon_policy_new(const cordon_config *config, const char *vendor, const char *phase,
                      cordon_policy **ret_policy, cordon_err *err)
{
    cordon_auto_ptr(cordon_policy) policy = NULL;
    cordon_trust trust = {0};

    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0)
        return -1;
    policy = calloc(1, sizeof(*policy));
    if (policy == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    trust = (cordon_trust){.uid = config->uid, .worktree = config->worktree};
    policy->config = config;
    if (cordon_phase_find(phase, &policy->phase, err) != 0)
        return -1;
    if (cordon_vendor_load(vendor, config->vendors_dir, &trust, &policy->vendor, err) != 0) {
        cordon_refuse_as(err, CORDON_REFUSED_CONFIG);
        return -1;
    }
    if (cordon_handle_add(CORDON_HANDLE_POLICY, policy, err) != 0)
        return -1;
    *ret_policy = CORDON_TAKE(policy);
    return 0;
}

static int policy_needs_runner(const cordon_policy *policy, cordon_err *err)
{
    if (policy->phase->runs)
        return 0;
    cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                   "phase %s runs no commands; use review, execute or fix", policy->phase->name);
    cordon_refuse_as(err, CORDON_REFUSED_POLICY);
    return -1;
}

int cordon_policy_approve(cordon_policy *policy, const char *const *argv, size_t argc,
                          cordon_err *err)
{
    cordon_argv *larger;

    if (cordon_handle_check(CORDON_HANDLE_POLICY, policy, err) != 0)
        return -1;
    if (policy->frozen)
        return CORDON_FAIL(err, CORDON_ERR_INVALID,
                           "the policy has made a command already and can't be changed");
    if (policy_needs_runner(policy, err) != 0 || argv_check(argv, argc, err) != 0 ||
        argv_check_lines(argv, argc, err) != 0)
        return -1;
    larger = realloc(policy->approved, (policy->approved_count + 1) * sizeof(*larger));
    if (larger == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    policy->approved = larger;
    if (argv_copy(argv, argc, &policy->approved[policy->approved_count], err) != 0)
        return -1;
    policy->approved_count++;
    return 0;
}

static bool policy_approves(const cordon_policy *policy, const char *const *argv, size_t argc)
{
    const cordon_argv_list *configured = &policy->config->runner.approved;

    for (size_t i = 0; i < policy->approved_count; i++) {
        if (argv_equal(policy->approved[i].items, policy->approved[i].count, argv, argc))
            return true;
    }
    for (size_t i = 0; i < configured->count; i++) {
        if (argv_equal(configured->items[i].items, configured->items[i].count, argv, argc))
            return true;
    }
    return false;
}

static void command_destroy(cordon_command *command)
{
    if (command == NULL)
        return;
    argv_clear(&command->argv);
    free(command->upstream);
    cordon_buf_clear(&command->prompt);
    if (command->agent != NULL)
        cordon_agent_clear(command->agent);
    free(command->agent);
    free(command);
}
CORDON_DEFINE_AUTO_PTR(cordon_command, command_destroy)

void cordon_command_free(cordon_command *command)
{
    if (cordon_handle_remove(CORDON_HANDLE_COMMAND, command))
        command_destroy(command);
}

static int command_new(const cordon_policy *policy, cordon_command_kind kind,
                       const char *const *argv, size_t argc, cordon_command **ret_command,
                       cordon_err *err)
{
    cordon_auto_ptr(cordon_command) command = calloc(1, sizeof(*command));

    if (command == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    command->policy = policy;
    command->kind = kind;
    if (argv_copy(argv, argc, &command->argv, err) != 0)
        return -1;
    *ret_command = CORDON_TAKE(command);
    return 0;
}

/* From here on the command is a handle, and the policy cannot change any more. */
static int command_hand_out(cordon_policy *policy, cordon_command **command,
                            cordon_command **ret_command, cordon_err *err)
{
    if (cordon_handle_add(CORDON_HANDLE_COMMAND, *command, err) != 0)
        return -1;
    policy->frozen = true;
    *ret_command = CORDON_TAKE(*command);
    return 0;
}

int cordon_command_runner(cordon_policy *policy, const char *const *argv, size_t argc,
                          cordon_command **ret_command, cordon_err *err)
{
    cordon_auto_ptr(cordon_command) command = NULL;

    if (cordon_handle_check(CORDON_HANDLE_POLICY, policy, err) != 0 ||
        policy_needs_runner(policy, err) != 0 || argv_check(argv, argc, err) != 0 ||
        argv_check_lines(argv, argc, err) != 0)
        return -1;
    if (!policy_approves(policy, argv, argc)) {
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "'%s' with %zu arguments is not approved word for word; add it to "
                       "runner.approved in the configuration, or approve it for this run",
                       CORDON_QUOTE(argv[0]), argc - 1);
        cordon_refuse_as(err, CORDON_REFUSED_NOT_APPROVED);
        return -1;
    }
    if (command_new(policy, CORDON_COMMAND_RUNNER, argv, argc, &command, err) != 0)
        return -1;
    return command_hand_out(policy, &command, ret_command, err);
}

int cordon_command_probe(cordon_policy *policy, const char *upstream, cordon_command **ret_command,
                         cordon_err *err)
{
    static const char *const argv[] = {"probe"};
    cordon_auto_ptr(cordon_command) command = NULL;

    if (cordon_handle_check(CORDON_HANDLE_POLICY, policy, err) != 0)
        return -1;
    if (upstream != NULL && cordon_vendor_check_address(upstream, err) != 0) {
        cordon_err_wrap(err, "upstream");
        return -1;
    }
    if (command_new(policy, CORDON_COMMAND_PROBE, argv, 1, &command, err) != 0)
        return -1;
    if (upstream != NULL && (command->upstream = strdup(upstream)) == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    return command_hand_out(policy, &command, ret_command, err);
}

static int refuse_policy(cordon_err *err)
{
    cordon_refuse_as(err, CORDON_REFUSED_POLICY);
    return -1;
}

/* Whoever names a CLI means that one: a policy of another vendor does not make its command. */
static int policy_needs_cli(const cordon_policy *policy, const char *cli, cordon_err *err)
{
    const cordon_adapter_table *table = cordon_adapter_find(policy->vendor->adapter);

    if (cli == NULL || (table != NULL && strcmp(table->program, cli) == 0))
        return 0;
    cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                   "a policy of vendor %s makes no command for %s; make a policy for that vendor",
                   policy->vendor->name, CORDON_QUOTE(cli));
    return refuse_policy(err);
}

static int prompt_check(const char *prompt, size_t length, cordon_err *err)
{
    if (length == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the prompt is empty; say what is to be done");
    if (length > CORDON_PROMPT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "the prompt has over %d bytes, which is the most; put what is long "
                           "into a file of the worktree",
                           CORDON_PROMPT_MAX);
    if (memchr(prompt, '\0', length) != NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the prompt holds a NUL; it must be text");
    return 0;
}

/*
 * The version that the operator says is in the image of this CLI; where he does not, the one that
 * the lock of images tells. That the two agree is judged once the engine is known (run_lock.c).
 */
static int policy_cli_version(const cordon_policy *policy, const char **ret_version,
                              cordon_err *err)
{
    const cordon_agents_config *agents = &policy->config->agents;
    bool claude = policy->vendor->adapter == CORDON_ADAPTER_CLAUDE;
    const char *said = claude ? agents->claude : agents->codex;

    if (said != NULL) {
        *ret_version = said;
        return 0;
    }
    if (cordon_image_lock_version(&policy->config->lock, claude ? "claude" : "codex", ret_version,
                                  err) == 0)
        return 0;
    cordon_refuse_as(err, CORDON_REFUSED_AGENT);
    return -1;
}

static int command_agent_new(const cordon_policy *policy, const cordon_agent_options *options,
                             cordon_command **ret_command, cordon_err *err)
{
    cordon_auto_ptr(cordon_command) command = NULL;
    cordon_auto(cordon_agent) agent = {0};
    cordon_agent_wish wish = {
        .allow_unknown = policy->config->allow_unknown_agent,
        .model = options->model,
        .resume = options->resume,
    };

    if (policy_cli_version(policy, &wish.version, err) != 0 ||
        cordon_agent_build(policy->vendor, policy->phase, &wish, &agent, err) != 0 ||
        command_new(policy, CORDON_COMMAND_AGENT, (const char *const *)agent.argv.items,
                    agent.argv.count, &command, err) != 0)
        return -1;
    command->agent = malloc(sizeof(*command->agent));
    if (command->agent == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *command->agent = agent;
    agent = (cordon_agent){0};
    command->prompt = cordon_buf_make_secret(CORDON_PROMPT_MAX);
    if (cordon_buf_append(&command->prompt, options->prompt, options->prompt_length, err) != 0)
        return -1;
    *ret_command = CORDON_TAKE(command);
    return 0;
}

int cordon_command_agent(cordon_policy *policy, const cordon_agent_options *options,
                         cordon_command **ret_command, cordon_err *err)
{
    cordon_auto_ptr(cordon_command) command = NULL;

    if (cordon_handle_check(CORDON_HANDLE_POLICY, policy, err) != 0 ||
        policy_needs_cli(policy, options->cli, err) != 0 ||
        prompt_check(options->prompt, options->prompt_length, err) != 0 ||
        command_agent_new(policy, options, &command, err) != 0)
        return -1;
    return command_hand_out(policy, &command, ret_command, err);
}

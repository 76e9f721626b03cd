/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what a run needs, step by step; the first step that fails says why. */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "cordon/gc.h"
#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/error.h"
#include "prompt.h"
#include "report.h"
#include "steps.h"

#define ID_DIGITS 64

const char *cordon_cli_vendor(const cordon_cli_options *options)
{
    return options->vendor ? options->vendor : CORDON_CLI_VENDOR_DEFAULT;
}

const char *cordon_cli_phase(const cordon_cli_options *options)
{
    return options->phase ? options->phase : CORDON_CLI_PHASE_DEFAULT;
}

const char *cordon_cli_pin(const char *image, char pin[CORDON_CLI_PIN_SIZE])
{
    if (!image || strlen(image) != ID_DIGITS || strspn(image, "0123456789abcdef") != ID_DIGITS)
        return image;
    (void)snprintf(pin, CORDON_CLI_PIN_SIZE, "sha256:%s", image);
    return pin;
}

/* ["make", "check"] as the configuration writes it; false where it cannot stand in one line. */
static bool config_argv(const cordon_cli_options *options, cordon_buf *out)
{
    for (size_t i = 0; i < options->argc; i++) {
        const char *word = options->argv[i];
        if (strpbrk(word, "\"\\") ||
            cordon_buf_printf(out, NULL, "%s\"%s\"", i ? ", " : "", word) != 0)
            return false;
        for (const char *at = word; *at; at++) {
            if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
                return false;
        }
    }
    return true;
}

/* What is not approved is told with both ways to approve it, ready to be pasted. */
static int explain_approval(const cordon_cli_options *options, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(300);
    cordon_err told = *err;
    if (err->code != CORDON_ERR_REFUSED || !strstr(err->message, "is not approved") ||
        !config_argv(options, &line))
        return -1;
    cordon_err_clear(&told);
    cordon_err_set(&told, CORDON_ERR_REFUSED, 0,
                   "%s with %zu arguments is not approved word for word; add --approve for this "
                   "once, or to the configuration: runner: { approved = ( [%s] ); };",
                   CORDON_QUOTE(options->argv[0]), options->argc - 1, cordon_buf_text(&line));
    told.refusal = err->refusal;
    *err = told;
    return -1;
}

static int make_agent(const cordon_cli_options *options, cordon_cli_session *session,
                      cordon_err *err)
{
    cordon_agent_options wanted = {
        .model = options->model,
        .prompt = cordon_buf_text(&session->prompt),
        .prompt_length = session->prompt.length,
    };
    return cordon_command_agent(session->policy, &wanted, &session->commands[0], err);
}

static int make_one(const cordon_cli_options *options, cordon_cli_session *session, cordon_err *err)
{
    if (cordon_cli_has_prompt(options))
        return make_agent(options, session, err);
    if (!options->argv)
        return cordon_command_probe(session->policy, options->upstream, &session->commands[0], err);
    if (options->approve &&
        cordon_policy_approve(session->policy, options->argv, options->argc, err) != 0)
        return -1;
    if (cordon_command_runner(session->policy, options->argv, options->argc, &session->commands[0],
                              err) != 0)
        return explain_approval(options, err);
    return 0;
}

/* The policy and the commands that it makes: nothing here talks to an engine. */
static int make_commands(const cordon_cli_options *options, cordon_cli_session *session,
                         cordon_err *err)
{
    if (cordon_policy_new(session->config, cordon_cli_vendor(options), cordon_cli_phase(options),
                          &session->policy, err) != 0)
        return -1;
    if (options->steps)
        return cordon_cli_steps_make(options, session, err);
    if (make_one(options, session, err) != 0)
        return -1;
    session->command_count = 1;
    return 0;
}

/* --deadline bounds the opening, too: nobody who asked for 5 s waits for 30. */
static int64_t open_budget(const cordon_cli_options *options)
{
    bool shorter = options->deadline_ms > 0 && options->deadline_ms < CORDON_CLI_OPEN_MS;
    return shorter ? options->deadline_ms : CORDON_CLI_OPEN_MS;
}

/* One line: which engine it is, and why that one. */
static void tell_engine(const cordon_cli_options *options, const cordon_engine *engine)
{
    cordon_cli_progress progress = cordon_cli_progress_make(options);
    cordon_engine_info info = {0};
    char text[CORDON_ERR_MESSAGE_MAX];
    cordon_engine_describe(engine, &info);
    (void)snprintf(text, sizeof text, "%s: %s %s%s at %s, because %s", info.name, info.kind,
                   info.version, info.rootless ? ", rootless," : "", CORDON_QUOTE(info.endpoint),
                   info.reason);
    cordon_cli_progress_line(&progress, "engine", text);
}

static int open_engine(const cordon_cli_context *context, const cordon_cli_options *options,
                       cordon_cli_session *session, cordon_err *err)
{
    int64_t budget_ms = open_budget(options);
    if (cordon_engine_open(session->config, &context->host, options->engine, budget_ms,
                           context->signal_fd, &session->engine, err) == 0) {
        tell_engine(options, session->engine);
        return 0;
    }
    /* Our own patience with an engine is nobody's deadline. */
    if (err->code == CORDON_ERR_TIMEOUT && budget_ms == CORDON_CLI_OPEN_MS)
        err->code = CORDON_ERR_UNREACHABLE;
    return -1;
}

/*
 * What earlier runs left on this engine goes first. A run does not fail for it: what could not be
 * removed keeps its journal, and doctor and gc tell of it.
 */
static void sweep(const cordon_cli_context *context, const cordon_cli_options *options,
                  cordon_cli_session *session)
{
    cordon_cli_progress progress = cordon_cli_progress_make(options);
    const cordon_gc_options wanted = {
        .mode = CORDON_GC_REMOVE,
        .engine = session->engine,
        .automatic = true,
        .budget_ms = CORDON_CLI_SWEEP_MS,
        .cancel_fd = context->signal_fd,
        .progress = cordon_cli_progress_line,
        .progress_context = &progress,
    };
    cordon_gc_report *report = NULL;
    cordon_err ignored = CORDON_ERR_INIT;
    if (cordon_gc(session->config, &context->host, &wanted, &report, &ignored) == 0)
        cordon_gc_report_free(report);
}

static int make_invocation(const cordon_cli_context *context, const cordon_cli_options *options,
                           cordon_cli_session *session, cordon_err *err)
{
    cordon_invocation_options wanted = {
        .worktree = options->worktree,
        .diff = options->diff != NULL,
        .image = cordon_cli_pin(options->image, session->pin),
        .deadline_ms = options->deadline_ms,
    };
    if (cordon_invocation_new(session->engine, session->config, &context->host, session->policy,
                              &wanted, &session->invocation, err) != 0 ||
        cordon_cli_secrets_give(&session->secrets, session->invocation, err) != 0)
        return -1;
    cordon_cli_secrets_clear(&session->secrets);
    return 0;
}

int cordon_cli_session_open(const cordon_cli_context *context, const cordon_cli_options *options,
                            cordon_cli_session *ret_session, cordon_err *err)
{
    cordon_cli_session *session = ret_session;
    *session = (cordon_cli_session){0};
    session->prompt = cordon_buf_make_secret(CORDON_CLI_PROMPT_ROOM);
    if (options->steps && cordon_cli_steps_read(context, options, &session->prompt, err) != 0)
        return -1;
    if (!options->steps && cordon_cli_has_prompt(options) &&
        cordon_cli_read_prompt(context, options, &session->prompt, err) != 0)
        return -1;
    if (cordon_configure(&context->host, options->config, options->worktree, &session->config,
                         err) != 0)
        return -1;
    if (make_commands(options, session, err) != 0 ||
        cordon_cli_secrets_read(context, options, &session->secrets, err) != 0)
        return -1;
    if (open_engine(context, options, session, err) != 0)
        return -1;
    if (context->verb != &cordon_cli_verb_plan)
        sweep(context, options, session);
    return make_invocation(context, options, session, err);
}

void cordon_cli_session_clear(cordon_cli_session *session)
{
    cordon_cli_secrets_clear(&session->secrets);
    cordon_invocation_free(session->invocation);
    for (size_t i = 0; i < CORDON_STEPS_MAX; i++)
        cordon_command_free(session->commands[i]);
    cordon_policy_free(session->policy);
    cordon_engine_free(session->engine);
    cordon_config_free(session->config);
    cordon_buf_clear(&session->prompt);
    *session = (cordon_cli_session){0};
}

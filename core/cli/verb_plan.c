/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon plan`: what `run` would create, check and allow. Asks the engine, changes nothing. */
#include "cli.h"
#include "outline.h"
#include "output.h"
#include "report.h"
#include "session.h"

#define TEXT_MAX_BYTES (8U << 20)

static const cordon_cli_option plan_options[] = {
    CORDON_CLI_ROW_VENDOR,
    CORDON_CLI_ROW_PHASE,
    CORDON_CLI_ROW_WORKTREE,
    CORDON_CLI_ROW_PROMPT,
    CORDON_CLI_ROW_PROMPT_FILE,
    CORDON_CLI_ROW_MODEL,
    CORDON_CLI_ROW_APPROVE,
    CORDON_CLI_ROW_IMAGE,
    CORDON_CLI_ROW_SECRET,
    CORDON_CLI_ROW_DEADLINE,
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_DEBUG,
};

static int print_plan(const cordon_cli_context *context, const cordon_cli_options *options,
                      cordon_err *err)
{
    cordon_auto(cordon_cli_session) session = {0};
    cordon_autofree char *json = NULL;
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    if (options->argv && options->argc == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--: no command follows; write it after \"--\", or leave both out to "
                           "plan the probe");
    if (cordon_cli_session_open(context, options, &session, err) != 0 ||
        cordon_invocation_plan_json(session.invocation, session.commands[0], &json, err) != 0 ||
        (options->json ? cordon_cli_outline_or_json(json, true, &out, err)
                       : cordon_cli_outline_folded(json, "checks", &out, err)) != 0)
        return -1;
    return cordon_cli_print(context->signal_fd, &out, err);
}

static int plan_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    if (print_plan(context, options, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return CORDON_CLI_OK;
}

const cordon_cli_verb cordon_cli_verb_plan = {
    .name = "plan",
    .operands = "[-- COMMAND [ARGUMENT...]]",
    .summary = "show what `run` would create, check and allow; touches nothing",
    .about =
        "Resolves configuration, engine, image and worktree exactly as `cordon run` does and\n"
        "prints the plan that a run would be held to. Without a command it is the plan of\n"
        "`cordon probe`. Nothing is created and nothing is changed. What each run has of its own\n"
        "stands as *, and addresses are examples, so that two plans can be compared by diff.\n",
    .takes = CORDON_CLI_TAKES_ARGV,
    .options = plan_options,
    .option_count = CORDON_CLI_COUNT(plan_options),
    .run = plan_verb,
};

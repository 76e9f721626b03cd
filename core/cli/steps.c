/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the steps of a run; see steps.h. */
#include "steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "kit/jsonr.h"
#include "prompt.h"

/* Most words of one step's command. */
#define STEP_WORDS_MAX 256

/* What the reader says of the text is the user's to correct, in the file that is named. */
static int steps_wrong(const cordon_cli_options *options, cordon_err *err)
{
    cordon_err why = *err;
    if (why.code == CORDON_ERR_PROTOCOL) {
        *err = (cordon_err)CORDON_ERR_INIT;
        cordon_err_set(err, CORDON_ERR_CONFIG, 0, "%s; correct the file", why.message);
    }
    cordon_err_wrap(err, "--steps: %s", CORDON_QUOTE(options->steps));
    return -1;
}

/* "-" may be a person who types: no deadline. */
static int read_text(const cordon_cli_context *context, const cordon_cli_options *options,
                     cordon_buf *ret_text, cordon_err *err)
{
    char what[CORDON_QUOTE_MAX + 32];
    bool typed = strcmp(options->steps, "-") == 0;
    cordon_autoclose int fd = typed ? -1 : cordon_cli_input_open(options->steps);
    (void)snprintf(what, sizeof what, "--steps: %s", CORDON_QUOTE(options->steps));
    if (!typed && fd < 0) {
        (void)CORDON_FAIL_ERRNO(err, errno, "%s", what);
        err->code = CORDON_ERR_CONFIG;
        return -1;
    }
    return cordon_cli_input_read(
        typed ? STDIN_FILENO : fd,
        cordon_cli_input_deadline(typed ? 0 : options->deadline_ms, context->signal_fd), what,
        CORDON_CLI_PROMPT_ROOM, ret_text, err);
}

int cordon_cli_steps_read(const cordon_cli_context *context, const cordon_cli_options *options,
                          cordon_buf *ret_text, cordon_err *err)
{
    if (cordon_cli_has_prompt(options) || options->argv)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--steps: the file holds all prompts and commands; leave --prompt, "
                           "--prompt-file, - and \"--\" out");
    if (options->approve)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--approve: approves what stands after \"--\"; put the commands of a "
                           "--steps file into runner.approved of the configuration");
    if (read_text(context, options, ret_text, err) != 0)
        return -1;
    if (ret_text->length > CORDON_PROMPT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--steps: %s: more than %d bytes; put what is long into files of the "
                           "worktree",
                           CORDON_QUOTE(options->steps), CORDON_PROMPT_MAX);
    return 0;
}

static int step_shape(cordon_json at, cordon_err *err)
{
    return cordon_json_fail(at, err,
                            "a step is {\"prompt\": TEXT}, with \"resume\": true if the session of "
                            "the prompt before goes on, or {\"run\": [WORD, ...]}; nothing else");
}

/* What one step is read with, and whether an agent's step came before it. */
typedef struct step_maker {
    const cordon_cli_options *options;
    cordon_cli_session *session;
    bool asked;
} step_maker;

static int make_agent(cordon_json at, step_maker *maker, cordon_command **ret_command,
                      cordon_err *err)
{
    const cordon_cli_session *session = maker->session;
    cordon_json_string prompt = {0};
    cordon_json_bool resume = {0};
    if (cordon_json_get_string(at, "prompt", &prompt, err) != 0 ||
        cordon_json_get_bool(at, "resume", &resume, err) != 0)
        return -1;
    if (cordon_json_count(at) != (resume.has == CORDON_JSON_PRESENT ? 2 : 1))
        return step_shape(at, err);
    if (resume.value && !maker->asked)
        return cordon_json_fail(at, err,
                                "resume: no prompt comes before it whose session could go on; "
                                "leave resume out");
    maker->asked = true;
    cordon_agent_options wanted = {
        .model = maker->options->model,
        .prompt = prompt.text,
        .prompt_length = prompt.length,
        .resume = resume.value,
    };
    return cordon_command_agent(session->policy, &wanted, ret_command, err);
}

static int make_runner(cordon_json list, cordon_cli_session *session, cordon_command **ret_command,
                       cordon_err *err)
{
    const char *argv[STEP_WORDS_MAX];
    size_t argc = 0;
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        cordon_json_string word = {0};
        if (cordon_json_as_string(it.value, &word, err) != 0)
            return -1;
        if (word.has != CORDON_JSON_PRESENT || strlen(word.text) != word.length)
            return cordon_json_fail(it.value, err, "a word of a command is a text without NUL");
        if (argc == STEP_WORDS_MAX)
            return cordon_json_fail(list, err, "more than %d words", STEP_WORDS_MAX);
        argv[argc++] = word.text;
    }
    if (argc == 0)
        return cordon_json_fail(list, err, "a command needs a word at least");
    return cordon_command_runner(session->policy, argv, argc, ret_command, err);
}

/* Which of the two kinds a step is, its members say. */
static int make_step(cordon_json at, step_maker *maker, cordon_command **ret_command,
                     cordon_err *err)
{
    cordon_json_place object = {0};
    cordon_json_place run = {0};
    cordon_json_place prompt = {0};
    if (cordon_json_as_object(at, &object, err) != 0)
        return -1;
    if (object.has != CORDON_JSON_PRESENT)
        return step_shape(at, err);
    if (cordon_json_get_any(at, "prompt", &prompt, err) != 0)
        return -1;
    if (prompt.has == CORDON_JSON_PRESENT)
        return make_agent(at, maker, ret_command, err);
    if (cordon_json_count(at) != 1 || cordon_json_get_array(at, "run", &run, err) != 0)
        return err->code != 0 ? -1 : step_shape(at, err);
    if (run.has != CORDON_JSON_PRESENT)
        return step_shape(at, err);
    return make_runner(run.value, maker->session, ret_command, err);
}

int cordon_cli_steps_make(const cordon_cli_options *options, cordon_cli_session *session,
                          cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place list = {0};
    step_maker maker = {.options = options, .session = session};
    if (cordon_json_parse(session->prompt.data, session->prompt.length, CORDON_PROMPT_MAX, 0, &doc,
                          err) != 0 ||
        cordon_json_as_array(cordon_json_root(doc), &list, err) != 0)
        return steps_wrong(options, err);
    size_t count = cordon_json_count(cordon_json_root(doc));
    if (count < 1 || count > CORDON_STEPS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--steps: %s: %zu steps, and there may be 1 to %d; correct the file",
                           CORDON_QUOTE(options->steps), count, CORDON_STEPS_MAX);
    for (cordon_json_iter it = cordon_json_iterate(list.value); cordon_json_next(&it);) {
        if (make_step(it.value, &maker, &session->commands[session->command_count], err) != 0) {
            cordon_err_wrap(err, "step %zu", session->command_count + 1);
            return steps_wrong(options, err);
        }
        session->command_count++;
    }
    return 0;
}

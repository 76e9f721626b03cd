/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `cordon` command: prepares the process (descriptors, signals, surroundings), finds the verb
 * (verbs.c) and hands over.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "host.h"
#include "kit/near.h"
#include "output.h"
#include "report.h"
#include "signals.h"

static int usage(cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, "usage: cordon VERB [OPTIONS]\n\n", err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (cordon_buf_printf(out, err, "  %-8s  %s\n", cordon_cli_verbs[i]->name,
                              cordon_cli_verbs[i]->summary) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "\n\"cordon VERB --help\" shows the options of a verb.\n",
                                  err);
}

/* The text for one verb, or the list of verbs. */
static int help(const cordon_cli_context *context, const cordon_cli_verb *verb)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    int rc = verb ? cordon_cli_options_help(verb, &out, &err) : usage(&out, &err);
    if (rc != 0 || cordon_cli_print(context->signal_fd, &out, &err) != 0)
        return cordon_cli_report_error(context, NULL, &err);
    return CORDON_CLI_OK;
}

static int wrong_verb(const cordon_cli_context *context, const char *word)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_near near = {.word = word};
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_near_look(&near, "help");
    for (size_t i = 0; cordon_cli_verbs[i]; i++)
        cordon_near_look(&near, cordon_cli_verbs[i]->name);
    if (word[0] == '-')
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0,
                       "%s: options come after the verb: cordon VERB %s ...; see \"cordon help\"",
                       CORDON_QUOTE(word), CORDON_QUOTE(word));
    else
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0, "%s: unknown verb%s \"cordon help\"",
                       CORDON_QUOTE(word), cordon_near_hint(&near, "see", hint));
    return cordon_cli_report_error(context, NULL, &err);
}

static int run_verb(cordon_cli_context *context, const cordon_cli_verb *verb, int argc,
                    const char *const *argv)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    context->verb = verb;
    if (cordon_cli_options_parse(verb, argc, argv, &options, &err) == 0)
        return options.help ? help(context, verb) : verb->run(context, &options);
    if (verb->refused)
        return verb->refused(context, &options, &err);
    return cordon_cli_report_failure(context, &options, &err);
}

static int dispatch(cordon_cli_context *context, int argc, const char *const *argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_err_set(&err, CORDON_ERR_CONFIG, 0, "no verb; see \"cordon help\"");
        return cordon_cli_report_error(context, NULL, &err);
    }
    if (strcmp(word, "--version") == 0)
        word = "version";
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        const cordon_cli_verb *verb = argc > 2 ? cordon_cli_verb_find(argv[2]) : NULL;
        return argc > 2 && !verb ? wrong_verb(context, argv[2]) : help(context, verb);
    }
    const cordon_cli_verb *verb = cordon_cli_verb_find(word);
    return verb ? run_verb(context, verb, argc - 2, argv + 2) : wrong_verb(context, word);
}

/*
 * SECURITY: with 0, 1 or 2 closed, the next file that is opened - a socket of the engine - would
 * become standard output. Wrong direction on purpose: using them is an error, not silence.
 */
static void keep_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv)
{
    cordon_cli_context context = {.signal_fd = -1};
    cordon_cli_host host = {0};
    cordon_err err = CORDON_ERR_INIT;
    keep_standard_descriptors();
    int status = CORDON_CLI_ERROR;
    if (cordon_cli_signals_open(&context.signal_fd, &err) != 0 ||
        cordon_cli_host_init(&host, &err) != 0) {
        cordon_cli_complain("cordon: %s", err.message);
    } else {
        context.host = host.host;
        status = dispatch(&context, argc, (const char *const *)argv);
    }
    cordon_cli_host_clear(&host);
    if (context.signal_fd >= 0)
        (void)close(context.signal_fd);
    return status;
}

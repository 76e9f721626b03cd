/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, receipts and progress as single lines on standard error. */
#include "report.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit/deadline.h"
#include "kit/jsonw.h"
#include "output.h"
#include "signals.h"

/* What a shell says of a process that a signal ended. */
#define STATUS_OF_SIGNAL(number) (128 + (number))

/* The signal that cancelled it, 0 for none. Takes it: to be asked once. */
static int signal_of(const cordon_cli_context *context, const cordon_result *result)
{
    return result->kind == CORDON_RESULT_CANCELLED ? cordon_cli_signals_take(context->signal_fd)
                                                   : 0;
}

static int final_status(int caught, const cordon_result *result)
{
    return caught > 0 ? STATUS_OF_SIGNAL(caught) : result->status;
}

/* The receipt of a failure knows the status; without memory for one it is an error of Cordon. */
static int status_of_error(const cordon_cli_context *context, const cordon_err *failure)
{
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_receipt *receipt = NULL;
    if (cordon_receipt_new_failed(failure, NULL, NULL, &receipt, &ignored) != 0)
        return CORDON_CLI_ERROR;
    cordon_result result = {0};
    cordon_receipt_result(receipt, &result);
    int status = final_status(signal_of(context, &result), &result);
    cordon_receipt_free(receipt);
    return status;
}

int cordon_cli_report_error(const cordon_cli_context *context, const cordon_cli_options *options,
                            const cordon_err *failure)
{
    const char *verb = context->verb ? context->verb->name : NULL;
    char debug[96] = "";
    if (options && options->debug)
        (void)snprintf(debug, sizeof debug, " [%s, errno %d, HTTP %d]",
                       cordon_code_name(failure->code), failure->errnum, failure->http);
    cordon_cli_complain("cordon%s%s: %s%s%s", verb ? " " : "", verb ? verb : "",
                        failure->code == CORDON_ERR_REFUSED ? "refused: " : "", failure->message,
                        debug);
    return status_of_error(context, failure);
}

static int print_error_json(const cordon_cli_context *context, const cordon_err *failure,
                            cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make((size_t)8 * CORDON_ERR_MESSAGE_MAX);
    cordon_jsonw json;
    cordon_jsonw_init(&json, &out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_begin_object(&json, "error");
    cordon_jsonw_string(&json, "code", cordon_code_name(failure->code));
    cordon_jsonw_string(&json, "message", failure->message);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0 || cordon_buf_append_char(&out, '\n', err) != 0)
        return -1;
    return cordon_cli_print(context->signal_fd, &out, err);
}

int cordon_cli_report_failure(const cordon_cli_context *context, const cordon_cli_options *options,
                              const cordon_err *failure)
{
    cordon_err err = CORDON_ERR_INIT;
    if (options && options->json && print_error_json(context, failure, &err) != 0)
        (void)cordon_cli_report_error(context, options, &err);
    return cordon_cli_report_error(context, options, failure);
}

/* "INT" and its kin, for the three that are caught. */
static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "a signal";
}

/* The library's message has all of it; without one the refusal's parts say it. */
static void complain_result(const cordon_cli_context *context, const cordon_result *result)
{
    const char *name = context->verb->name;
    const char *expected = result->refusal_expected ? result->refusal_expected : "nothing";
    const char *actual = result->refusal_actual ? result->refusal_actual : "nothing";
    if (result->message)
        cordon_cli_complain("cordon %s: %s: %s", name, result->kind_name, result->message);
    else if (result->refusal_fact)
        cordon_cli_complain("cordon %s: %s: %s: %s: expected %s, found %s", name, result->kind_name,
                            result->refusal_code, result->refusal_fact, expected, actual);
    else
        cordon_cli_complain("cordon %s: %s", name, result->kind_name);
}

int cordon_cli_report_receipt(const cordon_cli_context *context, const cordon_cli_options *options,
                              const cordon_receipt *receipt)
{
    (void)options;
    cordon_result result = {0};
    cordon_receipt_result(receipt, &result);
    int caught = signal_of(context, &result);
    if (caught > 0)
        cordon_cli_complain("cordon %s: cancelled by %s%s", context->verb->name,
                            signal_name(caught),
                            result.cleanup_complete ? "; everything is removed" : "");
    else if (result.kind != CORDON_RESULT_EXITED && result.kind != CORDON_RESULT_OOM)
        complain_result(context, &result);
    cordon_leftover left = {0};
    for (size_t i = 0; cordon_receipt_leftover(receipt, i, &left); i++)
        cordon_cli_complain("cordon %s: left behind: %s %s: %s; remove it by this id",
                            context->verb->name, left.type, left.id,
                            left.reason ? left.reason : "no reason known");
    if (!result.cleanup_complete && !cordon_receipt_leftover(receipt, 0, &left))
        cordon_cli_complain("cordon %s: the cleanup could not be verified", context->verb->name);
    return final_status(caught, &result);
}

cordon_cli_progress cordon_cli_progress_make(const cordon_cli_options *options)
{
    bool terminal = isatty(STDERR_FILENO) == 1;
    return (cordon_cli_progress){
        .wanted = options->debug || (terminal && !options->quiet),
        .times = options->debug,
        .start_ns = cordon_now_ns(),
    };
}

void cordon_cli_progress_line(void *context, const char *word, const char *text)
{
    const cordon_cli_progress *progress = context;
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (!progress->wanted || poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
        return;
    long long ms = (cordon_now_ns() - progress->start_ns) / CORDON_NS_PER_MS;
    if (progress->times)
        cordon_cli_complain("cordon: %6lld ms  %s: %s", ms, word, text);
    else
        cordon_cli_complain("cordon: %s: %s", word, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon config`: the effective configuration, and the files that it is read from. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kit/jsonw.h"
#include "outline.h"
#include "output.h"
#include "report.h"

#define TEXT_MAX_BYTES (1U << 20)

static const cordon_cli_option config_options[] = {
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_DEBUG,
};

static const char *const config_words[] = {"show", "path", NULL};

static int show(const cordon_cli_context *context, const cordon_cli_options *options,
                cordon_buf *out, cordon_err *err)
{
    cordon_config *config = NULL;
    cordon_autofree char *json = NULL;
    if (cordon_configure(&context->host, options->config, NULL, &config, err) != 0)
        return -1;
    int rc = cordon_config_json(config, &json, err);
    cordon_config_free(config);
    return rc == 0 ? cordon_cli_outline_or_json(json, options->json, out, err) : -1;
}

static const char *state_of(const char *file)
{
    if (access(file, F_OK) == 0)
        return "found";
    return errno == ENOENT || errno == ENOTDIR ? "absent" : "unreadable";
}

typedef struct config_file {
    const char *source;
    const char *path;
} config_file;

static void write_paths(cordon_jsonw *json, const config_file *files, size_t count)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_begin_array(json, "files");
    for (size_t i = 0; i < count; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "source", files[i].source);
        cordon_jsonw_string(json, "path", files[i].path);
        cordon_jsonw_string(json, "state", state_of(files[i].path));
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
    cordon_jsonw_end_object(json);
}

static int print_paths(const config_file *files, size_t count, cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cordon_buf_printf(out, err, "%-8s  %-10s  %s\n", files[i].source,
                              state_of(files[i].path), files[i].path) != 0)
            return -1;
    }
    return 0;
}

/* The files in the order in which they are read; a later one wins, key by key. */
static int paths(const cordon_cli_context *context, const cordon_cli_options *options,
                 cordon_buf *out, cordon_err *err)
{
    const config_file all[] = {{"system", context->host.system_config},
                               {"user", context->host.user_config},
                               {"--config", options->config}};
    config_file files[CORDON_CLI_COUNT(all)];
    size_t count = 0;
    for (size_t i = 0; i < CORDON_CLI_COUNT(all); i++) {
        if (all[i].path)
            files[count++] = all[i];
    }
    if (!options->json)
        return print_paths(files, count, out, err);
    cordon_jsonw json;
    cordon_jsonw_init(&json, out);
    write_paths(&json, files, count);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

static int print_config(const cordon_cli_context *context, const cordon_cli_options *options,
                        cordon_err *err)
{
    const char *word = options->word ? options->word : "show";
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    int rc = -1;
    if (strcmp(word, "show") == 0)
        rc = show(context, options, &out, err);
    else if (strcmp(word, "path") == 0)
        rc = paths(context, options, &out, err);
    else
        cordon_cli_options_unknown_word(&cordon_cli_verb_config, word, err);
    return rc == 0 ? cordon_cli_print(context->signal_fd, &out, err) : -1;
}

static int config_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    if (print_config(context, options, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return CORDON_CLI_OK;
}

const cordon_cli_verb cordon_cli_verb_config = {
    .name = "config",
    .operands = "[show|path]",
    .summary = "show the effective configuration, or the files that it is read from",
    .about = "show (default) prints every key with the value that is in force; path lists the\n"
             "files in the order in which they are read. A worktree's files are never read.\n",
    .takes = CORDON_CLI_TAKES_WORD,
    .words = config_words,
    .options = config_options,
    .option_count = CORDON_CLI_COUNT(config_options),
    .run = config_verb,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon image`: the images of steps - making, pinning, showing and removing them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cordon/image.h"
#include "hints.h"
#include "host.h"
#include "kit/jsonw.h"
#include "output.h"
#include "report.h"
#include "session.h"

#define TEXT_MAX_BYTES (1U << 20)
/* Building fetches hundreds of megabytes; the rest asks an engine a few things. */
#define BUILD_MS     INT64_C(1800000)
#define CALL_MS      INT64_C(120000)
#define VERSION_ROOM 64

static const cordon_cli_option image_options[] = {
    CORDON_CLI_OPTION("--from", "FILE", CORDON_CLI_NAME, from,
                      "build: take the image's root from this tar, not from the recipe"),
    CORDON_CLI_OPTION("--unused", NULL, CORDON_CLI_FLAG, unused,
                      "rm: the guards and step images that no pin and no present Cordon needs"),
    CORDON_CLI_OPTION("--deadline", "TIME", CORDON_CLI_DURATION, deadline_ms,
                      "such as 30s or 10m; default: 30m to build, 2m for the rest"),
    CORDON_CLI_ROW_ENGINE,
    CORDON_CLI_ROW_CONFIG,
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_QUIET,
    CORDON_CLI_ROW_DEBUG,
};

/* One call of the verb. */
typedef struct image_call {
    const cordon_cli_context *context;
    const cordon_cli_options *options;
    cordon_config *config;
    cordon_engine *engine;
} image_call;

static void image_call_clear(image_call *call)
{
    cordon_engine_free(call->engine);
    cordon_config_free(call->config);
}

static int64_t budget(const image_call *call, int64_t otherwise)
{
    return call->options->deadline_ms > 0 ? call->options->deadline_ms : otherwise;
}

static int open_engine(image_call *call, cordon_err *err)
{
    const cordon_cli_options *options = call->options;
    if (cordon_configure(&call->context->host, options->config, NULL, &call->config, err) != 0)
        return -1;
    return cordon_engine_open(call->config, &call->context->host, options->engine,
                              CORDON_CLI_OPEN_MS, call->context->signal_fd, &call->engine, err);
}

/* --- Showing -------------------------------------------------------------------------------- */

static void write_known(cordon_jsonw *json, const char *key, const char *text)
{
    cordon_jsonw_string_or_null(json, key, text[0] ? text : NULL);
}

static void write_image(cordon_jsonw *json, const char *key, const cordon_image *image)
{
    cordon_jsonw_begin_object(json, key);
    write_known(json, "id", image->id);
    write_known(json, "kind", image->kind);
    write_known(json, "name", image->name);
    write_known(json, "pinned_by", image->pinned_by);
    write_known(json, "pin", image->pin);
    write_known(json, "cli", image->cli);
    write_known(json, "version", image->version);
    write_known(json, "recipe", image->recipe);
    write_known(json, "tag", image->tag);
    if (image->size_bytes >= 0)
        cordon_jsonw_i64(json, "size_bytes", image->size_bytes);
    else
        cordon_jsonw_null(json, "size_bytes");
    cordon_jsonw_bool(json, "present", image->present);
    cordon_jsonw_bool(json, "made", image->made);
    cordon_jsonw_bool(json, "current", image->current);
    cordon_jsonw_end_object(json);
}

/* {"image":1,"done":WORD,"images":[...]} */
static int print_json(const image_call *call, const char *done, const cordon_image *images,
                      size_t count, cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    cordon_jsonw json;
    cordon_jsonw_init(&json, &out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "image", 1);
    cordon_jsonw_string(&json, "done", done);
    cordon_jsonw_begin_array(&json, "images");
    for (size_t i = 0; i < count; i++)
        write_image(&json, NULL, &images[i]);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0 || cordon_buf_append_char(&out, '\n', err) != 0)
        return -1;
    return cordon_cli_print(call->context->signal_fd, &out, err);
}

static int print_line(const image_call *call, cordon_buf *line, cordon_err *err)
{
    return cordon_buf_append_char(line, '\n', err) != 0
               ? -1
               : cordon_cli_print(call->context->signal_fd, line, err);
}

/* --- ls ------------------------------------------------------------------------------------- */

#define ROW_COLUMNS 6

/* Texts of one line of the table. */
typedef struct image_row {
    char what[64];
    char size[24];
    char state[64];
    const char *cells[ROW_COLUMNS];
} image_row;

static const char *state_of(const cordon_image *image)
{
    if (!image->present)
        return "not there";
    if (image->name[0])
        return strcmp(image->pinned_by, "lock") == 0 ? "pinned" : "pinned by configuration";
    if (strcmp(image->kind, "agent") == 0)
        return "not pinned";
    return image->current ? "current" : "unused";
}

static void fill_row(const cordon_image *image, image_row *row)
{
    const char *kind = image->kind[0] ? image->kind : "unknown";
    (void)snprintf(row->what, sizeof row->what, "%s%s%s", image->cli[0] ? image->cli : kind,
                   image->version[0] ? " " : "", image->version);
    if (image->size_bytes >= 0)
        (void)snprintf(row->size, sizeof row->size, "%lld MB",
                       (long long)(image->size_bytes + 500000) / 1000000);
    row->cells[0] = image->name[0] ? image->name : "-";
    row->cells[1] = row->what;
    row->cells[2] = state_of(image);
    row->cells[3] = !image->present ? "-" : image->made ? "cordon" : "foreign";
    row->cells[4] = row->size[0] ? row->size : "-";
    row->cells[5] = image->id[0] ? image->id : image->pin;
}

static int print_table(const image_call *call, const cordon_image *images, size_t count,
                       cordon_err *err)
{
    static const char *const head[] = {"NAME", "WHAT", "STATE", "MADE BY", "SIZE", "ID"};
    cordon_cli_table table = {.columns = ROW_COLUMNS};
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    cordon_cli_table_measure(&table, head);
    for (size_t i = 0; i < count; i++) {
        image_row row = {0};
        fill_row(&images[i], &row);
        cordon_cli_table_measure(&table, row.cells);
    }
    if (cordon_cli_table_row(&table, head, &out, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        image_row row = {0};
        fill_row(&images[i], &row);
        if (cordon_cli_table_row(&table, row.cells, &out, err) != 0)
            return -1;
    }
    return cordon_cli_print(call->context->signal_fd, &out, err);
}

static int list(image_call *call, cordon_err *err)
{
    cordon_image *images = NULL;
    size_t count = 0;
    if (open_engine(call, err) != 0 ||
        cordon_images_list(call->engine, call->config, budget(call, CALL_MS),
                           call->context->signal_fd, &images, &count, err) != 0)
        return -1;
    int rc = call->options->json ? print_json(call, "ls", images, count, err)
                                 : print_table(call, images, count, err);
    cordon_images_free(images);
    return rc;
}

/* --- build ---------------------------------------------------------------------------------- */

/* What npm, and whatever fetches for it, may be told by the environment. */
static const char *const recipe_variables[] = {"npm_config_",     "http_proxy=",    "https_proxy=",
                                               "no_proxy=",       "all_proxy=",     "ssl_cert_",
                                               "XDG_CACHE_HOME=", "NODE_EXTRA_CA_", NULL};

/* "claude@2.1.332" in two; version is NULL without one. */
static int split_version(const char *operand, char *cli, size_t size, const char **ret_version,
                         cordon_err *err)
{
    const char *at = strchr(operand, '@');
    size_t length = at ? (size_t)(at - operand) : strlen(operand);
    if (length >= size)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: no CLI that Cordon knows; use claude or codex",
                           CORDON_QUOTE(operand));
    memcpy(cli, operand, length);
    cli[length] = '\0';
    *ret_version = at ? at + 1 : NULL;
    return 0;
}

static int build_image(image_call *call, cordon_image *image, cordon_err *err)
{
    cordon_cli_progress progress = cordon_cli_progress_make(call->options);
    char cli[VERSION_ROOM];
    cordon_autofree const char **environment = cordon_cli_host_variables(recipe_variables);
    cordon_image_build_options wanted = {
        .cli = cli,
        .from = call->options->from,
        .environment = environment,
        .log_fd = call->options->quiet ? -1 : STDERR_FILENO,
        .cancel_fd = call->context->signal_fd,
        .budget_ms = budget(call, BUILD_MS),
        .progress = cordon_cli_progress_line,
        .progress_context = &progress,
    };
    if (!environment)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (split_version(call->options->operand, cli, sizeof cli, &wanted.version, err) != 0 ||
        open_engine(call, err) != 0)
        return -1;
    return cordon_image_build(call->engine, call->config, &call->context->host, &wanted, image,
                              err);
}

static int build(image_call *call, cordon_err *err)
{
    cordon_image image = {0};
    cordon_auto(cordon_buf) line = cordon_buf_make(TEXT_MAX_BYTES);
    if (build_image(call, &image, err) != 0)
        return -1;
    if (call->options->json)
        return print_json(call, "build", &image, 1, err);
    if (cordon_buf_printf(&line, err, "%s %s  %s\npin it: cordon image pin %s=%s", image.cli,
                          image.version, image.id, image.cli, image.id) != 0)
        return -1;
    return print_line(call, &line, err);
}

/* --- pin ------------------------------------------------------------------------------------ */

static int pin(image_call *call, cordon_err *err)
{
    cordon_image image = {0};
    cordon_auto(cordon_buf) line = cordon_buf_make(TEXT_MAX_BYTES);
    char name[VERSION_ROOM];
    const char *equals = strchr(call->options->operand, '=');
    size_t length = equals ? (size_t)(equals - call->options->operand) : sizeof name;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                   call->options->operand);
    if (equals && equals[1] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: no image behind the =; leave it out or give one",
                           CORDON_QUOTE(call->options->operand));
    if (open_engine(call, err) != 0 ||
        cordon_image_pin(call->engine, call->config, name, equals ? equals + 1 : NULL,
                         budget(call, CALL_MS), call->context->signal_fd, &image, err) != 0)
        return -1;
    if (call->options->json)
        return print_json(call, "pin", &image, 1, err);
    if (cordon_buf_printf(&line, err, "%s is pinned to %s%s%s%s%s", name, image.id,
                          image.cli[0] ? " (" : "", image.cli, image.cli[0] ? " " : "",
                          image.version) != 0 ||
        (image.cli[0] && cordon_buf_append_char(&line, ')', err) != 0))
        return -1;
    return print_line(call, &line, err);
}

/* --- rm ------------------------------------------------------------------------------------- */

static const char *removed_text(const cordon_image *image)
{
    if (!image->present)
        return "removed";
    return image->made ? "left: in use"
                       : "not pinned any more; the image is not Cordon's and is left";
}

static int print_removed(const image_call *call, const cordon_image *images, size_t count,
                         cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    if (call->options->json)
        return print_json(call, "rm", images, count, err);
    for (size_t i = 0; i < count; i++) {
        if (cordon_buf_printf(&out, err, "%s%s%s: %s\n", images[i].name,
                              images[i].name[0] ? " " : "", images[i].id,
                              removed_text(&images[i])) != 0)
            return -1;
    }
    if (count == 0 && cordon_buf_append_text(&out, "nothing to remove\n", err) != 0)
        return -1;
    return cordon_cli_print(call->context->signal_fd, &out, err);
}

static int remove_unused(image_call *call, cordon_err *err)
{
    cordon_image *images = NULL;
    size_t count = 0;
    if (open_engine(call, err) != 0 ||
        cordon_images_remove_unused(call->engine, call->config, budget(call, CALL_MS),
                                    call->context->signal_fd, &images, &count, err) != 0)
        return -1;
    int rc = print_removed(call, images, count, err);
    cordon_images_free(images);
    return rc;
}

static int remove_image(image_call *call, cordon_err *err)
{
    cordon_image image = {0};
    if (call->options->unused)
        return remove_unused(call, err);
    if (open_engine(call, err) != 0 ||
        cordon_image_remove(call->engine, call->config, call->options->operand,
                            budget(call, CALL_MS), call->context->signal_fd, &image, err) != 0)
        return -1;
    return print_removed(call, &image, 1, err);
}

/* --- The verb ------------------------------------------------------------------------------- */

/* operand: "" when there must be none, else what help calls it. */
typedef struct image_word {
    const char *word;
    const char *operand;
    int (*run)(image_call *call, cordon_err *err);
} image_word;

static const image_word words[] = {
    {"build", "CLI[@VERSION]", build},
    {"pin", "NAME[=IMAGE]", pin},
    {"ls", "", list},
    {"rm", "NAME|ID", remove_image},
};

static const char *const image_words[] = {"build", "pin", "ls", "rm", NULL};

static const image_word *find_word(const char *word, cordon_err *err)
{
    for (size_t i = 0; word && i < CORDON_CLI_COUNT(words); i++) {
        if (strcmp(words[i].word, word) == 0)
            return &words[i];
    }
    if (word)
        cordon_cli_options_unknown_word(&cordon_cli_verb_image, word, err);
    else
        cordon_err_set(err, CORDON_ERR_CONFIG, 0, "image: what about it; use build, pin, ls or rm");
    return NULL;
}

/* Each option and the operand where they mean something, and nowhere else. */
static int check_words(const image_word *word, const cordon_cli_options *options, cordon_err *err)
{
    bool removes = strcmp(word->word, "rm") == 0;
    bool needs = word->operand[0] && !(removes && options->unused);
    if (options->from && strcmp(word->word, "build") != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "--from: only build takes it; leave it out");
    if (options->unused && !removes)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "--unused: only rm takes it; leave it out");
    if (!needs && options->operand)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: unexpected word; leave it out",
                           CORDON_QUOTE(options->operand));
    if (needs && !options->operand)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: its %s is missing; write cordon image %s %s", word->word,
                           word->operand, word->word, word->operand);
    return 0;
}

static int image_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_cleanup(image_call_clear) image_call call = {.context = context, .options = options};
    cordon_err err = CORDON_ERR_INIT;
    const image_word *word = find_word(options->word, &err);
    if (!word || check_words(word, options, &err) != 0 || word->run(&call, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return CORDON_CLI_OK;
}

const cordon_cli_verb cordon_cli_verb_image = {
    .name = "image",
    .operands = "build CLI[@VERSION] | pin NAME[=IMAGE] | ls | rm NAME|ID",
    .summary = "make, pin, show and remove the images of steps",
    .about =
        "build  make the image of an agent's CLI (claude, codex) by the recipes, or of a tar\n"
        "       (--from FILE), put it into the engine and print its id\n"
        "pin    write into the lock file which image claude, codex or runner means on this\n"
        "       engine; runs then take that one and refuse every other. Without IMAGE: the one\n"
        "       that build made\n"
        "ls     what is pinned, and what Cordon made, here\n"
        "rm     take a name out of the lock file, and its image if Cordon made it; or remove\n"
        "       an image that Cordon made, by its id; --unused: guards and step images of other\n"
        "       versions. A foreign image and one in use are never removed\n",
    .takes = CORDON_CLI_TAKES_WORDS,
    .words = image_words,
    .options = image_options,
    .option_count = CORDON_CLI_COUNT(image_options),
    .run = image_verb,
};

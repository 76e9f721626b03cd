/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon explain`: what a word of a receipt or a refusal means, and what to do. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cordon/explain.h"
#include "kit/jsonw.h"
#include "kit/near.h"
#include "output.h"
#include "report.h"

#define TEXT_MAX_BYTES (1U << 20)

/* Text stands from this column on, and lines end before that one. */
#define TEXT_COLUMN 8
#define LINE_END    80

static const cordon_cli_option explain_options[] = {
    CORDON_CLI_ROW_JSON("one JSON object"),
    CORDON_CLI_ROW_DEBUG,
};

/* "means   text", the text wrapped between words and set in. */
static int put_text(const char *label, const char *text, cordon_buf *out, cordon_err *err)
{
    size_t column = TEXT_COLUMN;
    if (cordon_buf_printf(out, err, "  %-*s", TEXT_COLUMN - 2, label) != 0)
        return -1;
    while (*text) {
        size_t length = strcspn(text, " ");
        bool wraps = column > TEXT_COLUMN && column + 1 + length >= LINE_END;
        if (wraps && cordon_buf_printf(out, err, "\n%*s", TEXT_COLUMN - 1, "") != 0)
            return -1;
        column = (wraps ? TEXT_COLUMN : column + 1) + length;
        if (cordon_buf_printf(out, err, " %.*s", (int)length, text) != 0)
            return -1;
        text += length + strspn(text + length, " ");
    }
    return cordon_buf_append_char(out, '\n', err);
}

static int put_human(const cordon_explanation *what, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_printf(out, err, "%s%s (%s)\n", out->length > 0 ? "\n" : "", what->name,
                          what->kind) != 0 ||
        put_text("means", what->means, out, err) != 0 ||
        put_text("stops", what->stops, out, err) != 0)
        return -1;
    return put_text("do", what->next, out, err);
}

static void put_json(const cordon_explanation *what, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "kind", what->kind);
    cordon_jsonw_string(json, "name", what->name);
    cordon_jsonw_string(json, "means", what->means);
    cordon_jsonw_string(json, "stops", what->stops);
    cordon_jsonw_string(json, "do", what->next);
    cordon_jsonw_end_object(json);
}

/* The next one about the word, or of all when there is none. */
static bool next(const char *word, size_t *index, cordon_explanation *ret_what)
{
    return word ? cordon_explain(word, index, ret_what)
                : cordon_explanation_at((*index)++, ret_what);
}

static int explain_json(const char *word, cordon_buf *out, cordon_err *err)
{
    cordon_explanation what;
    cordon_jsonw json;
    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "explain", 1);
    cordon_jsonw_string_or_null(&json, "word", word);
    cordon_jsonw_begin_array(&json, "entries");
    for (size_t index = 0; next(word, &index, &what);)
        put_json(&what, &json);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

static int explain_word(const char *word, cordon_buf *out, cordon_err *err)
{
    cordon_explanation what;
    for (size_t index = 0; next(word, &index, &what);) {
        if (put_human(&what, out, err) != 0)
            return -1;
    }
    return 0;
}

/* Without a word: what there is, a line each. */
static int explain_list(cordon_buf *out, cordon_err *err)
{
    cordon_explanation what;
    for (size_t index = 0; next(NULL, &index, &what);) {
        if (cordon_buf_printf(out, err, "%-6s  %-29s  %s\n", what.kind, what.name, what.means) != 0)
            return -1;
    }
    return 0;
}

/* What an object's facts are listed as. */
static const struct {
    const char *object;
    const char *listed;
} objects[] = {
    {"step.runtime.", "runtime."},   {"proxy.runtime.", "runtime."},
    {"keeper.runtime.", "runtime."}, {"step.", "container."},
    {"proxy.", "container."},        {"keeper.", "container."},
    {"vendor-network.", "network."}, {"egress-network.", "network."},
    {"scratch.", "volume."},
};

/* The word as it would stand in the list. */
static void as_listed(const char *word, char *ret_text, size_t size)
{
    const char *front = "";
    for (size_t i = 0; i < CORDON_CLI_COUNT(objects) && !front[0]; i++) {
        size_t length = strlen(objects[i].object);
        if (strncmp(objects[i].object, word, length) == 0) {
            front = objects[i].listed;
            word += length;
        }
    }
    (void)snprintf(ret_text, size, "%s%s", front, word);
}

/* A name is near as it is listed, and without what its family's names begin with. */
static int unknown(const char *word, cordon_err *err)
{
    static const char prefix[] = "CORDON_REFUSED_";
    char listed[CORDON_NEAR_MAX + 16];
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_explanation what;
    as_listed(word, listed, sizeof listed);
    cordon_near near = {.word = listed};
    for (size_t index = 0; next(NULL, &index, &what);) {
        const char *behind = strchr(what.name, '.');
        cordon_near_look(&near, what.name);
        if (strncmp(what.name, prefix, strlen(prefix)) == 0)
            cordon_near_look(&near, what.name + strlen(prefix));
        else if (behind && !strchr(listed, '.'))
            cordon_near_look(&near, behind + 1);
    }
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: neither a code nor a fact%s \"cordon explain\"",
                       CORDON_QUOTE(word), cordon_near_hint(&near, "see", hint));
}

static int print_explanation(const cordon_cli_context *context, const cordon_cli_options *options,
                             cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(TEXT_MAX_BYTES);
    const char *word = options->word;
    cordon_explanation what;
    size_t index = 0;
    if (word && !cordon_explain(word, &index, &what))
        return unknown(word, err);
    int rc = options->json ? explain_json(word, &out, err)
             : word        ? explain_word(word, &out, err)
                           : explain_list(&out, err);
    return rc == 0 ? cordon_cli_print(context->signal_fd, &out, err) : -1;
}

static int explain_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    if (print_explanation(context, options, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return CORDON_CLI_OK;
}

const cordon_cli_verb cordon_cli_verb_explain = {
    .name = "explain",
    .operands = "[CODE|FACT]",
    .summary = "what a code or fact of a refusal means, what it stops, what to do",
    .about = "Takes a word as it stands in a refusal or receipt: a code with or without\n"
             "CORDON_REFUSED_, a fact with or without its object (step.restart_policy,\n"
             "restart_policy), a kind of result, the code of an error. Several explanations are\n"
             "printed where a word has several meanings; without a word, a list of all.\n",
    .takes = CORDON_CLI_TAKES_WORD,
    .options = explain_options,
    .option_count = CORDON_CLI_COUNT(explain_options),
    .run = explain_verb,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a command line by its verb's table. Nothing is guessed: no abbreviations, no reordering
 * across "--", no second value for the same option.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "kit/near.h"
#include "kit/num.h"

/* As for limits.deadline of the configuration. */
#define DURATION_MAX_MS INT64_C(604800000)

/* One pass over the words; `seen` has a bit for each row of the table. */
typedef struct parse {
    const cordon_cli_verb *verb;
    const char *const *argv;
    int argc;
    int next;
    uint64_t seen;
    cordon_cli_options *options;
    cordon_err *err;
    int result;
} parse;

/* The first error wins; later ones are the consequence of it, or can wait for the next try. */
#define PARSE_FAIL(p, ...)                                                                         \
    do {                                                                                           \
        if ((p)->result == 0)                                                                      \
            (p)->result = CORDON_FAIL((p)->err, CORDON_ERR_CONFIG, __VA_ARGS__);                   \
    } while (0)

static void *field_of(parse *p, const cordon_cli_option *option)
{
    return (char *)p->options + option->offset;
}

/* The row for a word "--name" or "--name=value"; NULL when there is none. */
static const cordon_cli_option *find(const cordon_cli_verb *verb, const char *word, size_t length)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        const cordon_cli_option *option = &verb->options[i];
        if (strlen(option->name) == length && memcmp(option->name, word, length) == 0)
            return option;
    }
    return NULL;
}

/*
 * The value of an option that needs one: behind '=', or the next word. A next word that looks
 * like an option is more likely a forgotten value, so it has to be written with '='.
 */
static const char *value_of(parse *p, const cordon_cli_option *option, const char *inlined)
{
    if (inlined)
        return inlined;
    const char *word = p->next < p->argc ? p->argv[p->next] : NULL;
    bool dash_is_value = option->type == CORDON_CLI_FILE && word && strcmp(word, "-") == 0;
    if (!word) {
        PARSE_FAIL(p, "%s: its %s is missing; write %s %s", option->name, option->value,
                   option->name, option->value);
        return NULL;
    }
    if (word[0] == '-' && !dash_is_value) {
        PARSE_FAIL(p, "%s: its %s is missing; write %s=%s if that is meant", option->name,
                   option->value, option->name, CORDON_QUOTE(word));
        return NULL;
    }
    p->next++;
    return word;
}

static void take_text(parse *p, const cordon_cli_option *option, const char *value)
{
    if (value[0] == '\0') {
        PARSE_FAIL(p, "%s: its %s is empty; leave the option out or give one", option->name,
                   option->value);
        return;
    }
    const char **field = field_of(p, option);
    *field = value;
}

static void take_item(parse *p, const cordon_cli_option *option, const char *value)
{
    cordon_cli_list *list = field_of(p, option);
    if (value[0] == '\0')
        PARSE_FAIL(p, "%s: its %s is empty; leave the option out or give one", option->name,
                   option->value);
    else if (list->count == CORDON_CLI_LIST_MAX)
        PARSE_FAIL(p, "%s: given over %d times", option->name, CORDON_CLI_LIST_MAX);
    else
        list->items[list->count++] = value;
}

static void take_duration(parse *p, const cordon_cli_option *option, const char *value)
{
    cordon_err why = CORDON_ERR_INIT;
    int64_t ms = 0;
    if (cordon_num_duration(value, strlen(value), &ms, &why) != 0)
        PARSE_FAIL(p, "%s: %s", option->name, why.message);
    else if (ms <= 0)
        PARSE_FAIL(p, "%s: %s has passed before the run begins; give more than 0", option->name,
                   CORDON_QUOTE(value));
    else if (ms > DURATION_MAX_MS)
        PARSE_FAIL(p, "%s: %s is more than 168h, which is the longest", option->name,
                   CORDON_QUOTE(value));
    else
        memcpy(field_of(p, option), &ms, sizeof ms);
}

static void take_value(parse *p, const cordon_cli_option *option, const char *inlined)
{
    const char *value = value_of(p, option, inlined);
    if (!value)
        return;
    if (option->type == CORDON_CLI_DURATION)
        take_duration(p, option, value);
    else if (option->type == CORDON_CLI_LIST)
        take_item(p, option, value);
    else
        take_text(p, option, value);
}

static void take_flag(parse *p, const cordon_cli_option *option, const char *inlined)
{
    if (inlined) {
        PARSE_FAIL(p, "%s: takes no value; write %s alone", option->name, option->name);
        return;
    }
    bool *field = field_of(p, option);
    *field = true;
}

/* False: said why. */
static bool is_first(parse *p, const cordon_cli_option *option)
{
    uint64_t bit = UINT64_C(1) << (unsigned)(option - p->verb->options);
    if (option->type == CORDON_CLI_LIST)
        return true;
    if (p->seen & bit)
        PARSE_FAIL(p, "%s: given twice; keep one", option->name);
    bool first = (p->seen & bit) == 0;
    p->seen |= bit;
    return first;
}

/* A slip is looked for among the options' names, without the value behind '='. */
static void unknown_option(parse *p, const char *word, size_t length)
{
    char name[CORDON_NEAR_MAX + 2];
    char hint[CORDON_NEAR_HINT_SIZE];
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                   word);
    cordon_near near = {.word = name};
    for (size_t i = 0; i < p->verb->option_count; i++) {
        if (p->verb->options[i].type != CORDON_CLI_LATER)
            cordon_near_look(&near, p->verb->options[i].name);
    }
    cordon_near_look(&near, "--help");
    PARSE_FAIL(p, "%s: unknown option%s \"cordon %s --help\"", CORDON_QUOTE(word),
               cordon_near_hint(&near, "see", hint), p->verb->name);
}

static void take_option(parse *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const cordon_cli_option *option = find(p->verb, word, length);
    if (!option) {
        unknown_option(p, word, length);
        return;
    }
    if (!is_first(p, option))
        return;
    const char *inlined = equals ? equals + 1 : NULL;
    if (option->type == CORDON_CLI_LATER)
        PARSE_FAIL(p, "%s: %s", option->name, option->help);
    else if (option->type == CORDON_CLI_FLAG)
        take_flag(p, option, inlined);
    else
        take_value(p, option, inlined);
}

static void take_file(parse *p, const char *word)
{
    cordon_cli_files *files = &p->options->files;
    if (files->count == CORDON_CLI_FILES_MAX)
        PARSE_FAIL(p, "%s: one too many; at most %d at a time", CORDON_QUOTE(word),
                   CORDON_CLI_FILES_MAX);
    else if (word[0] == '\0')
        PARSE_FAIL(p, "an operand is empty; see \"cordon %s --help\"", p->verb->name);
    else
        files->items[files->count++] = word;
}

static void take_operand(parse *p, const char *word)
{
    if (p->verb->takes == CORDON_CLI_TAKES_FILES) {
        take_file(p, word);
        return;
    }
    bool dash = p->verb->takes == CORDON_CLI_TAKES_ARGV && strcmp(word, "-") == 0;
    bool words = p->verb->takes == CORDON_CLI_TAKES_WORDS;
    if ((p->verb->takes == CORDON_CLI_TAKES_WORD || words || dash) && !p->options->word)
        p->options->word = word;
    else if (words && !p->options->operand)
        p->options->operand = word;
    else if (p->verb->takes == CORDON_CLI_TAKES_ARGV)
        PARSE_FAIL(p, "%s: unexpected word; put the command and its arguments after \"--\"",
                   CORDON_QUOTE(word));
    else
        PARSE_FAIL(p, "%s: unexpected word; see \"cordon %s --help\"", CORDON_QUOTE(word),
                   p->verb->name);
}

static void take_rest(parse *p)
{
    if (p->verb->takes != CORDON_CLI_TAKES_ARGV) {
        PARSE_FAIL(p, "--: \"cordon %s\" runs no command; leave it out", p->verb->name);
        return;
    }
    /* SECURITY: argv reaches the command byte for byte; nothing behind "--" is interpreted. */
    p->options->argv = p->argv + p->next;
    p->options->argc = (size_t)(p->argc - p->next);
}

int cordon_cli_options_parse(const cordon_cli_verb *verb, int argc, const char *const *argv,
                             cordon_cli_options *ret_options, cordon_err *err)
{
    *ret_options = (cordon_cli_options){0};
    parse p = {.verb = verb, .argv = argv, .argc = argc, .options = ret_options, .err = err};
    while (p.next < argc) {
        const char *word = argv[p.next++];
        if (strcmp(word, "--") == 0) {
            take_rest(&p);
            break;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            ret_options->help = true;
        else if (word[0] == '-' && word[1] != '\0')
            take_option(&p, word);
        else
            take_operand(&p, word);
    }
    return p.result;
}

static int help_row(const cordon_cli_option *option, cordon_buf *out, cordon_err *err)
{
    char left[40];
    (void)snprintf(left, sizeof left, "%s%s%s", option->name, option->value ? " " : "",
                   option->value ? option->value : "");
    return cordon_buf_printf(out, err, "  %-22s  %s\n", left, option->help);
}

void cordon_cli_options_unknown_word(const cordon_cli_verb *verb, const char *word, cordon_err *err)
{
    char hint[CORDON_NEAR_HINT_SIZE];
    char list[128] = "";
    size_t used = 0;
    cordon_near near = {.word = word};
    for (size_t i = 0; verb->words[i] && used < sizeof list; i++) {
        const char *glue = i == 0 ? "" : verb->words[i + 1] ? ", " : " or ";
        int added = snprintf(list + used, sizeof list - used, "%s%s", glue, verb->words[i]);
        used += added > 0 ? (size_t)added : 0;
        cordon_near_look(&near, verb->words[i]);
    }
    cordon_err_set(err, CORDON_ERR_CONFIG, 0, "%s: unknown word%s %s", CORDON_QUOTE(word),
                   cordon_near_hint(&near, "use", hint), list);
}

int cordon_cli_options_synopsis(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    return cordon_buf_printf(out, err, "cordon %s%s%s%s", verb->name,
                             verb->option_count ? " [OPTIONS]" : "", verb->operands[0] ? " " : "",
                             verb->operands);
}

int cordon_cli_options_help(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, "usage: ", err) != 0 ||
        cordon_cli_options_synopsis(verb, out, err) != 0 ||
        cordon_buf_printf(out, err, "\n\n%s\noptions:\n", verb->about) != 0)
        return -1;
    for (size_t i = 0; i < verb->option_count; i++) {
        const cordon_cli_option *option = &verb->options[i];
        if (option->type != CORDON_CLI_LATER && help_row(option, out, err) != 0)
            return -1;
    }
    static const cordon_cli_option help = {"--help", NULL, CORDON_CLI_FLAG, 0, "this text", NULL};
    return help_row(&help, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a verb: what is taken, what is refused and in which words. */
#include "cli/options.h"

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const cordon_cli_option rows[] = {
    CORDON_CLI_OPTION("--vendor", "NAME", CORDON_CLI_NAME, vendor, "whose hosts"),
    CORDON_CLI_OPTION("--receipt", "FILE", CORDON_CLI_FILE, receipt, "where to"),
    CORDON_CLI_OPTION("--deadline", "TIME", CORDON_CLI_DURATION, deadline_ms, "how long"),
    CORDON_CLI_OPTION("--json", NULL, CORDON_CLI_FLAG, json, "machine readable"),
    {"--prompt", "TEXT", CORDON_CLI_LATER, 0, "not in this release; give a command after --", NULL},
};

static const cordon_cli_verb with_argv = {
    .name = "run",
    .operands = "-- COMMAND",
    .summary = "run",
    .about = "Runs.\n",
    .takes = CORDON_CLI_TAKES_ARGV,
    .options = rows,
    .option_count = COUNT(rows),
};

static const cordon_cli_verb with_word = {
    .name = "config",
    .operands = "[show]",
    .summary = "config",
    .about = "Shows.\n",
    .takes = CORDON_CLI_TAKES_WORD,
    .options = rows,
    .option_count = COUNT(rows),
};

#define WORDS_MAX 8

/* A NULL-ended list of words, as main hands them over. */
static int parse(const cordon_cli_verb *verb, const char *const *words, cordon_cli_options *options,
                 cordon_err *err)
{
    int count = 0;
    while (words[count])
        count++;
    return cordon_cli_options_parse(verb, count, words, options, err);
}

static void nothing_given_is_nothing_set(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {NULL};
    REQUIRE_OK(parse(&with_argv, words, &options, &err), err);
    CHECK(!options.vendor && !options.receipt && !options.argv && !options.word);
    CHECK(!options.json && !options.help);
    CHECK_INT(options.deadline_ms, 0);
    CHECK_INT(options.argc, 0);
}

static void a_value_stands_behind_a_blank_or_an_equals_sign(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"--vendor", "codex", "--deadline=90s", "--json", "--receipt", "-", NULL};
    REQUIRE_OK(parse(&with_argv, words, &options, &err), err);
    CHECK_STR(options.vendor, "codex");
    CHECK_STR(options.receipt, "-");
    CHECK_INT(options.deadline_ms, 90000);
    CHECK(options.json);
}

static void only_the_first_equals_sign_divides(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"--vendor=-a=b", NULL};
    REQUIRE_OK(parse(&with_argv, words, &options, &err), err);
    CHECK_STR(options.vendor, "-a=b");
}

static void the_command_is_untouched_byte_for_byte(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"--json", "--", "- item", "--version", "--", "", "--vendor=x", NULL};
    REQUIRE_OK(parse(&with_argv, words, &options, &err), err);
    REQUIRE_INT(options.argc, 5);
    for (size_t i = 0; i < options.argc; i++)
        CHECK(options.argv[i] == words[i + 2]);
    CHECK(options.vendor == NULL);
}

static void a_command_that_is_empty_differs_from_none(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"--", NULL};
    REQUIRE_OK(parse(&with_argv, words, &options, &err), err);
    CHECK(options.argv != NULL);
    CHECK_INT(options.argc, 0);
}

static void help_behind_the_dashes_belongs_to_the_command(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *mine[] = {"--help", "--", "x", NULL};
    const char *theirs[] = {"--", "x", "--help", NULL};
    REQUIRE_OK(parse(&with_argv, mine, &options, &err), err);
    CHECK(options.help);
    REQUIRE_OK(parse(&with_argv, theirs, &options, &err), err);
    CHECK(!options.help);
}

typedef struct bad_line {
    const cordon_cli_verb *verb;
    const char *words[WORDS_MAX];
    const char *message;
} bad_line;

static const bad_line bad[] = {
    {&with_argv,
     {"--vendr", "x"},
     "--vendr: unknown option; did you mean \"--vendor\"? See \"cordon run --help\""},
    {&with_argv,
     {"--vend=x"},
     "--vend=x: unknown option; did you mean \"--vendor\"? See \"cordon run --help\""},
    {&with_argv, {"-v"}, "-v: unknown option; see \"cordon run --help\""},
    {&with_argv, {"--vendor"}, "--vendor: its NAME is missing; write --vendor NAME"},
    {&with_argv,
     {"--vendor", "--json"},
     "--vendor: its NAME is missing; write --vendor=--json if that is meant"},
    {&with_argv,
     {"--vendor", "--", "true"},
     "--vendor: its NAME is missing; write --vendor=-- if that is meant"},
    {&with_argv, {"--vendor", "-"}, "--vendor: its NAME is missing; write --vendor=- if that"},
    {&with_argv, {"--vendor="}, "--vendor: its NAME is empty; leave the option out or give one"},
    {&with_argv, {"--vendor", ""}, "--vendor: its NAME is empty; leave the option out"},
    {&with_argv, {"--vendor=a", "--vendor", "a"}, "--vendor: given twice; keep one"},
    {&with_argv, {"--json", "--json"}, "--json: given twice; keep one"},
    {&with_argv, {"--json=yes"}, "--json: takes no value; write --json alone"},
    {&with_argv, {"--deadline", "10"}, "--deadline: "},
    {&with_argv, {"--deadline", "0s"}, "--deadline: 0s has passed before the run begins; give"},
    {&with_argv, {"--prompt", "hi"}, "--prompt: not in this release; give a command after --"},
    {&with_argv, {"--prompt=hi"}, "--prompt: not in this release; give a command after --"},
    {&with_argv, {"true"}, "true: unexpected word; put the command and its arguments after"},
    {&with_argv, {"-", "-"}, "-: unexpected word; put the command"},
    {&with_argv, {""}, ": unexpected word; put the command"},
    {&with_argv, {"--a\x1b[2J\n"}, "--a?[2J?: unknown option"},
    {&with_word, {"show", "path"}, "path: unexpected word; see \"cordon config --help\""},
    {&with_word, {"--", "x"}, "--: \"cordon config\" runs no command; leave it out"},
};

static void a_wrong_line_is_refused_in_one_line_that_says_what_to_do(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_cli_options options;
        cordon_err err = CORDON_ERR_INIT;
        int rc = parse(bad[i].verb, bad[i].words, &options, &err);
        TEST_RECORDF(rc == -1 && err.code == CORDON_ERR_CONFIG &&
                         strncmp(err.message, bad[i].message, strlen(bad[i].message)) == 0 &&
                         strchr(err.message, '\n') == NULL,
                     "row %zu: rc %d, \"%.300s\", want \"%s\"", i, rc, err.message, bad[i].message);
    }
}

static void the_first_error_is_told_and_reading_goes_on_for_the_receipt(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"--wrong", "--json=1", "--receipt", "r.json", "--json", "--", "x", NULL};
    REQUIRE_FAILS(parse(&with_argv, words, &options, &err), err, CORDON_ERR_CONFIG, "--wrong");
    CHECK_STR(options.receipt, "r.json");
    CHECK_INT(options.argc, 1);
}

static void a_word_is_taken_where_the_verb_has_one(void)
{
    cordon_cli_options options;
    cordon_err err = CORDON_ERR_INIT;
    const char *words[] = {"path", "--json", NULL};
    REQUIRE_OK(parse(&with_word, words, &options, &err), err);
    CHECK_STR(options.word, "path");
    CHECK(options.json);
}

static void help_shows_every_row_but_those_of_a_later_release(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(65536);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_cli_options_help(&with_argv, &out, &err), err);
    CHECK_CONTAINS(out.data, "usage: cordon run [OPTIONS] -- COMMAND\n\nRuns.\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool shown = strstr(out.data, rows[i].name) != NULL;
        TEST_RECORDF(shown == (rows[i].type != CORDON_CLI_LATER), "%s in help", rows[i].name);
    }
    CHECK_CONTAINS(out.data, "--deadline TIME");
    CHECK_CONTAINS(out.data, "--help");
}

CORDON_TEST_MAIN("cli_options", TEST(nothing_given_is_nothing_set),
                 TEST(a_value_stands_behind_a_blank_or_an_equals_sign),
                 TEST(only_the_first_equals_sign_divides),
                 TEST(the_command_is_untouched_byte_for_byte),
                 TEST(a_command_that_is_empty_differs_from_none),
                 TEST(help_behind_the_dashes_belongs_to_the_command),
                 TEST(a_wrong_line_is_refused_in_one_line_that_says_what_to_do),
                 TEST(the_first_error_is_told_and_reading_goes_on_for_the_receipt),
                 TEST(a_word_is_taken_where_the_verb_has_one),
                 TEST(help_shows_every_row_but_those_of_a_later_release))

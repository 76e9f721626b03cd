/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of one verb: a table of options in, a struct of values out. The same table
 * makes the text of --help, so that the two cannot disagree. Pure: reads argv, nothing else.
 */
#ifndef CORDON_CLI_OPTIONS_H
#define CORDON_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/error.h"

/* Most values of an option that may be given again and again. */
#define CORDON_CLI_LIST_MAX 16

/* The values of such an option, in their order; they borrow argv. */
typedef struct cordon_cli_list {
    const char *items[CORDON_CLI_LIST_MAX];
    size_t count;
} cordon_cli_list;

/* Most operands of a verb that takes many. */
#define CORDON_CLI_FILES_MAX 256

typedef struct cordon_cli_files {
    const char *items[CORDON_CLI_FILES_MAX];
    size_t count;
} cordon_cli_files;

/* Every value that some verb takes; NULL, 0 and false are "not given". Strings borrow argv. */
typedef struct cordon_cli_options {
    const char *vendor;
    const char *phase;
    const char *worktree;
    const char *image;
    const char *engine;
    const char *config;
    const char *receipt;
    const char *diff;
    const char *upstream;
    cordon_cli_list secrets;
    const char *prompt;
    const char *prompt_file;
    const char *model;
    const char *steps;
    int64_t deadline_ms;
    bool approve;
    bool dry_run;
    bool json;
    bool quiet;
    bool debug;
    bool help;
    const char *from;
    bool unused;
    bool follow;
    cordon_cli_files files;  /* the operands of a verb that takes many */
    const char *word;        /* the first operand of a verb that takes words */
    const char *operand;     /* the second */
    const char *const *argv; /* what stands after "--", untouched; NULL when there is no "--" */
    size_t argc;
} cordon_cli_options;

typedef enum cordon_cli_type {
    CORDON_CLI_FLAG = 1, /* bool, takes no value */
    CORDON_CLI_NAME,     /* const char *: not empty; one that begins with '-' only as --x=-y */
    CORDON_CLI_FILE,     /* as NAME, and "-" is a value */
    CORDON_CLI_DURATION, /* int64_t milliseconds, more than 0, at most a week */
    CORDON_CLI_LIST,     /* cordon_cli_list: as NAME, may be given again */
    CORDON_CLI_LATER,    /* documented in the design, not in this release: help says why */
} cordon_cli_type;

/*
 * name      "--vendor"
 * value     what help calls its value, NULL for a flag
 * offset    of the field in cordon_cli_options; unused for LATER
 * help      one line; for LATER the reason and the next step
 * choices   NULL, or the words that completion offers for its value; others may be right, too
 */
typedef struct cordon_cli_option {
    const char *name;
    const char *value;
    cordon_cli_type type;
    size_t offset;
    const char *help;
    const char *const *choices;
} cordon_cli_option;

/* `choices`: the words that completion offers for a value, ended by NULL. */
#define CORDON_CLI_CHOICE(name, value, type, field, help, choices)                                 \
    {                                                                                              \
        (name), (value), (type), offsetof(cordon_cli_options, field), (help), (choices)            \
    }
#define CORDON_CLI_OPTION(name, value, type, field, help)                                          \
    CORDON_CLI_CHOICE(name, value, type, field, help, NULL)

typedef enum cordon_cli_takes {
    CORDON_CLI_TAKES_NOTHING = 1,
    CORDON_CLI_TAKES_WORD,  /* at most one operand */
    CORDON_CLI_TAKES_WORDS, /* at most two */
    CORDON_CLI_TAKES_FILES, /* any number, a lone "-" among them */
    CORDON_CLI_TAKES_ARGV,  /* everything after "--"; before it a lone "-" as the word */
} cordon_cli_takes;

struct cordon_cli_context;

/*
 * One verb of the command.
 * operands  as shown in the usage line
 * about     paragraph for --help, lines ended by '\n'
 * words     NULL, or those that the first operand may be, ended by NULL
 * run       returns the exit status
 * refused   what to do when the command line is wrong; NULL prints the error and no more.
 *           options holds what could be read of it.
 */
typedef struct cordon_cli_verb {
    const char *name;
    const char *operands;
    const char *summary;
    const char *about;
    cordon_cli_takes takes;
    const char *const *words;
    const cordon_cli_option *options;
    size_t option_count;
    int (*run)(const struct cordon_cli_context *context, const cordon_cli_options *options);
    int (*refused)(const struct cordon_cli_context *context, const cordon_cli_options *options,
                   const cordon_err *err);
} cordon_cli_verb;

/* At most this many options in a verb's table. */
#define CORDON_CLI_OPTIONS_MAX 64

/*
 * Reads the words after the verb. "--name value" and "--name=value" are the same; no
 * abbreviations; options end at "--", and what follows is not looked at.
 *
 * @param ret_options  always set. When it fails, too: the first error is kept and reading goes on,
 *                     so that --json and --receipt are known for reporting it.
 * @return 0, or -1 with CONFIG and one line: the thing, the reason, the next step
 */
int cordon_cli_options_parse(const cordon_cli_verb *verb, int argc, const char *const *argv,
                             cordon_cli_options *ret_options, cordon_err *err)
    __attribute__((warn_unused_result));

/* "WORD: unknown word; use a, b or c", with the nearest one; of a verb that has words. */
void cordon_cli_options_unknown_word(const cordon_cli_verb *verb, const char *word,
                                     cordon_err *err);

/* Appends what stands behind "usage: ": "cordon VERB [OPTIONS] OPERANDS". */
int cordon_cli_options_synopsis(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* Appends the text of --help, made from the table. */
int cordon_cli_options_help(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

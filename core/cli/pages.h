/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages and completions, made from the tables of options that --help is made from. For the
 * build's own tool `cordon-pages`; nothing of it is in the command.
 */
#ifndef CORDON_CLI_PAGES_H
#define CORDON_CLI_PAGES_H

#include "cli.h"

/*
 * What a template's marks stand for: @VERSION@, @DATE@, @VERBS@ (a list with what each does),
 * @KEYS@ (the keys of the configuration). date  "2026-11-30", of the release: pages are the same in
 * every build conf  the text of the documented configuration file
 */
typedef struct cordon_cli_pages {
    const char *version;
    const char *date;
    const char *conf;
} cordon_cli_pages;

/* Text as roff shows it: what would be a request or an escape is none, '-' is one to be copied. */
int cordon_cli_pages_escape(const char *text, size_t length, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* The keys of a documented configuration file as a list; CONFIG for a line that is neither. */
int cordon_cli_pages_conf(const char *text, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The page of one verb, section 1, in man(7).
 * @param more  sections to stand before SEE ALSO, or NULL
 */
int cordon_cli_pages_verb(const cordon_cli_pages *pages, const cordon_cli_verb *verb,
                          const char *more, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* A hand-written page with its marks replaced; CONFIG for a mark that is not known. */
int cordon_cli_pages_template(const cordon_cli_pages *pages, const char *text, cordon_buf *out,
                              cordon_err *err) __attribute__((warn_unused_result));

/* What a shell reads to complete verbs, options, and the words that values may be. */
int cordon_cli_pages_bash(cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));
int cordon_cli_pages_zsh(cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));
int cordon_cli_pages_fish(cordon_buf *out, cordon_err *err) __attribute__((warn_unused_result));

/* What an option's value is, as far as a shell can know it. */
typedef enum cordon_cli_value {
    CORDON_CLI_VALUE_NONE = 0, /* a flag */
    CORDON_CLI_VALUE_WORDS,    /* one of choices */
    CORDON_CLI_VALUE_FILE,
    CORDON_CLI_VALUE_FOLDER,
    CORDON_CLI_VALUE_TEXT, /* nothing that a shell could offer */
} cordon_cli_value;

cordon_cli_value cordon_cli_pages_value(const cordon_cli_option *option);

/* The index-th word that a verb's operand may be, for completion; NULL past the last. */
const char *cordon_cli_pages_word(const cordon_cli_verb *verb, size_t index);

#endif

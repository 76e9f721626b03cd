/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages in man(7); see pages.h. */
#include <string.h>

#include "pages.h"

int cordon_cli_pages_escape(const char *text, size_t length, cordon_buf *out, cordon_err *err)
{
    bool front = true;
    for (size_t i = 0; i < length; i++) {
        char letter = text[i];
        const char *as = NULL;
        if (letter == '\\')
            as = "\\e";
        else if (letter == '-')
            as = "\\-";
        else if (front && (letter == '.' || letter == '\''))
            as = letter == '.' ? "\\&." : "\\&'";
        if ((as ? cordon_buf_append_text(out, as, err)
                : cordon_buf_append_char(out, letter, err)) != 0)
            return -1;
        front = letter == '\n';
    }
    return 0;
}

static int put_text(const char *text, cordon_buf *out, cordon_err *err)
{
    return cordon_cli_pages_escape(text, strlen(text), out, err);
}

/* A line in columns, which filling would spoil. */
static bool has_columns(const char *text, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == ' ' && text[i + 1] == ' ')
            return true;
    }
    return false;
}

static int put_paragraph(const char *text, size_t length, bool first, cordon_buf *out,
                         cordon_err *err)
{
    bool columns = has_columns(text, length);
    if (cordon_buf_append_text(out, first ? "" : ".PP\n", err) != 0 ||
        cordon_buf_append_text(out, columns ? ".nf\n" : "", err) != 0 ||
        cordon_cli_pages_escape(text, length, out, err) != 0)
        return -1;
    return cordon_buf_append_text(out, columns ? "\n.fi\n" : "\n", err);
}

/* Paragraphs end with an empty line. */
static int put_about(const char *about, cordon_buf *out, cordon_err *err)
{
    for (bool first = true; *about; first = false) {
        const char *end = strstr(about, "\n\n");
        size_t length = end ? (size_t)(end - about) : strlen(about);
        size_t trimmed = length > 0 && about[length - 1] == '\n' ? length - 1 : length;
        if (put_paragraph(about, trimmed, first, out, err) != 0)
            return -1;
        about += length;
        about += strspn(about, "\n");
    }
    return 0;
}

static int put_option(const cordon_cli_option *option, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, ".TP\n\\fB", err) != 0 ||
        put_text(option->name, out, err) != 0 ||
        cordon_buf_append_text(out, option->value ? "\\fR \\fI" : "\\fR", err) != 0 ||
        (option->value && (put_text(option->value, out, err) != 0 ||
                           cordon_buf_append_text(out, "\\fR", err) != 0)) ||
        cordon_buf_append_char(out, '\n', err) != 0 || put_text(option->help, out, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

static int put_options(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    static const cordon_cli_option help = {
        "--help", NULL, CORDON_CLI_FLAG, 0, "print a short form of this page", NULL};
    if (cordon_buf_append_text(out, ".SH OPTIONS\n", err) != 0)
        return -1;
    for (size_t i = 0; i < verb->option_count; i++) {
        if (verb->options[i].type != CORDON_CLI_LATER &&
            put_option(&verb->options[i], out, err) != 0)
            return -1;
    }
    return put_option(&help, out, err);
}

static int put_synopsis(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_buf) line = cordon_buf_make(4096);
    if (cordon_cli_options_synopsis(verb, &line, err) != 0 ||
        cordon_buf_append_text(out, ".SH SYNOPSIS\n.nf\n", err) != 0 ||
        cordon_cli_pages_escape(line.data, line.length, out, err) != 0)
        return -1;
    return cordon_buf_append_text(out, "\n.fi\n", err);
}

static int put_title(const cordon_cli_pages *pages, const cordon_cli_verb *verb, cordon_buf *out,
                     cordon_err *err)
{
    if (cordon_buf_append_text(out, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH CORDON\\-",
                               err) != 0)
        return -1;
    for (const char *letter = verb->name; *letter; letter++) {
        bool small = *letter >= 'a' && *letter <= 'z';
        if (cordon_buf_append_char(out, (char)(small ? *letter - 'a' + 'A' : *letter), err) != 0)
            return -1;
    }
    if (cordon_buf_printf(out, err,
                          " 1 \"%s\" \"Cordon %s\" \"Cordon\"\n.SH NAME\ncordon\\-%s \\- ",
                          pages->date, pages->version, verb->name) != 0 ||
        put_text(verb->summary, out, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

/* All other verbs, and what they read. */
static int put_see_also(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, ".SH SEE ALSO\n.BR cordon (1),\n", err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (cordon_cli_verbs[i] != verb &&
            cordon_buf_printf(out, err, ".BR cordon\\-%s (1),\n", cordon_cli_verbs[i]->name) != 0)
            return -1;
    }
    return cordon_buf_append_text(
        out, ".BR cordon.conf (5),\n.BR cordon\\-vendor (5),\n.BR cordon\\-receipt (5)\n", err);
}

int cordon_cli_pages_verb(const cordon_cli_pages *pages, const cordon_cli_verb *verb,
                          const char *more, cordon_buf *out, cordon_err *err)
{
    if (put_title(pages, verb, out, err) != 0 || put_synopsis(verb, out, err) != 0 ||
        cordon_buf_append_text(out, ".SH DESCRIPTION\n", err) != 0 ||
        put_about(verb->about, out, err) != 0 || put_options(verb, out, err) != 0 ||
        (more && cordon_buf_append_text(out, more, err) != 0))
        return -1;
    return put_see_also(verb, out, err);
}

static int put_verbs(cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        const cordon_cli_verb *verb = cordon_cli_verbs[i];
        if (cordon_buf_printf(out, err, ".TP\n.BR cordon\\-%s (1)\n", verb->name) != 0 ||
            put_text(verb->summary, out, err) != 0 || cordon_buf_append_char(out, '\n', err) != 0)
            return -1;
    }
    return 0;
}

static bool is_mark(const char *mark, size_t length, const char *name)
{
    return length == strlen(name) + 2 && strncmp(mark + 1, name, strlen(name)) == 0;
}

/* One mark, with its '@' at both ends. */
static int put_mark(const cordon_cli_pages *pages, const char *mark, size_t length, cordon_buf *out,
                    cordon_err *err)
{
    if (is_mark(mark, length, "VERBS"))
        return put_verbs(out, err);
    if (is_mark(mark, length, "KEYS"))
        return cordon_cli_pages_conf(pages->conf, out, err);
    if (is_mark(mark, length, "DATE"))
        return cordon_buf_append_text(out, pages->date, err);
    if (is_mark(mark, length, "VERSION"))
        return cordon_buf_append_text(out, pages->version, err);
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%.*s: no such mark", (int)length, mark);
}

/* The next mark: capitals between two '@'. NULL when there is none. */
static const char *find_mark(const char *text, size_t *ret_length)
{
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
        size_t name = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (name > 0 && at[1 + name] == '@') {
            *ret_length = name + 2;
            return at;
        }
    }
    return NULL;
}

int cordon_cli_pages_template(const cordon_cli_pages *pages, const char *text, cordon_buf *out,
                              cordon_err *err)
{
    size_t length = 0;
    for (const char *mark; (mark = find_mark(text, &length)) != NULL; text = mark + length) {
        if (cordon_buf_append(out, text, (size_t)(mark - text), err) != 0 ||
            put_mark(pages, mark, length, out, err) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, text, err);
}

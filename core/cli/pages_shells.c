/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for zsh and fish; see pages.h. */
#include <string.h>

#include "pages.h"

/* Text inside of single quotes; what zsh's _arguments reads as its own gets a backslash. */
static int put_quoted(const char *text, const char *special, cordon_buf *out, cordon_err *err)
{
    for (; *text; text++) {
        const char *front = strchr(special, *text) ? "\\" : "";
        int rc = *text == '\'' ? cordon_buf_append_text(out, "'\\''", err)
                               : cordon_buf_printf(out, err, "%s%c", front, *text);
        if (rc != 0)
            return -1;
    }
    return 0;
}

/* --- zsh --- */

static int zsh_words(const cordon_cli_option *option, cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; option->choices[i]; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : "(", option->choices[i]) != 0)
            return -1;
    }
    return cordon_buf_append_char(out, ')', err);
}

static int zsh_value(const cordon_cli_option *option, cordon_buf *out, cordon_err *err)
{
    static const char *const actions[] = {[CORDON_CLI_VALUE_NONE] = "",
                                          [CORDON_CLI_VALUE_WORDS] = "",
                                          [CORDON_CLI_VALUE_FILE] = "_files",
                                          [CORDON_CLI_VALUE_FOLDER] = "_files -/",
                                          [CORDON_CLI_VALUE_TEXT] = " "};
    cordon_cli_value kind = cordon_cli_pages_value(option);
    if (kind == CORDON_CLI_VALUE_NONE)
        return 0;
    if (cordon_buf_append_char(out, ':', err) != 0 ||
        put_quoted(option->value, "[]:", out, err) != 0 ||
        cordon_buf_append_char(out, ':', err) != 0)
        return -1;
    return kind == CORDON_CLI_VALUE_WORDS ? zsh_words(option, out, err)
                                          : cordon_buf_append_text(out, actions[kind], err);
}

static int zsh_option(const cordon_cli_option *option, cordon_buf *out, cordon_err *err)
{
    bool takes = cordon_cli_pages_value(option) != CORDON_CLI_VALUE_NONE;
    bool again = option->type == CORDON_CLI_LIST;
    if (option->type == CORDON_CLI_LATER)
        return 0;
    if (cordon_buf_printf(out, err, "            '%s%s%s[", again ? "*" : "", option->name,
                          takes ? "=" : "") != 0 ||
        put_quoted(option->help, "[]:", out, err) != 0 ||
        cordon_buf_append_char(out, ']', err) != 0 || zsh_value(option, out, err) != 0)
        return -1;
    return cordon_buf_append_text(out, "' \\\n", err);
}

static int zsh_operands(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    const char *word = NULL;
    if (verb->takes == CORDON_CLI_TAKES_ARGV)
        return cordon_buf_append_text(out, "            '*::command:_normal'\n        ;;\n", err);
    if (verb->takes == CORDON_CLI_TAKES_FILES)
        return cordon_buf_append_text(out, "            '*:file:_files'\n        ;;\n", err);
    if (!cordon_cli_pages_word(verb, 0))
        return cordon_buf_append_text(out, "            '--help[short help]'\n        ;;\n", err);
    for (size_t i = 0; (word = cordon_cli_pages_word(verb, i)) != NULL; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : "            '1:word:(", word) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, ")' '2:operand: '\n        ;;\n", err);
}

static int zsh_verb(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_printf(out, err, "    %s)\n        _arguments \\\n", verb->name) != 0)
        return -1;
    for (size_t i = 0; i < verb->option_count; i++) {
        if (zsh_option(&verb->options[i], out, err) != 0)
            return -1;
    }
    return zsh_operands(verb, out, err);
}

static int zsh_names(cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (cordon_buf_printf(out, err, "        '%s:", cordon_cli_verbs[i]->name) != 0 ||
            put_quoted(cordon_cli_verbs[i]->summary, ":", out, err) != 0 ||
            cordon_buf_append_text(out, "'\n", err) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "        'help:show the options of a verb'\n", err);
}

int cordon_cli_pages_zsh(cordon_buf *out, cordon_err *err)
{
    static const char head[] =
        "#compdef cordon\n"
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# Completion of cordon(1) for zsh; made from its tables of options.\n"
        "_cordon()\n"
        "{\n"
        "    local -a verbs\n"
        "    verbs=(\n";
    static const char middle[] = "    )\n"
                                 "    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
                                 "        _describe verb verbs\n"
                                 "        return\n"
                                 "    fi\n"
                                 "    shift words\n"
                                 "    ((CURRENT--))\n"
                                 "    case $words[1] in\n";
    static const char tail[] =
        "    esac\n"
        "}\n"
        "# Loaded by compinit: the file is the function's body. Sourced: the function is bound.\n"
        "if [[ $funcstack[1] == _cordon ]]; then _cordon \"$@\"; else compdef _cordon cordon; fi\n";
    if (cordon_buf_append_text(out, head, err) != 0 || zsh_names(out, err) != 0 ||
        cordon_buf_append_text(out, middle, err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (zsh_verb(cordon_cli_verbs[i], out, err) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, tail, err);
}

/* --- fish --- */

static int fish_option(const cordon_cli_verb *verb, const cordon_cli_option *option,
                       cordon_buf *out, cordon_err *err)
{
    static const char *const values[] = {[CORDON_CLI_VALUE_NONE] = "",
                                         [CORDON_CLI_VALUE_WORDS] = " -x -a '",
                                         [CORDON_CLI_VALUE_FILE] = " -r -F",
                                         [CORDON_CLI_VALUE_FOLDER] =
                                             " -x -a '(__fish_complete_directories)'",
                                         [CORDON_CLI_VALUE_TEXT] = " -x"};
    cordon_cli_value kind = cordon_cli_pages_value(option);
    if (option->type == CORDON_CLI_LATER)
        return 0;
    if (cordon_buf_printf(out, err, "complete -c cordon -n '__cordon_verb %s' -l %s%s", verb->name,
                          option->name + 2, values[kind]) != 0)
        return -1;
    for (size_t i = 0; option->choices && option->choices[i]; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : "", option->choices[i]) != 0)
            return -1;
    }
    if (cordon_buf_append_text(out, option->choices ? "' -d '" : " -d '", err) != 0 ||
        put_quoted(option->help, "\\", out, err) != 0)
        return -1;
    return cordon_buf_append_text(out, "'\n", err);
}

static int fish_words(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    const char *word = NULL;
    if (!cordon_cli_pages_word(verb, 0))
        return 0;
    if (cordon_buf_printf(out, err, "complete -c cordon -n '__cordon_first %s' -a '", verb->name) !=
        0)
        return -1;
    for (size_t i = 0; (word = cordon_cli_pages_word(verb, i)) != NULL; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : "", word) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "'\n", err);
}

static int fish_verb(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_printf(out, err, "complete -c cordon -n __cordon_no_verb -a %s -d '",
                          verb->name) != 0 ||
        put_quoted(verb->summary, "\\", out, err) != 0 ||
        cordon_buf_printf(out, err, "'\ncomplete -c cordon -n '__cordon_first help' -a %s\n",
                          verb->name) != 0)
        return -1;
    for (size_t i = 0; i < verb->option_count; i++) {
        if (fish_option(verb, &verb->options[i], out, err) != 0)
            return -1;
    }
    return fish_words(verb, out, err);
}

int cordon_cli_pages_fish(cordon_buf *out, cordon_err *err)
{
    static const char head[] =
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# Completion of cordon(1) for fish; made from its tables of options.\n"
        "function __cordon_no_verb\n"
        "    test (count (commandline -opc)) -lt 2\n"
        "end\n"
        "function __cordon_verb\n"
        "    set -l words (commandline -opc)\n"
        "    test (count $words) -ge 2; and test $words[2] = $argv[1]; and not contains -- -- "
        "$words\n"
        "end\n"
        "function __cordon_first\n"
        "    set -l words (commandline -opc)\n"
        "    test (count $words) -eq 2; and test $words[2] = $argv[1]\n"
        "end\n"
        "function __cordon_command\n"
        "    contains -- -- (commandline -opc)\n"
        "end\n"
        "complete -c cordon -f\n"
        "complete -c cordon -n __cordon_command -F\n"
        "complete -c cordon -n __cordon_no_verb -a help -d 'show the options of a verb'\n";
    if (cordon_buf_append_text(out, head, err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (fish_verb(cordon_cli_verbs[i], out, err) != 0)
            return -1;
    }
    return 0;
}

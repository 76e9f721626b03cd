/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for bash; and what a shell may know of options and operands. See pages.h. */
#include <string.h>

#include "cordon/explain.h"
#include "pages.h"

cordon_cli_value cordon_cli_pages_value(const cordon_cli_option *option)
{
    if (option->type == CORDON_CLI_FLAG || option->type == CORDON_CLI_LATER)
        return CORDON_CLI_VALUE_NONE;
    if (option->choices)
        return CORDON_CLI_VALUE_WORDS;
    if (strcmp(option->value, "FILE") == 0)
        return CORDON_CLI_VALUE_FILE;
    return strcmp(option->value, "DIR") == 0 ? CORDON_CLI_VALUE_FOLDER : CORDON_CLI_VALUE_TEXT;
}

const char *cordon_cli_pages_word(const cordon_cli_verb *verb, size_t index)
{
    cordon_explanation what = {0};
    if (verb->words) {
        for (size_t i = 0; i < index; i++) {
            if (!verb->words[i])
                return NULL;
        }
        return verb->words[index];
    }
    if (strcmp(verb->name, "explain") != 0 || !cordon_explanation_at(index, &what))
        return NULL;
    return what.name;
}

static int put_words(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    const char *word = NULL;
    if (!cordon_cli_pages_word(verb, 0))
        return 0;
    if (cordon_buf_append_text(out, "        words='", err) != 0)
        return -1;
    for (size_t i = 0; (word = cordon_cli_pages_word(verb, i)) != NULL; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : "", word) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "'\n", err);
}

static int put_options(const cordon_cli_verb *verb, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_printf(out, err, "    %s)\n        options='", verb->name) != 0)
        return -1;
    for (size_t i = 0; i < verb->option_count; i++) {
        if (verb->options[i].type != CORDON_CLI_LATER &&
            cordon_buf_printf(out, err, "%s ", verb->options[i].name) != 0)
            return -1;
    }
    if (cordon_buf_append_text(out, "--help'\n", err) != 0 || put_words(verb, out, err) != 0)
        return -1;
    return cordon_buf_append_text(out, "        ;;\n", err);
}

static int put_value(const cordon_cli_verb *verb, const cordon_cli_option *option, cordon_buf *out,
                     cordon_err *err)
{
    static const char *const kinds[] = {[CORDON_CLI_VALUE_NONE] = NULL,
                                        [CORDON_CLI_VALUE_WORDS] = "words",
                                        [CORDON_CLI_VALUE_FILE] = "files",
                                        [CORDON_CLI_VALUE_FOLDER] = "folders",
                                        [CORDON_CLI_VALUE_TEXT] = "text"};
    cordon_cli_value kind = cordon_cli_pages_value(option);
    if (!kinds[kind])
        return 0;
    if (cordon_buf_printf(out, err, "    '%s %s') kind=%s", verb->name, option->name,
                          kinds[kind]) != 0)
        return -1;
    for (size_t i = 0; option->choices && option->choices[i]; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? " " : " values='", option->choices[i]) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, option->choices ? "' ;;\n" : " ;;\n", err);
}

/* verb: what stands at the word before the cursor when that wants a value. */
static int put_values(cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, "    case \"$verb $prev\" in\n", err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        const cordon_cli_verb *verb = cordon_cli_verbs[i];
        for (size_t j = 0; j < verb->option_count; j++) {
            if (put_value(verb, &verb->options[j], out, err) != 0)
                return -1;
        }
    }
    return cordon_buf_append_text(out, "    esac\n", err);
}

static int put_names(cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (cordon_buf_printf(out, err, "%s ", cordon_cli_verbs[i]->name) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "help", err);
}

static const char bash_head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of cordon(1) for bash; made from its tables of options.\n"
    "# shellcheck shell=bash\n"
    "_cordon()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
    "verb=${COMP_WORDS[1]}\n"
    "    local options='' words='' values='' kind='' i\n"
    "    COMPREPLY=()\n"
    "    # bash takes --phase=fix apart: three words, the second one \"=\".\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=''\n"
    "    elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    # What stands behind \"--\" is the command's own.\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} != -- ]] || kind=files\n"
    "    done\n";

static const char bash_tail[] =
    "    ((COMP_CWORD > 1)) || { words=$verbs options='--help --version'; }\n"
    "    if [[ -z $kind ]]; then\n"
    "        kind=words values=$words\n"
    "        [[ $cur != -* ]] || values=$options\n"
    "    fi\n"
    "    case $kind in\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\") ;;\n"
    "    files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    folders) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    esac\n"
    "    [[ $kind == words || $kind == text ]] || compopt -o filenames 2>/dev/null\n"
    "}\n"
    "complete -F _cordon cordon\n";

int cordon_cli_pages_bash(cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, bash_head, err) != 0 ||
        cordon_buf_append_text(out, "    local verbs='", err) != 0 || put_names(out, err) != 0 ||
        cordon_buf_append_text(out, "'\n    case $verb in\n    help) words=$verbs ;;\n", err) != 0)
        return -1;
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (put_options(cordon_cli_verbs[i], out, err) != 0)
            return -1;
    }
    if (cordon_buf_append_text(out, "    esac\n    if [[ -z $kind ]]; then\n", err) != 0 ||
        put_values(out, err) != 0 || cordon_buf_append_text(out, "    fi\n", err) != 0)
        return -1;
    return cordon_buf_append_text(out, bash_tail, err);
}

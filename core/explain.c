/* SPDX-License-Identifier: Apache-2.0 */
/* Finding explanations; see cordon/explain.h. The texts stand in refusal.h and explain_*.c. */
#include "explain.h"

#include <string.h>
#include <strings.h>

#include "cordon/explain.h"
#include "refusal.h"

#define CODE_PREFIX "CORDON_REFUSED_"

static const cordon_explain_row codes[] = {
#define EXPLAIN_CODE(code, fact, text, attack, step) {CODE_PREFIX #code, text, attack, step},
    CORDON_REFUSAL_CODES(EXPLAIN_CODE)
#undef EXPLAIN_CODE
};

static const cordon_explain_family code_family = {
    CODE_PREFIX, "code", {NULL}, codes, sizeof(codes) / sizeof(codes[0]), "",
};

#define FAMILY_COUNT (1U + CORDON_EXPLAIN_OTHERS + CORDON_EXPLAIN_ENGINE)

/* The general ones first: "proxy.landlock" is a fact of its own, "proxy.mounts" a container's. */
static const cordon_explain_family *family_at(size_t index)
{
    if (index == 0)
        return &code_family;
    index--;
    return index < CORDON_EXPLAIN_OTHERS ? &cordon_explain_others[index]
                                         : &cordon_explain_engine[index - CORDON_EXPLAIN_OTHERS];
}

/* The row of a running number, and its family; NULL past the last. */
static const cordon_explain_row *row_at(size_t index, const cordon_explain_family **ret_family)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const cordon_explain_family *family = family_at(i);
        if (index < family->count) {
            *ret_family = family;
            return &family->rows[index];
        }
        index -= family->count;
    }
    return NULL;
}

bool cordon_explanation_at(size_t index, cordon_explanation *ret_explanation)
{
    const cordon_explain_family *family = NULL;
    const cordon_explain_row *row = row_at(index, &family);
    if (!row)
        return false;
    *ret_explanation = (cordon_explanation){
        .kind = family->kind,
        .name = row->name,
        .means = row->means,
        .stops = row->stops,
        .next = row->next ? row->next : family->next,
    };
    return true;
}

/*
 * How much of the word is the name: all of it, or up to a '.' or '[' where facts go on; 0 for
 * another word.
 */
static size_t covered(const char *name, const char *word, size_t length, bool is_fact)
{
    size_t size = strlen(name);
    if (size > length || strncasecmp(name, word, size) != 0)
        return 0;
    return size == length || (is_fact && (word[size] == '.' || word[size] == '[')) ? size : 0;
}

/* The best of the ways in which a row may be spelled. Longer is better: it says more of the word.
 */
static size_t match(const cordon_explain_family *family, const cordon_explain_row *row,
                    const char *word, size_t length)
{
    /* A general row without a dot is about that word alone: "proxy" is not every "proxy.x". */
    bool is_fact = strcmp(family->kind, "fact") == 0 && strchr(row->name, '.');
    const char *bare = row->name + strlen(family->name);
    size_t best = covered(row->name, word, length, is_fact);
    for (size_t i = 0; i < CORDON_EXPLAIN_OBJECTS && family->objects[i]; i++) {
        size_t front = strlen(family->objects[i]);
        if (length <= front || strncmp(family->objects[i], word, front) != 0)
            continue;
        size_t rest = covered(bare, word + front, length - front, is_fact);
        best = rest > 0 && front + rest > best ? front + rest : best;
    }
    if (best == 0 && family->name[0])
        best = covered(bare, word, length, false);
    return best;
}

static size_t best_match(const char *word, size_t length)
{
    const cordon_explain_family *family = NULL;
    const cordon_explain_row *row = NULL;
    size_t best = 0;
    for (size_t i = 0; (row = row_at(i, &family)) != NULL; i++) {
        size_t found = match(family, row, word, length);
        best = found > best ? found : best;
    }
    return best;
}

bool cordon_explain(const char *word, size_t *index, cordon_explanation *ret_explanation)
{
    const cordon_explain_family *family = NULL;
    const cordon_explain_row *row = NULL;
    size_t length = strlen(word);
    /* As it stands in a message: "step.mounts: expected ...". */
    while (length > 0 && word[length - 1] == ':')
        length--;
    size_t best = best_match(word, length);
    while (best > 0 && (row = row_at(*index, &family)) != NULL) {
        (*index)++;
        if (match(family, row, word, length) == best)
            return cordon_explanation_at(*index - 1, ret_explanation);
    }
    return false;
}

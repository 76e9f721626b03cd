/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar's table. setting = NAME ("="|":") value [";"|","]; a list has "," between values.
 */
#include "config_grammar.h"

/* A next state, one up so that 0 is "may not stand here". */
#define TO(state) ((state) + 1)

static const unsigned char next_state[CORDON_GRAMMAR_STATES][CORDON_TOKENS] = {
    [CORDON_WANT_NAME] =
        {[CORDON_TOKEN_NAME] = TO(CORDON_WANT_ASSIGN), [CORDON_TOKEN_CLOSE] = TO(CORDON_WANT_NAME)},
    [CORDON_WANT_ASSIGN] = {[CORDON_TOKEN_ASSIGN] = TO(CORDON_WANT_VALUE)},
    [CORDON_WANT_VALUE] = {[CORDON_TOKEN_SCALAR] = TO(CORDON_AFTER_VALUE),
                           [CORDON_TOKEN_OPEN] = TO(CORDON_AFTER_VALUE)},
    [CORDON_AFTER_VALUE] = {[CORDON_TOKEN_NAME] = TO(CORDON_WANT_ASSIGN),
                            [CORDON_TOKEN_CLOSE] = TO(CORDON_WANT_NAME),
                            [CORDON_TOKEN_SEMICOLON] = TO(CORDON_WANT_NAME),
                            [CORDON_TOKEN_COMMA] = TO(CORDON_WANT_NAME)},
    [CORDON_LIST_START] = {[CORDON_TOKEN_SCALAR] = TO(CORDON_LIST_AFTER),
                           [CORDON_TOKEN_OPEN] = TO(CORDON_LIST_AFTER),
                           [CORDON_TOKEN_CLOSE] = TO(CORDON_LIST_START)},
    [CORDON_LIST_AFTER] =
        {[CORDON_TOKEN_CLOSE] = TO(CORDON_LIST_START), [CORDON_TOKEN_COMMA] = TO(CORDON_LIST_ITEM)},
    [CORDON_LIST_ITEM] = {[CORDON_TOKEN_SCALAR] = TO(CORDON_LIST_AFTER),
                          [CORDON_TOKEN_OPEN] = TO(CORDON_LIST_AFTER)},
};

#define A_VALUE "a value: a number, true, false, a text in quotes, or { }, ( ), [ ]"

static const char *const wanted[CORDON_GRAMMAR_STATES] = {
    [CORDON_WANT_NAME] = "the name of a setting",
    [CORDON_WANT_ASSIGN] = "\"=\"",
    [CORDON_WANT_VALUE] = A_VALUE,
    [CORDON_AFTER_VALUE] = "\";\"",
    [CORDON_LIST_START] = A_VALUE,
    [CORDON_LIST_AFTER] = "\",\" or the closing bracket",
    [CORDON_LIST_ITEM] = A_VALUE,
};

bool cordon_grammar_step(cordon_grammar_state *state, cordon_token token)
{
    unsigned char next = next_state[*state][token];
    if (next == 0)
        return false;
    *state = (cordon_grammar_state)(next - 1);
    return true;
}

const char *cordon_grammar_wanted(cordon_grammar_state state)
{
    return wanted[state];
}

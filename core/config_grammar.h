/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to config_scan.c: the order of tokens in a configuration text, as a table. The same
 * language as libconfig's, apart from what its versions do not agree on (a comma at the end of a
 * list is refused).
 */
#ifndef CORDON_CONFIG_GRAMMAR_H
#define CORDON_CONFIG_GRAMMAR_H

#include <stdbool.h>

/* What may come next: in a group, and in a list or array. */
typedef enum cordon_grammar_state {
    CORDON_WANT_NAME = 0,
    CORDON_WANT_ASSIGN,
    CORDON_WANT_VALUE,
    CORDON_AFTER_VALUE,
    CORDON_LIST_START,
    CORDON_LIST_AFTER,
    CORDON_LIST_ITEM,
    CORDON_GRAMMAR_STATES,
} cordon_grammar_state;

typedef enum cordon_token {
    CORDON_TOKEN_NAME = 0,
    CORDON_TOKEN_ASSIGN,
    CORDON_TOKEN_SCALAR,
    CORDON_TOKEN_OPEN,
    CORDON_TOKEN_CLOSE,
    CORDON_TOKEN_SEMICOLON,
    CORDON_TOKEN_COMMA,
    CORDON_TOKENS,
} cordon_token;

/* Moves on; false when the token may not stand here, and then the state is as it was. */
bool cordon_grammar_step(cordon_grammar_state *state, cordon_token token);

/* What must stand here, for a message. */
const char *cordon_grammar_wanted(cordon_grammar_state state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that a run makes of its engine, so that a test can act at each of them in turn. A call
 * is known again in another run by its kind, its role and how many such came before it.
 */
#ifndef CORDON_TESTS_REAL_SURVEY_H
#define CORDON_TESTS_REAL_SURVEY_H

#include "play.h"

/* More calls than a run makes. */
#define SURVEY_MAX 160

/*
 * what      "GET /networks/..."
 * released  the command was already on its way
 */
typedef struct place {
    play_request request;
    char what[72];
    bool released;
} place;

typedef struct survey {
    play play;
    pthread_mutex_t lock;
    bool released;
    place places[SURVEY_MAX];
    size_t count;
} survey;

/* From a run of this command, which must end with 0. */
bool survey_take(survey *s, call command);

bool survey_is(const place *at, const play_request *r);

/* True if the environment wants a test at every call and not at some. */
bool survey_wants_all(void);

#endif

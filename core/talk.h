/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A talk: what an agent's steps of one invocation were asked and what they answered, in order. From
 * it Cordon itself writes the session that a later step resumes, so that no file which a step could
 * have written is believed by the next one.
 */
#ifndef CORDON_TALK_H
#define CORDON_TALK_H

#include "kit/buf.h"

/* Most bytes of a talk that can be resumed. */
#define CORDON_TALK_MAX (2U << 20)

/* Fine when zeroed: nothing was said. */
typedef struct cordon_talk {
    cordon_buf said; /* each: a byte for who, the text; a NUL between them */
    size_t last;     /* where the last one begins */
    bool too_long;   /* more was said than is kept: it cannot be resumed */
} cordon_talk;

void cordon_talk_clear(cordon_talk *talk);
CORDON_DEFINE_AUTO(cordon_talk, cordon_talk_clear)

/*
 * Adds what was asked, or answered, of `length` bytes without NUL; answers in a row become one.
 * Beyond CORDON_TALK_MAX nothing is kept and too_long says so. 0, or -1 with NOMEM.
 */
int cordon_talk_ask(cordon_talk *talk, const char *text, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_talk_answer(cordon_talk *talk, const char *text, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* One after another, from *at = 0 on; false past the last. The text lives until the next change. */
bool cordon_talk_next(const cordon_talk *talk, size_t *at, bool *ret_asked, const char **ret_text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked and answered; see talk.h. */
#include "talk.h"

#include <string.h>

#define ASKED    '?'
#define ANSWERED '!'

void cordon_talk_clear(cordon_talk *talk)
{
    cordon_buf_clear(&talk->said);
    *talk = (cordon_talk){0};
}

/* What stands before the text: nothing new where an answer goes on. */
static int talk_begin(cordon_talk *talk, char who, cordon_err *err)
{
    cordon_buf *said = &talk->said;

    if (said->length > 0 && who == ANSWERED && said->data[talk->last] == ANSWERED)
        return cordon_buf_append_text(said, "\n\n", err);
    if (said->length > 0 && cordon_buf_append_char(said, '\0', err) != 0)
        return -1;
    talk->last = said->length;
    return cordon_buf_append_char(said, who, err);
}

static int talk_add(cordon_talk *talk, char who, const char *text, size_t length, cordon_err *err)
{
    if (talk->said.max_bytes == 0)
        talk->said = cordon_buf_make_secret(CORDON_TALK_MAX);
    if (talk->too_long || length + 2 > CORDON_TALK_MAX - talk->said.length) {
        talk->too_long = true;
        return 0;
    }
    if (talk_begin(talk, who, err) != 0)
        return -1;
    return cordon_buf_append(&talk->said, text, length, err);
}

int cordon_talk_ask(cordon_talk *talk, const char *text, size_t length, cordon_err *err)
{
    return talk_add(talk, ASKED, text, length, err);
}

int cordon_talk_answer(cordon_talk *talk, const char *text, size_t length, cordon_err *err)
{
    return talk_add(talk, ANSWERED, text, length, err);
}

bool cordon_talk_next(const cordon_talk *talk, size_t *at, bool *ret_asked, const char **ret_text)
{
    if (*at >= talk->said.length)
        return false;
    *ret_asked = talk->said.data[*at] == ASKED;
    *ret_text = talk->said.data + *at + 1;
    *at += strlen(*ret_text) + 2;
    return true;
}

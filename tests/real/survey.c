/* SPDX-License-Identifier: Apache-2.0 */
/* See survey.h. */
#include "survey.h"

#include <stdlib.h>

/* A release is longer than anything else that goes to a step's gate. */
#define RELEASE_LEAST 100

static void describe(const liar_exchange *x, place *ret)
{
    const char *path = strstr(x->path, "/libpod/");
    path = path ? path + strlen("/libpod") : x->path;
    (void)snprintf(ret->what, sizeof ret->what, "%s %.50s", x->method, path);
}

static liar_word note(play *p, const play_request *r, liar_exchange *x)
{
    survey *s = p->hooks.context;
    (void)pthread_mutex_lock(&s->lock);
    if (s->count < SURVEY_MAX) {
        s->places[s->count] = (place){.request = *r, .released = s->released};
        describe(x, &s->places[s->count++]);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return LIAR_PASS;
}

static liar_word note_release(play *p, const play_request *r, bool to_engine, char *bytes,
                              size_t length)
{
    survey *s = p->hooks.context;
    (void)bytes;
    (void)pthread_mutex_lock(&s->lock);
    s->released = s->released || (to_engine && r->call == PLAY_ATTACH &&
                                  r->role == CORDON_ROLE_STEP && length >= RELEASE_LEAST);
    (void)pthread_mutex_unlock(&s->lock);
    return LIAR_PASS;
}

bool survey_take(survey *s, call command)
{
    cordon_auto(outcome) o = {0};
    const play_hooks hooks = {.context = s, .ask = note, .piece = note_release};
    *s = (survey){.count = 0};
    (void)pthread_mutex_init(&s->lock, NULL);
    bool ok = play_begin(&s->play, command, &hooks);
    ok = play_end(&s->play, &o) && ok && EXPECT_EXITED(&o, 0);
    (void)pthread_mutex_destroy(&s->lock);
    return CHECK(ok && s->released && s->count > 10 && s->count < SURVEY_MAX);
}

bool survey_is(const place *at, const play_request *r)
{
    return r->call == at->request.call && r->role == at->request.role && r->nth == at->request.nth;
}

bool survey_wants_all(void)
{
    return getenv("CORDON_TEST_EVERY_CALL") != NULL;
}

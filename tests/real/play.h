/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One `cordon` that speaks to a real engine through a liar. A play knows which request is which -
 * the step's start, the second look at the vendor network - so that a test says at what point it
 * acts and not how an engine spells it.
 */
#ifndef CORDON_TESTS_REAL_PLAY_H
#define CORDON_TESTS_REAL_PLAY_H

#include <pthread.h>

#include "owner.h"
#include "real.h"
#include "support/json_text.h"
#include "support/liar.h"

typedef enum play_call {
    PLAY_OTHER = 0,
    PLAY_CREATE,  /* container, network or volume */
    PLAY_CONNECT, /* of a container, to the network of that role */
    PLAY_INSPECT,
    PLAY_MEMBERS, /* who has the volume of that role; libpod: who is on the network */
    PLAY_ATTACH,
    PLAY_START,
    PLAY_WAIT,
    PLAY_SIGNAL,
    PLAY_REMOVE,
    PLAY_EVENTS,
    PLAY_CALLS
} play_call;

/* What a request is: nth counts from 1 among those of the same call and role. */
typedef struct play_request {
    play_call call;
    cordon_role role; /* CORDON_ROLE_COUNT: nobody's, or not known */
    unsigned nth;
} play_request;

typedef struct play play;

/* Hooks run on the liar's threads, side by side; each may be NULL. */
typedef struct play_hooks {
    void *context;
    liar_word (*ask)(play *p, const play_request *r, liar_exchange *x);
    liar_word (*answer)(play *p, const play_request *r, liar_exchange *x);
    liar_word (*piece)(play *p, const play_request *r, bool to_engine, char *bytes, size_t length);
} play_hooks;

struct play {
    play_hooks hooks;
    liar *liar;
    pthread_mutex_t lock;
    unsigned counts[PLAY_CALLS][CORDON_ROLE_COUNT + 1];
    unsigned starts; /* answered */
    char ids[CORDON_ROLE_COUNT][CORDON_ID_HEX + 1];
    char names[CORDON_ROLE_COUNT][96];
    char *bodies[CORDON_ROLE_COUNT]; /* of the creates, as sent; freed by play_end */
    running process;
};

/* Starts a liar and a `cordon` that uses it; what->endpoint is overwritten. */
bool play_begin(play *p, call what, const play_hooks *hooks);
/* Waits for the end of it, and ends the liar. */
bool play_end(play *p, outcome *ret_outcome);

/* The words of a run of two steps; must stay where they are while it is started. */
typedef struct play_steps {
    const char *options[5];
    char approved[256];
} play_steps;

/*
 * A call of two steps without a network, which share a scratch: `true`, and a shell's script (no
 * quotes in it). deadline: as the option has it.
 */
bool play_two_steps(play_steps *s, const char *script, const char *deadline, call *ret_call);

/* Path of the engine's socket. */
const char *play_engine_path(void);

/*
 * One place of a JSON request is changed on its way: value replaces what is there, insert adds a
 * member or item to it, neither drops it. False when there is no such place.
 */
bool play_edit(liar_exchange *x, const char *path, const char *value, const char *insert);

#endif

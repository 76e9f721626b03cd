/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What another client of the engine's socket can do to a run: each change as one function that
 * spells it for Docker and for libpod. They act on the real engine, beside the liar.
 */
#ifndef CORDON_TESTS_ATTACK_CHANGES_H
#define CORDON_TESTS_ATTACK_CHANGES_H

#include "real/play.h"

/* What a change works with; ids of things that the test made itself, "" where there is none. */
typedef struct stage {
    play *p;
    cordon_role target;
    char foreign_network[CORDON_ID_HEX + 1];
    char foreign_container[CORDON_ID_HEX + 1];
    char stand_in[CORDON_ID_HEX + 1]; /* container that took the place of a removed one */
    char stand_in_network[CORDON_ID_HEX + 1];
    bool refused; /* the engine declined the change, so nothing has changed */
} stage;

/* The head of a foreign container's name. */
#define STAGE_FOREIGNER "cordon-attack-foreigner"

/* A name that hardly another run of the test has. */
void stage_own_name(const stage *s, const char *head, char ret_name[64]);

/* By hand: with CORDON_ATTACK_TARGET="keeper scratch" only what is about these roles. */
bool stage_asked_for(cordon_role role);

/* False when it could not even be asked for. */
typedef bool change_fn(stage *s);

change_fn change_memory;
change_fn change_restart_policy;
change_fn connect_to_foreign; /* the target */
change_fn connect_foreigner;  /* a foreign container to the vendor network */
change_fn disconnect;         /* the target from the vendor network */
change_fn rename_it;
change_fn replace_it;      /* removed and made again, same name and configuration */
change_fn replace_network; /* the vendor network, the same way */
change_fn remove_scratch;
change_fn replace_scratch; /* removed and made again, same name, labels and options */
change_fn join_scratch;    /* a foreign container mounts it */
change_fn execute;
change_fn upload;         /* PUT of an archive into the root */
change_fn upload_scratch; /* the same into the scratch */
change_fn retag;          /* the image's name now means another one */
change_fn pause_it;
change_fn start_it;
change_fn kill_it;
change_fn stop_it;
change_fn term_it;
change_fn attach_again;
change_fn commit_it;
change_fn download;

/* "rename_it" and the like, for messages. */
const char *stage_name(change_fn *change);

/* libpod: the change has an event of the target, and the engine's own record of events lacks it. */
bool stage_event_is_lost(const stage *s, change_fn *change);

/* The foreign container goes, once. */
void stage_leave(stage *s);

/* Removes what the changes made; the stand-ins must still be there. */
void stage_clear(stage *s);

#endif

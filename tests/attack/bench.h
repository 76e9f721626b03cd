/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workbench: real networks, a scratch and real plans on the engine under test, on which single
 * creates are made through a liar, inspected honestly and judged by core's own tables. Nothing is
 * started, so hundreds of changed creates take seconds.
 */
#ifndef CORDON_TESTS_ATTACK_BENCH_H
#define CORDON_TESTS_ATTACK_BENCH_H

#include "expect.h"
#include "images.h"
#include "plan.h"
#include "real/real.h"
#include "support/json_text.h"
#include "support/liar.h"
#include "validate.h"

/* What is done to the body of a create: value NULL drops, insert adds to a container. */
typedef struct bench_change {
    const char *path;
    const char *value;
    const char *insert;
} bench_change;

typedef struct bench {
    cordon_owner owner;
    cordon_images images;
    cordon_plan_input input;
    cordon_plan_host host;
    cordon_plan plan;
    cordon_plan shared; /* of several steps: its scratch and keeper are those that are tried */
    liar *liar;
    void *impl;       /* a session through the liar */
    const char *call; /* the request that is changed has this in its path */
    const bench_change *change;
    bool changed;
    char *body; /* as it went out last, unchanged */
} bench;

typedef enum bench_verdict {
    BENCH_BROKEN = 0, /* the test itself failed */
    BENCH_DECLINED,   /* the engine declined the create */
    BENCH_REFUSED,
    BENCH_UNREAD, /* the answer could not be read: PROTOCOL and a path */
    BENCH_SILENT, /* created, inspected, and nothing was found */
} bench_verdict;

/* Makes networks, scratch and plans; worktree is given read-only. */
bool bench_open(bench *b, const char *worktree);
void bench_close(bench *b);

/* One create of that role, changed on its way; the object is gone again afterwards. */
bench_verdict bench_try(bench *b, cordon_role role, const bench_change *change,
                        cordon_refusal *ret_refusal, char ret_message[256]);

#endif

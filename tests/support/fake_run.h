/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run over the fake engine, through the public API: configuration from a file, engine,
 * policy, command, invocation, run, receipt. A test scripts the fake between fake_run_open and
 * fake_run_go and looks at what is left of it afterwards.
 *
 * This file defines cordon_engine_registry: both models of the fake.
 */
#ifndef CORDON_TESTS_SUPPORT_FAKE_RUN_H
#define CORDON_TESTS_SUPPORT_FAKE_RUN_H

#include "cordon/cordon.h"
#include "kit/buf.h"
#include "kit/cleanup.h"
#include "support/fake_engine.h"
#include "support/folder.h"

/*
 * podman       the model; false: docker
 * probe        the boundary probe; false: the approved runner command "make check"
 * worktree     with a worktree, in phase execute; false: none, in phase review
 * deadline_ms  of the run; 0: long enough for any test
 * grace        "0s", "10s": between TERM and KILL; NULL: "10s"
 * output       limits.output; NULL: "1MiB"
 * steps        how many there are, all of the same command; 0: one
 * image        of the invocation; NULL: the configuration's
 * unpinned     the configuration names no image
 * lock         text of the lock file that the configuration names; "" for none that is there, NULL
 *              for a configuration that names none
 */
typedef struct fake_run_options {
    bool podman;
    bool probe;
    bool worktree;
    size_t steps;
    int64_t deadline_ms;
    const char *grace;
    const char *output;
    const char *image;
    bool unpinned;
    const char *lock;
    const char *settings; /* more of the configuration; NULL: nothing */
} fake_run_options;

typedef struct fake_run {
    fake_run_options options;
    test_folder folder;
    fake_engine *fake;
    cordon_config *config;
    cordon_engine *engine;
    cordon_policy *policy;
    cordon_command *command;
    cordon_invocation *invocation;
    int out_fd; /* files in memory, unless a test puts its own descriptors here */
    int err_fd;
    int cancel[2]; /* a pipe: a byte into [1] cancels */
    cordon_receipt *receipt;
    cordon_result result;
    cordon_buf words; /* progress: "create validate released ..." */
    /* Called with each of these words, on the thread of the run; may tamper or cancel. */
    void (*at_word)(void *context, struct fake_run *run, const char *word);
    void *at_context;
    cordon_err err;
} fake_run;

/* Everything up to the engine, which is opened by fake_run_connect. False with err. */
bool fake_run_prepare(fake_run *run, const fake_run_options *options);
/* Opens the engine. */
bool fake_run_connect(fake_run *run);
/* Policy, command and invocation. */
bool fake_run_invoke(fake_run *run);
/* All three. */
bool fake_run_open(fake_run *run, const fake_run_options *options);

/* The run itself: true if there is a receipt; fills result. */
bool fake_run_go(fake_run *run);

/* Frees everything in the right order; fine on a half-made or zeroed value. */
void fake_run_clear(fake_run *run);
CORDON_DEFINE_AUTO(fake_run, fake_run_clear)

/* What came out so far, cut to size - 1 bytes. */
const char *fake_run_output(int fd, char *text, size_t size);

/* How many files the state folder's journal holds. */
size_t fake_run_journals(fake_run *run);

/* The index of the first or last call of this operation on this role; -1 for none. */
long fake_run_first(fake_run *run, fake_op op, const char *role);
long fake_run_last(fake_run *run, fake_op op, const char *role);

#endif

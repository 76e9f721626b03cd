/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make objects share; private to them (make.c, make_container.c,
 * make_scratch.c). */
#ifndef CORDON_MAKE_H
#define CORDON_MAKE_H

#include "run.h"

/* A daemon that needs longer for one create is broken; the run's own deadline is above it. */
#define CORDON_MAKE_CREATE_MS 180000

/* Writes down that an object is about to be asked for. */
int cordon_make_planned(cordon_run *run, cordon_role role, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Notes what came of a create, the id as soon as it is known.
 * @param id      NULL: none is known
 * @param result  of the create, which is passed on; err is then set
 */
int cordon_make_created(cordon_run *run, cordon_role role, const char *id, int result,
                        cordon_err *err) __attribute__((warn_unused_result));

/* The create of a container and what came of it, noted. */
int cordon_make_container(cordon_run *run, cordon_role role, cordon_err *err)
    __attribute__((warn_unused_result));

/* A container: made, looked at, attached, its runtime's configuration read, started. */
int cordon_make_start(cordon_run *run, cordon_role role, unsigned slot, unsigned attach_flags,
                      cordon_stream **ret_stream, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of select.h share: a selection under way, and what it adds candidates by. */
#ifndef CORDON_SELECT_IMPL_H
#define CORDON_SELECT_IMPL_H

#include "kit/buf.h"
#include "select.h"

/*
 * broken  why an automatic candidate that somebody has set up cannot be one (a current context that
 *         leads nowhere); it is told where nothing else is left
 */
typedef struct cordon_selection {
    const cordon_config *config;
    const cordon_select_env *env;
    cordon_probe_fn *probe;
    void *context;
    char runtime_dir[512];
    cordon_candidates found;
    cordon_buf looked;
    cordon_err broken;
} cordon_selection;

/* What a candidate is made of; all borrowed. passed: why it is not to be tried, or NULL. */
typedef struct cordon_draft {
    const char *name;
    cordon_engine_kind kind;
    const char *endpoint;
    const char *tls_ca_file;
    const char *tls_cert_file;
    const char *tls_key_file;
    const char *program;
    const char *identity;
    const char *passed;
    cordon_origin origin;
} cordon_draft;

bool cordon_select_is_set(const char *text);

/* Adds one; the rest is its why. */
int cordon_selection_add(cordon_selection *s, const cordon_draft *from, cordon_err *err,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- By the names of Docker's and Podman's own files (select_named.c) --- */

/* CONTAINER_CONNECTION or CONTAINER_HOST; DOCKER_HOST or DOCKER_CONTEXT. */
bool cordon_select_has_variable(const cordon_selection *s, cordon_engine_kind kind);
int cordon_select_variable(cordon_selection *s, cordon_engine_kind kind, cordon_err *err);

/*
 * Docker's current context as the automatic candidate, instead of its sockets.
 * @param ret_set  false: there is none, and Docker's sockets count
 */
int cordon_select_current(cordon_selection *s, bool *ret_set, cordon_err *err);

/*
 * The engine that one of those files has by this name, which may have "docker:" or "podman:" before
 * it. NOTFOUND: none has; the message says where was looked.
 */
int cordon_select_named(cordon_selection *s, const char *source, const char *name, cordon_err *err);

#endif

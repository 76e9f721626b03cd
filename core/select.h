/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engine a run talks to. A pure function from configuration, options and environment to a
 * list of candidates; the only question to the outside goes through a callback. Nothing is
 * connected to here.
 *
 * Order, the first that says something decides:
 *   1. --engine NAME
 *   2. CORDON_ENGINE
 *   3. the configuration's engine = "NAME"
 *   4. CONTAINER_CONNECTION, CONTAINER_HOST (kind podman, in Podman's own order; CONTAINER_SSHKEY)
 *   5. DOCKER_HOST (kind docker; with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH), DOCKER_CONTEXT
 *   6. automatic: the configured engines in their order, then the well-known sockets that
 *      exist: Podman's of the user, Podman's of the system (root only); Docker's current context
 *      (config.json; not with DOCKER_CONTEXT=default) or, where none is set, Docker's socket of
 *      the system and of the user; then, with podman_service = "auto" and the program found,
 *      serving Podman for the time of the run.
 * "auto" in 1 to 3 goes straight to 4. An empty variable counts as unset; an empty --engine is an
 * error.
 *
 * A NAME is one from the configuration's list, or - when the list has no such name - "docker" or
 * "podman": that kind's variable (4, 5), else the first automatic candidate of that kind, else
 * its default socket; or the name of a context of Docker's or a connection of Podman's
 * (engine_names.h), which "docker:NAME" and "podman:NAME" tell apart. Podman's default connection
 * has no say: podman itself uses it for remote work alone.
 *
 * SECURITY: 1 to 5 are explicit: one candidate, and if it does not answer the run fails. Only 6
 * falls back: the caller tries its candidates in order and moves on at UNREACHABLE alone. A
 * current context that leads nowhere is passed over for other engines, never for Docker's sockets.
 */
#ifndef CORDON_SELECT_H
#define CORDON_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "config.h"
#include "engine.h"
#include "kit/cleanup.h"

/* What the CLI read from its environment; NULL is unset. Borrowed. */
typedef struct cordon_select_env {
    const char *option;               /* --engine */
    const char *cordon_engine;        /* CORDON_ENGINE */
    const char *container_host;       /* CONTAINER_HOST */
    const char *docker_host;          /* DOCKER_HOST */
    const char *docker_tls;           /* DOCKER_TLS_VERIFY: anything but empty asks for TLS */
    const char *docker_certs;         /* DOCKER_CERT_PATH: folder of ca.pem, cert.pem and key.pem */
    const char *docker_context;       /* DOCKER_CONTEXT */
    const char *docker_config;        /* DOCKER_CONFIG; NULL: ~/.docker */
    const char *container_connection; /* CONTAINER_CONNECTION */
    const char *container_sshkey;     /* CONTAINER_SSHKEY */
    const char *home;                 /* NULL: no files of Docker's and Podman's but by variables */
    const char *config_home;          /* XDG_CONFIG_HOME; NULL: ~/.config */
    const char *runtime_dir;          /* XDG_RUNTIME_DIR; NULL: /run/user/UID */
    const char *path;                 /* PATH, for podman_program and ssh_program */
    uid_t uid;
} cordon_select_env;

typedef enum cordon_probe_question {
    CORDON_PROBE_SOCKET = 1, /* is there a socket at this path? */
    CORDON_PROBE_PROGRAM,    /* is this a file that the caller may execute? */
} cordon_probe_question;

typedef bool cordon_probe_fn(void *context, cordon_probe_question question, const char *path);

/* The real answers, by stat(2) and access(2). */
bool cordon_select_probe(void *context, cordon_probe_question question, const char *path);

typedef enum cordon_origin {
    CORDON_ORIGIN_UNKNOWN = 0,
    CORDON_ORIGIN_EXPLICIT,
    CORDON_ORIGIN_AUTO,
} cordon_origin;

/*
 * name      the configured name, or the kind's
 * endpoint  NULL: program serves (engine ops "serve"), on a socket path that the caller makes
 * program   absolute path: what serves, or for an ssh:// endpoint the ssh (NULL: none was found);
 *           else NULL
 * identity  for an ssh:// endpoint, the file of a private key, or NULL
 * passed    why it is not to be tried, or NULL; then endpoint may be "" (not known)
 * why       one line for people: "CONTAINER_HOST is set", "/run/podman/podman.sock exists"
 */
typedef struct cordon_candidate {
    char *name;
    cordon_engine_kind kind;
    char *endpoint;
    char *tls_ca_file;
    char *tls_cert_file;
    char *tls_key_file;
    char *why;
    cordon_origin origin;
    char *program;
    char *identity;
    char *passed;
} cordon_candidate;

/* At least one item that is to be tried after success. */
typedef struct cordon_candidates {
    size_t count;
    cordon_candidate *items;
} cordon_candidates;

/*
 * @return 0, or -1 with CONFIG (an unknown name: the message lists the known ones; a bad
 *         endpoint in a variable, which is named), UNREACHABLE (automatic and nothing there: the
 *         message says where was looked), NOMEM
 */
int cordon_select(const cordon_config *config, const cordon_select_env *env, cordon_probe_fn *probe,
                  void *context, cordon_candidates *ret_candidates, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The same for whoever wants to see the whole order: success also where nothing is to be tried, and
 * then *ret_none says what cordon_select would fail with.
 */
int cordon_select_order(const cordon_config *config, const cordon_select_env *env,
                        cordon_probe_fn *probe, void *context, cordon_candidates *ret_candidates,
                        cordon_err *ret_none, cordon_err *err) __attribute__((warn_unused_result));

/*
 * The ssh program of the configuration, for an ssh:// endpoint.
 * @param path         PATH; only its absolute entries count
 * @param ret_program  absolute path; untouched when there is none
 */
int cordon_select_ssh(const cordon_config *config, const char *path, cordon_probe_fn *probe,
                      void *context, char **ret_program, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_candidates_clear(cordon_candidates *candidates);
CORDON_DEFINE_AUTO(cordon_candidates, cordon_candidates_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open engine: which one was chosen and why, the operations with their cookie, what it can
 * do, and - when Cordon started "podman system service" itself - that process, which ends with the
 * session.
 */
#ifndef CORDON_SESSION_H
#define CORDON_SESSION_H

#include <sys/types.h>

#include "cordon/cordon.h"
#include "engine.h"
#include "select.h"

/* A "podman system service" of our own. pid 0 is none. */
typedef struct cordon_service {
    pid_t pid;
    char *program;
    char *folder; /* private, made by mkdtemp(3) */
    char *socket_path;
} cordon_service;

struct cordon_engine {
    const cordon_engine_ops *ops;
    void *impl;
    cordon_engine_facts facts;
    char *name;
    char *endpoint;
    char *why;
    cordon_service service;
    int64_t open_ms; /* how long choosing, starting and connecting took */
};

/* The path behind "unix://", or NULL for another kind of endpoint. */
const char *cordon_session_socket(const cordon_engine *engine);

/* Starts program as a service on a socket in a new private folder below runtime_dir. */
int cordon_service_start(const cordon_engine_ops *ops, const char *program, const char *runtime_dir,
                         cordon_service *ret_service, cordon_err *err)
    __attribute__((warn_unused_result));

/* Waits until the socket exists or the process has ended. */
int cordon_service_await(cordon_service *service, cordon_deadline dl, cordon_err *err)
    __attribute__((warn_unused_result));

/* TERM, a short grace, KILL; removes socket and folder. Fine on a zeroed value. */
void cordon_service_stop(cordon_service *service);

/* Removes socket and folder of a service that has ended with its cordon; nothing for others. */
void cordon_service_forget(const char *endpoint);

/*
 * Opens the engine that an earlier run used, and no other: for what that run left.
 * @param service   the program that served that run alone, which is started again; NULL: there was
 *                  none. Otherwise endpoint counts, with the TLS files that config has for it
 * @return 0, or -1 as cordon_engine_open
 */
int cordon_session_reopen(const cordon_config *config, const cordon_host *host, const char *kind,
                          const char *endpoint, const char *service, cordon_deadline dl,
                          cordon_engine **ret_engine, cordon_err *err)
    __attribute__((warn_unused_result));

/* Fills what cordon_select wants from what the caller handed over. */
cordon_select_env cordon_session_env(const cordon_host *host, const char *option);

#endif

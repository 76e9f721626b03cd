/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open engine: which one was chosen and why, the operations with their cookie, what it can
 * do, and - when Cordon started "podman system service" or ssh itself - that process, which ends
 * with the session.
 */
#ifndef CORDON_SESSION_H
#define CORDON_SESSION_H

#include <sys/types.h>

#include "cordon/cordon.h"
#include "engine.h"
#include "select.h"

/*
 * A "podman system service" of our own, or an ssh that forwards an engine's socket. pid 0 is none.
 * program      NULL for ssh: nobody but the user's ssh set-up decides what serves there
 * said_fd      while pid > 0: what it wrote to its stderr
 */
typedef struct cordon_service {
    pid_t pid;
    int said_fd;
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

/*
 * The path behind "unix://", or NULL for another kind of endpoint: then the engine is not known to
 * be on this machine. The socket that ssh makes here is none of those.
 */
const char *cordon_session_socket(const cordon_engine *engine);

/* Starts program as a service on a socket in a new private folder below runtime_dir. */
int cordon_service_start(const cordon_engine_ops *ops, const char *program, const char *runtime_dir,
                         cordon_service *ret_service, cordon_err *err)
    __attribute__((warn_unused_result));

/* Where an engine is that ssh reaches. Borrowed; see cordon_ssh_argv. */
typedef struct cordon_service_route {
    const char *program;
    const char *endpoint;
    const char *identity;
    cordon_engine_kind kind;
} cordon_service_route;

/* Starts ssh, which makes a socket in such a folder as soon as the other side let it in. */
int cordon_service_forward(const cordon_service_route *route, const char *runtime_dir,
                           cordon_service *ret_service, cordon_err *err)
    __attribute__((warn_unused_result));

/* Adds the last of what the program said, made printable and cut, to an error's message. */
void cordon_service_explain(const cordon_service *service, cordon_err *err);

/* Waits until somebody listens on the socket or the process has ended. */
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

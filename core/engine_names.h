/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines by the names that other programs' files have for them: Docker's contexts and Podman's
 * connections. Reading alone, nothing is connected to.
 *
 *   Docker (github.com/docker/cli, cli/context/store): FOLDER/contexts/meta/<sha256 of the name>/
 *   meta.json with Name and Endpoints.docker.Host, FOLDER/contexts/tls/<the same>/docker/{ca,cert,
 *   key}.pem, and in FOLDER/config.json currentContext. FOLDER is $DOCKER_CONFIG or ~/.docker.
 *
 *   Podman (github.com/containers/common, pkg/config): FOLDER/podman-connections.json with
 *   Connection.Connections.NAME.{URI,Identity,TLSCA,TLSCert,TLSKey} of Podman 5, and the tables
 *   [engine.service_destinations.NAME] with uri and identity in FOLDER/containers.conf of Podman 4.
 *   FOLDER is $XDG_CONFIG_HOME/containers or ~/.config/containers.
 *
 * SECURITY: such a file decides who is root over a run's containers, and may have come from
 * somewhere else: it must be trusted like Cordon's own (trust.h), is bounded, and whatever in it
 * says how to connect and is not known here is refused. What it names is checked like an endpoint
 * of the configuration. No verification of a peer can be switched off by it.
 */
#ifndef CORDON_ENGINE_NAMES_H
#define CORDON_ENGINE_NAMES_H

#include "kit/cleanup.h"
#include "kit/error.h"
#include "trust.h"

/* What is asked for with these before it: one file's name, where several have it. */
#define CORDON_NAME_DOCKER "docker:"
#define CORDON_NAME_PODMAN "podman:"

/* The name of Docker's that stands for "no context". */
#define CORDON_DOCKER_DEFAULT "default"

/*
 * endpoint  passed cordon_address_check
 * tls_*     absolute, or NULL
 * identity  a private key's file for ssh, absolute, or NULL
 * file      which file says so, for messages
 */
typedef struct cordon_named_engine {
    char *endpoint;
    char *tls_ca_file;
    char *tls_cert_file;
    char *tls_key_file;
    char *identity;
    char *file;
} cordon_named_engine;

void cordon_named_engine_clear(cordon_named_engine *engine);
CORDON_DEFINE_AUTO(cordon_named_engine, cordon_named_engine_clear)

/*
 * 0 if text may be a name: letters, digits, '_', '.', '+' and '-', the first of them a letter or
 * digit, at most 128; with one of the two prefixes before it if it wants. Else -1 with CONFIG.
 */
int cordon_name_check(const char *text, cordon_err *err) __attribute__((warn_unused_result));

/*
 * @param folder  absolute
 * @return 0, or -1 with NOTFOUND (no such name; the message names the file that was looked for),
 *         CONFIG (not understood, leads nowhere, a bad endpoint; names the file), REFUSED (not
 *         trusted), SYSTEM, NOMEM
 */
int cordon_name_docker(const cordon_trust *trust, const char *folder, const char *name,
                       cordon_named_engine *ret_engine, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_name_podman(const cordon_trust *trust, const char *folder, const char *name,
                       cordon_named_engine *ret_engine, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The context that Docker's own client takes where nobody says anything.
 * @param ret_name  NULL: none is set, or it is "default"
 * @return 0, or -1 with CONFIG, REFUSED, SYSTEM or NOMEM
 */
int cordon_name_docker_current(const cordon_trust *trust, const char *folder, char **ret_name,
                               cordon_err *err) __attribute__((warn_unused_result));

#endif

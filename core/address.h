/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax of engine endpoints and the names of engine kinds, as configuration, environment
 * and messages spell them. Pure text, no connection.
 */
#ifndef CORDON_ADDRESS_H
#define CORDON_ADDRESS_H

#include <stdbool.h>

#include "engine.h"
#include "kit/error.h"

/* Longest socket path that fits sockaddr_un with its NUL (unix(7)). */
#define CORDON_SOCKET_PATH_MAX 107

/*
 * Accepts "unix:///abs/path", "tcp://host:port" (host: name, IPv4, [IPv6]) and what ssh.h says of
 * "ssh://". tcp without TLS only reaches loopback: 127.0.0.0/8, [::1], localhost.
 * @param tls  the endpoint will be spoken to with mutual TLS
 * @return 0, or -1 with CONFIG (syntax, tcp without TLS), or UNSUPPORTED (npipe://)
 */
int cordon_address_check(const char *endpoint, bool tls, cordon_err *err)
    __attribute__((warn_unused_result));

/* The path of a unix endpoint, borrowed from it, or NULL for another kind. */
const char *cordon_address_socket_path(const char *endpoint);

/* "docker", "podman"; "unknown". */
const char *cordon_engine_kind_name(cordon_engine_kind kind);

#endif

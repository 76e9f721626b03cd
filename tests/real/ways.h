/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other ways to the engine under test than its socket: an sshd of the tests' own, with keys and
 * known hosts of its own, that speaks over a pipe (no port, and it goes with its ssh); and TLS with
 * client certificates on a port of 127.0.0.1.
 */
#ifndef CORDON_TESTS_REAL_WAYS_H
#define CORDON_TESTS_REAL_WAYS_H

#include "real.h"

/*
 * Makes it all in the test's folder, below "ssh": host key, user key, known_hosts, ssh_config with
 * the aliases "there" (let in) and "stranger" (whose host key is not known), and "ssh/bin/ssh".
 */
bool ways_ssh(void);

/* "ssh://root@ALIAS" and the engine's socket, or path. Each call has its own buffer, of 8. */
const char *ways_ssh_endpoint(const char *alias, const char *path);

/* True while an ssh forwards to the engine's socket, or to path; whoever started it. */
bool ways_ssh_forwards(const char *path);

/*
 * Certificates below "tls" (ca, server, client, and "other-*" of another authority), and a
 * forwarder that asks for the client's. Its port; 0 and a recorded failure.
 */
typedef struct ways_tls {
    child forwarder;
    int stdin_fds[2];
    int port;
} ways_tls;

/*
 * Gives root's home a context "far" of Docker's that leads to such a port with its files, and a
 * connection "far" of Podman's that leads to ways_ssh_endpoint("there") with its key.
 */
bool ways_names(int port);

bool ways_tls_start(ways_tls *ret_tls);
void ways_tls_clear(ways_tls *tls);
CORDON_DEFINE_AUTO(ways_tls, ways_tls_clear)

#endif

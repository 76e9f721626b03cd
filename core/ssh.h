/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "ssh://[user@]host[:port][/path/of/socket]": an engine whose socket is on another machine. The
 * syntax, and the words by which the ssh program forwards that socket to one of ours. Pure text.
 *
 * SECURITY: the text may come from a file of another program (a Docker context), and ends up in an
 * argument vector and in ssh's own small languages (-L, %-tokens, ${variables}). So what has a
 * meaning in one of them is refused, not quoted: there is a list of the bytes that may be, and a
 * word that begins with '-' is none. Whom to trust is the business of ssh: known hosts, keys and
 * agents are the user's, and nothing here makes their checks weaker.
 */
#ifndef CORDON_SSH_H
#define CORDON_SSH_H

#include <stdbool.h>

#include "engine.h"
#include "kit/error.h"

/* What ssh(1) is called where the configuration says nothing else. */
#define CORDON_SSH_PROGRAM "ssh"

/*
 * user  "": as ssh is set up
 * host  name, address or an alias of ssh_config(5); without the brackets of an IPv6 address
 * port  decimal; "": as ssh is set up
 * path  "": the kind's usual one
 */
typedef struct cordon_ssh_place {
    char user[64];
    char host[256];
    char port[6];
    char path[108];
} cordon_ssh_place;

/* By its scheme alone. */
bool cordon_ssh_is_endpoint(const char *endpoint);

/*
 * @return 0, or -1 with CONFIG and the reason: a password, a query, a fragment, escapes ('%'),
 * bytes that mean something to ssh, a user or host that begins with '-', no host, a bad port, a
 *         path that is too long, not normal or a folder's
 */
int cordon_ssh_parse(const char *endpoint, cordon_ssh_place *ret_place, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The argument vector that forwards socket_path, a unix socket that ssh makes here, to the place's
 * socket until it is ended.
 * @param program      absolute path
 * @param identity     a private key's file for "-i", absolute; NULL: as ssh is set up
 * @param socket_path  absolute; CONFIG if ssh could read it in another way
 * @param ret_argv     NULL-terminated, each word and the vector on the heap
 */
int cordon_ssh_argv(const char *program, const char *endpoint, cordon_engine_kind kind,
                    const char *identity, const char *socket_path, char ***ret_argv,
                    cordon_err *err) __attribute__((warn_unused_result));

/* Frees such a vector; fine on NULL. */
void cordon_ssh_argv_free(char **argv);

#endif

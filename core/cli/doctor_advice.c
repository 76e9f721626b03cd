/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next step for an engine that could not be opened. The library's line says what is wrong; this
 * says what to type. Chosen by the words of that line, since one error code has many causes; what
 * no row knows gets the general advice.
 */
#include <string.h>

#include "doctor.h"

static const struct {
    const char *words;
    const char *next;
} advice[] = {
    {"there is no engine", "give that variable, option or key one of the names that are known"},
    {"write unix:// before", "put unix:// before the path, in the variable or key that is named"},
    {"without TLS everybody",
     "DOCKER_HOST: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH; an engine of the configuration: "
     "tls_ca, tls_cert, tls_key; or forward the port to 127.0.0.1"},
    {"DOCKER_CERT_PATH", "set it to the folder with ca.pem, cert.pem and key.pem"},
    {"Podman's Docker-compatible",
     "unset DOCKER_HOST and set CONTAINER_HOST to the same address; in the configuration: kind = "
     "\"podman\""},
    {"this is a Docker daemon",
     "unset CONTAINER_HOST and set DOCKER_HOST to the same address; in the configuration: kind = "
     "\"docker\""},
    {"no ssh program", "install openssh-client, or set ssh_program in the configuration"},
    {"ssh ended before", "make `ssh -o BatchMode=yes HOST true` work: host key, key or agent"},
    {"endpoint \"",
     "correct the variable or key that is named: unix:///path, tcp://host:port or ssh://host/path"},
    {"has a password in it", "take it out; a key or an agent lets ssh in"},
    {"ermission denied", "join the group of the socket, or use a rootless engine of your own"},
};

const char *cordon_cli_doctor_engine_next(const cordon_err *failure)
{
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++) {
        if (strstr(failure->message, advice[i].words))
            return advice[i].next;
    }
    if (failure->code == CORDON_ERR_CONFIG)
        return "correct what is named";
    return "start one, or name one with --engine";
}

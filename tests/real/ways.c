/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, certificates and servers of the tests' own; see ways.h. */
#include "ways.h"

#include <stdlib.h>
#include <unistd.h>

/* Runs a short script with the folder as $1, and $2; what it says is shown if it fails. */
static bool script_of(const char *text, const char *second)
{
    const child_spec spec = {.argv = WORDS("/bin/sh", "-ec", text, "sh", real.folder, second)};
    child c;
    if (!child_start(&spec, &c))
        return false;
    bool ok = child_finish(&c, REAL_PATIENCE_MS) && c.status == 0;
    TEST_RECORDF(ok, "script: status %d, %s", c.status, cordon_buf_text(&c.err));
    child_clear(&c);
    return ok;
}

static bool script(const char *text)
{
    return script_of(text, "");
}

/*
 * The sshd is a ProxyCommand: it serves the one connection of its standard streams. Its folder for
 * privilege separation belongs to the machine, where a package's sshd may not have run yet.
 */
#define SSH_SCRIPT                                                                                 \
    "umask 077; cd \"$1\"; mkdir -p ssh/bin /run/sshd; chmod 0755 /run/sshd; cd ssh; d=$PWD\n"     \
    "for key in host user other; do ssh-keygen -q -t ed25519 -N '' -C '' -f $key; done\n"          \
    "cp user.pub authorized_keys\n"                                                                \
    "cut -d' ' -f1,2 host.pub | sed 's/^/there /' > known_hosts\n"                                 \
    "cut -d' ' -f1,2 other.pub | sed 's/^/stranger /' >> known_hosts\n"                            \
    "printf '%s\\n' \"HostKey $d/host\" \"AuthorizedKeysFile $d/authorized_keys\" 'UsePAM no' "    \
    "'PermitRootLogin prohibit-password' 'PasswordAuthentication no' "                             \
    "'KbdInteractiveAuthentication no' 'AllowStreamLocalForwarding yes' 'StrictModes no' "         \
    "'LogLevel QUIET' > sshd_config\n"                                                             \
    "printf '%s\\n' 'Host *' \"UserKnownHostsFile $d/known_hosts\" "                               \
    "'GlobalKnownHostsFile /dev/null' 'StrictHostKeyChecking ask' \"IdentityFile $d/user\" "       \
    "'IdentitiesOnly yes' 'IdentityAgent none' 'ControlMaster auto' 'ControlPath '$d'/master' "    \
    "'ControlPersist yes' 'ForwardAgent yes' "                                                     \
    "\"ProxyCommand /usr/sbin/sshd -i -f $d/sshd_config\" > ssh_config\n"                          \
    "printf '%s\\n' '#!/bin/sh' \"exec /usr/bin/ssh -F $d/ssh_config \\\"\\$@\\\"\" > bin/ssh\n"   \
    "chmod 0700 bin/ssh\n"

bool ways_ssh(void)
{
    return script(SSH_SCRIPT);
}

static const char *own_socket(void)
{
    return real.endpoint + strlen("unix://");
}

const char *ways_ssh_endpoint(const char *alias, const char *path)
{
    static char texts[8][256];
    static unsigned next;
    char *text = texts[next++ % 8];
    (void)snprintf(text, sizeof texts[0], "ssh://root@%s%s", alias, path ? path : own_socket());
    return text;
}

bool ways_ssh_forwards(const char *path)
{
    char text[256];
    (void)snprintf(text, sizeof text, "engine.sock:%s", path ? path : own_socket());
    return real_process_has(text);
}

#define TLS_SCRIPT                                                                                 \
    "umask 077; cd \"$1\"; mkdir tls; cd tls\n"                                                    \
    "for ca in ca other-ca; do openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$ca "   \
    "-keyout $ca-key.pem -out $ca.pem 2>/dev/null; done\n"                                         \
    "make() { openssl req -newkey rsa:2048 -nodes -subj /CN=$2 -keyout $2-key.pem -out $2.csr "    \
    "2>/dev/null; printf '%s\\n' \"$3\" > $2.ext; openssl x509 -req -days 2 -in $2.csr -CA "       \
    "$1.pem "                                                                                      \
    "-CAkey $1-key.pem -CAcreateserial -extfile $2.ext -out $2.pem 2>/dev/null; }\n"               \
    "make ca server subjectAltName=IP:127.0.0.1\n"                                                 \
    "make ca client extendedKeyUsage=clientAuth\n"                                                 \
    "make other-ca other-client extendedKeyUsage=clientAuth\n"

bool ways_tls_start(ways_tls *ret_tls)
{
    char ca[128];
    char cert[128];
    char key[128];
    ways_tls tls = {.forwarder = {.out_fd = -1, .err_fd = -1}, .stdin_fds = {-1, -1}};
    (void)snprintf(ca, sizeof ca, "%s/tls/ca.pem", real.folder);
    (void)snprintf(cert, sizeof cert, "%s/tls/server.pem", real.folder);
    (void)snprintf(key, sizeof key, "%s/tls/server-key.pem", real.folder);
    if ((access(ca, F_OK) != 0 && !script(TLS_SCRIPT)) ||
        !CHECK(pipe2(tls.stdin_fds, O_CLOEXEC) == 0))
        return false;
    const child_spec spec = {
        .argv = WORDS(CORDON_TEST_TLS_FORWARD, real.endpoint + strlen("unix://"), ca, cert, key),
        .stdin_fd = tls.stdin_fds[0],
    };
    bool ok =
        child_start(&spec, &tls.forwarder) && child_hear(&tls.forwarder, "\n", REAL_PATIENCE_MS);
    tls.port = ok ? (int)strtol(cordon_buf_text(&tls.forwarder.out), NULL, 10) : 0;
    TEST_RECORDF(tls.port > 0, "no forwarder: %s", cordon_buf_text(&tls.forwarder.err));
    *ret_tls = tls;
    return tls.port > 0;
}

void ways_tls_clear(ways_tls *tls)
{
    for (int i = 0; i < 2; i++) {
        if (tls->stdin_fds[i] > 0)
            (void)close(tls->stdin_fds[i]);
        tls->stdin_fds[i] = -1;
    }
    child_clear(&tls->forwarder);
}

#define DOCKER_NAME_SCRIPT                                                                         \
    "umask 077; id=$(printf far | sha256sum | cut -d' ' -f1); c=$1/home/.docker/contexts\n"        \
    "mkdir -p $c/meta/$id $c/tls/$id/docker\n"                                                     \
    "printf "                                                                                      \
    "'{\"Name\":\"far\",\"Metadata\":{},\"Endpoints\":{\"docker\":{\"Host\":\"tcp://127.0.0.1:"    \
    "%s\",\"SkipTLSVerify\":false}}}' $2 > $c/meta/$id/meta.json\n"                                \
    "cp $1/tls/ca.pem $c/tls/$id/docker/ca.pem; cp $1/tls/client.pem $c/tls/$id/docker/cert.pem\n" \
    "cp $1/tls/client-key.pem $c/tls/$id/docker/key.pem\n"

#define PODMAN_NAME_SCRIPT                                                                         \
    "umask 077; mkdir -p $1/home/.config/containers\n"                                             \
    "printf '{\"Connection\":{\"Default\":\"far\",\"Connections\":{\"far\":{\"URI\":\"%s\","       \
    "\"Identity\":\"%s\",\"IsMachine\":false}}},\"Farm\":{}}' $2 $1/ssh/user > "                   \
    "$1/home/.config/containers/podman-connections.json\n"

bool ways_names(int port)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", port);
    return script_of(DOCKER_NAME_SCRIPT, text) &&
           script_of(PODMAN_NAME_SCRIPT, ways_ssh_endpoint("there", NULL));
}

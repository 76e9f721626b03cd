/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssh:// endpoints: which are taken, in which words the others are refused, and the exact argument
 * vector that ssh gets.
 */
#include "ssh.h"

#include <stdlib.h>

#include "support/test.h"

#define A10  "aaaaaaaaaa"
#define A100 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10

typedef struct place_row {
    const char *endpoint;
    const char *user;
    const char *host;
    const char *port;
    const char *path;
} place_row;

static void good_endpoints_are_taken_apart(void)
{
    static const place_row rows[] = {
        {"ssh://h", "", "h", "", ""},
        {"ssh://h/", "", "h", "", ""},
        {"ssh://me@build.example", "me", "build.example", "", ""},
        {"ssh://me@build.example:2222", "me", "build.example", "2222", ""},
        {"ssh://me@h:22/run/user/1000/podman/podman.sock", "me", "h", "22",
         "/run/user/1000/podman/podman.sock"},
        {"ssh://h/var/run/docker.sock", "", "h", "", "/var/run/docker.sock"},
        {"ssh://first.last-x_1+y@an_alias", "first.last-x_1+y", "an_alias", "", ""},
        {"ssh://root@[2001:db8::1]", "root", "2001:db8::1", "", ""},
        {"ssh://[::1]:65535/s", "", "::1", "65535", "/s"},
        {"ssh://10.0.0.8:1", "", "10.0.0.8", "1", ""},
        {"ssh://h/" A100 "aaaaaa", "", "h", "", "/" A100 "aaaaaa"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_ssh_place place;
        cordon_err err = CORDON_ERR_INIT;
        if (!CHECK_OK(cordon_ssh_parse(rows[i].endpoint, &place, &err), err))
            continue;
        CHECK_STR(place.user, rows[i].user);
        CHECK_STR(place.host, rows[i].host);
        CHECK_STR(place.port, rows[i].port);
        CHECK_STR(place.path, rows[i].path);
    }
}

static void bad_endpoints_are_refused_in_words(void)
{
    static const struct {
        const char *endpoint;
        const char *why;
    } rows[] = {
        {"ssh://", "the host's name has letters"},
        {"ssh:///run/x.sock", "the host's name has letters"},
        {"ssh://@h", "the user's name has letters"},
        {"ssh://u@", "the host's name has letters"},
        {"ssh://-oProxyCommand=x", "the host's name has letters"},
        {"ssh://-h", "the first of them not '-'"},
        {"ssh://-l@h", "the user's name has letters"},
        {"ssh://u u@h", "the user's name has letters"},
        {"ssh://a@b@h", "the user's name has letters"},
        {"ssh://u$x@h", "the user's name has letters"},
        {"ssh://u%41@h", "the user's name has letters"},
        {"ssh://h%68", "the host's name has letters"},
        {"ssh://h;x", "the host's name has letters"},
        {"ssh://h`x`", "the host's name has letters"},
        {"ssh://h\n", "the host's name has letters"},
        {"ssh://h\x7f", "the host's name has letters"},
        {"ssh://h?x=1", "the host's name has letters"},
        {"ssh://h#x", "the host's name has letters"},
        {"ssh://\xc3\xa4", "the host's name has letters"},
        {"ssh://h:", "the port is not a number from 1 to 65535"},
        {"ssh://h:0", "the port is not a number from 1 to 65535"},
        {"ssh://h:65536", "the port is not a number from 1 to 65535"},
        {"ssh://h:22x", "the port is not a number from 1 to 65535"},
        {"ssh://h:+2", "the port is not a number from 1 to 65535"},
        {"ssh://::1", "the host's name has letters"},
        {"ssh://[::1", "has no ']'"},
        {"ssh://[h]", "what stands in brackets is no IPv6 address"},
        {"ssh://[]", "what stands in brackets is no IPv6 address"},
        {"ssh://[fe80::1%eth0]", "what stands in brackets is no IPv6 address"},
        {"ssh://[::1]x", "is not ssh://[USER@]HOST[:PORT][/PATH]"},
        {"ssh://h/run/x.sock?a=b", "a query, a fragment and escapes do not exist here"},
        {"ssh://h/run/x.sock#a", "a query, a fragment and escapes do not exist here"},
        {"ssh://h/run/%2e", "a query, a fragment and escapes do not exist here"},
        {"ssh://h/run/${HOME}", "the socket's path has at most 107"},
        {"ssh://h/run/a:b", "the socket's path has at most 107"},
        {"ssh://h/run/a\\b", "the socket's path has at most 107"},
        {"ssh://h/run/a b", "the socket's path has at most 107"},
        {"ssh://h/run/a\nb", "the socket's path has at most 107"},
        {"ssh://h/~/x", "the socket's path has at most 107"},
        {"ssh://h/" A100 "aaaaaaa", "the socket's path has at most 107"},
        {"ssh://h//x", "the socket's path is not a plain one"},
        {"ssh://h/run/", "the socket's path is not a plain one"},
        {"ssh://h/run/./x", "the socket's path is not a plain one"},
        {"ssh://h/run/../x", "the socket's path is not a plain one"},
        {"SSH://h", "is not ssh://[USER@]HOST[:PORT][/PATH]"},
        {"ssh:/h", "is not ssh://[USER@]HOST[:PORT][/PATH]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_ssh_place place;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_ssh_parse(rows[i].endpoint, &place, &err), err, CORDON_ERR_CONFIG,
                    rows[i].why);
    }
}

static void a_password_is_refused_and_not_repeated(void)
{
    static const char *const rows[] = {"ssh://u:hunter2@h", "ssh://u:hun/hunter2@h",
                                       "ssh://:hunter2@h", "ssh://u:@h/hunter2",
                                       "ssh://u:2/x/hunter2@h:22/run/x"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_ssh_place place;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_ssh_parse(rows[i], &place, &err), err, CORDON_ERR_CONFIG,
                    "has a password in it");
        CHECK(strstr(err.message, "hunter2") == NULL);
    }
}

#define FIXED                                                                                      \
    "/usr/bin/ssh -N -T -x -a -o LogLevel=INFO -o BatchMode=yes -o ExitOnForwardFailure=yes "      \
    "-o StreamLocalBindMask=0177 -o StreamLocalBindUnlink=no -o ControlMaster=no "                 \
    "-o ControlPath=none -o PermitLocalCommand=no -o RemoteCommand=none -o Tunnel=no "             \
    "-o GatewayPorts=no -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4 "

/* The words, each behind one space. */
static void join(char *const *argv, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; argv[i] && length < size; i++) {
        int added = snprintf(out + length, size - length, "%s%s", i > 0 ? " " : "", argv[i]);
        length += added > 0 ? (size_t)added : 0;
    }
}

static void ssh_gets_exactly_these_words(void)
{
    static const struct {
        const char *endpoint;
        cordon_engine_kind kind;
        const char *identity;
        const char *want;
    } rows[] = {
        {"ssh://h", CORDON_ENGINE_DOCKER, NULL, FIXED "-L /r/e.sock:/run/docker.sock -- h"},
        {"ssh://h", CORDON_ENGINE_PODMAN, NULL, FIXED "-L /r/e.sock:/run/podman/podman.sock -- h"},
        {"ssh://me@[::1]:2222/run/x.sock", CORDON_ENGINE_PODMAN, "/home/me/.ssh/key",
         FIXED "-i /home/me/.ssh/key -l me -p 2222 -L /r/e.sock:/run/x.sock -- ::1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char **argv = NULL;
        char got[2048];
        cordon_err err = CORDON_ERR_INIT;
        if (!CHECK_OK(cordon_ssh_argv("/usr/bin/ssh", rows[i].endpoint, rows[i].kind,
                                      rows[i].identity, "/r/e.sock", &argv, &err),
                      err))
            continue;
        join(argv, got, sizeof got);
        CHECK_STR(got, rows[i].want);
        cordon_ssh_argv_free(argv);
    }
}

static void a_private_socket_that_ssh_would_misread_is_refused(void)
{
    static const char *const rows[] = {"/run/a:b/e.sock", "/run/%u/e.sock", "/run/a b/e.sock",
                                       "/run/${X}/e.sock", "/" A100 "aaaaaaa"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char **argv = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_ssh_argv("/usr/bin/ssh", "ssh://h", CORDON_ENGINE_DOCKER, NULL, rows[i],
                                    &argv, &err),
                    err, CORDON_ERR_CONFIG, "set XDG_RUNTIME_DIR to a plain, short one");
    }
    cordon_ssh_argv_free(NULL);
}

CORDON_TEST_MAIN("ssh", TEST(good_endpoints_are_taken_apart),
                 TEST(bad_endpoints_are_refused_in_words),
                 TEST(a_password_is_refused_and_not_repeated), TEST(ssh_gets_exactly_these_words),
                 TEST(a_private_socket_that_ssh_would_misread_is_refused))

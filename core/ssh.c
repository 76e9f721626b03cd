/* SPDX-License-Identifier: Apache-2.0 */
/* Takes ssh:// endpoints apart and writes the argument vector of ssh(1). */
#include "ssh.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/num.h"
#include "text_list.h"

#define SSH_PREFIX "ssh://"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

#define USER_BYTES LETTERS DIGITS "._-+"
#define HOST_BYTES LETTERS DIGITS "._-"
/*
 * Not ':', '\\', '%', '$', '~' and white space, which ssh reads in its own way in a forward; nor
 * '@', by which a password with a '/' in it would pass for a path.
 */
#define PATH_BYTES LETTERS DIGITS "._-+/=,"

/* Where a daemon listens on a machine of which nothing else is known. */
static const char *usual_path(cordon_engine_kind kind)
{
    return kind == CORDON_ENGINE_PODMAN ? "/run/podman/podman.sock" : "/run/docker.sock";
}

bool cordon_ssh_is_endpoint(const char *endpoint)
{
    return strncmp(endpoint, SSH_PREFIX, strlen(SSH_PREFIX)) == 0;
}

static int fail(const char *endpoint, const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "endpoint \"%s\": %s", CORDON_QUOTE(endpoint), why);
}

/* The part of an authority or path in to; false when it is empty, too long or has other bytes. */
static bool take(const char *from, size_t length, const char *allowed, char *to, size_t size)
{
    if (length == 0 || length >= size || strspn(from, allowed) < length || from[0] == '-')
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* SECURITY: the message must not show a password, so the endpoint is not in it. */
static int fail_password(cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "an ssh:// endpoint has a password in it, where others can read it; use a "
                       "key or an agent, and change that password");
}

static int parse_user(const char *endpoint, const char *user, size_t length,
                      cordon_ssh_place *place, cordon_err *err)
{
    if (memchr(user, ':', length))
        return fail_password(err);
    if (!take(user, length, USER_BYTES, place->user, sizeof place->user))
        return fail(endpoint,
                    "the user's name has letters, digits, '.', '_', '+' and '-', the first of them "
                    "not '-'",
                    err);
    return 0;
}

static int parse_port(const char *endpoint, const char *port, size_t length,
                      cordon_ssh_place *place, cordon_err *err)
{
    uint64_t number = 0;
    cordon_err ignored = CORDON_ERR_INIT;
    if (cordon_num_u64(port, length, 1, 65535, &number, &ignored) != 0)
        return fail(endpoint, "the port is not a number from 1 to 65535", err);
    (void)snprintf(place->port, sizeof place->port, "%u", (unsigned)number);
    return 0;
}

static int parse_v6(const char *endpoint, const char *host, size_t length, cordon_ssh_place *place,
                    cordon_err *err)
{
    struct in6_addr address;
    if (!take(host, length, DIGITS "abcdefABCDEF:.", place->host, sizeof place->host) ||
        inet_pton(AF_INET6, place->host, &address) != 1)
        return fail(endpoint, "what stands in brackets is no IPv6 address", err);
    return 0;
}

/* HOST, HOST:PORT, [V6] or [V6]:PORT, up to end. */
static int parse_host(const char *endpoint, const char *host, const char *end,
                      cordon_ssh_place *place, cordon_err *err)
{
    const char *after = NULL;
    if (host[0] == '[') {
        const char *close = memchr(host, ']', (size_t)(end - host));
        if (!close)
            return fail(endpoint, "has no ']' behind its address", err);
        if (parse_v6(endpoint, host + 1, (size_t)(close - host) - 1, place, err) != 0)
            return -1;
        after = close + 1;
    } else {
        after = memchr(host, ':', (size_t)(end - host));
        after = after ? after : end;
        if (!take(host, (size_t)(after - host), HOST_BYTES, place->host, sizeof place->host))
            return fail(endpoint,
                        "the host's name has letters, digits, '.', '_' and '-', the first of "
                        "them not '-' (an IPv6 address stands in [brackets])",
                        err);
    }
    if (after == end)
        return 0;
    if (*after != ':')
        return fail(endpoint, "is not ssh://[USER@]HOST[:PORT][/PATH]", err);
    return parse_port(endpoint, after + 1, (size_t)(end - after) - 1, place, err);
}

/* A path with "." or ".." or an empty component has no one meaning in messages. */
static bool is_normal(const char *path)
{
    for (const char *at = path; *at == '/';) {
        size_t length = strcspn(++at, "/");
        if (length == 0 || (length == 1 && at[0] == '.') ||
            (length == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += length;
    }
    return true;
}

static int parse_path(const char *endpoint, const char *path, cordon_ssh_place *place,
                      cordon_err *err)
{
    if (path[0] == '\0' || strcmp(path, "/") == 0)
        return 0;
    if (!take(path, strlen(path), PATH_BYTES, place->path, sizeof place->path))
        return fail(endpoint,
                    "the socket's path has at most 107 letters, digits and \"/._-+=,\"; a query, "
                    "a fragment and escapes do not exist here",
                    err);
    if (!is_normal(path))
        return fail(endpoint, "the socket's path is not a plain one", err);
    return 0;
}

int cordon_ssh_parse(const char *endpoint, cordon_ssh_place *ret_place, cordon_err *err)
{
    cordon_ssh_place place = {0};
    const char *rest = endpoint + strlen(SSH_PREFIX);
    if (!cordon_ssh_is_endpoint(endpoint))
        return fail(endpoint, "is not ssh://[USER@]HOST[:PORT][/PATH]", err);
    const char *end = rest + strcspn(rest, "/");
    if (strchr(end, '@'))
        return fail_password(err);
    const char *at = memrchr(rest, '@', (size_t)(end - rest));
    if (at && parse_user(endpoint, rest, (size_t)(at - rest), &place, err) != 0)
        return -1;
    if (parse_host(endpoint, at ? at + 1 : rest, end, &place, err) != 0 ||
        parse_path(endpoint, end, &place, err) != 0)
        return -1;
    *ret_place = place;
    return 0;
}

/* --- The argument vector ------------------------------------------------------------------- */

/*
 * What every call says, whatever the user's ssh_config(5) has for this host: no question, no shared
 * connection (whose owner would outlive us and keep the socket), no agent, display or device for
 * the other side, no command on either side, and a dead connection ends. Further forwards of the
 * user's stay: ClearAllForwardings would take ours away with them.
 */
static const char *const fixed_words[] = {
    "-N", "-T",
    "-x", "-a",
    "-o", "LogLevel=INFO",
    "-o", "BatchMode=yes",
    "-o", "ExitOnForwardFailure=yes",
    "-o", "StreamLocalBindMask=0177",
    "-o", "StreamLocalBindUnlink=no",
    "-o", "ControlMaster=no",
    "-o", "ControlPath=none",
    "-o", "PermitLocalCommand=no",
    "-o", "RemoteCommand=none",
    "-o", "Tunnel=no",
    "-o", "GatewayPorts=no",
    "-o", "ConnectTimeout=20",
    "-o", "ServerAliveInterval=15",
    "-o", "ServerAliveCountMax=4",
};

static int add_two(cordon_text_list *words, const char *first, const char *second, cordon_err *err)
{
    if (cordon_text_list_add(words, first, err) < 0)
        return -1;
    return cordon_text_list_add(words, second, err);
}

static int add_forward(cordon_text_list *words, const char *socket_path, const char *remote,
                       cordon_err *err)
{
    char forward[2 * sizeof(((cordon_ssh_place *)NULL)->path) + 2];
    size_t length = strlen(socket_path);
    if (length >= sizeof(((cordon_ssh_place *)NULL)->path) ||
        strspn(socket_path, PATH_BYTES) < length)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "the private socket \"%s\" for ssh has a path that ssh would not take "
                           "word for word; set XDG_RUNTIME_DIR to a plain, short one",
                           CORDON_QUOTE(socket_path));
    (void)snprintf(forward, sizeof forward, "%s:%s", socket_path, remote);
    return add_two(words, "-L", forward, err);
}

static int add_words(cordon_text_list *words, const char *program, const cordon_ssh_place *place,
                     const char *identity, cordon_err *err)
{
    if (cordon_text_list_add(words, program, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof fixed_words / sizeof fixed_words[0]; i++)
        if (cordon_text_list_add(words, fixed_words[i], err) < 0)
            return -1;
    if ((identity && add_two(words, "-i", identity, err) < 0) ||
        (place->user[0] && add_two(words, "-l", place->user, err) < 0) ||
        (place->port[0] && add_two(words, "-p", place->port, err) < 0))
        return -1;
    return 0;
}

/* A list has no NULL behind its last item. */
static int finish(cordon_text_list *words, char ***ret_argv, cordon_err *err)
{
    char **argv = reallocarray(words->items, words->count + 1, sizeof *argv);
    if (!argv)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    argv[words->count] = NULL;
    *words = (cordon_text_list){0};
    *ret_argv = argv;
    return 0;
}

int cordon_ssh_argv(const char *program, const char *endpoint, cordon_engine_kind kind,
                    const char *identity, const char *socket_path, char ***ret_argv,
                    cordon_err *err)
{
    cordon_ssh_place place = {0};
    cordon_auto(cordon_text_list) words = {0};
    if (cordon_ssh_parse(endpoint, &place, err) != 0 ||
        add_words(&words, program, &place, identity, err) != 0 ||
        add_forward(&words, socket_path, place.path[0] ? place.path : usual_path(kind), err) != 0 ||
        add_two(&words, "--", place.host, err) != 0)
        return -1;
    return finish(&words, ret_argv, err);
}

void cordon_ssh_argv_free(char **argv)
{
    for (char **item = argv; item && *item; item++)
        free(*item);
    free(argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoint texts against their syntax.
 */
#include "address.h"

#include <arpa/inet.h>
#include <string.h>

#include "kit/num.h"
#include "ssh.h"

#define UNIX_PREFIX "unix://"
#define TCP_PREFIX  "tcp://"

/* What people write, and what they should. */
typedef struct foreign_scheme {
    const char *prefix;
    cordon_code code;
    const char *advice;
} foreign_scheme;

static const foreign_scheme foreign_schemes[] = {
    {"npipe://", CORDON_ERR_UNSUPPORTED, "Windows pipes do not exist here; use unix:///path"},
    {"fd://", CORDON_ERR_CONFIG, "that is how a daemon listens; use unix:///path of its socket"},
    {"http://", CORDON_ERR_CONFIG, "write tcp://host:port"},
    {"https://", CORDON_ERR_CONFIG, "write tcp://host:port and the TLS files"},
    {"/", CORDON_ERR_CONFIG, "write unix:// before the path"},
};

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int fail(const char *endpoint, cordon_code code, const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, code, "endpoint \"%s\": %s", CORDON_QUOTE(endpoint), why);
}

static int check_unix(const char *endpoint, const char *path, cordon_err *err)
{
    size_t length = strlen(path);
    if (path[0] != '/' || length < 2 || path[length - 1] == '/')
        return fail(endpoint, CORDON_ERR_CONFIG,
                    "needs the absolute path of a socket, as in unix:///run/podman/podman.sock",
                    err);
    if (length > CORDON_SOCKET_PATH_MAX)
        return fail(endpoint, CORDON_ERR_CONFIG,
                    "the socket path is longer than the 107 bytes that unix(7) allows", err);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
            return fail(endpoint, CORDON_ERR_CONFIG, "holds control characters", err);
    return 0;
}

/* The host of HOST:PORT or [HOST]:PORT in host; false when the text has another form. */
static bool split_host(const char *text, char host[256], const char **ret_port, bool *ret_v6)
{
    bool v6 = text[0] == '[';
    const char *start = v6 ? text + 1 : text;
    const char *end = v6 ? strchr(start, ']') : strchr(start, ':');
    if (!end || end == start || end - start > 255)
        return false;
    const char *colon = v6 ? end + 1 : end;
    if (*colon != ':')
        return false;
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    *ret_port = colon + 1;
    *ret_v6 = v6;
    return true;
}

static bool is_host_text(const char *host, bool v6)
{
    struct in6_addr address;
    if (v6)
        return inet_pton(AF_INET6, host, &address) == 1;
    return strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") ==
           strlen(host);
}

static bool is_loopback(const char *host, bool v6)
{
    struct in6_addr address6;
    struct in_addr address;
    if (v6)
        return inet_pton(AF_INET6, host, &address6) == 1 && IN6_IS_ADDR_LOOPBACK(&address6);
    if (inet_pton(AF_INET, host, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0;
}

static int check_tcp(const char *endpoint, const char *rest, bool tls, cordon_err *err)
{
    char host[256] = "";
    const char *port = NULL;
    bool v6 = false;
    uint64_t number = 0;
    cordon_err ignored = CORDON_ERR_INIT;
    if (!split_host(rest, host, &port, &v6) || !is_host_text(host, v6))
        return fail(endpoint, CORDON_ERR_CONFIG,
                    "is not tcp://HOST:PORT (an IPv6 address stands in [brackets])", err);
    if (cordon_num_u64(port, strlen(port), 1, 65535, &number, &ignored) < 0)
        return fail(endpoint, CORDON_ERR_CONFIG, "the port is not a number from 1 to 65535", err);
    if (!tls && !is_loopback(host, v6))
        return fail(endpoint, CORDON_ERR_CONFIG,
                    "without TLS everybody on the way controls the engine; give the TLS files "
                    "(tls_ca, tls_cert, tls_key), or forward it to 127.0.0.1",
                    err);
    return 0;
}

int cordon_address_check(const char *endpoint, bool tls, cordon_err *err)
{
    cordon_ssh_place ignored;
    if (has_prefix(endpoint, UNIX_PREFIX))
        return check_unix(endpoint, endpoint + strlen(UNIX_PREFIX), err);
    if (has_prefix(endpoint, TCP_PREFIX))
        return check_tcp(endpoint, endpoint + strlen(TCP_PREFIX), tls, err);
    if (cordon_ssh_is_endpoint(endpoint))
        return cordon_ssh_parse(endpoint, &ignored, err);
    for (size_t i = 0; i < sizeof foreign_schemes / sizeof foreign_schemes[0]; i++)
        if (has_prefix(endpoint, foreign_schemes[i].prefix))
            return fail(endpoint, foreign_schemes[i].code, foreign_schemes[i].advice, err);
    return fail(endpoint, CORDON_ERR_CONFIG,
                "is none of unix:///absolute/path, tcp://host:port and ssh://host/path", err);
}

const char *cordon_address_socket_path(const char *endpoint)
{
    return has_prefix(endpoint, UNIX_PREFIX) ? endpoint + strlen(UNIX_PREFIX) : NULL;
}

const char *cordon_engine_kind_name(cordon_engine_kind kind)
{
    static const char *const names[] = {"unknown",
#define KIND_NAME(kind, name) name,
                                        CORDON_ENGINE_KINDS(KIND_NAME)
#undef KIND_NAME
    };
    size_t index = (size_t)kind;
    return index < sizeof names / sizeof names[0] ? names[index] : names[0];
}

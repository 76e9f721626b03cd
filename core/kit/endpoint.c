/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an endpoint text apart; see endpoint.h. Includes kit only. */
#include "kit/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

#include "kit/num.h"

#define HOST_MAX 253 /* RFC 1035 section 2.3.4, without the root's dot */

typedef struct tcp_place {
    char host[HOST_MAX + 1];
    uint16_t port;
} tcp_place;

static int bad(const char *endpoint, const char *reason, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "endpoint \"%s\": %s", CORDON_QUOTE(endpoint),
                       reason);
}

/* Letters, digits, dots and hyphens; ':' only inside the brackets of an IPv6 literal. */
static bool is_host(const char *text, size_t length, bool v6)
{
    const char *allowed = v6 ? "0123456789abcdefABCDEF:."
                             : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    return length > 0 && length <= HOST_MAX && text[0] != '-' && strspn(text, allowed) >= length;
}

static int parse_port(const char *endpoint, const char *text, uint16_t *ret_port, cordon_err *err)
{
    uint64_t port = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (cordon_num_u64(text, strlen(text), 1, UINT16_MAX, &port, &scratch) != 0)
        return bad(endpoint, "the port must be a number from 1 to 65535", err);
    *ret_port = (uint16_t)port;
    return 0;
}

static int parse_tcp(const char *endpoint, const char *rest, tcp_place *ret_place, cordon_err *err)
{
    bool v6 = rest[0] == '[';
    const char *host = v6 ? rest + 1 : rest;
    size_t length = strcspn(host, v6 ? "]" : ":");
    const char *after = host + length;
    if (v6 && *after == ']')
        after++;
    if (*after != ':' || !is_host(host, length, v6))
        return bad(endpoint, "expected tcp://host:port", err);
    memcpy(ret_place->host, host, length);
    ret_place->host[length] = '\0';
    return parse_port(endpoint, after + 1, &ret_place->port, err);
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcmp(host, "localhost") == 0;
}

static int tcp_client(const char *endpoint, const char *rest, cordon_httpc_endpoint place,
                      cordon_httpc **ret_client, cordon_err *err)
{
    tcp_place tcp = {0};
    if (parse_tcp(endpoint, rest, &tcp, err) != 0)
        return -1;
    if (!place.ca_file && !is_loopback(tcp.host))
        return bad(endpoint, "TCP to another machine needs TLS: set tls_ca, tls_cert and tls_key",
                   err);
    place.host = tcp.host;
    place.port = tcp.port;
    return cordon_httpc_new(&place, ret_client, err);
}

int cordon_endpoint_client(const char *endpoint, const char *ca_file, const char *cert_file,
                           const char *key_file, cordon_httpc **ret_client, cordon_err *err)
{
    static const char unix_scheme[] = "unix://";
    static const char tcp_scheme[] = "tcp://";
    cordon_httpc_endpoint place = {
        .ca_file = ca_file, .cert_file = cert_file, .key_file = key_file};
    if (strncmp(endpoint, tcp_scheme, sizeof tcp_scheme - 1) == 0)
        return tcp_client(endpoint, endpoint + sizeof tcp_scheme - 1, place, ret_client, err);
    if (strncmp(endpoint, unix_scheme, sizeof unix_scheme - 1) != 0)
        return bad(endpoint, "expected unix:///path or tcp://host:port", err);
    place.unix_path = endpoint + sizeof unix_scheme - 1;
    if (place.unix_path[0] != '/')
        return bad(endpoint, "the socket's path must be absolute (unix:///path)", err);
    if (ca_file || cert_file || key_file)
        return bad(endpoint, "TLS files make no sense on a unix socket", err);
    return cordon_httpc_new(&place, ret_client, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that no name is resolved past the proxy: by the configured resolver, the engines' own
 * embedded ones, the gateway and well-known servers, over UDP and TCP. libc-only.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/probe.h"
#include "gate/probe_net.h"
#include "gate/text.h"
#include "kit/cleanup.h"

#define QUERY_MAX  320
#define ANSWER_MAX 512
#define DNS_PORT   53

/* RFC 1035 section 4.1: header, one question for an A record. 0 when the name does not fit. */
static size_t make_query(const char *name, unsigned char ret_query[QUERY_MAX])
{
    static const unsigned char head[12] = {0xc0, 0x4d, 1, 0, 0, 1};
    static const unsigned char tail[5] = {0, 0, 1, 0, 1};
    size_t used = sizeof head;
    cordon_slice rest = cordon_slice_make(name, strlen(name));
    cordon_slice label;
    memcpy(ret_query, head, sizeof head);
    while (cordon_slice_cut(&rest, '.', &label)) {
        if (label.length == 0 || label.length > 63 ||
            used + label.length + 1 + sizeof tail > QUERY_MAX)
            return 0;
        ret_query[used++] = (unsigned char)label.length;
        memcpy(ret_query + used, label.text, label.length);
        used += label.length;
    }
    memcpy(ret_query + used, tail, sizeof tail);
    return used + sizeof tail;
}

/* An answer that names at least one record leaks; an error code does not. */
static void judge(const unsigned char *answer, size_t length, const char *server,
                  cordon_found *found)
{
    if (length < 12) {
        cordon_found_set(found, "resolved", "%s: %zu bytes that are no DNS answer", server, length);
        return;
    }
    unsigned code = answer[3] & 15U;
    unsigned records = (unsigned)answer[6] << 8 | answer[7];
    cordon_found_set(found, code == 0 && records > 0 ? "resolved" : "unresolved",
                     "%s: code %u, %u records", server, code, records);
}

static void query_udp(const char *server, const unsigned char *query, size_t length,
                      cordon_found *found)
{
    unsigned char answer[ANSWER_MAX];
    cordon_endpoint_address address;
    struct pollfd item = {.fd = -1, .events = POLLIN};
    if (cordon_net_address(server, DNS_PORT, &address) < 0) {
        cordon_found_set(found, "unresolved", "%s is not an address", server);
        return;
    }
    cordon_autoclose int fd = socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address.storage, address.length) < 0 ||
        send(fd, query, length, MSG_NOSIGNAL) < 0) {
        cordon_found_set(found, "unresolved", "%s: %s", server, strerror(errno));
        return;
    }
    item.fd = fd;
    if (poll(&item, 1, CORDON_PROBE_WAIT_MS) <= 0) {
        cordon_found_set(found, "unresolved", "%s: no answer", server);
        return;
    }
    ssize_t got = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    if (got < 0)
        cordon_found_set(found, "unresolved", "%s: %s", server, strerror(errno));
    else
        judge(answer, (size_t)got, server, found);
}

/* RFC 1035 section 4.2.2: the same with two bytes of length in front. */
static void query_tcp(const char *server, const unsigned char *query, size_t length,
                      cordon_found *found)
{
    char framed[QUERY_MAX + 2];
    char answer[ANSWER_MAX];
    cordon_deadline dl = cordon_deadline_in_ms(CORDON_PROBE_WAIT_MS, -1);
    cordon_autoclose int fd = cordon_net_connect(server, DNS_PORT, dl);
    if (fd < 0) {
        cordon_found_set(found, "unresolved", "%s by TCP: %s", server, strerror(errno));
        return;
    }
    framed[0] = (char)(length >> 8);
    framed[1] = (char)length;
    memcpy(framed + 2, query, length);
    (void)cordon_net_send(fd, framed, length + 2, dl);
    size_t have = cordon_net_receive(fd, answer, 2 + 12 + 1, NULL, dl);
    if (have < 2 + 12)
        cordon_found_set(found, "unresolved", "%s by TCP: no answer", server);
    else
        judge((const unsigned char *)answer + 2, have - 2, server, found);
}

typedef void query_fn(const char *server, const unsigned char *query, size_t length,
                      cordon_found *found);

static void query(const cordon_probe *probe, const char *server, query_fn *by, cordon_found *found)
{
    unsigned char bytes[QUERY_MAX];
    size_t length = make_query(probe->other_host, bytes);
    if (length == 0)
        cordon_found_set(found, "not-carried-out", "%s is not a host name", probe->other_host);
    else
        by(server, bytes, length, found);
}

/* text: the server */
static void check_udp(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    query(probe, check->text, query_udp, found);
}

static void check_tcp(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    query(probe, check->text, query_tcp, found);
}

/* Takes the address of a "nameserver ADDRESS" line. */
static bool is_nameserver(cordon_slice line, char *ret_server, size_t size)
{
    cordon_slice word;
    if (!cordon_slice_word(&line, &word) || !cordon_slice_is(word, "nameserver") ||
        !cordon_slice_word(&line, &word) || word.length >= size)
        return false;
    memcpy(ret_server, word.text, word.length);
    ret_server[word.length] = '\0';
    return true;
}

/* Every server of resolv.conf until one resolves; without any, libc would ask 127.0.0.1. */
static void query_configured(const cordon_probe *probe, query_fn *by, cordon_found *found)
{
    bool whole = false;
    char server[64] = "127.0.0.1";
    cordon_slice line;
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_buf) buf = cordon_buf_make(4096);
    int servers = 0;
    if (cordon_text_read("/etc/resolv.conf", &buf, &whole, &err) < 0 &&
        !cordon_text_is_absent(&err))
        return;
    cordon_slice rest = cordon_slice_make(cordon_buf_text(&buf), buf.length);
    while (servers < 1 && cordon_slice_cut(&rest, '\n', &line))
        servers += is_nameserver(line, server, sizeof server) ? 1 : 0;
    query(probe, server, by, found);
}

static void check_configured_udp(const cordon_probe *probe, const cordon_check *check,
                                 cordon_found *found)
{
    (void)check;
    query_configured(probe, query_udp, found);
}

static void check_configured_tcp(const cordon_probe *probe, const cordon_check *check,
                                 cordon_found *found)
{
    (void)check;
    query_configured(probe, query_tcp, found);
}

static const char *const servers[] = {"127.0.0.1", "127.0.0.11", "1.1.1.1", "8.8.8.8", "9.9.9.9"};

void cordon_probe_add_names(const cordon_probe *probe, cordon_checks *checks)
{
    cordon_check_add(checks, "unresolved", check_configured_udp, NULL, 0, "dns.configured-udp");
    cordon_check_add(checks, "unresolved", check_configured_tcp, NULL, 0, "dns.configured-tcp");
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++)
        cordon_check_add(checks, "unresolved", check_udp, servers[i], 0, "dns.udp.%s", servers[i]);
    cordon_check_add(checks, "unresolved", check_tcp, "127.0.0.11", 0, "dns.tcp.127.0.0.11");
    for (size_t i = 0; i < probe->gateways.count; i++)
        cordon_check_add(checks, "unresolved", check_udp, probe->gateways.items[i], 0,
                         "dns.udp.gateway.%.40s", probe->gateways.items[i]);
    cordon_check_add(checks, "unresolved", check_udp, probe->proxy_address, 0, "dns.udp.proxy");
}

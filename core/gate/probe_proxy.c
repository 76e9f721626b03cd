/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the one way out: what the proxy lets through and what it refuses. libc-only.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gate/probe.h"
#include "gate/probe_net.h"
#include "kit/buf.h"
#include "kit/cleanup.h"

#define REPLY_SIZE   1024
#define REQUEST_SIZE 512
#define HELLO_SIZE   512

/* An HTTP status line's number as text, or a word for what came instead. */
static const char *status_word(const char *reply, size_t length, char ret_word[4])
{
    if (length == 0)
        return "no-answer";
    if (strncmp(reply, "HTTP/1.", 7) != 0 || length < 12)
        return "not-http";
    memcpy(ret_word, reply + 9, 3);
    ret_word[3] = '\0';
    return ret_word;
}

/* The last line that says something: a body with a reason, else the status line. */
static const char *reason_in(char *reply)
{
    char *body = strstr(reply, "\r\n\r\n");
    char *line = body && body[4] != '\0' ? body + 4 : reply;
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

/* Sends a request and reads the answer's head (and what came with it). Returns the socket. */
static int exchange(const cordon_probe *probe, const char *request, size_t length, char *reply,
                    size_t *ret_have, cordon_deadline dl, cordon_found *found)
{
    cordon_autoclose int fd = cordon_net_connect(probe->proxy_address, probe->proxy_port, dl);
    if (fd < 0) {
        cordon_found_set(found, "no-proxy", "connect to %s port %u: %s", probe->proxy_address,
                         probe->proxy_port, strerror(errno));
        return -1;
    }
    (void)cordon_net_send(fd, request, length, dl); /* the proxy may refuse before the end */
    *ret_have = cordon_net_receive(fd, reply, REPLY_SIZE, "\r\n\r\n", dl);
    return cordon_take_fd(&fd);
}

static void found_status(char *reply, size_t have, cordon_found *found)
{
    char word[4];
    const char *got = status_word(reply, have, word);
    cordon_found_set(found, got, "%s", have > 0 ? reason_in(reply) : "the proxy said nothing");
}

static void run_request(const cordon_probe *probe, const char *request, size_t length,
                        cordon_found *found)
{
    char reply[REPLY_SIZE];
    size_t have = 0;
    cordon_deadline dl = cordon_deadline_in_ms(CORDON_PROBE_WAIT_MS, -1);
    cordon_autoclose int fd = exchange(probe, request, length, reply, &have, dl, found);
    if (fd >= 0)
        found_status(reply, have, found);
}

static size_t connect_request(const char *host, int port, char ret_request[REQUEST_SIZE])
{
    int length = snprintf(ret_request, REQUEST_SIZE,
                          "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n", host, port, host, port);
    return length > 0 && length < REQUEST_SIZE ? (size_t)length : 0;
}

/* text: the host; number: the port */
static void check_connect(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char request[REQUEST_SIZE];
    run_request(probe, request, connect_request(check->text, check->number, request), found);
}

/* text: a whole request line's method and target form */
static void check_get(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    char request[REQUEST_SIZE];
    (void)check;
    int length = snprintf(request, sizeof request, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n",
                          probe->pinned, probe->pinned);
    run_request(probe, request, (size_t)length, found);
}

static void check_long_head(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    char request[9216];
    (void)check;
    memset(request, 'a', sizeof request);
    int length = snprintf(request, sizeof request, "CONNECT %s:443 HTTP/1.1\r\nX: ", probe->pinned);
    request[length] = 'a'; /* the NUL of snprintf */
    run_request(probe, request, sizeof request, found);
}

/* text with a byte count, big-endian, in front: the shape of everything in a ClientHello */
static void put(cordon_buf *hello, unsigned count_bytes, const void *bytes, size_t length)
{
    char count[3];
    cordon_err err = CORDON_ERR_INIT;
    for (unsigned i = 0; i < count_bytes; i++)
        count[i] = (char)(length >> (8 * (count_bytes - 1 - i)));
    /* The ceiling of the buffer is far above any hello made here. */
    if (cordon_buf_append(hello, count, count_bytes, &err) < 0 ||
        cordon_buf_append(hello, bytes, length, &err) < 0)
        hello->length = 0;
}

static void put_raw(cordon_buf *hello, const void *bytes, size_t length)
{
    put(hello, 0, bytes, length);
}

/* RFC 6066 section 3: a list of one name of type host_name */
static void put_server_name(cordon_buf *extensions, const char *name)
{
    cordon_auto(cordon_buf) entry = cordon_buf_make(HELLO_SIZE);
    cordon_auto(cordon_buf) list = cordon_buf_make(HELLO_SIZE);
    put_raw(&entry, "\0", 1);
    put(&entry, 2, name, strlen(name));
    put(&list, 2, entry.data, entry.length);
    put_raw(extensions, "\0\0", 2);
    put(extensions, 2, list.data, list.length);
}

/* The extensions that TLS 1.3 and 1.2 servers want, RFC 8446 section 4.2. */
static void put_extensions(cordon_buf *extensions, const char *server_name)
{
    static const char groups[] = "\x00\x0a\x00\x04\x00\x02\x00\x1d";
    static const char signatures[] = "\x00\x0d\x00\x0a\x00\x08\x04\x03\x08\x04\x04\x01\x05\x03";
    static const char versions[] = "\x00\x2b\x00\x05\x04\x03\x04\x03\x03";
    static const char share_head[] = "\x00\x33\x00\x26\x00\x24\x00\x1d\x00\x20";
    char share[32] = {9}; /* the base point; any 32 bytes are an x25519 key */
    if (server_name)
        put_server_name(extensions, server_name);
    put_raw(extensions, groups, sizeof groups - 1);
    put_raw(extensions, signatures, sizeof signatures - 1);
    put_raw(extensions, versions, sizeof versions - 1);
    put_raw(extensions, share_head, sizeof share_head - 1);
    put_raw(extensions, share, sizeof share);
}

/* A minimal ClientHello in one record; server_name may be NULL. */
static void make_hello(const char *server_name, cordon_buf *ret_record)
{
    static const char random[32] = "cordon probe: any bytes will do.";
    cordon_auto(cordon_buf) extensions = cordon_buf_make(HELLO_SIZE);
    cordon_auto(cordon_buf) body = cordon_buf_make(HELLO_SIZE);
    cordon_auto(cordon_buf) handshake = cordon_buf_make(HELLO_SIZE);
    put_extensions(&extensions, server_name);
    put_raw(&body, "\x03\x03", 2);
    put_raw(&body, random, sizeof random);
    put(&body, 1, "", 0);
    put(&body, 2, "\x13\x01\x13\x03\xc0\x2b\xc0\x2f\x00\x9c", 10);
    put(&body, 1, "\0", 1);
    put(&body, 2, extensions.data, extensions.length);
    put_raw(&handshake, "\x01", 1);
    put(&handshake, 3, body.data, body.length);
    put_raw(ret_record, "\x16\x03\x01", 3);
    put(ret_record, 2, handshake.data, handshake.length);
}

/* Any record of TLS, a handshake's or an alert's, is an answer from behind the tunnel. */
static bool is_record(const char *bytes, size_t length)
{
    return length >= 5 && (bytes[0] == 0x16 || bytes[0] == 0x15) && bytes[1] == 3;
}

/* After 200: what comes back for these first bytes of the tunnel. */
static void found_tunnel(int fd, const void *bytes, size_t length, cordon_deadline dl,
                         cordon_found *found)
{
    char answer[REPLY_SIZE];
    (void)cordon_net_send(fd, bytes, length, dl);
    size_t have = cordon_net_receive(fd, answer, 6, NULL, dl);
    if (is_record(answer, have))
        cordon_found_set(found, "tunnel", "a TLS record of type %d came back", answer[0]);
    else if (have > 0)
        cordon_found_set(found, "tunnel", "%zu bytes came back, not TLS", have);
    else if (cordon_deadline_passed(dl))
        cordon_found_set(found, "silent", "200, and then nothing came back");
    else
        cordon_found_set(found, "closed", "200, and then closed without an answer");
}

/* Opens a tunnel to the pinned host and sends `bytes` through it. */
static void try_tunnel(const cordon_probe *probe, const void *bytes, size_t length, int ms,
                       cordon_found *found)
{
    char request[REQUEST_SIZE];
    char reply[REPLY_SIZE];
    char word[4];
    size_t have = 0;
    cordon_deadline dl = cordon_deadline_in_ms(ms, -1);
    cordon_autoclose int fd = exchange(probe, request, connect_request(probe->pinned, 443, request),
                                       reply, &have, dl, found);
    if (fd < 0)
        return;
    if (strcmp(status_word(reply, have, word), "200") == 0)
        found_tunnel(fd, bytes, length, dl, found);
    else
        found_status(reply, have, found);
}

/* text: the server name; NULL for none */
static void check_hello(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    cordon_auto(cordon_buf) hello = cordon_buf_make(HELLO_SIZE);
    make_hello(check->text, &hello);
    try_tunnel(probe, hello.data, hello.length, check->bound_ms - 300, found);
}

/* text: the first bytes of something that is not TLS */
static void check_not_tls(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    try_tunnel(probe, check->text, strlen(check->text), check->bound_ms - 300, found);
}

static void check_ports_of_proxy(const cordon_probe *probe, const cordon_check *check,
                                 cordon_found *found)
{
    cordon_attempt attempts[CORDON_PROBE_PORTS_MAX];
    size_t count = 0;
    (void)check;
    for (size_t i = 0; i < probe->port_count; i++)
        if (probe->ports[i] != probe->proxy_port)
            attempts[count++] =
                (cordon_attempt){.address = probe->proxy_address, .port = probe->ports[i]};
    cordon_net_tcp(attempts, count);
    cordon_net_found(attempts, count, CORDON_REACH_ANSWERED, "open", "closed", found);
}

static const char *want_pinned(cordon_probe_upstream upstream)
{
    static const char *const wants[] = {
        [CORDON_PROBE_UPSTREAM_ANY] = "tunnel|502|504",
        [CORDON_PROBE_UPSTREAM_YES] = "tunnel",
        [CORDON_PROBE_UPSTREAM_NO] = "502|504",
    };
    return wants[upstream];
}

static const char *want_closed(cordon_probe_upstream upstream)
{
    static const char *const wants[] = {
        [CORDON_PROBE_UPSTREAM_ANY] = "closed|502|504",
        [CORDON_PROBE_UPSTREAM_YES] = "closed",
        [CORDON_PROBE_UPSTREAM_NO] = "502|504",
    };
    return wants[upstream];
}

static void add_tunnels(const cordon_probe *probe, cordon_checks *checks)
{
    const char *closed = want_closed(probe->upstream);
    cordon_check_add(checks, want_pinned(probe->upstream), check_hello, probe->pinned, 0,
                     "proxy.pinned-host")
        ->bound_ms = probe->pinned_ms;
    cordon_check_add(checks, closed, check_hello, probe->other_host, 0, "proxy.other-server-name")
        ->bound_ms = probe->pinned_ms;
    cordon_check_add(checks, closed, check_hello, NULL, 0, "proxy.no-server-name")->bound_ms =
        probe->pinned_ms;
    cordon_check_add(checks, closed, check_not_tls, "GET / HTTP/1.1\r\n\r\n", 0, "proxy.not-tls")
        ->bound_ms = probe->pinned_ms;
}

void cordon_probe_add_proxy(const cordon_probe *probe, cordon_checks *checks)
{
    add_tunnels(probe, checks);
    cordon_check_add(checks, "403", check_connect, probe->other_host, 443, "proxy.other-host");
    cordon_check_add(checks, "403", check_connect, probe->pinned, 80, "proxy.other-port");
    cordon_check_add(checks, "403", check_connect, "1.1.1.1", 443, "proxy.ip-literal");
    cordon_check_add(checks, "400|403", check_connect, "[2606:4700:4700::1111]", 443,
                     "proxy.ipv6-literal");
    cordon_check_add(checks, "403", check_connect, "169.254.169.254", 80, "proxy.metadata");
    cordon_check_add(checks, "403", check_connect, "localhost", 443, "proxy.localhost");
    cordon_check_add(checks, "403", check_connect, probe->proxy_address, probe->proxy_port,
                     "proxy.itself");
    cordon_check_add(checks, "405", check_get, NULL, 0, "proxy.plain-http");
    cordon_check_add(checks, "431", check_long_head, NULL, 0, "proxy.long-head");
    cordon_check_add(checks, "closed", check_ports_of_proxy, NULL, 0, "proxy.other-ports");
}

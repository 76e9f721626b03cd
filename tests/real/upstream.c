/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's part and the witnesses; see upstream.h. */
#include "upstream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "real.h"

#define UPSTREAM_PORT 8443

static bool make_certificate(const char *key, const char *certificate)
{
    cordon_auto(child) openssl = {.out_fd = -1, .err_fd = -1};
    const child_spec spec = {
        .argv = WORDS("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                      "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                      "/CN=vendor.test", "-keyout", key, "-out", certificate),
    };
    if (!child_start(&spec, &openssl) || !CHECK(child_finish(&openssl, REAL_PATIENCE_MS)))
        return false;
    return TEST_RECORDF(openssl.status == 0, "openssl req: %.300s", cordon_buf_text(&openssl.err));
}

bool upstream_start(upstream *ret_upstream)
{
    char port[64];
    const char *key = real_path("upstream.key");
    const char *certificate = real_path("upstream.pem");
    *ret_upstream = (upstream){.server = {.out_fd = -1, .err_fd = -1}};
    (void)snprintf(port, sizeof port, "%s:%d", real_variable("CORDON_TEST_UPSTREAM_ADDR"),
                   UPSTREAM_PORT);
    const child_spec spec = {
        .argv = WORDS("openssl", "s_server", "-accept", port, "-key", key, "-cert", certificate,
                      "-www"),
        .netns = real_variable("CORDON_TEST_NETNS"),
    };
    if (!make_certificate(key, certificate) || !child_start(&spec, &ret_upstream->server))
        return false;
    (void)snprintf(ret_upstream->address, sizeof ret_upstream->address, "%s", port);
    return TEST_RECORDF(child_hear(&ret_upstream->server, "ACCEPT", REAL_PATIENCE_MS),
                        "openssl s_server: %.300s", cordon_buf_text(&ret_upstream->server.err));
}

void upstream_clear(upstream *u)
{
    child_clear(&u->server);
}

/* --- Witnesses -------------------------------------------------------------------------------- */

/* What the probe tries on hosts and gateways. */
static const uint16_t ports[] = {22, 53, 80, 443, 2375, 3128, 5432, 8080, 9999};

/* One socket for every address of both families. */
static bool add_witness(witnesses *w, uint16_t port, int type)
{
    const struct sockaddr_in6 any = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_ANY_INIT};
    const int off = 0;
    const int on = 1; /* an earlier test's visitors may linger */
    int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              bind(fd, (const struct sockaddr *)&any, sizeof any) == 0 &&
              (type == SOCK_DGRAM || listen(fd, 16) == 0);
    (void)snprintf(w->names[w->count], sizeof w->names[0], "%s port %u",
                   type == SOCK_DGRAM ? "UDP" : "TCP", port);
    w->fds[w->count++] = fd;
    return TEST_RECORDF(ok, "no witness at %s", w->names[w->count - 1]);
}

static bool add_witnesses(witnesses *w)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++)
        ok = add_witness(w, ports[i], SOCK_STREAM) && add_witness(w, ports[i], SOCK_DGRAM) && ok;
    return ok;
}

/* A socket belongs to the namespace it was made in, wherever its owner goes. */
bool witnesses_start(witnesses *ret_witnesses)
{
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int there = open(real_variable("CORDON_TEST_NETNS"), O_RDONLY | O_CLOEXEC);
    *ret_witnesses = (witnesses){.count = 0};
    bool ok = CHECK(home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0) &&
              add_witnesses(ret_witnesses);
    ok = CHECK(home >= 0 && setns(home, CLONE_NEWNET) == 0) && ok;
    if (home >= 0)
        (void)close(home);
    if (there >= 0)
        (void)close(there);
    return ok;
}

/* Who it was, for the message. */
static void peer_text(const struct sockaddr_in6 *peer, char text[INET6_ADDRSTRLEN])
{
    if (!inet_ntop(AF_INET6, &peer->sin6_addr, text, INET6_ADDRSTRLEN))
        text[0] = '\0';
}

/* Takes one visitor, if there is one, and says where it came from. */
static bool was_reached(const witnesses *w, size_t index, char from[INET6_ADDRSTRLEN])
{
    struct sockaddr_in6 peer = {0};
    socklen_t size = sizeof peer;
    char byte;
    bool datagram = w->names[index][0] == 'U';
    ssize_t got = datagram ? recvfrom(w->fds[index], &byte, 1, 0, (struct sockaddr *)&peer, &size)
                           : accept4(w->fds[index], (struct sockaddr *)&peer, &size, SOCK_CLOEXEC);
    peer_text(&peer, from);
    if (!datagram && got >= 0)
        (void)close((int)got);
    return got >= 0;
}

bool witnesses_saw_something(witnesses *w, int ms)
{
    cordon_deadline until = cordon_deadline_in_ms(ms, -1);
    char from[INET6_ADDRSTRLEN];
    while (!cordon_deadline_passed(until)) {
        for (size_t i = 0; i < w->count; i++) {
            if (was_reached(w, i, from))
                return true;
        }
        (void)usleep(20000);
    }
    return false;
}

bool witnesses_saw_nothing(witnesses *w)
{
    bool quiet = true;
    for (size_t i = 0; i < w->count; i++) {
        char from[INET6_ADDRSTRLEN] = "";
        quiet =
            TEST_RECORDF(!was_reached(w, i, from), "%s was reached from %s", w->names[i], from) &&
            quiet;
    }
    return quiet;
}

void witnesses_clear(witnesses *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->fds[i] >= 0)
            (void)close(w->fds[i]);
    }
    w->count = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases DN1, DN2, DN4, DN5, RL3 and SL4: a command on the vendor network looks names up, tries
 * every address that the engines' side of the world has, and scans its proxy. Witnesses stand at
 * all of them; only the proxy of its own run answers, and only at its port. The commands are shell
 * and busybox; what takes system calls is the probe's (real_probe.c).
 */
#include "real.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "upstream.h"

/* Of the run's own proxy: $a its address, $p its port. */
#define OWN_PROXY "u=${HTTPS_PROXY#http://}; a=${u%:*}; p=${u##*:}; "

/* try ADDR...: says which of them take a connection at $q. Nothing is sent. */
#define TRY                                                                                        \
    "try() { for t; do nc -w 1 $t $q </dev/null >/dev/null 2>&1 && echo \"reached $t $q\"; done; " \
    "true; }; "

/* The first line that the proxy answers to a CONNECT. */
#define ASK                                                                                        \
    "ask() { printf \"CONNECT $1 HTTP/1.1\\r\\n\\r\\n\" | nc -w 5 $a $p 2>/dev/null | head -c "    \
    "12; "                                                                                         \
    "echo; }; "

/* --- DN1 -------------------------------------------------------------------------------------- */

/* UDP by the resolver's own ways, TCP by hand: A and TXT of a label that nobody has asked for. */
static const char *const look_up =
    "n=$(head -c 6 /dev/urandom | od -An -tx1 | tr -d ' \\n');"
    "servers=\"$(sed -n 's/^nameserver //p' /etc/resolv.conf) 127.0.0.11 203.0.113.53\";"
    "for t in a txt; do"
    " nslookup -type=$t a$n.watched.test >/dev/null 2>&1 && echo resolved $t;"
    " for s in $servers; do"
    "  nslookup -type=$t b$n.watched.test $s >/dev/null 2>&1 && echo resolved $t by $s; done; done;"
    "for s in $servers; do"
    " printf '\\0\\036\\1\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\1x\\7watched\\4test\\0\\0\\20\\0\\1' |"
    "  nc -w 2 $s 53 2>/dev/null | grep -q . && echo answered by $s; done;"
    "wget -q -T 2 -O - http://c$n.watched.test/ >/dev/null 2>&1 && echo fetched; true";

/* Without this, a name server that hears nothing would prove nothing. */
static bool uncontained_queries_arrive(witnesses *world)
{
    char id[65] = "";
    bool heard =
        real_foreign_container("cordon-uncontained",
                               "[\"nslookup\",\"-type=txt\",\"u.watched.test\"]", NULL, id) &&
        CHECK(witnesses_saw_something(world, REAL_PATIENCE_MS));
    real_remove_container(id);
    return heard;
}

static void DN1_no_query_reaches_a_name_server(void)
{
    static const char *const networks[] = {"vendor", "none"};
    cordon_auto(witnesses) control;
    if (!witnesses_start(&control) || !uncontained_queries_arrive(&control))
        return;
    witnesses_clear(&control);
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(witnesses) world;
        cordon_auto(outcome) o = {0};
        if (!witnesses_start(&world) ||
            !cordon_call(&(call){.argv = SHELL(look_up), .network = networks[i]}, &o))
            return;
        EXPECT_EXITED(&o, 0);
        CHECK_STR(outcome_out(&o), "");
        witnesses_saw_nothing(&world);
        EXPECT_NOTHING_LEFT(&o);
    }
}

/* --- DN2, DN5 --------------------------------------------------------------------------------- */

/* The proxy is named by its address, so that no engine's name server is needed to reach it. */
static void DN2_the_proxy_is_reached_by_its_address(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(OWN_PROXY ASK "echo $a | tr -d 0-9; ask evil.test:443")},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "...\nHTTP/1.1 403\n");
}

/* One name of two does not resolve: it alone fails, when it is used. */
static void DN5_a_name_that_does_not_resolve_takes_nothing_from_the_others(void)
{
    char text[512];
    cordon_auto(upstream) vendor;
    cordon_auto(outcome) o = {0};
    if (!upstream_start(&vendor))
        return;
    (void)snprintf(text, sizeof text,
                   "name = \"half\"; adapter = \"claude\";\n"
                   "hosts = [ \"gone.corp.test\", \"llm.corp.test\" ];\n"
                   "upstream = ( { host = \"llm.corp.test\"; address = \"%s\"; } );\n",
                   vendor.address);
    if (!real_file("vendors.d/half.conf", text) ||
        !cordon_call(
            &(call){.argv = SHELL(OWN_PROXY ASK "ask gone.corp.test:443; ask "
                                                "llm.corp.test:443; ask gone.corp.test:443"),
                    .options = WORDS("--vendor", "half")},
            &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "HTTP/1.1 502\nHTTP/1.1 200\nHTTP/1.1 502\n");
    EXPECT_NOTHING_LEFT(&o);
}

/* --- DN4, RL3 --------------------------------------------------------------------------------- */

/* Every address of every interface there, bridges of the run included; the loopback's left out. */
static bool append_addresses(FILE *file)
{
    struct ifaddrs *all = NULL;
    if (!CHECK(getifaddrs(&all) == 0))
        return false;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        char host[INET6_ADDRSTRLEN] = "";
        if (!i->ifa_addr || (i->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        if (i->ifa_addr->sa_family == AF_INET)
            (void)inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, host,
                            sizeof host);
        if (i->ifa_addr->sa_family == AF_INET6)
            (void)inet_ntop(AF_INET6, &((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr,
                            host, sizeof host);
        if (host[0])
            (void)fprintf(file, "%s%s\n", host, strncmp(host, "fe80", 4) == 0 ? "%eth0" : "");
    }
    freeifaddrs(all);
    return true;
}

/* Looks from inside of the engines' network; the file is there whole or not at all. */
static bool write_addresses(const char *name)
{
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, "%s.new", name);
    FILE *file = fopen(real_path(temporary), "we");
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int there = open(real_variable("CORDON_TEST_NETNS"), O_RDONLY | O_CLOEXEC);
    bool ok = CHECK(file && home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0) &&
              append_addresses(file);
    ok = CHECK(home >= 0 && setns(home, CLONE_NEWNET) == 0) && ok;
    (void)close(home);
    (void)close(there);
    return CHECK(file && fclose(file) == 0) && ok &&
           CHECK(rename(real_path(temporary), real_path(name)) == 0);
}

/* Waits for the list, then tries TCP and UDP at each address, and at its network's own eight. */
static const char *const try_all =
    OWN_PROXY TRY "echo ready; while [ ! -f targets ]; do sleep 0.1; done;"
                  "all=\"$(cat targets)\"; i=0; b=${a%.*}; l=$(( ${a##*.} & ~7 ));"
                  "while [ $i -lt 8 ]; do all=\"$all $b.$((l + i))\"; i=$((i + 1)); done;"
                  "q=9999; try $all;"
                  "for t in $all; do echo x | nc -u -w 1 $t 9999 >/dev/null 2>&1; done; echo over";

static void DN4_host_services_are_out_of_reach_at_every_address_of_the_host(void)
{
    const char *tree = real_worktree("dn4");
    cordon_auto(witnesses) world;
    cordon_auto(running) r = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    if (!witnesses_start(&world) ||
        !cordon_start(&(call){.argv = SHELL(try_all), .options = WORDS("--worktree", tree)}, &r))
        return;
    CHECK(child_hear(&r.process, "ready", REAL_PATIENCE_MS));
    CHECK(write_addresses("dn4/targets"));
    if (!cordon_end(&r, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "ready\nover\n");
    witnesses_saw_nothing(&world);
    EXPECT_NOTHING_LEFT(&o);
}

/* The ways in which rootless networks show the host; a name counts, too. */
static const char *const try_host =
    OWN_PROXY TRY "for q in 53 80 3128 9999; do try 10.0.2.2 10.0.2.3 169.254.1.1 169.254.1.2"
                  " host.containers.internal host.docker.internal $1 $2; done; q=$p; try $a";

/* "reached OWN-PROXY 3128" is all that was said. */
static bool is_own_proxy_alone(const char *text)
{
    const char *end = strchr(text, '\n');
    return strncmp(text, "reached 10.213.", 15) == 0 && end && strcmp(end - 5, " 3128\n") == 0;
}

/* Of all that was tried the own proxy alone has answered, at its port. */
#define EXPECT_OWN_PROXY_ALONE(outcome_)                                                           \
    TEST_RECORDF(is_own_proxy_alone(outcome_out(outcome_)), "what answers: %.300s",                \
                 outcome_out(outcome_))

static void RL3_the_hosts_names_and_addresses_lead_nowhere(void)
{
    cordon_auto(witnesses) world;
    cordon_auto(outcome) o = {0};
    if (!witnesses_start(&world) ||
        !cordon_call(
            &(call){.argv = SHELL(try_host, "name", real_variable("CORDON_TEST_PRIVATE_ADDR"),
                                  real_variable("CORDON_TEST_UPSTREAM_ADDR"))},
            &o))
        return;
    EXPECT_EXITED(&o, 0);
    EXPECT_OWN_PROXY_ALONE(&o);
    witnesses_saw_nothing(&world);
    EXPECT_NOTHING_LEFT(&o);
}

/* --- SL4 -------------------------------------------------------------------------------------- */

static bool address_of(const char *id, char ret_address[64])
{
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    ret_address[0] = '\0';
    if (!CHECK_OK(real.ops->container_inspect(real.impl, id, real_soon(), &facts, &err), err))
        return false;
    for (size_t i = 0; i < facts.endpoints.count; i++)
        (void)snprintf(ret_address, 64, "%s", facts.endpoints.items[i].ipv4);
    return CHECK(ret_address[0] != '\0');
}

/* $1, $2: another run's proxy and step. Its own proxy, its own loopback, and both of those. */
static const char *const scan =
    OWN_PROXY TRY "for q in $(seq 1 1100) $(seq 3000 3200) $(seq 1101 191 65535); do"
                  " try $a; done; for q in 22 53 80 443 2375 3128 8080 9999; do"
                  " try 127.0.0.1 $1 $2; done";

static void SL4_only_the_connect_port_of_its_own_proxy_answers(void)
{
    char proxy[64];
    char step[64];
    real_ids ids;
    cordon_auto(running) other = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) ended = {.process = {.out_fd = -1, .err_fd = -1}};
    if (!cordon_start(&(call){.argv = SHELL("echo ready; sleep $0", real_marker())}, &other))
        return;
    if (CHECK(child_hear(&other.process, "ready", REAL_PATIENCE_MS)) &&
        real_find_run(NULL, 0, &ids) && address_of(ids.proxy, proxy) &&
        address_of(ids.step, step) &&
        cordon_call(&(call){.argv = SHELL(scan, "name", proxy, step)}, &o)) {
        EXPECT_EXITED(&o, 0);
        EXPECT_OWN_PROXY_ALONE(&o);
    }
    CHECK(kill(other.process.pid, SIGTERM) == 0);
    if (cordon_end(&other, &ended))
        EXPECT_NOTHING_LEFT(&ended);
}

REAL_MAIN("cases_net", TEST(DN1_no_query_reaches_a_name_server),
          TEST(DN2_the_proxy_is_reached_by_its_address),
          TEST(DN4_host_services_are_out_of_reach_at_every_address_of_the_host),
          TEST(DN5_a_name_that_does_not_resolve_takes_nothing_from_the_others),
          TEST(RL3_the_hosts_names_and_addresses_lead_nowhere),
          TEST(SL4_only_the_connect_port_of_its_own_proxy_answers))

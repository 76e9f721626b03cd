/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of every way past the proxy: direct TCP and UDP, the gateway and the host, neighbours,
 * metadata services, IPv6, and sockets of other kinds. libc-only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gate/probe.h"
#include "gate/probe_net.h"
#include "kit/cleanup.h"

#define DATAGRAM "cordon-probe"

/* Public resolvers and name servers: addresses that answer somebody who can reach them. */
static const char *const public_addresses[] = {"1.1.1.1", "8.8.8.8", "9.9.9.9", "198.41.0.4"};

static const char *const metadata_addresses[] = {
    "169.254.169.254", /* most clouds */
    "169.254.170.2",   /* container credentials */
    "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
};

static size_t fill_ports(const cordon_probe *probe, const char *address, cordon_attempt *attempts)
{
    for (size_t i = 0; i < probe->port_count; i++)
        attempts[i] = (cordon_attempt){.address = address, .port = probe->ports[i]};
    return probe->port_count;
}

/* text: the address; the ports are those of host services and the proxy's own */
static void check_tcp(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    cordon_attempt attempts[CORDON_PROBE_PORTS_MAX];
    size_t count = fill_ports(probe, check->text, attempts);
    cordon_net_tcp(attempts, count);
    cordon_net_found(attempts, count, CORDON_REACH_BLOCKED, "reached", "blocked", found);
}

static void check_udp(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    cordon_attempt attempts[CORDON_PROBE_PORTS_MAX];
    size_t count = fill_ports(probe, check->text, attempts);
    cordon_net_udp(attempts, count, DATAGRAM, sizeof DATAGRAM - 1);
    cordon_net_found(attempts, count, CORDON_REACH_BLOCKED, "reached", "blocked", found);
}

/* In one's own loopback a refusal is one's own kernel's; only a listener would be somebody. */
static void check_loopback(const cordon_probe *probe, const cordon_check *check,
                           cordon_found *found)
{
    cordon_attempt attempts[CORDON_PROBE_PORTS_MAX];
    size_t count = fill_ports(probe, check->text, attempts);
    cordon_net_tcp(attempts, count);
    cordon_net_found(attempts, count, CORDON_REACH_ANSWERED, "open", "closed", found);
}

static void close_list(struct ifaddrs **list)
{
    if (*list)
        freeifaddrs(*list);
}

static bool is_outer(const struct ifaddrs *item, int family)
{
    return item->ifa_addr && item->ifa_addr->sa_family == family &&
           !(item->ifa_flags & (unsigned)IFF_LOOPBACK);
}

static uint32_t host_order(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    memcpy(&v4, address, sizeof v4);
    return ntohl(v4.sin_addr.s_addr);
}

#define NEIGHBOURS_MAX 14
#define NEIGHBOUR_SIZE INET_ADDRSTRLEN

/* The other addresses of a small subnet, without one's own and the proxy's. */
static size_t neighbours_of(const struct ifaddrs *item, const char *proxy,
                            char ret_texts[NEIGHBOURS_MAX][NEIGHBOUR_SIZE])
{
    size_t count = 0;
    uint32_t own = host_order(item->ifa_addr);
    uint32_t mask = host_order(item->ifa_netmask);
    for (uint32_t low = 1; low < ~mask && count < NEIGHBOURS_MAX; low++) {
        struct in_addr address = {.s_addr = htonl((own & mask) | low)};
        if (((own & mask) | low) == own ||
            !inet_ntop(AF_INET, &address, ret_texts[count], NEIGHBOUR_SIZE) ||
            strcmp(ret_texts[count], proxy) == 0)
            continue;
        count++;
    }
    return count;
}

static void try_neighbours(const cordon_probe *probe, const struct ifaddrs *item,
                           cordon_found *found)
{
    char texts[NEIGHBOURS_MAX][NEIGHBOUR_SIZE];
    cordon_attempt attempts[2 * NEIGHBOURS_MAX];
    size_t count = neighbours_of(item, probe->proxy_address, texts);
    for (size_t i = 0; i < count; i++) {
        attempts[2 * i] = (cordon_attempt){.address = texts[i], .port = probe->proxy_port};
        attempts[2 * i + 1] = (cordon_attempt){.address = texts[i], .port = 80};
    }
    cordon_net_tcp(attempts, 2 * count);
    cordon_net_found(attempts, 2 * count, CORDON_REACH_BLOCKED, "reached", "blocked", found);
}

/* Everybody else in the subnets that this process is in. */
static void check_neighbours(const cordon_probe *probe, const cordon_check *check,
                             cordon_found *found)
{
    cordon_cleanup(close_list) struct ifaddrs *list = NULL;
    (void)check;
    if (getifaddrs(&list) < 0) {
        cordon_found_set(found, "not-carried-out", "getifaddrs: %s", strerror(errno));
        return;
    }
    cordon_found_set(found, "blocked", "there is no subnet");
    for (const struct ifaddrs *item = list; item; item = item->ifa_next)
        if (is_outer(item, AF_INET) && item->ifa_netmask && strcmp(found->got, "blocked") == 0)
            try_neighbours(probe, item, found);
}

static void check_ipv6_addresses(const cordon_probe *probe, const cordon_check *check,
                                 cordon_found *found)
{
    cordon_cleanup(close_list) struct ifaddrs *list = NULL;
    (void)probe;
    (void)check;
    if (getifaddrs(&list) < 0) {
        cordon_found_set(found, "not-carried-out", "getifaddrs: %s", strerror(errno));
        return;
    }
    cordon_found_set(found, "none", "no IPv6 address but loopback's");
    for (const struct ifaddrs *item = list; item; item = item->ifa_next)
        if (is_outer(item, AF_INET6))
            cordon_found_set(found, "present", "an IPv6 address on %s", item->ifa_name);
}

/* Waits for any datagram. */
static bool receives(int fd)
{
    char byte;
    struct pollfd item = {.fd = fd, .events = POLLIN};
    return poll(&item, 1, CORDON_PROBE_WAIT_MS) > 0 && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0;
}

/* An echo request from an unprivileged ICMP socket; anything that comes back is an answer. */
static void ping(const char *text, const void *request, size_t length, int protocol,
                 cordon_found *found)
{
    cordon_endpoint_address address;
    if (cordon_net_address(text, 0, &address) < 0) {
        cordon_found_set(found, "not-carried-out", "%s is not an address", text);
        return;
    }
    cordon_autoclose int fd =
        socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        cordon_found_set(found, "blocked", "ICMP socket: %s", strerror(errno));
    else if (sendto(fd, request, length, 0, (const struct sockaddr *)&address.storage,
                    address.length) < 0)
        cordon_found_set(found, "blocked", "%s: %s", text, strerror(errno));
    else if (receives(fd))
        cordon_found_set(found, "reached", "%s answers an echo request", text);
    else
        cordon_found_set(found, "blocked", "%s: no answer", text);
}

static void check_ping(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    struct icmphdr request = {.type = ICMP_ECHO};
    (void)probe;
    ping(check->text, &request, sizeof request, IPPROTO_ICMP, found);
}

/* All nodes of every link: what finds an engine's bridge that has only a link-local address. */
static void check_all_nodes(const cordon_probe *probe, const cordon_check *check,
                            cordon_found *found)
{
    struct icmp6_hdr request = {.icmp6_type = ICMP6_ECHO_REQUEST};
    struct if_nameindex *names = if_nameindex();
    (void)probe;
    (void)check;
    if (!names) {
        cordon_found_set(found, "not-carried-out", "if_nameindex: %s", strerror(errno));
        return;
    }
    cordon_found_set(found, "blocked", "there is no interface");
    for (const struct if_nameindex *item = names; item->if_index != 0; item++) {
        char address[64];
        if (strcmp(item->if_name, "lo") == 0 || strcmp(found->got, "blocked") != 0)
            continue;
        (void)snprintf(address, sizeof address, "ff02::1%%%s", item->if_name);
        ping(address, &request, sizeof request, IPPROTO_ICMPV6, found);
    }
    if_freenameindex(names);
}

/* text: what it is; number: an index of kinds */
static const struct {
    const char *name;
    int family;
    int type;
    int protocol;
} kinds[] = {
    {"socket.raw-icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP},
    {"socket.raw-ip", AF_INET, SOCK_RAW, IPPROTO_RAW},
    {"socket.raw-ipv6", AF_INET6, SOCK_RAW, IPPROTO_RAW},
    {"socket.packet", AF_PACKET, SOCK_RAW, 0x0300 /* ETH_P_ALL, big-endian */},
    {"socket.packet-datagram", AF_PACKET, SOCK_DGRAM, 0x0300},
    {"socket.datagram", AF_INET, SOCK_DGRAM, 0},
    {"socket.datagram-ipv6", AF_INET6, SOCK_DGRAM, 0},
    {"socket.ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
    {"socket.mptcp", AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */},
};

static void check_socket(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    (void)probe;
    cordon_autoclose int fd = socket(kinds[check->number].family, kinds[check->number].type,
                                     kinds[check->number].protocol);
    cordon_found_attempt(found, fd >= 0, errno, "socket");
}

/* vsock leads to the hypervisor, past every fence of the network namespace. */
static void check_vsock(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    struct sockaddr_vm host = {
        .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 1024};
    (void)probe;
    (void)check;
    cordon_autoclose int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        cordon_found_attempt(found, false, errno, "socket");
        return;
    }
    int rc = connect(fd, (const struct sockaddr *)&host, sizeof host);
    bool gone = rc < 0 && (errno == ENODEV || errno == EPERM || errno == EACCES);
    cordon_found_set(found, gone ? "refused" : "allowed", "vsock to the hypervisor: %s",
                     rc == 0 ? "connected" : strerror(errno));
}

/* With Landlock no TCP port can be bound either: no server for somebody who finds a way in. */
static void check_listen(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(8080)};
    (void)probe;
    (void)check;
    cordon_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listens =
        fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0 && listen(fd, 1) == 0;
    cordon_found_attempt(found, listens, errno, "bind and listen");
}

/* One rtnetlink change, and the kernel's acknowledgement as a result. */
static long change_network(void *request, size_t length)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct {
        struct nlmsghdr head;
        struct nlmsgerr body;
    } answer;
    cordon_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0 ||
        sendto(fd, request, length, 0, (const struct sockaddr *)&kernel, sizeof kernel) < 0 ||
        recv(fd, &answer, sizeof answer, 0) < (ssize_t)sizeof answer)
        return -1;
    if (answer.head.nlmsg_type != NLMSG_ERROR)
        errno = EPROTO;
    else
        errno = -answer.body.error;
    return answer.head.nlmsg_type == NLMSG_ERROR && answer.body.error == 0 ? 0 : -1;
}

/* A route to a documentation network (RFC 5737) through loopback. */
static long try_add_route(void)
{
    struct {
        struct nlmsghdr head;
        struct rtmsg body;
        struct rtattr to;
        unsigned char to_value[4];
        struct rtattr out;
        uint32_t out_value;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = RTM_NEWROUTE,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
        .body = {.rtm_family = AF_INET,
                 .rtm_dst_len = 24,
                 .rtm_table = RT_TABLE_MAIN,
                 .rtm_protocol = RTPROT_STATIC,
                 .rtm_scope = RT_SCOPE_LINK,
                 .rtm_type = RTN_UNICAST},
        .to = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_DST},
        .to_value = {203, 0, 113, 0},
        .out = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF},
        .out_value = 1,
    };
    return change_network(&request, sizeof request);
}

static long try_add_address(void)
{
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg body;
        struct rtattr local;
        unsigned char local_value[4];
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = RTM_NEWADDR,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
        .body = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1},
        .local = {.rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL},
        .local_value = {203, 0, 113, 1},
    };
    return change_network(&request, sizeof request);
}

static void check_change(const cordon_probe *probe, const cordon_check *check, cordon_found *found)
{
    (void)probe;
    long rc = check->number == 0 ? try_add_route() : try_add_address();
    int errnum = errno;
    cordon_found_attempt(found, rc >= 0, errnum, "rtnetlink");
}

static void add_addresses(const cordon_probe_addresses *list, const char *kind,
                          cordon_checks *checks)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *address = list->items[i];
        cordon_check_add(checks, "blocked", check_tcp, address, 0, "tcp.%s.%.40s", kind, address);
        cordon_check_add(checks, "blocked", check_udp, address, 0, "udp.%s.%.40s", kind, address);
    }
}

static void add_direct(cordon_checks *checks)
{
    for (size_t i = 0; i < sizeof public_addresses / sizeof public_addresses[0]; i++) {
        const char *address = public_addresses[i];
        cordon_check_add(checks, "blocked", check_tcp, address, 0, "tcp.internet.%s", address);
        cordon_check_add(checks, "blocked", check_udp, address, 0, "udp.internet.%s", address);
    }
    for (size_t i = 0; i < sizeof metadata_addresses / sizeof metadata_addresses[0]; i++) {
        const char *address = metadata_addresses[i];
        cordon_check_add(checks, "blocked", check_tcp, address, 0, "tcp.metadata.%s", address);
    }
}

void cordon_probe_add_network(const cordon_probe *probe, cordon_checks *checks)
{
    add_direct(checks);
    add_addresses(&probe->gateways, "gateway", checks);
    add_addresses(&probe->hosts, "host", checks);
    add_addresses(&probe->foreign, "foreign", checks);
    cordon_check_add(checks, "blocked", check_neighbours, NULL, 0, "tcp.neighbours");
    cordon_check_add(checks, "closed", check_loopback, "127.0.0.1", 0, "tcp.loopback");
    cordon_check_add(checks, probe->fenced ? "refused" : "allowed", check_listen, NULL, 0,
                     "tcp.listen");
    cordon_check_add(checks, "none", check_ipv6_addresses, NULL, 0, "ipv6.addresses");
    cordon_check_add(checks, "blocked", check_all_nodes, NULL, 0, "ipv6.all-nodes");
    cordon_check_add(checks, "blocked", check_tcp, "2606:4700:4700::1111", 0, "ipv6.internet-tcp");
    cordon_check_add(checks, "blocked", check_udp, "2606:4700:4700::1111", 0, "ipv6.internet-udp");
    cordon_check_add(checks, "blocked", check_ping, "1.1.1.1", 0, "icmp.internet");
    if (probe->gateways.count > 0)
        cordon_check_add(checks, "blocked", check_ping, probe->gateways.items[0], 0,
                         "icmp.gateway");
    for (int i = 0; i < (int)(sizeof kinds / sizeof kinds[0]); i++)
        cordon_check_add(checks, "refused", check_socket, NULL, i, "%s", kinds[i].name);
    cordon_check_add(checks, "refused", check_vsock, NULL, 0, "socket.vsock");
    cordon_check_add(checks, "refused", check_change, NULL, 0, "network.add-route");
    cordon_check_add(checks, "refused", check_change, NULL, 1, "network.add-address");
}

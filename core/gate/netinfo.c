/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding rtnetlink(7) dumps into facts. Pure; the asking is in netdump.c. libc-only.
 */
#include "gate/netinfo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINKS_MAX 128

/* Names by index, filled while links are decoded, used by addresses and routes. */
typedef struct link_name_entry {
    int index;
    char name[16]; /* IFNAMSIZ of the kernel */
} link_name_entry;

typedef struct link_names {
    size_t count;
    link_name_entry items[LINKS_MAX];
} link_names;

/* Attributes of one message by type; a later one of the same type wins, as in the kernel. */
typedef struct attributes {
    const struct rtattr *by_type[64];
} attributes;

static int parse_attributes(const uint8_t *at, size_t length, attributes *ret_found,
                            cordon_err *err)
{
    memset(ret_found, 0, sizeof *ret_found);
    while (length >= sizeof(struct rtattr)) {
        const struct rtattr *item = (const struct rtattr *)(const void *)at;
        size_t size = item->rta_len;
        if (size < sizeof *item || size > length)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: an attribute of %zu bytes",
                               size);
        unsigned type = item->rta_type & (unsigned)NLA_TYPE_MASK;
        if (type < sizeof ret_found->by_type / sizeof ret_found->by_type[0])
            ret_found->by_type[type] = item;
        size_t step = RTA_ALIGN(size) < length ? RTA_ALIGN(size) : length;
        at += step;
        length -= step;
    }
    return 0;
}

/* What follows a message's head. */
static const void *body_of(const struct nlmsghdr *message)
{
    return (const uint8_t *)message + NLMSG_HDRLEN;
}

/* Checks that a fixed part of this size is there, and takes the attributes behind it. */
static int open_body(const struct nlmsghdr *message, size_t size, attributes *ret_found,
                     cordon_err *err)
{
    size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(size);
    if (message->nlmsg_len < skip)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: a short message of type %d",
                           message->nlmsg_type);
    return parse_attributes((const uint8_t *)message + skip, message->nlmsg_len - skip, ret_found,
                            err);
}

static const void *payload(const struct rtattr *attribute)
{
    return (const uint8_t *)attribute + RTA_LENGTH(0);
}

static size_t payload_length(const struct rtattr *attribute)
{
    return attribute->rta_len - RTA_LENGTH(0);
}

static uint32_t get_u32(const attributes *found, unsigned type, uint32_t missing)
{
    uint32_t value = missing;
    const struct rtattr *attribute = found->by_type[type];
    if (attribute && payload_length(attribute) == sizeof value)
        memcpy(&value, payload(attribute), sizeof value);
    return value;
}

static const char *link_name(const link_names *links, int index)
{
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].index == index)
            return links->items[i].name;
    return "?";
}

static int remember_link(link_names *links, int index, const char *name, cordon_report *report,
                         cordon_err *err)
{
    if (links->count == LINKS_MAX)
        return cordon_report_truncated(report, "interface", err);
    link_name_entry *link = &links->items[links->count++];
    link->index = index;
    memcpy(link->name, name, sizeof link->name);
    return 0;
}

/* The NUL-terminated name of a link, at most 15 characters. */
static int take_name(const attributes *found, char ret_name[16], cordon_err *err)
{
    const struct rtattr *attribute = found->by_type[IFLA_IFNAME];
    size_t length = attribute ? payload_length(attribute) : 0;
    memset(ret_name, 0, 16);
    if (length < 2 || length > 16 || ((const char *)payload(attribute))[length - 1] != '\0')
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: an interface without a name");
    memcpy(ret_name, payload(attribute), length);
    return 0;
}

static int decode_link(const struct nlmsghdr *message, link_names *links, cordon_report *report,
                       cordon_err *err)
{
    char name[16];
    attributes found;
    const struct ifinfomsg *info = body_of(message);
    if (open_body(message, sizeof *info, &found, err) < 0 || take_name(&found, name, err) < 0 ||
        remember_link(links, info->ifi_index, name, report, err) < 0)
        return -1;
    return cordon_report_addf(report, err, "interface", "%s %s mtu %u flags 0x%x", name,
                              info->ifi_flags & IFF_UP ? "up" : "down",
                              get_u32(&found, IFLA_MTU, 0), info->ifi_flags);
}

static size_t family_bytes(int family)
{
    return family == AF_INET ? 4 : 16;
}

/* An address attribute as text, or `missing` when it is not there. */
static int address_text(int family, const struct rtattr *attribute, const char *missing,
                        char ret_text[INET6_ADDRSTRLEN], cordon_err *err)
{
    if (!attribute) {
        (void)snprintf(ret_text, INET6_ADDRSTRLEN, "%s", missing);
        return 0;
    }
    if (payload_length(attribute) != family_bytes(family) ||
        !inet_ntop(family, payload(attribute), ret_text, INET6_ADDRSTRLEN))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: an address of %zu bytes",
                           payload_length(attribute));
    return 0;
}

static bool is_ip(int family)
{
    return family == AF_INET || family == AF_INET6;
}

static int decode_address(const struct nlmsghdr *message, link_names *links, cordon_report *report,
                          cordon_err *err)
{
    char text[INET6_ADDRSTRLEN];
    attributes found;
    const struct ifaddrmsg *info = body_of(message);
    if (open_body(message, sizeof *info, &found, err) < 0)
        return -1;
    if (!is_ip(info->ifa_family))
        return cordon_report_addf(report, err, "address", "%s family %d",
                                  link_name(links, (int)info->ifa_index), info->ifa_family);
    /* On a point-to-point link IFA_ADDRESS is the peer's and IFA_LOCAL our own. */
    const struct rtattr *own =
        found.by_type[IFA_LOCAL] ? found.by_type[IFA_LOCAL] : found.by_type[IFA_ADDRESS];
    if (address_text(info->ifa_family, own, "?", text, err) < 0)
        return -1;
    return cordon_report_addf(report, err, "address", "%s %s/%d",
                              link_name(links, (int)info->ifa_index), text, info->ifa_prefixlen);
}

static bool is_kernels_own_route(const struct rtmsg *info, uint32_t table)
{
    return table == RT_TABLE_LOCAL &&
           (info->rtm_type == RTN_LOCAL || info->rtm_type == RTN_BROADCAST ||
            info->rtm_type == RTN_ANYCAST || info->rtm_type == RTN_MULTICAST);
}

/* What makes a route other than "unicast, main table, one next hop". */
static void route_oddities(const struct rtmsg *info, const attributes *found, uint32_t table,
                           char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    size_t used = 0;
    if (info->rtm_type != RTN_UNICAST)
        used += (size_t)snprintf(ret_text + used, size - used, " type %d", info->rtm_type);
    if (table != RT_TABLE_MAIN)
        used += (size_t)snprintf(ret_text + used, size - used, " table %u", table);
    if (found->by_type[RTA_MULTIPATH] || found->by_type[RTA_VIA] || found->by_type[RTA_NH_ID] ||
        found->by_type[RTA_ENCAP])
        (void)snprintf(ret_text + used, size - used, " special");
}

static int route_fact(const struct rtmsg *info, const attributes *found, const link_names *links,
                      cordon_report *report, cordon_err *err)
{
    char to[INET6_ADDRSTRLEN];
    char via[INET6_ADDRSTRLEN];
    char odd[64];
    uint32_t table = get_u32(found, RTA_TABLE, info->rtm_table);
    if (is_kernels_own_route(info, table))
        return 0;
    const char *any = info->rtm_family == AF_INET ? "0.0.0.0" : "::";
    if (address_text(info->rtm_family, found->by_type[RTA_DST], any, to, err) < 0 ||
        address_text(info->rtm_family, found->by_type[RTA_GATEWAY], "none", via, err) < 0)
        return -1;
    route_oddities(info, found, table, odd, sizeof odd);
    return cordon_report_addf(report, err, "route", "%s/%d via %s dev %s%s", to, info->rtm_dst_len,
                              via, link_name(links, (int)get_u32(found, RTA_OIF, 0)), odd);
}

static int decode_route(const struct nlmsghdr *message, link_names *links, cordon_report *report,
                        cordon_err *err)
{
    attributes found;
    const struct rtmsg *info = body_of(message);
    if (open_body(message, sizeof *info, &found, err) < 0)
        return -1;
    /* Entries of a routing cache are copies of routes, not routes. */
    if (info->rtm_flags & RTM_F_CLONED)
        return 0;
    if (!is_ip(info->rtm_family))
        return cordon_report_addf(report, err, "route", "family %d", info->rtm_family);
    return route_fact(info, &found, links, report, err);
}

static int decode_error(const struct nlmsghdr *message, cordon_err *err)
{
    int error = 0;
    if (message->nlmsg_len < NLMSG_HDRLEN + sizeof error)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: a short error message");
    memcpy(&error, body_of(message), sizeof error);
    return CORDON_FAIL_ERRNO(err, error < 0 && error > -4096 ? -error : EPROTO, "netlink dump");
}

/* DONE carries the dump's own result: a negative errno when it broke off. */
static int decode_done(const struct nlmsghdr *message, cordon_err *err)
{
    int result = 0;
    if (message->nlmsg_len >= NLMSG_HDRLEN + sizeof result)
        memcpy(&result, body_of(message), sizeof result);
    if (result < 0)
        return CORDON_FAIL_ERRNO(err, result > -4096 ? -result : EPROTO, "netlink dump");
    return 0;
}

static int decode_one(const struct nlmsghdr *message, link_names *links, cordon_report *report,
                      cordon_err *err)
{
    switch (message->nlmsg_type) {
    case NLMSG_ERROR:
        return decode_error(message, err);
    case NLMSG_DONE:
        return decode_done(message, err);
    case RTM_NEWLINK:
        return decode_link(message, links, report, err);
    case RTM_NEWADDR:
        return decode_address(message, links, report, err);
    case RTM_NEWROUTE:
        return decode_route(message, links, report, err);
    default:
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: a message of type %d",
                           message->nlmsg_type);
    }
}

/* The message at *at, and *at moved behind it; NULL with err unset at the end of the bytes. */
static const struct nlmsghdr *next_message(const uint8_t **at, size_t *length, cordon_err *err)
{
    const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)*at;
    if (*length == 0)
        return NULL;
    size_t size = *length >= sizeof *message ? message->nlmsg_len : 0;
    if (size < NLMSG_HDRLEN || size > *length) {
        cordon_err_set(err, CORDON_ERR_PROTOCOL, 0, "netlink: a message of %zu bytes", size);
        return NULL;
    }
    size_t step = NLMSG_ALIGN(size) < *length ? NLMSG_ALIGN(size) : *length;
    *at += step;
    *length -= step;
    return message;
}

int cordon_netinfo_decode(const void *bytes, size_t length, cordon_report *report, cordon_err *err)
{
    link_names links = {0};
    const uint8_t *at = bytes;
    cordon_err bad = CORDON_ERR_INIT;
    const struct nlmsghdr *message = next_message(&at, &length, &bad);
    for (; message; message = next_message(&at, &length, &bad))
        if (decode_one(message, &links, report, err) < 0)
            return -1;
    return bad.code == CORDON_OK ? 0 : CORDON_FAIL(err, bad.code, "%s", bad.message);
}

int cordon_netinfo_scan(const void *bytes, size_t length, uint32_t sequence, bool *ret_done,
                        bool *ret_again, cordon_err *err)
{
    const uint8_t *at = bytes;
    cordon_err bad = CORDON_ERR_INIT;
    const struct nlmsghdr *message = next_message(&at, &length, &bad);
    for (; message; message = next_message(&at, &length, &bad)) {
        if (message->nlmsg_seq != sequence)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: an answer out of sequence");
        *ret_again |= (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
        *ret_done |= message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR;
    }
    return bad.code == CORDON_OK ? 0 : CORDON_FAIL(err, bad.code, "%s", bad.message);
}

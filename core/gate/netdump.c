/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking rtnetlink(7) for its dumps. libc-only.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/netinfo.h"
#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/deadline.h"

/* The kernel answers at once; a dump that does not is a broken sandbox, not a slow one. */
#define DUMP_MS 2000

/* The kernel fills at most this much per message, whatever a dump holds (netlink(7)). */
#define ANSWER_BYTES 32768

#define DUMPS_BYTES_MAX (1U << 20)
#define ROUNDS_MAX      5

typedef struct dump_request {
    struct nlmsghdr head;
    struct rtgenmsg body;
} dump_request;

static int ask(int fd, int type, uint32_t sequence, cordon_err *err)
{
    dump_request request = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof request.body),
                 .nlmsg_type = (uint16_t)type,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                 .nlmsg_seq = sequence},
        .body = {.rtgen_family = AF_UNSPEC},
    };
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent = sendto(fd, &request, request.head.nlmsg_len, 0, (const struct sockaddr *)&kernel,
                          sizeof kernel);
    if (sent < 0)
        return CORDON_FAIL_ERRNO(err, errno, "netlink request");
    return 0;
}

/* One datagram of the kernel's own; SECURITY: those of other processes are dropped. */
static int answer(int fd, char *space, size_t *ret_length, cordon_err *err)
{
    struct sockaddr_nl from = {0};
    struct iovec part = {.iov_base = space, .iov_len = ANSWER_BYTES};
    short ready = 0;
    do {
        struct msghdr message = {
            .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
        if (cordon_deadline_poll(cordon_deadline_in_ms(DUMP_MS, -1), fd, POLLIN, "netlink dump",
                                 &ready, err) < 0)
            return -1;
        ssize_t got = recvmsg(fd, &message, 0);
        if (got < 0)
            return CORDON_FAIL_ERRNO(err, errno, "netlink answer");
        if (message.msg_flags & MSG_TRUNC)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "netlink: an answer that was cut");
        *ret_length = (size_t)got;
    } while (from.nl_pid != 0);
    return 0;
}

/* Appends one whole dump to buf. */
static int dump(int fd, int type, uint32_t sequence, cordon_buf *buf, bool *ret_again,
                cordon_err *err)
{
    bool done = false;
    if (ask(fd, type, sequence, err) < 0)
        return -1;
    while (!done) {
        char *space = NULL;
        size_t length = 0;
        if (cordon_buf_reserve(buf, ANSWER_BYTES, &space, err) < 0 ||
            answer(fd, space, &length, err) < 0 ||
            cordon_netinfo_scan(space, length, sequence, &done, ret_again, err) < 0)
            return -1;
        cordon_buf_commit(buf, length);
    }
    return 0;
}

/* Links first: addresses and routes name them. AF_UNSPEC is v4 and v6 and whatever else. */
static int dump_all(int fd, uint32_t round, cordon_buf *buf, bool *ret_again, cordon_err *err)
{
    static const int types[] = {RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE};
    cordon_buf_reset(buf);
    *ret_again = false;
    for (uint32_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (dump(fd, types[i], round * 8 + i + 1, buf, ret_again, err) < 0)
            return -1;
    return 0;
}

int cordon_netinfo_facts(cordon_report *report, cordon_err *err)
{
    cordon_auto(cordon_buf) buf = cordon_buf_make(DUMPS_BYTES_MAX);
    bool again = true;
    cordon_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "netlink socket");
    for (uint32_t round = 0; again && round < ROUNDS_MAX; round++)
        if (dump_all(fd, round, &buf, &again, err) < 0)
            return -1;
    if (again)
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "the network keeps changing while it is read");
    return cordon_netinfo_decode(cordon_buf_text(&buf), buf.length, report, err);
}

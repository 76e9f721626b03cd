/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server-name check; see hello.h. The bytes are peeked, so the relay later finds the hello
 * where it always was: in the kernel, whole and in order. Nothing is sent upstream before.
 */
#include <errno.h>
#include <sys/socket.h>

#include "client_hello.h"
#include "hello.h"
#include "relay.h"

#define NS_PER_MS INT64_C(1000000)

void cordon_hello_begin(cordon_proxy *proxy, cordon_conn *conn)
{
    conn->state = CORDON_CONN_HELLO;
    cordon_conn_deadline(proxy, conn, proxy->batch_ns + proxy->options->hello_ms * NS_PER_MS);
    if (conn->side[CORDON_CLIENT] & CORDON_SIDE_READABLE)
        cordon_hello_step(proxy, conn);
}

/* The client was told 200 already, so the denial is a line in the log and a closed tunnel. */
static void deny(cordon_proxy *proxy, cordon_conn *conn, cordon_reason reason,
                 const cordon_hello *hello)
{
    char target[CORDON_TARGET_MAX];
    cordon_verdict verdict = {.reason = reason,
                              .target = target,
                              .target_length = cordon_conn_target(proxy, conn, target)};
    if (hello && hello->server_name_length > 0) {
        verdict.server_name = hello->server_name;
        verdict.server_name_length = hello->server_name_length;
    }
    cordon_conn_log_verdict(proxy, conn, &verdict);
    conn->told = false; /* a denied tunnel is no tunnel: it has no line of its own */
    cordon_conn_close(proxy, conn, reason);
}

static void judge(cordon_proxy *proxy, cordon_conn *conn, const cordon_hello *hello)
{
    const cordon_policy_host *host = &proxy->options->policy.hosts[conn->host];
    if (cordon_host_equal(hello->server_name, hello->server_name_length, host->name,
                          host->name_length))
        cordon_relay_begin(proxy, conn);
    else
        deny(proxy, conn, CORDON_REASON_SERVER_NAME_MISMATCH, hello);
}

static void look_at(cordon_proxy *proxy, cordon_conn *conn, size_t length)
{
    cordon_hello hello;
    switch (cordon_hello_parse(proxy->scratch, length, &hello)) {
    case CORDON_HELLO_DONE:
        judge(proxy, conn, &hello);
        break;
    case CORDON_HELLO_MORE:
        if (conn->side[CORDON_CLIENT] & CORDON_SIDE_HANGUP)
            deny(proxy, conn, CORDON_REASON_HELLO_CUT, NULL);
        break;
    case CORDON_HELLO_BAD:
    case CORDON_HELLO_UNKNOWN:
        deny(proxy, conn, hello.reason, &hello);
        break;
    }
}

void cordon_hello_step(cordon_proxy *proxy, cordon_conn *conn)
{
    _Static_assert(CORDON_SCRATCH_BYTES >= CORDON_HELLO_MAX, "a whole hello must fit");
    if (conn->side[CORDON_UPSTREAM] & CORDON_SIDE_BROKEN) {
        conn->dial.last_errno = cordon_socket_error(conn->fd[CORDON_UPSTREAM]);
        cordon_conn_close(proxy, conn, CORDON_REASON_UPSTREAM_RESET);
        return;
    }
    ssize_t got =
        recv(conn->fd[CORDON_CLIENT], proxy->scratch, CORDON_HELLO_MAX, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got < 0)
        conn->dial.last_errno = (uint16_t)errno;
    /* A client that leaves without a byte asked for nothing. */
    if (got == 0)
        cordon_conn_close(proxy, conn, CORDON_REASON_CLIENT_CLOSED);
    else if (got < 0)
        cordon_conn_close(proxy, conn, CORDON_REASON_CLIENT_RESET);
    else
        look_at(proxy, conn, (size_t)got);
}

void cordon_hello_late(cordon_proxy *proxy, cordon_conn *conn)
{
    deny(proxy, conn, CORDON_REASON_HELLO_TIMEOUT, NULL);
}

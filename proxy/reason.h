/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way in which the proxy says no, or ends a tunnel: one enum and one table that gives the
 * stable name (for logs and receipts), the HTTP status and the sentence for the client. libc-only,
 * pure.
 */
#ifndef CORDON_PROXY_REASON_H
#define CORDON_PROXY_REASON_H

/* Names are stable: core folds them into the receipt. New ones go before the count. */
typedef enum cordon_reason {
    CORDON_REASON_NONE = 0,
    /* The request head: 400, 405, 408, 431. */
    CORDON_REASON_MALFORMED,
    CORDON_REASON_BARE_LINE_END,
    CORDON_REASON_BAD_VERSION,
    CORDON_REASON_METHOD,
    CORDON_REASON_BAD_TARGET,
    CORDON_REASON_BAD_PORT,
    CORDON_REASON_FINAL_DOT,
    CORDON_REASON_BAD_FIELD,
    CORDON_REASON_OBS_FOLD,
    CORDON_REASON_REPEATED_HOST,
    CORDON_REASON_HOST_MISMATCH,
    CORDON_REASON_BODY,
    CORDON_REASON_HEAD_TOO_LONG,
    CORDON_REASON_TOO_MANY_FIELDS,
    CORDON_REASON_HEAD_TIMEOUT,
    CORDON_REASON_HEAD_CUT,
    /* Policy: 403, 503. */
    CORDON_REASON_IP_LITERAL,
    CORDON_REASON_NOT_PINNED,
    CORDON_REASON_PORT_NOT_ALLOWED,
    CORDON_REASON_TUNNEL_LIMIT,
    CORDON_REASON_CONNECTION_LIMIT,
    CORDON_REASON_BYTE_LIMIT,
    CORDON_REASON_REFUSAL_LIMIT,
    /* Upstream: 502, 504. */
    CORDON_REASON_UNRESOLVABLE,
    CORDON_REASON_RESOLVE_TIMEOUT,
    CORDON_REASON_ADDRESS_NOT_PUBLIC,
    CORDON_REASON_CONNECT_FAILED,
    CORDON_REASON_CONNECT_TIMEOUT,
    CORDON_REASON_NO_RESOURCES,
    /* The first tunnel bytes, after 200: no HTTP answer is possible any more. */
    CORDON_REASON_NOT_TLS,
    CORDON_REASON_HELLO_MALFORMED,
    CORDON_REASON_HELLO_TOO_LONG,
    CORDON_REASON_HELLO_TIMEOUT,
    CORDON_REASON_HELLO_CUT,
    CORDON_REASON_NO_SERVER_NAME,
    CORDON_REASON_SERVER_NAME_MISMATCH,
    CORDON_REASON_ENCRYPTED_HELLO,
    /* How an accepted tunnel ended. */
    CORDON_REASON_CLIENT_CLOSED,
    CORDON_REASON_UPSTREAM_CLOSED,
    CORDON_REASON_CLIENT_RESET,
    CORDON_REASON_UPSTREAM_RESET,
    CORDON_REASON_IDLE,
    CORDON_REASON_TUNNEL_BYTES,
    CORDON_REASON_STOPPED,
    CORDON_REASON_RELAY_FAILED,
    CORDON_REASON_COUNT
} cordon_reason;

/* "not_pinned"; never NULL. */
const char *cordon_reason_name(cordon_reason reason);

/* One sentence fragment for the client's body; never NULL. */
const char *cordon_reason_text(cordon_reason reason);

/*
 * The part of the policy that said no: "request" (the form of it), "host", "port", "limit",
 * "server_name"; NULL where it is whatever gave the host's addresses.
 */
const char *cordon_reason_rule(cordon_reason reason);

/* Who closed a tunnel that ended so: "client", "upstream", "proxy", "limit", "deadline". */
const char *cordon_reason_by(cordon_reason reason);

/* 400...504, or 0 where no HTTP answer belongs to the reason. */
int cordon_reason_status(cordon_reason reason);

#endif

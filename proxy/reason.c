/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table behind reason.h.
 */
#include <stddef.h>

#include "reason.h"

/* rule NULL: the one that gave the addresses; by NULL: not the end of a tunnel. */
typedef struct reason_row {
    short status;
    const char *name;
    const char *text;
    const char *rule;
    const char *by;
} reason_row;

static const reason_row reason_rows[CORDON_REASON_COUNT] = {
    [CORDON_REASON_NONE] = {0, "none", "nothing is wrong", .rule = NULL},
    [CORDON_REASON_MALFORMED] = {400, "malformed_request", "the request is not HTTP/1.1",
                                 .rule = "request"},
    [CORDON_REASON_BARE_LINE_END] = {400, "bare_line_end", "a line does not end in CR LF",
                                     .rule = "request"},
    [CORDON_REASON_BAD_VERSION] = {400, "bad_version", "the version is not HTTP/1.0 or HTTP/1.1",
                                   .rule = "request"},
    [CORDON_REASON_METHOD] = {405, "method_not_allowed", "only CONNECT is served",
                              .rule = "request"},
    [CORDON_REASON_BAD_TARGET] = {400, "bad_target", "the target is not host:port",
                                  .rule = "request"},
    [CORDON_REASON_BAD_PORT] = {400, "bad_port", "the port is not a plain number from 1 to 65535",
                                .rule = "request"},
    [CORDON_REASON_FINAL_DOT] = {400, "final_dot", "a final dot is not accepted in a host name",
                                 .rule = "request"},
    [CORDON_REASON_BAD_FIELD] = {400, "bad_field", "a header field is malformed",
                                 .rule = "request"},
    [CORDON_REASON_OBS_FOLD] = {400, "folded_field", "a header field is folded", .rule = "request"},
    [CORDON_REASON_REPEATED_HOST] = {400, "repeated_host", "there is more than one Host field",
                                     .rule = "request"},
    [CORDON_REASON_HOST_MISMATCH] = {400, "host_mismatch", "the Host field is not the target",
                                     .rule = "request"},
    [CORDON_REASON_BODY] = {400, "body_not_allowed", "a CONNECT request has no body",
                            .rule = "request"},
    [CORDON_REASON_HEAD_TOO_LONG] = {431, "head_too_long", "the request head is over 8 KiB",
                                     .rule = "request"},
    [CORDON_REASON_TOO_MANY_FIELDS] = {431, "too_many_fields", "there are over 64 header fields",
                                       .rule = "request"},
    [CORDON_REASON_HEAD_TIMEOUT] = {408, "head_timeout", "the request head took too long",
                                    .rule = "request"},
    [CORDON_REASON_HEAD_CUT] = {400, "head_cut", "the request head ended early", .rule = "request"},
    [CORDON_REASON_IP_LITERAL] = {403, "ip_literal", "addresses are refused, only names are pinned",
                                  .rule = "host"},
    [CORDON_REASON_NOT_PINNED] = {403, "not_pinned", "the host is not pinned", .rule = "host"},
    [CORDON_REASON_PORT_NOT_ALLOWED] = {403, "port_not_allowed", "only port 443 is allowed",
                                        .rule = "port"},
    [CORDON_REASON_TUNNEL_LIMIT] = {503, "tunnel_limit", "too many tunnels are open",
                                    .rule = "limit"},
    [CORDON_REASON_CONNECTION_LIMIT] = {503, "connection_limit", "too many connections are open",
                                        .rule = "limit"},
    [CORDON_REASON_BYTE_LIMIT] = {503, "byte_limit", "the run has moved as many bytes as it may",
                                  .rule = "limit"},
    [CORDON_REASON_REFUSAL_LIMIT] = {503, "refusal_limit", "too many attempts were refused",
                                     .rule = "limit"},
    [CORDON_REASON_UNRESOLVABLE] = {502, "unresolvable", "the host name does not resolve",
                                    .rule = NULL},
    [CORDON_REASON_RESOLVE_TIMEOUT] = {504, "resolve_timeout",
                                       "the host name look-up took too long", .rule = NULL},
    [CORDON_REASON_ADDRESS_NOT_PUBLIC] = {502, "address_not_public",
                                          "the host resolves to no public address", .rule = NULL},
    [CORDON_REASON_CONNECT_FAILED] = {502, "connect_failed", "the host can't be reached",
                                      .rule = NULL},
    [CORDON_REASON_CONNECT_TIMEOUT] = {504, "connect_timeout", "the host did not answer in time",
                                       .rule = NULL},
    [CORDON_REASON_NO_RESOURCES] = {503, "no_resources",
                                    "the proxy is out of descriptors or memory", .rule = "limit"},
    [CORDON_REASON_NOT_TLS] = {0, "not_tls", "the tunnel does not begin with TLS",
                               .rule = "server_name"},
    [CORDON_REASON_HELLO_MALFORMED] = {0, "hello_malformed", "the TLS ClientHello is malformed",
                                       .rule = "server_name"},
    [CORDON_REASON_HELLO_TOO_LONG] = {0, "hello_too_long", "the TLS ClientHello is over 16 KiB",
                                      .rule = "server_name"},
    [CORDON_REASON_HELLO_TIMEOUT] = {0, "hello_timeout", "the TLS ClientHello took too long",
                                     .rule = "server_name"},
    [CORDON_REASON_HELLO_CUT] = {0, "hello_cut", "the tunnel closed before a TLS ClientHello",
                                 .rule = "server_name"},
    [CORDON_REASON_NO_SERVER_NAME] = {0, "no_server_name", "the TLS ClientHello names no server",
                                      .rule = "server_name"},
    [CORDON_REASON_SERVER_NAME_MISMATCH] = {0, "server_name_mismatch",
                                            "the TLS ClientHello names another server",
                                            .rule = "server_name"},
    [CORDON_REASON_ENCRYPTED_HELLO] = {0, "encrypted_hello",
                                       "the TLS ClientHello hides its server name",
                                       .rule = "server_name"},
    [CORDON_REASON_CLIENT_CLOSED] = {0, "client_closed", "the client closed first", .by = "client"},
    [CORDON_REASON_UPSTREAM_CLOSED] = {0, "upstream_closed", "the upstream closed first",
                                       .by = "upstream"},
    [CORDON_REASON_CLIENT_RESET] = {0, "client_reset", "the client's connection broke",
                                    .by = "client"},
    [CORDON_REASON_UPSTREAM_RESET] = {0, "upstream_reset", "the upstream's connection broke",
                                      .by = "upstream"},
    [CORDON_REASON_IDLE] = {0, "idle", "both directions were quiet for too long", .by = "deadline"},
    [CORDON_REASON_TUNNEL_BYTES] = {0, "tunnel_bytes", "the tunnel moved as much as it may",
                                    .by = "limit"},
    [CORDON_REASON_STOPPED] = {0, "stopped", "the proxy was stopped", .by = "proxy"},
    [CORDON_REASON_RELAY_FAILED] = {0, "relay_failed", "the relay ran out of memory",
                                    .by = "proxy"},
};

static const reason_row *reason_row_of(cordon_reason reason)
{
    return &reason_rows[(unsigned)reason < CORDON_REASON_COUNT ? reason : CORDON_REASON_MALFORMED];
}

const char *cordon_reason_name(cordon_reason reason)
{
    return reason_row_of(reason)->name;
}

const char *cordon_reason_text(cordon_reason reason)
{
    return reason_row_of(reason)->text;
}

int cordon_reason_status(cordon_reason reason)
{
    return reason_row_of(reason)->status;
}

const char *cordon_reason_rule(cordon_reason reason)
{
    return reason_row_of(reason)->rule;
}

const char *cordon_reason_by(cordon_reason reason)
{
    const char *by = reason_row_of(reason)->by;
    return by ? by : "proxy";
}

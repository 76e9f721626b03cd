/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What httpc's files share; private to them. libcurl's types stay in here.
 */
#ifndef CORDON_KIT_HTTPC_IMPL_H
#define CORDON_KIT_HTTPC_IMPL_H

#include <curl/curl.h>
#include <pthread.h>

#include "kit/http_head.h"
#include "kit/httpc.h"

/* One easy handle in a multi handle of its own, which holds the live connection. */
typedef struct cordon_httpc_slot {
    CURLM *multi;
    CURL *easy;
} cordon_httpc_slot;

#define CORDON_HTTPC_IDLE_MAX 8

struct cordon_httpc {
    char *name;
    char *base_url;  /* "http://localhost" */
    char *authority; /* Host header */
    char *unix_path; /* or NULL */
    char *ca_file;   /* or NULL: no TLS */
    char *cert_file;
    char *key_file;
    pthread_mutex_t lock;
    size_t idle_count;
    cordon_httpc_slot idle[CORDON_HTTPC_IDLE_MAX];
};

/* Collects the first refusal of a row of curl_easy_setopt calls. */
typedef struct cordon_curl_options {
    CURL *easy;
    CURLcode result;
} cordon_curl_options;

#define CORDON_CURL_SET(o, option, value)                                                          \
    do {                                                                                           \
        if ((o)->result == CURLE_OK)                                                               \
            (o)->result = curl_easy_setopt((o)->easy, (option), (value));                          \
    } while (0)

#define CORDON_HTTPC_WHAT_MAX 256

/*
 * One request on its way.
 * what   "unix:///run/x.sock: GET /info"
 * cause  set by a callback that stopped the transfer
 * sent   at least one byte of the request may have reached the peer
 */
typedef struct cordon_httpc_exchange {
    cordon_httpc *client;
    const cordon_httpc_request *request;
    cordon_deadline deadline;
    cordon_httpc_response response;
    cordon_http_head head;
    cordon_err cause;
    bool sent;
    char what[CORDON_HTTPC_WHAT_MAX];
    char detail[CURL_ERROR_SIZE];
} cordon_httpc_exchange;

/* Checks the request and the deadline; *ret_exchange may not be moved afterwards. */
int cordon_httpc_exchange_init(cordon_httpc_exchange *ret_exchange, cordon_httpc *client,
                               const cordon_httpc_request *request, cordon_deadline deadline,
                               cordon_err *err) __attribute__((warn_unused_result));

/* Two handles, or -1 with NOMEM. */
int cordon_httpc_slot_open(cordon_httpc_slot *ret_slot, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_httpc_slot_close(cordon_httpc_slot *slot);

/* The options that every connection to the client's endpoint has; -1 with SYSTEM or NOMEM. */
int cordon_httpc_prepare(cordon_httpc_exchange *exchange, CURL *easy, cordon_err *err)
    __attribute__((warn_unused_result));

/* Drives the slot until its transfer ended, deadline or cancel; 0 is CURLE_OK. */
int cordon_httpc_drive(cordon_httpc_exchange *exchange, cordon_httpc_slot *slot, cordon_err *err)
    __attribute__((warn_unused_result));

/* Reports cause; after sending a mutating request as INDETERMINATE. Always -1. */
int cordon_httpc_failed(const cordon_httpc_exchange *exchange, const cordon_err *cause,
                        cordon_err *err);

/* UNREACHABLE for a unix socket, with the reason and the next step; always -1. */
int cordon_httpc_unix_fail(const cordon_httpc_exchange *exchange, int errnum, cordon_err *err);

/* Waits a moment for room in the backlog; -1 when the deadline or cancel came. */
int cordon_httpc_unix_wait(const cordon_httpc_exchange *exchange, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every transfer has in common: the options of a connection, driving it under a deadline, and
 * turning libcurl's results into ours.
 */
#include <errno.h>
#include <sys/socket.h>

#include "kit/httpc_impl.h"

int cordon_httpc_slot_open(cordon_httpc_slot *ret_slot, cordon_err *err)
{
    cordon_httpc_slot slot = {.multi = curl_multi_init(), .easy = curl_easy_init()};
    if (!slot.multi || !slot.easy) {
        cordon_httpc_slot_close(&slot);
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for an HTTP connection");
    }
    /* One live connection a slot: the one before a fresh one is closed. */
    (void)curl_multi_setopt(slot.multi, CURLMOPT_MAXCONNECTS, 1L);
    *ret_slot = slot;
    return 0;
}

void cordon_httpc_slot_close(cordon_httpc_slot *slot)
{
    if (slot->multi && slot->easy)
        (void)curl_multi_remove_handle(slot->multi, slot->easy);
    if (slot->easy)
        curl_easy_cleanup(slot->easy);
    if (slot->multi)
        (void)curl_multi_cleanup(slot->multi);
    *slot = (cordon_httpc_slot){0};
}

/* --- sockets --- */

/* Ours for CLOEXEC at birth. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    cordon_httpc_exchange *exchange = context;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0)
        return fd;
    if (exchange->cause.code == CORDON_OK)
        cordon_err_set_errno(&exchange->cause, errno, "%s: socket", exchange->what);
    return CURL_SOCKET_BAD;
}

/* --- options --- */

/* Nothing in the environment, in the home directory or in an answer leads anywhere else. */
static void set_isolation(cordon_curl_options *o)
{
    CORDON_CURL_SET(o, CURLOPT_NOSIGNAL, 1L);
    CORDON_CURL_SET(o, CURLOPT_PROXY, "");
    CORDON_CURL_SET(o, CURLOPT_NOPROXY, "*");
    CORDON_CURL_SET(o, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    CORDON_CURL_SET(o, CURLOPT_FOLLOWLOCATION, 0L);
    CORDON_CURL_SET(o, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    CORDON_CURL_SET(o, CURLOPT_HTTP09_ALLOWED, 0L);
    CORDON_CURL_SET(o, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    CORDON_CURL_SET(o, CURLOPT_PATH_AS_IS, 1L);
    CORDON_CURL_SET(o, CURLOPT_MAXCONNECTS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
    CORDON_CURL_SET(o, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    CORDON_CURL_SET(o, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_sockets(cordon_curl_options *o, cordon_httpc_exchange *exchange)
{
    CORDON_CURL_SET(o, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    CORDON_CURL_SET(o, CURLOPT_OPENSOCKETDATA, exchange);
    if (exchange->client->unix_path)
        CORDON_CURL_SET(o, CURLOPT_UNIX_SOCKET_PATH, exchange->client->unix_path);
    /* The deadline rules; this only lifts libcurl's own five minutes. */
    CORDON_CURL_SET(o, CURLOPT_CONNECTTIMEOUT_MS,
                    (long)cordon_deadline_left_ms(exchange->deadline) + 1000L);
}

static void set_tls(cordon_curl_options *o, const cordon_httpc *client)
{
    if (!client->ca_file)
        return;
    CORDON_CURL_SET(o, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    CORDON_CURL_SET(o, CURLOPT_SSL_VERIFYPEER, 1L);
    CORDON_CURL_SET(o, CURLOPT_SSL_VERIFYHOST, 2L);
    CORDON_CURL_SET(o, CURLOPT_CAINFO, client->ca_file);
    /* Else the system's own authorities would be good enough, too. */
    CORDON_CURL_SET(o, CURLOPT_CAPATH, NULL);
    if (client->cert_file) {
        CORDON_CURL_SET(o, CURLOPT_SSLCERT, client->cert_file);
        CORDON_CURL_SET(o, CURLOPT_SSLKEY, client->key_file);
    }
}

int cordon_httpc_prepare(cordon_httpc_exchange *exchange, CURL *easy, cordon_err *err)
{
    cordon_curl_options o = {.easy = easy};
    /* Keeps connections, forgets everything about the request before. */
    curl_easy_reset(easy);
    set_isolation(&o);
    set_sockets(&o, exchange);
    set_tls(&o, exchange->client);
    CORDON_CURL_SET(&o, CURLOPT_ERRORBUFFER, exchange->detail);
    if (o.result == CURLE_OUT_OF_MEMORY)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for an HTTP request");
    /* SECURITY: an option that this libcurl lacks may be the one that keeps a proxy out. */
    if (o.result != CURLE_OK)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "this libcurl cannot do what is needed: %s",
                           curl_easy_strerror(o.result));
    return 0;
}

/* --- driving --- */

static const char *detail_of(const cordon_httpc_exchange *exchange, CURLcode code)
{
    return exchange->detail[0] ? exchange->detail : curl_easy_strerror(code);
}

/* What to do about a failure to connect. */
static const char *next_step(CURLcode code)
{
    if (code == CURLE_COULDNT_RESOLVE_HOST)
        return "correct the host in the endpoint";
    if (code == CURLE_COULDNT_CONNECT)
        return "start the engine, or correct the endpoint";
    return "check the endpoint's TLS files";
}

static int errno_of(CURL *easy)
{
    long errnum = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &errnum);
    return (int)errnum;
}

/* A full backlog is EAGAIN; libcurl does not keep that one errno. */
static bool is_busy(const cordon_httpc_exchange *exchange, CURL *easy, CURLcode result)
{
    int errnum = result == CURLE_COULDNT_CONNECT ? errno_of(easy) : -1;
    return exchange->client->unix_path && exchange->cause.code == CORDON_OK &&
           (errnum == 0 || errnum == EAGAIN);
}

/* Before the first byte of the request, every failure is about reaching the peer. */
static int fail_unsent(const cordon_httpc_exchange *exchange, CURL *easy, CURLcode code,
                       cordon_err *err)
{
    const char *detail = detail_of(exchange, code);
    if (exchange->client->unix_path && code == CURLE_COULDNT_CONNECT)
        return cordon_httpc_unix_fail(exchange, errno_of(easy), err);
    return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE, "%s: %s; %s", exchange->client->name,
                       CORDON_QUOTE(detail), next_step(code));
}

static int fail_code(const cordon_httpc_exchange *exchange, CURL *easy, CURLcode code,
                     cordon_err *err)
{
    if (exchange->cause.code != CORDON_OK) {
        if (err)
            *err = exchange->cause;
        return -1;
    }
    if (code == CURLE_OUT_OF_MEMORY)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "%s: no memory", exchange->what);
    if (!exchange->sent)
        return fail_unsent(exchange, easy, code, err);
    const char *detail = detail_of(exchange, code);
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: no whole answer: %s", exchange->what,
                       CORDON_QUOTE(detail));
}

static CURLcode result_of(CURLM *multi)
{
    int queued = 0;
    CURLMsg *message = curl_multi_info_read(multi, &queued);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
}

static int wait_a_turn(const cordon_httpc_exchange *exchange, CURLM *multi, cordon_err *err)
{
    cordon_deadline deadline = exchange->deadline;
    struct curl_waitfd cancel = {.fd = deadline.cancel_fd, .events = CURL_WAIT_POLLIN};
    unsigned extra = deadline.cancel_fd >= 0 ? 1 : 0;
    if (cordon_deadline_check(deadline, exchange->what, err) < 0)
        return -1;
    CURLMcode code = curl_multi_poll(multi, extra ? &cancel : NULL, extra,
                                     cordon_deadline_left_ms(deadline), NULL);
    if (code != CURLM_OK)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s: %s", exchange->what,
                           curl_multi_strerror(code));
    return 0;
}

/* One attempt; *ret_result is libcurl's verdict. */
static int drive_once(const cordon_httpc_exchange *exchange, cordon_httpc_slot *slot,
                      CURLcode *ret_result, cordon_err *err)
{
    CURLMcode code = curl_multi_add_handle(slot->multi, slot->easy);
    for (int running = 1; code == CURLM_OK;) {
        code = curl_multi_perform(slot->multi, &running);
        if (code != CURLM_OK || running == 0)
            break;
        if (wait_a_turn(exchange, slot->multi, err) < 0)
            return -1;
    }
    if (code != CURLM_OK)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s: %s", exchange->what,
                           curl_multi_strerror(code));
    *ret_result = result_of(slot->multi);
    return 0;
}

int cordon_httpc_drive(cordon_httpc_exchange *exchange, cordon_httpc_slot *slot, cordon_err *err)
{
    for (;;) {
        CURLcode result = CURLE_OK;
        if (drive_once(exchange, slot, &result, err) < 0)
            return -1;
        if (!is_busy(exchange, slot->easy, result))
            return result == CURLE_OK ? 0 : fail_code(exchange, slot->easy, result, err);
        /* Nothing was sent, so even a change may be tried again. */
        (void)curl_multi_remove_handle(slot->multi, slot->easy);
        if (cordon_httpc_unix_wait(exchange, err) < 0)
            return -1;
    }
}

int cordon_httpc_failed(const cordon_httpc_exchange *exchange, const cordon_err *cause,
                        cordon_err *err)
{
    if (!err)
        return -1;
    *err = *cause;
    if (exchange->sent && exchange->request->mutating) {
        err->code = CORDON_ERR_INDETERMINATE;
        cordon_err_wrap(err, "sent without a whole answer, so it may have happened");
    }
    return -1;
}

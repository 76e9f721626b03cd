/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: its endpoint, its pool of idle connections, and the whole request-and-answer call.
 */
#include "kit/httpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "kit/httpc_impl.h"

/* --- the client --- */

static int fail_endpoint(const char *why, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "endpoint: %s", why);
}

static int judge_endpoint(const cordon_httpc_endpoint *e, cordon_err *err)
{
    size_t path_max = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
    if (!e->unix_path == !e->host)
        return fail_endpoint("either a socket path or a host is needed", err);
    if (e->unix_path && (e->ca_file || e->cert_file || e->key_file))
        return fail_endpoint("TLS over a unix socket", err);
    if (e->unix_path && (e->unix_path[0] != '/' || strlen(e->unix_path) > path_max))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "endpoint \"%s\": a socket path is absolute and at most %zu bytes long",
                           CORDON_QUOTE(e->unix_path), path_max);
    if (e->host && e->port == 0)
        return fail_endpoint("a host without a port", err);
    if (e->host && (!e->host[0] || e->host[strcspn(e->host, "/@?#\\ \r\n\t")]))
        return fail_endpoint("a host name that is none", err);
    if (!e->cert_file != !e->key_file)
        return fail_endpoint("certificate and key belong together", err);
    if (e->cert_file && !e->ca_file)
        return fail_endpoint("a client certificate without a CA file", err);
    return 0;
}

static int format(char **ret_text, cordon_err *err, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

static int format(char **ret_text, cordon_err *err, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    int length = vasprintf(ret_text, text, arguments);
    va_end(arguments);
    if (length >= 0)
        return 0;
    *ret_text = NULL;
    return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for an endpoint");
}

static int copy(char **ret_text, const char *text, cordon_err *err)
{
    return text ? format(ret_text, err, "%s", text) : 0;
}

static int name_client(cordon_httpc *client, const cordon_httpc_endpoint *e, cordon_err *err)
{
    if (e->unix_path) {
        if (format(&client->name, err, "unix://%s", e->unix_path) < 0 ||
            copy(&client->authority, "localhost", err) < 0)
            return -1;
    } else {
        bool v6 = strchr(e->host, ':') != NULL;
        if (format(&client->authority, err, v6 ? "[%s]:%u" : "%s:%u", e->host, e->port) < 0 ||
            format(&client->name, err, "tcp://%s", client->authority) < 0)
            return -1;
    }
    return format(&client->base_url, err, "%s://%s", e->ca_file ? "https" : "http",
                  client->authority);
}

int cordon_httpc_new(const cordon_httpc_endpoint *endpoint, cordon_httpc **ret_client,
                     cordon_err *err)
{
    if (judge_endpoint(endpoint, err) < 0)
        return -1;
    cordon_httpc *client = calloc(1, sizeof *client);
    if (!client)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for an HTTP client");
    /* Counted and locked by libcurl itself since 7.84; free gives it back. */
    if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK) {
        free(client);
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "libcurl could not be initialised");
    }
    (void)pthread_mutex_init(&client->lock, NULL);
    if (name_client(client, endpoint, err) < 0 ||
        copy(&client->unix_path, endpoint->unix_path, err) < 0 ||
        copy(&client->ca_file, endpoint->ca_file, err) < 0 ||
        copy(&client->cert_file, endpoint->cert_file, err) < 0 ||
        copy(&client->key_file, endpoint->key_file, err) < 0) {
        cordon_httpc_free(client);
        return -1;
    }
    *ret_client = client;
    return 0;
}

void cordon_httpc_free(cordon_httpc *client)
{
    if (!client)
        return;
    for (size_t i = 0; i < client->idle_count; i++)
        cordon_httpc_slot_close(&client->idle[i]);
    (void)pthread_mutex_destroy(&client->lock);
    free(client->name);
    free(client->base_url);
    free(client->authority);
    free(client->unix_path);
    free(client->ca_file);
    free(client->cert_file);
    free(client->key_file);
    free(client);
    curl_global_cleanup();
}

const char *cordon_httpc_name(const cordon_httpc *client)
{
    return client->name;
}

/* --- the pool --- */

static int take_slot(cordon_httpc *client, cordon_httpc_slot *ret_slot, cordon_err *err)
{
    bool taken = false;
    (void)pthread_mutex_lock(&client->lock);
    if (client->idle_count > 0) {
        *ret_slot = client->idle[--client->idle_count];
        taken = true;
    }
    (void)pthread_mutex_unlock(&client->lock);
    return taken ? 0 : cordon_httpc_slot_open(ret_slot, err);
}

/* Back into the pool if there is room. */
static void give_slot(cordon_httpc *client, cordon_httpc_slot *slot)
{
    (void)curl_multi_remove_handle(slot->multi, slot->easy);
    (void)pthread_mutex_lock(&client->lock);
    if (client->idle_count < CORDON_HTTPC_IDLE_MAX) {
        client->idle[client->idle_count++] = *slot;
        *slot = (cordon_httpc_slot){0};
    }
    (void)pthread_mutex_unlock(&client->lock);
    cordon_httpc_slot_close(slot);
}

/* --- one call --- */

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    cordon_httpc_exchange *exchange = context;
    /* Trailers of a chunked body come here, too; they may say nothing. */
    if (exchange->head.complete)
        return size * count;
    if (cordon_http_head_line(&exchange->head, line, size * count, &exchange->cause) < 0) {
        cordon_err_wrap(&exchange->cause, "%s", exchange->what);
        return 0;
    }
    return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    cordon_httpc_exchange *exchange = context;
    if (cordon_buf_append(&exchange->response.body, bytes, size * count, &exchange->cause) < 0) {
        cordon_err_wrap(&exchange->cause, "%s: the answer", exchange->what);
        return 0;
    }
    return size * count;
}

static size_t on_read(char *buffer, size_t size, size_t count, void *context)
{
    cordon_httpc_exchange *exchange = context;
    size_t length = 0;
    if (exchange->request->read(exchange->request->read_context, buffer, size * count, &length,
                                &exchange->cause) < 0) {
        cordon_err_wrap(&exchange->cause, "%s: the request's body", exchange->what);
        return CURL_READFUNC_ABORT;
    }
    if (length == 0) {
        cordon_err_set(&exchange->cause, CORDON_ERR_INVALID, 0,
                       "%s: the request's body is shorter than announced", exchange->what);
        return CURL_READFUNC_ABORT;
    }
    return length;
}

/* Called between connect and the first byte. */
static int on_ready(void *context, char *peer, char *own, int peer_port, int own_port)
{
    cordon_httpc_exchange *exchange = context;
    (void)peer;
    (void)own;
    (void)peer_port;
    (void)own_port;
    exchange->sent = true;
    return CURL_PREREQFUNC_OK;
}

static void free_list(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

static int add_header(struct curl_slist **list, const char *header, cordon_err *err)
{
    struct curl_slist *longer = curl_slist_append(*list, header);
    if (!longer)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for an HTTP request");
    *list = longer;
    return 0;
}

static int make_headers(const cordon_httpc_request *request, struct curl_slist **list,
                        cordon_err *err)
{
    bool typed = false;
    for (const char *const *h = request->headers; h && *h; h++) {
        typed = typed || strncasecmp(*h, "Content-Type:", 13) == 0;
        if (add_header(list, *h, err) < 0)
            return -1;
    }
    /* Takes away what libcurl adds by itself: a wait for 100, and a form's content type. */
    if (add_header(list, "Expect:", err) < 0)
        return -1;
    return typed ? 0 : add_header(list, "Content-Type:", err);
}

static void set_body(cordon_curl_options *o, cordon_httpc_exchange *exchange)
{
    const cordon_httpc_request *request = exchange->request;
    if (request->read) {
        CORDON_CURL_SET(o, CURLOPT_UPLOAD, 1L);
        CORDON_CURL_SET(o, CURLOPT_READFUNCTION, on_read);
        CORDON_CURL_SET(o, CURLOPT_READDATA, exchange);
        CORDON_CURL_SET(o, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_length);
    } else if (request->body || strcmp(request->method, "POST") == 0) {
        CORDON_CURL_SET(o, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
        CORDON_CURL_SET(o, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    } else if (strcmp(request->method, "HEAD") == 0) {
        CORDON_CURL_SET(o, CURLOPT_NOBODY, 1L);
    }
    CORDON_CURL_SET(o, CURLOPT_CUSTOMREQUEST, request->method);
    /* SECURITY: on a connection that was idle libcurl sends again when it turns out dead, although
     * the engine may have acted on the first copy. A fresh one is never retried. */
    CORDON_CURL_SET(o, CURLOPT_FRESH_CONNECT, request->mutating || request->read ? 1L : 0L);
}

static void set_callbacks(cordon_curl_options *o, cordon_httpc_exchange *exchange)
{
    CORDON_CURL_SET(o, CURLOPT_HEADERFUNCTION, on_header);
    CORDON_CURL_SET(o, CURLOPT_HEADERDATA, exchange);
    CORDON_CURL_SET(o, CURLOPT_WRITEFUNCTION, on_body);
    CORDON_CURL_SET(o, CURLOPT_WRITEDATA, exchange);
    CORDON_CURL_SET(o, CURLOPT_PREREQFUNCTION, on_ready);
    CORDON_CURL_SET(o, CURLOPT_PREREQDATA, exchange);
}

static int set_request(cordon_httpc_exchange *exchange, CURL *easy, struct curl_slist *headers,
                       cordon_err *err)
{
    cordon_curl_options o = {.easy = easy};
    cordon_autofree char *url = NULL;
    if (format(&url, err, "%s%s", exchange->client->base_url, exchange->request->path) < 0)
        return -1;
    CORDON_CURL_SET(&o, CURLOPT_URL, url);
    CORDON_CURL_SET(&o, CURLOPT_HTTPHEADER, headers);
    set_body(&o, exchange);
    set_callbacks(&o, exchange);
    if (o.result != CURLE_OK)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "%s: %s", exchange->what,
                           curl_easy_strerror(o.result));
    return 0;
}

/* Everything between taking a connection and giving it back. */
static int transfer(cordon_httpc_exchange *exchange, cordon_httpc_slot *slot, cordon_err *err)
{
    cordon_cleanup(free_list) struct curl_slist *headers = NULL;
    if (cordon_httpc_prepare(exchange, slot->easy, err) < 0 ||
        make_headers(exchange->request, &headers, err) < 0 ||
        set_request(exchange, slot->easy, headers, err) < 0)
        return -1;
    int rc = cordon_httpc_drive(exchange, slot, err);
    /* The handle outlives the list and the exchange. */
    (void)curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(slot->easy, CURLOPT_ERRORBUFFER, NULL);
    /* libcurl takes a connection that closes inside the head for an answer without a body. */
    if (rc == 0 && !exchange->head.complete)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s: no whole answer: cut inside its head",
                           exchange->what);
    return rc;
}

int cordon_httpc_call(cordon_httpc *client, const cordon_httpc_request *request,
                      cordon_deadline deadline, cordon_httpc_response *ret_response,
                      cordon_err *err)
{
    cordon_httpc_exchange exchange;
    cordon_httpc_slot slot = {0};
    cordon_err cause = CORDON_ERR_INIT;
    if (cordon_httpc_exchange_init(&exchange, client, request, deadline, err) < 0 ||
        take_slot(client, &slot, err) < 0)
        return -1;
    if (transfer(&exchange, &slot, &cause) < 0) {
        /* Nobody knows what state the connection is in. */
        cordon_httpc_slot_close(&slot);
        cordon_httpc_response_clear(&exchange.response);
        return cordon_httpc_failed(&exchange, &cause, err);
    }
    give_slot(client, &slot);
    *ret_response = exchange.response;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging a request before anything of it is sent. SECURITY: a line break in a method, a path or a
 * header would be a second request; the engine runs as root.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kit/httpc_impl.h"

static bool all_between(const char *text, unsigned char min, unsigned char max)
{
    for (; *text; text++)
        if ((unsigned char)*text < min || (unsigned char)*text > max)
            return false;
    return true;
}

/* "Name: value"; the two headers that frame the body are ours alone. */
static const char *judge_header(const char *header)
{
    static const char *const ours[] = {"Content-Length:", "Transfer-Encoding:", "Host:", "Expect:"};
    size_t name = strcspn(header, ": \t");
    if (name == 0 || header[name] != ':' || header[name + 1] != ' ' || !header[name + 2])
        return "a header that is not \"Name: value\"";
    if (!all_between(header, ' ', '~'))
        return "a header with control characters";
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strncasecmp(header, ours[i], strlen(ours[i])) == 0)
            return "a header that the client sets itself";
    return NULL;
}

static const char *judge(const cordon_httpc_request *request)
{
    if (!request->method || !request->method[0] || !all_between(request->method, 'A', 'Z'))
        return "a method that is none";
    if (!request->path || request->path[0] != '/' || !all_between(request->path, '!', '~') ||
        strchr(request->path, '#'))
        return "a path that is not escaped";
    if (request->response_max_bytes == 0)
        return "no limit for the answer";
    if (request->body && request->read)
        return "two bodies";
    if (request->body_length > INT64_MAX ||
        (request->body_length && !request->body && !request->read))
        return "a body length without a body";
    for (const char *const *h = request->headers; h && *h; h++) {
        const char *why = judge_header(*h);
        if (why)
            return why;
    }
    return NULL;
}

int cordon_httpc_exchange_init(cordon_httpc_exchange *ret_exchange, cordon_httpc *client,
                               const cordon_httpc_request *request, cordon_deadline deadline,
                               cordon_err *err)
{
    const char *why = judge(request);
    if (why)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: a request with %s", client->name, why);
    *ret_exchange =
        (cordon_httpc_exchange){.client = client, .request = request, .deadline = deadline};
    (void)snprintf(ret_exchange->what, sizeof ret_exchange->what, "%s: %s %s", client->name,
                   request->method, request->path);
    ret_exchange->response.body = cordon_buf_make(request->response_max_bytes);
    ret_exchange->head.response = &ret_exchange->response;
    return cordon_deadline_check(deadline, ret_exchange->what, err);
}

int cordon_httpc_escape(cordon_buf *buf, const char *text, cordon_err *err)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-._~";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char escape[] = {'%', digits[c >> 4], digits[c & 15]};
        bool plain = memchr(unreserved, c, sizeof unreserved - 1) != NULL;
        if (cordon_buf_append(buf, plain ? text : escape, plain ? 1 : sizeof escape, err) < 0)
            return -1;
    }
    return 0;
}

void cordon_httpc_response_clear(cordon_httpc_response *response)
{
    cordon_buf_clear(&response->body);
    *response = (cordon_httpc_response){0};
}

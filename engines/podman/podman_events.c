/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream: one JSON object a line. */
#include "podman_internal.h"

#include <string.h>

#include "podman_decode.h"

/*
 * since=0s, by the daemon's clock: events are read from its log from then on. Without it they
 * are read from the log's end as of some moment after the answer's head, and what happens in
 * between is lost.
 */
int podman_events_open(void *impl, int64_t since_s, cordon_deadline dl, cordon_stream **ret_stream,
                       cordon_err *err)
{
    static const char *const types[] = {"container", "network", "volume"};
    cordon_auto(cordon_buf) path = cordon_buf_make(PODMAN_PATH_MAX);
    if (cordon_buf_printf(&path, err, "/events?stream=true&since=%lld%s&", (long long)since_s,
                          since_s == 0 ? "s" : "") != 0 ||
        podman_add_filter(&path, "type", types, 3, err) != 0)
        return -1;
    podman_request request = {
        .what = "open the event stream",
        .method = "GET",
        .path = cordon_buf_text(&path),
        .want = 200,
    };
    return podman_stream(impl, &request, dl, ret_stream, err);
}

int podman_events_parse(const char *bytes, size_t length, size_t *ret_used, cordon_event *ret_event,
                        cordon_err *err)
{
    size_t blank = 0;
    while (blank < length && (bytes[blank] == '\n' || bytes[blank] == '\r'))
        blank++;
    const char *end = length > blank ? memchr(bytes + blank, '\n', length - blank) : NULL;
    if (end == NULL && length - blank > PODMAN_EVENT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "event: more than %zu bytes in one line",
                           PODMAN_EVENT_MAX);
    if (end == NULL) {
        *ret_used = 0;
        return 0;
    }
    if (podman_decode_event(bytes + blank, (size_t)(end - bytes) - blank, ret_event, err) != 0)
        return -1;
    *ret_used = (size_t)(end - bytes) + 1;
    return 0;
}
